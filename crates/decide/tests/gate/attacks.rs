// long: one table of roads, each with its test
//! Roads by which a call could open the house, each closed. A test's name is what holds.
// Some of these tests are about how long the gate takes.

use super::small::{Small, id, on, unlock};
use decide::gate::{Grant, Guard, ServiceRule, Verdict};
use serde_json::{Value, json};

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

// ---- following to the end, and ending

#[test]
fn automations_that_stop_each_other_are_judged_in_a_moment() {
    let names: Vec<String> = (0..40).map(|n| format!("automation.a{n}")).collect();
    let mut small = Small::new();
    for n in 0..40 {
        let stop = json!({ "action": "automation.turn_off", "target": { "entity_id": names } });
        small = small.automation(&format!("a{n}"), json!([]), json!([stop]));
    }
    let start = std::time::Instant::now();
    small.allows("automation.turn_off", on("automation.a0"));

    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

#[test]
fn groups_that_hold_each_other_are_expanded_in_a_moment() {
    let mut small = Small::new();
    let groups: Vec<String> = (0..30).map(|n| format!("group.g{n}")).collect();
    for group in &groups {
        let mut members = groups.clone();
        members.push("lock.front".into());
        small = small.with(group, "on", json!({ "entity_id": members }));
    }
    let start = std::time::Instant::now();
    small.asks("lock.unlock", on("group.g0"));
    small.allows("lock.lock", on("group.g0"));
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

#[test]
fn a_chain_of_macros_longer_than_can_be_followed_asks() {
    let mut small = Small::new().script("s0", json!([{ "delay": 1 }]));
    for n in 1..4000 {
        small = small.script(&format!("s{n}"), json!([{ "action": format!("script.s{}", n - 1) }]));
    }
    small.asks("script.s3999", json!({}));
    small.allows("script.s5", json!({}));
}

#[test]
fn a_second_path_to_the_same_macro_is_not_hidden() {
    let small = Small::new()
        .script("inner", json!([unlock()]))
        .script("a_granted", json!([{ "action": "script.inner" }]))
        .script("b_other", json!([{ "action": "script.inner" }]))
        .policy(|policy| _ = policy.grants.insert(id("script.a_granted"), Grant::default()));
    small.allows("script.turn_on", on("script.a_granted"));
    small.asks("script.turn_on", on("script.b_other"));
    small.asks("script.turn_on", on("script.a_granted, script.b_other"));
}

#[test]
fn a_granted_macro_that_takes_values_from_the_caller_asks() {
    let open = json!({ "action": "lock.unlock", "target": { "entity_id": "{{ door }}" } });
    let small = Small::new()
        .script("welcome", json!([open]))
        .policy(|policy| _ = policy.grants.insert(id("script.welcome"), Grant::default()));
    small.allows("script.turn_on", on("script.welcome"));
    small.asks("script.welcome", json!({ "door": "lock.back" }));
    small.asks("script.turn_on", json!({ "entity_id": "script.welcome", "variables": { "door": "lock.back" } }));
}

// ---- what a move sets off

#[test]
fn an_automation_that_follows_another_is_seen() {
    let quiet = json!([{ "action": "light.turn_on", "target": { "entity_id": "light.desk" } }]);
    for trigger in [
        json!([{ "trigger": "event", "event_type": "automation_triggered" }]),
        json!([{ "trigger": "event", "event_type": "automation_triggered", "event_data": { "entity_id": "automation.first" } }]),
        json!([{ "trigger": "state", "entity_id": "automation.first", "attribute": "last_triggered" }]),
        json!([{ "trigger": "state", "entity_id": "automation.first" }]),
        json!([{ "trigger": "template", "value_template": "{{ state_attr('automation.first', 'current') > 0 }}" }]),
    ] {
        let first = state("light.lamp", json!({}));
        let small = Small::new().automation("first", first, quiet.clone()).opener(trigger);
        small.asks("automation.trigger", on("automation.first"));
        small.asks("light.turn_on", on("light.lamp"));
        small.allows("light.turn_on", on("light.desk"));
    }
}

#[test]
fn what_a_waiting_macro_waits_for_sets_off_the_rest() {
    let helper = "input_boolean.guests";
    for wait in [
        json!({ "wait_for_trigger": [{ "trigger": "state", "entity_id": helper, "to": "on" }] }),
        json!({ "wait_template": "{{ is_state('input_boolean.guests', 'on') }}" }),
        json!({ "repeat": { "until": [{ "condition": "state", "entity_id": helper, "state": "on" }], "sequence": [{ "delay": 1 }] } }),
        json!({ "if": [], "then": [{ "wait_for_trigger": { "platform": "state", "entity_id": [helper] } }] }),
    ] {
        let sequence = json!([wait, unlock()]);
        Small::new().script("let_in", sequence.clone()).asks("input_boolean.turn_on", on(helper));
        let bell = json!([{ "trigger": "event", "event_type": "bell" }]);
        Small::new().automation("let_in", bell, sequence).asks("input_boolean.turn_on", on(helper));
    }
}

#[test]
fn enabling_an_automation_that_opens_asks() {
    let small = Small::new().opener(json!([{ "trigger": "time", "at": "07:00:00" }])).automation(
        "lamps",
        json!([]),
        json!([{ "action": "light.turn_off", "target": { "entity_id": "all" } }]),
    );
    small.allows("automation.turn_on", on("automation.opener"));
    let small = small.set("/entities/automation.opener/state/value", json!("off"));
    small.asks("automation.turn_on", on("automation.opener"));
    small.asks("automation.toggle", on("automation.opener"));
    small.asks("scene.apply", json!({ "entities": { "automation.opener": "on" } }));
    small.asks("homeassistant.turn_on", on("automation.opener"));
    small.allows("automation.turn_on", on("automation.lamps"));
}

#[test]
fn a_notification_that_an_automation_waits_for_sets_it_off() {
    let small = Small::new().opener(json!([{ "trigger": "persistent_notification", "update_type": ["added"] }]));
    small.asks("persistent_notification.create", json!({ "message": "hello" }));
    small.asks("notify.persistent_notification", json!({ "message": "hello" }));
    small.allows("notify.phone", json!({ "message": "hello" }));
}

#[test]
fn speakers_voices_and_messengers_that_an_automation_watches_set_it_off() {
    let watched = json!([{ "trigger": "state", "entity_id": ["tts.voice", "assist_satellite.hall", "notify.phone"] }]);
    let small = Small::new()
        .with("tts.voice", "unknown", json!({}))
        .with("assist_satellite.hall", "idle", json!({}))
        .with("notify.phone", "unknown", json!({}));
    let calls = [
        ("tts.speak", json!({ "entity_id": "tts.voice", "message": "x", "media_player_entity_id": "media_player.tv" })),
        ("assist_satellite.announce", json!({ "entity_id": "assist_satellite.hall", "message": "x" })),
        ("notify.send_message", json!({ "entity_id": "notify.phone", "message": "x" })),
    ];
    for (name, data) in &calls {
        small.allows(name, data.clone());
        small.clone().opener(watched.clone()).asks(name, data.clone());
    }
}

#[test]
fn an_unsubstituted_blueprint_guards_what_it_names() {
    let mut small = Small::new().opener(json!([]));
    small.json["bodies"]["automations"]["automation.opener"] = json!({ "config": {
        "use_blueprint": { "path": "x/y.yaml", "input": { "helper": "input_boolean.guests" } }
    } });
    small.asks("input_boolean.turn_on", on("input_boolean.guests"));
}

// ---- relations

#[test]
fn the_source_of_anything_that_opens_asks_through_groups_too() {
    for wrapper in ["lock.x", "cover.x", "valve.x", "siren.x"] {
        let small = Small::new().with(wrapper, "off", json!({})).info(wrapper, "wraps", json!(["switch.pump"]));
        small.asks("switch.turn_on", on("switch.pump"));
        let small = Small::new()
            .with("switch.both", "off", json!({ "entity_id": ["switch.pump", "switch.other"] }))
            .with("switch.other", "off", json!({}))
            .info("switch.both", "platform", json!("group"))
            .with(wrapper, "off", json!({}))
            .info(wrapper, "wraps", json!(["switch.both"]));
        small.asks("switch.turn_on", on("switch.pump"));
        small.asks("switch.turn_on", on("switch.both"));
    }
    let lamp = Small::new().with("light.x", "off", json!({})).info("light.x", "wraps", json!(["switch.pump"]));
    lamp.allows("switch.turn_on", on("switch.pump"));
}

#[test]
fn moving_what_stands_before_a_relay_moves_the_relay() {
    let trigger = state("switch.pump", json!({}));
    let small = Small::new()
        .with("lock.x", "unlocked", json!({}))
        .info("lock.x", "wraps", json!(["switch.pump"]))
        .with("cover.soft", "open", json!({ "device_class": "blind" }))
        .info("cover.soft", "wraps", json!(["switch.pump"]));
    small.allows("lock.lock", on("lock.x"));
    let small = small.opener(trigger);
    small.asks("lock.lock", on("lock.x"));
    small.asks("cover.close_cover", on("cover.soft"));
}

#[test]
fn a_soft_cover_in_front_of_a_guarded_relay_asks() {
    let small = Small::new()
        .with("cover.soft", "open", json!({ "device_class": "blind" }))
        .info("cover.soft", "wraps", json!(["switch.pump"]))
        .policy(|policy| _ = policy.guard.insert(id("switch.pump"), Guard::Opens));
    small.asks("cover.open_cover", on("cover.soft"));
    let hub = Small::new()
        .with("cover.soft", "open", json!({ "device_class": "blind", "entity_id": ["cover.garage"] }))
        .info("cover.soft", "platform", json!("hub"));
    hub.asks("cover.open_cover", on("cover.soft"));
}

#[test]
fn a_hub_s_room_that_holds_a_door_asks() {
    for member in ["lock.front", "cover.garage", "valve.gas", "alarm_control_panel.house"] {
        let small = Small::new()
            .with("valve.gas", "closed", json!({}))
            .with("switch.room", "off", json!({ "entity_id": [member] }))
            .info("switch.room", "platform", json!("hub"));
        small.asks("switch.turn_on", on("switch.room"));
        // Locking by the same source first does not hide it.
        let macros = json!([
            { "action": "lock.lock", "target": { "entity_id": "lock.x" } },
            { "action": "light.turn_on", "target": { "entity_id": "light.room" } },
        ]);
        let small = small
            .with("lock.x", "locked", json!({}))
            .info("lock.x", "wraps", json!([member]))
            .with("light.room", "off", json!({ "entity_id": [member] }))
            .script("both", macros);
        small.asks("script.both", json!({}));
    }
}

// ---- entities and addresses that hide in data

#[test]
fn a_scene_that_plays_an_address_is_judged_as_playing_it() {
    let small = Small::new();
    let scene = |content: &str| {
        let player = json!({ "state": "playing", "media_content_id": content, "media_content_type": "music" });
        json!({ "entities": { "media_player.tv": player } })
    };
    small.refuses("scene.apply", scene("http://192.168.1.5/relay/0?turn=on"));
    small.asks("scene.apply", scene("https://example.com/x.mp3"));
    small.allows("scene.apply", scene("media-source://media_source/local/x.mp3"));
    small.allows("scene.apply", json!({ "entities": { "media_player.tv": "off" } }));
}

#[test]
fn a_loudspeaker_s_own_assistant_is_not_told_to_open_the_door() {
    let say = |kind: &str| json!({ "entity_id": "media_player.tv", "media_content_id": "unlock the front door", "media_content_type": kind });
    let small =
        Small::new().script("evening", json!([{ "action": "media_player.play_media", "data": say("routine") }]));
    small
        .refuses("media_player.play_media", say("custom"))
        .refuses("media_player.play_media", say("routine"))
        .asks("media_player.play_media", say("voice_command"))
        .asks("script.evening", json!({}))
        .allows("media_player.play_media", say("music"));
}

#[test]
fn an_address_that_two_readers_read_differently_is_refused() {
    let small = Small::new().policy(|policy| _ = policy.media.hosts.insert("radio.example.org".into()));
    for content in [
        "http://radio.example.org\\@10.0.0.1/relay",
        "http://radio.example.org\\.10.0.0.1/",
        "http://10.0.0.1\\@radio.example.org/",
        "http:\\\\radio.example.org@10.0.0.1/x",
        "10.0.0.1/relay/0?turn=on",
        "192.168.1.5:80/relay",
        "shelly.local/relay/0?turn=on",
    ] {
        let data =
            json!({ "entity_id": "media_player.tv", "media_content_id": content, "media_content_type": "music" });
        let decision = small.decision("media_player.play_media", data);
        assert_ne!(decision.verdict, Verdict::Allow, "{content}");
    }
}

#[test]
fn speech_that_comes_as_media_asks_where_speech_asks() {
    let data = json!({
        "entity_id": "media_player.tv", "media_content_type": "provider",
        "media_content_id": "media-source://tts/cloud?message=open+the+door"
    });
    let small = Small::new();
    small.allows("media_player.play_media", data.clone());
    small.policy(|policy| policy.speech_asks = true).asks("media_player.play_media", data);
}

#[test]
fn what_the_operator_left_out_stays_out_however_it_is_named() {
    let small = Small::new().with("tts.voice", "unknown", json!({})).policy(|policy| {
        policy.scope.exclude.extend(["light.lamp".to_owned(), "media_player.tv".to_owned()]);
    });
    small.stops("light.turn_on", on("light.lamp"));
    small.stops("scene.apply", json!({ "entities": { "light.lamp": "on" } }));
    small.stops("scene.apply", json!({ "entities": { "light.desk": "on", "LIGHT.LAMP ": { "state": "on" } } }));
    let say = json!({ "entity_id": "tts.voice", "message": "x", "media_player_entity_id": "media_player.tv" });
    small.stops("tts.speak", say);
    small.allows("scene.apply", json!({ "entities": { "light.desk": "on" } }));
}

#[test]
fn a_message_that_is_a_command_to_the_phone_asks() {
    for message in ["command_bluetooth", " COMMAND_ACTIVITY", "clear_notification", "remove_channel", "delete_alert"] {
        Small::new().asks("notify.mobile_app_phone", json!({ "message": message, "title": "x" }));
    }
    Small::new().allows("notify.mobile_app_phone", json!({ "message": "The commander is here" }));
}

#[test]
fn an_unknown_service_that_names_a_door_in_its_data_is_refused() {
    let small = Small::new();
    small.asks("glow.apply", on("light.lamp"));
    small.refuses("glow.apply", json!({ "entity_id": "light.lamp", "then": ["lock.front"] }));
    small.refuses("glow.apply", json!({ "entity_id": "light.lamp", "call": { "COVER.garage": "open" } }));
    small.refuses("glow.apply", json!({ "entity_id": "light.lamp", "target": "light.desk, switch.pump" }));
}

#[test]
fn a_listed_command_holds_only_for_the_device_it_was_listed_for() {
    let rule = |data: Value| ServiceRule { verdict: Verdict::Allow, data: vec![data.as_object().cloned().unwrap()] };
    let tv = json!({ "entity_id": "remote.tv", "command": "power" });
    let small = Small::new().with("remote.tv", "on", json!({})).with("remote.garage", "on", json!({}));
    let small = small.policy(|policy| _ = policy.services.insert("remote.send_command".into(), rule(tv.clone())));
    small.allows("remote.send_command", tv.clone());
    small.allows("remote.send_command", json!({ "entity_id": ["Remote.TV"], "command": "power" }));
    small.refuses("remote.send_command", json!({ "entity_id": "remote.garage", "command": "power" }));
    small.refuses("remote.send_command", json!({ "entity_id": "remote.tv, remote.garage", "command": "power" }));
    small.refuses("remote.send_command", json!({ "entity_id": "remote.tv", "command": "open" }));
}

#[test]
fn a_script_is_found_by_the_name_that_calls_it_not_by_its_renamed_entity() {
    // Each was renamed to the other's name.
    let small = Small::new()
        .script("lamps", json!([unlock()]))
        .script("doors", json!([{ "action": "light.turn_on", "target": { "entity_id": "light.lamp" } }]))
        .info("script.lamps", "unique_id", json!("doors"))
        .info("script.doors", "unique_id", json!("lamps"));
    small.asks("script.doors", json!({}));
    small.allows("script.lamps", json!({}));
    small.asks("script.turn_on", on("script.lamps"));
    small.allows("script.turn_on", on("script.doors"));
    let small = small.script("outer", json!([{ "action": "script.doors" }]));
    small.asks("script.outer", json!({}));
    // Renamed away: the old entity name calls nothing.
    let small = Small::new().script("new", json!([unlock()])).info("script.new", "unique_id", json!("old"));
    small.asks("script.old", json!({}));
    small.stops("script.new", json!({}));
}

// ---- moves toward safety that are not

#[test]
fn a_door_that_is_under_way_is_not_sent_a_second_pulse_by_a_macro() {
    let close = json!({ "action": "cover.close_cover", "target": { "entity_id": "cover.garage" } });
    let mut small = Small::new()
        .script("close_up", json!([close]))
        .scene("night", json!({ "cover.garage": "closed" }))
        .set("/entities/cover.garage/state/value", json!("open"));
    small.allows("script.close_up", json!({}));
    small.allows("scene.turn_on", on("scene.night"));
    small.in_flight.closing.insert(id("cover.garage"));
    small.asks("script.close_up", json!({}));
    small.asks("scene.turn_on", on("scene.night"));
    small.asks("scene.apply", json!({ "entities": { "cover.garage": "closed" } }));
}

#[test]
fn stopping_what_arms_asks_whatever_the_alarm_does_now() {
    for now in ["disarmed", "armed_away", "armed_night", "unavailable", "triggered"] {
        for service in ["alarm_arm_night", "alarm_arm_away", "alarm_trigger"] {
            let arm = json!({ "action": format!("alarm_control_panel.{service}"), "target": { "entity_id": "alarm_control_panel.house" } });
            let small = Small::new()
                .automation("nightly", json!([{ "trigger": "time", "at": "23:00" }]), json!([arm]))
                .set("/entities/alarm_control_panel.house/state/value", json!(now));
            small.asks("automation.turn_off", on("automation.nightly"));
            small.asks("automation.toggle", on("automation.nightly"));
        }
    }
    let close = json!({ "action": "cover.close_cover", "target": { "entity_id": "cover.garage" } });
    let small = Small::new()
        .automation("nightly", json!([{ "trigger": "time", "at": "23:00" }]), json!([close]))
        .policy(|policy| _ = policy.pulse.insert(id("cover.garage")));
    small.asks("automation.turn_off", on("automation.nightly"));
}

#[test]
fn switching_off_what_lets_an_automation_lock_asks() {
    let lock = json!([{ "action": "lock.lock", "target": { "entity_id": "lock.front" } }]);
    let late = || json!([{ "trigger": "time", "at": "23:00" }]);
    let needs = |condition: Value, actions: &Value| {
        let small = Small::new().automation("nightly", late(), actions.clone());
        small.set("/bodies/automations/automation.nightly/config/conditions", condition)
    };
    let state = |state: &str| json!([{ "condition": "state", "entity_id": "input_boolean.guests", "state": state }]);
    let guests = || on("input_boolean.guests");
    needs(state("on"), &lock)
        .gives("input_boolean.turn_off", guests(), "ask stops")
        .gives("input_boolean.toggle", guests(), "ask stops")
        .gives("input_boolean.turn_on", guests(), "allow")
        .gives("scene.apply", json!({ "entities": { "input_boolean.guests": "off" } }), "ask stops")
        .gives("homeassistant.turn_off", guests(), "ask stops");
    needs(state("off"), &lock).gives("input_boolean.turn_on", guests(), "ask stops").gives(
        "input_boolean.turn_off",
        guests(),
        "allow",
    );
    // What it lets do is no lock: nothing is left undone.
    let lamp = json!([{ "action": "light.turn_on", "target": { "entity_id": "light.lamp" } }]);
    needs(state("on"), &lamp).gives("input_boolean.turn_off", guests(), "allow");
    needs(state("on"), &json!([unlock()])).gives("input_boolean.turn_off", guests(), "allow");
}

#[test]
fn moving_the_time_at_which_the_door_is_locked_asks() {
    let set = json!({ "entity_id": "input_datetime.late", "time": "05:00:00" });
    let at = |actions: Value| {
        let small = Small::new().with("input_datetime.late", "23:00:00", json!({}));
        small.automation("nightly", json!([{ "trigger": "time", "at": "input_datetime.late" }]), actions)
    };
    let lock = json!([{ "action": "lock.lock", "target": { "entity_id": "lock.front" } }]);
    at(lock).gives("input_datetime.set_datetime", set.clone(), "ask stops");
    let lamp = json!([{ "action": "light.turn_on", "target": { "entity_id": "light.lamp" } }]);
    at(lamp).gives("input_datetime.set_datetime", set, "allow");
}

#[test]
fn starting_a_running_timer_anew_puts_off_the_lock_that_follows() {
    let lock = json!([{ "action": "lock.lock", "target": { "entity_id": "lock.front" } }]);
    let finished =
        json!([{ "trigger": "event", "event_type": "timer.finished", "event_data": { "entity_id": "timer.kitchen" } }]);
    let small = Small::new().automation("autolock", finished, lock);
    small.allows("timer.start", on("timer.kitchen"));
    small.asks("timer.cancel", on("timer.kitchen"));
    let small = small.set("/entities/timer.kitchen/state/value", json!("active"));
    small.asks("timer.start", json!({ "entity_id": "timer.kitchen", "duration": 86400 }));
    small.allows("timer.finish", on("timer.kitchen"));
}

#[test]
fn a_timer_that_is_named_after_a_door_is_not_stopped_while_it_runs() {
    let timer = |name: &str, state: &str| Small::new().with(&format!("timer.{name}"), state, json!({}));
    for name in ["door_timer", "lock_up", "garage"] {
        let entity = format!("timer.{name}");
        for service in ["timer.cancel", "timer.pause", "timer.change"] {
            timer(name, "active").gives(service, on(&entity), "ask stops");
            timer(name, "idle").gives(service, on(&entity), "allow");
            let decided = timer(name, "active").policy(|policy| _ = policy.guard.insert(id(&entity), Guard::Harmless));
            decided.gives(service, on(&entity), "allow");
        }
        timer(name, "active").gives("timer.start", on(&entity), "allow");
        timer(name, "active").gives("timer.finish", on(&entity), "allow");
    }
    for name in ["kitchen", "tea"] {
        timer(name, "active").gives("timer.cancel", on(&format!("timer.{name}")), "allow");
    }
}

#[test]
fn a_siren_that_sounds_is_not_silenced_and_a_silent_one_stops_no_scene() {
    let siren = |state: &str| Small::new().with("siren.roof", state, json!({}));
    let off = json!([{ "action": "siren.turn_off", "target": { "entity_id": "siren.roof" } }]);
    for state in ["on", "unavailable", "unknown"] {
        siren(state).gives("siren.turn_off", on("siren.roof"), "ask blinds");
        siren(state).gives("homeassistant.turn_off", on("siren.roof"), "ask blinds");
        let scene = siren(state).scene("s", json!({ "siren.roof": "off" }));
        scene.gives("scene.turn_on", on("scene.s"), "ask blinds");
    }
    siren("off").gives("siren.turn_off", on("siren.roof"), "allow");
    siren("off").scene("s", json!({ "siren.roof": "off" })).gives("scene.turn_on", on("scene.s"), "allow");
    // A script may wait before it comes to it.
    siren("off").script("later", off.clone()).gives("script.turn_on", on("script.later"), "ask blinds");
    let watched = json!([{ "trigger": "state", "entity_id": "light.lamp" }]);
    siren("off").automation("quiet", watched, off).gives("light.turn_on", on("light.lamp"), "ask blinds");
    let granted = siren("on").policy(|policy| _ = policy.grants.insert(id("siren.roof"), Grant::default()));
    granted.gives("siren.turn_off", on("siren.roof"), "allow");
}

#[test]
fn a_scene_s_oven_and_alert_are_not_comfort() {
    let small = Small::new().with("alert.door_open", "on", json!({})).with("water_heater.tank", "eco", json!({}));
    small.asks("scene.apply", json!({ "entities": { "alert.door_open": "off" } }));
    small.asks("scene.apply", json!({ "entities": { "water_heater.tank": { "state": "eco", "temperature": 80 } } }));
}

// ---- what derives from an entity, and what a target reaches

#[test]
fn a_sensor_derived_from_a_helper_counts_as_the_helper() {
    for (attribute, value) in [
        ("entity_id", json!("input_number.level")),
        ("entity_id", json!(["input_number.level"])),
        ("source", json!("input_number.level")),
    ] {
        let small = Small::new()
            .with("binary_sensor.high", "off", json!({ attribute: value }))
            .opener(json!([{ "trigger": "state", "entity_id": "binary_sensor.high", "to": "on" }]));
        small.asks("input_number.set_value", json!({ "entity_id": "input_number.level", "value": 90 }));
        small.allows("light.turn_on", on("light.lamp"));
    }
}

#[test]
fn a_bound_that_is_an_entity_sets_it_off_too() {
    for trigger in [
        json!({ "trigger": "numeric_state", "entity_id": "sensor.sun", "above": "input_number.level" }),
        json!({ "trigger": "numeric_state", "entity_id": "sensor.sun", "below": "input_number.level" }),
        json!({ "trigger": "numeric_state", "entity_id": "sensor.sun", "above": 1,
            "value_template": "{{ state.state | float - states('input_number.level') | float }}" }),
        json!({ "trigger": "state", "entity_id": "sensor.sun", "to": "on",
            "for": { "minutes": "{{ states('input_number.level') | int }}" } }),
    ] {
        let small = Small::new().with("sensor.sun", "5", json!({})).opener(json!([trigger]));
        small.asks("input_number.set_value", json!({ "entity_id": "input_number.level", "value": 0 }));
        small.allows("light.turn_on", on("light.lamp"));
    }
}

#[test]
fn a_body_s_target_that_this_house_does_not_show_asks() {
    for target in [
        json!({ "device_id": "composite" }),
        json!({ "label_id": "gone" }),
        json!({ "entity_id": "switch.pump{# x #}" }),
        json!({ "entity_id": "{{ x }}" }),
    ] {
        let small = Small::new().script("a", json!([{ "action": "switch.turn_on", "target": target }]));
        small.asks("script.a", json!({}));
    }
    let gone = json!([{ "action": "light.turn_on", "target": { "entity_id": "light.gone" } }]);
    Small::new().script("a", gone).allows("script.a", json!({}));
}

#[test]
fn a_body_s_target_reaches_the_children_of_a_device() {
    for target in [
        json!({ "device_id": "board" }),
        json!({ "area_id": "hall" }),
        json!({ "floor_id": "ground" }),
        json!({ "label_id": "all" }),
    ] {
        let small = Small::new()
            .set("/labels/all", json!({ "name": "All" }))
            .set("/floors/ground", json!({ "name": "Ground" }))
            .set("/areas/hall", json!({ "name": "Hall", "floor_id": "ground" }))
            .set("/devices/board", json!({ "name": "Board", "area_id": "hall", "labels": ["all"] }))
            .set("/devices/child", json!({ "name": "Channel", "via_device_id": "board" }))
            .info("lock.front", "device_id", json!("child"))
            .script("a", json!([{ "action": "lock.unlock", "target": target }]));
        let decision = small.decision("script.a", json!({}));
        assert_eq!(decision.verdict, Verdict::Ask, "{target}");
    }
}

#[test]
fn a_flood_of_unknown_names_is_answered_in_a_moment() {
    let mut small = Small::new();
    for n in 0..2000 {
        small = small.with(&format!("light.lamp_{n}"), "on", json!({}));
    }
    let start = std::time::Instant::now();
    let long = format!("light.{}", "lamp1".repeat(100_000));
    let many: Vec<String> = (0..20_000).map(|n| format!("light.lump_{n}")).collect();
    for target in [json!(long), json!(many), json!(many.join(","))] {
        small.stops("light.turn_on", json!({ "entity_id": target }));
    }
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

#[test]
fn rooms_within_rooms_without_end_are_not_followed_without_end() {
    let mut small = Small::new();
    for n in 0..3000 {
        let next = if n == 2999 { "lock.front".to_owned() } else { format!("light.room_{}", n + 1) };
        small = small.with(&format!("light.room_{n}"), "on", json!({ "entity_id": [next] }));
    }
    small.asks("light.turn_on", on("light.room_0"));
    small.asks("light.turn_on", on("light.room_2990"));
}
