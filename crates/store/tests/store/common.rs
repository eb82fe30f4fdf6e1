//! A store with something of everything in it.

use std::fs;
use std::path::Path;

use kernel::message::Message;
use kernel::ports::{Answered, NewInput, Principal, Schedule, StoredSetting, When};
use sdk::TextEvent;
use serde_json::{Value, json};
use store::{Options, Store};

pub fn open(folder: &Path) -> Store {
    Store::open(folder, &Options::default()).unwrap()
}

pub fn input(text: &str) -> NewInput {
    let principal = Principal { channel: "web".into(), ..Principal::default() };
    NewInput { session: "main".into(), text: text.into(), principal, ..NewInput::default() }
}

pub fn answer(turn: &str, input: i64) -> Answered {
    Answered {
        turn: turn.into(),
        session: "main".into(),
        inputs: vec![input],
        principal: Principal { channel: "web".into(), ..Principal::default() },
        reply: "heard".into(),
        ended: "done".into(),
        messages: vec![
            Message::User { content: "a".into() },
            Message::Assistant { content: "heard".into(), calls: Vec::new(), reasoning: Vec::new() },
        ],
        changes: json!([{"was": "off"}]),
        usage: json!({"prompt_tokens": 3}),
        at_ms: 1_000,
    }
}

pub async fn fill(store: &Store) {
    let (inbox, schedules, settings) = (store.inbox(), store.schedules(), store.settings());
    let (a, _) = inbox.put(NewInput { client_id: Some("c-1".into()), ..input("answered") }).await.unwrap();
    store.turns().append("t1", "main", json!({"began": 1}), true).await.unwrap();
    inbox.answer(answer("t1", a)).await.unwrap();
    for text in ["a", "b"] {
        inbox.put(input(text)).await.unwrap();
    }
    for (id, at_ms) in [("cake", 100), ("tea", 200)] {
        let when = When::Once { at_ms };
        let schedule = Schedule { id: id.into(), when, input: input(id), next_at_ms: at_ms, created_at_ms: 1 };
        schedules.add(schedule).await.unwrap();
    }
    for (key, value, secret) in [("language", json!("zh"), false), ("token", json!("sesame-open"), true)] {
        let setting = StoredSetting { space: "core".into(), key: key.into(), value, secret };
        settings.put(setting).await.unwrap();
    }
    store.events().append("began", Value::Null).await.unwrap();
    for (content, timestamp) in [("晚安", 1_000), ("a day later", 90_000)] {
        let event = TextEvent { role: "user".into(), content: content.into(), timestamp, ..TextEvent::default() };
        store.text().append(event).await.unwrap();
    }
    let root = store.folder().root();
    fs::create_dir_all(root.join("knowledge/heating")).unwrap();
    fs::write(root.join("knowledge/heating/winter.md"), "# Winter").unwrap();
    fs::write(root.join("AGENTS.md"), "You are 门神.").unwrap();
}

pub async fn texts(store: &Store) -> Vec<String> {
    store.inbox().pending().await.unwrap().into_iter().map(|input| input.new.text).collect()
}
