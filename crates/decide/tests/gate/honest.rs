//! Honest requests that cannot open the house: none is refused or asked. A test's name is what holds.

use super::small::{Small, id, on, unlock};
use decide::gate::{Grant, ServiceRule, Verdict};
use serde_json::{Value, json};

fn area(mut small: Small, entities: &[&str]) -> Small {
    small.json["areas"]["kitchen"] = json!({ "name": "Kitchen", "floor_id": null });
    for entity in entities {
        small = small.info(entity, "area_id", json!("kitchen"));
    }
    small
}

#[test]
fn a_macro_with_an_opaque_step_asks_and_is_never_refused() {
    for step in [
        json!({ "action": "mqtt.publish", "data": { "topic": "x", "payload": "y" } }),
        json!({ "action": "shell_command.backup" }),
        json!({ "action": "glow.apply", "target": { "entity_id": "switch.pump" } }),
        json!({ "action": "media_player.play_media", "target": { "entity_id": "media_player.tv" },
            "data": { "media_content_id": "http://192.168.1.5/chime.mp3", "media_content_type": "music" } }),
        json!({ "action": "scene.apply", "data": { "entities": { "light.gone": "on" } } }),
        json!({ "action": "conversation.process", "data": { "text": "x" } }),
    ] {
        let small = Small::new().script("honest", json!([step]));
        small.asks("script.honest", json!({}));
        let granted = small.policy(|policy| _ = policy.grants.insert(id("script.honest"), Grant::default()));
        granted.allows("script.honest", json!({}));
    }
}

#[test]
fn a_household_s_own_notifications_and_log_lines_are_harmless() {
    for step in [
        json!({ "action": "notify.mobile_app_phone", "data": { "message": "{{ now() }}", "data": { "tag": "laundry" } } }),
        json!({ "action": "notify.phone", "data": { "message": "Done", "data": { "actions": [{ "action": "A", "title": "x" }] } } }),
        json!({ "action": "persistent_notification.create", "data": { "message": "x", "notification_id": "laundry" } }),
        json!({ "action": "persistent_notification.dismiss", "data": { "notification_id": "laundry" } }),
        json!({ "action": "logbook.log", "data": { "name": "x", "message": "y" } }),
        json!({ "action": "system_log.write", "data": { "message": "y" } }),
        json!({ "action": "homeassistant.update_entity", "target": { "entity_id": "light.lamp" } }),
        json!({ "device_id": "d", "domain": "mobile_app", "type": "notify", "message": "x", "title": "y" }),
        json!({ "and": [{ "condition": "state", "entity_id": "light.lamp", "state": "on" }] }),
        json!({ "or": ["{{ true }}"] }),
        json!({ "not": ["{{ false }}"] }),
        json!("{{ is_state('light.lamp', 'on') }}"),
    ] {
        let small = Small::new().script("honest", json!([step.clone()]));
        small.allows("script.honest", json!({}));
        let triggers = json!([{ "trigger": "state", "entity_id": "light.lamp" }]);
        Small::new().automation("tells", triggers, json!([step])).allows("light.turn_on", on("light.lamp"));
    }
    // Values of a caller's could cover somebody's question.
    let step = json!({ "action": "notify.phone", "data": { "message": "x", "data": { "tag": "{{ tag }}" } } });
    let small = Small::new().script("honest", json!([step]));
    small.allows("script.honest", json!({}));
    small.asks("script.honest", json!({ "tag": "menshen" }));
}

#[test]
fn a_household_s_template_is_trusted_where_the_caller_gives_no_values() {
    let heat = json!({ "action": "climate.set_temperature", "target": { "entity_id": "climate.hall" },
        "data": { "temperature": "{{ states('sensor.wanted') }}" } });
    let small = Small::new().with("climate.hall", "heat", json!({})).script("warm", json!([heat]));
    small.allows("script.warm", json!({}));
    small.allows("script.turn_on", on("script.warm"));
    small.asks("script.warm", json!({ "temperature": 80 }));
}

