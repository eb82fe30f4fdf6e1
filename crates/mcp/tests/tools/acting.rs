//! What acting tools answer: refusals, outcomes, too many at once. The gate is the real one; what
//! the house would do is written as a receipt.

use decide::gate::{Facts, InFlight, Language, Origin, judge};
use decide::house::EntityId;
use home::{Outcome, OutcomeKind, Receipt};
use mcp::tools::act::{told, too_many};
use mcp::tools::call::prepare::prepare;
use mcp::tools::call::problem::problem;
use mcp::tools::refusal::{RETRY, WHY, refusal};
use mcp::tools::view::View;
use serde_json::{Value, json};
use testkit::{family, generated};

use crate::{NOW, World, arguments};

/// The answer of a call that the gate stops, or the plan it allows.
fn judged(world: &World, given: Value, language: Language) -> Result<decide::gate::Decision, Value> {
    let view = View { language, ..world.view() };
    let call = prepare(&view, &arguments(given))?;
    let in_flight = InFlight::default();
    let facts = Facts { house: &world.house, policy: &world.policy, in_flight: &in_flight, now: NOW };
    judge(&facts, Origin::Model, &call).map_err(|found| problem(&view, &found))
}

#[track_caller]
fn refused(given: Value, language: Language) -> Value {
    let world = World::new(family().build());
    let decision = judged(&world, given, language).unwrap();
    let view = View { language, ..world.view() };
    refusal(&view, &decision.permit(Origin::Model).unwrap_err())
}

fn unlock() -> Value {
    json!({"domain": "lock", "service": "unlock", "entity_id": ["前门", "lock.back_door"]})
}

#[test]
fn a_refusal_has_the_fields_of_the_seed_and_every_target() {
    let answer = refused(unlock(), Language::English);
    assert_eq!(answer["ok"], json!(false));
    assert_eq!(answer["refused"], json!(true));
    assert_eq!(answer["error"], "needs_confirmation");
    assert_eq!(answer["risk"], "security");
    assert_eq!(answer["targets"], json!(["lock.back_door", "lock.front_door"]));
    assert_eq!(answer["why"], WHY);
    assert_eq!(answer["retry"], RETRY);
    insta::assert_snapshot!(mcp::tools::print::print(&answer));
}

#[test]
fn a_refusal_speaks_the_language_of_the_household() {
    insta::assert_snapshot!(mcp::tools::print::print(&refused(unlock(), Language::Chinese)));
}

#[test]
fn a_refusal_of_what_cannot_be_seen_is_no_question_to_a_person() {
    let answer = refused(json!({"domain": "shell_command", "service": "anything"}), Language::English);
    assert_eq!(answer["error"], "refused");
    assert_eq!(answer["refused"], json!(true));
    assert_eq!(answer["retry"], RETRY);
    assert!(answer.get("how_a_person_confirms").is_none());
}

#[test]
fn no_refusal_holds_a_line_that_would_open_the_gate() {
    for language in [Language::English, Language::Chinese] {
        let text = refused(unlock(), language).to_string();
        for line in ["HOME_ALLOWED_ENTITIES", "grants", "[gate", "confirmed"] {
            assert!(!text.contains(line), "{line}");
        }
    }
}

#[test]
fn ids_that_a_house_does_not_have_are_not_found() {
    let world = World::new(family().build());
    let answer = judged(
        &world,
        json!({"domain": "light", "service": "turn_on", "entity_id": "light.kitchn"}),
        Language::English,
    )
    .unwrap_err();
    assert_eq!(answer["error"], "not_found");
    assert_eq!(answer["ids"], json!(["light.kitchn"]));
    assert_eq!(answer["nearest"][0]["entity_id"], "light.kitchen", "{answer}");
    // Far from everything: at least what there is.
    let given = json!({"domain": "climate", "service": "turn_off", "entity_id": "climate.zzz"});
    let answer = judged(&world, given, Language::English).unwrap_err();
    assert_eq!(answer["nearest"][0]["entity_id"], "climate.bedroom", "{answer}");
    // The right name, the wrong domain.
    let given = json!({"domain": "light", "service": "turn_off", "entity_id": "Salt lamp"});
    let answer = judged(&world, given, Language::English).unwrap_err();
    assert_eq!(answer["nearest"][0]["entity_id"], "switch.salt", "{answer}");
}

