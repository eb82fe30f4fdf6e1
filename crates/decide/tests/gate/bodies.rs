//! What the actions of a macro amount to: each form of action that Home Assistant takes, with what
//! is harmless in it and what is not.

use super::small::{Small, on, unlock};
use serde_json::{Value, json};

/// One entity for every action below.
fn house() -> Small {
    Small::new()
        .set("/entities/alarm_control_panel.house/state/value", json!("disarmed"))
        .with("button.blink", "unknown", json!({ "device_class": "identify" }))
        .with("button.buzzer", "unknown", json!({}))
        .with("climate.hall", "heat", json!({}))
        .with("humidifier.dry", "on", json!({}))
        .with("number.dial", "1", json!({}))
        .with("select.source", "a", json!({}))
        .with("text.note", "", json!({}))
        .with("vacuum.robot", "docked", json!({}))
        .with("script.plain", "off", json!({}))
        .script("lamps", json!([lamp()]))
        .script("doors", json!([unlock()]))
        .scene("evening", json!({ "light.lamp": "on" }))
        .scene("welcome", json!({ "lock.front": "unlocked" }))
        .set("/devices/lamp", json!({ "name": "Lamp" }))
        .info("light.lamp", "device_id", json!("lamp"))
        .set("/devices/door", json!({ "name": "Door" }))
        .info("lock.front", "device_id", json!("door"))
        .info("light.lamp", "registry_id", json!("0123456789abcdef0123456789abcdef"))
}

fn lamp() -> Value {
    json!({ "action": "light.turn_on", "target": { "entity_id": "light.lamp" } })
}

/// A script of this one step gives this.
#[track_caller]
fn check(step: Value, expected: &str) {
    house().script("a", json!([step])).gives("script.a", json!({}), expected);
}

#[track_caller]
fn device(domain: &str, kind: &str, entity: &str, expected: &str) {
    check(json!({ "device_id": "d", "domain": domain, "type": kind, "entity_id": entity }), expected);
}

#[test]
fn each_device_action_is_the_service_that_it_stands_for() {
    for (domain, kind, entity, expected) in [
        ("light", "turn_on", "light.lamp", "allow"),
        ("light", "turn_off", "light.lamp", "allow"),
        ("light", "toggle", "light.lamp", "allow"),
        ("light", "brightness_increase", "light.lamp", "allow"),
        ("light", "brightness_decrease", "light.lamp", "allow"),
        ("light", "flash", "light.lamp", "allow"),
        ("switch", "turn_on", "switch.pump", "allow"),
        ("button", "press", "button.blink", "allow"),
        ("button", "press", "button.buzzer", "ask button"),
        ("lock", "lock", "lock.front", "allow"),
        ("lock", "unlock", "lock.front", "ask opens"),
        ("lock", "open", "lock.front", "ask opens"),
        ("cover", "open", "cover.garage", "ask opens"),
        ("cover", "open", "cover.blind", "allow"),
        ("cover", "close", "cover.garage", "allow"),
        ("cover", "stop", "cover.garage", "ask stops_cover"),
        ("cover", "stop", "cover.blind", "allow"),
        ("cover", "open_tilt", "cover.garage", "ask opens"),
        ("cover", "close_tilt", "cover.blind", "allow"),
        ("cover", "set_tilt_position", "cover.garage", "ask opens"),
        ("cover", "set_position", "cover.garage", "ask opens"),
        ("climate", "set_hvac_mode", "climate.hall", "allow"),
        ("climate", "set_preset_mode", "climate.hall", "allow"),
        ("number", "set_value", "number.dial", "allow"),
        ("text", "set_value", "text.note", "allow"),
        ("select", "select_option", "select.source", "allow"),
        ("select", "select_first", "select.source", "allow"),
        ("select", "select_last", "select.source", "allow"),
        ("select", "select_next", "select.source", "allow"),
        ("select", "select_previous", "select.source", "allow"),
        ("humidifier", "set_humidity", "humidifier.dry", "allow"),
        ("humidifier", "set_mode", "humidifier.dry", "allow"),
        ("vacuum", "clean", "vacuum.robot", "allow"),
        ("vacuum", "dock", "vacuum.robot", "allow"),
        ("alarm_control_panel", "disarm", "alarm_control_panel.house", "ask disarms"),
        ("alarm_control_panel", "trigger", "alarm_control_panel.house", "ask disarms"),
        ("alarm_control_panel", "arm_home", "alarm_control_panel.house", "allow"),
        ("alarm_control_panel", "arm_away", "alarm_control_panel.house", "allow"),
        ("alarm_control_panel", "arm_night", "alarm_control_panel.house", "allow"),
        ("alarm_control_panel", "arm_vacation", "alarm_control_panel.house", "allow"),
        // Not one that is known.
        ("zha", "squawk", "light.lamp", "ask opaque_body"),
        ("cover", "lift", "cover.blind", "ask opaque_body"),
        ("", "", "light.lamp", "ask opaque_body"),
    ] {
        device(domain, kind, entity, expected);
    }
}

