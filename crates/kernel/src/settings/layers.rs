//! What flags, environment and file say. Start at [`Layers`]. Invariant: the wiring fills these in; the
//! kernel reads neither.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Values by space and key. Those of flags and environment are text and are read by their definition.
pub type Layer = BTreeMap<(String, String), Value>;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layers {
    pub flags: Layer,
    pub environment: Layer,
    pub file: Layer,
}

/// Where the value of a setting comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    Flag,
    Environment,
    File,
    Store,
    Default,
    /// It has no value.
    Nothing,
}

impl Origin {
    /// As a sentence goes on: "is set …".
    pub(super) fn told(self) -> &'static str {
        match self {
            Self::Flag => "by a flag of the command line",
            Self::Environment => "in the environment",
            Self::File => "in menshen.toml",
            Self::Store => "in the settings",
            Self::Default => "by default",
            Self::Nothing => "nowhere",
        }
    }
}

impl Layers {
    /// Strongest first.
    pub(super) fn all(&self) -> [(Origin, &Layer); 3] {
        [(Origin::Flag, &self.flags), (Origin::Environment, &self.environment), (Origin::File, &self.file)]
    }
}
