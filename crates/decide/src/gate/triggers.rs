//! Which automations a change sets off. Start at [`Triggers::new`], then [`Triggers::fired`].
//!
//! Invariant: conditions count as true, disabled automations count, and a trigger that is not
//! understood fires on any change of every entity that it names.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::conditions;
use super::resolve::{self, Reading, TARGET_KEYS};
use super::walk::has_template;
use crate::house::{Bodies, Body, EntityId, House};

/// The one trigger that fires on a service without an entity. Kept among the events by this name.
pub(super) const NOTIFICATION: &str = "persistent_notification";

/// The states that a change can leave an entity in, later ones included.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ends {
    Known(Vec<String>),
    Any,
}

/// Look-ups from causes to automations.
#[derive(Clone, Debug, Default)]
pub struct Triggers {
    watches: BTreeMap<EntityId, Vec<Watch>>,
    events: BTreeMap<String, Vec<EntityId>>,
    /// What automations and scripts look at before they go on.
    needs: BTreeMap<EntityId, Vec<Watch>>,
    /// Triggers that no entity can be guarded for, for the set-up check: automation, kind.
    pub unguardable: Vec<(EntityId, String)>,
    /// Automations that cannot be read, with what they touch where that is known.
    pub unreadable: Vec<EntityId>,
}

#[derive(Clone, Debug)]
struct Watch {
    automation: EntityId,
    condition: Condition,
}

/// An event stands among the ends of a change as a state that no entity can have.
pub(super) fn event_end(event: &str) -> String {
    format!("event {event}")
}

#[derive(Clone, Debug)]
pub(super) enum Condition {
    Any,
    State { to: Option<Vec<String>>, from: Option<Vec<String>> },
    Number { above: Option<f64>, below: Option<f64> },
}

impl Condition {
    /// Whether a change that ends so may fire it. The state before is not looked at: ours may be
    /// stale, and a macro may have moved it since.
    fn met(&self, ends: &Ends) -> bool {
        let Ends::Known(ends) = ends else { return true };
        match self {
            Self::Any => true,
            Self::State { to, from } => {
                let to = to.as_ref().is_none_or(|to| to.iter().any(|to| ends.contains(to)));
                // Whoever ends in a state does not leave it.
                let from = from.as_ref().is_none_or(|from| from.iter().any(|from| ends.iter().any(|end| end != from)));
                to && from
            }
            Self::Number { above, below } => ends.iter().any(|end| match end.trim().parse::<f64>() {
                Ok(number) => above.is_none_or(|above| number > above) && below.is_none_or(|below| number < below),
                // Python reads more spellings of a number ("5_5", other scripts' digits) than we do.
                Err(_) => end.chars().any(char::is_numeric),
            }),
        }
    }
}

impl Condition {
    /// Whether a change that ends so may leave it unmet.
    fn may_fail(&self, ends: &Ends) -> bool {
        let Ends::Known(ends) = ends else { return true };
        match self {
            Self::State { to: Some(to), .. } => ends.iter().any(|end| !to.contains(end)),
            Self::Number { above, below } => ends.iter().any(|end| match end.trim().parse::<f64>() {
                Ok(number) => above.is_some_and(|above| number <= above) || below.is_some_and(|below| number >= below),
                Err(_) => true,
            }),
            Self::Any | Self::State { to: None, .. } => !ends.is_empty(),
        }
    }
}

impl Triggers {
    /// Target forms are expanded with the house's other look-ups, which have to be there.
    pub(crate) fn new(picture: &House) -> Self {
        let mut triggers = Self::default();
        let Bodies { automations, scripts, related, .. } = &*picture.bodies;
        for (id, body) in automations.iter().chain(scripts) {
            if let Body::Config(config) = body {
                triggers.waits(picture, id, config);
                for (needed, condition) in conditions::needs(picture, config) {
                    let need = Watch { automation: id.clone(), condition };
                    triggers.needs.entry(needed).or_default().push(need);
                }
            }
        }
        for (automation, body) in automations {
            match body {
                Body::Config(config) => triggers.automation(picture, automation, config),
                Body::Unreadable(_) => {
                    triggers.unreadable.push(automation.clone());
                    for id in related.get(automation).into_iter().flatten() {
                        triggers.watch(id.clone(), automation, Condition::Any);
                    }
                }
            }
        }
        triggers
    }

    fn watch(&mut self, id: EntityId, automation: &EntityId, condition: Condition) {
        self.watches.entry(id).or_default().push(Watch { automation: automation.clone(), condition });
    }

    fn automation(&mut self, house: &House, automation: &EntityId, config: &Value) {
        let lists: Vec<&Value> = ["triggers", "trigger"].iter().filter_map(|key| config.get(*key)).collect();
        for list in &lists {
            self.list(house, automation, list);
        }
        if lists.is_empty() {
            // A blueprint that was not filled in: whatever it was given may trigger it.
            self.unreadable.push(automation.clone());
            self.literal(house, automation, config);
        }
    }

