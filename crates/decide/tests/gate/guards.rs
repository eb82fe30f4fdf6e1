//! What guards one entity by itself: the person's word, a label, a relation, a name, a cover's class.

use super::small::{Small, id, on};
use decide::gate::{CoverClass, Guard};
use serde_json::{Value, json};

fn guarded(small: Small, entity: &str, guard: Guard) -> Small {
    small.policy(|policy| _ = policy.guard.insert(id(entity), guard))
}

fn labelled(small: Small, key: &str, name: &str) -> Small {
    small.set(&format!("/labels/{key}"), json!({ "name": name }))
}

#[test]
fn the_person_s_word_comes_before_every_guess() {
    let door = || Small::new().with("switch.door", "off", json!({}));
    door().gives("switch.turn_on", on("switch.door"), "ask named");
    guarded(door(), "switch.door", Guard::Harmless).gives("switch.turn_on", on("switch.door"), "allow");
    guarded(door(), "switch.door", Guard::Opens).gives("switch.turn_on", on("switch.door"), "ask listed");
    guarded(Small::new(), "light.lamp", Guard::Opens).gives("light.turn_on", on("light.lamp"), "ask listed");
    guarded(Small::new(), "light.lamp", Guard::Opens).gives("light.turn_on", on("light.desk"), "allow");
    let label = labelled(door(), "guard", "x").info("switch.door", "labels", json!(["guard"]));
    guarded(label, "switch.door", Guard::Harmless).gives("switch.turn_on", on("switch.door"), "allow");
}

#[test]
fn the_guard_label_counts_by_id_and_by_name_and_wherever_it_hangs() {
    let lamp = |small: Small, key: &str| small.info("light.lamp", "labels", json!([key]));
    let ask = "ask labelled";
    lamp(labelled(Small::new(), "guard", "Anything"), "guard").gives("light.turn_on", on("light.lamp"), ask);
    lamp(labelled(Small::new(), "l1", "GUARD"), "l1").gives("light.turn_on", on("light.lamp"), ask);
    lamp(labelled(Small::new(), "l1", "Cosy"), "l1").gives("light.turn_on", on("light.lamp"), "allow");
    lamp(labelled(Small::new(), "guard", "Guard"), "guard").gives("light.turn_on", on("light.desk"), "allow");
    let own = |small: Small| small.policy(|policy| policy.guard_label = Some("Keep Out".to_owned()));
    own(lamp(labelled(Small::new(), "l1", "keep out"), "l1")).gives("light.turn_on", on("light.lamp"), ask);
    own(lamp(labelled(Small::new(), "guard", "Guard"), "guard")).gives("light.turn_on", on("light.lamp"), "allow");
    let device = labelled(Small::new(), "guard", "Guard")
        .set("/devices/d", json!({ "name": "D", "labels": ["guard"] }))
        .info("light.lamp", "device_id", json!("d"));
    device.gives("light.turn_on", on("light.lamp"), ask);
    let area = labelled(Small::new(), "guard", "Guard")
        .set("/areas/a", json!({ "name": "A", "labels": ["guard"] }))
        .info("light.lamp", "area_id", json!("a"));
    area.gives("light.turn_on", on("light.lamp"), ask).gives("light.turn_on", on("light.desk"), "allow");
}

#[test]
fn a_name_guards_relays_and_never_lamps_or_macros() {
    for (entity, name, service, expected) in [
        ("switch.x", "Front door", "turn_on", "ask named"),
        ("switch.front_door", "Pump", "turn_on", "ask named"),
        ("switch.x", "Pump", "turn_on", "allow"),
        ("switch.x", "Front door", "turn_off", "ask named"),
        ("input_boolean.gate", "Helper", "toggle", "ask named"),
        ("select.garage", "Mode", "select_next", "ask named"),
        ("number.lock_time", "Time", "set_value", "ask named"),
        ("light.front_door", "Front door", "turn_on", "allow"),
        ("fan.garage", "Garage", "turn_on", "allow"),
    ] {
        let small = Small::new().with(entity, "off", json!({})).info(entity, "names", json!([name]));
        let domain = entity.split_once('.').unwrap().0;
        small.gives(&format!("{domain}.{service}"), on(entity), expected);
    }
    let small = Small::new().script("front_door", json!([{ "delay": 1 }])).scene("gate", json!({ "light.lamp": "on" }));
    small.gives("script.front_door", json!({}), "allow").gives("scene.turn_on", on("scene.gate"), "allow");
    small.with("switch.alias", "off", json!({})).info("switch.alias", "names", json!(["Pump", "Shed lock"])).gives(
        "switch.turn_on",
        on("switch.alias"),
        "ask named",
    );
}

#[test]
fn what_gets_hot_asks_by_any_of_its_names() {
    for (entity, name, expected) in
        [("switch.oven", "Kitchen", "ask harm"), ("switch.x", "Oven", "ask harm"), ("switch.x", "Kettle", "allow")]
    {
        let small = || Small::new().with(entity, "off", json!({})).info(entity, "names", json!([name]));
        small().gives("switch.turn_on", on(entity), expected).gives("switch.toggle", on(entity), expected);
        small().gives("switch.turn_off", on(entity), "allow");
        guarded(small(), entity, Guard::Harmless).gives("switch.turn_on", on(entity), "allow");
    }
}

