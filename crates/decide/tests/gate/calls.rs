//! From a call to a plan: what is no call, what stops while the house is not known, what goes out.

use super::small::{Small, call, id, on};
use decide::gate::{Call, Facts, Origin, Problem, ReasonCode, Verdict, judge};
use serde_json::{Map, Value, json};

fn lamp() -> Value {
    json!({ "action": "light.turn_on", "target": { "entity_id": "light.lamp" } })
}

#[track_caller]
fn problem(small: &Small, name: &str, data: Value) -> Problem {
    match small.judge(&call(name, data)) {
        Err(problem) => problem,
        Ok(decision) => panic!("{name}: {decision:?}"),
    }
}

#[test]
fn domain_and_service_are_words_in_any_spelling() {
    let judged = |domain: &str, service: &str| {
        let target = Some(Map::from_iter([("entity_id".to_owned(), json!("light.lamp"))]));
        Small::new().outcome(&Call { domain: domain.into(), service: service.into(), data: Map::new(), target })
    };
    for (domain, service) in [("light", "turn_on"), (" LIGHT ", "Turn_On\n")] {
        assert_eq!(judged(domain, service), "allow", "{domain}.{service}");
    }
    assert_eq!(judged("glow_2", "apply_3"), "ask unknown_service");
    for (domain, service) in [
        ("", "turn_on"),
        ("light", ""),
        ("light", "turn-on"),
        ("li ght", "turn_on"),
        ("ｌｉｇｈｔ", "turn_on"),
        ("light", "light.turn_on"),
        ("", ""),
    ] {
        assert_eq!(judged(domain, service), "bad_service", "{domain}.{service}");
    }
    let text = match Small::new().judge(&call("li ght.turn_on", json!({}))) {
        Err(Problem::BadService { text }) => text,
        other => panic!("{other:?}"),
    };
    assert_eq!(text, "li ght.turn_on");
}

#[test]
fn a_key_that_the_service_does_not_know_stops_the_call() {
    let lamp = |key: &str, value: Value| json!({ "entity_id": "light.lamp", key: value });
    Small::new()
        .gives("light.turn_on", lamp("brightness_pct", json!(40)), "allow")
        .gives("light.turn_on", lamp("command", json!(1)), "bad_data")
        .gives("light.turn_on", lamp("effect", json!("{{ x }}")), "bad_data")
        .gives("light.turn_on", lamp("effect", json!({ "{% x %}": 1 })), "bad_data")
        .gives("light.turn_on", lamp("effect", json!(["{# x #}"])), "bad_data")
        .gives("glow.apply", lamp("anything", json!(1)), "ask unknown_service")
        .gives("glow.apply", lamp("anything", json!("{{ x }}")), "bad_data")
        .gives("shell_command.x", json!({ "anything": 1 }), "refuse opaque")
        .gives("input_button.press", json!({ "entity_id": "input_button.b", "x": 1 }), "bad_data");
    let why = |name: &str| match problem(&Small::new(), name, json!({ "x": 1 })) {
        Problem::BadData { key, why } => format!("{key}: {why}"),
        other => panic!("{other:?}"),
    };
    assert_eq!(why("button.press"), "x: this service takes no data");
    assert_eq!(why("scene.turn_on"), "x: unknown key; known are transition");
    let with = |target: Value| {
        let call = Call { target: target.as_object().cloned(), ..call("light.turn_on", json!({})) };
        Small::new().outcome(&call)
    };
    assert_eq!(with(json!({ "entity_id": "light.lamp" })), "allow");
    assert_eq!(with(json!({ "entity_id": "light.lamp", "entities": "light.desk" })), "bad_target");
}

