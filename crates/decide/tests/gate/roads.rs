//! The road from a call to what it does: macros run, stopped and enabled, helpers moved along, and
//! how far all that is followed.

use super::small::{Small, id, on, unlock};
use decide::gate::{Grant, Language, Verdict};
use decide::house::EntityId;
use serde_json::{Value, json};

fn lamp() -> Value {
    json!({ "action": "light.turn_on", "target": { "entity_id": "light.lamp" } })
}

fn lock() -> Value {
    json!({ "action": "lock.lock", "target": { "entity_id": "lock.front" } })
}

fn house() -> Small {
    let mut small = Small::new();
    for (name, step) in [("lamps", lamp()), ("locks", lock()), ("doors", unlock())] {
        let off = format!("{name}_off");
        small = small
            .script(name, json!([step]))
            .automation(name, json!([]), json!([step]))
            .automation(&off, json!([]), json!([step]))
            .set(&format!("/entities/automation.{off}/state/value"), json!("off"));
    }
    small.with("script.unread", "off", json!({})).with("automation.unread", "on", json!({}))
}

#[test]
fn macros_are_run_stopped_and_enabled() {
    for (service, lamps, locks, doors, unread) in [
        ("script.turn_on", "allow", "allow", "ask opens", "ask unreadable"),
        ("script.turn_off", "allow", "ask stops", "allow", "ask stops"),
        ("script.toggle", "allow", "ask stops", "ask opens", "ask stops unreadable"),
        ("automation.trigger", "allow", "allow", "ask opens", "ask unreadable"),
        ("automation.turn_on", "allow", "allow", "allow", "allow"),
        ("automation.turn_off", "allow", "ask stops", "allow", "ask stops"),
        ("automation.toggle", "allow", "ask stops", "allow", "ask stops"),
        ("homeassistant.turn_on", "allow", "allow", "allow", "allow"),
        ("homeassistant.turn_off", "allow", "ask stops", "allow", "ask stops"),
    ] {
        let domain = if service.starts_with("script") { "script" } else { "automation" };
        for (name, expected) in [("lamps", lamps), ("locks", locks), ("doors", doors), ("unread", unread)] {
            house().gives(service, on(&format!("{domain}.{name}")), expected);
        }
    }
    for (service, lamps, locks, doors) in [
        ("automation.turn_on", "allow", "allow", "ask opens"),
        ("automation.turn_off", "allow", "ask stops", "allow"),
        ("automation.toggle", "allow", "ask stops", "ask opens"),
    ] {
        for (name, expected) in [("lamps_off", lamps), ("locks_off", locks), ("doors_off", doors)] {
            house().gives(service, on(&format!("automation.{name}")), expected);
        }
    }
}

#[test]
fn stopping_what_leads_to_a_lock_asks() {
    let lit = json!([{ "trigger": "state", "entity_id": "light.lamp" }]);
    house().automation("relock", lit, json!([lock()])).gives(
        "automation.turn_off",
        on("automation.lamps"),
        "ask stops",
    );
    // What a lock's own move brings about is not what stopping it would leave undone.
    let unlocked = json!([{ "trigger": "state", "entity_id": "lock.front", "to": "unlocked" }]);
    let small = house().automation("relock", unlocked, json!([lock()]));
    small.gives("automation.turn_off", on("automation.doors"), "allow");
}