#[test]
fn reading_and_speaking_go_to_the_entities_that_were_named() {
    let small = Small::new();
    let sends = |name: &str, data: Value| {
        let decision = small.decision(name, data);
        assert_eq!(decision.verdict, Verdict::Allow, "{name}: {:?}", decision.reasons);
        decision.plan.sends.into_iter().flat_map(|send| send.entities).collect::<Vec<_>>()
    };
    assert_eq!(sends("homeassistant.update_entity", on("light.lamp")), [id("light.lamp")]);
    assert_eq!(sends("homeassistant.update_entity", on("lock.front")), [id("lock.front")]);
    let say = json!({ "entity_id": "media_player.tv", "message": "Dinner" });
    assert_eq!(sends("tts.google_translate_say", say), [id("media_player.tv")]);
}

#[test]
fn a_disabled_lamp_in_a_room_is_left_alone() {
    let small = area(Small::new(), &["light.lamp", "light.desk"])
        .info("light.desk", "disabled", json!(true))
        .set("/entities/light.desk/state", json!(null));
    let decision = small.decision("light.turn_on", json!({ "area_id": "kitchen" }));
    assert_eq!(decision.verdict, Verdict::Allow);
    assert_eq!(decision.plan.sends[0].entities, [id("light.lamp")]);
}

#[test]
fn a_purpose_trigger_guards_what_it_can_watch_and_no_more() {
    let trigger = |kind: &str| json!([{ "trigger": kind, "target": { "area_id": "kitchen" } }]);
    let small = |kind: &str| {
        let all = ["light.lamp", "switch.pump", "input_boolean.guests", "cover.blind", "fan.ceiling"];
        area(Small::new(), &all).opener(trigger(kind))
    };
    small("light.turned_on").asks("light.turn_on", on("light.lamp")).allows("fan.turn_on", on("fan.ceiling"));
    small("switch.turned_on")
        .asks("switch.turn_on", on("switch.pump"))
        .asks("input_boolean.turn_on", on("input_boolean.guests"))
        .allows("light.turn_on", on("light.lamp"));
    small("window.opened").asks("cover.open_cover", on("cover.blind"));
    small("somebody.new").asks("light.turn_on", on("light.lamp")).asks("fan.turn_on", on("fan.ceiling"));
    for kind in ["motion.detected", "occupancy.detected", "battery.low", "door.opened"] {
        small(kind).allows("light.turn_on", on("light.lamp")).allows("fan.turn_on", on("fan.ceiling"));
    }
}

#[test]
fn a_media_choice_from_the_house_s_own_picker_is_harmless() {
    let media = json!({ "media_content_id": "media-source://media_source/local/x.mp3", "media_content_type": "audio/mpeg",
        "metadata": { "title": "x", "thumbnail": null, "media_class": "music", "navigateIds": [{}] } });
    let step = json!({ "action": "media_player.play_media", "target": { "entity_id": "media_player.tv" }, "data": { "media": media } });
    let small = Small::new().script("music", json!([step]));
    small.allows("script.music", json!({}));
    small.allows("media_player.play_media", json!({ "entity_id": "media_player.tv", "media": media }));
}

#[test]
fn a_bedtime_that_locks_closes_and_arms_runs() {
    let steps = json!([
        { "action": "light.turn_off", "target": { "entity_id": "all" } },
        { "action": "lock.lock", "target": { "entity_id": "lock.front" } },
        { "action": "cover.close_cover", "target": { "entity_id": "cover.garage" } },
        { "action": "alarm_control_panel.alarm_arm_night", "target": { "entity_id": "alarm_control_panel.house" } },
        { "if": [{ "condition": "sun", "after": "sunset" }], "then": [{ "action": "fan.turn_off", "target": { "entity_id": "fan.ceiling" } }] },
        { "repeat": { "for_each": ["a"], "sequence": [{ "delay": "00:00:{{ 5 }}" }] } },
        { "parallel": [{ "sequence": [{ "stop": "done" }] }] },
    ]);
    let small = Small::new().set("/entities/alarm_control_panel.house/state/value", json!("disarmed"));
    small.clone().script("bedtime", steps).allows("script.bedtime", json!({}));
    let states = json!({ "lock.front": "locked", "cover.garage": "closed", "alarm_control_panel.house": "armed_night", "light.lamp": "off" });
    small.scene("bedtime", states).allows("scene.turn_on", on("scene.bedtime"));
}

