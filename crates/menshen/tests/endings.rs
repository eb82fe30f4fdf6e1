//! A store with no room, and a program that ends in the middle, on the real store: only the model is scripted, and
//! there is no house.

#![allow(clippy::unwrap_used, clippy::expect_used)]

// The world of the kernel's own tests names the kernel's modules as its crate's.
use kernel::{agent, message, ports, turn};

#[allow(dead_code)]
#[path = "../../kernel/src/agent/tests/world.rs"]
mod world;

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent::AgentEvent;
use sdk::{Failure, InjectionKind, Stage, StageContext, ToolDef, stage_handler, tool_handler};
use serde_json::json;
use store::{Options, Store};
use world::{Memory, Say, World};

const PATIENCE: Duration = Duration::from_secs(30);
/// For the child: where the store is.
const FOLDER: &str = "MENSHEN_TEST_ENDING";

fn on(store: &Store, says: &[Say]) -> World {
    World::with(Memory::default(), says, |ports| {
        ports.inbox = store.inbox();
        ports.turns = store.turns();
        ports.schedules = store.schedules();
        ports.text = store.text();
    })
}

/// No page more than there are now, or as many as one likes.
async fn cap(store: &Store, full: bool) {
    let pages: u32 = if full { 1 } else { u32::MAX - 1 };
    store
        .database()
        .write(move |connection| Ok(connection.pragma_update(None, "max_page_count", pages)?))
        .await
        .unwrap();
}

async fn until_postponed(events: &mut tokio::sync::broadcast::Receiver<AgentEvent>) -> String {
    let waits = async {
        loop {
            if let AgentEvent::Postponed { message, .. } = events.recv().await.unwrap() {
                return message;
            }
        }
    };
    tokio::time::timeout(PATIENCE, waits).await.expect("nobody was told")
}

/// A lock whose work fills the store, and a long answer of which nothing finds room.
fn lock(world: &World, store: &Store, calls: &Arc<Mutex<u32>>) {
    let (calls, store) = (calls.clone(), store.database().clone());
    let handler = tool_handler(move |_, _| {
        let (calls, store) = (calls.clone(), store.clone());
        async move {
            *calls.lock().unwrap() += 1;
            store.write(|connection| Ok(connection.pragma_update(None, "max_page_count", 1)?)).await?;
            Ok::<_, Failure>(json!({ "ok": true, "said": "locked ".repeat(2000) }))
        }
    });
    world.agent.tools().register("house", ToolDef { name: "lock".into(), ..ToolDef::default() }, handler).unwrap();
}

#[tokio::test]
async fn a_store_without_room_keeps_the_answer_until_there_is_some_and_tells_it_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &Options::default()).unwrap();
    let (world, calls) = (on(&store, &[Say::Calls(vec![("lock", json!({}))]), Say::Text("locked")]), Arc::default());
    lock(&world, &store, &calls);
    let mut events = world.agent.subscribe();
    world.agent.run().await.unwrap();
    let id = world.put("main", InjectionKind::Text, "锁门").await;
    assert!(until_postponed(&mut events).await.contains("磁盘已满"));
    assert_eq!(store.inbox().pending().await.unwrap().len(), 1, "it is still to be answered");
    assert!(store.outbox().undelivered(10).await.unwrap().is_empty());
    let more = world.agent.put(ports::NewInput { text: "and? ".repeat(20_000), ..ports::NewInput::default() }).await;
    assert_eq!(more.unwrap_err().kind, sdk::FailureKind::Full, "and nothing more is accepted");
    cap(&store, false).await;
    let answered = tokio::time::timeout(PATIENCE, world.agent.answer(id)).await.unwrap().unwrap();
    assert_eq!(answered.reply, "locked");
    let mut ended = 0;
    while let Ok(event) = events.try_recv() {
        ended += usize::from(matches!(event, AgentEvent::TurnEnded { .. }));
    }
    assert_eq!((ended, *calls.lock().unwrap()), (1, 1));
    assert_eq!(store.outbox().undelivered(10).await.unwrap().len(), 1, "one reply on its way");
}

#[tokio::test]
async fn ended_without_room_the_next_start_answers_once_and_does_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let calls = Arc::default();
    {
        let store = Store::open(folder.path(), &Options::default()).unwrap();
        let world = on(&store, &[Say::Calls(vec![("lock", json!({}))]), Say::Text("locked")]);
        lock(&world, &store, &calls);
        let mut events = world.agent.subscribe();
        world.agent.run().await.unwrap();
        world.put("main", InjectionKind::Text, "lock").await;
        until_postponed(&mut events).await;
        world.agent.close().await;
    }
    let store = Store::open(folder.path(), &Options::default()).unwrap();
    // The model does what it should not: the same once more, without a look.
    let world = on(&store, &[Say::Calls(vec![("lock", json!({}))]), Say::Text("I do not know whether it is locked")]);
    lock(&world, &store, &calls);
    let mut events = world.agent.subscribe();
    world.agent.run().await.unwrap();
    let answered = tokio::time::timeout(PATIENCE, world.agent.answer(1)).await.unwrap().unwrap();
    assert!(answered.reply.contains("I do not know"), "{}", answered.reply);
    assert_eq!(*calls.lock().unwrap(), 1);
    assert_eq!(store.outbox().undelivered(10).await.unwrap().len(), 1);
    while let Ok(event) = events.try_recv() {
        assert!(!matches!(event, AgentEvent::Postponed { .. }));
    }
}

/// One start of the program; a handler ends it, as a crash would.
async fn start(folder: &Path) {
    let store = Store::open(folder, &Options::default()).unwrap();
    let world = on(&store, &[Say::Text("never said")]);
    let handler = stage_handler(|_: &mut StageContext| std::process::abort());
    world.agent.stages().register("broken", Stage::PreAction, false, handler);
    // Looked at before it runs: it may be answered at once.
    let open = store.inbox().pending().await.unwrap();
    world.agent.run().await.unwrap();
    let id = match open.first() {
        Some(input) => input.id,
        None => world.put("main", InjectionKind::Text, "关灯").await,
    };
    let answered = world.agent.answer(id).await.unwrap();
    println!("ended {}: {}", answered.ended, answered.reply);
}

#[test]
fn a_message_at_which_the_program_ends_three_times_is_given_up_and_says_so() {
    let name = "a_message_at_which_the_program_ends_three_times_is_given_up_and_says_so";
    if let Some(folder) = std::env::var_os(FOLDER) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        return runtime.block_on(start(Path::new(&folder)));
    }
    let folder = tempfile::tempdir().unwrap();
    let run = || {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", name, "--nocapture"]).env(FOLDER, folder.path()).output().unwrap()
    };
    for number in 1..=3 {
        assert!(!run().status.success(), "start {number} ended well");
    }
    let last = run();
    let said = String::from_utf8_lossy(&last.stdout);
    assert!(last.status.success(), "{said} {}", String::from_utf8_lossy(&last.stderr));
    assert!(said.contains("ended given_up: 我放弃了这件事"), "{said}");
}
