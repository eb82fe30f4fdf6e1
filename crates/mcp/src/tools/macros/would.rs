//! What a macro would move, read from its body for a person to look at. Start at [`would`].
//! Invariant: this is for showing only; what may run is decided by the gate, on its own reading.

use std::collections::BTreeSet;

use decide::house::{Body, EntityId};
use decide::text::clean;
use serde_json::{Map, Value, json};

use crate::tools::view::View;

/// Lines shown, and macros within macros followed.
const LINES_MAX: usize = 40;
const NESTED_MAX: usize = 16;
/// Depth of branches within branches that is read.
const DEPTH_MAX: usize = 12;

/// `{entity_id, name, action}` for each thing, and whether all of it could be read and shown.
pub fn would(view: &View<'_>, id: &EntityId) -> (Vec<Value>, bool) {
    let mut lines = Lines { view, out: Vec::new(), whole: true };
    match view.house.bodies.of(id) {
        Some(Body::Config(body)) if id.domain() == "scene" => lines.states(body.get("entities")),
        Some(Body::Config(body)) => lines.steps(body.get("sequence").unwrap_or(&Value::Null), 0),
        _ => lines.members(id),
    }
    (lines.out, lines.whole)
}

/// The macro and all macros that its body names, as far as bodies are known.
pub fn reached(view: &View<'_>, id: &EntityId) -> Vec<EntityId> {
    let mut found = vec![id.clone()];
    let mut seen = BTreeSet::from([id.clone()]);
    let mut next = 0;
    while next < found.len() && found.len() < NESTED_MAX {
        if let Some(Body::Config(body)) = view.house.bodies.of(&found[next]) {
            named(body, &mut |text| {
                // `script.goodnight` may stand as a target or as the action itself.
                if let Some(id) = EntityId::parse(text).filter(|id| view.house.bodies.of(id).is_some())
                    && seen.insert(id.clone())
                {
                    found.push(id);
                }
            });
        }
        next += 1;
    }
    found
}

fn named(value: &Value, take: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => take(text),
        Value::Array(items) => items.iter().for_each(|item| named(item, take)),
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            take(key);
            named(value, take);
        }),
        _ => {}
    }
}

struct Lines<'a> {
    view: &'a View<'a>,
    out: Vec<Value>,
    whole: bool,
}

impl Lines<'_> {
    fn push(&mut self, line: Value) {
        if self.out.len() < LINES_MAX {
            self.out.push(line);
        } else {
            self.whole = false;
        }
    }

    /// A scene's states.
    fn states(&mut self, entities: Option<&Value>) {
        for (id, state) in entities.and_then(Value::as_object).into_iter().flatten() {
            let state = state.get("state").unwrap_or(state);
            let state = state.as_str().map_or_else(|| state.to_string(), str::to_owned);
            self.entity(id, &clean(&state, 60));
        }
    }

    /// A scene whose states cannot be read shows its members.
    fn members(&mut self, id: &EntityId) {
        self.whole = false;
        let members: Vec<EntityId> =
            self.view.house.entity(id.as_str()).into_iter().flat_map(|entity| entity.members()).collect();
        for member in members {
            self.entity(member.as_str(), "?");
        }
    }

    fn entity(&mut self, id: &str, action: &str) {
        let parsed = EntityId::parse(id);
        // What is out of scope is as if not there, and templates name nothing.
        let shown =
            |id: &EntityId| self.view.house.entity(id.as_str()).is_none_or(|entity| self.view.shows(id, entity));
        let Some(id) = parsed.filter(shown) else {
            self.whole = false;
            return;
        };
        let line = json!({"entity_id": id, "name": self.view.name(&id), "action": action});
        self.push(line);
    }

    fn steps(&mut self, value: &Value, depth: usize) {
        if depth > DEPTH_MAX {
            self.whole = false;
            return;
        }
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.steps(item, depth + 1)),
            Value::Object(step) => self.step(step, depth),
            _ => {}
        }
    }

    fn step(&mut self, step: &Map<String, Value>, depth: usize) {
        if let Some(action) = step.get("action").or_else(|| step.get("service")).and_then(Value::as_str) {
            self.action(&clean(action, 80), step);
        }
        if let Some(scene) = step.get("scene").and_then(Value::as_str) {
            self.entity(scene, "scene.turn_on");
        }
        for branch in ["sequence", "choose", "default", "then", "else", "parallel", "repeat"] {
            if let Some(inner) = step.get(branch) {
                self.steps(inner, depth + 1);
            }
        }
    }

    fn action(&mut self, action: &str, step: &Map<String, Value>) {
        let places = [step.get("target"), step.get("data"), Some(&Value::Null)];
        let mut any = false;
        let alone = step.get("entity_id");
        let ids = places.iter().flatten().filter_map(|place| place.get("entity_id")).chain(alone);
        for id in ids.flat_map(texts) {
            any = true;
            self.entity(&id, action);
        }
        for key in ["area_id", "floor_id", "label_id", "device_id"] {
            for place in places.iter().flatten().filter_map(|place| place.get(key)).flat_map(texts) {
                any = true;
                let mut line = Map::new();
                line.insert(key.to_owned(), json!(clean(&place, 80)));
                line.insert("action".into(), json!(action));
                self.push(Value::Object(line));
            }
        }
        if !any {
            self.push(json!({"action": action}));
        }
    }
}

/// One text, or the texts of a list, comma lists split.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => text.split(',').map(|part| part.trim().to_owned()).collect(),
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}