#[test]
fn a_device_action_carries_its_position_and_may_name_only_its_device() {
    let position = |position: u8| json!({ "device_id": "d", "domain": "cover", "type": "set_position", "entity_id": "cover.garage", "position": position });
    check(position(0), "allow");
    check(position(1), "ask opens");
    check(json!({ "device_id": "lamp", "domain": "light", "type": "turn_on" }), "allow");
    check(json!({ "device_id": "door", "domain": "lock", "type": "unlock" }), "ask opens");
    check(json!({ "device_id": "d", "domain": "mobile_app", "type": "notify", "message": "x" }), "allow");
}

#[test]
fn what_stands_beside_a_device_is_followed_too() {
    let all = json!({ "device_id": "d", "domain": "light", "type": "turn_on", "entity_id": "light.lamp", "then": [unlock()] });
    check(all, "ask opens");
    let condition =
        json!({ "condition": "device", "device_id": "d", "domain": "lock", "type": "is_locked", "then": [unlock()] });
    check(condition, "ask opens");
    // A condition on a device, with nothing beside it, moves nothing.
    check(json!({ "condition": "device", "device_id": "d", "domain": "lock", "type": "unlock" }), "allow");
}

#[test]
fn every_nested_form_is_followed() {
    type Form = fn(Value) -> Value;
    let forms: &[Form] = &[
        |inner| json!({ "choose": [{ "conditions": [], "sequence": inner }] }),
        |inner| json!({ "choose": { "conditions": [], "sequence": inner } }),
        |inner| json!({ "choose": [], "default": inner }),
        |inner| json!({ "choose": [{ "sequence": [] }, { "sequence": inner }] }),
        |inner| json!({ "if": "{{ x }}", "then": inner }),
        |inner| json!({ "if": [], "then": [], "else": inner }),
        |inner| json!({ "parallel": [{ "sequence": inner }, []] }),
        |inner| json!({ "parallel": inner }),
        |inner| json!({ "sequence": inner }),
        |inner| json!({ "repeat": { "count": 3, "sequence": inner } }),
        |inner| json!({ "repeat": { "while": ["{{ x }}"], "sequence": inner } }),
        |inner| json!([[inner]]),
        |inner| json!({ "alias": "x", "enabled": true, "sequence": inner }),
    ];
    for form in forms {
        check(form(lamp()), "allow");
        check(form(json!([lamp(), lamp()])), "allow");
        check(form(unlock()), "ask opens");
        check(form(json!([lamp(), unlock()])), "ask opens");
        check(form(json!([7])), "ask opaque_body");
    }
    check(json!({ "enabled": false, "sequence": [unlock()] }), "allow");
    check(json!({ "enabled": "{{ x }}", "sequence": [unlock()] }), "ask opens");
}

