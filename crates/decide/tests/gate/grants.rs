//! What a grant covers and for how long, what the picture marks as guarded, and what the set-up check
//! proposes.

use super::small::{Small, id, on, unlock};
use decide::gate::{Decision, Facts, Grant, Guard, ReasonCode};
use decide::gate::{fingerprint, may_open, proposals};
use serde_json::{Value, json};

fn lamp() -> Value {
    json!({ "action": "light.turn_on", "target": { "entity_id": "light.lamp" } })
}

fn granting(small: Small, entity: &str, grant: Grant) -> Small {
    small.policy(|policy| _ = policy.grants.insert(id(entity), grant))
}

fn granted(small: Small, entity: &str) -> Small {
    granting(small, entity, Grant::default())
}

#[test]
fn a_grant_covers_the_entity_s_own_opening_while_it_holds() {
    let unlocks = |small: Small, expected: &str| _ = small.gives("lock.unlock", on("lock.front"), expected);
    unlocks(Small::new(), "ask opens");
    unlocks(granted(Small::new(), "lock.front"), "allow");
    unlocks(granted(Small::new(), "lock.other"), "ask opens");
    for (until, expected) in [(Some(1), "allow"), (None, "allow"), (Some(0), "ask opens"), (Some(-1), "ask opens")] {
        unlocks(granting(Small::new(), "lock.front", Grant { until, body: None }), expected);
    }
    // What is refused stays refused, what it sets off still asks, and the rest of a call is not covered.
    let coded = json!({ "entity_id": "lock.front", "code": "1" });
    granted(Small::new(), "lock.front").gives("lock.unlock", coded, "refuse code_given");
    let shell = json!([{ "action": "shell_command.x" }]);
    let trigger = json!([{ "trigger": "state", "entity_id": "lock.front" }]);
    let watched = granted(Small::new().automation("a", trigger, shell.clone()), "lock.front");
    watched.gives("lock.unlock", on("lock.front"), "ask opaque");
    let two = granted(Small::new().with("lock.back", "locked", json!({})), "lock.front");
    two.gives("lock.unlock", on("lock.front, lock.back"), "ask opens");
    let heat = granted(Small::new().with("climate.hall", "heat", json!({})), "climate.hall");
    heat.gives("climate.set_temperature", json!({ "entity_id": "climate.hall", "temperature": 45 }), "allow");
    // A helper's grant does not cover the automation behind it.
    let helper = json!([{ "trigger": "state", "entity_id": "input_boolean.guests" }]);
    let small = granted(Small::new().opener(helper), "input_boolean.guests");
    small.gives("input_boolean.turn_on", on("input_boolean.guests"), "ask opens");
}

#[test]
fn a_macro_s_grant_covers_all_that_it_does_and_nobody_who_runs_it() {
    let small = || {
        Small::new()
            .script("inner", json!([{ "action": "shell_command.x" }, unlock()]))
            .script("outer", json!([{ "action": "script.inner" }]))
            .with("scene.cloud", "unknown", json!({ "entity_id": ["lock.front"] }))
    };
    small().gives("script.inner", json!({}), "ask opaque opens");
    granted(small(), "script.inner").gives("script.inner", json!({}), "allow").gives(
        "script.outer",
        json!({}),
        "ask opaque opens",
    );
    granted(small(), "script.outer").gives("script.outer", json!({}), "allow");
    // Values of a caller's may change what is opaque; an explicit opening stays what it was.
    granted(small(), "script.inner").gives("script.inner", json!({ "x": 1 }), "ask opaque");
    let scene = json!({ "entity_id": "scene.cloud", "transition": 2 });
    small().gives("scene.turn_on", scene.clone(), "ask opens unreadable_scene");
    granted(small(), "scene.cloud").gives("scene.turn_on", scene, "allow");
    let unreadable = Small::new().with("script.x", "off", json!({})).script("outer", json!([{ "action": "script.x" }]));
    granted(unreadable, "script.x").gives("script.outer", json!({}), "ask unreadable");
}

