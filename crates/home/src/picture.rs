//! The picture of the house while it is being drawn, and the finished one that readers get.
//!
//! Start at [`Keeper`]. Whoever learns something new draws it into the [`Picture`] under its lock;
//! the result is published as an immutable `House` that readers load without waiting. Invariant:
//! whatever is published has an index that fits its registries, memberships and bodies.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use decide::house::{Area, Bodies, Body, Device, Entity, EntityId, Floor, House, Label, Readiness, State};
use tokio::sync::watch;

use crate::changes::Changes;
use crate::loose::Pool;
use crate::registry::{self, Entry, Map};
use crate::services::{HouseConfig, Services};
use crate::states::{self, Event};

#[derive(Default)]
pub(crate) struct Keeper {
    picture: Mutex<Picture>,
    published: ArcSwap<House>,
    version: watch::Sender<u64>,
    /// Numbers the readings of bodies in the order they began.
    readings: AtomicU64,
    pub changes: Changes,
}

/// Not published itself; [`Keeper::draw`] publishes after each change.
#[derive(Default)]
pub(crate) struct Picture {
    next: House,
    entries: BTreeMap<EntityId, Entry>,
    exposed: BTreeMap<EntityId, bool>,
    pub pool: Pool,
    index_stale: bool,
    /// Which reading each body is from.
    body_readings: BTreeMap<EntityId, u64>,
}

/// One macro's body as read just now; nothing when the macro is gone.
pub(crate) struct ReadBody {
    pub id: EntityId,
    pub body: Option<Body>,
    /// What it has to do with, where the body cannot be read.
    pub related: Vec<EntityId>,
}

/// The registries as read together.
#[derive(Default)]
pub(crate) struct Registries {
    pub entries: BTreeMap<EntityId, Entry>,
    pub devices: Map<Device>,
    pub areas: Map<Area>,
    pub floors: Map<Floor>,
    pub labels: Map<Label>,
    pub exposed: BTreeMap<EntityId, bool>,
}

impl Keeper {
    /// The newest picture. Waits for nobody.
    pub fn house(&self) -> Arc<House> {
        self.published.load_full()
    }

    /// Tells when there is a newer picture.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    /// A number for a reading of bodies that begins now.
    pub fn begin_reading(&self) -> u64 {
        self.readings.fetch_add(1, Ordering::Relaxed)
    }

    /// Changes the picture and publishes it.
    pub fn draw<R>(&self, change: impl FnOnce(&mut Picture) -> R) -> R {
        let mut picture = self.picture.lock().unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut picture);
        picture.index();
        self.published.store(Arc::new(picture.next.clone()));
        drop(picture);
        self.version.send_modify(|version| *version += 1);
        result
    }

    /// Takes one event of the state stream, as its JSON.
    pub fn states(&self, json: &str) {
        let event: Event<'_> = match serde_json::from_str(json) {
            Ok(event) => event,
            Err(error) => return tracing::warn!(%error, "a state event cannot be read"),
        };
        let touched = self.draw(|picture| picture.states(event));
        self.changes.macros(touched);
    }
}

impl Picture {
    pub fn house(&mut self) -> &mut House {
        &mut self.next
    }

    fn index(&mut self) {
        // Before the registries there is nothing to look up by, and at 50,000 entities it costs.
        if self.index_stale && self.next.readiness.states && self.next.readiness.registries {
            self.index_stale = false;
            self.next = std::mem::take(&mut self.next).reindexed();
        }
    }

    /// Gives back the macros whose bodies may have changed.
    fn states(&mut self, event: Event<'_>) -> Vec<EntityId> {
        let mut touched = Vec::new();
        if !self.next.readiness.states {
            // After these all bodies are read anyway.
            self.first_states(event);
            return touched;
        }
        for (id, whole) in event.added.0 {
            let Some(id) = EntityId::parse(&id) else { continue };
            let state = whole.state(&mut self.pool);
            self.set_state(&id, Some(state), &mut touched);
        }
        for (id, change) in event.changed.0 {
            let Some(id) = EntityId::parse(&id) else { continue };
            let Some(state) = self.next.entities.get(&id).and_then(|entity| entity.state.as_ref()) else { continue };
            let mut state = State::clone(state);
            change.apply(&mut state, &mut self.pool);
            self.set_state(&id, Some(state), &mut touched);
        }
        for id in event.removed.texts() {
            if let Some(id) = EntityId::parse(id) {
                self.set_state(&id, None, &mut touched);
            }
        }
        touched
    }