#[test]
fn what_goes_out_is_what_was_judged_in_its_own_spelling() {
    let small = Small::new().with("media_player.bath", "off", json!({}));
    let data = |name: &str, data: Value| small.decision(name, data).plan.sends[0].data.clone();
    let apply = data("scene.apply", json!({ "entities": { " Light.LAMP": "on" }, "transition": 2 }));
    assert_eq!(json!(apply), json!({ "entities": { "light.lamp": "on" }, "transition": 2 }));
    let both = json!({ "group_members": ["media_player.tv", "media_player.bath"] });
    for members in [json!("Media_Player.TV, media_player.bath"), json!([" MEDIA_PLAYER.tv", "media_player.Bath"])] {
        let join = data("media_player.join", json!({ "entity_id": "media_player.tv", "group_members": members }));
        assert_eq!(json!(join), both, "{members}");
    }
    let say = json!({ "entity_id": "media_player.tv", "message": "X", "media_player_entity_id": "Media_player.TV" });
    let say = data("tts.google_translate_say", say);
    assert_eq!(json!(say), json!({ "message": "X", "media_player_entity_id": ["media_player.tv"] }));
    let text = data("light.turn_on", json!({ "entity_id": "light.lamp", "effect": "Group.Members" }));
    assert_eq!(json!(text), json!({ "effect": "Group.Members" }));
}

#[test]
fn while_the_house_is_not_known_only_moves_toward_safety_pass() {
    let disarmed = || Small::new().set("/entities/alarm_control_panel.house/state/value", json!("disarmed"));
    let garage = |key: &str, value: Value| json!({ "entity_id": "cover.garage", key: value });
    let cases = [
        ("lock.lock", on("lock.front"), true),
        ("cover.close_cover", on("cover.garage"), true),
        ("cover.set_cover_position", garage("position", json!(0)), true),
        ("cover.set_cover_position", garage("position", json!(" 0 ")), true),
        ("valve.close_valve", on("valve.v"), true),
        ("alarm_control_panel.alarm_arm_home", on("alarm_control_panel.house"), true),
        ("lock.unlock", on("lock.front"), false),
        ("lock.open", on("lock.front"), false),
        ("cover.open_cover", on("cover.blind"), false),
        ("cover.stop_cover", on("cover.blind"), false),
        ("cover.toggle", on("cover.blind"), false),
        ("cover.set_cover_position", garage("position", json!(1)), false),
        ("cover.set_cover_position", garage("speed", json!(0)), false),
        ("valve.open_valve", on("valve.v"), false),
        ("alarm_control_panel.alarm_disarm", on("alarm_control_panel.house"), false),
        ("light.turn_on", on("light.lamp"), false),
        ("glow.apply", on("light.lamp"), false),
        ("weather.get_forecasts", json!({}), false),
    ];
    let small = disarmed().with("valve.v", "open", json!({}));
    for (pointer, missing) in [
        ("connected", "connection"),
        ("states", "states"),
        ("registries", "registries"),
        ("bodies", "bodies"),
        ("", "policy"),
    ] {
        let broken = match pointer {
            "" => small.clone().policy(|policy| policy.broken = true),
            pointer => small.clone().set(&format!("/readiness/{pointer}"), json!(false)),
        };
        for (name, data, passes) in &cases {
            if *passes {
                broken.gives(name, data.clone(), "allow");
            } else {
                let expected = Problem::NotReady { missing: missing.to_owned() };
                assert_eq!(problem(&broken, name, data.clone()), expected, "{name}");
            }
        }
    }
    for (name, data, passes) in cases {
        assert!(!passes || small.outcome(&call(name, data)) == "allow", "{name}");
    }
}

#[test]
fn areas_need_registries_and_all_needs_a_domain_and_states() {
    let area = json!({ "area_id": "hall" });
    let hall =
        |small: Small| small.set("/areas/hall", json!({ "name": "Hall" })).info("lock.front", "area_id", json!("hall"));
    hall(Small::new()).gives("lock.lock", area.clone(), "allow");
    let blind = hall(Small::new()).set("/readiness/registries", json!(false));
    assert_eq!(problem(&blind, "lock.lock", area), Problem::NotReady { missing: "registries".to_owned() });
    blind.gives("lock.lock", on("lock.front"), "allow").gives("lock.lock", on("all"), "allow");
    Small::new()
        .gives("light.turn_off", on("all"), "allow")
        .gives("homeassistant.turn_off", on("all"), "bad_target")
        .gives("glow.apply", on("all"), "bad_target")
        .gives("light.turn_on", on("{{ x }}"), "bad_target");
    Small::new().set("/readiness/states", json!(false)).gives("lock.lock", on("all"), "bad_target");
}