#[test]
fn a_grant_holds_for_the_body_that_was_seen() {
    let small =
        |steps: Value| Small::new().script("inner", steps).script("outer", json!([{ "action": "script.inner" }]));
    let seen = small(json!([unlock()]));
    let body = fingerprint(&seen.house(), &id("script.outer")).unwrap();
    assert_eq!(body.len(), 64);
    assert!(body.bytes().all(|b| b.is_ascii_hexdigit()), "{body}");
    let pinned = |small: Small| granting(small, "script.outer", Grant { until: None, body: Some(body.clone()) });
    pinned(seen).gives("script.outer", json!({}), "allow");
    let changed = pinned(small(json!([unlock(), unlock()])));
    changed.gives("script.outer", json!({}), "ask body_changed opens");
    let decision: Decision = changed.decision("script.outer", json!({}));
    let reason = decision.reasons.iter().find(|reason| reason.code == ReasonCode::BodyChanged).unwrap();
    assert_eq!((&reason.entity, &reason.detail, reason.path.len()), (&Some(id("script.outer")), &None, 0));
    // With a detail and a road of its own, the change still says only that it changed.
    let stray = json!([{ "action": "cover.open_cover", "target": { "entity_id": "cover.garage" } }]);
    let decision = pinned(small(stray)).decision("script.outer", json!({}));
    let reason = decision.reasons.iter().find(|reason| reason.code == ReasonCode::BodyChanged).unwrap();
    assert_eq!((&reason.detail, reason.path.len()), (&None, 0));
    assert_eq!(decision.targets, [id("cover.garage"), id("script.outer")]);
    // Another body that is reached changes the print; another macro beside it does not.
    let print = |small: Small| fingerprint(&small.house(), &id("script.outer"));
    assert_ne!(print(small(json!([lamp()]))), print(small(json!([unlock()]))));
    assert_eq!(print(small(json!([lamp()])).script("other", json!([unlock()]))), print(small(json!([lamp()]))));
}

#[test]
fn what_could_not_be_read_has_no_print_and_a_scene_is_held_to_its_members() {
    let print = |small: Small, entity: &str| fingerprint(&small.house(), &id(entity));
    let outer = |step: Value| Small::new().script("outer", json!([step]));
    // Nobody could read what it does, or a script in it.
    let bare = |entity: &str| Small::new().with(entity, "off", json!({}));
    assert_eq!(print(bare("script.x"), "script.x"), None);
    assert_eq!(print(bare("automation.x"), "automation.x"), None);
    let inner = outer(json!({ "action": "script.x" })).with("script.x", "off", json!({}));
    assert_eq!(print(inner, "script.outer"), None);
    // An automation that it sets off is held to by its id.
    let runs = |entity: &str| {
        let step = json!({ "action": "automation.trigger", "target": { "entity_id": entity } });
        print(outer(step).with(entity, "on", json!({})), "script.outer").unwrap()
    };
    assert_ne!(runs("automation.x"), runs("automation.y"));
    let cloud = |members: Value| {
        print(Small::new().with("scene.cloud", "unknown", json!({ "entity_id": members })), "scene.cloud").unwrap()
    };
    assert_ne!(cloud(json!(["light.lamp"])), cloud(json!(["light.lamp", "lock.front"])));
    assert_eq!(cloud(json!(["lock.front", "light.lamp"])), cloud(json!(["light.lamp", "lock.front"])));
}

#[test]
fn an_entity_may_open_where_some_plain_move_on_it_asks() {
    let trigger =
        json!([{ "trigger": "state", "entity_id": ["timer.kitchen", "input_boolean.guests", "fan.ceiling"] }]);
    let mut small = Small::new()
        .opener(trigger)
        .automation("lamps", json!([]), json!([lamp()]))
        .script("lamps", json!([lamp()]))
        .script("doors", json!([unlock()]))
        .scene("lamps", json!({ "light.lamp": "on" }))
        .scene("doors", json!({ "lock.front": "unlocked" }))
        .with("button.identify", "unknown", json!({ "device_class": "identify" }))
        .with("timer.plain", "idle", json!({}))
        .with("sensor.door", "1", json!({}))
        .with("binary_sensor.door", "on", json!({}));
    let doors = ["switch", "button", "input_button", "select", "input_select", "number", "text", "input_number"];
    for relay in doors.iter().chain(&["input_text", "siren", "lawn_mower", "water_heater", "valve", "remote"]) {
        small = small.with(&format!("{relay}.door"), "x", json!({}));
    }
    for relay in ["input_button", "select", "number", "text", "humidifier", "remote", "climate", "vacuum"] {
        small = small.with(&format!("{relay}.plain"), "x", json!({}));
    }
    let house = small.house();
    let facts = Facts { house: &house, policy: &small.policy, in_flight: &small.in_flight, now: 0 };
    let open = "lock.front alarm_control_panel.house valve.door cover.garage button.door input_button.door scene.doors \
        script.doors automation.opener select.door input_select.door siren.door lawn_mower.door water_heater.door \
        number.door text.door input_number.door input_text.door timer.kitchen switch.door remote.door \
        input_boolean.guests fan.ceiling";
    let shut = "cover.blind button.identify input_button.plain scene.lamps script.lamps automation.lamps select.plain \
        input_select.mode number.plain text.plain input_number.level input_text.note timer.plain switch.pump \
        light.lamp humidifier.plain remote.plain media_player.tv climate.plain vacuum.plain sensor.door \
        binary_sensor.door zone.home";
    for (list, expected) in [(open, true), (shut, false)] {
        for entity in list.split_whitespace() {
            assert_eq!(may_open(&facts, &id(entity)), expected, "{entity}");
        }
    }
}

