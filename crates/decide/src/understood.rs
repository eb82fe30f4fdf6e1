//! What a sentence asks for, whoever read it: ordinary calls that the gate judges afterwards, a
//! question about the house, or a choice that only the person can make.
//!
//! Start at [`Understood`]. Invariant: nothing in here was judged, and nothing in here is a guess:
//! where several things fit, none is chosen.

use serde::Serialize;

use crate::gate::Call;
use crate::house::EntityId;

pub mod effects;
pub mod questions;

pub use questions::{Ask, Condition, Fact, Measure, Question};

/// One sentence, understood wholly.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Understood {
    /// In the order they were said. Every target is spelled out as `entity_id`.
    Calls(Vec<Call>),
    Question(Question),
    /// Several fit what was said equally well: ask which.
    Which {
        entities: Vec<EntityId>,
    },
}

impl Understood {
    /// Everything that the sentence is about.
    pub fn entities(&self) -> Vec<EntityId> {
        match self {
            Self::Calls(calls) => calls.iter().flat_map(targets).collect(),
            Self::Question(question) => question.entities.clone(),
            Self::Which { entities } => entities.clone(),
        }
    }
}

/// The entities that a call names.
pub fn targets(call: &Call) -> Vec<EntityId> {
    let ids = call.target.as_ref().and_then(|target| target.get("entity_id")?.as_array());
    ids.into_iter().flatten().filter_map(|id| EntityId::parse(id.as_str()?)).collect()
}