#[test]
fn what_only_steers_is_harmless_and_what_is_not_understood_asks() {
    for quiet in [
        json!({ "delay": 1 }),
        json!({ "wait_template": "{{ x }}" }),
        json!({ "wait_for_trigger": [] }),
        json!({ "condition": "state" }),
        json!({ "conditions": [] }),
        json!({ "variables": { "x": 1 } }),
        json!({ "stop": "x" }),
        json!({ "set_conversation_response": "x" }),
        json!({ "alias": "x" }),
        json!("{{ x }}"),
        json!(null),
    ] {
        check(quiet, "allow");
    }
    for opaque in [
        json!({}),
        json!({ "enabled": true }),
        json!({ "new_thing": [] }),
        json!(true),
        json!(7),
        json!({ "choose": [{ "conditions": [] }] }),
        json!({ "choose": { "conditions": [] } }),
        json!({ "repeat": { "alias": "x" } }),
        json!({ "choose": 7 }),
        json!({ "then": 7 }),
    ] {
        check(opaque, "ask opaque_body");
    }
}

#[test]
fn sequences_are_followed_to_a_depth_and_deeper_ones_ask() {
    /// Twice as deep each: the form and the list inside.
    #[track_caller]
    fn levels(form: fn(Value) -> Value, deepest: usize) {
        let nested = |times: usize| (0..times).fold(lamp(), |inner, _| json!([form(inner)]));
        for (times, expected) in [(deepest, "allow"), (deepest + 1, "ask opaque_body"), (70, "ask opaque_body")] {
            let body = nested(times);
            Small::new().script("a", body).gives("script.a", json!({}), expected);
        }
    }
    levels(|inner| inner, 64);
    levels(|inner| json!({ "sequence": inner }), 32);
    levels(|inner| json!({ "choose": [{ "sequence": inner }] }), 32);
    levels(|inner| json!({ "choose": { "sequence": inner } }), 32);
    levels(|inner| json!({ "repeat": { "sequence": inner } }), 32);
}

#[test]
fn a_body_without_actions_asks() {
    for config in [json!({}), json!({ "sequence": null }), json!({ "sequence": [] }), json!({ "alias": "x" })] {
        let small = house().set("/bodies/scripts/script.plain", json!({ "config": config }));
        small.gives("script.plain", json!({}), "ask opaque_body");
    }
    for key in ["sequence", "actions", "action"] {
        let body = |step: Value| house().set("/bodies/scripts/script.plain", json!({ "config": { key: step } }));
        body(lamp()).gives("script.plain", json!({}), "allow");
        body(json!([unlock()])).gives("script.plain", json!({}), "ask opens");
        body(json!(true)).gives("script.plain", json!({}), "ask opaque_body");
    }
}

#[test]
fn a_service_is_read_in_every_spelling() {
    for step in [
        json!({ "service": "lock.unlock", "entity_id": "lock.front" }),
        json!({ "service_template": "lock.unlock", "data": { "entity_id": "lock.front" } }),
        json!({ "action": " Lock.UNLOCK ", "data_template": { "entity_id": ["lock.front"] } }),
        json!({ "action": "lock.unlock", "service_data": { "device_id": "door" } }),
        json!({ "action": "lock.unlock", "data": null, "target": { "device_id": ["door"] } }),
        json!({ "action": "lock.unlock", "data": {}, "target": { "entity_id": "all" } }),
        json!({ "action": "lock.unlock", "target": { "entity_id": "light.lamp, lock.front" } }),
    ] {
        check(step, "ask opens");
    }
    for step in [
        json!({ "service": "light.turn_on", "entity_id": "0123456789abcdef0123456789abcdef" }),
        json!({ "service": "light.turn_on", "data": { "device_id": "lamp" }, "target": null }),
        json!({ "action": "light.turn_on", "target": { "entity_id": "lock.front" } }),
        json!({ "action": "light.turn_on", "data": { "brightness_pct": "{{ x }}" }, "target": { "entity_id": "light.lamp" } }),
        json!({ "scene": "scene.evening" }),
        json!({ "action": "scene.turn_on", "target": { "entity_id": "scene.evening" } }),
        json!({ "action": "script.lamps", "data": { "x": "{{ y }}" } }),
        json!({ "action": "script.turn_on", "target": { "entity_id": "script.lamps" } }),
        json!({ "action": "weather.get_forecasts", "target": { "entity_id": "{{ x }}" } }),
        json!({ "action": "light.turn_on", "target": { "entity_id": "light.gone" } }),
    ] {
        check(step, "allow");
    }
    for step in [
        json!({ "scene": "scene.welcome" }),
        json!({ "action": "script.doors" }),
        json!({ "action": "script.turn_on", "target": { "entity_id": "script.doors" } }),
    ] {
        check(step, "ask opens");
    }
    // A script that is not there may be there when it is called.
    check(json!({ "action": "script.gone" }), "ask no_state");
}

