//! Every call that was measured on a real house, judged on a recording of that house: what moved a
//! guarded thing is never allowed.

use decide::gate::{Call, Decision, Facts, InFlight, Origin, Policy, Problem, Verdict, judge};
use decide::house::House;

fn house(version: &str) -> House {
    let mut json = testkit::measured::json(&format!("crates/testkit/houses/reference-{version}.json"));
    // The measurement began with both alarms armed away.
    for panel in ["house_alarm", "coded_alarm"] {
        json["entities"][format!("alarm_control_panel.{panel}")]["state"]["value"] = "armed_away".into();
    }
    House::from_json(json).unwrap_or_else(|error| panic!("{version}: {error}"))
}

fn try_judge(house: &House, call: &Call) -> Result<Decision, Problem> {
    let (policy, in_flight) = (Policy::default(), InFlight::default());
    judge(&Facts { house, policy: &policy, in_flight: &in_flight, now: 0 }, Origin::Model, call)
}

#[track_caller]
fn check(version: &str, least: usize) {
    let house = house(version);
    let mut judged = 0;
    let mut wrong = Vec::new();
    for row in testkit::measured::rows(version) {
        let Some(call) = row.call else { continue };
        judged += 1;
        let allowed = matches!(try_judge(&house, &call), Ok(decision) if decision.verdict == Verdict::Allow);
        if allowed && !row.moved.is_empty() {
            wrong.push(row.text);
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
