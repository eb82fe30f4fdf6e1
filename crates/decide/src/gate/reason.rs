//! Why a verdict is what it is: as data, and as one sentence in either language. Start at
//! [`Reason::sentence`]. Invariant: a sentence is made of our words, ids and cleaned names; no text
//! of a model is in it.

use serde::{Deserialize, Serialize};

use super::{Risk, Verdict};
use crate::house::EntityId;

mod words;

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
    /// The outermost action and its entity: where the road starts.
    pub by: String,
    pub on: Option<EntityId>,
    /// The action that decides, `lock.unlock`, and its entity: where the road ends.
    pub action: String,
    pub entity: Option<EntityId>,
    /// From the call to the action that decides; empty when the call itself is it.
    pub path: Vec<Step>,
    /// A short fact: a class, a mode, a key. Cleaned.
    pub detail: Option<String>,
}

/// One step on the road. Names are text from the house, cleaned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// A scene, script or automation runs.
    Runs { entity: EntityId, name: String },
    /// A change of `cause` triggers an automation.
    Triggers { cause: EntityId, automation: EntityId, name: String },
    /// An event triggers an automation.
    Event { event: String, automation: EntityId, name: String },
    /// Moving the one before moves this one along: a member, or the source of a helper.
    Moves { entity: EntityId },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasonCode {
    /// It unlocks or opens.
    Opens,
    Disarms,
    /// Arming from this mode restarts delays, silences or weakens.
    Rearms,
    /// Stopping a guarded cover that is not opening leaves it ajar, or pulses its relay.
    StopsCover,
    Pulse,
    Valve,
    Gas,
    Heat,
    Harm,
    /// The operator's list says that it opens something.
    Listed,
    Labelled,
    /// It works the entity in `detail`.
    Relation,
    /// Its name says door, lock, gate, garage.
    Named,
    /// A button may do anything until a person decided.
    Button,
    Blinds,
    /// It stops what locks, closes or arms.
    Stops,
    NoState,
    CodeGiven,
    UnknownService,
    Opaque,
    ListedAsks,
    NotifyExtra,
    Speech,
    Media,
    WrongMember,
    OpaqueBody,
    Unreadable,
    UnreadableScene,
    BadStates,
    ReadOnly,
    /// The granted macro's body is another one now.
    BodyChanged,
}

impl Reason {
    /// "unlock Front Door": the action that was called for, on what it names; `what` is how it is called.
    pub fn deed(&self, language: Language, what: &str) -> String {
        words::deed(self, what, language)
    }

    /// "turning on input_boolean.guest_mode triggers automation 'Guests', which unlocks lock.back_door".
    pub fn sentence(&self, language: Language) -> String {
        match language {
            Language::English => words::english(self),
            Language::Chinese => words::chinese(self),
        }
    }
}
