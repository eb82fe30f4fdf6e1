//! Knowledge the household keeps in files, and the language models. Start at [`KnowledgeApi`] and
//! [`LlmApi`]. Invariant: reading either blocks nobody, and a switch holds from the next request on.

use serde::{Deserialize, Serialize};

use crate::{BoxFuture, Failure};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Knowledge {
    pub name: String,
    pub content: String,
    /// Where in the file: headings from the outermost in, or a page.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// 0 to 1, where it was searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

pub trait KnowledgeApi: Send + Sync {
    fn search<'a>(&'a self, query: &'a str, top_k: usize) -> BoxFuture<'a, Result<Vec<Knowledge>, Failure>>;
    fn add<'a>(&'a self, name: &'a str, content: &'a str) -> BoxFuture<'a, Result<(), Failure>>;
    fn list(&self) -> BoxFuture<'_, Result<Vec<String>, Failure>>;
}

pub trait LlmApi: Send + Sync {
    fn list_sources(&self) -> Vec<String>;
    fn set_source(&self, name: &str) -> Result<(), Failure>;
    fn current_source(&self) -> String;
}
