//! From what a model wrote to a call that the gate can judge: names, places, numbers, units.

use mcp::tools::call::prepare::prepare;
use serde_json::{Value, json};
use testkit::family;

use crate::{World, arguments};

#[track_caller]
fn prepared(given: Value) -> Value {
    let world = World::new(family().build());
    let call = prepare(&world.view(), &arguments(given.clone())).unwrap_or_else(|answer| panic!("{given}: {answer}"));
    json!({"service": format!("{}.{}", call.domain, call.service), "data": call.data, "target": call.target})
}

#[track_caller]
fn target(service: &str, given: Value, expected: Value) {
    let (domain, service) = service.split_once('.').unwrap();
    assert_eq!(
        prepared(json!({"domain": domain, "service": service, "entity_id": given}))["target"],
        expected,
        "{given}"
    );
}

#[track_caller]
fn refused(given: Value) -> Value {
    let world = World::new(family().build());
    match prepare(&world.view(), &arguments(given.clone())) {
        Err(answer) => {
            assert_eq!(answer["ok"], json!(false));
            answer
        }
        Ok(call) => panic!("{given} became {call:?}"),
    }
}

#[test]
fn ids_in_any_spelling_go_to_the_gate_as_they_came() {
    for given in
        ["LOCK.Front_Door", " lock.front_door ", "all", "ALL", "light.nope", "ｌｏｃｋ.front_door", "{{ states }}"]
    {
        target("lock.lock", json!(given), json!({"entity_id": [given]}));
    }
    target(
        "light.turn_on",
        json!(["light.sofa", "light.kitchen"]),
        json!({"entity_id": ["light.sofa", "light.kitchen"]}),
    );
    target("light.turn_on", json!("light.sofa,light.kitchen"), json!({"entity_id": ["light.sofa,light.kitchen"]}));
}

#[test]
fn names_become_ids_and_places_become_their_ids() {
    target("switch.turn_off", json!("Multisocket Switch 2, Salt lamp"), json!({"entity_id": ["switch.salt"]}));
    target("lock.lock", json!("前门"), json!({"entity_id": ["lock.front_door"]}));
    target("light.turn_off", json!("chris office lights"), json!({"entity_id": ["light.chris_office"]}));
    target("light.turn_off", json!("Chris Office"), json!({"area_id": ["chris_office"]}));
    let call =
        prepared(json!({"domain": "light", "service": "turn_off", "target": {"area_id": "客厅", "floor_id": "二楼"}}));
    assert_eq!(call["target"], json!({"area_id": ["living"], "floor_id": ["first"]}));
}

#[test]
fn targets_given_in_two_places_are_added_together() {
    let call = prepared(json!({
        "domain": "lock", "service": "lock", "entity_id": "lock.front_door",
        "data": {"entity_id": "lock.back_door", "area_id": "hall"}, "target": {"entity_id": ["前门"]},
    }));
    assert_eq!(call["target"], json!({"entity_id": ["lock.front_door", "lock.back_door"], "area_id": ["hall"]}));
    assert_eq!(call["data"], json!({}));
}

#[test]
fn a_name_beside_an_area_is_looked_for_in_that_area_and_an_id_beside_one_is_added_to_it() {
    let given =
        |id: &str, target: Value| json!({"domain": "light", "service": "turn_on", "entity_id": id, "target": target});
    let call = prepared(given("lights", json!({"area_id": "Kitchen"})));
    assert_eq!(call["target"], json!({"entity_id": ["light.kitchen"]}));
    let call = prepared(given("吊灯", json!({"floor_id": "二楼"})));
    assert_eq!(call["target"], json!({"entity_id": ["light.ceiling"]}));
    assert_eq!(refused(given("吊灯", json!({"area_id": "Kitchen"})))["error"], "not_found");
    let call = prepared(given("light.sofa", json!({"area_id": "Kitchen"})));
    assert_eq!(call["target"], json!({"entity_id": ["light.sofa"], "area_id": ["kitchen"]}));
}

#[test]
fn where_several_fit_the_person_is_asked_and_where_none_does_the_nearest_are_named() {
    let answer = refused(json!({"domain": "light", "service": "turn_on", "entity_id": "床头灯"}));
    assert_eq!(answer["error"], "ambiguous");
    assert_eq!(answer["candidates"].as_array().map(Vec::len), Some(2));
    assert_eq!(answer["candidates"][0]["area"], "卧室");
    assert_eq!(answer["candidates"][0]["floor"], "二楼");
    let answer = refused(json!({"domain": "light", "service": "turn_on", "entity_id": "Sofa Lmap"}));
    assert_eq!(answer["error"], "not_found");
    assert_eq!(answer["nearest"][0]["entity_id"], "light.sofa");
}

#[test]
fn the_service_may_carry_its_domain() {
    assert_eq!(prepared(json!({"domain": "Light", "service": "light.turn_on"}))["service"], "light.turn_on");
}

