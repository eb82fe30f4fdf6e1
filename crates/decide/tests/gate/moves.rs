//! Locks, covers, valves, alarms and heat: what each move gives from each state.

use super::small::{Small, call, id, on, unlock};
use decide::gate::{Facts, Origin, Plan, Risk, judge};
use serde_json::{Value, json};

fn at(entity: &str, state: &str) -> Small {
    Small::new().set(&format!("/entities/{entity}/state/value"), json!(state))
}

fn pulse(small: Small) -> Small {
    small.policy(|policy| _ = policy.pulse.insert(id("cover.garage")))
}

/// One step on its entities, in a macro.
fn in_a_macro(small: Small, name: &str, data: Value) -> Small {
    small.script("a", json!([{ "action": name, "data": data }]))
}

/// What is sent, and whether toward safety; what is done already.
fn sent(plan: &Plan) -> String {
    let mut words: Vec<String> = Vec::new();
    for send in &plan.sends {
        let ids: Vec<&str> = send.entities.iter().map(|id| id.as_str()).collect();
        let safe = if send.toward_safety { "safe " } else { "" };
        words.push(format!("{safe}{}.{} {}", send.domain, send.service, ids.join(",")));
    }
    words.extend(plan.done.iter().map(|id| format!("done {id}")));
    words.extend(plan.ignored.iter().map(|id| format!("ignored {id}")));
    words.join("; ")
}

#[track_caller]
fn sends(small: &Small, name: &str, data: Value, expected: &str) {
    assert_eq!(sent(&small.decision(name, data.clone()).plan), expected, "{name} {data}");
}

#[test]
fn a_lock_locks_at_once_and_unlocks_when_somebody_says_yes() {
    let small = Small::new();
    small.gives("lock.lock", on("lock.front"), "allow").gives("lock.unlock", on("lock.front"), "ask opens").gives(
        "lock.open",
        on("lock.front"),
        "ask opens",
    );
    sends(&small, "lock.lock", on("lock.front"), "safe lock.lock lock.front");
    sends(&small, "lock.unlock", on("lock.front"), "lock.unlock lock.front");
}

#[test]
fn a_code_is_taken_from_a_person_only() {
    let small = Small::new();
    let coded = |entity: &str| json!({ "entity_id": entity, "code": "1234" });
    small
        .gives("lock.lock", coded("lock.front"), "refuse code_given")
        .gives("lock.unlock", coded("lock.front"), "refuse code_given opens")
        .gives("alarm_control_panel.alarm_disarm", coded("alarm_control_panel.house"), "refuse code_given disarms");
    let house = small.house();
    let facts = Facts { house: &house, policy: &small.policy, in_flight: &small.in_flight, now: 0 };
    for (origin, codes) in [(Origin::Person, 0), (Origin::Model, 1), (Origin::Plugin, 1), (Origin::Schedule, 1)] {
        let decision = judge(&facts, origin, &call("lock.lock", coded("lock.front"))).unwrap();
        assert_eq!(decision.reasons.len(), codes, "{origin:?}");
    }
    // What the household wrote into a macro is its own.
    in_a_macro(Small::new(), "lock.lock", coded("lock.front")).gives("script.a", json!({}), "allow");
    in_a_macro(Small::new(), "lock.unlock", coded("lock.front")).gives("script.a", json!({}), "ask opens");
}

