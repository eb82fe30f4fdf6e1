//! The immutable picture of a house that every decision looks at.
//!
//! Built by `home` from registries and states, shared as `Arc<House>`, never changed in place: a
//! new state makes a new `House` that shares all but the changed entity. Start at [`House`].
//! Invariant: an [`EntityId`] is always `domain.object_id` in lower case; everything else in here
//! is text from the house and therefore data.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

mod bodies;
mod index;
mod recorded;

pub use bodies::{Bodies, Body};
pub use index::Index;

/// `domain.object_id`, lower case, as Home Assistant itself would accept it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct EntityId(Arc<str>);

impl EntityId {
    /// The id as Home Assistant reads it (trimmed, lower case), or nothing when it is no id.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        let (domain, object) = text.split_once('.')?;
        let word = |part: &str| {
            !part.is_empty()
                && !part.starts_with('_')
                && !part.ends_with('_')
                && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        };
        (word(domain) && !domain.contains("__") && word(object)).then(|| Self(text.as_str().into()))
    }

    pub fn domain(&self) -> &str {
        &self.0[..self.dot()]
    }

    pub fn object(&self) -> &str {
        self.0.get(self.dot() + 1..).unwrap_or("")
    }

    fn dot(&self) -> usize {
        // Domains are short: looking byte by byte is quicker than what searches long texts.
        self.0.bytes().position(|byte| byte == b'.').unwrap_or(self.0.len())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for EntityId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for EntityId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("`{text}` is no entity id")))
    }
}

/// One house at one moment.
#[derive(Clone, Debug, Default)]
pub struct House {
    /// Home Assistant's version, `2026.11.0`.
    pub version: Arc<str>,
    /// Home Assistant's own name of the place.
    pub location_name: Arc<str>,
    /// Host names under which the house itself is reached, from inside and outside; lower case.
    pub hosts: Arc<BTreeSet<String>>,
    pub readiness: Readiness,
    pub units: Arc<Units>,
    pub entities: imbl::OrdMap<EntityId, Entity>,
    pub devices: Arc<BTreeMap<Arc<str>, Device>>,
    pub areas: Arc<BTreeMap<Arc<str>, Area>>,
    pub floors: Arc<BTreeMap<Arc<str>, Floor>>,
    pub labels: Arc<BTreeMap<Arc<str>, Label>>,
    /// Services as the house lists them: domain, then service.
    pub services: Arc<BTreeMap<String, BTreeMap<String, Service>>>,
    /// What macros and automations do, as far as the token may read it.
    pub bodies: Arc<Bodies>,
    /// Look-ups derived from the above, rebuilt when registries, memberships or bodies change.
    pub index: Arc<Index>,
}

/// How far this picture can be trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Readiness {
    pub connected: bool,
    /// Home Assistant has finished starting.
    pub running: bool,
    /// The first set of states has arrived.
    pub states: bool,
    /// Areas, devices and entities have been read. Without them, area forms cannot be judged.
    pub registries: bool,
    /// Macro and automation bodies have been read, as far as the token may.
    pub bodies: bool,
}

/// What the registry says of an entity. All names are text from the house.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EntityInfo {
    /// The registry's own id (a uuid-like text), where the entity is registered.
    pub registry_id: Option<Arc<str>>,
    pub unique_id: Option<Arc<str>>,
    /// The integration that made it, `switch_as_x`, `demo`, `hue`.
    pub platform: Option<Arc<str>>,
    pub device_id: Option<Arc<str>>,
    /// The entity's own area, else its device's.
    pub area_id: Option<Arc<str>>,
    /// The entity's own labels only; those of device and area are looked up there.
    pub labels: Vec<Arc<str>>,
    /// Device class set by a person in the registry.
    pub registry_class: Option<Arc<str>>,
    /// Device class that the integration gave.
    pub original_class: Option<Arc<str>>,
    pub hidden: bool,
    pub disabled: bool,
    /// `config` or `diagnostic`.
    pub category: Option<Arc<str>>,
    /// Shown to voice assistants, where the house says so.
    pub exposed: Option<bool>,
    /// Entities that this one stands in front of (`switch_as_x` and other wrapping helpers).
    pub wraps: Vec<EntityId>,
    /// Registry name, aliases, device and original name, friendly name; first is the one to show.
    pub names: Vec<Arc<str>>,
}

#[derive(Clone, Debug, Default)]
pub struct Entity {
    pub info: Arc<EntityInfo>,
    /// Nothing while the entity is disabled or its integration not loaded.
    pub state: Option<Arc<State>>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    pub value: Arc<str>,
    pub attributes: Map<String, Value>,
    /// Seconds since 1970, as Home Assistant gives them.
    pub last_changed: f64,
    pub last_updated: f64,
}

