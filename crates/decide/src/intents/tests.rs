//! Replies as both releases give them, and the calls they become. Start at [`check`].

use serde_json::{Value, json};

use super::understood;
use crate::commands::tests::{FAMILY, shown};

fn reply(intent: &str, slots: Value, targets: &[&str]) -> Value {
    let details: serde_json::Map<String, Value> = (slots.as_object().into_iter().flatten())
        .map(|(key, value)| (key.clone(), json!({"name": key, "value": value, "text": value.to_string()})))
        .collect();
    let targets: serde_json::Map<String, Value> =
        targets.iter().map(|id| ((*id).to_owned(), json!({"matched": true}))).collect();
    json!({
        "intent": {"name": intent}, "slots": slots, "details": details, "targets": targets, "match": true,
        "sentence_template": "…", "unmatched_slots": {}, "source": "builtin"
    })
}

#[track_caller]
fn check(intent: &str, slots: Value, targets: &[&str], expected: &str) {
    let got = understood(&FAMILY, &reply(intent, slots.clone(), targets), "");
    assert_eq!(shown(got.as_ref()), expected, "{intent} {slots} {targets:?}");
}

#[test]
fn turning_means_what_it_does_to_the_thing() {
    check("HassTurnOn", json!({"name": "desk lamp"}), &["light.desk_lamp"], "light.turn_on light.desk_lamp");
    check("HassTurnOff", json!({"name": "back door"}), &["lock.back_door"], "lock.unlock lock.back_door");
    check("HassTurnOff", json!({"name": "back door"}), &[], "lock.unlock lock.back_door");
    check("HassTurnOn", json!({"name": "后门"}), &[], "lock.lock lock.back_door");
    check(
        "HassTurnOn",
        json!({"name": "bedroom blinds"}),
        &["cover.bedroom_blinds"],
        "cover.open_cover cover.bedroom_blinds",
    );
    check("HassTurnOff", json!({"name": "总水阀"}), &[], "valve.close_valve valve.water_main");
    check("HassTurnOn", json!({"name": "Feed the cat"}), &[], "button.press button.feed_cat");
    check("HassTurnOn", json!({"name": "早安"}), &["scene.zao_an"], "scene.turn_on scene.zao_an");
    check("HassTurnOn", json!({"name": "robot vacuum"}), &[], "vacuum.start vacuum.robot");
    check("HassTurnOff", json!({"name": "robot vacuum"}), &[], "vacuum.return_to_base vacuum.robot");
    check("HassToggle", json!({"name": "desk lamp"}), &[], "light.toggle light.desk_lamp");
}

#[test]
fn a_lock_among_other_things_is_not_turned() {
    check("HassTurnOff", json!({"area": "Entrance"}), &["lock.back_door", "light.porch"], "nothing");
    check(
        "HassTurnOff",
        json!({"area": "Bathroom", "domain": "light"}),
        &[],
        "light.turn_off light.bathroom light.mirror",
    );
}

