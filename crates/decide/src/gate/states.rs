//! States that a scene or `scene.apply` gives to entities, judged as the actions that make them.
//! Start at [`apply`]. Invariant: a state that is not known for a guarded domain counts as opening.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::resolve::{expand, in_scope, plain_group};
use super::table::{self, Kind};
use super::walk::{Action, Walk, has_template};
use super::{ReasonCode, Risk, Verdict};
use crate::house::{Entity, EntityId};

/// Integrations whose scenes only set lamps.
const LIGHTING: &[&str] =
    &["hue", "lifx", "deconz", "nanoleaf", "wiz", "wled", "homekit_hue", "philips_hue", "lutron_caseta_lights"];

/// `scene.apply`: each given state is judged as an effect.
pub(super) fn apply(walk: &mut Walk<'_>, action: &Action<'_>) {
    match action.data.get("entities") {
        Some(Value::Object(entities)) => {
            for (key, state) in entities {
                if EntityId::parse(key).is_some_and(|id| may_touch(walk, &id)) {
                    walk.as_one = true;
                    one(walk, action, key, state);
                    walk.as_one = false;
                } else {
                    let what = crate::text::clean(key, 60);
                    walk.note(
                        Verdict::Refuse,
                        Some(Risk::Security),
                        ReasonCode::BadStates,
                        &action.name(),
                        None,
                        Some(what),
                    );
                }
            }
        }
        _ => walk.note(Verdict::Refuse, Some(Risk::Security), ReasonCode::BadStates, &action.name(), None, None),
    }
}

/// It is there, and neither it nor any member is left out by the operator.
fn may_touch(walk: &Walk<'_>, id: &EntityId) -> bool {
    let mut members = BTreeSet::from([id.clone()]);
    expand(walk.house(), id, &mut members);
    walk.house().entities.contains_key(id) && members.iter().all(|member| in_scope(walk.facts, member))
}

/// An editor scene's body.
pub(super) fn scene(walk: &mut Walk<'_>, id: &EntityId, config: &Value) {
    let data = Map::new();
    let action = Action { domain: "scene", service: "turn_on", data: &data, templated: false };
    match config.get("entities") {
        Some(Value::Object(entities)) if !entities.is_empty() => {
            entities.iter().for_each(|(key, state)| one(walk, &action, key, state));
        }
        _ => walk.note(
            Verdict::Ask,
            Some(Risk::Security),
            ReasonCode::OpaqueBody,
            id.as_str(),
            Some(id),
            Some("empty".to_owned()),
        ),
    }
}

/// A scene whose states cannot be read: harmless if all members are, or if it only sets lamps.
pub(super) fn members_only(walk: &mut Walk<'_>, action: &Action<'_>, id: &EntityId) {
    let Some(entity) = walk.house().entity(id.as_str()) else { return };
    let platform = entity.info.platform.as_deref().unwrap_or_default();
    if LIGHTING.contains(&platform) {
        return;
    }
    let members: Vec<EntityId> = entity.members().collect();
    if members.is_empty() {
        walk.note(Verdict::Ask, Some(Risk::Security), ReasonCode::UnreadableScene, &action.name(), Some(id), None);
        return;
    }
    let before = walk.reasons.len();
    for member in &members {
        let kind = any_move(member);
        match kind {
            Some(kind) => {
                walk.entity(kind, action, member);
            }
            None => walk.note(
                Verdict::Ask,
                Some(Risk::Security),
                ReasonCode::UnreadableScene,
                &action.name(),
                Some(member),
                None,
            ),
        }
    }
    if walk.reasons.len() > before {
        walk.note(Verdict::Ask, Some(Risk::Security), ReasonCode::UnreadableScene, &action.name(), Some(id), None);
    }
}

/// The strongest thing that a scene can do to an entity whose wanted state is not known.
fn any_move(id: &EntityId) -> Option<Kind> {
    Some(match id.domain() {
        "lock" => Kind::Lock(table::LockMove::Unlock),
        "cover" => Kind::Cover(table::CoverMove::Toggle),
        "valve" => Kind::Valve(table::CoverMove::Toggle),
        "alarm_control_panel" => Kind::Alarm(table::AlarmMove::Disarm),
        "siren" | "lawn_mower" | "water_heater" => Kind::Harm,
        "automation" => Kind::AutomationToggle,
        "script" => Kind::ScriptOn,
        "timer" => Kind::TimerStop,
        "switch" | "input_boolean" | "input_select" | "input_number" | "input_text" | "input_datetime" | "select"
        | "number" | "text" | "remote" | "button" | "input_button" => Kind::Relay(table::End::Any),
        domain if table::harmless_domain(domain) => Kind::Comfort(table::End::Any),
        _ => return None,
    })
}

fn one(walk: &mut Walk<'_>, action: &Action<'_>, key: &str, wanted: &Value) {
    let name = action.name();
    let Some(id) = EntityId::parse(key) else {
        let verdict = Verdict::Refuse;
        walk.note(verdict, Some(Risk::Security), ReasonCode::BadStates, &name, None, Some(crate::text::clean(key, 60)));
        return;
    };
    let Some(entity) = walk.house().entity(id.as_str()) else { return };
    if plain_group(&id, entity) {
        let mut members = BTreeSet::new();
        expand(walk.house(), &id, &mut members);
        for member in members {
            if let Some(entity) = walk.house().entity(member.as_str()) {
                state(walk, &member, entity, wanted);
            }
        }
        return;
    }
    state(walk, &id, entity, wanted);
}

