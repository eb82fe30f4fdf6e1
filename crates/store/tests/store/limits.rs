//! What happens at the limits, each beside the row it has in ARCHITECTURE.md.

use kernel::ports::FailureKind;
use rusqlite::Connection;
use store::inbox::INPUTS_PENDING_MAX;
use store::outbox::{EVENTS_KEPT, REPLIES_WAITING_MAX};
use store::schedules::SCHEDULES_MAX;
use store::turns::TURN_LOGS_KEPT;
use store::{Store, StoreError};
use tempfile::TempDir;

use crate::common::{answer, input, open};
use crate::conformance::timers::timer;

/// Runs this once for each number up to that one, in a single statement.
async fn many(store: &Store, count: i64, insert: &'static str) {
    let fill = store.database().write(move |connection: &Connection| {
        let numbers = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)";
        connection.execute(&format!("{insert} {numbers} {}", select_of(insert)), [count])?;
        Ok::<_, StoreError>(())
    });
    fill.await.unwrap();
}

/// The values for each table that is filled here.
fn select_of(insert: &str) -> &'static str {
    match insert.split(' ').nth(2) {
        Some("inputs") => "SELECT 'main', 'web', '{}' FROM numbers",
        Some("outbox") => "SELECT 't' || n, 'main', '{}', 'r', 'done', n FROM numbers",
        Some("events") => "SELECT 'old', '{}' FROM numbers",
        Some("schedules") => "SELECT 's' || n, '{}', '{}', n, n FROM numbers",
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_full_inbox_says_so_and_takes_more_when_something_was_answered() {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path());
    many(&store, INPUTS_PENDING_MAX, "INSERT INTO inputs (session, channel, input)").await;
    let refused = store.inbox().put(input("one more")).await.unwrap_err();
    assert_eq!(refused.kind, FailureKind::Full, "{refused}");
    store.inbox().answer(answer("t", 1)).await.unwrap();
    store.inbox().put(input("one more")).await.unwrap();
}

#[tokio::test]
async fn when_nobody_fetches_replies_the_oldest_are_given_up_and_stay_in_the_history() {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path());
    many(&store, REPLIES_WAITING_MAX + 500, "INSERT INTO outbox (turn, session, principal, reply, ended, at_ms)").await;
    for number in 0..64 {
        let (id, _) = store.inbox().put(input("a")).await.unwrap();
        store.inbox().answer(answer(&format!("new{number}"), id)).await.unwrap();
    }
    let waiting = store.outbox().undelivered(usize::MAX).await.unwrap();
    assert!(waiting.len() as i64 <= REPLIES_WAITING_MAX + 64, "{}", waiting.len());
    assert_eq!(waiting.last().unwrap().turn, "new63");
    assert!(waiting[0].id > 500);
    assert_eq!(store.turns().history("main", 1_000).await.unwrap().len(), 128);
}

#[tokio::test]
async fn old_events_are_forgotten_and_numbers_go_on() {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path());
    many(&store, EVENTS_KEPT + 5_000, "INSERT INTO events (kind, body)").await;
    for _ in 0..64 {
        store.events().append("new", serde_json::json!({})).await.unwrap();
    }
    let (oldest, newest) = store.events().range().await.unwrap().unwrap();
    assert_eq!(newest, EVENTS_KEPT + 5_064);
    assert!(newest - oldest < EVENTS_KEPT + 64 && newest - oldest >= EVENTS_KEPT - 1, "{oldest} to {newest}");
}

#[tokio::test]
async fn one_timer_too_many_is_refused_and_one_that_is_there_can_still_be_changed() {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path());
    many(&store, SCHEDULES_MAX, "INSERT INTO schedules (id, due, input, next_at_ms, created_at_ms)").await;
    let refused = store.schedules().add(timer("one more", 5)).await.unwrap_err();
    assert_eq!(refused.kind, FailureKind::Full, "{refused}");
    store.schedules().add(timer("s7", 5)).await.unwrap();
    store.schedules().cancel("s8").await.unwrap();
    store.schedules().add(timer("one more", 5)).await.unwrap();
}

#[tokio::test]
async fn the_steps_of_old_turns_are_forgotten_and_those_of_an_open_one_are_kept() {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path());
    let turns = store.turns();
    turns.append("open", "main", serde_json::json!({"step": 1}), false).await.unwrap();
    for number in 0..TURN_LOGS_KEPT + 30 {
        let turn = format!("t{number}");
        turns.append(&turn, "main", serde_json::json!({"step": 1}), false).await.unwrap();
        store.inbox().answer(kernel::ports::Answered { inputs: Vec::new(), ..answer(&turn, 0) }).await.unwrap();
    }
    let steps = store.database().read(|connection| {
        Ok(connection.query_row("SELECT count(*) FROM turn_events", [], |row| row.get::<_, i64>(0))?)
    });
    let steps = steps.await.unwrap();
    assert!(steps <= TURN_LOGS_KEPT + 2, "{steps}");
    assert_eq!(turns.open().await.unwrap().len(), 1);
}
