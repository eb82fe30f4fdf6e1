//! Which condition a change may leave unmet, form by form.

use serde_json::{Value, json};

use super::small::{Small, on};

/// A nightly automation that locks, with this in its body.
fn nightly(key: &str, value: Value) -> Small {
    let lock = json!([{ "action": "lock.lock", "target": { "entity_id": "lock.front" } }]);
    let small = Small::new().with("switch.other", "off", json!({})).with("input_number.free", "1.0", json!({}));
    let small = small.automation("nightly", json!([{ "trigger": "time", "at": "23:00" }]), lock);
    small.set(&format!("/bodies/automations/automation.nightly/config/{key}"), value)
}

#[track_caller]
fn check(condition: Value, service: &str, entity: &str, expected: &str) {
    nightly("conditions", condition.clone()).gives(service, on(entity), expected);
    // A single one needs no list, and the older spelling is the same.
    nightly("condition", condition).gives(service, on(entity), expected);
}

fn pump(state: Value) -> Value {
    json!({ "condition": "state", "entity_id": "switch.pump", "state": state })
}

#[test]
fn each_form_of_a_condition_tells_what_it_looks_at() {
    let (on_, off) = ("switch.turn_on", "switch.turn_off");
    for (condition, service, expected) in [
        (pump(json!("on")), off, "ask stops"),
        // A relay may spring back.
        (pump(json!("on")), on_, "ask stops"),
        (pump(json!("off")), off, "allow"),
        (pump(json!(["off", "unavailable"])), off, "allow"),
        (pump(json!("{{ x }}")), off, "ask stops"),
        (json!([pump(json!("on"))]), off, "ask stops"),
        (json!({ "condition": "and", "conditions": [pump(json!("on"))] }), off, "ask stops"),
        (json!({ "condition": "or", "conditions": [pump(json!("on"))] }), off, "ask stops"),
        (json!({ "condition": "or", "conditions": [pump(json!("off"))] }), off, "allow"),
        (json!({ "condition": "not", "conditions": [pump(json!("off"))] }), off, "ask stops"),
        (json!({ "and": [pump(json!("on"))] }), off, "ask stops"),
        (json!({ "or": [pump(json!("off"))] }), off, "allow"),
        (json!({ "not": [pump(json!("off"))] }), off, "ask stops"),
        (
            json!({ "condition": "state", "entity_id": "switch.pump", "attribute": "x", "state": "off" }),
            off,
            "ask stops",
        ),
        (json!({ "condition": "template", "value_template": "{{ is_state('switch.pump', 'on') }}" }), off, "ask stops"),
        (json!("{{ is_state('switch.pump', 'on') }}"), off, "ask stops"),
        (json!(["{{ is_state('switch.gone', 'on') }}"]), off, "allow"),
        (json!("switch.pump"), off, "allow"),
        (json!({ "condition": "state", "entity_id": "switch.pump", "state": "on", "enabled": false }), off, "allow"),
        (json!({ "condition": "sun", "after": "sunset" }), off, "allow"),
        (json!(null), off, "allow"),
    ] {
        check(condition, service, "switch.pump", expected);
    }
    check(pump(json!("on")), off, "switch.other", "allow");
}

#[test]
fn a_number_is_held_to_its_bounds() {
    let level = |rest: Value| {
        let mut condition = json!({ "condition": "numeric_state", "entity_id": "input_number.level" });
        condition.as_object_mut().unwrap().extend(rest.as_object().cloned().unwrap());
        nightly("conditions", json!([condition]))
    };
    let set = |value: Value| json!({ "entity_id": "input_number.level", "value": value });
    for (bounds, value, expected) in [
        (json!({ "above": 10 }), json!(11), "allow"),
        (json!({ "above": 10 }), json!(10), "ask stops"),
        (json!({ "above": 10 }), json!(9), "ask stops"),
        (json!({ "below": 10 }), json!(9), "allow"),
        (json!({ "below": 10 }), json!(10), "ask stops"),
        (json!({ "below": 10 }), json!(11), "ask stops"),
        (json!({ "above": 5, "below": 10 }), json!(7), "allow"),
        (json!({ "above": 10 }), json!("1_1"), "ask stops"),
        (json!({ "above": "input_number.free" }), json!(99), "ask stops"),
        (json!({ "above": 1, "value_template": "{{ 0 }}" }), json!(99), "ask stops"),
        (json!({ "above": 1, "attribute": "x" }), json!(99), "ask stops"),
    ] {
        level(bounds).gives("input_number.set_value", set(value), expected);
    }
    // A word that is no number meets no bound.
    let note = json!([{ "condition": "numeric_state", "entity_id": "input_text.note", "above": 3 }]);
    let note = nightly("conditions", note);
    let write = |value: &str| json!({ "entity_id": "input_text.note", "value": value });
    note.gives("input_text.set_value", write("none"), "ask stops").gives("input_text.set_value", write("4"), "allow");
}

#[test]
fn a_condition_among_the_steps_ends_the_run_and_a_branch_does_not() {
    let lock = || json!({ "action": "lock.lock", "target": { "entity_id": "lock.front" } });
    let steps = |first: Value| nightly("actions", json!([first, lock()]));
    for (first, expected) in [
        (pump(json!("on")), "ask stops"),
        (json!({ "sequence": [pump(json!("on"))] }), "ask stops"),
        (json!({ "and": [pump(json!("on"))] }), "ask stops"),
        (json!({ "or": [pump(json!("on"))] }), "ask stops"),
        (json!({ "not": [pump(json!("on"))] }), "ask stops"),
        (json!("{{ is_state('switch.pump', 'on') }}"), "ask stops"),
        (json!({ "if": [pump(json!("on"))], "then": [lock()] }), "allow"),
        (json!({ "choose": [{ "conditions": [pump(json!("on"))], "sequence": [lock()] }] }), "allow"),
    ] {
        steps(first.clone()).gives("switch.turn_off", on("switch.pump"), expected);
        // A script's own steps are the same.
        let script = Small::new().script("night", json!([first, lock()]));
        script.gives("switch.turn_off", on("switch.pump"), expected);
    }
    let older = nightly("action", json!([pump(json!("on")), lock()]));
    older.gives("switch.turn_off", on("switch.pump"), "ask stops");
    // Lamps and the like are moved all day.
    let lamp = json!([{ "condition": "state", "entity_id": "light.lamp", "state": "on" }]);
    nightly("conditions", lamp).gives("light.turn_off", on("light.lamp"), "allow");
}
