//! What the registries say, read from their JSON into small shared structs.
//!
//! Start at [`Entry`] and [`Entry::info`]. Invariant: equal texts share one allocation, and a field
//! that a release lacks counts as empty (labels, floors, `has_entity_name`).

use std::collections::BTreeMap;
use std::sync::Arc;

use decide::house::{Area, Device, EntityId, EntityInfo, Floor, Label};
use serde::Deserialize;

use crate::loose::{Loose, Pairs, Pool, each};

pub(crate) type Map<T> = BTreeMap<Arc<str>, T>;

/// One entity as registered, with what names are made from.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Entry {
    /// All but `area_id`, `exposed` and `names`, which depend on more than this entry.
    pub info: EntityInfo,
    pub own_area_id: Option<Arc<str>>,
    pub name: Option<Arc<str>>,
    pub original_name: Option<Arc<str>>,
    /// The original name only completes the device's.
    pub has_entity_name: bool,
    pub should_expose: Option<bool>,
    pub aliases: Vec<Arc<str>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RawEntry<'a> {
    #[serde(borrow)]
    entity_id: Loose<'a>,
    id: Loose<'a>,
    unique_id: Loose<'a>,
    platform: Loose<'a>,
    device_id: Loose<'a>,
    area_id: Loose<'a>,
    labels: Loose<'a>,
    hidden_by: Loose<'a>,
    disabled_by: Loose<'a>,
    entity_category: Loose<'a>,
    name: Loose<'a>,
    original_name: Loose<'a>,
    has_entity_name: Loose<'a>,
    /// Newer releases say here what `has_entity_name` said.
    next_name_part: Loose<'a>,
    options: Pairs<'a, RawOptions<'a>>,
    aliases: Loose<'a>,
    device_class: Loose<'a>,
    original_device_class: Loose<'a>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct RawOptions<'a> {
    #[serde(borrow)]
    should_expose: Loose<'a>,
    entity_id: Loose<'a>,
}

impl RawEntry<'_> {
    fn read(&self, pool: &mut Pool) -> Option<(EntityId, Entry)> {
        let id = EntityId::parse(&self.entity_id.text()?)?;
        let option = |name: &str| self.options.0.iter().find(|(key, _)| key == name).map(|(_, set)| set);
        let wraps = (self.options.0.iter().flat_map(|(_, set)| set.entity_id.texts()))
            .filter_map(|text| EntityId::parse(text))
            .filter(|wrapped| *wrapped != id)
            .collect();
        let info = EntityInfo {
            registry_id: self.id.text().map(|text| (&*text).into()),
            unique_id: self.unique_id.text().map(|text| (&*text).into()),
            platform: pool.share_text(&self.platform),
            device_id: pool.share_text(&self.device_id),
            area_id: None,
            labels: pool.share_texts(&self.labels),
            registry_class: pool.share_text(&self.device_class),
            original_class: pool.share_text(&self.original_device_class),
            hidden: self.hidden_by.text().is_some(),
            disabled: self.disabled_by.text().is_some(),
            category: pool.share_text(&self.entity_category),
            exposed: None,
            wraps,
            names: Vec::new(),
        };
        let entry = Entry {
            info,
            own_area_id: pool.share_text(&self.area_id),
            // Mostly of its own: nothing to share.
            name: self.name.text().map(|text| (&*text).into()),
            original_name: self.original_name.text().map(|text| (&*text).into()),
            has_entity_name: self.has_entity_name.bool() == Some(true)
                || self.next_name_part.text().as_deref() == Some("device"),
            should_expose: option("conversation").and_then(|set| set.should_expose.bool()),
            aliases: pool.share_texts(&self.aliases),
        };
        Some((id, entry))
    }
}

impl Entry {
    /// What the house shows of this entity, its device and present friendly name taken together.
    pub fn info(&self, devices: &Map<Device>, exposed: Option<bool>, friendly_name: Option<&str>) -> EntityInfo {
        let device = self.info.device_id.as_ref().and_then(|id| devices.get(id));
        let mut info = self.info.clone();
        info.area_id = self.own_area_id.clone().or_else(|| device?.area_id.clone());
        info.exposed = exposed.or(self.should_expose);
        info.names = self.names(device, friendly_name);
        info
    }

