//! States that a scene gives: each is judged as the action that Home Assistant makes of it.

use super::small::{Small, on, unlock};
use serde_json::{Value, json};

fn house() -> Small {
    Small::new()
        .set("/entities/cover.garage/state/value", json!("open"))
        .set("/entities/alarm_control_panel.house/state/value", json!("disarmed"))
        .with("valve.v", "closed", json!({}))
        .with("siren.s", "off", json!({}))
        .with("lawn_mower.m", "docked", json!({}))
        .with("climate.hall", "heat", json!({}))
        .with("water_heater.tank", "eco", json!({}))
        .with("alert.leak", "on", json!({}))
        .with("person.bob", "home", json!({}))
        .with("cover.slats", "open", json!({ "device_class": "window", "current_tilt_position": 30 }))
        .with("group.lamps", "on", json!({ "entity_id": ["light.lamp", "light.desk"] }))
        .with("group.doors", "on", json!({ "entity_id": ["light.lamp", "lock.front"] }))
        .script("lamps", json!([{ "action": "light.turn_on", "target": { "entity_id": "light.lamp" } }]))
        .script("doors", json!([unlock()]))
        .automation("locks", json!([]), json!([{ "action": "lock.lock", "target": { "entity_id": "lock.front" } }]))
        .automation("opens", json!([]), json!([unlock()]))
        .set("/entities/automation.opens/state/value", json!("off"))
}

/// Verdict, codes and deciding actions when a scene gives this state: applied and stored alike.
#[track_caller]
fn check(entity: &str, wanted: Value, expected: &str) {
    let entities = json!({ entity: wanted });
    let decision = house().decision("scene.apply", json!({ "entities": entities }));
    let mut words: Vec<String> = house()
        .outcome(&super::small::call("scene.apply", json!({ "entities": entities })))
        .split(' ')
        .map(str::to_owned)
        .collect();
    let mut actions: Vec<String> = decision.reasons.iter().map(|reason| reason.action.clone()).collect();
    actions.dedup();
    words.extend(actions);
    assert_eq!(words.join(" "), expected, "{entity} {wanted}");
    let stored = house().scene("stored", entities);
    let verdict = expected.split(' ').next().unwrap();
    let outcome = stored.outcome(&super::small::call("scene.turn_on", on("scene.stored")));
    assert_eq!(outcome.split(' ').next(), Some(verdict), "stored {entity} {wanted}");
}