#[test]
fn a_caller_s_values_make_a_macro_s_templates_untrusted() {
    let heat = json!([{ "action": "climate.set_temperature",
        "data": { "entity_id": "climate.hall", "temperature": "{{ temperature }}" } }]);
    let small = Small::new()
        .with("climate.hall", "heat", json!({}))
        .script("warm", heat.clone())
        .automation("warm", json!([]), heat)
        .script("outer", json!([{ "action": "script.warm", "data": { "temperature": 80 } }]))
        .script("both", json!([{ "action": "script.lamp" }, { "action": "script.warm" }]))
        .script("lamp", json!([lamp()]));
    let with = |mut data: Value, entity: &str| {
        data["entity_id"] = entity.into();
        data
    };
    for (name, data, expected) in [
        ("script.warm", json!({}), "allow"),
        ("script.warm", json!({ "temperature": 80 }), "ask heat"),
        ("script.turn_on", on("script.warm"), "allow"),
        ("script.turn_on", with(json!({ "variables": { "temperature": 80 } }), "script.warm"), "ask heat"),
        ("script.outer", json!({}), "allow"),
        ("script.outer", json!({ "x": 1 }), "ask heat"),
        ("script.both", json!({ "x": 1 }), "ask heat"),
        ("automation.trigger", on("automation.warm"), "allow"),
        ("automation.trigger", with(json!({ "skip_condition": true }), "automation.warm"), "allow"),
        ("automation.trigger", with(json!({ "variables": { "x": 1 } }), "automation.warm"), "ask heat"),
    ] {
        small.gives(name, data, expected);
    }
}

#[test]
fn a_chain_is_followed_so_far_and_asks_beyond() {
    let scripts = |length: usize| {
        let mut small = Small::new().script("s0", json!([lamp()]));
        for n in 1..length {
            small = small.script(&format!("s{n}"), json!([{ "action": format!("script.s{}", n - 1) }]));
        }
        small.outcome(&super::small::call("script.turn_on", on(&format!("script.s{}", length - 1))))
    };
    assert_eq!(scripts(32), "allow");
    assert_eq!(scripts(33), "ask opaque_body");
    let rooms = |length: usize| {
        let mut small = Small::new();
        for n in 0..length {
            let members = if n + 1 == length { json!([]) } else { json!([format!("light.room_{}", n + 1)]) };
            small = small.with(&format!("light.room_{n}"), "on", json!({ "entity_id": members }));
        }
        small.outcome(&super::small::call("light.turn_on", on("light.room_0")))
    };
    assert_eq!(rooms(34), "allow");
    assert_eq!(rooms(35), "ask opaque_body");
}

#[test]
fn a_macro_that_runs_itself_is_followed_once_whatever_is_granted() {
    let again = json!([lamp(), { "action": "script.turn_on", "target": { "entity_id": "script.again" } }]);
    let small = Small::new().script("again", again);
    small.gives("script.again", json!({}), "allow");
    let granted = small.policy(|policy| _ = policy.grants.insert(id("lock.front"), Grant::default()));
    granted.gives("script.again", json!({}), "allow");
}

#[test]
fn what_moves_along_keeps_its_own_guard() {
    for (member, expected) in [
        ("light.desk", "allow"),
        ("switch.pump", "allow"),
        ("switch.door", "ask named"),
        ("input_boolean.door", "ask named"),
        ("light.door", "allow"),
        ("lock.front", "ask opens"),
        ("cover.garage", "ask opens"),
        ("cover.blind", "allow"),
        ("valve.v", "ask opens"),
        ("siren.s", "ask opens"),
        ("alarm_control_panel.house", "ask opens"),
    ] {
        let room = |outer: &str| {
            let mut small = Small::new();
            for entity in ["switch.door", "input_boolean.door", "light.door", "valve.v", "siren.s"] {
                small = small.with(entity, "off", json!({}));
            }
            small.with(outer, "off", json!({ "entity_id": [member] })).info(outer, "platform", json!("hub"))
        };
        room("light.room").gives("light.turn_on", on("light.room"), expected);
        // Toward safety they go where they are meant to be.
        room("lock.both").gives("lock.lock", on("lock.both"), "allow");
        let watched = json!([{ "trigger": "state", "entity_id": member }]);
        let opens =
            if expected == "allow" { "ask opens".to_owned() } else { expected.replace("ask named", "ask named opens") };
        room("light.room").opener(watched.clone()).gives("light.turn_on", on("light.room"), &opens);
        room("lock.both").opener(watched).gives("lock.lock", on("lock.both"), "ask opens");
    }
    // Moved along twice, through two rooms, is judged once; a member that is gone is no reason.
    let small = Small::new()
        .with("light.room", "on", json!({ "entity_id": ["light.inner", "light.gone"] }))
        .with("light.inner", "on", json!({ "entity_id": ["switch.door", "light.room"] }))
        .with("switch.door", "off", json!({}));
    assert_eq!(small.decision("light.turn_on", on("light.room")).reasons.len(), 1);
    // Seen where it stands still: finding it moves nothing.
    let vacuum = Small::new().with("vacuum.v", "docked", json!({ "entity_id": ["lock.front"] }));
    vacuum.gives("vacuum.locate", on("vacuum.v"), "allow").gives("vacuum.start", on("vacuum.v"), "ask opens");
}

