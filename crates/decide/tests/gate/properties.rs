//! What holds for any call, any policy and any body: order and spelling do not matter, more guards
//! and more entities never make a verdict milder, and a plan holds only what was judged.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::LazyLock;

use super::small::{Small, unlock};
use decide::gate::{Call, Decision, Facts, Grant, Guard, InFlight, Origin, Policy, Problem, Verdict, judge, may_open};
use decide::house::{EntityId, House};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

static NEWEST: LazyLock<Small> = LazyLock::new(|| recorded("2026.11.0"));
static OLDER: LazyLock<Small> = LazyLock::new(|| recorded("2024.3.3"));
static HOUSES: LazyLock<[House; 2]> = LazyLock::new(|| [NEWEST.house(), OLDER.house()]);

fn recorded(version: &str) -> Small {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../testkit/houses/reference-{version}.json"));
    let text = std::fs::read_to_string(&path).unwrap();
    let mut json: Value = serde_json::from_str(&text).unwrap();
    json["entities"]["alarm_control_panel.house_alarm"]["state"]["value"] = "armed_away".into();
    Small { json, policy: Policy::default(), in_flight: InFlight::default() }
}

fn verdict(house: &House, policy: &Policy, call: &Call) -> Result<Decision, Problem> {
    let in_flight = InFlight::default();
    judge(&Facts { house, policy, in_flight: &in_flight, now: 0 }, Origin::Model, call)
}

/// Allow < Ask < Refuse < no call at all.
fn rank(outcome: &Result<Decision, Problem>) -> u8 {
    match outcome {
        Ok(decision) => decision.verdict as u8,
        Err(_) => 3,
    }
}

/// A plain service with entities that it may be meant for, and some that it is not.
fn plain_call(house: usize) -> impl Strategy<Value = (String, String, Vec<EntityId>, Map<String, Value>)> {
    let ids: Vec<EntityId> = HOUSES[house].entities.keys().cloned().collect();
    let services = vec![
        "homeassistant.turn_on",
        "homeassistant.turn_off",
        "homeassistant.toggle",
        "light.turn_on",
        "light.turn_off",
        "switch.turn_on",
        "switch.turn_off",
        "switch.toggle",
        "lock.lock",
        "lock.unlock",
        "lock.open",
        "cover.open_cover",
        "cover.close_cover",
        "cover.toggle",
        "cover.stop_cover",
        "valve.open_valve",
        "valve.close_valve",
        "alarm_control_panel.alarm_disarm",
        "alarm_control_panel.alarm_arm_away",
        "alarm_control_panel.alarm_arm_home",
        "scene.turn_on",
        "script.turn_on",
        "script.turn_off",
        "automation.trigger",
        "automation.turn_on",
        "automation.turn_off",
        "input_boolean.turn_on",
        "input_boolean.toggle",
        "input_button.press",
        "button.press",
        "media_player.media_play",
        "fan.turn_on",
        "timer.start",
        "timer.cancel",
        "siren.turn_on",
        "climate.turn_off",
        "glow.apply",
    ];
    let domain_of = |service: &str| service.split('.').next().unwrap().to_owned();
    (select(services), any::<u64>(), prop::collection::vec(0..ids.len(), 0..3)).prop_map(
        move |(service, seed, extra)| {
            let domain = domain_of(service);
            let fit: Vec<&EntityId> = ids.iter().filter(|id| id.domain() == domain).collect();
            let mut chosen: BTreeSet<EntityId> = extra.iter().map(|index| ids[*index].clone()).collect();
            for shift in 0..3_u32 {
                if !fit.is_empty() {
                    chosen.insert(fit[(seed.rotate_left(shift * 9) as usize) % fit.len()].clone());
                }
            }
            let (domain, name) = service.split_once('.').unwrap();
            (domain.to_owned(), name.to_owned(), chosen.into_iter().collect(), Map::new())
        },
    )
}

fn with_ids(domain: &str, service: &str, ids: &[EntityId]) -> Call {
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    let data = Map::from_iter([("entity_id".to_owned(), json!(ids))]);
    Call { domain: domain.into(), service: service.into(), data, target: None }
}