#[test]
fn values_become_data() {
    check(
        "HassLightSet",
        json!({"name": "bedside lamp", "brightness": 30}),
        &[],
        "light.turn_on light.bedside_lamp {\"brightness_pct\":30}",
    );
    check(
        "HassLightSet",
        json!({"name": "mood light", "color": "red"}),
        &[],
        "light.turn_on light.living_room_strip {\"color_name\":\"red\"}",
    );
    check(
        "HassLightSet",
        json!({"name": "desk lamp", "temperature": 3000}),
        &[],
        "light.turn_on light.desk_lamp {\"color_temp_kelvin\":3000}",
    );
    check(
        "HassSetPosition",
        json!({"name": "living room curtain", "position": 40.0}),
        &[],
        "cover.set_cover_position cover.living_room_curtain {\"position\":40}",
    );
    check(
        "HassClimateSetTemperature",
        json!({"name": "主卧空调", "temperature": "22"}),
        &[],
        "climate.set_temperature climate.bedroom_ac {\"temperature\":22}",
    );
    check(
        "HassSetVolume",
        json!({"name": "kitchen speaker", "volume_level": 30}),
        &[],
        "media_player.volume_set media_player.kitchen_speaker {\"volume_level\":0.3}",
    );
    check(
        "HassFanSetSpeed",
        json!({"name": "bedroom fan", "percentage": 50}),
        &[],
        "fan.set_percentage fan.bedroom_fan {\"percentage\":50}",
    );
    check(
        "HassHumidifierSetpoint",
        json!({"name": "bedroom humidifier", "humidity": 55}),
        &[],
        "humidifier.set_humidity humidifier.bedroom {\"humidity\":55}",
    );
    check("HassVacuumReturnToBase", json!({"name": "robot vacuum"}), &[], "vacuum.return_to_base vacuum.robot");
    check(
        "HassMediaPause",
        json!({"name": "kitchen speaker"}),
        &[],
        "media_player.media_pause media_player.kitchen_speaker",
    );
    check("HassShoppingListAddItem", json!({"item": "milk "}), &[], "todo.add_item todo.shopping {\"item\":\"milk\"}");
    check(
        "HassListAddItem",
        json!({"item": "浇花", "name": "家务"}),
        &[],
        "todo.add_item todo.chores {\"item\":\"浇花\"}",
    );
}

#[test]
fn questions_stay_questions() {
    check("HassGetState", json!({"name": "back door", "state": "locked"}), &[], "ask Is(Locked): lock.back_door");
    check(
        "HassGetState",
        json!({"name": "outside temperature"}),
        &["sensor.outside_temperature"],
        "ask State: sensor.outside_temperature",
    );
    check(
        "HassClimateGetTemperature",
        json!({"area": "Bathroom"}),
        &["climate.floor_heating"],
        "ask Measure(Temperature): climate.floor_heating",
    );
}

#[test]
fn what_fits_several_is_given_back() {
    check(
        "HassMediaPause",
        json!({}),
        &[],
        "which media_player.bedroom_speaker media_player.kitchen_speaker media_player.living_room_tv",
    );
}

#[test]
fn what_is_not_wholly_known_is_nothing() {
    check("HassStartTimer", json!({"minutes": 5}), &[], "nothing");
    check("HassBroadcast", json!({"message": "dinner"}), &[], "nothing");
    check("HassTurnOn", json!({"name": "desk lamp", "moon": "full"}), &[], "nothing");
    check("HassTurnOn", json!({"name": "flux capacitor"}), &[], "nothing");
    check("HassTurnOn", json!({"name": "desk lamp"}), &["light.not_in_this_house"], "nothing");
    check("HassTurnOn", json!({"area": "Atlantis", "domain": "light"}), &[], "nothing");
    check("HassTurnOn", json!({}), &[], "nothing");
    let mut partial = reply("HassTurnOn", json!({"name": "desk lamp"}), &["light.desk_lamp"]);
    partial["match"] = json!(false);
    assert_eq!(understood(&FAMILY, &partial, ""), None);
    let mut unmatched = reply("HassTurnOn", json!({"name": "desk lamp"}), &["light.desk_lamp"]);
    unmatched["unmatched_slots"] = json!({"name": "the other lamp"});
    assert_eq!(understood(&FAMILY, &unmatched, ""), None);
    assert_eq!(understood(&FAMILY, &Value::Null, ""), None);
    assert_eq!(understood(&FAMILY, &json!({"results": [null]}), ""), None);
}

#[test]
fn a_question_mark_makes_no_wish() {
    let reply = reply("HassTurnOn", json!({"name": "desk lamp"}), &["light.desk_lamp"]);
    assert_eq!(understood(&FAMILY, &reply, "desk lamp on?"), None);
    assert!(understood(&FAMILY, &reply, "could you turn on the desk lamp?").is_some());
}