#[test]
fn a_cover_s_moves() {
    let garage = |rest: Value| {
        let mut data = rest;
        data["entity_id"] = "cover.garage".into();
        data
    };
    for (service, rest, guarded) in [
        ("open_cover", json!({}), "ask opens"),
        ("toggle", json!({}), "ask opens"),
        ("close_cover", json!({}), "allow"),
        ("stop_cover", json!({}), "ask stops_cover"),
        ("open_cover_tilt", json!({}), "ask opens"),
        ("close_cover_tilt", json!({}), "ask opens"),
        ("stop_cover_tilt", json!({}), "ask opens"),
        ("toggle_cover_tilt", json!({}), "ask opens"),
        ("set_cover_tilt_position", json!({ "tilt_position": 0 }), "ask opens"),
        ("set_cover_position", json!({}), "ask opens"),
        ("set_cover_position", json!({ "position": 40 }), "ask opens"),
        ("set_cover_position", json!({ "position": "40" }), "ask opens"),
        ("set_cover_position", json!({ "position": -1 }), "ask opens"),
        ("set_cover_position", json!({ "position": null }), "ask opens"),
        ("set_cover_position", json!({ "position": [0] }), "ask opens"),
        ("set_cover_position", json!({ "position": "zero" }), "ask opens"),
        ("set_cover_position", json!({ "position": 0 }), "allow"),
        ("set_cover_position", json!({ "position": 0.0 }), "allow"),
        ("set_cover_position", json!({ "position": " 0 " }), "allow"),
        ("set_cover_position", json!({ "position": "0.0" }), "allow"),
    ] {
        let name = format!("cover.{service}");
        for state in ["open", "closed", "unknown", "closing"] {
            at("cover.garage", state).gives(&name, garage(rest.clone()), guarded);
        }
        let mut soft = rest;
        soft["entity_id"] = "cover.blind".into();
        Small::new().gives(&name, soft, "allow");
    }
    at("cover.garage", "opening").gives("cover.stop_cover", on("cover.garage"), "allow");
    let small = Small::new();
    sends(&small, "cover.close_cover", on("cover.blind"), "cover.close_cover cover.blind");
    sends(&small, "cover.stop_cover", on("cover.garage"), "cover.stop_cover cover.garage");
}

#[test]
fn a_guarded_cover_is_closed_once() {
    let close = "cover.close_cover";
    let garage = on("cover.garage");
    sends(&at("cover.garage", "open"), close, garage.clone(), "safe cover.close_cover cover.garage");
    sends(&at("cover.garage", "unknown"), close, garage.clone(), "safe cover.close_cover cover.garage");
    sends(&at("cover.garage", "closed"), close, garage.clone(), "done cover.garage");
    let mut under_way = at("cover.garage", "open");
    under_way.in_flight.closing.insert(id("cover.garage"));
    sends(&under_way, close, garage.clone(), "done cover.garage");
    // A macro goes out as a whole: what is closed is closed again, unless that is a pulse.
    in_a_macro(at("cover.garage", "closed"), close, garage.clone()).gives("script.a", json!({}), "allow");
    in_a_macro(under_way, close, garage).gives("script.a", json!({}), "ask pulse");
}

#[test]
fn a_close_that_follows_another_command_is_sent_whatever_the_state_still_says() {
    let close = "cover.close_cover";
    let garage = on("cover.garage");
    for state in ["closed", "open", "unknown"] {
        let mut opening = at("cover.garage", state);
        opening.in_flight.otherwise.insert(id("cover.garage"));
        sends(&opening, close, garage.clone(), "safe cover.close_cover cover.garage");
        in_a_macro(opening.clone(), close, garage.clone()).gives("script.a", json!({}), "allow");
        // Another pulse could as well stop it, or turn it round.
        pulse(opening).gives(close, garage.clone(), "ask pulse");
    }
}

#[test]
fn a_cover_of_one_pulse_is_closed_only_from_open() {
    for (state, alone, within) in [
        ("open", "allow", "allow"),
        ("closed", "allow", "ask pulse"),
        ("opening", "ask pulse", "ask pulse"),
        ("closing", "ask pulse", "ask pulse"),
        ("unknown", "ask pulse", "ask pulse"),
    ] {
        let small = pulse(at("cover.garage", state));
        small.gives("cover.close_cover", on("cover.garage"), alone);
        in_a_macro(small, "cover.close_cover", on("cover.garage")).gives("script.a", json!({}), within);
        at("cover.garage", state).gives("cover.close_cover", on("cover.garage"), "allow");
    }
}

#[test]
fn a_cover_s_class_stands_in_the_reason() {
    let class = |small: &Small, entity: &str| {
        small.decision("cover.open_cover", on(entity)).reasons[0].detail.clone().unwrap_or_default()
    };
    let small = Small::new().with("cover.plain", "closed", json!({}));
    assert_eq!(class(&small, "cover.garage"), "garage");
    assert_eq!(class(&small, "cover.plain"), "no class");
}

