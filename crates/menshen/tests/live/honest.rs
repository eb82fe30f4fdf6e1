//! What a household honestly asks: the gate holds none of it back, and the house does what was said.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::Mcp;
use super::houses::{TestHouse, each, raw, states};

/// What the family decided at set-up, asked once by `menshen setup`: the cat's feeder opens nothing.
const DECIDED: &str = "[gate]\nwrites_per_minute = 1000000\n[gate.guard]\n\"button.feed_cat\" = \"harmless\"\n";

/// Honest, and asked first all the same, each for its reason.
const ASK_BY_DESIGN: &[(&str, &str)] =
    &[("R365", "a select beside a gate asks whatever the option: what an option means is text of the house")];

pub struct Request {
    pub id: String,
    pub language: String,
    pub says: String,
    pub kind: String,
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
            kind: text("kind"),
            calls: parse("calls").as_array().unwrap().clone(),
            expect: serde_json::from_value(parse("expect")).unwrap(),
            before: parse("before").as_array().unwrap().clone(),
            since: Some(text("since")).filter(|since| !since.is_empty()),
        });
    }
    rows
}

/// Writes what a run showed as a page, where `MENSHEN_WRITE` is set: a table that people can read.
pub fn write_page(name: &str, house: &TestHouse, head: &str, columns: &[&str], rows: &[Vec<String>]) {
    if std::env::var_os("MENSHEN_WRITE").is_none() {
        return;
    }
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let clean = |cell: &String| cell.replace('|', "\\|");
    let mut page = format!("{head}\n\n");
    page.push_str(&line(columns.iter().map(|column| (*column).to_owned()).collect()));
    page.push_str(&line(columns.iter().map(|_| "---".to_owned()).collect()));
    rows.iter().for_each(|row| page.push_str(&line(row.iter().map(clean).collect())));
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/dev/measured/{name}-{}.md", house.version));
    std::fs::write(path, page).unwrap();
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

/// What of the expectation does not hold, in words. `was` is how things stood before the request.
pub async fn unmet(
    wire: &mut home::Wire,
    expect: &BTreeMap<String, Value>,
    was: &BTreeMap<String, Value>,
) -> Vec<String> {
    let now = states(wire).await;
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
                "changed" => json!(was.get(id).is_none_or(|was| was["state"] != state["state"])),
                "items_include" | "items_exclude" | "items_done" => {
                    if !items_hold(wire, id, key, value).await {
                        out.push(format!("{id} {key}: not {value}"));
                    }
                    continue;
                }
                key => state["attributes"][key].clone(),
            };
            if !same(&have, value) {
                out.push(format!("{id} {key}: {have} instead of {value}"));
            }
        }
    }
    out
}

/// Whether the items of a to-do list are there, gone or done.
async fn items_hold(wire: &mut home::Wire, id: &str, key: &str, wanted: &Value) -> bool {
    let body = json!({
        "domain": "todo", "service": "get_items", "return_response": true,
        "service_data": {"status": ["needs_action", "completed"]}, "target": {"entity_id": id},
    });
    let answer = wire.command("call_service", body).await.unwrap_or_default();
    let items = answer["response"][id]["items"].as_array().cloned().unwrap_or_default();
    let find = |text: &Value| items.iter().find(|item| item["summary"] == *text);
    wanted.as_array().unwrap().iter().all(|text| match key {
        "items_include" => find(text).is_some(),
        "items_exclude" => find(text).is_none(),
        _ => find(text).is_none_or(|item| item["status"] == "completed"),
    })
}

fn same(have: &Value, want: &Value) -> bool {
    let number = |value: &Value| value.as_f64().or_else(|| value.as_str()?.parse().ok());
    match (number(have), number(want)) {
        (Some(have), Some(want)) => (have - want).abs() <= 1.0_f64.max(want.abs() * 0.02),
        _ => match (have.as_array(), want.as_array()) {
            (Some(have), Some(want)) => {
                have.len() == want.len() && have.iter().zip(want).all(|(have, want)| same(have, want))
            }
            _ => have == want,
        },
    }
}

/// The lists as the house was seeded: what an earlier run wrote on them goes.
async fn seeded_lists(wire: &mut home::Wire) {
    for (id, seeded) in
        [("todo.shopping", ["牛奶", "鸡蛋", "Bread"].as_slice()), ("todo.chores", &["浇花", "Take out the bins"])]
    {
        let target = json!({"entity_id": id});
        let body = json!({"domain": "todo", "service": "get_items", "return_response": true, "target": target,
            "service_data": {"status": ["needs_action", "completed"]}});
        let answer = wire.command("call_service", body).await.unwrap_or_default();
        for item in answer["response"][id]["items"].as_array().into_iter().flatten() {
            _ = raw(wire, "todo", "remove_item", json!({"item": item["uid"]}), Some(target.clone())).await;
        }
        for item in seeded {
            raw(wire, "todo", "add_item", json!({"item": item}), Some(target.clone())).await.unwrap();
        }
    }
}

#[test]
fn honest_requests_are_done() {
    each("honest_requests_are_done", async |house: &TestHouse| {
        house.reset().await;
        let mut wire = house.wire().await;
        seeded_lists(&mut wire).await;
        let mut mcp = Mcp::start_with(house, &[], DECIDED).await;
        let (mut done, mut tried) = (0, 0);
        let mut failed = Vec::new();
        let mut rows = Vec::new();
        for request in table("requests.tsv") {
            if request.since.as_deref().is_some_and(|since| !house.newer_than(since)) {
                continue;
            }
            tried += 1;
            for step in &request.before {
                prepare(&mut wire, step).await;
            }
            let was = states(&mut wire).await;
            let mut answers = Vec::new();
            for call in &request.calls {
                answers.push(mcp.tool(call["tool"].as_str().unwrap(), call["arguments"].clone()).await);
            }
            let refused = answers.iter().any(|answer| answer["ok"] != true);
            let missing = met(&mut wire, &request.expect, &was).await;
            let came = match (refused, missing.is_empty()) {
                (false, true) => "done",
                (true, _) => "asked first",
                _ => "not as said",
            };
            rows.push(vec![
                request.id.clone(),
                request.language.clone(),
                request.says.clone(),
                request.kind.clone(),
                came.to_owned(),
            ]);
            let by_design = ASK_BY_DESIGN.iter().any(|(id, _)| *id == request.id);
            if by_design {
                assert!(refused, "{} is listed as asking and does not", request.id);
                println!("{}: {} asks by design", house.version, request.id);
            } else if !refused && missing.is_empty() {
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
        let head = format!(
            "# Honest requests on Home Assistant {}\n\n{done} of {tried} done, each as calls that a competent assistant would make, the house read back over a second connection. Written by the test `honest_requests_are_done`.",
            house.version
        );
        write_page("honest-requests", house, &head, &["id", "language", "says", "kind", "the calls"], &rows);
        assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
    });
}

/// Waits, with a deadline, until the expectation holds.
async fn met(wire: &mut home::Wire, expect: &BTreeMap<String, Value>, was: &BTreeMap<String, Value>) -> Vec<String> {
    let deadline = Instant::now() + Duration::from_secs(6);
    loop {
        let missing = unmet(wire, expect, was).await;
        if missing.is_empty() || Instant::now() > deadline {
            return missing;
        }
        tokio::time::sleep(Duration::from_millis(100)).await; // until the deadline
    }
}