    /// What a running macro waits for sets off the rest of it.
    fn waits(&mut self, house: &House, id: &EntityId, body: &Value) {
        match body {
            Value::Array(items) => items.iter().for_each(|item| self.waits(house, id, item)),
            Value::Object(map) => map.iter().for_each(|(key, value)| match key.as_str() {
                "wait_for_trigger" => self.list(house, id, value),
                "wait_template" | "until" | "while" => self.literal(house, id, value),
                _ => self.waits(house, id, value),
            }),
            _ => {}
        }
    }

    /// Watches every entity that stands literally in it.
    fn literal(&mut self, house: &House, id: &EntityId, value: &Value) {
        let mut ids = BTreeSet::new();
        literal_ids(value, &mut ids);
        for entity in ids.into_iter().filter(|entity| house.entities.contains_key(entity)) {
            self.watch(entity, id, Condition::Any);
        }
    }

    fn list(&mut self, house: &House, automation: &EntityId, list: &Value) {
        match list {
            Value::Array(items) => items.iter().for_each(|item| self.list(house, automation, item)),
            Value::Object(map) => {
                if let Some(inner) = map.get("triggers") {
                    self.list(house, automation, inner);
                } else if map.get("enabled") != Some(&Value::Bool(false)) {
                    self.one(house, automation, map);
                }
            }
            _ => {}
        }
    }

    fn one(&mut self, house: &House, automation: &EntityId, map: &Map<String, Value>) {
        let kind = map.get("platform").or_else(|| map.get("trigger")).and_then(Value::as_str).unwrap_or_default();
        let mut seen = BTreeSet::new();
        // Entities that set the bound or the time, beside those that are watched.
        for key in ["above", "below", "for", "value_template"] {
            self.literal(house, automation, map.get(key).unwrap_or(&Value::Null));
        }
        match kind {
            "state" => {
                let condition = if map.contains_key("attribute") { Condition::Any } else { state_condition(map) };
                for id in entities(house, map, &mut seen) {
                    self.watch(id, automation, condition.clone());
                }
            }
            "numeric_state" => {
                let plain = !map.contains_key("attribute") && !map.contains_key("value_template");
                let condition = if plain { number_condition(map) } else { Condition::Any };
                for id in entities(house, map, &mut seen) {
                    self.watch(id, automation, condition.clone());
                }
            }
            "event" => self.event(house, automation, map),
            NOTIFICATION => self.events.entry(kind.to_owned()).or_default().push(automation.clone()),
            _ => {
                entities(house, map, &mut seen);
                if let Some(domains) = watched_by(kind) {
                    seen.retain(|id| domains.contains(&id.domain()));
                }
                literal_ids(&Value::Object(map.clone()), &mut seen);
                seen.retain(|id| house.entities.contains_key(id));
                for id in &seen {
                    self.watch(id.clone(), automation, Condition::Any);
                }
                if seen.is_empty() {
                    self.unguardable.push((automation.clone(), crate::text::clean(kind, 40)));
                }
            }
        }
    }

    fn event(&mut self, house: &House, automation: &EntityId, map: &Map<String, Value>) {
        let types: Vec<&str> = match map.get("event_type") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let mut named = BTreeSet::new();
        literal_ids(map.get("event_data").unwrap_or(&Value::Null), &mut named);
        for event in types {
            self.events.entry(event.to_owned()).or_default().push(automation.clone());
            let raising: &[&str] = match event.split('.').next().unwrap_or_default() {
                "timer" => &["timer"],
                "automation_triggered" => &["automation"],
                "script_started" => &["script"],
                "scene_activated" => &["scene"],
                "state_changed" if !named.is_empty() => &[],
                _ => {
                    self.unguardable.push((automation.clone(), crate::text::clean(event, 60)));
                    continue;
                }
            };
            let mut ids: BTreeSet<EntityId> =
                named.iter().filter(|id| house.entities.contains_key(*id)).cloned().collect();
            if ids.is_empty() {
                ids = raising.iter().flat_map(|domain| house.domain(domain)).map(|(id, _)| id.clone()).collect();
            }
            // A timer's services say which events they raise; what else raises events says nothing.
            let condition = match raising {
                ["timer"] => Condition::State { to: Some(vec![event_end(event)]), from: None },
                _ => Condition::Any,
            };
            for id in ids {
                self.watch(id, automation, condition.clone());
            }
        }
    }

    /// Automations that this change sets off, directly or through what contains the entity.
    pub(super) fn fired(&self, house: &House, id: &EntityId, ends: &Ends) -> Vec<EntityId> {
        if self.watches.is_empty() {
            return Vec::new();
        }
        let mut out = Vec::new();
        let mut take = |id: &EntityId, ends: &Ends| {
            for watch in self.watches.get(id).into_iter().flatten() {
                if watch.condition.met(ends) && !out.contains(&watch.automation) {
                    out.push(watch.automation.clone());
                }
            }
        };
        take(id, ends);
        let mut seen = BTreeSet::new();
        let mut open: Vec<&EntityId> = house.index.contained_in.get(id).into_iter().flatten().collect();
        while let Some(container) = open.pop() {
            if seen.insert(container) {
                take(container, &Ends::Any);
                open.extend(house.index.contained_in.get(container).into_iter().flatten());
            }
        }
        out
    }