#[test]
fn a_valve_s_moves() {
    let valve = |class: Value, state: &str| Small::new().with("valve.v", state, json!({ "device_class": class }));
    for (service, rest, water, gas) in [
        ("open_valve", json!({}), "ask valve", "ask gas"),
        ("toggle", json!({}), "ask valve", "ask gas"),
        ("stop_valve", json!({}), "ask valve", "ask gas"),
        ("set_valve_position", json!({ "position": 1 }), "ask valve", "ask gas"),
        ("set_valve_position", json!({ "position": 0 }), "allow", "allow"),
        ("close_valve", json!({}), "allow", "allow"),
    ] {
        let mut data = rest;
        data["entity_id"] = "valve.v".into();
        let name = format!("valve.{service}");
        for state in ["open", "closed", "closing", "unknown"] {
            valve(json!("water"), state).gives(&name, data.clone(), water);
            valve(json!(null), state).gives(&name, data.clone(), water);
            valve(json!("gas"), state).gives(&name, data.clone(), gas);
            valve(json!("water"), state).info("valve.v", "original_class", json!("gas")).gives(
                &name,
                data.clone(),
                gas,
            );
        }
    }
    valve(json!("gas"), "opening").gives("valve.stop_valve", on("valve.v"), "allow");
    sends(&valve(json!("gas"), "closed"), "valve.close_valve", on("valve.v"), "safe valve.close_valve valve.v");
    let decision = valve(json!("gas"), "closed").decision("valve.open_valve", on("valve.v"));
    assert_eq!(decision.risk, Some(Risk::Physical));
}

const MODES: [&str; 5] = ["home", "night", "vacation", "away", "custom_bypass"];

#[test]
fn arming_passes_toward_the_stronger_mode_only() {
    // From each state to each mode: sent, done already, or asked.
    for (state, row) in [
        ("disarmed", ["sent", "sent", "sent", "sent", "ask"]),
        ("armed_home", ["done", "ask", "ask", "sent", "ask"]),
        ("armed_night", ["ask", "done", "ask", "sent", "ask"]),
        ("armed_vacation", ["ask", "ask", "done", "sent", "ask"]),
        ("armed_away", ["ask", "ask", "ask", "done", "ask"]),
        ("armed_custom_bypass", ["ask", "ask", "ask", "ask", "done"]),
        ("arming", ["ask"; 5]),
        ("pending", ["ask"; 5]),
        ("triggered", ["ask"; 5]),
        ("unknown", ["ask"; 5]),
        ("unavailable", ["ask"; 5]),
    ] {
        for (mode, expected) in MODES.iter().zip(row) {
            let name = format!("alarm_control_panel.alarm_arm_{mode}");
            let panel = on("alarm_control_panel.house");
            let small = at("alarm_control_panel.house", state);
            let outcome = if expected == "ask" { "ask rearms" } else { "allow" };
            small.gives(&name, panel.clone(), outcome);
            let plan = match expected {
                "sent" => format!("safe {name} alarm_control_panel.house"),
                "done" => "done alarm_control_panel.house".to_owned(),
                _ => format!("{name} alarm_control_panel.house"),
            };
            sends(&small, &name, panel.clone(), &plan);
            // In a macro the same mode is sent again; a bypass is never toward safety.
            let within = if expected == "ask" || *mode == "custom_bypass" { "ask rearms" } else { "allow" };
            in_a_macro(small, &name, panel).gives("script.a", json!({}), within);
        }
        for service in ["alarm_disarm", "alarm_trigger"] {
            let small = at("alarm_control_panel.house", state);
            let name = format!("alarm_control_panel.{service}");
            small.gives(&name, on("alarm_control_panel.house"), "ask disarms");
        }
    }
}

