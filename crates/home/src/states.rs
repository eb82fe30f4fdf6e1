//! The compressed state stream of `subscribe_entities`: whole states, changes, removals.
//!
//! Start at [`Event`] and [`Change::apply`]. Invariant: a state plus the change between it and the
//! next is exactly the next.

use std::sync::Arc;

use decide::house::{EntityId, State};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::loose::{Loose, Pairs, Pool};

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Event<'a> {
    #[serde(rename = "a", borrow)]
    pub added: Pairs<'a, Whole<'a>>,
    #[serde(rename = "c")]
    pub changed: Pairs<'a, Change<'a>>,
    #[serde(rename = "r")]
    pub removed: Loose<'a>,
}

/// A whole state.
#[derive(Deserialize, Default, Debug)]
#[serde(default)]
pub(crate) struct Whole<'a> {
    #[serde(borrow)]
    s: Loose<'a>,
    a: Map<String, Value>,
    lc: Option<f64>,
    lu: Option<f64>,
}

impl Whole<'_> {
    pub fn state(self, pool: &mut Pool) -> State {
        let last_changed = self.lc.unwrap_or_default();
        State {
            value: self.s.raw().map(|text| pool.share(text)).unwrap_or_default(),
            attributes: self.a,
            last_changed,
            last_updated: self.lu.unwrap_or(last_changed),
        }
    }
}

/// What became different.
#[derive(Deserialize, Default, Debug)]
#[serde(default)]
pub(crate) struct Change<'a> {
    #[serde(rename = "+", borrow)]
    plus: Whole<'a>,
    #[serde(rename = "-")]
    minus: Minus<'a>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct Minus<'a> {
    #[serde(borrow)]
    a: Loose<'a>,
}

impl Change<'_> {
    pub fn apply(self, state: &mut State, pool: &mut Pool) {
        if let Some(value) = self.plus.s.raw() {
            state.value = pool.share(value);
        }
        if let Some(changed) = self.plus.lc {
            (state.last_changed, state.last_updated) = (changed, changed);
        }
        if let Some(updated) = self.plus.lu {
            state.last_updated = updated;
        }
        state.attributes.extend(self.plus.a);
        for key in self.minus.a.texts() {
            state.attributes.remove(&**key);
        }
    }
}

/// What about a change makes look-ups or names old.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effect {
    /// The friendly name.
    pub name: bool,
    /// Members of a group or scene, class, or presence itself.
    pub relations: bool,
    /// A script, scene or automation may have another body now.
    pub body: bool,
}

/// Compares the states around a change.
pub(crate) fn effect(id: &EntityId, before: Option<&Arc<State>>, after: Option<&State>) -> Effect {
    let (Some(before), Some(after)) = (before, after) else {
        return Effect { name: true, relations: true, body: is_macro(id) };
    };
    let differs = |key: &str| before.attributes.get(key) != after.attributes.get(key);
    let reloaded = |state: &State| matches!(&*state.value, "unavailable" | "unknown");
    let body = is_macro(id)
        && (differs("id")
            || differs("friendly_name")
            || differs("mode")
            || differs("entity_id")
            // While it is reloaded, a script or automation is unavailable for a moment.
            || (before.value != after.value && (reloaded(before) || reloaded(after))));
    Effect { name: differs("friendly_name"), relations: differs("entity_id") || differs("device_class"), body }
}

pub(crate) fn is_macro(id: &EntityId) -> bool {
    matches!(id.domain(), "script" | "scene" | "automation")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// The change between two states, as Home Assistant's `_state_diff` writes it.
    fn difference(old: &State, new: &State) -> Value {
        let mut plus = Map::new();
        if old.value != new.value {
            plus.insert("s".into(), json!(&*new.value));
        }
        if old.last_changed != new.last_changed {
            plus.insert("lc".into(), json!(new.last_changed));
        } else if old.last_updated != new.last_updated {
            plus.insert("lu".into(), json!(new.last_updated));
        }
        let added: Map<_, _> = (new.attributes.iter())
            .filter(|(key, value)| old.attributes.get(*key) != Some(value))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        if !added.is_empty() {
            plus.insert("a".into(), Value::Object(added));
        }
        let gone: Vec<_> = old.attributes.keys().filter(|key| !new.attributes.contains_key(*key)).collect();
        let mut change = json!({ "+": plus });
        if !gone.is_empty() {
            change["-"] = json!({ "a": gone });
        }
        change
    }

    fn any_state() -> impl Strategy<Value = State> {
        let scalar = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-z\u{4e00}-\u{4e05}\"]{0,4}".prop_map(Value::from),
            proptest::collection::vec(any::<u8>(), 0..3).prop_map(Value::from),
        ];
        let attributes = proptest::collection::btree_map("[a-d]", scalar, 0..4);
        ("[a-z0-9.]{0,5}", attributes, 0..5u32, 0..3u32).prop_map(|(value, attributes, changed, later)| State {
            value: value.into(),
            attributes: attributes.into_iter().collect(),
            last_changed: f64::from(changed),
            last_updated: f64::from(changed + later),
        })
    }

    proptest! {
        #[test]
        fn a_state_and_the_change_to_the_next_make_the_next(old in any_state(), new in any_state()) {
            // A change of the value is a change of both times in Home Assistant.
            let mut new = new;
            if old.last_changed != new.last_changed {
                new.last_updated = new.last_changed;
            }
            let json = json!({ "c": { "light.a": difference(&old, &new) } }).to_string();
            let mut event: Event<'_> = serde_json::from_str(&json).unwrap();
            let mut state = old;
            let (_, change) = event.changed.0.remove(0);
            change.apply(&mut state, &mut Pool::default());
            prop_assert_eq!(state, new);
        }
    }

    #[test]
    fn a_reloaded_script_is_read_again_and_a_running_one_is_not() {
        let id = EntityId::parse("script.bedtime").unwrap();
        let state = |value: &str, triggered: &str| State {
            value: value.into(),
            attributes: json!({ "last_triggered": triggered }).as_object().cloned().unwrap(),
            ..State::default()
        };
        let off = Arc::new(state("off", "1"));
        assert!(!effect(&id, Some(&off), Some(&state("on", "2"))).body);
        assert!(effect(&id, Some(&off), Some(&state("unavailable", "1"))).body);
        assert!(effect(&id, Some(&off), None).body);
    }
}
