//! Every sentence that a person reads at the gate, in both languages, as one page to look through.

use super::small::id;
use decide::gate::{Language, Problem, Reason, ReasonCode, Risk, Step, Verdict};
use serde_json::json;

const CODES: &[(&str, &str, Option<&str>, Option<&str>)] = &[
    ("opens", "lock.unlock", Some("lock.back_door"), None),
    ("disarms", "alarm_control_panel.alarm_disarm", Some("alarm_control_panel.house"), Some("armed_away")),
    ("rearms", "alarm_control_panel.alarm_arm_home", Some("alarm_control_panel.house"), Some("pending")),
    ("stops_cover", "cover.stop_cover", Some("cover.garage"), Some("closing")),
    ("pulse", "cover.close_cover", Some("cover.garage"), Some("closed")),
    ("valve", "valve.open_valve", Some("valve.garden"), None),
    ("gas", "valve.open_valve", Some("valve.stove"), None),
    ("heat", "climate.set_temperature", Some("climate.hall"), Some("45 °C")),
    ("harm", "siren.turn_on", Some("siren.roof"), None),
    ("listed", "switch.turn_on", Some("switch.relay"), None),
    ("labelled", "switch.turn_on", Some("switch.relay"), None),
    ("relation", "switch.turn_on", Some("switch.relay"), Some("lock.back_door")),
    ("named", "switch.turn_on", Some("switch.door_relay"), None),
    ("button", "button.press", Some("button.buzzer"), None),
    ("blinds", "camera.turn_off", Some("camera.yard"), None),
    ("stops", "automation.turn_off", Some("automation.autolock"), Some("Lock at night")),
    ("no_state", "script.gone", Some("script.gone"), None),
    ("code_given", "lock.unlock", Some("lock.back_door"), None),
    ("unknown_service", "glow.apply", None, None),
    ("opaque", "shell_command.backup", None, None),
    ("listed_asks", "mqtt.publish", None, None),
    ("notify_extra", "notify.phone", None, Some("data")),
    ("speech", "tts.speak", None, None),
    ("media", "media_player.play_media", None, None),
    ("wrong_member", "media_player.join", Some("lock.back_door"), None),
    ("opaque_body", "script.welcome", Some("script.welcome"), Some("templated action")),
    ("unreadable", "script.turn_on", Some("script.welcome"), Some("unauthorized")),
    ("unreadable_scene", "scene.turn_on", Some("scene.cloud"), None),
    ("bad_states", "scene.apply", Some("light.gone"), None),
    ("read_only", "light.turn_on", None, None),
    ("body_changed", "script.turn_on", Some("script.welcome"), None),
];

const SERVICES: &[&str] = &[
    "lock.unlock",
    "lock.lock",
    "lock.open",
    "cover.open_cover",
    "valve.open_valve",
    "cover.close_cover",
    "valve.close_valve",
    "cover.stop_cover",
    "valve.stop_valve",
    "vacuum.stop",
    "cover.set_cover_position",
    "valve.set_valve_position",
    "cover.open_cover_tilt",
    "cover.close_cover_tilt",
    "cover.set_cover_tilt_position",
    "cover.toggle_cover_tilt",
    "light.turn_on",
    "light.turn_off",
    "light.toggle",
    "button.press",
    "automation.trigger",
    "alarm_control_panel.alarm_disarm",
    "alarm_control_panel.alarm_trigger",
    "alarm_control_panel.alarm_arm_night",
    "timer.start",
    "timer.cancel",
    "timer.pause",
    "timer.finish",
    "input_number.set_value",
    "select.select_option",
    "media_player.join",
    "script.bedtime",
    "script.turn_on",
    "script.turn_off",
    "script.toggle",
    "scene.turn_on",
    "automation.turn_off",
    "script.welcome",
];

fn code(word: &str) -> ReasonCode {
    serde_json::from_value(json!(word)).unwrap()
}

fn reason(code: ReasonCode, action: &str, entity: Option<&str>, detail: Option<&str>) -> Reason {
    let entity = entity.map(id);
    Reason {
        verdict: Verdict::Ask,
        risk: Some(Risk::Security),
        code,
        by: action.to_owned(),
        on: entity.clone(),
        action: action.to_owned(),
        entity,
        path: Vec::new(),
        detail: detail.map(str::to_owned),
    }
}

fn runs(entity: &str, name: &str) -> Step {
    Step::Runs { entity: id(entity), name: name.to_owned() }
}