/// One wanted state: `"locked"` or `{"state": "open", "current_position": 40}`.
fn state(walk: &mut Walk<'_>, id: &EntityId, entity: &Entity, wanted: &Value) {
    let (value, attributes) = match wanted {
        Value::Object(map) => (map.get("state").cloned().unwrap_or(Value::Null), map.clone()),
        other => (other.clone(), Map::new()),
    };
    let value = match &value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "on".to_owned(),
        Value::Bool(false) => "off".to_owned(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    };
    if has_template(wanted) {
        if let Some(kind) = any_move(id) {
            act(walk, kind, id, "scene", "turn_on", attributes);
        }
        return;
    }
    let (service, data) = as_service(id.domain(), &value, &attributes, entity);
    match service.and_then(|service| Some((service, table::row(id.domain(), service)?))) {
        Some((service, row)) => act(walk, row.kind, id, id.domain(), service, data),
        None => {
            if let Some(kind) = any_move(id) {
                act(walk, kind, id, "scene", "apply", data);
            } else if !matches!(id.domain(), "scene" | "person" | "zone" | "device_tracker" | "update" | "camera") {
                act(walk, Kind::Blind, id, "scene", "apply", data);
            }
        }
    }
    heat(walk, id, &attributes);
}

fn act(walk: &mut Walk<'_>, kind: Kind, id: &EntityId, domain: &str, service: &str, data: Map<String, Value>) {
    let action = Action { domain, service, data: &data, templated: false };
    walk.entity(kind, &action, id);
}

/// The service that Home Assistant calls to make this state, and the data that decide.
fn as_service(
    domain: &str,
    value: &str,
    attributes: &Map<String, Value>,
    entity: &Entity,
) -> (Option<&'static str>, Map<String, Value>) {
    let mut data = Map::new();
    let service = match (domain, value) {
        ("lock", "locked" | "locking") => Some("lock"),
        ("lock", "open" | "opening") => Some("open"),
        ("lock", _) => Some("unlock"),
        ("cover", _) => {
            let moved = |key: &str| attributes.get(key).is_some_and(|position| position.as_f64() != Some(0.0));
            let tilts = attributes
                .get("current_tilt_position")
                .is_some_and(|tilt| Some(tilt) != entity.attribute("current_tilt_position"));
            let closed = matches!(value, "closed" | "closing") && !moved("current_position") && !moved("position");
            Some(if tilts {
                "open_cover_tilt"
            } else if closed {
                "close_cover"
            } else {
                "open_cover"
            })
        }
        ("valve", "closed" | "closing") => Some("close_valve"),
        ("valve", _) => Some("open_valve"),
        ("alarm_control_panel", "armed_away") => Some("alarm_arm_away"),
        ("alarm_control_panel", "armed_home") => Some("alarm_arm_home"),
        ("alarm_control_panel", "armed_night") => Some("alarm_arm_night"),
        ("alarm_control_panel", "armed_vacation") => Some("alarm_arm_vacation"),
        ("alarm_control_panel", "armed_custom_bypass") => Some("alarm_arm_custom_bypass"),
        ("alarm_control_panel", "triggered") => Some("alarm_trigger"),
        ("alarm_control_panel", _) => Some("alarm_disarm"),
        ("light" | "switch" | "input_boolean" | "fan" | "humidifier" | "siren" | "remote", "on") => {
            // What may leave it off all the same.
            let level = |key: &str| matches!(key, "brightness" | "percentage");
            data.extend(
                attributes
                    .iter()
                    .filter(|(key, value)| level(key) && !value.is_null())
                    .map(|(k, v)| (k.clone(), v.clone())),
            );
            Some("turn_on")
        }
        ("light" | "switch" | "input_boolean" | "fan" | "humidifier" | "siren" | "remote", "off") => Some("turn_off"),
        ("media_player", state) if state != "off" => {
            for key in ["media_content_id", "media_content_type"] {
                let value = attributes.get(key).filter(|value| !value.is_null());
                data.extend(value.map(|value| (key.to_owned(), value.clone())));
            }
            Some("play_media")
        }
        ("automation", "on") => Some("turn_on"),
        ("automation", _) => Some("turn_off"),
        ("lawn_mower", "docked" | "paused" | "returning") => Some("dock"),
        // New options may leave any of them selected.
        ("input_select", _)
            if attributes.get("options").is_some_and(|new| Some(new) != entity.attribute("options")) =>
        {
            None
        }
        ("input_select", _) => {
            data.insert("option".to_owned(), Value::String(value.to_owned()));
            Some("select_option")
        }
        ("input_number" | "input_text", _) => {
            data.insert("value".to_owned(), Value::String(value.to_owned()));
            Some("set_value")
        }
        _ => None,
    };
    (service, data)
}

/// A scene can set temperatures too.
fn heat(walk: &mut Walk<'_>, id: &EntityId, attributes: &Map<String, Value>) {
    let row = match id.domain() {
        "climate" => Kind::Climate,
        "water_heater" => Kind::WaterHeater,
        _ => return,
    };
    let data: Map<String, Value> = (attributes.iter())
        .filter(|(key, value)| {
            matches!(key.as_str(), "temperature" | "target_temp_high" | "target_temp_low") && !value.is_null()
        })
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if !data.is_empty() {
        act(walk, row, id, id.domain(), "set_temperature", data);
    }
}
