//! The three memories. Start at [`GraphMemory`]. Invariants: nothing is deleted that was not asked for;
//! what is deleted softly or consumed can be brought back; a newer fact wins at reading, the older one
//! stays visible as contradicted.

use std::collections::BTreeMap;

use sdk::{BoxFuture, Doc, Entity, Failure, PurgeMode, Relation, TextEvent, Triple};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One fact as it was told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fact {
    #[serde(flatten)]
    pub triple: Triple,
    /// The sentence it was told in, where known: searched besides the three words.
    pub text: String,
    pub told_at_ms: i64,
    /// Channel, plugin or document.
    pub told_by: String,
    pub session: String,
    /// The subject has one of these at a time (lives in, is called …): a newer one supersedes.
    pub single: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecallQuery {
    /// Keywords, or a whole question.
    pub words: Vec<String>,
    pub depth: u32,
    /// Most facts given back.
    pub count_max: usize,
    /// Told between these times, milliseconds since 1970.
    pub from_ms: Option<i64>,
    pub to_ms: Option<i64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecalledFact {
    pub id: i64,
    #[serde(flatten)]
    pub relation: Relation,
    pub text: String,
}

/// Best first. Empty where nothing is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recall {
    pub entities: Vec<Entity>,
    pub facts: Vec<RecalledFact>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Purged {
    pub count: u64,
    /// The first of them, to show.
    pub facts: Vec<RecalledFact>,
    /// For [`GraphMemory::restore`]; empty after a dry run or a hard purge.
    pub undo: String,
}

pub trait GraphMemory: Send + Sync {
    /// A fact that is known already only gets its newer time; one that was forgotten is learned again.
    fn commit<'a>(&'a self, facts: &'a [Fact]) -> BoxFuture<'a, Result<Vec<i64>, Failure>>;
    fn recall(&self, query: RecallQuery) -> BoxFuture<'_, Result<Recall, Failure>>;
    fn introspect(&self) -> BoxFuture<'_, Result<Map<String, Value>, Failure>>;
    fn merge_entities<'a>(&'a self, source: &'a str, target: &'a str) -> BoxFuture<'a, Result<u64, Failure>>;
    /// Every criterion must hold; one that fits nothing deletes nothing; an unknown one is an error, and so is none.
    fn purge<'a>(
        &'a self,
        criteria: &'a BTreeMap<String, String>,
        mode: PurgeMode,
        dry_run: bool,
    ) -> BoxFuture<'a, Result<Purged, Failure>>;
    /// How many facts came back.
    fn restore<'a>(&'a self, undo: &'a str) -> BoxFuture<'a, Result<u64, Failure>>;
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TextQuery {
    pub text: String,
    pub count_max: usize,
    pub from_s: Option<i64>,
    pub to_s: Option<i64>,
    pub channel: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TextHit {
    #[serde(flatten)]
    pub event: TextEvent,
    pub score: f64,
}

pub trait TextMemory: Send + Sync {
    fn append(&self, event: TextEvent) -> BoxFuture<'_, Result<(), Failure>>;
    fn search(&self, query: TextQuery) -> BoxFuture<'_, Result<Vec<TextHit>, Failure>>;
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DocumentHit {
    #[serde(flatten)]
    pub doc: Doc,
    /// Where this was consumed: for [`Documents::restore`].
    pub undo: Option<String>,
}

pub trait Documents: Send + Sync {
    fn insert(&self, doc: Doc) -> BoxFuture<'_, Result<String, Failure>>;
    /// With `consume`, what is given back is taken out, whole, and can be restored.
    fn query<'a>(
        &'a self,
        text: &'a str,
        count_max: usize,
        consume: bool,
    ) -> BoxFuture<'a, Result<Vec<DocumentHit>, Failure>>;
    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<String>, Failure>>;
    fn restore<'a>(&'a self, undo: &'a str) -> BoxFuture<'a, Result<u64, Failure>>;
    fn stats(&self) -> BoxFuture<'_, Result<Map<String, Value>, Failure>>;
}