#[test]
fn a_wanted_state_is_the_service_that_makes_it() {
    let panel = "alarm_control_panel.house";
    for (entity, wanted, expected) in [
        ("lock.front", json!("locked"), "allow"),
        ("lock.front", json!("locking"), "allow"),
        ("lock.front", json!("open"), "ask opens lock.open"),
        ("lock.front", json!("opening"), "ask opens lock.open"),
        ("lock.front", json!("unlocked"), "ask opens lock.unlock"),
        ("lock.front", json!("jammed"), "ask opens lock.unlock"),
        ("lock.front", json!({}), "ask opens lock.unlock"),
        ("lock.front", json!(null), "ask opens lock.unlock"),
        ("cover.garage", json!("closed"), "allow"),
        ("cover.garage", json!("closing"), "allow"),
        ("cover.garage", json!({ "state": "closed", "current_position": 0, "position": 0 }), "allow"),
        ("cover.garage", json!({ "state": "closed", "current_position": 40 }), "ask opens cover.open_cover"),
        ("cover.garage", json!({ "state": "closed", "position": 40 }), "ask opens cover.open_cover"),
        ("cover.garage", json!({ "state": "closed", "position": "40" }), "ask opens cover.open_cover"),
        ("cover.garage", json!("open"), "ask opens cover.open_cover"),
        ("cover.garage", json!("anything"), "ask opens cover.open_cover"),
        ("cover.blind", json!("open"), "allow"),
        ("cover.slats", json!({ "state": "closed", "current_tilt_position": 30 }), "allow"),
        ("cover.slats", json!({ "state": "closed", "current_tilt_position": 31 }), "ask opens cover.open_cover_tilt"),
        ("valve.v", json!("closed"), "allow"),
        ("valve.v", json!("closing"), "allow"),
        ("valve.v", json!("open"), "ask valve valve.open_valve"),
        ("valve.v", json!("anything"), "ask valve valve.open_valve"),
        (panel, json!("armed_away"), "allow"),
        (panel, json!("armed_home"), "allow"),
        (panel, json!("armed_night"), "allow"),
        (panel, json!("armed_vacation"), "allow"),
        (panel, json!("armed_custom_bypass"), "ask rearms alarm_control_panel.alarm_arm_custom_bypass"),
        (panel, json!("triggered"), "ask disarms alarm_control_panel.alarm_trigger"),
        (panel, json!("disarmed"), "ask disarms alarm_control_panel.alarm_disarm"),
        (panel, json!("pending"), "ask disarms alarm_control_panel.alarm_disarm"),
        ("light.lamp", json!("on"), "allow"),
        ("light.lamp", json!("off"), "allow"),
        ("light.lamp", json!("anything"), "allow"),
        ("siren.s", json!("off"), "allow"),
        ("siren.s", json!("on"), "ask harm siren.turn_on"),
        ("lawn_mower.m", json!("docked"), "allow"),
        ("lawn_mower.m", json!("paused"), "allow"),
        ("lawn_mower.m", json!("returning"), "allow"),
        ("lawn_mower.m", json!("mowing"), "ask harm scene.apply"),
        ("media_player.tv", json!("playing"), "allow"),
        ("automation.locks", json!("on"), "allow"),
        ("automation.locks", json!("off"), "ask stops automation.turn_off"),
        ("automation.locks", json!("anything"), "ask stops automation.turn_off"),
        ("automation.opens", json!("off"), "allow"),
        ("automation.opens", json!("on"), "ask opens lock.unlock"),
        ("script.lamps", json!("on"), "allow"),
        ("script.doors", json!("on"), "ask opens lock.unlock"),
        ("person.bob", json!("home"), "allow"),
        ("alert.leak", json!("off"), "ask blinds scene.apply"),
        ("water_heater.tank", json!("off"), "ask harm scene.apply"),
        ("group.lamps", json!("off"), "allow"),
        ("group.doors", json!("off"), "ask opens lock.unlock"),
    ] {
        check(entity, wanted, expected);
    }
}

#[test]
fn a_scene_s_heat_is_judged_as_heat() {
    for (entity, wanted, expected) in [
        ("climate.hall", json!({ "state": "heat", "temperature": 21 }), "allow"),
        ("climate.hall", json!({ "state": "heat", "temperature": 31 }), "ask heat climate.set_temperature"),
        ("climate.hall", json!({ "state": "heat", "target_temp_high": 31 }), "ask heat climate.set_temperature"),
        ("climate.hall", json!({ "state": "heat", "target_temp_low": 2 }), "ask heat climate.set_temperature"),
        ("climate.hall", json!({ "state": "heat", "temperature": null, "fan_mode": "high" }), "allow"),
        ("climate.hall", json!({ "state": "heat", "current_temperature": 50 }), "allow"),
        ("light.lamp", json!({ "state": "on", "temperature": 90 }), "allow"),
        (
            "water_heater.tank",
            json!({ "state": "eco", "temperature": 61 }),
            "ask harm heat scene.apply water_heater.set_temperature",
        ),
        ("water_heater.tank", json!({ "state": "eco", "temperature": 60 }), "ask harm scene.apply"),
    ] {
        check(entity, wanted, expected);
    }
}

/// A scene that gives this, in a house where such a change unlocks the door.
#[track_caller]
fn watched(entity: &str, to: Value, wanted: Value, expected: &str) {
    let small = Small::new()
        .with("fan.f", "on", json!({}))
        .with("input_datetime.d", "10:00:00", json!({}))
        .opener(json!([{ "trigger": "state", "entity_id": entity, "to": to }]));
    let data = json!({ "entities": { entity: wanted } });
    small.gives("scene.apply", data.clone(), expected);
    small.scene("stored", data["entities"].clone()).gives("scene.turn_on", on("scene.stored"), expected);
}

