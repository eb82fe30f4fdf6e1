//! What a call's target means, as Home Assistant would read it, never less. Start at [`targets`].
//!
//! Invariant: what is not understood (a template, an id that this house does not have, a form that
//! Home Assistant refuses) is named and stops the call; what comes out are ids of this house.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::walk::is_template;
use super::{Facts, Problem};
use crate::house::{Entity, EntityId, House};

/// Keys that select entities, in service data and in `target`.
pub(super) const TARGET_KEYS: &[&str] = &["entity_id", "device_id", "area_id", "floor_id", "label_id"];

/// What the target keys say, before domains are looked at.
#[derive(Debug, Default)]
pub(super) struct Targets {
    /// Named one by one, or members of a named group.
    pub direct: BTreeSet<EntityId>,
    /// Reached by area, device, floor or label.
    pub indirect: BTreeSet<EntityId>,
    /// `all` of the service's domain.
    pub all: bool,
    /// Some target key was there.
    pub named: bool,
    /// Ids that this house does not have, as written.
    pub unknown: Vec<String>,
    pub templated: bool,
    /// An area, device, floor or label form was used.
    pub by_registry: bool,
}

/// How strictly to read: a call from outside, or the household's own macro.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// Ids and nothing else; hidden and configuration entities only when named.
    Call,
    /// Registry ids too; everything in an area counts.
    Body,
}

/// Reads all target keys of `data` and `target` together.
pub(super) fn targets(
    house: &House,
    sources: [Option<&Map<String, Value>>; 2],
    reading: Reading,
) -> Result<Targets, Problem> {
    let mut found = Targets::default();
    for map in sources.into_iter().flatten() {
        for (key, value) in map {
            if !TARGET_KEYS.contains(&key.as_str()) {
                continue;
            }
            found.named = true;
            for text in words(key, value)? {
                if is_template(&text) {
                    found.templated = true;
                    continue;
                }
                match key.as_str() {
                    "entity_id" => entity(house, &mut found, &text, reading)?,
                    key => registry(house, &mut found, key, &text, reading),
                }
            }
        }
    }
    Ok(found)
}

/// A value as words. Only `entity_id` is split at commas: Home Assistant takes other keys as they are.
fn words(key: &str, value: &Value) -> Result<Vec<String>, Problem> {
    let bad = || Problem::BadTarget { key: key.to_owned(), text: crate::text::clean(&value.to_string(), 120) };
    let split = |text: &str| -> Vec<String> {
        if key == "entity_id" && !is_template(text) {
            text.split(',').map(|part| part.trim().to_owned()).collect()
        } else {
            vec![text.trim().to_owned()]
        }
    };
    match value {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => Ok(split(text)),
        Value::Array(items) => {
            let mut out = Vec::new();
            for item in items {
                match item {
                    Value::String(text) => out.extend(split(text)),
                    Value::Array(_) => out.extend(words(key, item)?),
                    _ => return Err(bad()),
                }
            }
            Ok(out)
        }
        _ => Err(bad()),
    }
}

fn entity(house: &House, found: &mut Targets, text: &str, reading: Reading) -> Result<(), Problem> {
    match text.to_lowercase().as_str() {
        "" | "none" => return Ok(()),
        "all" => {
            found.all = true;
            return Ok(());
        }
        _ => {}
    }
    if let Some(id) = EntityId::parse(text) {
        if house.entities.contains_key(&id) {
            expand(house, &id, &mut found.direct);
        } else {
            found.unknown.push(id.to_string());
        }
        return Ok(());
    }
    if let Some(id) = house.index.by_registry_id.get(text)
        && reading == Reading::Body
    {
        expand(house, id, &mut found.direct);
        return Ok(());
    }
    if reading == Reading::Body {
        found.unknown.push(text.to_owned());
        return Ok(());
    }
    Err(Problem::BadTarget { key: "entity_id".to_owned(), text: crate::text::clean(text, 120) })
}

/// A group of Home Assistant's own stands for its members; any other entity for itself, and for its
/// members too when it lists some (a lamp of a hub's room moves them).
pub(super) fn expand(house: &House, id: &EntityId, into: &mut BTreeSet<EntityId>) {
    let (mut groups, mut open) = (BTreeSet::new(), vec![id.clone()]);
    while let Some(id) = open.pop() {
        let Some(entity) = house.entity(id.as_str()) else { continue };
        if !plain_group(&id, entity) {
            into.insert(id);
        } else if groups.insert(id) {
            open.extend(entity.members());
        }
    }
}

