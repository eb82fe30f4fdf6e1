//! Worlds that end in the middle and are taken up again, on a store in memory.

use std::sync::{Arc, Mutex};

use sdk::{InjectionKind, Stage, StageContext, ToolDef, stage_handler, tool_handler};
use serde_json::{Value, json};

use super::super::SESSION_WAITING_MAX;
use super::world::{Memory, Say, World};
use super::{hang, note};
use crate::ports::{Input, NewInput, StoredTurn};
use crate::turn::{Event, Limits};

fn input(session: &str, text: &str) -> NewInput {
    NewInput { session: session.into(), text: text.into(), ..NewInput::default() }
}

/// Until the last step that was written down is the call of a tool.
async fn calling(world: &World) {
    let last_is_call = |world: &World| {
        let kept = world.memory.0.lock().unwrap();
        kept.logs.values().any(|log| log.events.last().is_some_and(|event| event["event"] == "calling"))
    };
    world.until(last_is_call).await;
}

#[tokio::test(start_paused = true)]
async fn what_was_done_after_a_crash_is_known_after_the_next_one() {
    let memory = Memory::default();
    let world = World::over(memory.clone(), &[Say::Calls(vec![("slow", json!({}))])]);
    hang(&world, "slow");
    world.agent.run().await.unwrap();
    world.put("main", InjectionKind::Text, "open the valve, then lock").await;
    calling(&world).await;
    world.agent.close().await;

    let calls = Arc::default();
    let world = World::over(memory.clone(), &[Say::Calls(vec![("lock", json!({}))]), Say::Hang("I have")]);
    note(&world, "lock", &calls);
    world.agent.run().await.unwrap();
    world.until(|world| world.requests().len() == 2).await;
    world.agent.close().await;

    let world = World::over(memory, &[Say::Text("locked")]);
    note(&world, "lock", &calls);
    world.agent.run().await.unwrap();
    world.agent.answer(1).await.unwrap();
    let shown = json!(world.requests()[0].messages);
    let results = shown.as_array().unwrap().iter().filter(|message| message["role"] == "tool").count();
    assert_eq!(results, 2, "the model is asked as if it had not locked: {shown}");
    assert_eq!(calls.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn however_much_waits_the_next_start_answers_all_of_it_in_order() {
    let memory = Memory::default();
    let count = 3 * SESSION_WAITING_MAX as i64;
    for id in 1..=count {
        memory.0.lock().unwrap().inputs.insert(id, input("main", &format!("message {id}")));
    }
    let world = World::over(memory, &[]);
    world.agent.run().await.unwrap();
    world.until(|world| world.memory.0.lock().unwrap().answers.len() as i64 == count).await;
    let answered: Vec<i64> =
        world.memory.0.lock().unwrap().answers.iter().flat_map(|answer| answer.inputs.clone()).collect();
    assert_eq!(answered, (1..=count).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn what_is_accepted_while_much_waits_is_answered_without_another_start() {
    let world = World::saying(&[]).await;
    let count = 3 * SESSION_WAITING_MAX;
    let mut last = 0;
    for number in 0..count {
        // Nothing of the session runs in between: all of these wait at once.
        last = world.agent.put(input("main", &format!("message {number}"))).await.unwrap();
    }
    world.agent.answer(last).await.unwrap();
    assert_eq!(world.memory.0.lock().unwrap().answers.len(), count);
}

#[tokio::test(start_paused = true)]
async fn more_conversations_than_there_is_room_for_take_their_turns() {
    let memory = Memory::default();
    let count = super::super::SESSIONS_MAX as i64 + 20;
    for id in 1..=count {
        memory.0.lock().unwrap().inputs.insert(id, input(&format!("s{id:05}"), "hello"));
    }
    let world = World::over(memory, &[]);
    world.agent.run().await.unwrap();
    for id in [1, count] {
        world.agent.answer(id).await.unwrap();
    }
    world.until(|world| world.memory.0.lock().unwrap().answers.len() as i64 == count).await;
}

#[tokio::test(start_paused = true)]
async fn two_turns_of_one_conversation_that_were_left_open_are_both_answered() {
    let memory = Memory::default();
    for id in 1..=2 {
        let mut kept = memory.0.lock().unwrap();
        let new = input("main", &format!("message {id}"));
        kept.inputs.insert(id, new.clone());
        let turn = format!("t{id}");
        let began = Event::Began {
            turn: turn.clone(),
            input: Box::new(Input { id, new }),
            language: "en".into(),
            limits: Limits::default(),
            day_tokens: 0,
            day_cost_usd_micros: 0,
        };
        kept.logs.insert(turn.clone(), StoredTurn { turn, session: "main".into(), events: vec![json!(began)] });
    }
    let world = World::over(memory, &[Say::Text("one"), Say::Text("two")]);
    world.agent.run().await.unwrap();
    for (id, reply) in [(1, "one"), (2, "two")] {
        assert_eq!(world.agent.answer(id).await.unwrap().reply, reply);
    }
}

#[tokio::test(start_paused = true)]
async fn a_log_with_a_gap_is_made_whole_before_anything_is_done() {
    let memory = Memory::default();
    let calls: Arc<Mutex<Vec<String>>> = Arc::default();
    let slow = |world: &World| {
        let calls = calls.clone();
        let handler = tool_handler(move |_, _| {
            calls.lock().unwrap().push("slow".into());
            std::future::pending()
        });
        world.agent.tools().register("house", ToolDef { name: "slow".into(), ..ToolDef::default() }, handler).unwrap();
    };
    let world = World::over(memory.clone(), &[Say::Calls(vec![("slow", json!({}))])]);
    slow(&world);
    // The disk is full until just before the call.
    memory.0.lock().unwrap().broken = true;
    let disk = memory.clone();
    let handler = stage_handler(move |_: &mut StageContext| {
        disk.0.lock().unwrap().broken = false;
        Ok(())
    });
    world.agent.stages().register("disk", Stage::BeforeToolcall, false, handler);
    world.agent.run().await.unwrap();
    world.put("main", InjectionKind::Text, "open the valve").await;
    world.until(|_| calls.lock().unwrap().len() == 1).await;
    world.agent.close().await;

    let world = World::over(memory, &[Say::Text("I do not know")]);
    slow(&world);
    world.agent.run().await.unwrap();
    world.agent.answer(1).await.unwrap();
    let shown: Value = json!(world.requests()[0].messages);
    assert!(shown.to_string().contains("outcome_unknown"), "the turn began anew: {shown}");
    assert_eq!(calls.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_step_that_cannot_be_read_ends_the_turn_and_nothing_is_done_again() {
    let memory = Memory::default();
    let world = World::over(memory.clone(), &[Say::Calls(vec![("slow", json!({}))])]);
    hang(&world, "slow");
    world.agent.run().await.unwrap();
    world.put("main", InjectionKind::Text, "open the valve").await;
    calling(&world).await;
    world.agent.close().await;
    for log in memory.0.lock().unwrap().logs.values_mut() {
        let at = log.events.iter().position(|event| event["event"] == "replied").unwrap();
        log.events[at] = json!({ "event": "of another version" });
    }
    let calls = Arc::default();
    let world = World::over(memory, &[Say::Calls(vec![("slow", json!({}))])]);
    note(&world, "slow", &calls);
    world.agent.run().await.unwrap();
    let answered = world.agent.answer(1).await.unwrap();
    assert_eq!((answered.ended.as_str(), world.requests().len()), ("stopped", 0));
    assert!(calls.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_back_fires_no_timer_again_and_ends_no_turn() {
    use crate::ports::{Clock, Schedule, When};
    use std::sync::atomic::{AtomicI64, Ordering};

    struct Set(Arc<AtomicI64>);
    impl Clock for Set {
        fn now_ms(&self) -> i64 {
            self.0.load(Ordering::SeqCst)
        }
        fn written(&self, at_ms: i64) -> String {
            at_ms.to_string()
        }
    }
    const NOON: i64 = 1_796_040_000_000;
    let hour = 3_600_000;
    let time = Arc::new(AtomicI64::new(NOON));
    let clock = Arc::new(Set(time.clone()));
    let memory = Memory::default();
    let schedule = |id: &str, when: When, next_at_ms| Schedule {
        id: id.into(),
        when,
        input: input("main", id),
        next_at_ms,
        created_at_ms: NOON,
    };
    let hourly = When::Cron { expression: "0 * * * *".into(), zone: "UTC".into() };
    memory.0.lock().unwrap().schedules =
        vec![schedule("once", When::Once { at_ms: NOON + 1 }, NOON + 1), schedule("hourly", hourly, NOON + hour)];
    let world = World::with(memory.clone(), &[], |ports| ports.clock = clock);
    world.agent.run().await.unwrap();
    let fired = |id: &str| memory.0.lock().unwrap().inputs.values().filter(|input| input.text.ends_with(id)).count();
    let pass = async || tokio::time::sleep(std::time::Duration::from_secs(90)).await; // deadline: paused time
    time.store(NOON + hour + 5, Ordering::SeqCst);
    pass().await;
    assert_eq!((fired("once"), fired("hourly")), (1, 1));
    // An hour back: what fired in it does not fire again, and the next one still comes.
    time.store(NOON + 5, Ordering::SeqCst);
    let id = world.agent.put(input("main", "hello")).await.unwrap();
    assert_eq!(world.agent.answer(id).await.unwrap().ended, "answered");
    pass().await;
    time.store(NOON + hour + 5, Ordering::SeqCst);
    pass().await;
    assert_eq!((fired("once"), fired("hourly")), (1, 1));
    time.store(NOON + 2 * hour, Ordering::SeqCst);
    pass().await;
    assert_eq!((fired("once"), fired("hourly")), (1, 2));
}
