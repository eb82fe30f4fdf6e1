//! Where settings are kept. Start at [`SettingsStore`]. Invariant: a secret's value is sealed before it
//! reaches the disk.

use sdk::{BoxFuture, Failure};
use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub struct StoredSetting {
    /// `core`, or the name of a plugin.
    pub space: String,
    pub key: String,
    pub value: Value,
    pub secret: bool,
}

pub trait SettingsStore: Send + Sync {
    fn load(&self) -> BoxFuture<'_, Result<Vec<StoredSetting>, Failure>>;
    fn put(&self, setting: StoredSetting) -> BoxFuture<'_, Result<(), Failure>>;
    fn remove<'a>(&'a self, space: &'a str, key: &'a str) -> BoxFuture<'a, Result<bool, Failure>>;
}