    fn set_state(&mut self, id: &EntityId, state: Option<State>, touched: &mut Vec<EntityId>) {
        let before = self.next.entities.get(id).and_then(|entity| entity.state.clone());
        let effect = states::effect(id, before.as_ref(), state.as_ref());
        if effect.body {
            touched.push(id.clone());
        }
        self.index_stale |= effect.relations;
        if state.is_none() && !self.entries.contains_key(id) {
            self.next.entities.remove(id);
            return;
        }
        let info = match self.next.entities.get(id) {
            Some(entity) if !effect.name => entity.info.clone(),
            _ => Arc::new(self.info(id, state.as_ref())),
        };
        self.next.entities.insert(id.clone(), Entity { info, state: state.map(Arc::new) });
    }

    /// The first event after connecting holds all states; what it lacks is gone.
    fn first_states(&mut self, event: Event<'_>) {
        let mut fresh: BTreeMap<EntityId, Arc<State>> = BTreeMap::new();
        for (id, whole) in event.added.0 {
            if let Some(id) = EntityId::parse(&id) {
                fresh.insert(id, Arc::new(whole.state(&mut self.pool)));
            }
        }
        self.next.readiness.states = true;
        self.redraw(fresh);
    }

    /// All entities anew: the union of what is registered and what has a state.
    fn redraw(&mut self, states: BTreeMap<EntityId, Arc<State>>) {
        let mut entities: Vec<(EntityId, Entity)> = Vec::with_capacity(states.len());
        for (id, state) in states {
            let info = Arc::new(self.info(&id, Some(&state)));
            entities.push((id, Entity { info, state: Some(state) }));
        }
        let stateless: Vec<_> = (self.entries.keys())
            .filter(|id| entities.binary_search_by(|(other, _)| other.cmp(id)).is_err())
            .map(|id| (id.clone(), Entity { info: Arc::new(self.info(id, None)), state: None }))
            .collect();
        entities.extend(stateless);
        self.next.entities = entities.into_iter().collect();
        self.index_stale = true;
    }

    fn info(&self, id: &EntityId, state: Option<&State>) -> decide::house::EntityInfo {
        let friendly_name = state.and_then(|state| state.attributes.get("friendly_name")?.as_str());
        let exposed = self.exposed.get(id).copied();
        match self.entries.get(id) {
            Some(entry) => entry.info(&self.next.devices, exposed, friendly_name),
            None => registry::unregistered(exposed, friendly_name),
        }
    }

    fn present_states(&self) -> BTreeMap<EntityId, Arc<State>> {
        (self.next.entities.iter()).filter_map(|(id, entity)| Some((id.clone(), entity.state.clone()?))).collect()
    }

    pub fn registries(&mut self, read: Registries) {
        let Registries { entries, devices, areas, floors, labels, exposed } = read;
        (self.entries, self.exposed) = (entries, exposed);
        self.places(devices, areas, floors, labels);
        self.next.readiness.registries = true;
    }

    /// Devices, areas, floors and labels, without the entities.
    pub fn places(&mut self, devices: Map<Device>, areas: Map<Area>, floors: Map<Floor>, labels: Map<Label>) {
        self.next.devices = Arc::new(devices);
        self.next.areas = Arc::new(areas);
        self.next.floors = Arc::new(floors);
        self.next.labels = Arc::new(labels);
        let states = self.present_states();
        self.redraw(states);
    }

    /// These entities were read anew; those of `asked` that are not in `read` are registered no more.
    pub fn entries(&mut self, asked: &[EntityId], read: Vec<(EntityId, Entry)>) {
        for id in asked {
            self.entries.remove(id);
        }
        self.entries.extend(read);
        for id in asked {
            let state = self.next.entities.get(id).and_then(|entity| entity.state.clone());
            if state.is_none() && !self.entries.contains_key(id) {
                self.next.entities.remove(id);
                continue;
            }
            let info = Arc::new(self.info(id, state.as_deref()));
            self.next.entities.insert(id.clone(), Entity { info, state });
        }
        self.index_stale = true;
    }