/// The script that `script.NAME` calls: the name is the script's own, which its entity may have lost.
pub(super) fn script(house: &House, name: &str) -> Option<EntityId> {
    let own = |entity: &Entity| entity.info.unique_id.as_deref().map(|own| own == name);
    let named = house.domain("script").find(|(_, entity)| own(entity) == Some(true)).map(|(id, _)| id.clone());
    named.or_else(|| {
        let id = EntityId::parse(&format!("script.{name}"))?;
        house.entity(id.as_str()).is_some_and(|entity| own(entity).is_none()).then_some(id)
    })
}

/// An old-style group or one of the group integration: moving it is moving its members.
pub(super) fn plain_group(id: &EntityId, entity: &Entity) -> bool {
    let group = id.domain() == "group" || entity.info.platform.as_deref() == Some("group");
    group && entity.members().next().is_some()
}

fn registry(house: &House, found: &mut Targets, key: &str, text: &str, reading: Reading) {
    found.by_registry = true;
    if text.is_empty() || text == "none" {
        return;
    }
    let mut ids: Vec<EntityId> = Vec::new();
    let index = &house.index;
    let mut take = |list: Option<&Vec<EntityId>>| ids.extend(list.into_iter().flatten().cloned());
    let known = match key {
        "area_id" => {
            take(index.by_area.get(text));
            house.areas.contains_key(text)
        }
        "device_id" => {
            take(index.by_device.get(text));
            house.devices.contains_key(text)
        }
        "floor_id" => {
            for area in index.by_floor.get(text).into_iter().flatten() {
                take(index.by_area.get(area));
            }
            house.floors.contains_key(text)
        }
        _ => {
            take(index.by_label.get(text));
            house.labels.contains_key(text)
        }
    };
    if reading == Reading::Body {
        // Children of a device go where it goes, and share its area and labels.
        for (child, device) in house.devices.iter() {
            let Some(parent) = &device.via_device_id else { continue };
            let reached = house.devices.get(parent).is_some_and(|device| match key {
                "device_id" => **parent == *text,
                "area_id" => device.area_id.as_deref() == Some(text),
                "floor_id" => (index.by_floor.get(text).into_iter().flatten())
                    .any(|area| device.area_id.as_deref() == Some(&**area)),
                _ => device.labels.iter().any(|label| **label == *text),
            });
            if reached {
                take(index.by_device.get(child));
            }
        }
    }
    if !known {
        found.unknown.push(text.to_owned());
    }
    for id in ids {
        let Some(entity) = house.entity(id.as_str()) else { continue };
        // A call is sent as explicit ids, so what Home Assistant would leave out is left out here too.
        let there = !entity.info.disabled || entity.state.is_some();
        let shown = there && !entity.info.hidden && entity.info.category.is_none();
        if shown || reading == Reading::Body {
            expand(house, &id, &mut found.indirect);
        }
    }
}

impl Targets {
    /// The entities of these domains that the targets reach, in id order.
    pub(super) fn reach(&self, house: &House, domain: &str) -> BTreeSet<EntityId> {
        let mut out: BTreeSet<EntityId> = self.direct.union(&self.indirect).cloned().collect();
        if self.all {
            for (id, entity) in house.domain(domain) {
                if plain_group(id, entity) {
                    expand(house, id, &mut out);
                } else if entity.state.is_some() {
                    out.insert(id.clone());
                }
            }
        }
        out
    }
}

/// Whether the operator lets this entity be seen and touched at all.
pub fn in_scope(facts: &Facts<'_>, id: &EntityId) -> bool {
    let scope = &facts.policy.scope;
    if !scope.exposed_only && scope.include.is_empty() && scope.exclude.is_empty() {
        return true;
    }
    let Some(entity) = facts.house.entity(id.as_str()) else { return true };
    if scope.exposed_only && entity.info.exposed != Some(true) {
        return false;
    }
    let listed = |set: &BTreeSet<String>| {
        let house = facts.house;
        let area = house.area_of(entity);
        set.contains(id.as_str())
            || area.is_some_and(|(key, area)| set.contains(&**key) || set.contains(&*area.name))
            || house.labels_of(entity).any(|label| {
                set.contains(&**label) || house.labels.get(label).is_some_and(|label| set.contains(&*label.name))
            })
    };
    (scope.include.is_empty() || listed(&scope.include)) && !listed(&scope.exclude)
}
