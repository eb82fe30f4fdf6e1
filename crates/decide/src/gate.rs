//! May this reach the house? A call becomes effects, effects a decision, a decision a permit.
//!
//! Start at [`judge`]. Invariants: what is not understood is refused; adding a rule never makes a
//! verdict milder; no text from a model or from the house can make a verdict milder; only this
//! module makes a [`Permit`], and only from an Allow or from a person's yes to exactly this.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::house::{EntityId, House};

mod approval;
mod body;
mod conditions;
mod entity;
mod judge;
mod media;
mod names;
mod policy;
mod problem;
mod reason;
mod resolve;
mod states;
mod table;
mod triggers;
mod walk;

pub use approval::{Asked, Yes};
pub use judge::{fingerprint, judge, may_open, proposals};
pub use policy::{CoverClass, Grant, Guard, Media, Policy, Scope, ServiceRule};
pub use reason::{Language, Reason, ReasonCode, Step};
pub use resolve::in_scope;
pub use triggers::Triggers;

/// One service call, as somebody untrusted wrote it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Call {
    pub domain: String,
    pub service: String,
    #[serde(default)]
    pub data: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Map<String, Value>>,
}

/// Who wants it. Rides along into the audit; never makes a verdict milder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    Person,
    Model,
    Plugin,
    Schedule,
    System,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    #[default]
    Allow,
    /// A person may say yes.
    Ask,
    /// Nobody may, here.
    Refuse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Harm rather than entry: heat, gas, water, blades.
    Physical,
    /// It lets somebody in, or blinds what would notice.
    Security,
}

/// One service call that was judged: explicit lower-case ids, nothing else to expand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Send {
    pub domain: String,
    pub service: String,
    /// Goes out as `entity_id`; empty for services without a target.
    pub entities: Vec<EntityId>,
    /// Service data without any target key.
    pub data: Map<String, Value>,
    /// Toward safety: sent even when the audit cannot be written.
    pub toward_safety: bool,
}

/// What a decision would do, were it permitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub sends: Vec<Send>,
    /// Already as asked, and sending again could harm: answered as done, not sent.
    pub done: Vec<EntityId>,
    /// Home Assistant would ignore these for this service.
    pub ignored: Vec<EntityId>,
}

/// Verdict with its reasons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    pub verdict: Verdict,
    pub risk: Option<Risk>,
    /// Every entity that would open, disarm or harm, and every macro that leads there.
    pub targets: Vec<EntityId>,
    pub reasons: Vec<Reason>,
    pub plan: Plan,
}

/// A decision made into a right: the only thing that [`home`] takes to change the house.
///
/// Not `Clone`, no public field, no constructor outside this module: it comes from a decision alone,
///
/// ```
/// # use decide::gate::{Decision, Origin, Permit};
/// fn allowed(decision: Decision) -> Option<Permit> {
///     decision.permit(Origin::Model).ok()
/// }
/// ```
///
/// and is neither made by hand, nor copied, nor used twice.
///
/// ```compile_fail
/// # use decide::gate::{Origin, Permit, Plan};
/// let forged = Permit { plan: Plan::default(), origin: Origin::Person };
/// ```
///
/// ```compile_fail
/// # use decide::gate::Permit;
/// fn copied(permit: &Permit) -> Permit {
///     permit.clone()
/// }
/// ```
///
/// ```compile_fail
/// # use decide::gate::Permit;
/// fn execute(_: Permit) {}
/// fn twice(permit: Permit) {
///     execute(permit);
///     execute(permit);
/// }
/// ```
#[derive(Debug)]
pub struct Permit {
    plan: Plan,
    origin: Origin,
}

impl Permit {
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    pub fn origin(&self) -> Origin {
        self.origin
    }
}

impl Decision {
    /// The right to do it, where the verdict is Allow; else the decision back.
    pub fn permit(self, origin: Origin) -> Result<Permit, Box<Self>> {
        match self.verdict {
            Verdict::Allow => Ok(Permit { plan: self.plan, origin }),
            Verdict::Ask | Verdict::Refuse => Err(Box::new(self)),
        }
    }
}

/// A call that is no call: nothing to judge, nothing happens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "problem", rename_all = "snake_case")]
pub enum Problem {
    /// Domain or service is empty or no word.
    BadService { text: String },
    /// Ids (entities, areas, devices, floors, labels) that this house does not have.
    NotFound { ids: Vec<String>, nearest: Vec<EntityId> },
    /// A target in a form that is not accepted: template, full-width, registry id, wrong type.
    BadTarget { key: String, text: String },
    /// Service data that is not accepted.
    BadData { key: String, why: String },
    /// Needs a target and has none.
    NoTarget,
    /// The target is there, but holds nothing that this service works on.
    NothingThere { domain: String },
    /// The house cannot be judged now (no states, or no registries and the call names an area).
    NotReady { missing: String },
}

/// Commands under way, as facts: covers that were sent a command and have not answered yet.
#[derive(Clone, Debug, Default)]
pub struct InFlight {
    pub closing: BTreeSet<EntityId>,
    /// Sent something else, which may be opening them although their state does not say so yet.
    pub otherwise: BTreeSet<EntityId>,
}

/// Everything that a judgement depends on, beside the call.
pub struct Facts<'a> {
    pub house: &'a House,
    pub policy: &'a Policy,
    pub in_flight: &'a InFlight,
    /// Seconds since 1970.
    pub now: i64,
}
