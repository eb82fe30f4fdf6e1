//! A disk that is full for a while.

use std::sync::{Arc, Mutex};

use sdk::{Failure, InjectionKind, ToolDef, tool_handler};
use serde_json::json;
use tokio::sync::broadcast::Receiver;

use super::super::AgentEvent;
use super::note;
use super::world::{Memory, Say, World};

/// What was told of waiting, and how often a turn ended.
fn told(events: &mut Receiver<AgentEvent>) -> (Vec<String>, usize) {
    let (mut postponed, mut ended) = (vec![], 0);
    while let Ok(event) = events.try_recv() {
        match event {
            AgentEvent::Postponed { message, .. } => postponed.push(message),
            AgentEvent::TurnEnded { .. } => ended += 1,
            _ => {}
        }
    }
    (postponed, ended)
}

fn set_full(memory: &Memory, full: bool) {
    memory.0.lock().unwrap().full = full;
}

/// A tool after whose work the disk is full.
fn filling(world: &World, calls: &Arc<Mutex<u32>>) {
    let (calls, memory) = (calls.clone(), world.memory.clone());
    let handler = tool_handler(move |_, _| {
        *calls.lock().unwrap() += 1;
        set_full(&memory, true);
        std::future::ready(Ok::<_, Failure>(json!({ "ok": true })))
    });
    world.agent.tools().register("house", ToolDef { name: "lock".into(), ..ToolDef::default() }, handler).unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_finds_the_disk_full_is_told_once_when_there_is_room() {
    let world = World::saying(&[Say::Calls(vec![("lock", json!({}))]), Say::Text("locked"), Say::Text("next")]).await;
    let calls = Arc::default();
    filling(&world, &calls);
    let mut events = world.agent.subscribe();
    let first = world.put("main", InjectionKind::Text, "锁门").await;
    let second = world.put("main", InjectionKind::Text, "and then?").await;
    tokio::time::sleep(std::time::Duration::from_secs(120)).await; // paused time, deadline: two minutes without room
    let (postponed, ended) = told(&mut events);
    assert!(matches!(&postponed[..], [message] if message.starts_with("磁盘已满")), "{postponed:?}");
    assert_eq!(ended, 0, "nothing is told that is not kept");
    assert_eq!(world.requests().len(), 2, "and the next turn waits");
    set_full(&world.memory, false);
    assert_eq!(world.agent.answer(first).await.unwrap().reply, "locked");
    assert_eq!(world.agent.answer(second).await.unwrap().reply, "next");
    assert_eq!(*calls.lock().unwrap(), 1);
    assert_eq!(told(&mut events), (vec![], 2));
    assert_eq!(world.memory.0.lock().unwrap().answers.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_cannot_be_written_down_asks_nobody_and_moves_nothing_until_there_is_room() {
    let world = World::saying(&[Say::Calls(vec![("lock", json!({}))]), Say::Text("locked")]).await;
    let calls = Arc::default();
    note(&world, "lock", &calls);
    let mut events = world.agent.subscribe();
    set_full(&world.memory, true);
    let id = world.put("main", InjectionKind::Text, "lock").await;
    tokio::time::sleep(std::time::Duration::from_secs(120)).await; // paused time, deadline: two minutes without room
    let (postponed, ended) = told(&mut events);
    assert!(matches!(&postponed[..], [message] if message.starts_with("The disk is full")), "{postponed:?}");
    assert_eq!((ended, world.requests().len(), calls.lock().unwrap().len()), (0, 0, 0));
    set_full(&world.memory, false);
    assert_eq!(world.agent.answer(id).await.unwrap().reply, "locked");
    assert_eq!(calls.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_program_that_ends_while_the_disk_is_full_answers_once_and_does_nothing_twice() {
    let (memory, calls) = (Memory::default(), Arc::default());
    {
        let world = World::over(memory.clone(), &[Say::Calls(vec![("lock", json!({}))]), Say::Text("locked")]);
        filling(&world, &calls);
        world.agent.run().await.unwrap();
        let mut events = world.agent.subscribe();
        world.put("main", InjectionKind::Text, "lock").await;
        while !matches!(events.recv().await.unwrap(), AgentEvent::Postponed { .. }) {}
        world.agent.close().await;
    }
    set_full(&memory, false);
    // The model does what it should not: the same once more, without a look.
    let says = [Say::Calls(vec![("lock", json!({}))]), Say::Text("I do not know whether it is locked")];
    let world = World::over(memory, &says);
    filling(&world, &calls);
    let look = tool_handler(|_, _| std::future::ready(Ok::<_, Failure>(json!({ "lock": "locked" }))));
    let def = ToolDef { name: "look".into(), read_only: true, ..ToolDef::default() };
    world.agent.tools().register("house", def, look).unwrap();
    let mut events = world.agent.subscribe();
    world.agent.run().await.unwrap();
    world.agent.answer(1).await.unwrap();
    assert_eq!(*calls.lock().unwrap(), 1);
    assert_eq!(told(&mut events), (vec![], 1));
}
