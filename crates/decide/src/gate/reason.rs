//! Why a verdict is what it is, as data, and as one sentence in either language.

use serde::{Deserialize, Serialize};

use super::{Risk, Verdict};
use crate::house::EntityId;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    #[default]
    English,
    Chinese,
}

/// One reason: what would happen, to what, and by which road.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    pub verdict: Verdict,
    pub risk: Option<Risk>,
    pub code: ReasonCode,
    pub entity: Option<EntityId>,
    /// `lock.unlock`, the action that decides.
    pub action: String,
    /// From the call to the action that decides, outermost first; empty when the call itself is it.
    pub path: Vec<Step>,
    /// A short fact: a class, a mode, a key. Never free text from a model.
    pub detail: Option<String>,
}

/// One step on the road.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// A scene, script or automation runs. `name` is text from the house.
    Runs { entity: EntityId, name: String },
    /// A change of this entity, or this service or event, triggers an automation.
    Triggers { cause: String, automation: EntityId, name: String },
    /// Changing this entity changes that one, which contains or wraps it.
    Contains { entity: EntityId, container: EntityId },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasonCode {
    Harmless,
    Opens,
}
