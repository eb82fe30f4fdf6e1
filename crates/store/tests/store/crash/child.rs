//! Writes on every port at once and says on standard output what is done, one line each, once the
//! store said so. Start at [`write_for_ever`].

use std::io::Write;
use std::path::Path;

use kernel::message::Message;
use kernel::ports::{Answered, NewInput, Schedule, When};
use sdk::TextEvent;
use serde_json::{Value, json};
use store::{Options, Store};

pub fn write_for_ever(folder: &Path, generation: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let store = Store::open(folder, &Options::default()).unwrap();
    runtime.block_on(async {
        // The first one that fails ends the child, and the test says why.
        tokio::try_join!(
            tokio::spawn(puts(store.clone(), generation.to_owned())),
            tokio::spawn(answers(store.clone())),
            tokio::spawn(timers(store.clone(), generation.to_owned())),
            tokio::spawn(daily(store.clone())),
            tokio::spawn(watched(store.clone(), generation.to_owned())),
        )
        .unwrap();
    });
}

fn did(line: &str) {
    let line = format!("did {line}\n");
    // One write, so that a line is whole or not there.
    std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
    std::io::stdout().flush().unwrap();
}

fn input(text: String, client_id: Option<String>) -> NewInput {
    NewInput { session: "main".into(), text, client_id, ..NewInput::default() }
}

async fn puts(store: Store, generation: String) {
    let inbox = store.inbox();
    for number in 0.. {
        let client = format!("c-{generation}-{number}");
        let (id, _) = inbox.put(input(client.clone(), Some(client.clone()))).await.unwrap();
        did(&format!("put {id} {client}"));
        // A client that is not sure sends it again.
        assert_eq!(inbox.put(input(client.clone(), Some(client))).await.unwrap(), (id, true));
    }
}

async fn answers(store: Store) {
    let (inbox, turns, outbox) = (store.inbox(), store.turns(), store.outbox());
    loop {
        for input in inbox.pending().await.unwrap() {
            let turn = format!("t-{}", input.id);
            turns.append(&turn, "main", json!({"began": input.id}), input.id % 2 == 0).await.unwrap();
            inbox.answer(answer(&turn, input.id, &input.new.text)).await.unwrap();
            did(&format!("answered {}", input.id));
        }
        for reply in outbox.undelivered(3).await.unwrap() {
            assert!(outbox.delivered(reply.id).await.unwrap());
            did(&format!("delivered {} {}", reply.id, reply.turn));
        }
        tokio::task::yield_now().await;
    }
}

fn answer(turn: &str, input: i64, text: &str) -> Answered {
    Answered {
        turn: turn.into(),
        session: "main".into(),
        inputs: vec![input],
        principal: Default::default(),
        reply: format!("heard {text}"),
        ended: "done".into(),
        messages: vec![
            Message::User { content: text.into() },
            Message::Assistant { content: format!("heard {text}"), calls: Vec::new(), reasoning: Vec::new() },
        ],
        changes: Value::Null,
        usage: json!({"prompt_tokens": 1}),
        at_ms: input,
    }
}

async fn timers(store: Store, generation: String) {
    let schedules = store.schedules();
    for number in 0.. {
        let id = format!("s-{generation}-{number}");
        schedules.add(timer(&id, 100)).await.unwrap();
        did(&format!("added {id}"));
        // Every third waits for the next start.
        if number % 3 != 0 {
            let (one, other) = tokio::join!(
                schedules.fire(&id, 100, None, input(id.clone(), None)),
                schedules.fire(&id, 100, None, input(id.clone(), None))
            );
            assert!(one.unwrap().is_some() != other.unwrap().is_some());
            did(&format!("fired {id}"));
        }
        for left in schedules.list().await.unwrap().into_iter().filter(|left| left.id != "daily").skip(5) {
            schedules.fire(&left.id, left.next_at_ms, None, left.input).await.unwrap();
            did(&format!("fired {}", left.id));
        }
    }
}

/// Fires at 1, 2, 3 …, over all starts.
async fn daily(store: Store) {
    let schedules = store.schedules();
    let known = schedules.list().await.unwrap().into_iter().find(|schedule| schedule.id == "daily");
    let mut due = match known {
        Some(schedule) => schedule.next_at_ms,
        None => {
            schedules.add(timer("daily", 1)).await.unwrap();
            1
        }
    };
    loop {
        assert!(schedules.fire("daily", due, Some(due + 1), input("daily".into(), None)).await.unwrap().is_some());
        did(&format!("daily {due}"));
        due += 1;
    }
}

fn timer(id: &str, at_ms: i64) -> Schedule {
    Schedule {
        id: id.into(),
        when: When::Once { at_ms },
        input: input(id.into(), None),
        next_at_ms: at_ms,
        created_at_ms: 0,
    }
}

async fn watched(store: Store, generation: String) {
    let (events, text) = (store.events(), store.text());
    for number in 0.. {
        let seq = events.append("tick", json!({"number": number})).await.unwrap();
        did(&format!("event {seq}"));
        let content = format!("line-{generation}-{number}");
        text.append(TextEvent { content: content.clone(), timestamp: 1_000, ..TextEvent::default() }).await.unwrap();
        did(&format!("text {content}"));
    }
}
