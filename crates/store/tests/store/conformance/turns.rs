//! [`kernel::ports::TurnLog`].

use kernel::message::Message;
use kernel::ports::{Answered, FailureKind, StoredTurn};
use serde_json::json;

use super::{Ports, answer, calls, result, says, user};

async fn remember(ports: &Ports, turn: &str, session: &str, messages: Vec<Message>) {
    ports.inbox.answer(Answered { messages, ..answer(turn, session, &[]) }).await.unwrap();
}

pub async fn a_turn_is_open_with_its_steps_in_order_until_it_is_answered(ports: &Ports) {
    for (turn, session, step) in [("t1", "main", 1), ("t2", "kitchen", 2), ("t1", "main", 3), ("t1", "main", 4)] {
        ports.turns.append(turn, session, json!({"step": step}), step % 2 == 0).await.unwrap();
    }
    let stored = |turn: &str, session: &str, steps: &[i64]| StoredTurn {
        turn: turn.into(),
        session: session.into(),
        events: steps.iter().map(|step| json!({"step": step})).collect(),
    };
    let open = ports.turns.open().await.unwrap();
    assert_eq!(open, [stored("t1", "main", &[1, 3, 4]), stored("t2", "kitchen", &[2])]);
    ports.inbox.answer(answer("t1", "main", &[])).await.unwrap();
    assert_eq!(ports.turns.open().await.unwrap(), [stored("t2", "kitchen", &[2])]);
    ports.turns.append("t1", "main", json!({"step": "after"}), true).await.unwrap();
    assert_eq!(ports.turns.open().await.unwrap().len(), 1, "a step after the end opens nothing");
}

pub async fn a_history_is_the_newest_messages_oldest_first_and_of_its_session_only(ports: &Ports) {
    for number in 1..=3 {
        remember(ports, &format!("t{number}"), "main", vec![user(&number.to_string()), says("ok")]).await;
    }
    remember(ports, "k1", "kitchen", vec![user("k"), says("ok")]).await;
    assert_eq!(ports.turns.history("main", 4).await.unwrap(), [user("2"), says("ok"), user("3"), says("ok")]);
    assert_eq!(ports.turns.history("main", 100).await.unwrap().len(), 6);
    assert_eq!(ports.turns.history("kitchen", 100).await.unwrap(), [user("k"), says("ok")]);
    assert!(ports.turns.history("cellar", 100).await.unwrap().is_empty());
    assert!(ports.turns.history("main", 0).await.unwrap().is_empty());
}

pub async fn a_history_never_shows_half_of_a_call(ports: &Ports) {
    let first = vec![user("1"), calls(&["a", "b"]), result("a"), result("b"), says("done")];
    remember(ports, "t1", "main", first.clone()).await;
    remember(ports, "t2", "main", vec![user("2"), calls(&["c", "d"]), result("d"), result("x")]).await;
    remember(ports, "t3", "main", vec![user("3"), calls(&["e"])]).await;
    let second = vec![user("2"), calls(&["d"]), result("d"), user("3")];
    assert_eq!(ports.turns.history("main", 100).await.unwrap(), [first, second.clone()].concat());
    for count in 6..=10 {
        assert_eq!(ports.turns.history("main", count).await.unwrap(), second, "the first turn is cut at {count}");
    }
    for count in 2..=5 {
        assert_eq!(ports.turns.history("main", count).await.unwrap(), [user("3")], "the second is cut at {count}");
    }
}

pub async fn a_turn_that_may_not_be_remembered_leaves_no_history(ports: &Ports) {
    remember(ports, "t1", "main", Vec::new()).await;
    assert!(ports.turns.history("main", 100).await.unwrap().is_empty());
    assert_eq!(ports.outbox.undelivered(10).await.unwrap().len(), 1, "and is delivered");
}

