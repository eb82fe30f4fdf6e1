//! What sets an automation off: each kind of trigger, what meets it and what does not.

use super::small::{Small, id, on, unlock};
use serde_json::{Value, json};

/// With an automation that opens on this trigger, the call gives an opening or passes.
#[track_caller]
fn check(trigger: Value, name: &str, data: Value, opens: bool) {
    let small = Small::new().with("input_boolean.other", "off", json!({})).opener(json!([trigger]));
    let expected = if opens { "ask opens" } else { "allow" };
    assert_eq!(small.outcome(&super::small::call(name, data.clone())), expected, "{trigger} {name} {data}");
}

fn lamp(rest: Value) -> Value {
    let mut trigger = json!({ "trigger": "state", "entity_id": "light.lamp" });
    for (key, value) in rest.as_object().unwrap() {
        trigger[key] = value.clone();
    }
    trigger
}

#[test]
fn a_state_trigger_fires_on_the_states_that_it_names() {
    for (rest, turned_on, turned_off) in [
        (json!({}), true, true),
        (json!({ "to": null }), true, true),
        (json!({ "to": "on" }), true, false),
        (json!({ "to": "off" }), false, true),
        (json!({ "to": ["on", "x"] }), true, false),
        (json!({ "to": ["x", "y"] }), false, false),
        (json!({ "to": true }), true, false),
        (json!({ "to": false }), false, true),
        (json!({ "to": { "x": 1 } }), true, true),
        (json!({ "from": "on" }), false, true),
        (json!({ "from": "off" }), true, false),
        (json!({ "from": ["on", "off"] }), true, true),
        (json!({ "from": "off", "to": "on" }), true, false),
        (json!({ "from": "on", "to": "on" }), false, false),
        (json!({ "not_to": "on" }), true, true),
        (json!({ "not_from": "on", "to": "off" }), true, true),
        (json!({ "to": "{{ x }}" }), true, true),
        (json!({ "from": "{{ x }}", "to": "off" }), true, true),
        (json!({ "attribute": "brightness", "to": "off" }), true, true),
        (json!({ "enabled": false }), false, false),
        (json!({ "enabled": true, "to": "on" }), true, false),
        (json!({ "enabled": "{{ x }}", "to": "on" }), true, false),
    ] {
        check(lamp(rest.clone()), "light.turn_on", on("light.lamp"), turned_on);
        check(lamp(rest.clone()), "light.turn_off", on("light.lamp"), turned_off);
        if turned_on || turned_off {
            check(lamp(rest.clone()), "light.toggle", on("light.lamp"), true);
        }
        check(lamp(rest), "light.turn_on", on("light.desk"), false);
    }
    let note = |value: Value| json!({ "entity_id": "input_text.note", "value": value });
    let number = json!({ "trigger": "state", "entity_id": "input_text.note", "to": 5 });
    check(number.clone(), "input_text.set_value", note(json!("5")), true);
    check(number, "input_text.set_value", note(json!("6")), false);
}

#[test]
fn a_numeric_trigger_fires_beyond_its_bounds() {
    let level = |bounds: Value| {
        let mut trigger = json!({ "trigger": "numeric_state", "entity_id": "input_number.level" });
        for (key, value) in bounds.as_object().unwrap() {
            trigger[key] = value.clone();
        }
        trigger
    };
    for (bounds, fires, not) in [
        (json!({ "above": 50 }), vec![51], vec![50, 49]),
        (json!({ "above": "50" }), vec![51], vec![50, 49]),
        (json!({ "below": 20 }), vec![19], vec![20, 21]),
        (json!({ "above": 10, "below": 20 }), vec![11, 15, 19], vec![10, 20, 5, 25]),
        (json!({ "above": 10, "below": null }), vec![11, 25], vec![10]),
        (json!({ "above": "sensor.x" }), vec![1, 99], vec![]),
        (json!({ "above": [50] }), vec![1], vec![]),
        (json!({ "above": 50, "attribute": "x" }), vec![1], vec![]),
        (json!({ "above": 50, "value_template": "{{ x }}" }), vec![1], vec![]),
    ] {
        for (values, opens) in [(fires, true), (not, false)] {
            for value in values {
                let data = json!({ "entity_id": "input_number.level", "value": value });
                check(level(bounds.clone()), "input_number.set_value", data, opens);
            }
        }
    }
}

#[test]
fn values_are_compared_as_the_house_writes_them() {
    let to = |to: &str| json!({ "trigger": "state", "entity_id": "input_number.level", "to": to });
    for (wanted, value, opens) in [
        ("55.0", json!(55), true),
        ("55.0", json!("55"), true),
        ("56.0", json!(55), false),
        ("0.0", json!(0), true),
        ("5.0", json!(0), false),
        // Written differently by Python: any value.
        ("5.0", json!(1e20), true),
        ("5.0", json!(1e-9), true),
        ("5.0", json!("5_6"), true),
        ("5.0", json!(null), true),
    ] {
        let data = json!({ "entity_id": "input_number.level", "value": value });
        check(to(wanted), "input_number.set_value", data, opens);
    }
    let note = json!({ "trigger": "state", "entity_id": "input_text.note", "to": "x" });
    check(note, "input_text.set_value", json!({ "entity_id": "input_text.note", "value": "1e20" }), false);
    // A template of a macro's counts as any value.
    let mode = json!([{ "trigger": "state", "entity_id": "input_select.mode", "to": "Unlock" }]);
    for (option, expected) in [("{{ x }}", "ask opens"), ("Away", "allow"), ("Unlock", "ask opens")] {
        let step = json!([{ "action": "input_select.select_option", "data": { "entity_id": "input_select.mode", "option": option } }]);
        Small::new().opener(mode.clone()).script("a", step).gives("script.a", json!({}), expected);
    }
}