#[test]
fn an_unknown_id_is_named_with_those_that_are_like_it() {
    let nearest = |wanted: Value| match problem(&Small::new(), "light.turn_on", json!({ "entity_id": wanted })) {
        Problem::NotFound { ids, nearest } => (ids, nearest.iter().map(ToString::to_string).collect::<Vec<_>>()),
        other => panic!("{other:?}"),
    };
    let (ids, near) = nearest(json!("light.lamb"));
    assert_eq!((ids, near[0].as_str()), (vec!["light.lamb".to_owned()], "light.lamp"));
    assert_eq!(nearest(json!("zzz.qqq")), (vec!["zzz.qqq".to_owned()], Vec::new()));
    let mut small = Small::new();
    for n in 0..9 {
        small = small.with(&format!("light.shelf_{n}"), "on", json!({}));
    }
    match problem(&small, "light.turn_on", on("light.shelf_x")) {
        Problem::NotFound { nearest, .. } => {
            assert_eq!(nearest, ["light.shelf_0", "light.shelf_1", "light.shelf_2"].map(id));
        }
        other => panic!("{other:?}"),
    }
    let many: Vec<String> = (0..80).map(|n| format!("light.gone_{n}")).collect();
    assert_eq!(nearest(json!(many)).0.len(), 50);
    // What the operator left out is not named either.
    let hidden = Small::new().policy(|policy| _ = policy.scope.exclude.insert("light.lamp".to_owned()));
    match problem(&hidden, "light.turn_on", on("light.lamp")) {
        Problem::NotFound { ids, nearest } => {
            assert_eq!(ids, ["light.lamp"]);
            assert!(!nearest.contains(&id("light.lamp")), "{nearest:?}");
        }
        other => panic!("{other:?}"),
    }
}

/// What is sent, entity by entity, and what is not.
#[track_caller]
fn plan(small: &Small, name: &str, data: Value, expected: &str) {
    let plan = small.decision(name, data).plan;
    let mut words: Vec<String> = Vec::new();
    for send in &plan.sends {
        let ids: Vec<&str> = send.entities.iter().map(|id| id.as_str()).collect();
        let keys: Vec<&str> = send.data.keys().map(String::as_str).collect();
        words.push(format!("{}.{} [{}] ({})", send.domain, send.service, ids.join(" "), keys.join(" ")));
    }
    words.extend(plan.ignored.iter().map(|id| format!("ignored {id}")));
    assert_eq!(words.join("; "), expected, "{name}");
}

#[test]
fn a_plan_names_each_entity_once_and_what_home_assistant_would_ignore() {
    let small = Small::new().script("s", json!([lamp()])).with("notify.phone", "unknown", json!({})).with(
        "group.empty",
        "on",
        json!({}),
    );
    let ids = |ids: &[&str]| json!({ "entity_id": ids });
    for (name, data, expected) in [
        ("light.turn_on", ids(&["light.lamp", "LIGHT.lamp", "light.desk"]), "light.turn_on [light.desk light.lamp] ()"),
        ("light.turn_on", ids(&["light.lamp", "switch.pump"]), "light.turn_on [light.lamp] (); ignored switch.pump"),
        ("light.turn_on", ids(&["switch.pump"]), "ignored switch.pump"),
        (
            "homeassistant.turn_on",
            json!({ "entity_id": ["light.lamp", "switch.pump", "lock.front", "group.empty"], "brightness": 9 }),
            "light.turn_on [light.lamp] (brightness); switch.turn_on [switch.pump] (); ignored group.empty; ignored lock.front",
        ),
        ("script.s", json!({}), "script.s [] ()"),
        ("script.s", json!({ "x": 1 }), "script.s [] (x)"),
        ("script.turn_on", ids(&["script.s"]), "script.turn_on [script.s] ()"),
        ("notify.phone", json!({ "message": "x" }), "notify.phone [] (message)"),
        (
            "notify.send_message",
            json!({ "entity_id": "notify.phone", "message": "x" }),
            "notify.send_message [notify.phone] (message)",
        ),
        ("homeassistant.update_entity", ids(&["light.lamp"]), "homeassistant.update_entity [light.lamp] ()"),
        ("glow.apply", json!({}), "glow.apply [] ()"),
        ("glow.apply", ids(&["light.lamp"]), "glow.apply [light.lamp] ()"),
        ("mqtt.publish", json!({ "topic": "x" }), "mqtt.publish [] (topic)"),
        (
            "persistent_notification.dismiss",
            json!({ "notification_id": "x" }),
            "persistent_notification.dismiss [] (notification_id)",
        ),
    ] {
        plan(&small, name, data, expected);
    }
    // Reached by an area, what the service does not work on is not worth a word.
    let hall = small.set("/areas/hall", json!({ "name": "Hall" })).info("light.lamp", "area_id", json!("hall")).info(
        "switch.pump",
        "area_id",
        json!("hall"),
    );
    plan(&hall, "light.turn_on", json!({ "area_id": "hall" }), "light.turn_on [light.lamp] ()");
    hall.gives("fan.turn_on", json!({ "area_id": "hall" }), "nothing_there");
    hall.gives("fan.turn_on", on("light.lamp"), "allow");
}

