//! A house by an author who had not seen the gate: what the house shows is held with an empty
//! configuration; what nobody can see is proposed by the set-up check, and held once that is taken.

use std::collections::BTreeMap;

use decide::gate::{Call, Facts, Guard, InFlight, Origin, Policy, Verdict, judge, proposals};
use decide::house::{EntityId, House};
use serde_json::{Map, Value, json};

struct Row {
    id: EntityId,
    kind: String,
    call: Call,
    /// It truly opens something.
    opens: bool,
    note: String,
}

fn house() -> House {
    House::from_json(testkit::measured::json("crates/testkit/houses/second-2024.3.3.json")).unwrap()
}

/// What truly happens when each is called, as tried on the real house.
fn truth() -> Vec<Row> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/houses/second-truth.tsv");
    let text = std::fs::read_to_string(path).unwrap();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let (domain, service) = cells[2].split_once('.').unwrap();
        let mut data: Map<String, Value> = serde_json::from_str(cells[3]).unwrap();
        data.entry("entity_id").or_insert(json!(cells[0]));
        if domain == "script" && service != "turn_on" && service != "toggle" {
            data.remove("entity_id");
        }
        let call = Call { domain: domain.into(), service: service.into(), data, target: None };
        Row {
            id: EntityId::parse(cells[0]).unwrap(),
            kind: cells[1].into(),
            call,
            opens: cells[4] != "-",
            note: line.to_owned(),
        }
    };
    text.lines().skip(1).filter(|line| !line.trim().is_empty()).map(row).collect()
}

fn is_relay(domain: &str) -> bool {
    matches!(domain, "switch" | "light" | "select" | "number" | "text" | "siren") || domain.starts_with("input_")
}

fn allowed(house: &House, policy: &Policy, call: &Call) -> bool {
    let facts = Facts { house, policy, in_flight: &InFlight::default(), now: 0 };
    judge(&facts, Origin::Model, call)
        .is_ok_and(|decision| decision.verdict == Verdict::Allow && !decision.plan.sends.is_empty())
}

#[test]
fn what_a_stranger_s_house_shows_is_held_with_an_empty_configuration() {
    let (house, policy) = (house(), Policy::default());
    let open: Vec<String> = truth()
        .into_iter()
        .filter(|row| row.kind == "visible" && row.opens && allowed(&house, &policy, &row.call))
        .map(|row| row.note)
        .collect();
    assert!(open.is_empty(), "{open:#?}");
}

#[test]
fn what_nobody_can_see_is_held_once_the_set_up_check_s_proposals_are_taken() {
    let house = house();
    let mut policy = Policy::default();
    let proposed: BTreeMap<EntityId, &str> = {
        let facts = Facts { house: &house, policy: &policy, in_flight: &InFlight::default(), now: 0 };
        proposals(&facts).into_iter().collect()
    };
    policy.guard.extend(proposed.keys().map(|id| (id.clone(), Guard::Opens)));
    let truth = truth();
    let relays: Vec<&Row> = truth.iter().filter(|row| row.kind == "relay").collect();
    let found = relays.iter().filter(|row| proposed.contains_key(&row.id)).count();
    let open: Vec<&str> =
        relays.iter().filter(|row| allowed(&house, &policy, &row.call)).map(|row| &*row.note).collect();
    // A button's press is a question of its own: it is asked about whatever it is called. So is a
    // channel whose name says nothing: nobody can know, and the person is asked.
    let relay = |row: &&Row| row.kind == "harmless" && is_relay(row.id.domain());
    let harmless: Vec<&Row> = truth.iter().filter(relay).collect();
    let guessed = |row: &&&Row| proposed.get(&row.id).is_some_and(|why| *why != "nameless");
    let wrong: Vec<&str> = harmless.iter().filter(guessed).map(|row| row.id.as_str()).collect();
    let nameless = proposed.values().filter(|why| **why == "nameless").count();
    println!(
        "{found} of {} hidden openers proposed; {} of {} harmless relays guessed wrongly: {wrong:?}; {nameless} channels without a name asked about",
        relays.len(),
        wrong.len(),
        harmless.len()
    );
    // Named by its author for nothing, and left over: the threat model says so.
    let residual = ["input_number.fahrweg_2"];
    let open: Vec<&&str> = open.iter().filter(|note| !residual.iter().any(|id| note.starts_with(id))).collect();
    assert!(open.is_empty(), "open after the proposals are taken: {open:#?}");
    assert!(wrong.len() * 10 <= harmless.len(), "more than one in ten is proposed wrongly: {wrong:?}");
}

#[test]
fn what_is_harmless_in_a_stranger_s_house_is_not_held() {
    let (house, policy) = (house(), Policy::default());
    let truth = truth();
    // Disarming is no harmless call, and an automation's trigger is nobody's wish.
    let honest = |row: &&Row| {
        row.kind == "harmless" && !matches!(row.id.domain(), "button" | "automation" | "alarm_control_panel")
    };
    let harmless: Vec<&Row> = truth.iter().filter(honest).collect();
    let held: Vec<&str> =
        harmless.iter().filter(|row| !allowed(&house, &policy, &row.call)).map(|row| &*row.note).collect();
    println!("{} of {} harmless calls held: {held:#?}", held.len(), harmless.len());
    assert!(held.len() * 10 <= harmless.len(), "{held:#?}");
}
