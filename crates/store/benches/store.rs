//! What a turn costs in storage: `cargo bench -p store`. The numbers of the first two are mostly those
//! of the disk's sync; `steps` shows what is left without it.

#![allow(clippy::unwrap_used)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use kernel::message::{CallRequest, Message};
use kernel::ports::{Answered, NewInput, Principal};
use serde_json::{Value, json};
use store::{Options, Store};
use tempfile::TempDir;

fn input() -> NewInput {
    NewInput { session: "main".into(), text: "把客厅的空调打开".into(), ..NewInput::default() }
}

/// A question, one call with its result, and an answer.
fn answer(number: i64, input: i64) -> Answered {
    let call = CallRequest { id: "1".into(), name: "home_control".into(), arguments: "{\"on\":true}".into() };
    Answered {
        turn: format!("t{number}"),
        session: "main".into(),
        inputs: vec![input],
        principal: Principal::default(),
        reply: "空调打开了".into(),
        ended: "done".into(),
        messages: vec![
            Message::User { content: "把客厅的空调打开".into() },
            Message::Assistant { content: String::new(), calls: vec![call], reasoning: Vec::new() },
            Message::Tool { call_id: "1".into(), name: "home_control".into(), content: "{}".into(), is_error: false },
            Message::Assistant { content: "空调打开了".into(), calls: Vec::new(), reasoning: Vec::new() },
        ],
        changes: Value::Null,
        usage: json!({"prompt_tokens": 1000, "completion_tokens": 20}),
        at_ms: number,
    }
}

fn turns(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let folder = TempDir::new().unwrap();
    let store = Store::open(folder.path(), &Options::default()).unwrap();
    let (inbox, turns) = (store.inbox(), store.turns());
    let mut number = 0;
    criterion.bench_function("put and answer, synced", |bench| {
        bench.iter(|| {
            number += 1;
            runtime.block_on(async {
                let (id, _) = inbox.put(input()).await.unwrap();
                inbox.answer(answer(number, id)).await.unwrap();
            });
        });
    });
    criterion.bench_function("put and answer, ten sessions at once", |bench| {
        bench.iter(|| {
            let next = number + 1;
            number += 10;
            runtime.block_on(async {
                let ten = (next..next + 10).map(|number| {
                    let inbox = inbox.clone();
                    tokio::spawn(async move {
                        let (id, _) = inbox.put(input()).await.unwrap();
                        inbox.answer(answer(number, id)).await.unwrap();
                    })
                });
                for one in ten.collect::<Vec<_>>() {
                    one.await.unwrap();
                }
            });
        });
    });
    criterion.bench_function("one step of a turn, not synced", |bench| {
        bench.iter(|| runtime.block_on(turns.append("open", "main", json!({"step": 1}), false)).unwrap());
    });
    criterion.bench_function("history of 40 messages", |bench| {
        bench.iter(|| black_box(runtime.block_on(turns.history("main", 40)).unwrap()));
    });
}

criterion_group!(benches, turns);
criterion_main!(benches);
