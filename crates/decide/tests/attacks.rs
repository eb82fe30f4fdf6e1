//! Roads by which a call could open the house, each closed. A test's name is what holds.

use decide::gate::{Grant, Guard, ServiceRule, Verdict};
use serde_json::{Value, json};
use small::{Small, call, id, on, unlock};

mod small;

/// A trigger of the state kind.
fn state(entity: &str, rest: Value) -> Value {
    let mut trigger = json!({ "trigger": "state", "entity_id": entity });
    for (key, value) in rest.as_object().unwrap() {
        trigger[key] = value.clone();
    }
    json!([trigger])
}

// ---- states that a move ends in

#[test]
fn a_lamp_dimmed_to_nothing_counts_as_turned_off() {
    let small = Small::new().opener(state("light.lamp", json!({ "to": "off" })));
    small.allows("light.turn_on", on("light.lamp"));
    small.allows("light.turn_on", json!({ "entity_id": "light.lamp", "brightness_pct": 40 }));
    for data in [
        json!({ "brightness": 0 }),
        json!({ "brightness_pct": 0 }),
        json!({ "brightness_pct": "0" }),
        json!({ "brightness_step": -255 }),
        json!({ "brightness_step_pct": -100 }),
        json!({ "white": 0 }),
        json!({ "profile": "relax" }),
        json!({ "flash": "short" }),
    ] {
        let mut data = data;
        data["entity_id"] = "light.lamp".into();
        small.asks("light.turn_on", data.clone());
        small.asks("homeassistant.turn_on", data);
    }
    small.asks("scene.apply", json!({ "entities": { "light.lamp": { "state": "on", "brightness": 0 } } }));
}

#[test]
fn a_fan_at_no_speed_counts_as_turned_off() {
    let small = Small::new().opener(state("fan.ceiling", json!({ "to": "off" })));
    small.allows("fan.turn_on", on("fan.ceiling"));
    small.asks("fan.turn_on", json!({ "entity_id": "fan.ceiling", "percentage": 0 }));
    small.asks("scene.apply", json!({ "entities": { "fan.ceiling": { "state": "on", "percentage": 0 } } }));
}

#[test]
fn a_relay_that_springs_back_counts_as_turned_off_too() {
    let small = Small::new().opener(state("switch.pump", json!({ "to": "off" })));
    small.asks("switch.turn_on", on("switch.pump"));
}

#[test]
fn the_state_before_is_not_trusted_since_it_may_be_stale_or_change_on_the_way() {
    let trigger = state("input_boolean.guests", json!({ "from": "on", "to": "off" }));
    let small = Small::new().opener(trigger).script(
        "blink",
        json!([
            { "action": "input_boolean.turn_on", "target": { "entity_id": "input_boolean.guests" } },
            { "action": "input_boolean.turn_off", "target": { "entity_id": "input_boolean.guests" } },
        ]),
    );
    small.asks("script.blink", json!({}));
    small.asks("input_boolean.turn_off", on("input_boolean.guests"));
    small.allows("input_boolean.turn_on", on("input_boolean.guests"));
}

#[test]
fn a_number_in_any_spelling_that_python_reads_crosses_its_bound() {
    let triggers = json!([
        { "trigger": "numeric_state", "entity_id": ["input_number.level", "input_text.note"], "above": 50 }
    ]);
    let small = Small::new().opener(triggers);
    for value in [json!("5_5"), json!("５５"), json!(" 5_5 "), json!("5.5e1"), json!(55), json!("6_0.0")] {
        small.asks("input_number.set_value", json!({ "entity_id": "input_number.level", "value": value }));
    }
    small.asks("input_text.set_value", json!({ "entity_id": "input_text.note", "value": "5_5" }));
    small.asks("input_text.set_value", json!({ "entity_id": "input_text.note", "value": "٥٥" }));
    small.allows("input_text.set_value", json!({ "entity_id": "input_text.note", "value": "milk" }));
    small.allows("input_number.set_value", json!({ "entity_id": "input_number.level", "value": 21 }));
    let exact = Small::new().opener(state("input_number.level", json!({ "to": "55.0" })));
    for value in [json!("5_5"), json!("５５"), json!(55), json!("55.00")] {
        exact.asks("input_number.set_value", json!({ "entity_id": "input_number.level", "value": value }));
    }
}

#[test]
fn new_options_in_a_scene_may_select_any_of_them() {
    let small = Small::new().opener(state("input_select.mode", json!({ "to": "Unlock" })));
    small.allows("scene.apply", json!({ "entities": { "input_select.mode": "Away" } }));
    let wanted = json!({ "input_select.mode": { "state": "Away", "options": ["Unlock"] } });
    small.asks("scene.apply", json!({ "entities": wanted }));
}
