//! The moves that open or secure: locks, covers, valves, alarms, and heat. Start at [`lock`].
//! Invariant: a move toward safety never waits for anybody; its exceptions are written here, each
//! with its reason.

use serde_json::Value;

use super::{Action, Fate, SEND, Walk};
use crate::gate::entity::{gas, guarded_cover};
use crate::gate::table::{AlarmMove, CoverMove, Kind, LockMove};
use crate::gate::triggers::Ends;
use crate::gate::{Origin, ReasonCode, Risk, Verdict};
use crate::house::{Entity, EntityId};

/// Comfort without asking, in °C.
pub(in crate::gate) const CLIMATE_CELSIUS: (f64, f64) = (5.0, 30.0);
pub(in crate::gate) const WATER_CELSIUS: (f64, f64) = (f64::NEG_INFINITY, 60.0);

const SAFE: Fate = Fate::Send { toward_safety: true };

/// An entity without any state: only a lock or a close is sent on trust in its domain.
pub(super) fn without_state(walk: &mut Walk<'_>, kind: Kind, action: &Action<'_>, id: &EntityId) -> Fate {
    code(walk, action, id);
    match kind {
        Kind::Lock(LockMove::Lock) | Kind::Cover(CoverMove::Close) | Kind::Valve(CoverMove::Close) => SAFE,
        _ => {
            walk.asks(ReasonCode::NoState, action, Some(id), None);
            SEND
        }
    }
}

/// Codes come from the operator's sealed store, never from a model.
fn code(walk: &mut Walk<'_>, action: &Action<'_>, id: &EntityId) {
    if action.data.contains_key("code") && walk.origin != Origin::Person && walk.path.is_empty() {
        walk.note(Verdict::Refuse, Some(Risk::Security), ReasonCode::CodeGiven, &action.name(), Some(id), None);
    }
}

/// A move toward safety, and what it sets off: the graph may show that this very move opens.
fn secure(walk: &mut Walk<'_>, action: &Action<'_>, id: &EntityId, ends: &[&str]) -> Fate {
    walk.secures += 1;
    let ends = Ends::Known(ends.iter().map(|end| (*end).to_owned()).collect());
    walk.sets_off(action, id, &ends);
    if let Some(entity) = walk.house().entity(id.as_str()) {
        walk.along(action, id, entity, true);
    }
    SAFE
}

pub(super) fn lock(walk: &mut Walk<'_>, way: LockMove, action: &Action<'_>, id: &EntityId) -> Fate {
    code(walk, action, id);
    match way {
        LockMove::Lock => secure(walk, action, id, &["locking", "locked", "jammed"]),
        LockMove::Unlock | LockMove::Open => {
            walk.asks(ReasonCode::Opens, action, Some(id), None);
            walk.sets_off(action, id, &Ends::Any);
            SEND
        }
    }
}

/// A position that Home Assistant reads as zero.
pub(in crate::gate) fn zero(position: &Value) -> bool {
    match position {
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.trim().parse() == Ok(0.0),
        _ => false,
    }
}

/// Position zero is a close; a position that cannot be read is taken for an opening.
fn way_of(way: CoverMove, action: &Action<'_>) -> CoverMove {
    match way {
        CoverMove::Position if action.data.get("position").is_some_and(zero) => CoverMove::Close,
        CoverMove::Position => CoverMove::Open,
        other => other,
    }
}

pub(super) fn cover(walk: &mut Walk<'_>, way: CoverMove, action: &Action<'_>, id: &EntityId, entity: &Entity) -> Fate {
    if !guarded_cover(walk.facts, id, entity) {
        walk.sets_off(action, id, &Ends::Any);
        walk.along(action, id, entity, false);
        return SEND;
    }
    let state = entity.value().unwrap_or("unknown");
    match way_of(way, action) {
        CoverMove::Close => close_cover(walk, action, id, state),
        CoverMove::Stop if state == "opening" => {
            walk.sets_off(action, id, &Ends::Any);
            SEND
        }
        CoverMove::Stop => {
            walk.asks(ReasonCode::StopsCover, action, Some(id), Some(state.to_owned()));
            SEND
        }
        _ => {
            walk.asks(ReasonCode::Opens, action, Some(id), class(entity));
            walk.sets_off(action, id, &Ends::Any);
            SEND
        }
    }
}

