//! Words and media that leave the house's devices, services that can do anything, and services that
//! nobody knows: what passes, what asks, what is refused.

use super::small::{Small, on};
use decide::gate::{ServiceRule, Verdict};
use serde_json::{Value, json};

fn in_a_macro(small: Small, name: &str, data: Value, expected: &str) {
    small.script("a", json!([{ "action": name, "data": data }])).gives("script.a", json!({}), expected);
}

#[test]
fn a_notification_shows_a_message_and_does_nothing_else() {
    for (data, expected) in [
        (json!({ "message": "x" }), "allow"),
        (json!({ "message": "x", "title": "y" }), "allow"),
        (json!({ "message": "x", "data": { "tag": "z" } }), "ask notify_extra"),
        (json!({ "message": "x", "target": "z" }), "ask notify_extra"),
        (json!({ "message": " Command_x " }), "ask notify_extra"),
        (json!({ "message": "clear_notification" }), "ask notify_extra"),
        (json!({ "message": "remove_channel" }), "ask notify_extra"),
        (json!({ "message": "delete_alert" }), "ask notify_extra"),
        (json!({ "message": "my command_x" }), "allow"),
        (json!({ "message": "see https://evil.example/?q=away" }), "ask notify_extra"),
        (json!({ "message": "![x](//evil.example/x)" }), "ask notify_extra"),
        (json!({ "message": "<img src=//evil.example>" }), "ask notify_extra"),
        (json!({ "message": "evil.example/away" }), "ask notify_extra"),
        (json!({ "message": "evil.example:8080?away" }), "ask notify_extra"),
        (json!({ "message": "//evil.example/away" }), "ask notify_extra"),
        (json!({ "message": "门开着（例子.中国/q1）" }), "ask notify_extra"),
        (json!({ "title": "http://evil.example", "message": "x" }), "ask notify_extra"),
        (json!({ "message": "It is 21.5 °C and/or raining, 3.5/5 e.g. at home.lan!" }), "allow"),
        (json!({ "message": "Dinner? At 7/8. 到家了。and 1 < 2!" }), "allow"),
        (json!({ "message": "R.E.M/Live from 12.15/18.20 o'clock" }), "allow"),
        (json!({ "message": 7 }), "allow"),
    ] {
        Small::new().gives("notify.phone", data.clone(), expected);
        in_a_macro(Small::new(), "notify.phone", data, "allow");
    }
    let covered = json!({ "message": "x", "notification_id": "z" });
    Small::new().gives("persistent_notification.create", covered, "ask notify_extra");
    let id = json!({ "notification_id": "z" });
    Small::new().gives("persistent_notification.dismiss", id.clone(), "ask blinds");
    in_a_macro(Small::new(), "persistent_notification.dismiss", id, "allow");
    Small::new().gives("persistent_notification.dismiss_all", json!({}), "ask blinds");
    in_a_macro(Small::new(), "persistent_notification.dismiss_all", json!({}), "ask blinds");
    // A caller's values may be in what the macro says.
    let step = json!([{ "action": "persistent_notification.dismiss", "data": { "notification_id": "{{ x }}" } }]);
    let small = Small::new().script("a", step);
    small.gives("script.a", json!({}), "allow").gives("script.a", json!({ "x": 1 }), "ask blinds");
    let fixed = json!([{ "action": "persistent_notification.dismiss", "data": { "notification_id": "z" } }]);
    Small::new().script("a", fixed).gives("script.a", json!({ "x": 1 }), "allow");
}

#[test]
fn a_macro_that_says_a_caller_s_words_says_no_address() {
    let says = |message: &str| {
        Small::new().script("say", json!([{ "action": "notify.phone", "data": { "message": message } }]))
    };
    for words in ["https://evil.example/?q=away", "![x](//evil.example)", "command_x", "evil.example/away"] {
        for data in [json!({ "text": words }), json!({ "text": [{ "deep": words }] })] {
            says("{{ text }}").gives("script.say", data.clone(), "ask notify_extra");
            let turned_on = json!({ "entity_id": "script.say", "variables": data });
            says("{{ text }}").gives("script.turn_on", turned_on, "ask notify_extra");
            says("Dinner is ready").gives("script.say", data, "allow");
        }
    }
    says("{{ text }}").gives("script.say", json!({ "text": "dinner is ready" }), "allow");
    // The household's own words may hold what they want.
    says("https://wiki.example/{{ now() }}").gives("script.say", json!({}), "allow");
}