#[test]
fn a_service_without_a_target_says_so() {
    Small::new()
        .gives("light.turn_on", json!({}), "no_target")
        .gives("light.turn_on", on("none"), "nothing_there")
        .gives("light.turn_on", on(""), "nothing_there")
        .gives("light.turn_on", json!({ "entity_id": null }), "nothing_there")
        .gives("timer.start", json!({}), "no_target")
        .gives("tts.speak", json!({ "message": "x" }), "allow")
        .gives("weather.get_forecasts", json!({}), "allow");
}

#[test]
fn a_script_that_is_not_there_or_left_out_is_not_found() {
    let small = Small::new().script("s", json!([lamp()]));
    small.gives("script.s", json!({}), "allow").gives("script.gone", json!({}), "not_found");
    let hidden = small.policy(|policy| _ = policy.scope.exclude.insert("script.s".to_owned()));
    hidden.gives("script.s", json!({}), "not_found").gives("script.turn_on", on("script.s"), "not_found");
}

#[test]
fn a_connection_that_may_only_read_reads() {
    let small = Small::new().policy(|policy| policy.scope.read_only = true);
    small
        .gives("weather.get_forecasts", json!({}), "allow")
        .gives("light.turn_on", on("light.lamp"), "refuse read_only")
        .gives("lock.lock", on("lock.front"), "refuse read_only")
        .gives("glow.apply", on("light.lamp"), "refuse read_only unknown_service");
}

#[test]
fn a_decision_is_as_strict_as_its_strictest_reason_and_a_permit_needs_an_allow() {
    let small = Small::new().with("climate.hall", "heat", json!({}));
    let hot = json!({ "climate.hall": { "state": "heat", "temperature": 45 }, "lock.front": "unlocked" });
    let decision = small.decision("scene.apply", json!({ "entities": hot }));
    assert_eq!(decision.verdict, Verdict::Ask);
    assert_eq!(decision.risk, Some(decide::gate::Risk::Security));
    assert_eq!(decision.targets, [id("climate.hall"), id("lock.front")]);
    assert_eq!(decision.reasons[0].code, ReasonCode::Opens);
    assert!(decision.permit(Origin::Person).is_err());
    let decision = small.decision("light.turn_on", on("light.lamp"));
    let plan = decision.plan.clone();
    let permit = decision.permit(Origin::Schedule).unwrap();
    assert_eq!((permit.origin(), permit.plan()), (Origin::Schedule, &plan));
    assert_eq!(permit.plan().sends[0].entities, [id("light.lamp")]);
    small.refuses("shell_command.x", json!({}));
    assert!(small.decision("shell_command.x", json!({})).permit(Origin::System).is_err());
}

#[test]
fn whoever_asks_gets_the_same_verdict() {
    let small = Small::new();
    let house = small.house();
    let facts = Facts { house: &house, policy: &small.policy, in_flight: &small.in_flight, now: 0 };
    for origin in [Origin::Person, Origin::Model, Origin::Plugin, Origin::Schedule, Origin::System] {
        let decision = judge(&facts, origin, &call("lock.unlock", on("lock.front"))).unwrap();
        assert_eq!(decision.verdict, Verdict::Ask, "{origin:?}");
    }
}
