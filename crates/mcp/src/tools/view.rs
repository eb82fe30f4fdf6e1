//! The part of a house that this program may show: in scope, enabled, names made safe. Start at
//! [`View`]. Invariant: nothing out of scope and no uncleaned name passes through here.

use std::collections::BTreeSet;

use decide::gate::{Call, Decision, Facts, InFlight, Language, Origin, Policy, Problem, in_scope, judge, may_open};
use decide::house::{Area, Entity, EntityId, House};
use decide::text::{NAME_CHARS_MAX, clean};

/// A house through the eyes of a model.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub house: &'a House,
    pub policy: &'a Policy,
    pub language: Language,
    /// Seconds since 1970: grants run out.
    pub now: i64,
}

impl<'a> View<'a> {
    /// Facts of a look, not of a command: nothing is under way.
    fn facts(&self) -> Facts<'a> {
        static NONE: InFlight = InFlight { covers: BTreeSet::new() };
        Facts { house: self.house, policy: self.policy, in_flight: &NONE, now: self.now }
    }

    /// What the gate would say to this call, were it made. For telling; nothing is sent on it.
    pub fn judged(&self, call: &Call) -> Result<Decision, Problem> {
        judge(&self.facts(), Origin::Model, call)
    }

    /// May this be shown and addressed at all? Hidden entities may.
    pub fn shows(&self, id: &EntityId, entity: &Entity) -> bool {
        !entity.info.disabled && in_scope(&self.facts(), id)
    }

    /// All that may be shown, hidden ones too, in id order.
    pub fn all(self) -> impl Iterator<Item = (&'a EntityId, &'a Entity)> {
        self.house.entities.iter().filter(move |(id, entity)| self.shows(id, entity))
    }

    /// All that may be shown and is not hidden.
    pub fn visible(self) -> impl Iterator<Item = (&'a EntityId, &'a Entity)> {
        self.all().filter(|(_, entity)| !entity.info.hidden)
    }

    pub fn name(&self, id: &EntityId) -> String {
        match self.house.entity(id.as_str()) {
            Some(entity) => cleaned(entity.name(id)),
            None => id.as_str().to_owned(),
        }
    }

    pub fn area(&self, entity: &Entity) -> Option<String> {
        self.house.area_of(entity).map(|(_, area)| cleaned(&area.name))
    }

    pub fn floor(&self, area: &Area) -> Option<String> {
        let floor = self.house.floors.get(area.floor_id.as_ref()?)?;
        Some(cleaned(&floor.name))
    }

    /// Whether a plain on, off, open or press of this one entity would stop at the gate.
    pub fn guarded(&self, id: &EntityId) -> bool {
        may_open(&self.facts(), id)
    }

    /// Whether the operator allows it standing.
    pub fn allowed(&self, id: &EntityId) -> bool {
        self.policy.grants.contains_key(id)
    }
}

/// A name from the house, as data.
pub fn cleaned(name: &str) -> String {
    clean(name, NAME_CHARS_MAX)
}
