//! Toward safety: sent within a tenth of a second, whatever else is broken.
//!
//! Start at [`toward_safety_is_sent_at_once_whatever_else_is_broken`].

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Interceptor, Pick};

use super::client::Mcp;
use super::events::Events;
use super::houses::{TestHouse, each, raw, states};

/// From the request's line to the command on its way to the house.
const SENT_MAX: Duration = Duration::from_millis(100);
/// Each thing is opened and secured so often under each condition.
const ROUNDS: usize = 2;

/// What secures a thing, and the things, all of them first opened by hand.
const MOVES: [(&str, &str, &[&str]); 4] = [
    (
        "lock",
        "lock",
        &["lock.entrance_door", "lock.back_door", "lock.garage_side_door", "lock.shed_latch", "lock.kitchen_door"],
    ),
    (
        "cover",
        "close_cover",
        &[
            "cover.garden_gate",
            "cover.balcony_door",
            "cover.side_garage",
            "cover.driveway_gate",
            "cover.bathroom_window",
        ],
    ),
    ("valve", "close_valve", &["valve.sprinkler", "valve.water_main"]),
    ("alarm_control_panel", "alarm_arm_away", &["alarm_control_panel.house_alarm"]),
];

/// What is broken while the moves are made.
struct Condition {
    name: &'static str,
    configuration: &'static str,
    rule: fn(&str) -> Pick,
    /// Without states nobody knows whether arming would silence an alarm.
    arms: bool,
}

const CONDITIONS: [Condition; 5] = [
    Condition { name: "nothing", configuration: "", rule: |_| Pick::Pass, arms: true },
    Condition {
        name: "the configuration",
        configuration: "[gate.grants\nthis is broken",
        rule: |_| Pick::Pass,
        arms: true,
    },
    // Every write to this device fails as one to a full disk does.
    Condition {
        name: "the audit's disk",
        configuration: "[audit]\npath = \"/dev/full\"\n",
        rule: |_| Pick::Pass,
        arms: true,
    },
    Condition {
        name: "the registries",
        configuration: "",
        rule: |kind| if kind.starts_with("config/") && kind.ends_with("/list") { Pick::Refuse } else { Pick::Pass },
        arms: true,
    },
    Condition {
        name: "the states",
        configuration: "",
        rule: |kind| if kind == "subscribe_entities" { Pick::Swallow } else { Pick::Pass },
        arms: false,
    },
];

/// Opens all of it, by hand, and waits until the house says so.
async fn open_all(house: &TestHouse) {
    let mut wire = house.wire().await;
    for (domain, securing, ids) in MOVES {
        let (service, wanted) = match securing {
            "lock" => ("unlock", "unlocked"),
            "close_cover" => ("open_cover", "open"),
            "close_valve" => ("open_valve", "open"),
            _ => ("alarm_disarm", "disarmed"),
        };
        raw(&mut wire, domain, service, json!({"entity_id": ids}), None).await.unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let now = states(&mut wire).await;
            let shut: Vec<_> = ids.iter().filter(|id| now[**id]["state"] != wanted).collect();
            if shut.is_empty() {
                break;
            }
            assert!(Instant::now() < deadline, "not {wanted}: {shut:?}");
            tokio::time::sleep(Duration::from_millis(50)).await; // until the deadline
        }
    }
}

/// Times of one kind: to the wire, or to the house.
#[derive(Default)]
struct Times(Vec<Duration>);

impl Times {
    fn told(&mut self) -> String {
        self.0.sort();
        let at = |percent: usize| self.0[(self.0.len() - 1) * percent / 100];
        format!("median {:.1?}, 95 % {:.1?}, longest {:.1?}", at(50), at(95), at(100))
    }
}

