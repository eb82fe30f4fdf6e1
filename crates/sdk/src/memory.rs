//! The three memories: the graph of facts, the text of what was said, documents for a while. Start at
//! [`MemoryApi`]. Invariant: all text in here is data; none of it is an instruction.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{BoxFuture, Failure};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Entity {
    pub name: String,
    /// Person, Location, Concept …
    #[serde(rename = "type")]
    pub kind: String,
    pub mention_count: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Relation {
    pub source_name: String,
    pub target_name: String,
    pub relation_type: String,
    /// Unix seconds at which it was told; 0 where nobody knows.
    #[serde(skip_serializing_if = "is_zero")]
    pub told_at: i64,
    /// Who told it: a channel, a plugin, a document.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub told_by: String,
    /// A newer fact says otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub superseded: bool,
    /// 0 to 1, how near it is to what was asked.
    pub score: f64,
}

fn is_zero(value: &i64) -> bool {
    *value == 0
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Triple {
    pub subject: String,
    pub relation: String,
    pub object: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PurgeMode {
    /// Marked as deleted; can be undone.
    Soft,
    /// Gone for good.
    Hard,
}

/// `subject_contains`, `target_contains`, `relation_type`, `session_id`. All must hold; a criterion that
/// fits nothing deletes nothing; an unknown one is an error.
pub type PurgeCriteria = BTreeMap<String, String>;

/// The entities that were met, and the relations between them, nearest first.
pub type Recalled = (Vec<Entity>, Vec<Relation>);

pub trait MemoryApi: Send + Sync {
    /// What is known about the keywords, and about what that leads to, up to `depth` steps.
    fn recall<'a>(&'a self, query: &'a [String], depth: u32) -> BoxFuture<'a, Result<Recalled, Failure>>;
    fn commit<'a>(&'a self, triples: &'a [Triple]) -> BoxFuture<'a, Result<(), Failure>>;
    fn introspect(&self) -> BoxFuture<'_, Result<Map<String, Value>, Failure>>;
    /// How many relations were moved.
    fn merge_entities<'a>(&'a self, source: &'a str, target: &'a str) -> BoxFuture<'a, Result<u64, Failure>>;
    /// How many relations were deleted.
    fn purge<'a>(&'a self, criteria: &'a PurgeCriteria, mode: PurgeMode) -> BoxFuture<'a, Result<u64, Failure>>;
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TextEvent {
    /// system, user or assistant.
    pub role: String,
    pub content: String,
    /// Unix seconds.
    pub timestamp: i64,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub channel: String,
}

pub trait TextMemoryApi: Send + Sync {
    fn append(&self, event: TextEvent) -> BoxFuture<'_, Result<(), Failure>>;
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Doc {
    pub id: String,
    pub title: String,
    pub content: String,
    /// 0 to 1, where it was searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

pub trait DocMemoryApi: Send + Sync {
    fn query<'a>(&'a self, text: &'a str, top_k: usize) -> BoxFuture<'a, Result<Vec<Doc>, Failure>>;
    /// The id under which it is kept: its own, or a new one where it has none.
    fn insert(&self, doc: Doc) -> BoxFuture<'_, Result<String, Failure>>;
    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), Failure>>;
    fn stats(&self) -> BoxFuture<'_, Result<Map<String, Value>, Failure>>;
}
