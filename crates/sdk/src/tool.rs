//! Tools that a model can call. Start at [`ToolDef`] and [`tool_handler`].
//!
//! Invariant: what a handler gets has been checked against the definition's `parameters`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{BoxFuture, Failure};

/// What a model is told of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolDef {
    /// Unique among all tools; begin it with the plugin's name.
    pub name: String,
    /// Filled in when the tool is registered.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub plugin: String,
    pub description: String,
    /// JSON Schema of the arguments, an object.
    pub parameters: Value,
    /// It changes nothing: calls of one batch may run side by side.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    /// It may give back text that strangers wrote: web pages, mail, foreign servers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub untrusted: bool,
    /// It writes to a memory, and is refused in a turn that must not be remembered.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub remembers: bool,
    /// Longest time of one call in milliseconds; 0 means the kernel's default.
    #[serde(skip_serializing_if = "is_zero")]
    pub deadline_ms: u64,
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// One call of a tool by the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub plugin: String,
    pub arguments: Map<String, Value>,
    /// Set in `before_toolcall` so that the tool does not run; the model sees who denied it and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deny: Option<Deny>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deny {
    pub reason: String,
}

impl Deny {
    pub fn because(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

/// What came of a call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolResult {
    pub call_id: String,
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub plugin: String,
    pub success: bool,
    pub result: Value,
}

/// In which turn a tool is called, and for whom.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolScope {
    pub session: String,
    pub turn: String,
    pub call_id: String,
    pub channel: String,
    pub user_id: String,
    pub group_id: String,
    /// Nothing of this turn may be remembered.
    pub no_memory: bool,
    /// Text of strangers or of the house has been read in this turn.
    pub tainted: bool,
    /// What the person said in this turn, word for word.
    pub said: String,
    /// `en` or `zh`: the language of the person.
    pub language: String,
}

/// The future may be dropped at its deadline or when the turn is stopped: work that must not end
/// half done belongs into a task of its own.
pub type ToolHandler =
    Arc<dyn Fn(Map<String, Value>, ToolScope) -> BoxFuture<'static, Result<Value, Failure>> + Send + Sync>;

/// A handler from an asynchronous function.
pub fn tool_handler<F, R>(handler: F) -> ToolHandler
where
    F: Fn(Map<String, Value>, ToolScope) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Value, Failure>> + Send + 'static,
{
    Arc::new(move |arguments, scope| Box::pin(handler(arguments, scope)))
}
