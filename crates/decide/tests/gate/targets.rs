//! What a target means: every form, what it reaches, what it leaves out, what it is not.

use super::small::{Small, call, id};
use serde_json::{Value, json};

const UUID: &str = "0123456789abcdef0123456789abcdef";

/// Two lamps in the kitchen, one in the bath, one on a hub's child, groups of both kinds.
fn house() -> Small {
    Small::new()
        .set("/floors/ground", json!({ "name": "Ground" }))
        .set("/areas/kitchen", json!({ "name": "Kitchen", "floor_id": "ground" }))
        .set("/areas/bath", json!({ "name": "Bath", "floor_id": "ground" }))
        .set("/areas/attic", json!({ "name": "Attic" }))
        .set("/labels/cosy", json!({ "name": "Cosy" }))
        .set("/devices/hub", json!({ "name": "Hub", "area_id": "kitchen", "labels": ["cosy"] }))
        .set("/devices/child", json!({ "name": "Child", "via_device_id": "hub" }))
        .with("light.bath", "on", json!({}))
        .with("light.child", "on", json!({}))
        .with("light.group", "on", json!({ "entity_id": ["light.lamp", "light.bath"] }))
        .info("light.group", "platform", json!("group"))
        .with("light.room", "on", json!({ "entity_id": ["light.lamp"] }))
        .info("light.room", "platform", json!("hue"))
        .with("group.old", "on", json!({ "entity_id": ["light.desk", "light.group"] }))
        .with("group.empty", "on", json!({ "entity_id": [] }))
        .with("light.empty", "on", json!({}))
        .info("light.empty", "platform", json!("group"))
        .info("light.lamp", "area_id", json!("kitchen"))
        .info("light.desk", "device_id", json!("hub"))
        .info("light.bath", "area_id", json!("bath"))
        .info("light.child", "device_id", json!("child"))
        .info("light.lamp", "labels", json!(["cosy"]))
        .info("light.lamp", "registry_id", json!(UUID))
}

/// The lamps that a call of `light.turn_on` with this target goes to, or the problem.
fn reached(small: &Small, target: &Value) -> String {
    match small.judge(&call("light.turn_on", target.clone())) {
        Ok(decision) => {
            let ids = decision.plan.sends.iter().flat_map(|send| &send.entities);
            ids.map(|id| id.object()).collect::<Vec<_>>().join(" ")
        }
        Err(_) => small.outcome(&call("light.turn_on", target.clone())),
    }
}

#[track_caller]
fn check(target: Value, expected: &str) {
    assert_eq!(reached(&house(), &target), expected, "{target}");
}

#[test]
fn every_form_of_a_target_is_read() {
    for (target, expected) in [
        (json!({ "entity_id": "light.lamp" }), "lamp"),
        (json!({ "entity_id": " Light.LAMP " }), "lamp"),
        (json!({ "entity_id": "light.lamp,light.desk" }), "desk lamp"),
        (json!({ "entity_id": ["light.lamp", ["light.desk", "light.bath , light.lamp"]] }), "bath desk lamp"),
        (json!({ "entity_id": ["light.lamp", "none", ""] }), "lamp"),
        (json!({ "entity_id": "light.lamp,," }), "lamp"),
        (json!({ "entity_id": "light.group" }), "bath lamp"),
        (json!({ "entity_id": "light.room" }), "room"),
        (json!({ "entity_id": "light.empty" }), "empty"),
        (json!({ "entity_id": "group.old" }), "bath desk lamp"),
        (json!({ "entity_id": "group.empty" }), ""),
        (json!({ "entity_id": "ALL" }), "bath child desk empty lamp room"),
        (json!({ "area_id": "kitchen" }), "desk lamp"),
        (json!({ "area_id": ["kitchen", "bath"] }), "bath desk lamp"),
        (json!({ "area_id": ["none", "", "bath"] }), "bath"),
        (json!({ "area_id": "attic" }), "nothing_there"),
        (json!({ "area_id": "" }), "nothing_there"),
        (json!({ "area_id": "none" }), "nothing_there"),
        (json!({ "area_id": null }), "nothing_there"),
        (json!({ "device_id": "hub" }), "desk"),
        (json!({ "device_id": "child" }), "child"),
        (json!({ "floor_id": "ground" }), "bath desk lamp"),
        (json!({ "label_id": "cosy" }), "desk lamp"),
        (json!({ "entity_id": "light.bath", "area_id": "kitchen" }), "bath desk lamp"),
    ] {
        check(target, expected);
    }
}

#[test]
fn what_is_not_understood_stops_the_call() {
    for (target, expected) in [
        (json!({ "entity_id": "light.gone" }), "not_found"),
        (json!({ "entity_id": ["light.lamp", "light.gone"] }), "not_found"),
        (json!({ "entity_id": 7 }), "bad_target"),
        (json!({ "entity_id": ["light.lamp", 7] }), "bad_target"),
        (json!({ "entity_id": { "x": 1 } }), "bad_target"),
        (json!({ "entity_id": true }), "bad_target"),
        (json!({ "entity_id": UUID }), "bad_target"),
        (json!({ "entity_id": "ｌight.lamp" }), "bad_target"),
        (json!({ "entity_id": "lamp" }), "bad_target"),
        (json!({ "entity_id": "light.lamp;light.desk" }), "bad_target"),
        (json!({ "entity_id": "{{ 'light.lamp' }}" }), "bad_target"),
        (json!({ "entity_id": ["light.lamp", "{{ x }}"] }), "bad_target"),
        (json!({ "area_id": "{% x %}" }), "bad_target"),
        (json!({ "area_id": "gone" }), "not_found"),
        (json!({ "area_id": "Kitchen" }), "not_found"),
        (json!({ "area_id": "kitchen,bath" }), "not_found"),
        (json!({ "area_id": 7 }), "bad_target"),
        (json!({ "device_id": "gone" }), "not_found"),
        (json!({ "floor_id": "gone" }), "not_found"),
        (json!({ "label_id": "gone" }), "not_found"),
        (json!({}), "no_target"),
    ] {
        check(target, expected);
    }
}