    fn names(&self, device: Option<&Device>, friendly_name: Option<&str>) -> Vec<Arc<str>> {
        let friendly = || friendly_name.map(Arc::from);
        let mut names = Names::default();
        names.add(self.name.clone().or_else(friendly));
        if self.has_entity_name
            && let Some(device) = device
        {
            names.add(Some(match &self.original_name {
                Some(original) => format!("{} {original}", device.name).into(),
                None => device.name.clone(),
            }));
        }
        names.add(self.original_name.clone());
        names.add(friendly());
        self.aliases.iter().for_each(|alias| names.add(Some(alias.clone())));
        names.0
    }
}

/// Names of an entity that is in no registry.
pub(crate) fn unregistered(exposed: Option<bool>, friendly_name: Option<&str>) -> EntityInfo {
    EntityInfo { exposed, names: friendly_name.map(Arc::from).into_iter().collect(), ..EntityInfo::default() }
}

/// In order, without the empty and the repeated.
#[derive(Default)]
struct Names(Vec<Arc<str>>);

impl Names {
    fn add(&mut self, name: Option<Arc<str>>) {
        if let Some(name) = name.filter(|name| !name.trim().is_empty() && !self.0.contains(name)) {
            self.0.push(name);
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RawId<'a> {
    #[serde(borrow)]
    entity_id: Loose<'a>,
}

/// `config/entity_registry/list`, of which only the ids are wanted: the details come with all fields.
pub(crate) fn ids(json: &str) -> Result<Vec<EntityId>, serde_json::Error> {
    let mut ids = Vec::new();
    each(json, |raw: RawId<'_>| ids.extend(raw.entity_id.text().and_then(|text| EntityId::parse(&text))))?;
    Ok(ids)
}

/// A list of entries.
#[cfg(test)]
pub(crate) fn entities(json: &str, pool: &mut Pool) -> Result<BTreeMap<EntityId, Entry>, serde_json::Error> {
    let mut entries = BTreeMap::new();
    each(json, |raw: RawEntry<'_>| entries.extend(raw.read(pool)))?;
    Ok(entries)
}

/// `config/entity_registry/get_entries`: entries with aliases and classes; nothing for unknown ids.
pub(crate) fn extended(json: &str, pool: &mut Pool) -> Result<Vec<(EntityId, Entry)>, serde_json::Error> {
    let raw: Pairs<'_, Option<RawEntry<'_>>> = serde_json::from_str(json)?;
    Ok(raw.0.iter().filter_map(|(_, raw)| raw.as_ref()?.read(pool)).collect())
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RawDevice<'a> {
    #[serde(borrow)]
    id: Loose<'a>,
    name: Loose<'a>,
    name_by_user: Loose<'a>,
    area_id: Loose<'a>,
    labels: Loose<'a>,
    manufacturer: Loose<'a>,
    model: Loose<'a>,
    via_device_id: Loose<'a>,
    parent_device_id: Loose<'a>,
    disabled_by: Loose<'a>,
}

pub(crate) fn devices(json: &str, pool: &mut Pool) -> Result<Map<Device>, serde_json::Error> {
    let mut devices = Map::new();
    each(json, |raw: RawDevice<'_>| {
        let Some(id) = pool.share_text(&raw.id) else { return };
        let device = Device {
            name: pool.share_text(&raw.name_by_user).or_else(|| pool.share_text(&raw.name)).unwrap_or_default(),
            area_id: pool.share_text(&raw.area_id),
            labels: pool.share_texts(&raw.labels),
            manufacturer: pool.share_text(&raw.manufacturer),
            model: pool.share_text(&raw.model),
            via_device_id: pool.share_text(&raw.via_device_id).or_else(|| pool.share_text(&raw.parent_device_id)),
            disabled: raw.disabled_by.text().is_some(),
        };
        devices.insert(id, device);
    })?;
    Ok(devices)
}

/// Areas, floors and labels have the same few fields between them.
#[derive(Deserialize, Default)]
#[serde(default)]
struct RawPlace<'a> {
    #[serde(borrow)]
    area_id: Loose<'a>,
    floor_id: Loose<'a>,
    label_id: Loose<'a>,
    name: Loose<'a>,
    aliases: Loose<'a>,
    labels: Loose<'a>,
    level: Loose<'a>,
}

pub(crate) fn areas(json: &str, pool: &mut Pool) -> Result<Map<Area>, serde_json::Error> {
    let mut areas = Map::new();
    each(json, |raw: RawPlace<'_>| {
        let Some(id) = pool.share_text(&raw.area_id) else { return };
        let area = Area {
            name: pool.share_text(&raw.name).unwrap_or_default(),
            aliases: pool.share_texts(&raw.aliases),
            floor_id: pool.share_text(&raw.floor_id),
            labels: pool.share_texts(&raw.labels),
        };
        areas.insert(id, area);
    })?;
    Ok(areas)
}

pub(crate) fn floors(json: &str, pool: &mut Pool) -> Result<Map<Floor>, serde_json::Error> {
    let mut floors = Map::new();
    each(json, |raw: RawPlace<'_>| {
        let Some(id) = pool.share_text(&raw.floor_id) else { return };
        let floor = Floor {
            name: pool.share_text(&raw.name).unwrap_or_default(),
            aliases: pool.share_texts(&raw.aliases),
            level: raw.level.number().map(|level| level as i64),
        };
        floors.insert(id, floor);
    })?;
    Ok(floors)
}