#[test]
fn speech_asks_where_the_operator_wants_it_to() {
    let small =
        || Small::new().with("tts.voice", "unknown", json!({})).with("assist_satellite.hall", "idle", json!({}));
    let speak = json!({ "entity_id": "tts.voice", "message": "x", "media_player_entity_id": "media_player.tv" });
    let asks = |small: Small| small.policy(|policy| policy.speech_asks = true);
    small().gives("tts.speak", speak.clone(), "allow");
    asks(small()).gives("tts.speak", speak, "ask speech");
    let play = |content: &str| json!({ "entity_id": "media_player.tv", "media_content_type": "music", "media_content_id": content });
    asks(small())
        .gives("media_player.play_media", play(" MEDIA-SOURCE://TTS/x"), "ask media speech")
        .gives("media_player.play_media", play("media-source://tts/x"), "ask speech")
        .gives("media_player.play_media", play("media-source://radio/x"), "allow");
    let announce = |key: &str, content: &str| json!({ "entity_id": "assist_satellite.hall", key: content });
    for key in ["media_id", "preannounce_media_id"] {
        small()
            .gives("assist_satellite.announce", announce(key, "media-source://x"), "allow")
            .gives("assist_satellite.announce", announce(key, "http://10.0.0.1/x"), "refuse media")
            .gives("assist_satellite.announce", announce(key, "http://example.com/x"), "ask media");
    }
}

#[test]
fn media_is_judged_wherever_it_stands() {
    let play = |key: &str, value: Value| json!({ "entity_id": "media_player.tv", key: value });
    let inside = "http://10.0.0.1/x";
    for (key, value, expected) in [
        ("media_content_id", json!("12"), "allow"),
        ("media_content_id", json!(inside), "refuse media"),
        ("media_content_id", json!(["12", inside]), "refuse media"),
        ("media_content_id", json!(["12", "13"]), "allow"),
        ("media_content_id", json!(7), "allow"),
        ("media", json!({ "media_content_id": inside }), "refuse media"),
        (
            "media",
            json!({ "media_content_id": "12", "media_content_type": "music", "metadata": { "u": inside } }),
            "allow",
        ),
        ("media", json!({ "url": "12" }), "ask media"),
        ("media", json!({ "media_content_type": "custom" }), "refuse opaque"),
        ("media_content_type", json!("music"), "allow"),
        ("media_content_type", json!("Custom"), "refuse opaque"),
        ("media_content_type", json!("no medium"), "ask opaque"),
        ("media_content_type", json!(["music"]), "ask opaque"),
        ("extra", json!({}), "ask media"),
        ("announce", json!(true), "allow"),
    ] {
        Small::new().gives("media_player.play_media", play(key, value), expected);
    }
    let house = "https://family.example.net/api/webhook/gate";
    let known = Small::new().set("/hosts", json!(["family.example.net"]));
    known.gives("media_player.play_media", play("media_content_id", json!(house)), "refuse media");
    Small::new().gives("media_player.play_media", play("media_content_id", json!(house)), "ask media");
    let listed = known.policy(|policy| _ = policy.media.hosts.insert("family.example.net".to_owned()));
    listed.gives("media_player.play_media", play("media_content_id", json!(house)), "allow");
    in_a_macro(Small::new(), "media_player.play_media", play("media_content_id", json!("{{ x }}")), "ask media");
    in_a_macro(Small::new(), "media_player.play_media", play("media_content_id", json!("12")), "allow");
}

#[test]
fn entities_in_data_must_be_of_the_domain_that_belongs_there() {
    let small = || {
        Small::new()
            .with("media_player.bath", "off", json!({}))
            .with("media_player.group", "on", json!({ "entity_id": ["media_player.tv", "lock.front"] }))
            .info("media_player.group", "platform", json!("group"))
    };
    let join = |members: Value| json!({ "entity_id": "media_player.tv", "group_members": members });
    for (members, expected) in [
        (json!("media_player.bath"), "allow"),
        (json!(["media_player.bath", "media_player.tv"]), "allow"),
        (json!("lock.front"), "refuse wrong_member"),
        (json!(["media_player.bath", "light.lamp"]), "refuse wrong_member"),
        (json!("media_player.gone"), "refuse wrong_member"),
        (json!("media_player.group"), "refuse wrong_member"),
        (json!("all"), "refuse wrong_member"),
        (json!(7), "refuse wrong_member"),
        (json!("bath"), "refuse wrong_member"),
    ] {
        small().gives("media_player.join", join(members.clone()), expected);
        let within = expected.replace("refuse", "ask");
        in_a_macro(small(), "media_player.join", join(members), &within);
    }
    in_a_macro(small(), "media_player.join", join(json!("{{ x }}")), "ask wrong_member");
    let hidden = small().policy(|policy| _ = policy.scope.exclude.insert("media_player.bath".to_owned()));
    hidden.gives("media_player.join", join(json!("media_player.bath")), "refuse wrong_member");
    let watched = json!([{ "trigger": "state", "entity_id": "media_player.bath" }]);
    small().opener(watched).gives("media_player.join", join(json!("media_player.bath")), "ask opens");
}

fn listing(small: Small, name: &str, verdict: Verdict, data: Value) -> Small {
    let data = data.as_array().unwrap().iter().map(|data| data.as_object().cloned().unwrap()).collect();
    small.policy(|policy| _ = policy.services.insert(name.to_owned(), ServiceRule { verdict, data }))
}