#[test]
fn a_move_toward_safety_that_opens_something_else_asks() {
    for (entity, to, name, state) in [
        ("lock.front", json!("locked"), "lock.lock", "unlocked"),
        ("lock.front", json!("locking"), "lock.lock", "unlocked"),
        ("lock.front", json!("jammed"), "lock.lock", "unlocked"),
        ("cover.garage", json!("closed"), "cover.close_cover", "open"),
        ("cover.garage", json!("closing"), "cover.close_cover", "open"),
        ("alarm_control_panel.house", json!("armed_away"), "alarm_control_panel.alarm_arm_away", "disarmed"),
        ("alarm_control_panel.house", json!("triggered"), "alarm_control_panel.alarm_arm_away", "disarmed"),
        ("cover.blind", json!("closed"), "cover.close_cover", "open"),
    ] {
        let trigger = |to: &Value| json!([{ "trigger": "state", "entity_id": entity, "to": to }]);
        at(entity, state).gives(name, on(entity), "allow");
        at(entity, state).opener(trigger(&to)).gives(name, on(entity), "ask opens");
    }
    let unlocked = json!([{ "trigger": "state", "entity_id": "lock.front", "to": "unlocked" }]);
    Small::new().opener(unlocked.clone()).gives("lock.lock", on("lock.front"), "allow");
    // An opening sets off what waits for it, whatever else it does.
    let small = Small::new().automation("heat", unlocked, json!([{ "action": "shell_command.x" }]));
    small.gives("lock.unlock", on("lock.front"), "ask opaque opens");
    let state = |entity: &str| json!([{ "trigger": "state", "entity_id": entity }]);
    let shell = json!([{ "action": "shell_command.x" }]);
    for (name, entity, now, expected) in [
        ("cover.open_cover", "cover.garage", "closed", "ask opaque opens"),
        ("cover.stop_cover", "cover.garage", "opening", "ask opaque"),
        ("valve.open_valve", "valve.v", "closed", "ask opaque valve"),
        ("valve.stop_valve", "valve.v", "opening", "ask opaque"),
        ("valve.close_valve", "valve.v", "open", "ask opaque"),
        ("alarm_control_panel.alarm_disarm", "alarm_control_panel.house", "armed_away", "ask disarms opaque"),
        ("alarm_control_panel.alarm_arm_home", "alarm_control_panel.house", "armed_away", "ask opaque rearms"),
    ] {
        let small = Small::new().with("valve.v", "open", json!({})).automation("a", state(entity), shell.clone());
        small.set(&format!("/entities/{entity}/state/value"), json!(now)).gives(name, on(entity), expected);
    }
}

#[test]
fn stopping_an_automation_that_only_disarms_or_unlocks_leaves_nothing_undone() {
    let step = |name: &str, entity: &str| json!([{ "action": name, "target": { "entity_id": entity } }]);
    let panel = "alarm_control_panel.house";
    for (steps, expected) in [
        (step("alarm_control_panel.alarm_disarm", panel), "allow"),
        (step("alarm_control_panel.alarm_arm_away", panel), "ask stops"),
        (step("alarm_control_panel.alarm_trigger", panel), "ask stops"),
        (step("lock.lock", "lock.front"), "ask stops"),
        (step("cover.close_cover", "cover.garage"), "ask stops"),
        (step("valve.close_valve", "valve.v"), "ask stops"),
        (step("siren.turn_on", "siren.s"), "ask stops"),
        (step("lawn_mower.start_mowing", "lawn_mower.m"), "allow"),
        (step("cover.close_cover", "cover.blind"), "allow"),
        (json!([unlock()]), "allow"),
        (json!([{ "action": "script.gone" }]), "allow"),
    ] {
        let small = Small::new()
            .with("valve.v", "open", json!({}))
            .with("siren.s", "off", json!({}))
            .with("lawn_mower.m", "docked", json!({}))
            .automation("a", json!([{ "trigger": "time", "at": "23:00" }]), steps);
        small.gives("automation.turn_off", on("automation.a"), expected);
    }
}