/// The same call in another spelling.
fn respelled(call: &Call, how: u8, noise: &str) -> Call {
    let ids: Vec<String> =
        call.data["entity_id"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect();
    let mut ids: Vec<String> = match how % 3 {
        0 => ids,
        1 => ids.iter().map(|id| id.to_uppercase()).collect(),
        _ => ids.iter().map(|id| format!("{noise}{id}{noise}")).collect(),
    };
    if how & 4 != 0 {
        ids.reverse();
    }
    if how & 8 != 0 {
        ids.extend(ids.clone());
    }
    let value = if how & 16 != 0 { json!(ids.join(",")) } else { json!(ids) };
    let value = if how & 32 != 0 { json!([[value], []]) } else { value };
    let map = Map::from_iter([("entity_id".to_owned(), value)]);
    let (data, target) = if how & 64 != 0 { (Map::new(), Some(map)) } else { (map, None) };
    let upper = how & 128 != 0;
    let word = |text: &str| if upper { format!(" {} ", text.to_uppercase()) } else { text.to_owned() };
    Call { domain: word(&call.domain), service: word(&call.service), data, target }
}

/// Any JSON, with ids of the house, targets and templates among its words.
fn any_json() -> impl Strategy<Value = Value> {
    let words = select(vec![
        "lock.front",
        "light.lamp",
        "cover.garage",
        "switch.pump",
        "script.a",
        "automation.b",
        "scene.c",
        "all",
        "none",
        "",
        "{{ x }}",
        "on",
        "off",
        "locked",
        "5_5",
        "http://10.0.0.1/",
        "media-source://tts/x",
        "light.turn_on",
        "lock.unlock",
        "input_boolean.turn_on",
        "input_boolean.guests",
        "homeassistant.toggle",
        "state",
        "event",
        "灯",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        words.prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let keys = select(vec![
            "entity_id",
            "device_id",
            "area_id",
            "target",
            "data",
            "action",
            "service",
            "sequence",
            "choose",
            "if",
            "then",
            "else",
            "repeat",
            "parallel",
            "wait_for_trigger",
            "wait_template",
            "until",
            "event",
            "scene",
            "entities",
            "state",
            "triggers",
            "trigger",
            "platform",
            "to",
            "from",
            "above",
            "value",
            "position",
            "brightness",
            "code",
            "variables",
            "use_blueprint",
            "enabled",
            "type",
            "domain",
            "light.lamp",
            "cover.garage",
            "lock.front",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((keys, inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn spelling_and_order_never_matter(
        (domain, service, ids, _) in plain_call(0), how in any::<u8>(), noise in select(vec!["", " ", "\t", "  \n", "\u{3000}"]),
    ) {
        let plain = with_ids(&domain, &service, &ids);
        let other = respelled(&plain, how, noise);
        let policy = Policy::default();
        prop_assert_eq!(verdict(&HOUSES[0], &policy, &plain), verdict(&HOUSES[0], &policy, &other), "{:?}", other);
    }

    #[test]
    fn one_more_entity_never_makes_it_milder((domain, service, ids, _) in plain_call(0), keep in any::<prop::sample::Index>()) {
        let policy = Policy::default();
        let all = verdict(&HOUSES[0], &policy, &with_ids(&domain, &service, &ids));
        let fewer: Vec<EntityId> = if ids.is_empty() { vec![] } else { vec![ids[keep.index(ids.len())].clone()] };
        let one = verdict(&HOUSES[0], &policy, &with_ids(&domain, &service, &fewer));
        // An entity that the service does not work on is no call by itself.
        if let Ok(one) = one {
            prop_assert!(rank(&all) >= one.verdict as u8, "{} {:?}", service, fewer);
        }
    }

    #[test]
    fn one_more_guard_never_makes_it_milder(
        (domain, service, ids, _) in plain_call(0), guarded in subsequence(HOUSES[0].entities.keys().cloned().collect::<Vec<_>>(), 0..40),
        speech in any::<bool>(),
    ) {
        let call = with_ids(&domain, &service, &ids);
        let before = rank(&verdict(&HOUSES[0], &Policy::default(), &call));
        let mut policy = Policy { speech_asks: speech, ..Policy::default() };
        policy.pulse.extend(guarded.iter().filter(|id| id.domain() == "cover").cloned());
        policy.guard.extend(guarded.into_iter().map(|id| (id, Guard::Opens)));
        prop_assert!(rank(&verdict(&HOUSES[0], &policy, &call)) >= before);
        policy.scope.read_only = true;
if let Ok(decision) = verdict(&HOUSES[0], &policy, &call) {
            prop_assert!(decision.verdict == Verdict::Refuse || decision.plan.sends.is_empty());
        }
    }

    #[test]
    fn a_label_an_automation_and_a_member_never_make_it_milder(
        name in select(vec!["light.turn_on", "switch.turn_on", "input_boolean.turn_off", "cover.close_cover", "lock.lock", "scene.turn_on", "script.turn_on"]),
        which in any::<prop::sample::Index>(), trigger in any_json(), actions in any_json(), member in any::<prop::sample::Index>(),
    ) {
        let small = Small::new()
            .with("group.some", "on", json!({ "entity_id": ["light.lamp", "switch.pump", "lock.front"] }))
            .script("a", json!([{ "action": "light.turn_on", "target": { "entity_id": "group.some" } }]))
            .scene("c", json!({ "light.lamp": "on" }))
            .set("/labels/guard", json!({ "name": "Guard" }));
        let ids: Vec<String> = small.json["entities"].as_object().unwrap().keys().cloned().collect();
        let (domain, service) = name.split_once('.').unwrap();
        let fit: Vec<&String> = ids.iter().filter(|id| id.starts_with(domain) || *id == "group.some").collect();
        let target = fit[which.index(fit.len())].clone();
        let call = with_ids(domain, service, &[super::small::id(&target)]);
        let before = rank(&small.judge(&call));
        let labelled = small.clone().info(&target, "labels", json!(["guard"]));
        prop_assert!(rank(&labelled.judge(&call)) >= before, "label {} {}", name, target);
        let automated = small.clone().automation("more", trigger, actions).opener(json!([{ "trigger": "state", "entity_id": target }]));
        prop_assert!(rank(&automated.judge(&call)) >= before, "automation {} {}", name, target);
        let members = json!(["light.lamp", "switch.pump", "lock.front", ids[member.index(ids.len())]]);
        let grown = small.clone().with("group.some", "on", json!({ "entity_id": members }));
        prop_assert!(rank(&grown.judge(&call)) >= before, "member {} {} {}", name, target, members);
    }

    #[test]
    fn a_grant_never_lowers_a_refusal_and_covers_nobody_else((domain, service, ids, data) in plain_call(0), granted in any::<prop::sample::Index>()) {
        let mut call = with_ids(&domain, &service, &ids);
        call.data.extend(data);
        let before = verdict(&HOUSES[0], &Policy::default(), &call);
        let mut policy = Policy::default();
        let all: Vec<&EntityId> = HOUSES[0].entities.keys().collect();
        let id = ids.get(granted.index(ids.len().max(1))).unwrap_or(all[granted.index(all.len())]);
        policy.grants.insert(id.clone(), Grant::default());
        let after = verdict(&HOUSES[0], &policy, &call);
        match (&before, &after) {
            (Ok(before), Ok(after)) => {
                prop_assert!(before.verdict != Verdict::Refuse || after.verdict == Verdict::Refuse);
                prop_assert!(after.verdict <= before.verdict);
                prop_assert_eq!(&before.plan, &after.plan);
                let others = before.reasons.iter().filter(|reason| {
                    reason.entity.as_ref() != Some(id) && reason.on.as_ref() != Some(id)
                });
                for reason in others {
                    prop_assert!(after.reasons.iter().any(|kept| kept.code == reason.code && kept.entity == reason.entity), "{:?}", reason);
                }
            }
            (before, after) => prop_assert_eq!(before, after),
        }
    }

    #[test]
    fn a_plan_holds_only_ids_of_the_house_that_were_asked_for(house in 0..2_usize, (domain, service, ids, _) in plain_call(0)) {
        let house = &HOUSES[house];
        let Ok(decision) = verdict(house, &Policy::default(), &with_ids(&domain, &service, &ids)) else { return Ok(()) };
        let mut reach: BTreeSet<EntityId> = ids.iter().cloned().collect();
        loop {
            let members: Vec<EntityId> = reach.iter().filter_map(|id| house.entity(id.as_str())).flat_map(|entity| entity.members()).collect();
            let before = reach.len();
            reach.extend(members);
            if reach.len() == before {
                break;
            }
        }
        let mut once = BTreeSet::new();
        let plan = &decision.plan;
        for id in plan.sends.iter().flat_map(|send| &send.entities).chain(&plan.done).chain(&plan.ignored) {
            prop_assert!(house.entities.contains_key(id));
            prop_assert!(reach.contains(id), "{id}");
            prop_assert!(once.insert(id.clone()), "{id} twice");
            prop_assert_eq!(id.as_str(), id.as_str().to_lowercase());
        }
        for send in &plan.sends {
            for key in ["entity_id", "area_id", "device_id", "floor_id", "label_id"] {
                prop_assert!(!send.data.contains_key(key));
            }
        }
    }

    #[test]
    fn no_call_makes_it_panic(
        domain in prop_oneof![select(vec!["light", "scene", "script", "notify", "tts", "media_player", "cover", "x"]).prop_map(str::to_owned), ".{0,8}".prop_map(String::from)],
        service in prop_oneof![select(vec!["turn_on", "apply", "a", "speak", "play_media", "set_cover_position"]).prop_map(str::to_owned), ".{0,8}".prop_map(String::from)],
        data in any_json(), target in any_json(),
    ) {
        let small = Small::new().script("a", json!([unlock()]));
        let call = Call {
            domain, service,
            data: data.as_object().cloned().unwrap_or_default(),
            target: target.as_object().cloned(),
        };
        if let Ok(decision) = small.judge(&call) {
            for reason in &decision.reasons {
                prop_assert!(reason.verdict > Verdict::Allow);
            }
        }
    }

    #[test]
    fn no_body_makes_it_panic_and_none_that_unlocks_is_allowed(before in any_json(), trigger in any_json(), after in any_json()) {
        let small = Small::new()
            .script("a", json!([before, unlock(), after]))
            .automation("b", json!([trigger, { "trigger": "state", "entity_id": "light.lamp" }]), json!([after, { "action": "script.a" }]))
            .scene("c", json!({ "light.lamp": before, "lock.front": "unlocked", "cover.garage": after }));
        small.asks("script.a", json!({}));
        small.asks("script.turn_on", json!({ "entity_id": "script.a" }));
        small.asks("automation.trigger", json!({ "entity_id": "automation.b" }));
        small.asks("light.turn_on", json!({ "entity_id": "light.lamp" }));
        small.asks("scene.turn_on", json!({ "entity_id": "scene.c" }));
        _ = small.judge(&super::small::call("script.turn_off", json!({ "entity_id": "script.a" })));
        _ = small.judge(&super::small::call("automation.turn_off", json!({ "entity_id": "automation.b" })));
    }
}

/// Services that open, whatever stands before them.
const OPENING: &[&str] = &[
    "lock.unlock",
    "lock.open",
    "cover.open_cover",
    "cover.toggle",
    "cover.open_cover_tilt",
    "cover.set_cover_position",
    "cover.set_cover_tilt_position",
    "cover.toggle_cover_tilt",
    "valve.open_valve",
    "valve.toggle",
    "valve.set_valve_position",
    "alarm_control_panel.alarm_disarm",
    "alarm_control_panel.alarm_trigger",
    "homeassistant.toggle",
    "homeassistant.turn_on",
    "switch.turn_on",
    "switch.toggle",
    "button.press",
    "scene.turn_on",
    "script.turn_on",
    "automation.trigger",
    "siren.turn_on",
    "input_boolean.turn_on",
    "input_button.press",
];

#[test]
fn no_allowed_plan_of_a_recorded_house_opens_a_guarded_entity() {
    let policy = Policy::default();
    for house in HOUSES.iter() {
        let in_flight = InFlight::default();
        let facts = Facts { house, policy: &policy, in_flight: &in_flight, now: 0 };
        let areas = house.areas.keys().map(|area| json!({ "area_id": area }));
        let labels = house.labels.keys().map(|label| json!({ "label_id": label }));
        let floors = house.floors.keys().map(|floor| json!({ "floor_id": floor }));
        let devices = house.devices.keys().map(|device| json!({ "device_id": device }));
        let ids = house.entities.keys().map(|id| json!({ "entity_id": id }));
        let targets: Vec<Value> = ids
            .chain(areas)
            .chain(labels)
            .chain(floors)
            .chain(devices)
            .chain([json!({ "entity_id": "all" })])
            .collect();
        let (mut allowed, mut asked) = (0, 0);
        for name in OPENING {
            for target in &targets {
                let mut data = target.clone();
                if name.ends_with("_position") {
                    let key = if name.contains("tilt") { "tilt_position" } else { "position" };
                    data[key] = 40.into();
                }
                let Ok(decision) = judge(&facts, Origin::Model, &super::small::call(name, data)) else { continue };
                if decision.verdict != Verdict::Allow {
                    asked += 1;
                    continue;
                }
                for send in &decision.plan.sends {
                    for id in &send.entities {
                        allowed += 1;
                        // Turning an automation off is not running it; the rest is comfort whose heat or media may ask.
                        let other = id.domain() == "automation" && *name != "automation.trigger";
                        let guarded = may_open(&facts, id) && !other && !matches!(id.domain(), "water_heater");
                        assert!(!guarded, "{name} {target} is allowed for {id}");
                    }
                }
            }
        }
        assert!(allowed > 100 && asked > 100, "{allowed} {asked}");
    }
}