pub async fn a_summary_takes_the_place_of_the_beginning(ports: &Ports) {
    for number in 1..=4 {
        remember(ports, &format!("t{number}"), "main", vec![user(&number.to_string()), says("ok")]).await;
    }
    remember(ports, "k1", "kitchen", vec![user("k"), says("ok")]).await;
    let summary = |text: &str| Message::System { content: text.into() };
    ports.turns.compact("main", 2, summary("1 to 3")).await.unwrap();
    assert_eq!(ports.turns.history("main", 100).await.unwrap(), [summary("1 to 3"), user("4"), says("ok")]);
    remember(ports, "t5", "main", vec![user("5"), says("ok")]).await;
    ports.turns.compact("main", 2, summary("1 to 4")).await.unwrap();
    assert_eq!(ports.turns.history("main", 100).await.unwrap(), [summary("1 to 4"), user("5"), says("ok")]);
    ports.turns.compact("main", 0, summary("all")).await.unwrap();
    assert_eq!(ports.turns.history("main", 100).await.unwrap(), [summary("all")]);
    assert_eq!(ports.turns.history("kitchen", 100).await.unwrap().len(), 2);
}

pub async fn a_summary_never_cuts_into_a_turn_and_may_keep_all(ports: &Ports) {
    let long = vec![user("2"), calls(&["a"]), result("a"), calls(&["b"]), result("b"), says("done")];
    remember(ports, "t1", "main", vec![user("1"), says("ok")]).await;
    remember(ports, "t2", "main", long.clone()).await;
    let summary = Message::System { content: "1".into() };
    ports.turns.compact("main", 8, summary.clone()).await.unwrap();
    assert_eq!(ports.turns.history("main", 100).await.unwrap().len(), 8, "nothing was to go");
    ports.turns.compact("main", 2, summary.clone()).await.unwrap();
    assert_eq!(ports.turns.history("main", 100).await.unwrap(), [vec![summary.clone()], long].concat());
    ports.turns.compact("cellar", 2, summary).await.unwrap();
    assert!(ports.turns.history("cellar", 100).await.unwrap().is_empty(), "nothing was there to sum up");
}

pub async fn the_last_changes_are_those_of_the_newest_turn_that_was_not_undone(ports: &Ports) {
    for (turn, session, changes) in [
        ("t1", "main", json!(["one"])),
        ("t2", "main", json!(["two"])),
        ("t3", "main", json!(null)),
        ("t4", "kitchen", json!(["four"])),
    ] {
        ports.inbox.answer(Answered { changes, ..answer(turn, session, &[]) }).await.unwrap();
    }
    let last = || ports.turns.last_changes("main");
    assert_eq!(last().await.unwrap(), Some(("t2".into(), json!(["two"]))));
    ports.turns.mark_undone("t2").await.unwrap();
    assert_eq!(last().await.unwrap(), Some(("t1".into(), json!(["one"]))));
    ports.turns.mark_undone("t1").await.unwrap();
    assert_eq!(last().await.unwrap(), None);
    assert_eq!(ports.turns.mark_undone("t9").await.unwrap_err().kind, FailureKind::NotFound);
}

pub async fn what_was_spent_counts_from_a_time_on(ports: &Ports) {
    for (turn, at_ms, usage) in [
        ("t1", 100, json!({"prompt_tokens": 1000, "completion_tokens": 1, "cost_usd_micros": 500})),
        ("t2", 200, json!({"prompt_tokens": 20, "completion_tokens": 2, "cost_usd_micros": 30})),
        ("t3", 300, json!(null)),
        ("t4", 400, json!({"prompt_tokens": 4, "completion_tokens": 4})),
    ] {
        ports.inbox.answer(Answered { at_ms, usage, ..answer(turn, "main", &[]) }).await.unwrap();
    }
    assert_eq!(ports.turns.spent_since(101).await.unwrap(), (30, 30));
    assert_eq!(ports.turns.spent_since(100).await.unwrap(), (1031, 530));
    assert_eq!(ports.turns.spent_since(401).await.unwrap(), (0, 0));
}

pub async fn sessions_are_listed_with_the_newest_first(ports: &Ports) {
    for (turn, session, at_ms) in [("t1", "main", 100), ("t2", "kitchen", 200), ("t3", "main", 300)] {
        ports.inbox.answer(Answered { at_ms, ..answer(turn, session, &[]) }).await.unwrap();
    }
    let sessions = ports.turns.sessions().await.unwrap();
    assert_eq!(sessions, [("main".to_owned(), 300), ("kitchen".to_owned(), 200)]);
}
