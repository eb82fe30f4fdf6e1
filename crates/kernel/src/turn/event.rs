//! What happens to a turn, and what it wants done. Start at [`Event`] and [`Effect`]. Invariant: an
//! event holds everything that came from outside, so that the log alone tells the turn again.

use std::collections::BTreeSet;

use sdk::{MemItem, Stage, StageContext, ToolCall, ToolResult};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Limits;
use crate::message::Message;
use crate::ports::{EndReason, Input, SourceErrorKind, Usage};

/// What the handlers of one stage changed, as far as the stage permits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Patch {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_msgs: Option<Vec<Map<String, Value>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub llm_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Vec<ToolCall>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_results: Option<Vec<ToolResult>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_memory: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra: Option<Map<String, Value>>,
}

impl Patch {
    /// What leads from the one context to the other. `response` and `no_memory` can only be set.
    pub fn between(before: &StageContext, after: &StageContext) -> Self {
        fn changed<T: PartialEq + Clone>(before: &T, after: &T) -> Option<T> {
            (before != after).then(|| after.clone())
        }
        Self {
            raw_message: changed(&before.raw_message, &after.raw_message),
            context_msgs: changed(&before.context_msgs, &after.context_msgs),
            llm_text: changed(&before.llm_text, &after.llm_text),
            tool_calls: changed(&before.tool_calls, &after.tool_calls),
            tool_results: changed(&before.tool_results, &after.tool_results),
            final_text: changed(&before.final_text, &after.final_text),
            response: if before.response == after.response { None } else { after.response.clone() },
            no_memory: after.no_memory && !before.no_memory,
            extra: changed(&before.extra, &after.extra),
        }
    }
}

/// One answer of the model, whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reply {
    pub text: String,
    pub reasoning: String,
    /// For the provider, unchanged.
    pub blocks: Vec<Value>,
    pub calls: Vec<crate::message::CallRequest>,
    pub usage: Usage,
    pub end: Option<EndReason>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    Began {
        turn: String,
        input: Box<Input>,
        language: String,
        limits: Limits,
        day_tokens: u64,
        day_cost_usd_micros: u64,
    },
    Staged {
        stage: Stage,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<usize>,
        patch: Box<Patch>,
    },
    Prepared {
        /// History and what the person said, last.
        messages: Vec<Message>,
        memory: Vec<MemItem>,
        read_only: BTreeSet<String>,
    },
    Replied {
        reply: Box<Reply>,
        /// The calls as far as they could be read: arguments parsed, owners known.
        calls: Vec<ToolCall>,
    },
    SourceFailed {
        kind: SourceErrorKind,
        message: String,
    },
    /// On the disk before the call goes out.
    Calling {
        calls: Vec<usize>,
    },
    Called {
        call: usize,
        result: Box<ToolResult>,
        /// What it changed, so that it can be changed back; null where nothing.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        undo: Value,
    },
    /// Another message of the same session, to be taken in now.
    Interrupted {
        input: Box<Input>,
    },
    Stopped,
    /// The time of the turn is over.
    OutOfTime,
    /// The program had ended in the middle, and goes on.
    Resumed,
    Delivered,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Stage(Stage, Option<usize>),
    /// Gather history and memory.
    Prepare {
        /// The conversation was too long: take half.
        shorter: bool,
    },
    Ask,
    /// Drop the request on the wire.
    CancelAsk,
    Call(Vec<usize>),
    /// Drop the calls that run.
    CancelCalls,
    Deliver(String),
    /// Too late for this turn: it begins one of its own.
    Requeue(Box<Input>),
    End,
}
