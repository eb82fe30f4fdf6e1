//! What a phrase means, and what is shown of it before anything runs.

use mcp::tools::macros::{list_macros, previewed};
use serde_json::{Value, json};
use testkit::family;

use crate::{World, arguments};

#[track_caller]
fn preview(world: &World, phrase: &str) -> Value {
    previewed(&world.view(), phrase).unwrap_or_else(|answer| answer)
}

#[test]
fn macros_are_listed_by_name_with_whether_they_would_ask() {
    let world = World::new(family().build());
    let answer = list_macros(&world.view(), &arguments(json!({}))).unwrap();
    assert_eq!(answer["count"], json!(2));
    assert_eq!(
        answer["macros"],
        json!([
            {"entity_id": "script.welcome", "name": "Welcome Home", "kind": "script", "asks": true},
            {"entity_id": "scene.bedtime", "name": "晚安", "kind": "scene", "asks": false},
        ])
    );
}

#[test]
fn whether_a_macro_asks_is_unknown_while_bodies_are_unread() {
    let mut world = World::new(family().build());
    world.house.readiness.bodies = false;
    let answer = list_macros(&world.view(), &arguments(json!({}))).unwrap();
    assert_eq!(answer["macros"][1]["asks"], Value::Null);
}

#[test]
fn a_preview_says_what_was_matched_why_and_what_would_move() {
    let world = World::new(family().build());
    insta::assert_snapshot!(mcp::tools::print::print(&preview(&world, "请帮我开启晚安模式")));
}

#[test]
fn a_preview_of_what_opens_says_that_it_asks_and_why() {
    let world = World::new(family().build());
    insta::assert_snapshot!(mcp::tools::print::print(&preview(&world, "welcome home")));
}

#[test]
fn what_fits_nothing_or_denies_matches_nothing() {
    let world = World::new(family().build());
    for phrase in ["launch the shuttle", "不要晚安", "do not say good night"] {
        let answer = preview(&world, phrase);
        assert_eq!(answer["ok"], json!(true), "{phrase}");
        assert_eq!(answer["ran"], json!(false), "{phrase}");
        assert_eq!(answer["match"], Value::Null, "{phrase}");
        assert!(answer["message"].is_string(), "{phrase}");
    }
}

#[test]
fn several_that_fit_are_offered_and_none_is_chosen() {
    let house = family().plain("script.a", "Film", "off").plain("script.b", "Film", "off").build();
    let answer = preview(&World::new(house), "film");
    assert_eq!(answer["match"], Value::Null, "{answer}");
    assert_eq!(answer["ambiguous"], json!(true));
    assert_eq!(answer["candidates"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_macro_out_of_scope_or_hidden_is_no_candidate() {
    let mut world = World::new(family().entity("scene.movie", "Movie", "", |e| e.hidden()).build());
    world.policy.scope.exclude = ["scene.bedtime".to_owned()].into();
    for phrase in ["晚安", "movie"] {
        assert_eq!(preview(&world, phrase)["match"], Value::Null, "{phrase}");
    }
}

#[test]
fn steps_in_every_branch_of_a_script_are_shown() {
    let body = json!({"sequence": [
        {"delay": 1},
        {"choose": [{"conditions": [], "sequence": [{"action": "light.turn_on", "target": {"area_id": "kitchen"}}]}],
         "default": [{"service": "light.turn_off", "entity_id": "light.sofa, light.kitchen"}]},
        {"if": [], "then": [{"scene": "scene.bedtime"}], "else": [{"action": "script.welcome"}]},
        {"parallel": [{"sequence": [{"action": "cover.close_cover", "data": {"entity_id": ["cover.kitchen_blind"]}}]}]},
        {"repeat": {"count": 2, "sequence": [{"action": "notify.notify", "data": {"message": "x"}}]}},
    ]});
    let world = World::new(family().plain("script.party", "Party", "off").body("script.party", body).build());
    let answer = preview(&world, "party");
    let would: Vec<String> = answer["would"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| {
            let place = line.get("entity_id").or(line.get("area_id")).and_then(Value::as_str).unwrap_or("-");
            format!("{} {place}", line["action"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        would,
        [
            "light.turn_on kitchen",
            "light.turn_off light.sofa",
            "light.turn_off light.kitchen",
            "scene.turn_on scene.bedtime",
            "script.welcome -",
            "cover.close_cover cover.kitchen_blind",
            "notify.notify -",
        ]
    );
}

#[test]
fn what_is_out_of_scope_is_named_in_no_answer_about_what_would_open_it() {
    let mut world = World::new(family().build());
    let plain = preview(&world, "welcome home").to_string();
    assert!(plain.contains("lock.front_door"), "{plain}");
    world.policy.scope.exclude.insert("lock.front_door".into());
    let call = decide::gate::Call {
        domain: "script".into(),
        service: "turn_on".into(),
        data: arguments(json!({"entity_id": "script.welcome"})),
        target: None,
    };
    let decision = world.view().judged(&call).unwrap();
    assert_eq!(decision.verdict, decide::gate::Verdict::Ask);
    for answer in [preview(&world, "welcome home"), mcp::tools::refusal::refusal(&world.view(), &decision)] {
        let text = answer.to_string();
        assert!(!text.contains("lock.front_door") && !text.contains("前门"), "{answer:#}");
        assert!(text.contains("out of reach here"), "{answer:#}");
    }
}