#[test]
fn a_lamp_lit_by_any_readable_level_is_on() {
    let off = json!({ "trigger": "state", "entity_id": "light.lamp", "to": "off" });
    for (data, opens) in [
        (json!({ "brightness_pct": "40" }), false),
        (json!({ "brightness": 1 }), false),
        (json!({ "brightness": 0.5 }), true),
        (json!({ "brightness": "dim" }), true),
        (json!({ "brightness": [9] }), true),
        (json!({ "color_name": "red" }), false),
    ] {
        let mut data = data;
        data["entity_id"] = "light.lamp".into();
        check(off.clone(), "light.turn_on", data, opens);
    }
}

#[test]
fn a_trigger_that_is_not_known_fires_on_whatever_it_names() {
    for trigger in [
        json!({ "platform": "state", "entity_id": ["light.lamp"] }),
        json!({ "triggers": [lamp(json!({}))] }),
        json!([[lamp(json!({}))]]),
        json!({ "trigger": "template", "value_template": "{{ states.light.lamp.state == 'on' }}" }),
        json!({ "trigger": "template", "value_template": "{{ is_state('light.lamp','on') }}" }),
        json!({ "trigger": "calendar", "entity_id": "light.lamp" }),
        json!({ "trigger": "time", "at": "light.lamp" }),
        json!({ "trigger": "time", "at": ["07:00", { "entity_id": "light.lamp" }] }),
        json!({ "trigger": "new_thing", "deep": { "er": ["light.lamp"] } }),
        json!({ "trigger": "new_thing", "target": { "entity_id": "light.lamp" } }),
        json!({ "trigger": "device", "device_id": "d", "entity_id": "light.lamp", "type": "turned_on" }),
    ] {
        check(trigger.clone(), "light.turn_on", on("light.lamp"), true);
        check(trigger, "light.turn_on", on("light.desk"), false);
    }
    check(json!("light.lamp"), "light.turn_on", on("light.lamp"), false);
    let helper = json!({ "trigger": "template", "value_template": "{{ is_state('input_boolean.guests', 'on') }}" });
    check(helper.clone(), "input_boolean.turn_on", on("input_boolean.guests"), true);
    check(helper, "input_boolean.turn_on", on("input_boolean.other"), false);
}

#[test]
fn an_event_trigger_fires_on_what_raises_the_event() {
    let small = |event: Value, data: Value| {
        Small::new()
            .script("lamps", json!([{ "delay": 1 }]))
            .scene("evening", json!({ "light.desk": "on" }))
            .automation("quiet", json!([]), json!([{ "delay": 1 }]))
            .opener(json!([{ "trigger": "event", "event_type": event, "event_data": data }]))
    };
    for (event, name, entity) in [
        ("timer.finished", "timer.start", "timer.kitchen"),
        ("automation_triggered", "automation.trigger", "automation.quiet"),
        ("script_started", "script.turn_on", "script.lamps"),
        ("scene_activated", "scene.turn_on", "scene.evening"),
    ] {
        small(json!(event), json!(null)).gives(name, on(entity), "ask opens");
        small(json!([event, "x"]), json!({ "entity_id": entity })).gives(name, on(entity), "ask opens");
        small(json!(event), json!({ "entity_id": "light.lamp" })).gives(name, on(entity), "allow");
        small(json!("other_thing"), json!(null)).gives(name, on(entity), "allow");
        small(json!(7), json!(null)).gives(name, on(entity), "allow");
    }
    let changed = small(json!("state_changed"), json!({ "entity_id": "light.lamp" }));
    changed.gives("light.turn_on", on("light.lamp"), "ask opens").gives("light.turn_on", on("light.desk"), "allow");
    let unguardable = |event: &str, data: Value| small(json!(event), data).house().index.triggers.unguardable.clone();
    assert_eq!(unguardable("state_changed", json!(null)), [(id("automation.opener"), "state_changed".to_owned())]);
    assert_eq!(unguardable("knock", json!(null)), [(id("automation.opener"), "knock".to_owned())]);
    assert_eq!(unguardable("state_changed", json!({ "entity_id": "light.lamp" })), []);
    assert_eq!(unguardable("timer.finished", json!(null)), []);
    let clock = Small::new().opener(json!([{ "trigger": "time", "at": "07:00" }]));
    assert_eq!(clock.house().index.triggers.unguardable, [(id("automation.opener"), "time".to_owned())]);
}

