//! What a script's or an automation's actions do, all branches taken. Start at [`run`].
//!
//! Invariant: an action that is not known here, a template where an action or a target stands, and
//! an empty body are opaque, and opaque asks.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::resolve::{self, Reading, TARGET_KEYS};
use super::table::{self, Kind};
use super::walk::{Action, Walk, has_template, is_template};
use super::{ReasonCode, Risk, Verdict};
use crate::house::EntityId;

/// Nested sequences deeper than this are not followed.
const NESTING_MAX: usize = 64;

/// Keys that only steer or describe.
const QUIET: &[&str] = &[
    "delay",
    "wait_template",
    "wait_for_trigger",
    "condition",
    "and",
    "or",
    "not",
    "conditions",
    "variables",
    "stop",
    "set_conversation_response",
    "alias",
];

/// The actions of a script (`sequence`) or an automation (`actions`, `action`).
pub(super) fn run(walk: &mut Walk<'_>, id: &EntityId, config: &Value) {
    let sequence = ["sequence", "actions", "action"].iter().find_map(|key| config.get(key));
    let empty = match sequence {
        None | Some(Value::Null) => true,
        Some(Value::Array(items)) => items.is_empty(),
        Some(_) => false,
    };
    match sequence {
        Some(sequence) if !empty => steps(walk, id, sequence, 0),
        _ => opaque(walk, id, "empty"),
    }
}

fn opaque(walk: &mut Walk<'_>, id: &EntityId, what: &str) {
    let what = crate::text::clean(what, 60);
    walk.note(Verdict::Ask, Some(Risk::Security), ReasonCode::OpaqueBody, id.as_str(), Some(id), Some(what));
}

fn steps(walk: &mut Walk<'_>, id: &EntityId, value: &Value, depth: usize) {
    if depth > NESTING_MAX {
        return opaque(walk, id, "nesting");
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| steps(walk, id, item, depth + 1)),
        Value::Object(map) => step(walk, id, map, depth),
        // A bare string is a template condition.
        Value::String(_) | Value::Null => {}
        _ => opaque(walk, id, "not an action"),
    }
}

fn step(walk: &mut Walk<'_>, id: &EntityId, map: &Map<String, Value>, depth: usize) {
    if map.get("enabled") == Some(&Value::Bool(false)) {
        return;
    }
    if let Some(name) = map.get("action").or_else(|| map.get("service")).or_else(|| map.get("service_template")) {
        return call(walk, id, map, name);
    }
    if let Some(scene) = map.get("scene") {
        let data = Map::from_iter([("entity_id".to_owned(), scene.clone())]);
        return service(walk, id, "scene", "turn_on", &data, None);
    }
    if let Some(event) = map.get("event") {
        return raise(walk, id, event);
    }
    let nested = ["choose", "sequence", "default", "then", "else", "parallel", "repeat"];
    let condition = map.contains_key("condition");
    if map.contains_key("device_id") && !condition && !nested.iter().any(|key| map.contains_key(*key)) {
        return device(walk, id, map);
    }
    let mut known = map.keys().any(|key| QUIET.contains(&key.as_str()));
    for key in nested {
        if let Some(inner) = map.get(key) {
            known = true;
            match (key, inner) {
                // Each choice is `conditions` and `sequence`; each repeat its own.
                ("choose", Value::Array(choices)) => choices.iter().for_each(|choice| match choice.get("sequence") {
                    Some(sequence) => steps(walk, id, sequence, depth + 1),
                    None => opaque(walk, id, "choose"),
                }),
                ("choose" | "repeat", Value::Object(one)) => match one.get("sequence") {
                    Some(sequence) => steps(walk, id, sequence, depth + 1),
                    None => opaque(walk, id, key),
                },
                _ => steps(walk, id, inner, depth + 1),
            }
        }
    }
    if !known {
        opaque(walk, id, map.keys().next().map_or("nothing", String::as_str));
    }
}

/// `service:` or `action:` with its data, in all the spellings that Home Assistant takes.
fn call(walk: &mut Walk<'_>, id: &EntityId, map: &Map<String, Value>, name: &Value) {
    let Some(name) = name.as_str() else { return opaque(walk, id, "action") };
    let Some((domain, called)) = name.trim().split_once('.') else { return opaque(walk, id, name) };
    if is_template(name) {
        return opaque(walk, id, "templated action");
    }
    let mut data = Map::new();
    for key in ["data", "data_template", "service_data"] {
        match map.get(key) {
            Some(Value::Object(more)) => data.extend(more.clone()),
            Some(Value::Null) | None => {}
            Some(_) => return opaque(walk, id, "templated data"),
        }
    }
    if let Some(entity) = map.get("entity_id") {
        data.insert("entity_id".to_owned(), entity.clone());
    }
    let target = match map.get("target") {
        Some(Value::Object(target)) => Some(target),
        Some(Value::Null) | None => None,
        Some(_) => return opaque(walk, id, "templated target"),
    };
    service(walk, id, &domain.to_lowercase(), &called.to_lowercase(), &data, target);
}