#[test]
fn a_scene_sets_off_what_its_states_set_off_and_no_more() {
    for (entity, to, wanted, expected) in [
        ("light.lamp", json!("off"), json!("on"), "allow"),
        ("light.lamp", json!("off"), json!(true), "allow"),
        ("light.lamp", json!("off"), json!("off"), "ask opens"),
        ("light.lamp", json!("off"), json!(false), "ask opens"),
        ("light.lamp", json!("on"), json!(false), "allow"),
        ("light.lamp", json!("on"), json!("off"), "allow"),
        ("light.lamp", json!("on"), json!({ "state": "off" }), "allow"),
        ("light.lamp", json!("on"), json!("anything"), "ask opens"),
        ("light.lamp", json!("off"), json!({ "state": "on", "brightness": 9 }), "allow"),
        ("light.lamp", json!("off"), json!({ "state": "on", "brightness": 0 }), "ask opens"),
        ("light.lamp", json!("off"), json!({ "state": "on", "brightness": null }), "allow"),
        ("light.lamp", json!("off"), json!({ "state": "on", "profile": "relax", "flash": "long" }), "allow"),
        ("fan.f", json!("off"), json!({ "state": "on", "percentage": 0 }), "ask opens"),
        ("fan.f", json!("off"), json!({ "state": "on", "percentage": 1 }), "allow"),
        ("input_select.mode", json!("Home"), json!("Away"), "allow"),
        ("input_select.mode", json!("Home"), json!({ "state": "Away", "options": ["Home", "Away"] }), "allow"),
        ("input_select.mode", json!("Home"), json!({ "state": "Away", "options": ["Home"] }), "ask opens"),
        ("input_select.mode", json!("Home"), json!("Home"), "ask opens"),
        ("input_number.level", json!("5.0"), json!(6), "allow"),
        ("input_number.level", json!("5.0"), json!(5), "ask opens"),
        ("input_number.level", json!("5.0"), json!("6"), "allow"),
        ("input_text.note", json!("x"), json!("y"), "allow"),
        ("input_text.note", json!("x"), json!({ "state": "x" }), "ask opens"),
        ("input_datetime.d", json!("11:00:00"), json!("10:00:00"), "ask opens"),
        ("automation.opener", json!("off"), json!("on"), "allow"),
    ] {
        watched(entity, to, wanted, expected);
    }
}

#[test]
fn media_in_a_scene_is_played_only_where_it_is_not_off() {
    let inside = "http://192.168.1.5/relay";
    for (wanted, expected) in [
        (json!({ "state": "playing", "media_content_id": inside }), "refuse media media_player.play_media"),
        (json!({ "state": "idle", "media_content_id": inside }), "refuse media media_player.play_media"),
        (json!({ "state": "off", "media_content_id": inside }), "allow"),
        (json!({ "state": "playing", "media_content_id": null }), "allow"),
        (json!({ "state": "playing" }), "allow"),
        (json!({ "state": "playing", "media_content_type": "music" }), "allow"),
        (json!({ "state": "playing", "media_content_type": null }), "allow"),
        (json!({ "state": "playing", "media_content_type": "custom" }), "refuse opaque media_player.play_media"),
        (json!({ "state": "off", "media_content_type": "custom" }), "allow"),
    ] {
        let decision = house().decision("scene.apply", json!({ "entities": { "media_player.tv": wanted } }));
        let actions = decision.reasons.iter().map(|reason| reason.action.as_str());
        let verdict =
            house().outcome(&super::small::call("scene.apply", json!({ "entities": { "media_player.tv": wanted } })));
        let words: Vec<&str> = std::iter::once(verdict.as_str()).chain(actions).collect();
        assert_eq!(words.join(" "), expected, "{wanted}");
    }
}

#[test]
fn states_for_what_is_not_there_are_refused_in_a_call() {
    for entities in [
        json!({ "light.gone": "on" }),
        json!({ "no id": "on" }),
        json!({ "light.lamp": "on", "lock": "locked" }),
        json!([]),
        json!("light.lamp"),
        json!(null),
    ] {
        house().gives("scene.apply", json!({ "entities": entities }), "refuse bad_states");
    }
    house().gives("scene.apply", json!({}), "refuse bad_states");
    house().gives("scene.apply", json!({ "entities": { "light.lamp": "{{ x }}" } }), "bad_data");
    let hidden = house().policy(|policy| _ = policy.scope.exclude.insert("lock.front".to_owned()));
    hidden.gives("scene.apply", json!({ "entities": { "group.doors": "on" } }), "refuse bad_states");
    hidden.gives("scene.apply", json!({ "entities": { "group.lamps": "on" } }), "allow");
}