async fn secured(house: &TestHouse, condition: &Condition, sent: &mut Times, seen: &mut Times) {
    let between = Interceptor::before(&house.url, condition.rule).await;
    let behind = TestHouse { url: between.url.clone(), ..house.clone() };
    let events = Events::calls(house).await;
    let mut mcp = Mcp::start_with(&behind, &[], condition.configuration).await;
    // A second close within a minute of the first could turn a door around while nobody sees it.
    for _ in 0..if condition.arms { ROUNDS } else { 1 } {
        open_all(house).await;
        // The socket is there; how much of the house was read depends on what is broken.
        let deadline = Instant::now() + Duration::from_secs(5);
        while between.passed("get_config").is_empty() {
            assert!(Instant::now() < deadline, "never connected");
            tokio::time::sleep(Duration::from_millis(10)).await; // until the deadline
        }
        let mut answers = Vec::new();
        for (domain, service, ids) in
            MOVES.into_iter().filter(|(domain, ..)| condition.arms || *domain != "alarm_control_panel")
        {
            for id in ids {
                let begun = Instant::now();
                answers.push(
                    mcp.post_tool("call_service", json!({"domain": domain, "service": service, "entity_id": id})).await,
                );
                let at = events.first(service, id, begun, Duration::from_secs(3)).await;
                let Some(at) = at else {
                    panic!(
                        "broken: {}: {service} {id} never reached the house: {:#}",
                        condition.name,
                        mcp.told(answers.pop().unwrap()).await
                    )
                };
                let passed = between.passed("call_service");
                let on_wire = passed.iter().find(|passed| passed.at >= begun).unwrap().at - begun;
                assert!(on_wire <= SENT_MAX, "broken: {}: {service} {id} was sent after {on_wire:?}", condition.name);
                sent.0.push(on_wire);
                seen.0.push(at - begun);
            }
        }
        for id in answers {
            let answer = mcp.told(id).await;
            assert_eq!(answer["ok"], true, "broken: {}: {answer:#}", condition.name);
        }
    }
}

#[test]
fn toward_safety_is_sent_at_once_whatever_else_is_broken() {
    each("toward_safety_is_sent_at_once_whatever_else_is_broken", async |house: &TestHouse| {
        house.reset().await;
        let (mut sent, mut seen) = (Times::default(), Times::default());
        for condition in &CONDITIONS {
            secured(house, condition, &mut sent, &mut seen).await;
        }
        let count = sent.0.len();
        assert!(count >= 100, "only {count} moves");
        println!("{}: {count} moves toward safety, all sent within 100 ms: {}", house.version, sent.told());
        println!("{}: carried out by the house: {}", house.version, seen.told());
        house.reset().await;
    });
}

#[test]
fn calls_that_wait_for_their_effect_hold_up_no_move_toward_safety() {
    each("calls_that_wait_for_their_effect_hold_up_no_move_toward_safety", async |house: &TestHouse| {
        house.reset().await;
        open_all(house).await;
        let events = Events::calls(house).await;
        let mut mcp = Mcp::start(house).await;
        assert_eq!(mcp.tool("list_entities", json!({})).await["stale"], false);
        // A lamp that never shows what was asked is watched for as long as the transition takes.
        let never = json!({"domain": "light", "service": "turn_on", "entity_id": "light.porch", "data": {"effect": "none such", "transition": 20}});
        let mut waiting = Vec::new();
        for _ in 0..20 {
            waiting.push(mcp.post_tool("call_service", never.clone()).await);
        }
        let begun = Instant::now();
        assert!(events.first("turn_on", "light.porch", begun, Duration::from_secs(5)).await.is_some());
        for (domain, service, id) in
            [("lock", "lock", "lock.kitchen_door"), ("cover", "close_cover", "cover.side_garage")]
        {
            let begun = Instant::now();
            mcp.post_tool("call_service", json!({"domain": domain, "service": service, "entity_id": id})).await;
            let at = events.first(service, id, begun, Duration::from_secs(3)).await;
            assert!(at.is_some_and(|at| at - begun < Duration::from_millis(500)), "{id}: {at:?}");
        }
        house.reset().await;
    });
}

/// The twin of the above: what does not secure stops where it must.
#[test]
fn with_a_broken_configuration_or_a_full_disk_nothing_else_is_sent() {
    each("with_a_broken_configuration_or_a_full_disk_nothing_else_is_sent", async |house: &TestHouse| {
        house.reset().await;
        for condition in CONDITIONS.iter().filter(|condition| !condition.configuration.is_empty()) {
            let events = Events::calls(house).await;
            let mut mcp = Mcp::start_with(house, &[], condition.configuration).await;
            for (domain, service, id) in [
                ("lock", "unlock", "lock.back_door"),
                ("light", "turn_on", "light.bed_light"),
                ("scene", "turn_on", "scene.reading"),
            ] {
                let answer: Value =
                    mcp.tool("call_service", json!({"domain": domain, "service": service, "entity_id": id})).await;
                assert_ne!(answer["ok"], true, "broken: {}: {answer:#}", condition.name);
                assert!(events.of(service, id).is_empty(), "{id} was sent");
            }
        }
    });
}
