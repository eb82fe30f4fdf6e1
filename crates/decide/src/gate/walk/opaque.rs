//! Services that may do anything, and those that the table does not know. Start at [`judge`].
//! Invariant: only the operator's own list, for that very service, data and device, lets one pass.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Action, Walk};
use crate::gate::resolve::TARGET_KEYS;
use crate::gate::table;
use crate::gate::triggers::{Ends, literal_ids};
use crate::gate::{ReasonCode, Risk, Verdict};
use crate::house::EntityId;

pub(super) fn unknown(walk: &mut Walk<'_>, action: &Action<'_>, entities: &BTreeSet<EntityId>) {
    if listed(walk, action, entities) {
        return;
    }
    let harmless = |id: &EntityId| table::harmless_domain(id.domain());
    let harmless = !entities.is_empty() && entities.iter().chain(&named(walk, action)).all(harmless);
    let verdict = if harmless { Verdict::Ask } else { Verdict::Refuse };
    walk.note(verdict, Some(Risk::Security), ReasonCode::UnknownService, &action.name(), None, None);
    if harmless {
        for id in entities {
            walk.sets_off(action, id, &Ends::Any);
        }
    }
}

pub(super) fn judge(walk: &mut Walk<'_>, action: &Action<'_>, entities: &BTreeSet<EntityId>) {
    let line = matches!((action.domain, action.service), ("logbook", "log") | ("system_log", "write"));
    if line && walk.own_words(action) {
        return;
    }
    if !listed(walk, action, entities) {
        walk.note(Verdict::Refuse, Some(Risk::Security), ReasonCode::Opaque, &action.name(), None, None);
    }
}

/// Whether the operator listed this very service (leaving the reason that goes with it).
fn listed(walk: &mut Walk<'_>, action: &Action<'_>, entities: &BTreeSet<EntityId>) -> bool {
    let name = action.name();
    let Some(rule) = walk.facts.policy.services.get(&name) else { return false };
    if rule.verdict == Verdict::Refuse
        || (!rule.data.is_empty() && !rule.data.iter().any(|data| same(data, action.data, entities)))
    {
        return false;
    }
    if rule.verdict == Verdict::Ask {
        walk.note(Verdict::Ask, Some(Risk::Security), ReasonCode::ListedAsks, &name, None, None);
    }
    true
}

/// Exactly these data, and no device beside those that the rule names, where it names some.
fn same(rule: &Map<String, Value>, data: &Map<String, Value>, entities: &BTreeSet<EntityId>) -> bool {
    let plain = || rule.iter().filter(|(key, _)| !TARGET_KEYS.contains(&key.as_str()));
    let devices = match rule.get("entity_id") {
        None => true,
        Some(Value::String(text)) => within(&[text.as_str()], entities),
        Some(Value::Array(items)) => within(&items.iter().filter_map(Value::as_str).collect::<Vec<_>>(), entities),
        Some(_) => false,
    };
    devices && plain().count() == data.len() && plain().all(|(key, value)| data.get(key) == Some(value))
}

fn within(texts: &[&str], entities: &BTreeSet<EntityId>) -> bool {
    let ids: BTreeSet<EntityId> = texts.iter().flat_map(|text| text.split(',')).filter_map(EntityId::parse).collect();
    !entities.is_empty() && entities.is_subset(&ids)
}

/// Entities of this house that stand anywhere in the data.
fn named(walk: &Walk<'_>, action: &Action<'_>) -> BTreeSet<EntityId> {
    let mut ids = BTreeSet::new();
    action.data.values().for_each(|value| literal_ids(value, &mut ids));
    keys(action.data, &mut ids);
    ids.retain(|id| walk.house().entities.contains_key(id));
    ids
}

fn keys(map: &Map<String, Value>, into: &mut BTreeSet<EntityId>) {
    for (key, value) in map {
        into.extend(EntityId::parse(key));
        match value {
            Value::Object(inner) => keys(inner, into),
            Value::Array(items) => items.iter().filter_map(Value::as_object).for_each(|inner| keys(inner, into)),
            _ => {}
        }
    }
}