    pub fn exposed(&mut self, exposed: BTreeMap<EntityId, bool>) {
        if self.exposed != exposed {
            self.exposed = exposed;
            let states = self.present_states();
            self.redraw(states);
        }
    }

    pub fn config(&mut self, config: HouseConfig) {
        self.next.version = config.version;
        self.next.location_name = config.location_name;
        self.next.hosts = Arc::new(config.hosts);
        self.next.units = Arc::new(config.units);
        self.next.readiness.running = config.running;
    }

    pub fn services(&mut self, services: Services) {
        self.next.services = Arc::new(services);
    }

    /// Takes what a reading found. What began earlier never replaces what began later.
    pub fn bodies(&mut self, reading: u64, read: Vec<ReadBody>) {
        let mut bodies = Bodies::clone(&self.next.bodies);
        for ReadBody { id, body, related } in read {
            let newest = self.body_readings.entry(id.clone()).or_default();
            if *newest > reading {
                continue;
            }
            *newest = reading;
            bodies.related.remove(&id);
            if !related.is_empty() {
                bodies.related.insert(id.clone(), related);
            }
            let kind = match id.domain() {
                "script" => &mut bodies.scripts,
                "scene" => &mut bodies.scenes,
                _ => &mut bodies.automations,
            };
            match body {
                Some(body) => drop(kind.insert(id, body)),
                None => drop(kind.remove(&id)),
            }
        }
        if bodies != *self.next.bodies {
            self.next.bodies = Arc::new(bodies);
            self.index_stale = true;
        }
    }

    /// From here on nothing that was read before counts as read: a door that was closed then may be
    /// open by now, and must be closed all the same.
    pub fn connected(&mut self, version: Arc<str>) {
        self.next.readiness = Readiness { connected: true, ..Readiness::default() };
        let known = self.next.entities.iter();
        self.next.entities =
            known.map(|(id, entity)| (id.clone(), Entity { info: entity.info.clone(), state: None })).collect();
        self.next.version = version;
    }

