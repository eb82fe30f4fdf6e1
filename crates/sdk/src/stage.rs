//! The seven stages of a turn, and the one context that goes through all of them. Start at
//! [`StageContext`].
//!
//! Invariant: a handler may change any field of its copy; the kernel takes over only what the stage
//! permits (the matrix below) and reports the rest against the plugin.
//!
//! | field | on_input | pre_action | post_action | before_toolcall | after_toolcall | before_output | after_output |
//! | --- | --- | --- | --- | --- | --- | --- | --- |
//! | `raw_message` | write | | | | | | |
//! | `context_msgs` | | write | | | | | |
//! | `llm_text` | | | write | | | | |
//! | `tool_calls` | | | write | write | | | |
//! | `tool_calls[].deny` | | | | write | | | |
//! | `tool_results` | | | | | write | | |
//! | `final_text` | | | | | | write | |
//! | `response` | write | write | write | write | write | write | |
//! | `no_memory` | raise | raise | | | | | |
//! | `extra` | write | write | write | write | write | write | write |

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{BoxFuture, Failure, ToolCall, ToolResult};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// A message came; nothing has been done.
    #[default]
    OnInput,
    /// Before the model is asked; the context is ready.
    PreAction,
    /// After each answer of the model.
    PostAction,
    /// Before each tool.
    BeforeToolcall,
    /// After each tool.
    AfterToolcall,
    /// Before the answer goes out.
    BeforeOutput,
    /// After the answer went out.
    AfterOutput,
}

impl Stage {
    pub const ALL: [Stage; 7] = [
        Stage::OnInput,
        Stage::PreAction,
        Stage::PostAction,
        Stage::BeforeToolcall,
        Stage::AfterToolcall,
        Stage::BeforeOutput,
        Stage::AfterOutput,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Stage::OnInput => "on_input",
            Stage::PreAction => "pre_action",
            Stage::PostAction => "post_action",
            Stage::BeforeToolcall => "before_toolcall",
            Stage::AfterToolcall => "after_toolcall",
            Stage::BeforeOutput => "before_output",
            Stage::AfterOutput => "after_output",
        }
    }
}

/// Something remembered that bears on the message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemItem {
    /// system, user or assistant.
    pub role: String,
    pub content: String,
    /// 0 to 1; higher is nearer.
    pub score: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct StageContext {
    pub raw_message: String,
    #[serde(rename = "UserID")]
    pub user_id: String,
    #[serde(rename = "GroupID")]
    pub group_id: String,
    /// Messages for the model: objects with `role` and `content`.
    pub context_msgs: Vec<Map<String, Value>>,
    #[serde(rename = "LLMText")]
    pub llm_text: String,
    pub reasoning_content: String,
    /// `prompt_tokens`, `completion_tokens`, `total_tokens` and what else the source counts.
    pub token_usage: BTreeMap<String, i64>,
    pub tool_calls: Vec<ToolCall>,
    pub tool_results: Vec<ToolResult>,
    pub final_text: String,
    /// Ends the turn with this text: everything up to `after_output` is skipped.
    pub response: Option<String>,
    pub phase: Stage,
    pub memory: Vec<MemItem>,
    pub no_memory: bool,
    /// For handlers to tell each other something, over all stages of one turn.
    pub extra: Map<String, Value>,
    /// Where the message came from, and where the answer goes.
    pub channel: String,
    /// The conversation.
    pub session: String,
}

pub type StageHandler = Arc<dyn for<'a> Fn(&'a mut StageContext) -> BoxFuture<'a, Result<(), Failure>> + Send + Sync>;

/// A handler from a plain function.
pub fn stage_handler<F>(handler: F) -> StageHandler
where
    F: Fn(&mut StageContext) -> Result<(), Failure> + Send + Sync + 'static,
{
    Arc::new(move |context| {
        let done = handler(context);
        Box::pin(std::future::ready(done))
    })
}
