//! The part of a house that this program may show: in scope, enabled, names made safe. Start at
//! [`View`]. Invariant: nothing out of scope and no uncleaned name passes through here.

use std::collections::BTreeSet;

use decide::gate::{
    Call, Decision, Facts, InFlight, Language, Origin, Policy, Problem, Reason, Step, in_scope, judge, may_open,
};
use decide::house::{Area, Entity, EntityId, House};
use decide::text::{NAME_CHARS_MAX, clean};

use super::answer::say;

/// Longest sentence of a reason, in characters.
const SENTENCE_CHARS: usize = 400;

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
        static NONE: InFlight = InFlight { closing: BTreeSet::new(), otherwise: BTreeSet::new() };
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

    /// Whether the operator lets it be seen at all.
    pub fn reaches(&self, id: &EntityId) -> bool {
        in_scope(&self.facts(), id)
    }

    /// Whether this reason may be told: nothing in it is out of scope.
    pub fn tells(&self, reason: &Reason) -> bool {
        let steps = reason.path.iter().filter_map(|step| match step {
            Step::Moves { entity } | Step::Triggers { cause: entity, .. } => Some(entity.clone()),
            Step::Runs { .. } | Step::Event { .. } => None,
        });
        let in_detail = reason.detail.as_deref().and_then(EntityId::parse);
        let ids = reason.entity.iter().chain(&reason.on).cloned().chain(in_detail).chain(steps);
        ids.into_iter().all(|id| self.reaches(&id))
    }

    /// Why, in words: those that may be told, one sentence for all that may not.
    pub fn sentences<'r>(&self, reasons: impl Iterator<Item = &'r Reason>) -> Vec<String> {
        let mut sentences: Vec<String> = Vec::new();
        for reason in reasons {
            let sentence = match self.tells(reason) {
                true => clean(&reason.sentence(self.language), SENTENCE_CHARS),
                false => {
                    say(self.language, "it would move something that is out of reach here", "会动到这里不能操作的设备")
                        .to_owned()
                }
            };
            if !sentences.contains(&sentence) {
                sentences.push(sentence);
            }
        }
        sentences
    }

    /// Those targets of a decision that are in scope.
    pub fn targets(&self, decision: &Decision) -> Vec<EntityId> {
        decision.targets.iter().filter(|id| self.reaches(id)).cloned().collect()
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