    /// Automations and scripts that this change may keep from going on.
    pub(super) fn held_back(&self, id: &EntityId, ends: &Ends) -> BTreeSet<EntityId> {
        let needs = self.needs.get(id).into_iter().flatten();
        needs.filter(|need| need.condition.may_fail(ends)).map(|need| need.automation.clone()).collect()
    }

    pub(super) fn on_event(&self, event: &str) -> Vec<EntityId> {
        self.events.get(event).cloned().unwrap_or_default()
    }

    /// Every entity whose change sets off an automation, with those automations: for the check.
    pub fn watched(&self) -> impl Iterator<Item = (&EntityId, Vec<&EntityId>)> {
        self.watches.iter().map(|(id, watches)| (id, watches.iter().map(|watch| &watch.automation).collect()))
    }
}

/// The domains that a newer purpose trigger (`light.turned_on`) looks at; nothing where not known.
fn watched_by(kind: &str) -> Option<&[&str]> {
    let (purpose, _) = kind.split_once('.')?;
    Some(match purpose {
        "air_quality" | "battery" | "doorbell" | "illuminance" | "moisture" | "motion" | "occupancy" | "power"
        | "vibration" => &["binary_sensor", "event", "sensor"],
        "door" | "garage_door" | "gate" | "window" => &["binary_sensor", "cover"],
        "temperature" => &["climate", "sensor", "water_heater", "weather"],
        "humidity" => &["climate", "humidifier", "sensor", "weather"],
        "switch" => &["input_boolean", "switch"],
        "button" => &["button", "input_button"],
        "select" => &["input_select", "select"],
        "text" => &["input_text", "text"],
        "light" => &["light"],
        "fan" => &["fan"],
        "media_player" => &["media_player"],
        "climate" => &["climate"],
        "vacuum" => &["vacuum"],
        "lock" => &["lock"],
        "timer" => &["timer"],
        "scene" => &["scene"],
        _ => return None,
    })
}

fn texts(value: Option<&Value>) -> Option<Vec<String>> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(true) => Some("on".to_owned()),
        Value::Bool(false) => Some("off".to_owned()),
        _ => None,
    };
    match value? {
        Value::Array(items) => items.iter().map(text).collect(),
        value => text(value).map(|text| vec![text]),
    }
}

pub(super) fn state_condition(map: &Map<String, Value>) -> Condition {
    if ["not_to", "not_from"].iter().any(|key| map.contains_key(*key))
        || ["to", "from"].iter().any(|key| map.get(*key).is_some_and(has_template))
    {
        return Condition::Any;
    }
    Condition::State { to: texts(map.get("to")), from: texts(map.get("from")) }
}

pub(super) fn number_condition(map: &Map<String, Value>) -> Condition {
    let bound = |key: &str| match map.get(key) {
        None | Some(Value::Null) => Some(None),
        Some(Value::Number(number)) => Some(number.as_f64()),
        Some(Value::String(text)) => text.trim().parse().ok().map(Some),
        Some(_) => None,
    };
    match (bound("above"), bound("below")) {
        (Some(above), Some(below)) => Condition::Number { above, below },
        // Another entity's value, or a template: any change may cross it.
        _ => Condition::Any,
    }
}

/// All entities that a trigger's target keys name, in the trigger itself or in its `target`.
pub(super) fn entities(house: &House, map: &Map<String, Value>, seen: &mut BTreeSet<EntityId>) -> Vec<EntityId> {
    let mut flat: Map<String, Value> = map
        .iter()
        .filter(|(key, _)| TARGET_KEYS.contains(&key.as_str()))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    if flat.contains_key("entity_id") {
        // A device trigger names its device beside its entity.
        flat.remove("device_id");
    }
    let target = map.get("target").and_then(Value::as_object);
    let Ok(found) = resolve::targets(house, [Some(&flat), target], Reading::Body) else { return Vec::new() };
    let mut ids: BTreeSet<EntityId> = found.direct.union(&found.indirect).cloned().collect();
    // A group in a trigger is watched itself too.
    literal_ids(map.get("entity_id").unwrap_or(&Value::Null), &mut ids);
    ids.retain(|id| house.entities.contains_key(id));
    seen.extend(ids.iter().cloned());
    ids.into_iter().collect()
}

/// Entity ids that stand literally in any text, a template included.
pub(super) fn literal_ids(value: &Value, into: &mut BTreeSet<EntityId>) {
    match value {
        Value::String(text) => {
            for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')) {
                let word = word.strip_prefix("states.").unwrap_or(word);
                let mut parts = word.split('.');
                if let (Some(domain), Some(object)) = (parts.next(), parts.next())
                    && let Some(id) = EntityId::parse(&format!("{domain}.{object}"))
                {
                    into.insert(id);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| literal_ids(item, into)),
        Value::Object(map) => map.values().for_each(|item| literal_ids(item, into)),
        _ => {}
    }
}