pub(crate) fn labels(json: &str, pool: &mut Pool) -> Result<Map<Label>, serde_json::Error> {
    let mut labels = Map::new();
    each(json, |raw: RawPlace<'_>| {
        let Some(id) = pool.share_text(&raw.label_id) else { return };
        labels.insert(id, Label { name: pool.share_text(&raw.name).unwrap_or_default() });
    })?;
    Ok(labels)
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RawExposed<'a> {
    #[serde(borrow)]
    exposed_entities: Pairs<'a, Pairs<'a, Loose<'a>>>,
}

/// `homeassistant/expose_entity/list`: what the house shows to its voice assistants.
pub(crate) fn exposed(json: &str) -> Result<BTreeMap<EntityId, bool>, serde_json::Error> {
    let raw: RawExposed<'_> = serde_json::from_str(json)?;
    let conversation = |assistants: &Pairs<'_, Loose<'_>>| {
        assistants.0.iter().find(|(name, _)| name == "conversation").and_then(|(_, shown)| shown.bool())
    };
    Ok((raw.exposed_entities.0.iter())
        .filter_map(|(id, assistants)| Some((EntityId::parse(id)?, conversation(assistants)?)))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn devices_with(name: &str) -> Map<Device> {
        let device = Device { name: name.into(), area_id: Some("kitchen".into()), ..Device::default() };
        Map::from([("d1".into(), device)])
    }

    fn entry(json: &str) -> Entry {
        let mut entries = entities(json, &mut Pool::default()).unwrap();
        entries.pop_first().unwrap().1
    }

    #[test]
    fn an_entity_without_an_area_has_its_devices() {
        let entry = entry(r#"[{"entity_id": "light.a", "device_id": "d1", "area_id": null}]"#);
        let info = entry.info(&devices_with("Lamp"), None, None);
        assert_eq!(info.area_id.as_deref(), Some("kitchen"));
    }

    #[test]
    fn names_come_in_order_and_without_repetition() {
        let entry = entry(
            r#"[{"entity_id": "light.a", "device_id": "d1", "next_name_part": "device",
                "original_name": "Left", "aliases": [null, "左灯", "Lamp Left"]}]"#,
        );
        let names = entry.info(&devices_with("Lamp"), None, Some("Lamp Left")).names;
        assert_eq!(names.iter().map(|name| &**name).collect::<Vec<_>>(), ["Lamp Left", "Left", "左灯"]);
    }

    #[test]
    fn the_switch_under_another_entity_is_known() {
        let entry = entry(
            r#"[{"entity_id": "lock.gate", "platform": "switch_as_x", "options":
                {"switch_as_x": {"entity_id": "switch.relay", "invert": false}, "conversation": {"should_expose": false}}}]"#,
        );
        assert_eq!(entry.info.wraps, [EntityId::parse("switch.relay").unwrap()]);
        assert_eq!(entry.should_expose, Some(false));
    }

    #[test]
    fn entries_of_a_release_without_labels_or_of_odd_types_are_read() {
        let entry = entry(
            r#"[{"entity_id": "not an id"}, {"entity_id": "light.a", "unique_id": 7, "labels": {}, "options": []}]"#,
        );
        assert_eq!(entry.info.unique_id.as_deref(), Some("7"));
        assert!(entry.info.labels.is_empty());
    }
}