    /// What was known stays to be seen, marked as not fresh.
    pub fn disconnected(&mut self) {
        self.next.readiness.connected = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn registries(entries: &Value) -> Registries {
        let mut pool = Pool::default();
        Registries {
            entries: registry::entities(&entries.to_string(), &mut pool).unwrap(),
            devices: registry::devices(r#"[{"id": "d1", "name": "Lamp", "area_id": "kitchen"}]"#, &mut pool).unwrap(),
            areas: registry::areas(r#"[{"area_id": "kitchen", "name": "厨房 Kitchen"}]"#, &mut pool).unwrap(),
            ..Registries::default()
        }
    }

    #[test]
    fn a_transcript_of_a_house_becomes_its_picture() {
        let keeper = Keeper::default();
        keeper.states(
            r#"{"a": {"light.lamp": {"s": "off", "a": {"friendly_name": "Lamp"}, "c": "1", "lc": 1.5},
                      "group.all": {"s": "off", "a": {"entity_id": ["light.lamp"]}, "lc": 1.5, "lu": 2.5},
                      "not an id": {"s": "off"}}}"#,
        );
        let entries = json!([
            { "entity_id": "light.lamp", "id": "u1", "device_id": "d1", "platform": "demo" },
            { "entity_id": "light.off", "disabled_by": "user", "device_id": "d1" },
        ]);
        keeper.draw(|picture| picture.registries(registries(&entries)));
        keeper.states(r#"{"c": {"light.lamp": {"+": {"s": "on", "lc": 9.0, "a": {"brightness": 7}}}}}"#);
        let house = keeper.house();
        let lamp = house.entity("light.lamp").unwrap();
        assert_eq!((lamp.value(), lamp.attribute("brightness")), (Some("on"), Some(&json!(7))));
        assert_eq!(lamp.state.as_ref().unwrap().last_updated, 9.0);
        assert_eq!(&*house.area_of(lamp).unwrap().1.name, "厨房 Kitchen");
        assert!(house.entity("light.off").is_some_and(|entity| entity.info.disabled && entity.state.is_none()));
        assert_eq!(house.index.by_area["kitchen"].len(), 2);
        assert_eq!(house.index.contained_in["light.lamp"].len(), 1);
        // Removed, but still registered: known, without a state.
        keeper.states(r#"{"r": ["light.lamp", "group.all"]}"#);
        let house = keeper.house();
        assert!(house.entity("light.lamp").unwrap().state.is_none());
        assert!(house.entity("group.all").is_none());
        assert!(!house.index.contained_in.contains_key("light.lamp"));
    }

    #[test]
    fn what_is_gone_after_a_break_is_gone_from_the_picture() {
        let keeper = Keeper::default();
        keeper.draw(|picture| picture.registries(registries(&json!([]))));
        keeper.states(r#"{"a": {"light.a": {"s": "on"}, "light.b": {"s": "on"}}}"#);
        keeper.draw(Picture::disconnected);
        let house = keeper.house();
        // Still to be seen, and marked.
        assert!(house.entity("light.b").is_some() && house.readiness.states && !house.readiness.connected);
        keeper.draw(|picture| picture.connected("2026.11.0".into()));
        let house = keeper.house();
        assert!(!house.readiness.states && house.entity("light.b").is_some_and(|entity| entity.state.is_none()));
        keeper.states(r#"{"a": {"light.a": {"s": "off"}}}"#);
        let house = keeper.house();
        assert!(house.entity("light.b").is_none() && house.readiness.states);
    }

    /// Ids few enough that changes meet.
    fn any_id() -> impl Strategy<Value = String> {
        "(light|group)\\.[a-c]".prop_map(String::from)
    }

    fn any_event() -> impl Strategy<Value = Value> {
        let attributes = prop_oneof![
            Just(json!({})),
            any_id().prop_map(|member| json!({ "entity_id": [member] })),
            "[x-z]".prop_map(|name| json!({ "friendly_name": name })),
        ];
        prop_oneof![
            (any_id(), attributes.clone()).prop_map(|(id, a)| json!({ "a": { id: { "s": "on", "a": a } } })),
            (any_id(), attributes, any::<bool>()).prop_map(|(id, a, removes)| {
                let minus = if removes { json!({ "a": ["entity_id"] }) } else { json!({}) };
                json!({ "c": { id: { "+": { "s": "off", "a": a }, "-": minus } } })
            }),
            any_id().prop_map(|id| json!({ "r": [id] })),
            any_id().prop_map(|id| json!({ "entry": { "entity_id": id, "device_id": "d1" } })),
            any_id().prop_map(|id| json!({ "gone": id })),
        ]
    }

    proptest! {
        #[test]
        fn a_picture_changed_bit_by_bit_is_the_picture_drawn_at_once(events in proptest::collection::vec(any_event(), 1..20)) {
            let keeper = Keeper::default();
            keeper.draw(|picture| picture.registries(registries(&json!([{ "entity_id": "light.a", "device_id": "d1" }]))));
            keeper.states(r#"{"a": {"light.a": {"s": "on"}, "group.a": {"s": "on", "a": {"entity_id": ["light.a"]}}}}"#);
            for event in events {
                if let Some(entry) = event.get("entry") {
                    let read = registry::entities(&json!([entry]).to_string(), &mut Pool::default()).unwrap();
                    let ids: Vec<_> = read.keys().cloned().collect();
                    keeper.draw(|picture| picture.entries(&ids, read.into_iter().collect()));
                } else if let Some(gone) = event["gone"].as_str() {
                    keeper.draw(|picture| picture.entries(&[EntityId::parse(gone).unwrap()], Vec::new()));
                } else {
                    keeper.states(&event.to_string());
                }
            }
            let bit_by_bit = keeper.house();
            keeper.draw(|picture| {
                let states = picture.present_states();
                picture.redraw(states);
            });
            let at_once = keeper.house();
            prop_assert_eq!(format!("{:?}", bit_by_bit.entities), format!("{:?}", at_once.entities));
            prop_assert_eq!(format!("{:?}", bit_by_bit.index), format!("{:?}", at_once.index));
        }
    }
}