/// A second pulse on a closed or moving door can open it, so a close is not repeated. After any other
/// command a close is no repetition, and what the state says is old.
fn close_cover(walk: &mut Walk<'_>, action: &Action<'_>, id: &EntityId, state: &str) -> Fate {
    walk.secures += 1;
    let closing = walk.facts.in_flight.closing.contains(id);
    let otherwise = walk.facts.in_flight.otherwise.contains(id);
    if walk.alone() && (closing || (state == "closed" && !otherwise)) {
        return Fate::Done;
    }
    if closing || (walk.facts.policy.pulse.contains(id) && (otherwise || state != "open")) {
        walk.asks(ReasonCode::Pulse, action, Some(id), Some(state.to_owned()));
        return SEND;
    }
    secure(walk, action, id, &["closing", "closed", "open"])
}

fn class(entity: &Entity) -> Option<String> {
    let class = entity.classes().next();
    Some(class.map_or_else(|| "no class".to_owned(), |class| crate::text::clean(class, 40)))
}

pub(super) fn valve(walk: &mut Walk<'_>, way: CoverMove, action: &Action<'_>, id: &EntityId, entity: &Entity) -> Fate {
    let state = entity.value().unwrap_or("unknown");
    match way_of(way, action) {
        CoverMove::Close => secure(walk, action, id, &["closing", "closed", "open"]),
        CoverMove::Stop if state == "opening" => {
            walk.sets_off(action, id, &Ends::Any);
            SEND
        }
        _ => {
            let code = if gas(entity) { ReasonCode::Gas } else { ReasonCode::Valve };
            walk.asks_harm(code, action, Some(id), None);
            walk.sets_off(action, id, &Ends::Any);
            SEND
        }
    }
}

/// How strong an armed mode is; a bypass is never stronger than anything.
fn strength(mode: &str) -> Option<u8> {
    match mode {
        "disarmed" => Some(0),
        "armed_home" | "armed_night" | "armed_vacation" => Some(1),
        "armed_away" => Some(2),
        _ => None,
    }
}

pub(super) fn alarm(walk: &mut Walk<'_>, way: AlarmMove, action: &Action<'_>, id: &EntityId, entity: &Entity) -> Fate {
    code(walk, action, id);
    let state = entity.value().unwrap_or("unknown");
    walk.secures += usize::from(way != AlarmMove::Disarm);
    let AlarmMove::Arm(mode) = way else {
        walk.asks(ReasonCode::Disarms, action, Some(id), Some(state.to_owned()));
        walk.sets_off(action, id, &Ends::Any);
        return SEND;
    };
    // Inside a macro the mode of now says little about the mode of then, but the direction stays.
    if state == mode && walk.alone() {
        return Fate::Done;
    }
    match (strength(state), strength(mode)) {
        (Some(now), Some(then)) if then > now || (state == mode) => {
            secure(walk, action, id, &["arming", mode, "pending", "triggered"])
        }
        _ => {
            walk.asks(ReasonCode::Rearms, action, Some(id), Some(state.to_owned()));
            walk.sets_off(action, id, &Ends::Any);
            SEND
        }
    }
}

/// Heat within comfort runs; beyond it, or where the unit is not known, a person decides.
pub(super) fn climate(walk: &mut Walk<'_>, action: &Action<'_>, id: &EntityId, (low, high): (f64, f64)) {
    let unit = walk.house().units.temperature.as_deref();
    for key in ["temperature", "target_temp_high", "target_temp_low"] {
        let Some(value) = action.data.get(key) else { continue };
        let number = match value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        let celsius = match (number, unit) {
            (Some(number), Some("°C")) => Some(number),
            (Some(number), Some("°F")) => Some((number - 32.0) / 1.8),
            _ => None,
        };
        let trusted_template = action.templated && number.is_none() && !walk.has_foreign_values();
        if !celsius.is_some_and(|celsius| (low..=high).contains(&celsius)) && !trusted_template {
            let detail = format!("{} {}", crate::text::clean(&value.to_string(), 20), unit.unwrap_or("?"));
            walk.asks_harm(ReasonCode::Heat, action, Some(id), Some(detail));
        }
    }
    walk.plain(action, id, super::Look::List, super::End::Any);
}
