//! What macros and automations do, in Home Assistant's own JSON, as far as it may be read.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::EntityId;

/// Keyed by entity id (`script.bedtime`, `scene.welcome`, `automation.guests`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Bodies {
    pub scripts: BTreeMap<EntityId, Body>,
    pub scenes: BTreeMap<EntityId, Body>,
    pub automations: BTreeMap<EntityId, Body>,
    /// What `search/related` names for automations that cannot be read.
    pub related: BTreeMap<EntityId, Vec<EntityId>>,
}

/// A body as read from the house. A blueprint's body stands here already substituted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    Config(Arc<Value>),
    /// Not readable, and why: `unauthorized`, `not_found` (YAML scenes), `timeout`, `blueprint`.
    Unreadable(Arc<str>),
}

impl Bodies {
    pub fn of(&self, id: &EntityId) -> Option<&Body> {
        match id.domain() {
            "script" => self.scripts.get(id),
            "scene" => self.scenes.get(id),
            "automation" => self.automations.get(id),
            _ => None,
        }
    }
}