#[test]
fn a_button_asks_until_it_is_known() {
    let button = |class: Value| Small::new().with("button.b", "unknown", json!({ "device_class": class }));
    button(json!(null)).gives("button.press", on("button.b"), "ask button");
    button(json!("restart")).gives("button.press", on("button.b"), "ask button");
    button(json!("identify")).gives("button.press", on("button.b"), "allow");
    let both = button(json!("identify")).info("button.b", "original_class", json!("update"));
    both.gives("button.press", on("button.b"), "ask button");
    guarded(button(json!(null)), "button.b", Guard::Harmless).gives("button.press", on("button.b"), "allow");
    guarded(button(json!("identify")), "button.b", Guard::Opens).gives("button.press", on("button.b"), "ask listed");
    let named = button(json!(null)).info("button.b", "names", json!(["Door"]));
    named.gives("button.press", on("button.b"), "ask named");
}

/// A device with a lock and so many relays.
fn board(relays: usize, door: &str, class: &str) -> Small {
    let mut small = Small::new()
        .set("/devices/d", json!({ "name": "D" }))
        .with(door, "closed", json!({ "device_class": class }))
        .info(door, "device_id", json!("d"))
        .with("light.status", "off", json!({}))
        .info("light.status", "device_id", json!("d"));
    for n in 0..relays {
        let relay = format!("switch.r{n}");
        small = small.with(&relay, "off", json!({})).info(&relay, "device_id", json!("d"));
    }
    small
}

#[test]
fn a_small_device_s_relays_are_taken_to_work_its_door() {
    for relays in 1..=3 {
        board(relays, "lock.x", "").gives("switch.turn_on", on("switch.r0"), "ask relation");
        board(relays, "cover.x", "garage").gives("switch.turn_on", on("switch.r0"), "ask relation");
        board(relays, "cover.x", "blind").gives("switch.turn_on", on("switch.r0"), "allow");
        board(relays, "sensor.x", "").gives("switch.turn_on", on("switch.r0"), "allow");
    }
    board(4, "lock.x", "").gives("switch.turn_on", on("switch.r0"), "allow");
    board(9, "lock.x", "").gives("switch.turn_on", on("switch.r8"), "allow");
    board(1, "lock.x", "").gives("light.turn_on", on("light.status"), "allow");
    let decision = board(1, "lock.x", "").decision("switch.turn_on", on("switch.r0"));
    assert_eq!(decision.reasons[0].detail.as_deref(), Some("lock.x"));
}

#[test]
fn a_lock_s_many_settings_make_no_board_of_it() {
    let settings = |small: Small, domain: &str| {
        (0..5).fold(small, |small, n| {
            let setting = format!("{domain}.s{n}");
            small.with(&setting, "off", json!({})).info(&setting, "device_id", json!("d"))
        })
    };
    for domain in ["number", "select", "text", "button"] {
        let lock = settings(board(1, "lock.x", ""), domain);
        lock.gives("switch.turn_on", on("switch.r0"), "ask relation");
    }
    settings(board(1, "lock.x", ""), "number").gives(
        "number.set_value",
        json!({ "entity_id": "number.s0", "value": 1 }),
        "ask relation",
    );
    // Neither do switches that are settings, or that are not in use.
    let quiet = |key: &str, value: Value| {
        let small = settings(board(1, "lock.x", ""), "switch");
        (0..5).fold(small, |small, n| small.info(&format!("switch.s{n}"), key, value.clone()))
    };
    quiet("category", json!("config")).gives("switch.turn_on", on("switch.s0"), "ask relation");
    quiet("disabled", json!(true)).gives("switch.turn_on", on("switch.r0"), "ask relation");
    quiet("category", json!(null)).gives("switch.turn_on", on("switch.r0"), "allow");
}

#[test]
fn what_a_door_stands_in_front_of_is_guarded_and_no_other_container_leads_there() {
    let front = |outer: &str, key: &str| {
        let small = Small::new().with(outer, "off", json!({ "device_class": "blind", "entity_id": ["switch.pump"] }));
        match key {
            "wraps" => small.info(outer, "wraps", json!(["switch.pump"])),
            _ => small.info(outer, "platform", json!(key)),
        }
    };
    for (outer, expected) in [
        ("lock.x", "ask relation"),
        ("valve.x", "ask relation"),
        ("siren.x", "ask relation"),
        ("alarm_control_panel.x", "ask relation"),
        ("lawn_mower.x", "ask relation"),
        ("cover.x", "allow"),
        ("light.x", "allow"),
    ] {
        front(outer, "wraps").gives("switch.turn_on", on("switch.pump"), expected);
        // A lock that only lists it as a member is not worked by it.
        front(outer, "hub").gives("switch.turn_on", on("switch.pump"), "allow");
    }
    // Through a group and through another helper, but not through a hub's room.
    let chain = |key: &str| {
        front("switch.mid", key).with("lock.x", "locked", json!({})).info("lock.x", "wraps", json!(["switch.mid"]))
    };
    chain("wraps").gives("switch.turn_on", on("switch.pump"), "ask relation");
    chain("group").gives("switch.turn_on", on("switch.pump"), "ask relation");
    chain("hub").gives("switch.turn_on", on("switch.pump"), "allow");
    // Helpers in a ring end.
    let ring = Small::new().with("switch.a", "off", json!({})).info("switch.a", "wraps", json!(["switch.pump"])).info(
        "switch.pump",
        "wraps",
        json!(["switch.a"]),
    );
    ring.gives("switch.turn_on", on("switch.pump"), "allow");
}

