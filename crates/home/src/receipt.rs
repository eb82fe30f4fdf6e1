//! What came of a permit, entity by entity.
//!
//! Start at [`Receipt`]. Invariant: an entity that the plan names has exactly one outcome a send.

use decide::house::EntityId;
use serde::Serialize;
use serde_json::Value;

use crate::error::HouseError;

#[derive(Clone, Debug, Default, Serialize)]
pub struct Receipt {
    pub outcomes: Vec<Outcome>,
    /// Response data of services that give some, in the order of the sends.
    pub responses: Vec<Value>,
    /// What the house or the connection said, where something did not go through.
    pub error: Option<HouseError>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    pub entity_id: EntityId,
    pub outcome: OutcomeKind,
    /// The state after.
    pub state: Option<String>,
    /// The state before.
    pub before: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// The state is as asked, changed or not.
    Confirmed,
    /// The house took it, and there is no state to see it by (a scene, a script, a press).
    Accepted,
    /// The house took it, but the state has not come in time.
    NotConfirmed,
    /// The entity is unavailable; the house ignores commands to it.
    Unavailable,
    /// The house only believes its own state (it hears nothing back).
    Assumed,
    /// Was already so, and was not sent.
    Done,
    /// The house would ignore this entity, so it was not sent.
    Ignored,
    /// It was sent and the answer is lost. Never sent again; read back when the house is there.
    OutcomeUnknown,
    /// It was not sent, or the house refused and the state is not as asked.
    Failed,
}
