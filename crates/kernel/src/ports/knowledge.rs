//! A folder of files that the household knows things from. Start at [`KnowledgeBase`]. Invariant: every
//! part says which file and which heading or page it is from.

use sdk::{BoxFuture, Failure};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KnowledgePart {
    /// Path inside the folder.
    pub name: String,
    /// Headings from the outermost in, `Heating > Winter`, or `page 3`.
    pub place: String,
    pub content: String,
    pub score: f64,
}

pub trait KnowledgeBase: Send + Sync {
    fn search<'a>(&'a self, query: &'a str, count_max: usize) -> BoxFuture<'a, Result<Vec<KnowledgePart>, Failure>>;
    /// Writes a file of the folder; a name that leads out of it is an error.
    fn add<'a>(&'a self, name: &'a str, content: &'a str) -> BoxFuture<'a, Result<(), Failure>>;
    fn list(&self) -> BoxFuture<'_, Result<Vec<String>, Failure>>;
    /// Text from this character on, at most so many, and whether more follows.
    fn read<'a>(
        &'a self,
        name: &'a str,
        offset: usize,
        chars_max: usize,
    ) -> BoxFuture<'a, Result<(String, bool), Failure>>;
}