#[test]
fn an_argument_that_no_tool_has_is_an_error() {
    for key in ["confirmed", "confirm", "approve", "override"] {
        let mut given = json!({"domain": "lock", "service": "unlock", "entity_id": "lock.front_door"});
        given[key] = json!(true);
        let answer = refused(given);
        assert_eq!(answer["error"], "bad_request");
        assert!(answer["message"].as_str().unwrap().contains(key));
    }
}

#[test]
fn percentages_are_checked_before_the_house_sees_them() {
    for (data, expected) in [
        (json!({"brightness_pct": 50}), Some(json!({"brightness_pct": 50}))),
        (json!({"brightness_pct": "50%"}), Some(json!({"brightness_pct": 50}))),
        (json!({"brightness": 128}), Some(json!({"brightness": 128}))),
        (json!({"brightness_pct": 150}), None),
        (json!({"brightness_pct": -1}), None),
        (json!({"brightness": 256}), None),
        (json!({"brightness_pct": "bright"}), None),
        (json!({"brightness_pct": 50, "brightness": 9}), None),
    ] {
        let given = json!({"domain": "light", "service": "turn_on", "entity_id": "light.sofa", "data": data});
        match expected {
            Some(expected) => assert_eq!(prepared(given)["data"], expected),
            None => assert_eq!(refused(given)["error"], "bad_request"),
        }
    }
}

#[test]
fn temperatures_are_converted_once_into_the_houses_unit() {
    for (data, expected) in [
        (json!({"temperature": 22}), Some(json!({"temperature": 22}))),
        (json!({"temperature": "22"}), Some(json!({"temperature": 22}))),
        (json!({"temperature": "72 °F"}), Some(json!({"temperature": 22.2}))),
        (json!({"temperature": "72F"}), Some(json!({"temperature": 22.2}))),
        (json!({"temperature": 72, "unit": "°F"}), Some(json!({"temperature": 22.2}))),
        (json!({"temperature": 22, "unit": "celsius"}), Some(json!({"temperature": 22}))),
        (json!({"temperature": "二十度"}), None),
        (json!({"temperature": "22 bar"}), None),
        (json!({"temperature": 22, "unit": "bar"}), None),
    ] {
        let given =
            json!({"domain": "climate", "service": "set_temperature", "entity_id": "climate.bedroom", "data": data});
        match expected {
            Some(expected) => assert_eq!(prepared(given)["data"], expected),
            None => assert_eq!(refused(given)["error"], "bad_request"),
        }
    }
}

#[test]
fn a_bare_72_in_a_house_of_celsius_is_told_the_range_in_both_units() {
    use decide::gate::{Plan, Send};
    use decide::house::EntityId;
    let world = World::new(family().build());
    let plan = |degrees: Value| Plan {
        sends: vec![Send {
            domain: "climate".into(),
            service: "set_temperature".into(),
            entities: EntityId::parse("climate.bedroom").into_iter().collect(),
            data: arguments(json!({"temperature": degrees})),
            toward_safety: false,
        }],
        ..Plan::default()
    };
    assert!(mcp::tools::call::values::in_range(&world.view(), &plan(json!(22.2))).is_ok());
    let answer = mcp::tools::call::values::in_range(&world.view(), &plan(json!(72))).unwrap_err();
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("7–35 °C") && message.contains("44.6–95 °F"), "{message}");
}

#[test]
fn more_names_than_a_person_says_are_not_looked_up() {
    let names = vec!["Sofa Lamp"; 2_000];
    let unknown: Vec<String> = (0..2_000).map(|number| format!("light.unknown_{number}")).collect();
    for given in [
        json!({"entity_id": names.join(", ")}),
        json!({"entity_id": names}),
        json!({"entity_id": names.join("、")}),
        json!({"entity_id": unknown}),
        json!({"target": {"area_id": names}}),
        json!({"data": {"label_id": names, "floor_id": names}}),
    ] {
        let mut call = json!({"domain": "light", "service": "turn_off"});
        call.as_object_mut().unwrap().extend(arguments(given));
        let answer = refused(call);
        assert!(answer["message"].as_str().unwrap().contains("at most 100"), "{answer}");
    }
    let ids = vec![json!("light.sofa"); 2_000];
    target("light.turn_off", json!(ids), json!({"entity_id": ["light.sofa"]}));
}

#[test]
fn arguments_of_any_shape_beyond_all_measure_are_refused_before_they_are_read() {
    use mcp::tools::arguments::Arguments;
    for given in [
        json!({"phrase": "晚安".repeat(20_000)}),
        json!({"entity_id": vec!["a"; 5_000]}),
        json!({"data": {"x".repeat(70_000): 1}}),
        json!({"data": vec![json!({}); 5_000]}),
        json!({"data": {"entities": (0..5_000).map(|n| (format!("light.x{n}"), json!("on"))).collect::<serde_json::Map<_, _>>()}}),
    ] {
        let answer = Arguments::too_big(&arguments(given), decide::gate::Language::English).unwrap();
        assert_eq!(answer["error"], "bad_request");
    }
    let whole = json!({"domain": "light", "service": "turn_off", "entity_id": vec!["light.sofa"; 1_000]});
    assert_eq!(Arguments::too_big(&arguments(whole), decide::gate::Language::English), None);
}