#[test]
fn a_template_or_anything_else_where_an_action_or_a_target_stands_asks() {
    for step in [
        json!({ "action": "{{ x }}" }),
        json!({ "action": "light.{{ x }}", "target": { "entity_id": "light.lamp" } }),
        json!({ "action": ["light.turn_on"] }),
        json!({ "action": "turn_on" }),
        json!({ "action": "light.turn_on", "data": "{{ x }}" }),
        json!({ "action": "light.turn_on", "data": [] }),
        json!({ "action": "light.turn_on", "target": "{{ x }}" }),
        json!({ "action": "light.turn_on", "target": { "entity_id": "{{ x }}" } }),
        json!({ "action": "light.turn_on", "target": { "entity_id": 7 } }),
        json!({ "action": "light.turn_on", "target": { "entity_id": "fedcba9876543210fedcba9876543210" } }),
        json!({ "action": "light.turn_on", "target": { "area_id": "gone" } }),
        json!({ "action": "weather.get_forecasts", "target": { "entity_id": 7 } }),
        json!({ "event": "{{ x }}" }),
        json!({ "event": 7 }),
    ] {
        check(step, "ask opaque_body");
    }
}

#[test]
fn an_absent_target_asks_only_where_the_service_could_open() {
    for (service, target) in [
        ("lock.unlock", "lock.gone"),
        ("lock.lock", "lock.gone"),
        ("cover.open_cover", "cover.gone"),
        ("valve.close_valve", "valve.gone"),
        ("alarm_control_panel.alarm_arm_away", "alarm_control_panel.gone"),
        ("scene.turn_on", "scene.gone"),
        ("script.turn_on", "script.gone"),
        ("automation.trigger", "automation.gone"),
        ("homeassistant.turn_on", "light.gone"),
    ] {
        check(json!({ "action": service, "target": { "entity_id": target } }), "ask opaque_body");
    }
    for (service, target) in [
        ("light.turn_on", "light.gone"),
        ("switch.turn_on", "switch.gone"),
        ("automation.turn_off", "automation.gone"),
        ("media_player.play_media", "media_player.gone"),
    ] {
        check(json!({ "action": service, "target": { "entity_id": target } }), "allow");
    }
}

#[test]
fn an_applied_scene_with_a_template_asks_whatever_it_names() {
    let apply = |state: &str| json!({ "action": "scene.apply", "data": { "entities": { "light.lamp": state } } });
    check(apply("on"), "allow");
    check(apply("{{ x }}"), "ask opaque_body");
}

#[test]
fn a_service_moves_only_entities_of_its_own_domain() {
    let area = |small: Small| {
        small.set("/areas/hall", json!({ "name": "Hall" })).info("lock.front", "area_id", json!("hall")).info(
            "light.lamp",
            "area_id",
            json!("hall"),
        )
    };
    let run = |service: &str| {
        let step = json!({ "action": service, "target": { "area_id": "hall" } });
        area(house()).script("a", json!([step]))
    };
    run("light.turn_on").gives("script.a", json!({}), "allow");
    run("homeassistant.turn_on").gives("script.a", json!({}), "allow");
    run("lock.unlock").gives("script.a", json!({}), "ask opens");
    // One that the table does not know may do anything to all of them.
    run("glow.apply").gives("script.a", json!({}), "ask unknown_service");
}

#[test]
fn an_event_of_a_macro_reaches_the_automations_that_wait_for_it() {
    let small = |event: &str| {
        house()
            .opener(json!([{ "trigger": "event", "event_type": "knock" }]))
            .script("a", json!([{ "event": event, "event_data": { "x": 1 } }]))
    };
    small("knock").gives("script.a", json!({}), "ask opens").gives("script.turn_on", on("script.a"), "ask opens");
    small("ring").gives("script.a", json!({}), "allow");
}
