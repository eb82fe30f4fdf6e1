//! What an automation or a script needs in order to run to its end: its own conditions, and those that
//! stop it on the way. Start at [`needs`].
//!
//! Invariant: they never make a move milder. Triggers count them as true; here they only tell which
//! switch keeps a lock from being locked. One branch of several (`if`, `choose`) is not looked at:
//! leaving it out may as well be what locks.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::triggers::{Condition, entities, literal_ids, number_condition, state_condition};
use super::walk::is_template;
use crate::house::{EntityId, House};

/// Entities that this body's conditions look at, each with what it has to be.
pub(super) fn needs(house: &House, config: &Value) -> Vec<(EntityId, Condition)> {
    let mut needs = Vec::new();
    for key in ["conditions", "condition"] {
        condition(house, config.get(key).unwrap_or(&Value::Null), &mut needs);
    }
    for key in ["actions", "action", "sequence"] {
        steps(house, config.get(key).unwrap_or(&Value::Null), &mut needs);
    }
    needs
}

/// Conditions among the steps end the run; sequences in it are followed.
fn steps(house: &House, value: &Value, needs: &mut Vec<(EntityId, Condition)>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| steps(house, item, needs)),
        Value::Object(map) => match map.get("sequence") {
            Some(sequence) => steps(house, sequence, needs),
            None if ["condition", "and", "or", "not"].iter().any(|key| map.contains_key(*key)) => {
                condition(house, value, needs);
            }
            None => {}
        },
        // A bare template is a condition too.
        text => condition(house, text, needs),
    }
}

fn condition(house: &House, value: &Value, needs: &mut Vec<(EntityId, Condition)>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| condition(house, item, needs)),
        Value::Object(map) if map.get("enabled") != Some(&Value::Bool(false)) => one(house, map, needs),
        Value::String(text) if is_template(text) => literal(house, value, needs),
        _ => {}
    }
}

fn one(house: &House, map: &Map<String, Value>, needs: &mut Vec<(EntityId, Condition)>) {
    let kind = map.get("condition").and_then(Value::as_str).unwrap_or_default();
    // Of several that would each do, any may be the one that holds now.
    let inner = match kind {
        "and" | "or" => map.get("conditions"),
        _ => map.get("and").or_else(|| map.get("or")),
    };
    if let Some(inner) = inner {
        return condition(house, inner, needs);
    }
    let plain = !map.contains_key("attribute") && !map.contains_key("value_template");
    let wanted = match kind {
        "state" if plain => {
            let to = map.get("state").cloned().unwrap_or_default();
            state_condition(&Map::from_iter([("to".to_owned(), to)]))
        }
        "numeric_state" if plain => number_condition(map),
        _ => return literal(house, &Value::Object(map.clone()), needs),
    };
    let found = entities(house, map, &mut BTreeSet::new());
    needs.extend(found.into_iter().map(|id| (id, wanted.clone())));
}

fn literal(house: &House, value: &Value, needs: &mut Vec<(EntityId, Condition)>) {
    let mut ids = BTreeSet::new();
    literal_ids(value, &mut ids);
    let there = ids.into_iter().filter(|id| house.entities.contains_key(id));
    needs.extend(there.map(|id| (id, Condition::Any)));
}