fn triggers(name: &str) -> Step {
    Step::Triggers { cause: id("light.lamp"), automation: id("automation.a"), name: name.to_owned() }
}

fn event(name: &str) -> Step {
    Step::Event { event: "knock".to_owned(), automation: id("automation.a"), name: name.to_owned() }
}

fn moves(entity: &str) -> Step {
    Step::Moves { entity: id(entity) }
}

fn both(page: &mut String, head: &str, reason: &Reason) {
    let (english, chinese) = (reason.sentence(Language::English), reason.sentence(Language::Chinese));
    page.push_str(&format!("{head}\n  {english}\n  {chinese}\n"));
}

#[test]
fn every_reason_reads_well_in_both_languages() {
    let mut page = String::new();
    page.push_str("# The call itself\n");
    for &(word, action, entity, detail) in CODES {
        both(&mut page, word, &reason(code(word), action, entity, detail));
    }
    page.push_str("\n# At the end of a road\n");
    for &(word, action, entity, detail) in CODES {
        if ["code_given", "read_only", "body_changed"].contains(&word) {
            continue;
        }
        let mut reason = reason(code(word), action, entity, detail);
        reason.by = "input_boolean.turn_on".to_owned();
        reason.on = Some(id("input_boolean.guests"));
        reason.path = vec![triggers("Guests")];
        both(&mut page, word, &reason);
    }
    page.push_str("\n# Each service's verb, at the end and at the start of a road\n");
    for service in SERVICES {
        let entity = Some("light.lamp");
        both(&mut page, service, &reason(ReasonCode::Opens, service, entity, None));
        let mut road = reason(ReasonCode::Opens, service, entity, None);
        road.path = vec![moves("lock.back_door")];
        both(&mut page, "  and", &road);
    }
    page.push_str("\n# Roads\n");
    let roads = [
        ("script.bedtime", Some("script.bedtime"), vec![runs("script.bedtime", "Bedtime")]),
        ("script.turn_on", Some("script.bedtime"), vec![runs("script.bedtime", "Bedtime"), runs("scene.x", "X")]),
        ("scene.turn_on", Some("scene.welcome"), vec![runs("scene.welcome", "Welcome")]),
        ("automation.trigger", Some("automation.a"), vec![runs("automation.a", "A"), triggers("B")]),
        ("light.turn_on", Some("light.lamp"), vec![triggers("A"), runs("script.s", "S"), event("B")]),
        ("script.knock", None, vec![event("A"), moves("switch.relay"), runs("script.s", "S")]),
        ("light.turn_on", Some("light.room"), vec![moves("switch.relay"), moves("lock.front")]),
    ];
    for (by, on, path) in roads {
        let mut road = reason(ReasonCode::Opens, "lock.unlock", Some("lock.back_door"), None);
        (road.by, road.on, road.path) = (by.to_owned(), on.map(id), path);
        both(&mut page, by, &road);
    }
    insta::assert_snapshot!("reasons", page);
}

#[test]
fn every_code_stands_on_the_page() {
    // Counted by what serde takes: a new code fails here until it has its line above.
    let error = serde_json::from_value::<ReasonCode>(json!("?")).unwrap_err().to_string();
    let known = error.matches('`').count() / 2 - 1;
    assert_eq!(known, CODES.len(), "{error}");
}

#[test]
fn every_problem_reads_well_in_both_languages() {
    let mut page = String::new();
    let missing = |what: &str| Problem::NotReady { missing: what.to_owned() };
    let ids = || vec!["light.lamb".to_owned(), "light.dusk".to_owned()];
    for problem in [
        Problem::BadService { text: "li ght.on".to_owned() },
        Problem::NotFound { ids: ids(), nearest: Vec::new() },
        Problem::NotFound { ids: ids(), nearest: vec![id("light.lamp"), id("light.desk")] },
        Problem::BadTarget { key: "entity_id".to_owned(), text: "{{ x }}".to_owned() },
        Problem::BadData { key: "x".to_owned(), why: "this service takes no data".to_owned() },
        Problem::NoTarget,
        Problem::NothingThere { domain: "light".to_owned() },
        missing("connection"),
        missing("policy"),
        missing("registries"),
    ] {
        for language in [Language::English, Language::Chinese] {
            page.push_str(&format!("{}\n", problem.sentence(language)));
        }
    }
    insta::assert_snapshot!("problems", page);
}