#[test]
fn a_generic_service_is_the_entity_s_own_where_the_house_has_it() {
    let small = Small::new().with("switch.door", "off", json!({})).with("homeassistant.x", "on", json!({}));
    let sent = |small: &Small, service: &str, entity: &str| {
        let plan = small.decision(&format!("homeassistant.{service}"), on(entity)).plan;
        let send = plan.sends.iter().map(|send| format!("{}.{}", send.domain, send.service));
        send.chain(plan.ignored.iter().map(|_| "ignored".to_owned())).collect::<String>()
    };
    for (service, entity, expected) in [
        ("turn_on", "light.lamp", "light.turn_on"),
        ("toggle", "cover.blind", "cover.toggle"),
        ("turn_on", "cover.blind", "ignored"),
        ("turn_off", "lock.front", "ignored"),
        ("turn_on", "homeassistant.x", "ignored"),
        ("toggle", "input_number.level", "ignored"),
    ] {
        assert_eq!(sent(&small, service, entity), expected, "{service} {entity}");
    }
    small.gives("homeassistant.toggle", on("cover.garage"), "ask opens");
    let listed = small
        .clone()
        .set("/services", json!({ "light": { "turn_on": { "fields": [], "target": true, "response": "none" } } }));
    assert_eq!(sent(&listed, "turn_on", "light.lamp"), "light.turn_on");
    assert_eq!(sent(&listed, "turn_off", "light.lamp"), "ignored");
    assert_eq!(sent(&listed, "turn_on", "switch.pump"), "ignored");
    let decision = small.decision("homeassistant.turn_on", on("switch.door"));
    assert_eq!(decision.reasons[0].action, "switch.turn_on");
}

#[test]
fn a_reason_tells_its_road_by_name() {
    let guests = json!([{ "trigger": "state", "entity_id": "input_boolean.guests" }]);
    let small = Small::new().opener(guests).info("automation.opener", "names", json!(["Guests\u{202e} come"])).script(
        "welcome",
        json!([{ "action": "input_boolean.turn_on", "target": { "entity_id": "input_boolean.guests" } }]),
    );
    let said = |name: &str, data: Value| {
        let decision = small.decision(name, data);
        assert_eq!(decision.verdict, Verdict::Ask);
        decision.reasons[0].sentence(Language::English)
    };
    assert_eq!(
        said("input_boolean.turn_on", on("input_boolean.guests")),
        "turning on input_boolean.guests triggers automation 'Guests come', which unlocks lock.front"
    );
    assert_eq!(
        said("script.welcome", json!({})),
        "running script 'script.welcome', which triggers automation 'Guests come', which unlocks lock.front"
    );
    let small = Small::new()
        .opener(json!([{ "trigger": "event", "event_type": "knock" }]))
        .script("a", json!([{ "event": "knock" }]));
    let decision = small.decision("script.a", json!({}));
    assert_eq!(
        decision.reasons[0].sentence(Language::English),
        "running script 'script.a', which raises the event knock and triggers automation 'automation.opener', which unlocks lock.front"
    );
    let targets: Vec<EntityId> = decision.targets;
    assert_eq!(targets, [id("lock.front")]);
}