#[test]
fn an_opaque_service_passes_only_by_the_operator_s_list() {
    let small = || Small::new().with("remote.tv", "on", json!({})).with("remote.gate", "on", json!({}));
    let send = |entity: Value, command: &str| json!({ "entity_id": entity, "command": command });
    let name = "remote.send_command";
    let call = || send(json!("remote.tv"), "power");
    small().gives(name, call(), "refuse opaque");
    listing(small(), name, Verdict::Allow, json!([])).gives(name, call(), "allow");
    listing(small(), name, Verdict::Ask, json!([])).gives(name, call(), "ask listed_asks");
    listing(small(), name, Verdict::Refuse, json!([])).gives(name, call(), "refuse opaque");
    listing(small(), "remote.learn_command", Verdict::Allow, json!([])).gives(name, call(), "refuse opaque");
    let power = json!({ "command": "power" });
    for (rules, data, expected) in [
        (json!([power]), call(), "allow"),
        (json!([power]), send(json!("remote.gate"), "power"), "allow"),
        (json!([power]), send(json!("remote.tv"), "mute"), "refuse opaque"),
        (json!([power]), json!({ "entity_id": "remote.tv", "command": "power", "num_repeats": 9 }), "refuse opaque"),
        (json!([power]), json!({ "entity_id": "remote.tv" }), "refuse opaque"),
        (json!([power, { "command": "mute" }]), send(json!("remote.tv"), "mute"), "allow"),
        (json!([{}]), call(), "refuse opaque"),
        (json!([{}]), on("remote.tv"), "allow"),
        (json!([send(json!("remote.tv"), "power")]), call(), "allow"),
        (json!([send(json!("remote.tv"), "power")]), send(json!("remote.gate"), "power"), "refuse opaque"),
        (
            json!([send(json!("remote.tv"), "power")]),
            send(json!(["remote.tv", "remote.gate"]), "power"),
            "refuse opaque",
        ),
        (json!([send(json!("remote.tv"), "power")]), power.clone(), "refuse opaque"),
        (json!([send(json!(["remote.tv", "remote.gate"]), "power")]), send(json!("remote.gate"), "power"), "allow"),
        (json!([send(json!("remote.tv, remote.gate"), "power")]), send(json!("remote.gate"), "power"), "allow"),
        (json!([send(json!(7), "power")]), call(), "refuse opaque"),
    ] {
        listing(small(), name, Verdict::Allow, rules).gives(name, data, expected);
    }
    in_a_macro(small(), name, call(), "ask opaque");
    in_a_macro(small(), "mqtt.publish", json!({ "topic": "x" }), "ask opaque");
    in_a_macro(small(), "logbook.log", json!({ "message": "x" }), "allow");
    in_a_macro(small(), "system_log.write", json!({ "message": "x" }), "allow");
    in_a_macro(small(), "system_log.clear", json!({}), "ask opaque");
    small().gives("logbook.log", json!({ "message": "x" }), "refuse opaque");
}

#[test]
fn a_service_that_nobody_knows_asks_on_harmless_entities_and_is_refused_elsewhere() {
    let small = Small::new;
    let with = |key: &str, value: Value| json!({ "entity_id": "light.lamp", key: value });
    for (data, expected) in [
        (on("light.lamp"), "ask unknown_service"),
        (on("light.lamp, fan.ceiling"), "ask unknown_service"),
        (on("light.lamp, switch.pump"), "refuse unknown_service"),
        (on("switch.pump"), "refuse unknown_service"),
        (on("lock.front"), "refuse unknown_service"),
        (json!({}), "refuse unknown_service"),
        (json!({ "x": "light.lamp" }), "refuse unknown_service"),
        (with("x", json!("light.desk")), "ask unknown_service"),
        (with("x", json!("lock.front")), "refuse unknown_service"),
        (with("x", json!("lock.gone")), "ask unknown_service"),
        (with("x", json!({ "lock.front": 1 })), "refuse unknown_service"),
        (with("x", json!({ "deep": { "lock.front": 1 } })), "refuse unknown_service"),
        (with("x", json!([{ "lock.front": 1 }])), "refuse unknown_service"),
        (with("lock.front", json!(1)), "refuse unknown_service"),
    ] {
        small().gives("glow.apply", data, expected);
    }
    let lit = json!([{ "trigger": "state", "entity_id": "light.lamp" }]);
    small().opener(lit).gives("glow.apply", on("light.lamp"), "ask opens unknown_service");
    listing(small(), "glow.apply", Verdict::Allow, json!([])).gives("glow.apply", on("switch.pump"), "allow");
    listing(small(), "glow.apply", Verdict::Ask, json!([])).gives("glow.apply", on("lock.front"), "ask listed_asks");
}
