//! Look-ups derived from a house: which entities an area, device or label holds, which group an
//! entity is in. Invariant: holds nothing that cannot be rebuilt from the house beside it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{Entity, EntityId, House};

#[derive(Clone, Debug, Default)]
pub struct Index {
    pub by_area: BTreeMap<Arc<str>, Vec<EntityId>>,
    pub by_device: BTreeMap<Arc<str>, Vec<EntityId>>,
    pub by_label: BTreeMap<Arc<str>, Vec<EntityId>>,
    /// Areas on a floor.
    pub by_floor: BTreeMap<Arc<str>, Vec<Arc<str>>>,
    /// Groups, wrapping helpers and derived entities that contain this entity.
    pub contained_in: BTreeMap<EntityId, Vec<EntityId>>,
    /// Registry id to entity id.
    pub by_registry_id: BTreeMap<Arc<str>, EntityId>,
    /// Which automations a change of an entity, a service or an event sets off.
    pub triggers: crate::gate::Triggers,
}

/// What a threshold, a trend, a filter, a derivative or a meter is made from, as its state says.
fn derived_from(entity: &Entity) -> impl Iterator<Item = EntityId> {
    let source = |key| entity.attribute(key).and_then(Value::as_str).and_then(EntityId::parse);
    ["entity_id", "source"].into_iter().filter_map(source)
}

impl Index {
    pub fn new(house: &House) -> Self {
        let mut index = Self::default();
        for (id, entity) in &house.entities {
            if let Some((area, _)) = house.area_of(entity) {
                index.by_area.entry(area.clone()).or_default().push(id.clone());
            }
            if let Some(device) = &entity.info.device_id {
                index.by_device.entry(device.clone()).or_default().push(id.clone());
            }
            for label in house.labels_of(entity) {
                let ids = index.by_label.entry(label.clone()).or_default();
                if ids.last() != Some(id) {
                    ids.push(id.clone());
                }
            }
            if let Some(uuid) = &entity.info.registry_id {
                index.by_registry_id.insert(uuid.clone(), id.clone());
            }
            if id.domain() != "scene" {
                let wraps = entity.info.wraps.iter().cloned();
                for member in entity.members().chain(wraps).chain(derived_from(entity)) {
                    index.contained_in.entry(member).or_default().push(id.clone());
                }
            }
        }
        for (id, area) in house.areas.iter() {
            if let Some(floor) = &area.floor_id {
                index.by_floor.entry(floor.clone()).or_default().push(id.clone());
            }
        }
        let picture = House { index: Arc::new(index), ..house.clone() };
        let triggers = crate::gate::Triggers::new(&picture);
        Self { triggers, ..Arc::unwrap_or_clone(picture.index) }
    }
}