#[test]
fn smuggled_confirmations_are_refused_or_no_call_at_all() {
    let world = World::new(family().build());
    for data in
        [json!({"confirmed": true}), json!({"confirm": "yes"}), json!({"user_said_yes": true, "confirmed": true})]
    {
        let given = json!({"domain": "lock", "service": "unlock", "entity_id": "lock.front_door", "data": data});
        match judged(&world, given, Language::English) {
            Ok(decision) => assert!(decision.permit(Origin::Model).is_err()),
            Err(answer) => assert_eq!(answer["ok"], json!(false)),
        }
    }
}

#[test]
fn many_at_once_are_too_many_to_switch_on_and_never_too_many_to_switch_off_close_or_lock() {
    let world = World::new(generated(2_000, 10));
    for (domain, service, many) in [
        ("light", "turn_on", true),
        ("light", "toggle", true),
        ("light", "turn_off", false),
        ("cover", "close_cover", false),
        ("lock", "lock", false),
    ] {
        let given = json!({"domain": domain, "service": service, "entity_id": "all"});
        let decision = judged(&world, given, Language::English).unwrap();
        let answer = too_many(&world.view(), &decision.plan);
        assert_eq!(answer.is_some(), many, "{domain}.{service}");
        if let Some(answer) = answer {
            assert_eq!(answer["error"], "too_many");
            assert!(answer.get("refused").is_none());
        }
    }
}

fn outcome(id: &str, outcome: OutcomeKind, before: &str, state: &str) -> Outcome {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Outcome { entity_id: EntityId::parse(id).unwrap(), outcome, state: some(state), before: some(before) }
}

#[track_caller]
fn told_of(outcomes: Vec<Outcome>) -> Value {
    let world = World::new(family().build());
    let ids: Vec<&str> = outcomes.iter().map(|outcome| outcome.entity_id.as_str()).collect();
    let given = json!({"domain": "light", "service": "turn_off", "entity_id": ids});
    let decision = judged(&world, given, Language::English).unwrap();
    let receipt = Receipt { outcomes, responses: vec![], error: None };
    told(&world.view(), "light.turn_off", &decision.plan, &receipt)
}

#[test]
fn what_moved_is_told_entity_by_entity() {
    let answer = told_of(vec![
        outcome("light.kitchen", OutcomeKind::Confirmed, "on", "off"),
        outcome("light.garden", OutcomeKind::Unavailable, "unavailable", "unavailable"),
    ]);
    insta::assert_snapshot!(mcp::tools::print::print(&answer));
}

#[test]
fn an_answer_is_ok_only_where_something_was_achieved() {
    for (kind, code) in [
        (OutcomeKind::Unavailable, Some("unavailable")),
        (OutcomeKind::NotConfirmed, Some("not_confirmed")),
        (OutcomeKind::OutcomeUnknown, Some("outcome_unknown")),
        (OutcomeKind::Ignored, Some("ignored")),
        (OutcomeKind::Failed, Some("call_failed")),
        (OutcomeKind::Confirmed, None),
        (OutcomeKind::Assumed, None),
        (OutcomeKind::Accepted, None),
        (OutcomeKind::Done, None),
    ] {
        let answer = told_of(vec![outcome("light.kitchen", kind, "on", "on")]);
        assert_eq!(answer["ok"], json!(code.is_none()), "{kind:?}");
        assert_eq!(answer.get("error").and_then(Value::as_str), code, "{kind:?}");
        assert_eq!(answer["target"], json!("light.kitchen"));
        assert_eq!(answer["ran"], json!("light.turn_off"));
    }
}