#[test]
fn a_cover_is_a_door_unless_everything_says_comfort() {
    let classes = |state: Value, registry: Value, original: Value| {
        Small::new()
            .with("cover.x", "closed", json!({ "device_class": state }))
            .info("cover.x", "registry_class", registry)
            .info("cover.x", "original_class", original)
    };
    let none = || Value::Null;
    for comfort in ["awning", "blind", "curtain", "shade"] {
        classes(json!(comfort), none(), none()).gives("cover.open_cover", on("cover.x"), "allow");
        classes(none(), json!(comfort), none()).gives("cover.open_cover", on("cover.x"), "allow");
        classes(json!(comfort), json!("blind"), json!(comfort)).gives("cover.open_cover", on("cover.x"), "allow");
        classes(json!(comfort), none(), json!("garage")).gives("cover.open_cover", on("cover.x"), "ask opens");
        classes(json!("door"), json!(comfort), none()).gives("cover.open_cover", on("cover.x"), "ask opens");
    }
    for door in ["garage", "gate", "door", "window", "shutter", "damper", "new_thing"] {
        classes(json!(door), none(), none()).gives("cover.open_cover", on("cover.x"), "ask opens");
    }
    classes(none(), none(), none()).gives("cover.open_cover", on("cover.x"), "ask opens");
}

#[test]
fn the_person_s_class_for_a_cover_decides_and_a_guard_still_holds() {
    use CoverClass::{Awning, Blind, Curtain, Damper, Door, Garage, Gate, Shade, Shutter, Window};
    let class = |entity: &str, class: CoverClass| {
        let entity = id(entity);
        Small::new().policy(|policy| _ = policy.covers.insert(entity, class))
    };
    for comfort in [Awning, Blind, Curtain, Shade, Damper] {
        class("cover.garage", comfort).gives("cover.open_cover", on("cover.garage"), "allow");
    }
    for door in [Door, Garage, Gate, Shutter, Window] {
        class("cover.blind", door).gives("cover.open_cover", on("cover.blind"), "ask opens");
    }
    guarded(class("cover.garage", Blind), "cover.garage", Guard::Opens).gives(
        "cover.open_cover",
        on("cover.garage"),
        "ask opens",
    );
    guarded(Small::new(), "cover.blind", Guard::Opens).gives("cover.open_cover", on("cover.blind"), "ask opens");
    // The word that takes a guess away does not make a garage door a blind.
    guarded(Small::new(), "cover.garage", Guard::Harmless).gives("cover.open_cover", on("cover.garage"), "ask opens");
    let label = labelled(Small::new(), "guard", "Guard").info("cover.blind", "labels", json!(["guard"]));
    label.gives("cover.open_cover", on("cover.blind"), "ask opens");
}

#[test]
fn on_a_floor_out_of_reach_shutters_are_comfort_and_doors_are_not() {
    let on_floor = |class: Value, listed: &str| {
        Small::new()
            .set("/floors/up", json!({ "name": "Upstairs" }))
            .set("/areas/bed", json!({ "name": "Bedroom", "floor_id": "up" }))
            .with("cover.x", "closed", json!({ "device_class": class }))
            .info("cover.x", "area_id", json!("bed"))
            .policy(|policy| _ = policy.comfort_floors.insert(listed.to_owned()))
    };
    for (class, listed, expected) in [
        (json!("shutter"), "up", "allow"),
        (json!("shutter"), "Upstairs", "allow"),
        (json!(null), "up", "allow"),
        (json!("shutter"), "down", "ask opens"),
        (json!(null), "bed", "ask opens"),
        (json!("garage"), "up", "ask opens"),
        (json!("window"), "up", "ask opens"),
        (json!("blind"), "down", "allow"),
    ] {
        on_floor(class, listed).gives("cover.open_cover", on("cover.x"), expected);
    }
    let both = on_floor(json!("shutter"), "up").info("cover.x", "original_class", json!("blind"));
    both.gives("cover.open_cover", on("cover.x"), "allow");
    let nowhere = on_floor(json!("shutter"), "up").info("cover.x", "area_id", json!(null));
    nowhere.gives("cover.open_cover", on("cover.x"), "ask opens");
}
