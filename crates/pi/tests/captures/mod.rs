//! Recorded conversations with pi, to compare with and to play again. One object a line: `t` (milliseconds),
//! `dir` (meta, in, out, stderr, eof, exit), `rec` (the record) or `raw`.

#![allow(dead_code, reason = "each test binary uses its part")]

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

pub fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/captures").join(format!("{name}.jsonl"))
}

/// What pi wrote, without responses.
pub fn events(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(path(name)).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let records = lines.filter(|line| line["dir"] == "out").map(|line| line["rec"].clone());
    records.filter(|record| record["type"] != "response").collect()
}

/// Begun and ended in pairs, one inside the other.
pub fn paired<T: Borrow<Value>>(records: &[T]) {
    let mut open: Vec<&str> = vec![];
    for record in records {
        let kind = record.borrow()["type"].as_str().unwrap();
        let what = kind.rsplit_once('_').map_or(kind, |(what, _)| what);
        match kind {
            "message_start" | "turn_start" | "agent_start" => {
                assert!(!open.contains(&what), "{kind} within {open:?}");
                open.push(what);
            }
            "message_end" | "turn_end" | "agent_end" => assert_eq!(open.pop(), Some(what), "{kind}"),
            "message_update" => assert_eq!(open.last(), Some(&"message")),
            _ => {}
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

/// The same kinds of records in the same order, deltas and updates of tools counted once, each with the
/// fields that pi's has. pi's own system message is its own.
pub fn same_shape<T: Borrow<Value>>(ours: &[T], name: &str, without: &[&str]) {
    let theirs = events(name);
    let (ours, theirs) = (steps(ours, without), steps(&theirs, without));
    let kinds = |steps: &[(String, BTreeSet<String>)]| steps.iter().map(|step| step.0.clone()).collect::<Vec<_>>();
    assert_eq!(kinds(&ours), kinds(&theirs));
    for ((kind, ours), (_, theirs)) in ours.iter().zip(&theirs) {
        // Of the provider's alone.
        let missing: Vec<_> = theirs
            .difference(ours)
            .filter(|key| !["responseId", "rawStopReason"].iter().any(|own| key.ends_with(own)))
            .collect();
        assert!(missing.is_empty(), "{kind} has no {missing:?}");
    }
}

fn steps<T: Borrow<Value>>(records: &[T], without: &[&str]) -> Vec<(String, BTreeSet<String>)> {
    let mut steps: Vec<(String, BTreeSet<String>)> = vec![];
    for record in records.iter().map(Borrow::borrow) {
        let part = &record["assistantMessageEvent"];
        let role = record["message"]["role"].as_str().unwrap_or_default();
        let kind =
            format!("{} {}{}", record["type"].as_str().unwrap(), part["type"].as_str().unwrap_or_default(), role);
        let left_out = role == "system"
            || kind.starts_with("tool_execution_update")
            || without.iter().any(|part| kind.contains(part));
        if left_out || steps.last().is_some_and(|last| last.0 == kind) {
            continue;
        }
        let mut keys: BTreeSet<String> = record.as_object().unwrap().keys().cloned().collect();
        for below in ["message", "assistantMessageEvent", "result"] {
            let inner = record[below].as_object().into_iter().flat_map(|object| object.keys());
            keys.extend(inner.map(|key| format!("{below}.{key}")));
        }
        keys.retain(|key| !["durationMs", "message.durationMs"].contains(&key.as_str()));
        steps.push((kind, keys));
    }
    steps
}
