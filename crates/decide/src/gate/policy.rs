//! What the operator decided, once: grants, guards, classes, services, scope. Read from file and
//! environment by the binary; no tool reaches it. Start at [`Policy`]. Invariant: an empty policy is
//! the strictest one.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::house::EntityId;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// Standing permissions, per entity or macro.
    pub grants: BTreeMap<EntityId, Grant>,
    /// The person's word on one entity that may sit before a door.
    pub guard: BTreeMap<EntityId, Guard>,
    /// Entities with this label (id or name) are guarded. Default: `guard`.
    pub guard_label: Option<String>,
    /// The person's class for a cover.
    pub covers: BTreeMap<EntityId, CoverClass>,
    /// Shutters and covers of no class on these floors are out of reach: comfort only.
    pub comfort_floors: BTreeSet<String>,
    /// Covers that one relay pulse both opens and closes.
    pub pulse: BTreeSet<EntityId>,
    /// Services that are opaque to the gate, opened or held by name, `domain.service`.
    pub services: BTreeMap<String, ServiceRule>,
    pub media: Media,
    /// Ask before anything is spoken aloud.
    pub speech_asks: bool,
    pub scope: Scope,
    /// Writes of one client in a minute, moves toward safety apart. Default: 120.
    pub writes_per_minute: Option<u32>,
    /// The operator's word could not be read: then only moves toward safety pass.
    #[serde(skip)]
    pub broken: bool,
}

/// A standing permission.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Grant {
    /// Seconds since 1970 after which it no longer holds.
    pub until: Option<i64>,
    /// For a macro: hash of the body that was granted; another body asks again.
    pub body: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Guard {
    /// It opens something: ask.
    Opens,
    /// A person looked: it opens nothing by itself.
    Harmless,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CoverClass {
    Awning,
    Blind,
    Curtain,
    Shade,
    Damper,
    Door,
    Garage,
    Gate,
    Shutter,
    Window,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceRule {
    /// `allow` or `ask`.
    pub verdict: super::Verdict,
    /// Only with exactly one of these data; empty means any.
    #[serde(default)]
    pub data: Vec<Map<String, Value>>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Media {
    /// Host names that media may come from.
    pub hosts: BTreeSet<String>,
}

/// What may be seen and touched at all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scope {
    /// Reads only.
    pub read_only: bool,
    /// Only entities that the house shows to its voice assistants.
    pub exposed_only: bool,
    /// Ids or names of areas and labels, or entity ids. Empty: everything.
    pub include: BTreeSet<String>,
    pub exclude: BTreeSet<String>,
}
