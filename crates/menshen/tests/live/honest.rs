//! What a household honestly asks: the gate holds none of it back, and the house does what was said.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::Mcp;
use super::houses::{TestHouse, each, raw, states};

pub struct Request {
    pub id: String,
    pub language: String,
    pub says: String,
    pub calls: Vec<Value>,
    pub expect: BTreeMap<String, Value>,
    pub before: Vec<Value>,
    pub since: Option<String>,
}

/// A table of requests, written by somebody who had not seen the program.
pub fn table(name: &str) -> Vec<Request> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let head: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let mut rows = Vec::new();
    for line in lines {
        let cells: BTreeMap<&str, &str> = head.iter().copied().zip(line.split('\t')).collect();
        let text = |key: &str| cells.get(key).copied().unwrap_or_default().trim().to_owned();
        let parse = |key: &str| {
            serde_json::from_str::<Value>(&text(key)).unwrap_or_else(|error| panic!("{line}: {key}: {error}"))
        };
        rows.push(Request {
            id: text("id"),
            language: text("language"),
            says: text("says"),
            calls: parse("calls").as_array().unwrap().clone(),
            expect: serde_json::from_value(parse("expect")).unwrap(),
            before: parse("before").as_array().unwrap().clone(),
            since: Some(text("since")).filter(|since| !since.is_empty()),
        });
    }
    rows
}

/// Sends a raw preparation such as `{"domain": "light", "service": "turn_on", "data": {...}}`.
pub async fn prepare(wire: &mut home::Wire, step: &Value) {
    let step = if step["arguments"].is_object() { &step["arguments"] } else { step };
    let mut data = step["data"].clone();
    if data.is_null() {
        data = json!({});
    }
    if step["entity_id"].is_string() || step["entity_id"].is_array() {
        data["entity_id"] = step["entity_id"].clone();
    }
    let target = step["target"].is_object().then(|| step["target"].clone());
    _ = raw(wire, step["domain"].as_str().unwrap(), step["service"].as_str().unwrap(), data, target).await;
}

/// What of the expectation does not hold, in words.
pub fn unmet(expect: &BTreeMap<String, Value>, now: &BTreeMap<String, Value>) -> Vec<String> {
    let mut out = Vec::new();
    for (id, wanted) in expect {
        let Some(state) = now.get(id) else {
            out.push(format!("{id} is not there"));
            continue;
        };
        let wanted = if wanted.is_object() { wanted.clone() } else { json!({"state": wanted}) };
        for (key, value) in wanted.as_object().unwrap() {
            let have = match key.as_str() {
                "state" => state["state"].clone(),
                "brightness_pct" => {
                    state["attributes"]["brightness"].as_f64().map_or(Value::Null, |b| json!((b / 2.55).round()))
                }
                "position" => state["attributes"]["current_position"].clone(),
                key => state["attributes"][key].clone(),
            };
            if !same(&have, value) {
                out.push(format!("{id} {key}: {have} instead of {value}"));
            }
        }
    }
    out
}

fn same(have: &Value, want: &Value) -> bool {
    let number = |value: &Value| value.as_f64().or_else(|| value.as_str()?.parse().ok());
    match (number(have), number(want)) {
        (Some(have), Some(want)) => (have - want).abs() <= 1.0_f64.max(want.abs() * 0.02),
        _ => have == want,
    }
}

#[test]
fn honest_requests_are_done() {
    each("honest_requests_are_done", async |house: &TestHouse| {
        house.reset().await;
        let mut wire = house.wire().await;
        let mut mcp = Mcp::start(house).await;
        let (mut done, mut tried) = (0, 0);
        let mut failed = Vec::new();
        for request in table("requests.tsv") {
            if request.since.as_deref().is_some_and(|since| !house.newer_than(since)) {
                continue;
            }
            tried += 1;
            for step in &request.before {
                prepare(&mut wire, step).await;
            }
            let mut answers = Vec::new();
            for call in &request.calls {
                answers.push(mcp.tool(call["tool"].as_str().unwrap(), call["arguments"].clone()).await);
            }
            let refused = answers.iter().any(|answer| answer["ok"] != true);
            let missing = met(&mut wire, &request.expect).await;
            if !refused && missing.is_empty() {
                done += 1;
            } else {
                failed.push(format!(
                    "{} [{}] {}: {missing:?} {}",
                    request.id,
                    request.language,
                    request.says,
                    json!(answers)
                ));
            }
        }
        println!("{}: {done} of {tried} honest requests done", house.version);
        assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
    });
}

/// Waits, with a deadline, until the expectation holds.
async fn met(wire: &mut home::Wire, expect: &BTreeMap<String, Value>) -> Vec<String> {
    let deadline = Instant::now() + Duration::from_secs(6);
    loop {
        let missing = unmet(expect, &states(wire).await);
        if missing.is_empty() || Instant::now() > deadline {
            return missing;
        }
        tokio::time::sleep(Duration::from_millis(100)).await; // until the deadline
    }
}
