//! A house as one JSON document, for explaining a call without the house and for tests. Start at
//! [`House::to_json`]. Invariant: what is read back is judged exactly as what was written.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Area, Bodies, Device, Entity, EntityId, EntityInfo, Floor, House, Label, Readiness, Service, State, Units,
};

#[derive(Serialize, Deserialize)]
struct Recorded {
    version: Arc<str>,
    #[serde(default)]
    location_name: Arc<str>,
    #[serde(default)]
    hosts: BTreeSet<String>,
    readiness: Readiness,
    units: Units,
    entities: BTreeMap<EntityId, RecordedEntity>,
    devices: BTreeMap<Arc<str>, Device>,
    areas: BTreeMap<Arc<str>, Area>,
    floors: BTreeMap<Arc<str>, Floor>,
    labels: BTreeMap<Arc<str>, Label>,
    #[serde(default)]
    services: BTreeMap<String, BTreeMap<String, Service>>,
    bodies: Bodies,
}

#[derive(Serialize, Deserialize)]
struct RecordedEntity {
    info: Arc<EntityInfo>,
    state: Option<Arc<State>>,
}

impl House {
    /// The whole picture, look-ups left out: they are made again when it is read.
    pub fn to_json(&self) -> Result<Value, serde_json::Error> {
        let entities = (self.entities.iter())
            .map(|(id, Entity { info, state })| {
                (id.clone(), RecordedEntity { info: info.clone(), state: state.clone() })
            })
            .collect();
        serde_json::to_value(Recorded {
            version: self.version.clone(),
            location_name: self.location_name.clone(),
            hosts: (*self.hosts).clone(),
            readiness: self.readiness.clone(),
            units: (*self.units).clone(),
            entities,
            devices: (*self.devices).clone(),
            areas: (*self.areas).clone(),
            floors: (*self.floors).clone(),
            labels: (*self.labels).clone(),
            services: (*self.services).clone(),
            bodies: (*self.bodies).clone(),
        })
    }

    pub fn from_json(json: Value) -> Result<Self, serde_json::Error> {
        let recorded: Recorded = serde_json::from_value(json)?;
        let entities =
            recorded.entities.into_iter().map(|(id, entity)| (id, Entity { info: entity.info, state: entity.state }));
        Ok(Self {
            version: recorded.version,
            location_name: recorded.location_name,
            hosts: Arc::new(recorded.hosts),
            readiness: recorded.readiness,
            units: Arc::new(recorded.units),
            entities: entities.collect(),
            devices: Arc::new(recorded.devices),
            areas: Arc::new(recorded.areas),
            floors: Arc::new(recorded.floors),
            labels: Arc::new(recorded.labels),
            services: Arc::new(recorded.services),
            bodies: Arc::new(recorded.bodies),
            index: Arc::default(),
        }
        .reindexed())
    }
}