#[test]
fn heat_within_comfort_passes_in_either_unit() {
    let small = |unit: Value| {
        Small::new().set("/units/temperature", unit).with("climate.hall", "heat", json!({})).with(
            "water_heater.tank",
            "eco",
            json!({}),
        )
    };
    let celsius = json!("°C");
    for (unit, value, expected) in [
        (celsius.clone(), json!(5), "allow"),
        (celsius.clone(), json!(30), "allow"),
        (celsius.clone(), json!("21.5"), "allow"),
        (celsius.clone(), json!(" 21 "), "allow"),
        (celsius.clone(), json!(4.9), "ask heat"),
        (celsius.clone(), json!(30.1), "ask heat"),
        (celsius.clone(), json!("31"), "ask heat"),
        (celsius.clone(), json!("warm"), "ask heat"),
        (celsius.clone(), json!(null), "ask heat"),
        (celsius.clone(), json!([21]), "ask heat"),
        (celsius.clone(), json!("NaN"), "ask heat"),
        (json!("°F"), json!(42), "allow"),
        (json!("°F"), json!(70), "allow"),
        (json!("°F"), json!(85), "allow"),
        (json!("°F"), json!(40), "ask heat"),
        (json!("°F"), json!(87), "ask heat"),
        (json!("K"), json!(21), "ask heat"),
        (json!(null), json!(21), "ask heat"),
    ] {
        for key in ["temperature", "target_temp_high", "target_temp_low"] {
            small(unit.clone()).gives(
                "climate.set_temperature",
                json!({ "entity_id": "climate.hall", key: value }),
                expected,
            );
        }
    }
    for (value, expected) in [(json!(-5), "allow"), (json!(60), "allow"), (json!(61), "ask heat")] {
        let data = json!({ "entity_id": "water_heater.tank", "temperature": value });
        small(celsius.clone()).gives("water_heater.set_temperature", data, expected);
    }
    let decision =
        small(celsius).decision("climate.set_temperature", json!({ "entity_id": "climate.hall", "temperature": 45 }));
    assert_eq!((decision.risk, decision.reasons[0].detail.as_deref()), (Some(Risk::Physical), Some("45 °C")));
}

#[test]
fn a_macro_s_template_for_heat_is_trusted_and_its_number_is_not() {
    let run = |data: Value| {
        let small = Small::new().with("climate.hall", "heat", json!({}));
        in_a_macro(small, "climate.set_temperature", data)
    };
    let hall = |temperature: Value, mode: &str| json!({ "entity_id": "climate.hall", "temperature": temperature, "hvac_mode": mode });
    for (temperature, mode, expected) in [
        (json!("{{ x }}"), "heat", "allow"),
        (json!(21), "{{ x }}", "allow"),
        (json!(80), "{{ x }}", "ask heat"),
        (json!("80"), "{{ x }}", "ask heat"),
        (json!("warm"), "heat", "ask heat"),
        (json!(80), "heat", "ask heat"),
    ] {
        run(hall(temperature, mode)).gives("script.a", json!({}), expected);
    }
    run(hall(json!("{{ x }}"), "heat")).gives("script.a", json!({ "x": 80 }), "ask heat");
}

#[test]
fn without_a_picture_of_the_house_only_locking_and_closing_is_sent_on_trust() {
    let blind = Small::new().set("/readiness/states", json!(false)).set("/entities", json!({}));
    for (name, entity, expected) in [
        ("lock.lock", "lock.new", "allow"),
        ("cover.close_cover", "cover.new", "allow"),
        ("valve.close_valve", "valve.new", "allow"),
        ("alarm_control_panel.alarm_arm_away", "alarm_control_panel.new", "ask no_state"),
        ("lock.unlock", "lock.new", "not_ready"),
        ("cover.open_cover", "cover.new", "not_ready"),
        ("light.turn_on", "light.new", "not_ready"),
        // Of another domain it is nobody's to close.
        ("lock.lock", "cover.new", "not_found"),
    ] {
        blind.gives(name, on(entity), expected);
    }
    blind.gives("lock.lock", json!({ "entity_id": "lock.new", "code": "1" }), "refuse code_given");
    sends(&blind, "lock.lock", on("lock.new"), "safe lock.lock lock.new");
}
