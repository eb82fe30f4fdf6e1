//! Every call that was measured on a real house, judged on a recording of that house: what moved a
//! guarded thing is never allowed.

#![allow(clippy::unwrap_used)]
#![expect(clippy::disallowed_methods, reason = "a test reads recorded houses; decide itself does not")]

use std::path::PathBuf;

use decide::gate::{Call, Decision, Facts, InFlight, Origin, Policy, Problem, Verdict, judge};
use decide::house::House;
use serde_json::{Map, Value};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn json(path: &str) -> Value {
    let text = std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap()
}

pub fn house(version: &str) -> House {
    let mut json = json(&format!("crates/testkit/houses/reference-{version}.json"));
    // The measurement began with both alarms armed away.
    for panel in ["house_alarm", "coded_alarm"] {
        json["entities"][format!("alarm_control_panel.{panel}")]["state"]["value"] = "armed_away".into();
    }
    House::from_json(json).unwrap()
}

fn try_judge(house: &House, call: &Call) -> Result<Decision, Problem> {
    let (policy, in_flight) = (Policy::default(), InFlight::default());
    judge(&Facts { house, policy: &policy, in_flight: &in_flight, now: 0 }, Origin::Model, call)
}

/// `lock.unlock {"entity_id": "x"} target={...} [note]`, or nothing where the row is no plain service call.
fn parse(row: &str) -> Option<Call> {
    let (name, mut rest) = row.split_once(' ').unwrap_or((row, ""));
    let name = name.trim_start_matches("POST");
    let (domain, service) = name.split_once('.')?;
    let mut call = Call { domain: domain.into(), service: service.into(), ..Call::default() };
    rest = rest.trim();
    if rest.starts_with('{') {
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Map<String, Value>>();
        call.data = stream.next()?.ok()?;
        rest = rest[stream.byte_offset()..].trim();
    }
    if let Some(target) = rest.strip_prefix("target=") {
        let mut stream = serde_json::Deserializer::from_str(target).into_iter::<Map<String, Value>>();
        call.target = Some(stream.next()?.ok()?);
    }
    Some(call)
}

#[track_caller]
fn check(version: &str, least: usize) {
    let house = house(version);
    let mut judged = 0;
    let mut wrong = Vec::new();
    for row in json(&format!("docs/dev/measured/matrix-{version}.json"))["rows"].as_array().unwrap() {
        let Some(text) = row["call"].as_str() else { continue };
        let Some(call) = parse(text) else { continue };
        let moved = row["moved"].as_object().is_some_and(|moved| !moved.is_empty());
        judged += 1;
        let outcome = try_judge(&house, &call);
        let allowed = matches!(&outcome, Ok(decision) if decision.verdict == Verdict::Allow);
        if std::env::var_os("SHOW").is_some() {
            let said = match &outcome {
                Ok(decision) => format!(
                    "{:?} {}",
                    decision.verdict,
                    decision.reasons.first().map_or(String::new(), |reason| reason.sentence(Default::default()))
                ),
                Err(problem) => format!("{problem:?}"),
            };
            println!("{} {text}\n      {said}", if moved { "MOVED" } else { "     " });
        }
        if moved && allowed {
            wrong.push(text.to_owned());
        }
    }
    assert!(wrong.is_empty(), "allowed, though measured to open: {wrong:#?}");
    assert!(judged >= least, "only {judged} rows were judged");
}

#[test]
fn nothing_that_opened_the_older_house_is_allowed() {
    check("2024.3.3", 190);
}

#[test]
fn nothing_that_opened_the_newest_house_is_allowed() {
    check("2026.11.0", 190);
}