#[test]
fn a_stored_scene_is_judged_by_its_states() {
    for (entities, expected) in [
        (json!({}), "ask opaque_body"),
        (json!({ "light.gone": "on" }), "allow"),
        (json!({ "no id": "on" }), "ask bad_states"),
        (json!({ "light.lamp": "{{ x }}" }), "allow"),
        (json!({ "lock.front": "{{ x }}" }), "ask opens"),
        (json!({ "person.bob": "{{ x }}" }), "allow"),
        (json!({ "light.lamp": "on", "lock.front": "locked" }), "allow"),
        (json!({ "light.lamp": "on", "lock.front": "unlocked" }), "ask opens"),
    ] {
        house().scene("s", entities).gives("scene.turn_on", on("scene.s"), expected);
    }
    for config in [json!({}), json!({ "entities": [] }), json!({ "entities": null })] {
        let small = house().scene("s", json!({})).set("/bodies/scenes/scene.s", json!({ "config": config }));
        small.gives("scene.turn_on", on("scene.s"), "ask opaque_body");
    }
}

/// A scene whose states nobody can read, of this integration, with these members.
fn unreadable(platform: &str, members: &[&str]) -> Small {
    let mut small = house()
        .with("timer.lock", "active", json!({}))
        .automation(
            "autolock",
            json!([{ "trigger": "state", "entity_id": "timer.lock" }]),
            json!([{ "action": "lock.lock", "target": { "entity_id": "lock.front" } }]),
        )
        .with("switch.door", "off", json!({}))
        .with("scene.cloud", "unknown", json!({ "entity_id": members }))
        .info("scene.cloud", "platform", json!(platform));
    for relay in ["input_datetime", "select", "number", "text", "remote", "button", "input_button"] {
        small = small.with(&format!("{relay}.door"), "x", json!({}));
    }
    small
}

#[test]
fn a_scene_that_cannot_be_read_is_as_harmless_as_its_members() {
    for (member, expected) in [
        ("light.lamp", "allow"),
        ("switch.pump", "allow"),
        ("fan.ceiling", "allow"),
        ("media_player.tv", "allow"),
        ("climate.hall", "allow"),
        ("input_select.mode", "allow"),
        ("cover.blind", "allow"),
        ("timer.kitchen", "allow"),
        ("script.lamps", "allow"),
        ("lock.front", "ask opens unreadable_scene"),
        ("cover.garage", "ask opens unreadable_scene"),
        ("valve.v", "ask unreadable_scene valve"),
        ("alarm_control_panel.house", "ask disarms unreadable_scene"),
        ("siren.s", "ask harm unreadable_scene"),
        ("lawn_mower.m", "ask harm unreadable_scene"),
        ("water_heater.tank", "ask harm unreadable_scene"),
        ("automation.locks", "ask stops unreadable_scene"),
        ("automation.opens", "ask opens unreadable_scene"),
        ("script.doors", "ask opens unreadable_scene"),
        ("timer.lock", "ask stops unreadable_scene"),
        ("switch.door", "ask named unreadable_scene"),
        ("input_datetime.door", "ask named unreadable_scene"),
        ("select.door", "ask named unreadable_scene"),
        ("number.door", "ask named unreadable_scene"),
        ("text.door", "ask named unreadable_scene"),
        ("remote.door", "ask named unreadable_scene"),
        ("button.door", "ask named unreadable_scene"),
        ("input_button.door", "ask named unreadable_scene"),
        ("person.bob", "ask unreadable_scene"),
        ("alert.leak", "ask unreadable_scene"),
    ] {
        unreadable("tuya", &[member]).gives("scene.turn_on", on("scene.cloud"), expected);
        unreadable("tuya", &["light.lamp", member]).gives("scene.turn_on", on("scene.cloud"), expected);
        // A bridge for lamps reaches nothing else.
        unreadable("hue", &[member]).gives("scene.turn_on", on("scene.cloud"), "allow");
    }
    unreadable("tuya", &[]).gives("scene.turn_on", on("scene.cloud"), "ask unreadable_scene");
    unreadable("deconz", &[]).gives("scene.turn_on", on("scene.cloud"), "allow");
    let told =
        unreadable("tuya", &["light.lamp"]).set("/bodies/scenes/scene.cloud", json!({ "unreadable": "not_found" }));
    told.gives("scene.turn_on", on("scene.cloud"), "allow");
}