#[test]
fn an_area_leaves_out_what_home_assistant_would_leave_out() {
    let kitchen = json!({ "area_id": "kitchen" });
    let null = || Value::Null;
    for (key, value, state, expected) in [
        ("hidden", json!(true), json!({ "value": "on" }), "desk"),
        ("category", json!("config"), json!({ "value": "on" }), "desk"),
        ("category", json!("diagnostic"), json!({ "value": "on" }), "desk"),
        ("disabled", json!(true), null(), "desk"),
        ("disabled", json!(true), json!({ "value": "on" }), "desk lamp"),
        ("disabled", json!(false), null(), "desk lamp"),
    ] {
        let small = house().info("light.lamp", key, value).set("/entities/light.lamp/state", state);
        assert_eq!(reached(&small, &kitchen), expected, "{key}");
        assert_eq!(reached(&small, &json!({ "entity_id": "light.lamp" })), "lamp", "{key}");
    }
    let gone = house().set("/entities/light.desk/state", json!(null));
    assert_eq!(reached(&gone, &json!({ "entity_id": "all" })), "bath child empty lamp room");
}

/// A macro's target counts more: all of an area, children of a device, registry ids.
#[track_caller]
fn opens(target: Value, expected: &str) {
    let small = house()
        .with("lock.child", "locked", json!({}))
        .info("lock.child", "device_id", json!("child"))
        .with("lock.hidden", "locked", json!({}))
        .info("lock.hidden", "area_id", json!("bath"))
        .info("lock.hidden", "hidden", json!(true))
        .info("lock.hidden", "registry_id", json!("fedcba9876543210fedcba9876543210"))
        .set("/devices/other", json!({ "name": "Other", "area_id": "attic" }))
        .set("/labels/bare", json!({ "name": "Bare" }))
        .set("/floors/top", json!({ "name": "Top" }))
        .script("a", json!([{ "action": "lock.unlock", "target": target }]));
    small.gives("script.a", json!({}), expected);
}

#[test]
fn a_macro_s_target_reaches_children_hidden_entities_and_registry_ids() {
    for target in [
        json!({ "device_id": "hub" }),
        json!({ "device_id": "child" }),
        json!({ "area_id": "kitchen" }),
        json!({ "area_id": "bath" }),
        json!({ "floor_id": "ground" }),
        json!({ "label_id": "cosy" }),
        json!({ "entity_id": "fedcba9876543210fedcba9876543210" }),
        json!({ "entity_id": "ALL" }),
    ] {
        opens(target, "ask opens");
    }
    for target in [
        json!({ "device_id": "other" }),
        json!({ "area_id": "attic" }),
        json!({ "floor_id": "top" }),
        json!({ "label_id": "bare" }),
        json!({ "entity_id": "none" }),
        json!({ "entity_id": UUID }),
    ] {
        opens(target, "allow");
    }
    // A template is one text, commas and all.
    let read = json!([{ "action": "weather.get_forecasts", "target": { "entity_id": "{{ a, b }}" } }]);
    house().script("a", read).gives("script.a", json!({}), "allow");
}

fn scoped(change: impl FnOnce(&mut decide::gate::Scope)) -> Small {
    house().policy(|policy| change(&mut policy.scope))
}

#[test]
fn the_operator_s_scope_is_by_entity_area_and_label() {
    let lamp = json!({ "entity_id": "light.lamp" });
    let bath = json!({ "entity_id": "light.bath" });
    for word in ["light.lamp", "kitchen", "Kitchen", "cosy", "Cosy"] {
        let only = scoped(|scope| _ = scope.include.insert(word.to_owned()));
        assert_eq!(reached(&only, &lamp), "lamp", "{word}");
        assert_eq!(reached(&only, &bath), "not_found", "{word}");
        let without = scoped(|scope| _ = scope.exclude.insert(word.to_owned()));
        assert_eq!(reached(&without, &lamp), "not_found", "{word}");
        assert_eq!(reached(&without, &bath), "bath", "{word}");
        let both = scoped(|scope| {
            scope.include.insert(word.to_owned());
            scope.exclude.insert(word.to_owned());
        });
        assert_eq!(reached(&both, &lamp), "not_found", "{word}");
    }
    // Reached by an area, what is left out is left out quietly.
    let without = scoped(|scope| _ = scope.exclude.insert("light.lamp".to_owned()));
    assert_eq!(reached(&without, &json!({ "area_id": "kitchen" })), "desk");
    let shown = |exposed: Value| scoped(|scope| scope.exposed_only = true).info("light.lamp", "exposed", exposed);
    assert_eq!(reached(&shown(json!(true)), &lamp), "lamp");
    assert_eq!(reached(&shown(json!(false)), &lamp), "not_found");
    assert_eq!(reached(&shown(json!(null)), &lamp), "not_found");
    let house = shown(json!(true)).house();
    assert!(house.entities.contains_key(&id("light.bath")));
    assert_eq!(reached(&shown(json!(true)), &bath), "not_found");
}
