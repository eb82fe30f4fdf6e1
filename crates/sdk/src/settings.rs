//! Settings: a plugin's own, the core's, and other plugins' by capability. Start at [`SettingsApi`].
//!
//! Invariants: a value is checked against its definition before it is stored; the value of a secret is
//! never given back (`get` of one answers an object `{"secret": true, "set": true|false}`).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{BoxFuture, Failure};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfigType {
    #[default]
    String,
    Number,
    Boolean,
}

/// What a setting is: shown in the console, and held when it is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConfigDef {
    pub key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    #[serde(rename = "type")]
    pub kind: ConfigType,
    pub display_name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub category: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
}

/// `get` answers null for a key that has neither a value nor a default.
pub trait SettingsApi: Send + Sync {
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Value, Failure>>;
    fn set<'a>(&'a self, key: &'a str, value: Value) -> BoxFuture<'a, Result<(), Failure>>;
    fn list<'a>(&'a self, prefix: &'a str) -> BoxFuture<'a, Result<Vec<String>, Failure>>;
    fn get_core<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Value, Failure>>;
    fn set_core<'a>(&'a self, key: &'a str, value: Value) -> BoxFuture<'a, Result<(), Failure>>;
    fn list_core<'a>(&'a self, prefix: &'a str) -> BoxFuture<'a, Result<Vec<String>, Failure>>;
    fn get_plugin<'a>(&'a self, plugin: &'a str, key: &'a str) -> BoxFuture<'a, Result<Value, Failure>>;
    fn set_plugin<'a>(&'a self, plugin: &'a str, key: &'a str, value: Value) -> BoxFuture<'a, Result<(), Failure>>;
    fn list_plugin<'a>(&'a self, plugin: &'a str, prefix: &'a str) -> BoxFuture<'a, Result<Vec<String>, Failure>>;
    fn register_def<'a>(&'a self, def: ConfigDef) -> BoxFuture<'a, Result<(), Failure>>;
    fn defs<'a>(&'a self, prefix: &'a str) -> BoxFuture<'a, Result<Vec<ConfigDef>, Failure>>;
    /// Everything that this caller may read, by space: `core`, then each plugin.
    fn dump(&self) -> BoxFuture<'_, Result<Map<String, Value>, Failure>>;
    fn plugins(&self) -> BoxFuture<'_, Result<Vec<String>, Failure>>;
}