/// A service as the body calls it.
fn service(
    walk: &mut Walk<'_>,
    id: &EntityId,
    domain: &str,
    called: &str,
    data: &Map<String, Value>,
    target: Option<&Map<String, Value>>,
) {
    let script = match domain {
        "script" => resolve::script(walk.house(), called).or_else(|| EntityId::parse(&format!("script.{called}"))),
        _ => None,
    };
    let row = table::row(domain, called);
    let plain: Map<String, Value> = data
        .iter()
        .filter(|(key, _)| !TARGET_KEYS.contains(&key.as_str()))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    let templated = plain.iter().any(|(key, value)| is_template(key) || has_template(value));
    let action = Action { domain, service: called, data: &plain, templated };
    if let Some(script) = script.filter(|_| row.is_none()) {
        walk.service(Some(table::Row { kind: Kind::ScriptOn, keys: &[] }), &action, &BTreeSet::from([script]));
        return;
    }
    let Ok(found) = resolve::targets(walk.house(), [Some(data), target], Reading::Body) else {
        return opaque(walk, id, "target");
    };
    // A templated target can be anything; a templated scene.apply too.
    let hidden = found.templated || (row.is_some_and(|row| row.kind == Kind::SceneApply) && templated);
    if hidden {
        let harmless = row.is_some_and(|row| matches!(row.kind, Kind::Read));
        if !harmless {
            opaque(walk, id, &format!("templated target of {domain}.{called}"));
        }
    }
    let works_on = row.map_or(domain, |row| row.works_on(domain, called).unwrap_or(domain));
    let mut reach = found.reach(walk.house(), works_on);
    if row.is_some_and(|row| row.works_on(domain, called).is_some()) {
        reach.retain(|entity| entity.domain() == works_on);
    }
    // An entity that is not there does not move; other forms may mean what this picture does not show.
    let opens = row.is_some_and(|row| opening(row.kind));
    if let Some(text) = found.unknown.iter().find(|text| opens || EntityId::parse(text).is_none()) {
        opaque(walk, id, &format!("unknown target {text}"));
    }
    walk.service(row, &action, &reach);
}

fn opening(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Lock(_)
            | Kind::Cover(_)
            | Kind::Valve(_)
            | Kind::Alarm(_)
            | Kind::SceneOn
            | Kind::ScriptOn
            | Kind::AutomationTrigger
            | Kind::Generic
    )
}

/// `event:` is followed through the graph.
fn raise(walk: &mut Walk<'_>, id: &EntityId, event: &Value) {
    let Some(event) = event.as_str().filter(|event| !is_template(event)) else {
        return opaque(walk, id, "templated event");
    };
    let empty = Map::new();
    let action = Action { domain: "event", service: event, data: &empty, templated: false };
    walk.raises(&action, event, Some(id));
}

/// A device action: `{device_id, domain, type, entity_id}`.
fn device(walk: &mut Walk<'_>, id: &EntityId, map: &Map<String, Value>) {
    let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default();
    let (domain, kind) = (text("domain"), text("type"));
    if (domain, kind) == ("mobile_app", "notify") {
        let words = |key: &&str| map.get(*key).map(|value| ((*key).to_owned(), value.clone()));
        let data = ["message", "title", "data"].iter().filter_map(words).collect();
        return service(walk, id, "notify", "mobile_app", &data, None);
    }
    let called = match (domain, kind) {
        (_, "turn_on" | "turn_off" | "toggle" | "press" | "lock" | "unlock") => kind,
        ("lock", "open") => "open",
        ("cover", "open") => "open_cover",
        ("cover", "close") => "close_cover",
        ("cover", "stop") => "stop_cover",
        ("cover", "open_tilt" | "close_tilt" | "set_tilt_position") => "open_cover_tilt",
        ("cover", "set_position") => "set_cover_position",
        ("light", "brightness_increase" | "brightness_decrease" | "flash") => "turn_on",
        ("climate", "set_hvac_mode" | "set_preset_mode") | ("number", "set_value") | ("text", "set_value") => kind,
        ("select", "select_option" | "select_first" | "select_last" | "select_next" | "select_previous") => kind,
        ("humidifier", "set_humidity" | "set_mode") | ("vacuum", "clean" | "dock") => match kind {
            "clean" => "start",
            "dock" => "return_to_base",
            other => other,
        },
        ("alarm_control_panel", "disarm") => "alarm_disarm",
        ("alarm_control_panel", "trigger") => "alarm_trigger",
        ("alarm_control_panel", "arm_home") => "alarm_arm_home",
        ("alarm_control_panel", "arm_away") => "alarm_arm_away",
        ("alarm_control_panel", "arm_night") => "alarm_arm_night",
        ("alarm_control_panel", "arm_vacation") => "alarm_arm_vacation",
        _ => return opaque(walk, id, &format!("device action {domain} {kind}")),
    };
    let mut data = Map::new();
    match map.get("entity_id") {
        Some(entity) => data.insert("entity_id".to_owned(), entity.clone()),
        None => data.insert("device_id".to_owned(), map["device_id"].clone()),
    };
    if let Some(position) = map.get("position") {
        data.insert("position".to_owned(), position.clone());
    }
    if let Some(code) = map.get("code") {
        data.insert("code".to_owned(), code.clone());
    }
    service(walk, id, domain, called, &data, None);
}