impl Entity {
    pub fn value(&self) -> Option<&str> {
        self.state.as_ref().map(|state| &*state.value)
    }

    pub fn attribute(&self, key: &str) -> Option<&Value> {
        self.state.as_ref()?.attributes.get(key)
    }

    /// Unavailable, unknown or not there at all.
    pub fn unavailable(&self) -> bool {
        matches!(self.value(), None | Some("unavailable"))
    }

    pub fn supported_features(&self) -> u64 {
        self.attribute("supported_features").and_then(Value::as_u64).unwrap_or(0)
    }

    pub fn assumed_state(&self) -> bool {
        self.attribute("assumed_state").and_then(Value::as_bool).unwrap_or(false)
    }

    /// Every device class that anything in the house claims for it: state, registry, original.
    pub fn classes(&self) -> impl Iterator<Item = &str> {
        let state = self.attribute("device_class").and_then(Value::as_str);
        [state, self.info.registry_class.as_deref(), self.info.original_class.as_deref()].into_iter().flatten()
    }

    /// Members of a group entity or of a scene, as its state lists them.
    pub fn members(&self) -> impl Iterator<Item = EntityId> + '_ {
        self.attribute("entity_id")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|id| EntityId::parse(id.as_str()?))
    }

    /// The name to show. Text from the house: clean it before it leaves.
    pub fn name<'a>(&'a self, id: &'a EntityId) -> &'a str {
        self.info.names.first().map_or(id.as_str(), |name| name)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Device {
    pub name: Arc<str>,
    pub area_id: Option<Arc<str>>,
    pub labels: Vec<Arc<str>>,
    pub manufacturer: Option<Arc<str>>,
    pub model: Option<Arc<str>>,
    /// The device that this one hangs on (a hub, a multi-channel board).
    pub via_device_id: Option<Arc<str>>,
    pub disabled: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Area {
    pub name: Arc<str>,
    pub aliases: Vec<Arc<str>>,
    pub floor_id: Option<Arc<str>>,
    pub labels: Vec<Arc<str>>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Floor {
    pub name: Arc<str>,
    pub aliases: Vec<Arc<str>>,
    pub level: Option<i64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Label {
    pub name: Arc<str>,
}

/// What `get_services` says of one service.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Service {
    pub fields: BTreeSet<String>,
    /// It takes a target (entities, areas, ...).
    pub target: bool,
    pub response: Response,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Response {
    #[default]
    None,
    Optional,
    Only,
}

/// The house's units, `°C`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Units {
    pub temperature: Option<Arc<str>>,
    pub length: Option<Arc<str>>,
    pub pressure: Option<Arc<str>>,
    pub volume: Option<Arc<str>>,
    pub wind_speed: Option<Arc<str>>,
}

impl House {
    pub fn entity(&self, id: &str) -> Option<&Entity> {
        self.entities.get(id)
    }

    /// Entities of one domain, in id order.
    pub fn domain<'a>(&'a self, domain: &str) -> impl Iterator<Item = (&'a EntityId, &'a Entity)> {
        // `.` sorts before every letter, digit and underscore, `/` right after it.
        let from = EntityId(format!("{domain}.").into());
        let to = EntityId(format!("{domain}/").into());
        self.entities.range(from..to)
    }

    /// Area of an entity: its own or its device's.
    pub fn area_of(&self, entity: &Entity) -> Option<(&Arc<str>, &Area)> {
        let device = || self.devices.get(entity.info.device_id.as_ref()?)?.area_id.as_ref();
        let id = entity.info.area_id.as_ref().or_else(device)?;
        self.areas.get_key_value(id)
    }

    /// All labels that hold for an entity: its own, its device's, its area's.
    pub fn labels_of<'a>(&'a self, entity: &'a Entity) -> impl Iterator<Item = &'a Arc<str>> {
        let device = entity.info.device_id.as_ref().and_then(|id| self.devices.get(id));
        let area = self.area_of(entity).map(|(_, area)| area);
        (entity.info.labels.iter())
            .chain(device.into_iter().flat_map(|device| &device.labels))
            .chain(area.into_iter().flat_map(|area| &area.labels))
    }

    /// The same house with its look-ups made anew. Call after registries, memberships or bodies change.
    pub fn reindexed(mut self) -> Self {
        self.index = Arc::new(Index::new(&self));
        self
    }
}
