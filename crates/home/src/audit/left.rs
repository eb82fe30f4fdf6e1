//! Intents of an earlier run whose outcome was never written down: it ended in the middle. Start at
//! [`left_open`]. Invariant: what is found here is read back and written down, never sent.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use decide::house::EntityId;
use serde::Deserialize;
use serde_json::Value;

/// Limit: Bytes at the end of the audit file that are looked through for calls that a crash cut off.
pub const AUDIT_TAIL_BYTES_MAX: u64 = 4 * 1024 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeftOpen {
    pub intent: u64,
    pub ids: Vec<EntityId>,
    /// Since its line was written, by the clock of this machine.
    pub age: Duration,
}

#[derive(Deserialize)]
struct Line {
    seq: u64,
    time: jiff::Timestamp,
    kind: String,
    body: Value,
}

/// Those at the end of this file, oldest first; nothing where there is no file. Blocking.
pub(crate) fn left_open(path: &Path) -> Vec<LeftOpen> {
    match tail(path) {
        Ok(text) => in_text(&text, jiff::Timestamp::now()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            tracing::warn!(%error, path = %path.display(), "what an earlier run left open cannot be read");
            Vec::new()
        }
    }
}

fn tail(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(AUDIT_TAIL_BYTES_MAX)))?;
    let mut text = Vec::new();
    file.take(AUDIT_TAIL_BYTES_MAX).read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn in_text(text: &str, now: jiff::Timestamp) -> Vec<LeftOpen> {
    let mut open: BTreeMap<u64, LeftOpen> = BTreeMap::new();
    // The first line may be half of one, and a torn one is told by the next.
    for line in text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
        let of = line.body["intent"].as_u64();
        match (line.kind.as_str(), of) {
            ("intent", _) => {
                let sends = line.body["sends"].as_array().into_iter().flatten();
                let ids = sends.flat_map(|send| ids(&send["entities"])).collect();
                let age = Duration::try_from(now.duration_since(line.time)).unwrap_or_default();
                open.insert(line.seq, LeftOpen { intent: line.seq, ids, age });
            }
            ("result", Some(of)) => {
                let outcomes = line.body["outcomes"].as_array().into_iter().flatten();
                let unknown = outcomes.filter(|outcome| outcome["outcome"] == "outcome_unknown");
                let unknown: Vec<EntityId> = unknown.filter_map(|outcome| id(&outcome["entity_id"])).collect();
                match open.get_mut(&of).filter(|_| !unknown.is_empty()) {
                    Some(left) => left.ids = unknown,
                    None => drop(open.remove(&of)),
                }
            }
            ("read_back", Some(of)) => drop(open.remove(&of)),
            _ => {}
        }
    }
    open.into_values().collect()
}

fn ids(list: &Value) -> Vec<EntityId> {
    list.as_array().into_iter().flatten().filter_map(id).collect()
}

fn id(value: &Value) -> Option<EntityId> {
    EntityId::parse(value.as_str()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_has_no_outcome_is_left_and_of_a_lost_answer_what_is_unknown() {
        let intent = |seq: u64, ids: &[&str]| json!({"seq": seq, "time": "2026-11-30T12:00:00Z", "kind": "intent", "body": {"sends": [{"entities": ids}]}});
        let other =
            |kind: &str, body: Value| json!({"seq": 9, "time": "2026-11-30T12:00:00Z", "kind": kind, "body": body});
        let outcome = |id: &str, outcome: &str| json!({"entity_id": id, "outcome": outcome});
        let lines = [
            json!("half of a line\"}"),
            intent(1, &["light.a"]),
            other("result", json!({"intent": 1, "outcomes": [outcome("light.a", "confirmed")]})),
            intent(2, &["lock.a", "lock.b"]),
            other(
                "result",
                json!({"intent": 2, "outcomes": [outcome("lock.a", "confirmed"), outcome("lock.b", "outcome_unknown")]}),
            ),
            intent(3, &["light.c"]),
            other("read_back", json!({"intent": 3, "states": {}})),
            intent(4, &["light.d"]),
            intent(5, &[]),
        ];
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let now: jiff::Timestamp = "2026-11-30T12:01:00Z".parse().unwrap();
        let left: Vec<(u64, String)> = in_text(&text, now)
            .into_iter()
            .map(|left| {
                assert_eq!(left.age, Duration::from_secs(60));
                (left.intent, left.ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
            })
            .collect();
        assert_eq!(left, [(2, "lock.b".to_owned()), (4, "light.d".to_owned()), (5, String::new())]);
    }

    #[test]
    fn a_clock_that_was_set_back_makes_nothing_older_than_now() {
        let text = json!({"seq": 1, "time": "2026-11-30T12:00:00Z", "kind": "intent", "body": {}}).to_string();
        let left = in_text(&text, "2026-11-30T11:00:00Z".parse().unwrap());
        assert_eq!(left[0].age, Duration::ZERO);
    }
}