#[test]
fn the_check_proposes_what_nobody_has_decided_on() {
    let on_device = |small: Small, entity: &str, device: &str| {
        small.with(entity, "off", json!({})).info(entity, "device_id", json!(device))
    };
    let named = |small: Small, entity: &str, name: &str| {
        small.with(entity, "off", json!({})).info(entity, "names", json!([name]))
    };
    let mut small = Small::new().set("/labels/guard", json!({ "name": "Guard" }));
    for device in ["small", "board"] {
        small = small.set(&format!("/devices/{device}"), json!({ "name": "D" }));
    }
    small = on_device(small, "lock.small", "small");
    small = on_device(small, "switch.small", "small");
    small = on_device(small, "lock.board", "board");
    for n in 0..4 {
        small = on_device(small, &format!("switch.board_{n}"), "board");
    }
    small = small
        .with("switch.door", "off", json!({}))
        .with("switch.door_decided", "off", json!({}))
        .with("switch.door_disabled", "off", json!({}))
        .info("switch.door_disabled", "disabled", json!(true))
        .with("switch.labelled", "off", json!({}))
        .info("switch.labelled", "labels", json!(["guard"]))
        .with("button.plain", "unknown", json!({}))
        .with("button.identify", "unknown", json!({ "device_class": "identify" }))
        .with("switch.relay_2", "off", json!({}))
        .with("number.relay_2", "1", json!({}))
        .with("light.door", "off", json!({}));
    small = named(small, "switch.x1", "Channel 3");
    small = named(small, "switch.x2", "Heater");
    small = small.policy(|policy| _ = policy.guard.insert(id("switch.door_decided"), Guard::Harmless));
    let house = small.house();
    let facts = Facts { house: &house, policy: &small.policy, in_flight: &small.in_flight, now: 0 };
    let proposed: Vec<String> = proposals(&facts).iter().map(|(id, why)| format!("{id} {why}")).collect();
    let expected = [
        "button.plain button",
        "switch.board_0 board",
        "switch.board_1 board",
        "switch.board_2 board",
        "switch.board_3 board",
        "switch.door name",
        "switch.relay_2 nameless",
        "switch.small relation",
        "switch.x1 nameless",
    ];
    assert_eq!(proposed, expected);
}

#[test]
fn a_name_that_says_nothing_is_proposed_and_one_that_says_something_is_not() {
    for (name, nameless) in [
        ("Relay 3", true),
        ("relay", true),
        ("Switch1", true),
        ("CH4", true),
        ("L1", true),
        ("Output 2 channel 1", true),
        ("3", true),
        ("继电器 2", true),
        ("开关3", true),
        ("通道", true),
        ("Pump relay", false),
        ("Pump3", false),
        ("Heater switch", false),
        ("---", false),
        ("", false),
    ] {
        let small = Small { json: Small::new().json, ..Small::new() }
            .set("/entities", json!({}))
            .with("switch.x", "off", json!({}))
            .info("switch.x", "names", json!([name]));
        let house = small.house();
        let facts = Facts { house: &house, policy: &small.policy, in_flight: &small.in_flight, now: 0 };
        assert_eq!(proposals(&facts), if nameless { vec![(id("switch.x"), "nameless")] } else { Vec::new() }, "{name}");
    }
}