#[test]
fn an_opener_does_not_guard_what_cannot_fire_it() {
    let small = Small::new().opener(json!([
        { "trigger": "state", "entity_id": "input_boolean.guests", "to": "on", "from": "off" },
        { "trigger": "numeric_state", "entity_id": "input_number.level", "above": 50 },
        { "trigger": "state", "entity_id": "input_select.mode", "to": "Away" },
        { "trigger": "time", "at": "07:00:00" },
    ]));
    small.allows("input_boolean.turn_off", on("input_boolean.guests"));
    small.allows("input_number.set_value", json!({ "entity_id": "input_number.level", "value": 30 }));
    small.allows("input_select.select_option", json!({ "entity_id": "input_select.mode", "option": "Home" }));
    small.allows("light.toggle", on("light.lamp"));
    small.asks("input_boolean.turn_on", on("input_boolean.guests"));
}

#[test]
fn the_operator_s_listed_service_runs_in_a_macro_too() {
    let step = json!({ "action": "mqtt.publish", "data": { "topic": "x" } });
    let small = Small::new().script("honest", json!([step])).policy(|policy| {
        let rule = ServiceRule { verdict: Verdict::Allow, data: Vec::new() };
        policy.services.insert("mqtt.publish".into(), rule);
    });
    small.allows("script.honest", json!({}));
    small.script("both", json!([{ "action": "script.honest" }, unlock()])).asks("script.both", json!({}));
}

#[test]
fn a_device_condition_in_a_macro_is_no_action() {
    let condition = json!({ "condition": "device", "device_id": "d", "domain": "light", "type": "is_on", "entity_id": "light.lamp" });
    let step = json!({ "action": "light.turn_off", "target": { "entity_id": "light.lamp" } });
    Small::new().script("honest", json!([condition, step])).allows("script.honest", json!({}));
}

#[test]
fn a_timer_that_opens_when_it_ends_may_be_cancelled_and_not_started() {
    let triggers = json!([{ "trigger": "event", "event_type": "timer.finished" }]);
    let small = Small::new().automation("opens", triggers, json!([unlock()]));
    let timer = json!({ "entity_id": "timer.kitchen" });
    small.allows("timer.cancel", timer.clone());
    small.allows("timer.pause", timer.clone());
    for service in ["timer.start", "timer.finish", "timer.change"] {
        small.asks(service, timer.clone());
    }
}

#[test]
fn stopping_what_only_opens_leaves_nothing_undone() {
    let locks = json!([{ "action": "lock.lock", "target": { "entity_id": "lock.front" } }]);
    let relock = json!([{ "trigger": "state", "entity_id": "lock.front", "to": "unlocked" }]);
    let small = Small::new()
        .automation("opens", json!([{ "trigger": "time", "at": "08:00:00" }]), json!([unlock()]))
        .automation("relocks", relock, locks);
    small.allows("automation.turn_off", json!({ "entity_id": "automation.opens" }));
    small.asks("automation.turn_off", json!({ "entity_id": "automation.relocks" }));
}

#[test]
fn what_gets_hot_asks_and_may_be_switched_off() {
    let small = Small::new().with("switch.oven", "on", json!({})).with("switch.kettle", "off", json!({}));
    small.asks("switch.turn_on", json!({ "entity_id": "switch.oven" }));
    small.allows("switch.turn_off", json!({ "entity_id": "switch.oven" }));
    small.allows("switch.turn_on", json!({ "entity_id": "switch.kettle" }));
}