#[test]
fn each_timer_s_service_fires_what_it_leads_to() {
    let event = |name: &str| json!({ "trigger": "event", "event_type": format!("timer.{name}") });
    let state = |name: &str| json!({ "trigger": "state", "entity_id": "timer.kitchen", "to": name });
    let causes = ["idle", "paused", "active"].map(|name| (format!("to {name}"), state(name))).into_iter();
    let events = ["cancelled", "paused", "finished", "started", "restarted", "changed"];
    let causes: Vec<(String, Value)> =
        causes.chain(events.map(|name| (format!("event {name}"), event(name)))).collect();
    for (service, fires) in [
        ("cancel", "to idle,event cancelled"),
        ("pause", "to paused,event paused"),
        ("finish", "to idle,event finished"),
        ("start", "to idle,to active,event finished,event started,event restarted"),
        ("change", "to idle,to active,event finished,event changed"),
    ] {
        for (cause, trigger) in &causes {
            let opens = fires.split(',').any(|fires| fires == cause);
            check(trigger.clone(), &format!("timer.{service}"), on("timer.kitchen"), opens);
        }
    }
}

#[test]
fn a_purpose_trigger_watches_the_domains_of_its_purpose() {
    let domains = [
        "binary_sensor",
        "button",
        "climate",
        "cover",
        "event",
        "fan",
        "humidifier",
        "input_boolean",
        "input_button",
        "input_select",
        "input_text",
        "light",
        "lock",
        "media_player",
        "scene",
        "select",
        "sensor",
        "switch",
        "text",
        "timer",
        "vacuum",
        "water_heater",
        "weather",
    ];
    let mut small = Small::new().set("/entities", json!({})).set("/areas/hall", json!({ "name": "Hall" }));
    for domain in domains {
        let entity = format!("{domain}.x");
        small = small.with(&entity, "on", json!({})).info(&entity, "area_id", json!("hall"));
    }
    let watched = |kind: &str| {
        let house = small.clone().opener(json!([{ "trigger": kind, "target": { "area_id": "hall" } }])).house();
        let watched = house.index.triggers.watched();
        let domains = watched.map(|(id, by)| {
            assert_eq!(by, [&super::small::id("automation.opener")]);
            id.domain().to_owned()
        });
        domains.collect::<Vec<_>>().join(" ")
    };
    let sensing = "binary_sensor event sensor";
    for (purpose, expected) in [
        ("air_quality", sensing),
        ("battery", sensing),
        ("doorbell", sensing),
        ("illuminance", sensing),
        ("moisture", sensing),
        ("motion", sensing),
        ("occupancy", sensing),
        ("power", sensing),
        ("vibration", sensing),
        ("door", "binary_sensor cover"),
        ("garage_door", "binary_sensor cover"),
        ("gate", "binary_sensor cover"),
        ("window", "binary_sensor cover"),
        ("temperature", "climate sensor water_heater weather"),
        ("humidity", "climate humidifier sensor weather"),
        ("switch", "input_boolean switch"),
        ("button", "button input_button"),
        ("select", "input_select select"),
        ("text", "input_text text"),
        ("light", "light"),
        ("fan", "fan"),
        ("media_player", "media_player"),
        ("climate", "climate"),
        ("vacuum", "vacuum"),
        ("lock", "lock"),
        ("timer", "timer"),
        ("scene", "scene"),
    ] {
        assert_eq!(watched(&format!("{purpose}.changed")), expected, "{purpose}");
    }
    assert_eq!(watched("new_purpose.changed"), domains.join(" "));
    assert_eq!(watched("new_purpose"), domains.join(" "));
}

#[test]
fn a_macro_that_waits_is_set_off_by_what_it_waits_for() {
    let waits = |step: Value| Small::new().script("a", json!([step, unlock()]));
    for step in [
        json!({ "wait_for_trigger": [lamp(json!({}))] }),
        json!({ "wait_template": "{{ is_state('light.lamp', 'on') }}" }),
        json!({ "repeat": { "until": "{{ is_state('light.lamp', 'on') }}", "sequence": [] } }),
        json!({ "repeat": { "while": ["{{ is_state('light.lamp', 'on') }}"], "sequence": [] } }),
        json!({ "choose": [{ "sequence": [{ "wait_for_trigger": lamp(json!({})) }] }] }),
    ] {
        waits(step.clone()).gives("light.turn_on", on("light.lamp"), "ask opens");
        waits(step).gives("light.turn_on", on("light.desk"), "allow");
    }
}

#[test]
fn an_automation_that_cannot_be_read_guards_what_may_trigger_it() {
    let small = Small::new()
        .opener(json!([]))
        .set("/bodies/automations/automation.opener", json!({ "unreadable": "unauthorized" }))
        .set("/bodies/related/automation.opener", json!(["light.lamp"]));
    small
        .gives("light.turn_on", on("light.lamp"), "ask unreadable")
        .gives("light.turn_on", on("light.desk"), "allow")
        .gives("automation.trigger", on("automation.opener"), "ask unreadable")
        .gives("automation.turn_off", on("automation.opener"), "ask stops");
    assert_eq!(small.house().index.triggers.unreadable, [id("automation.opener")]);
}
