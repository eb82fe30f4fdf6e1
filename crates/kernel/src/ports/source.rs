//! A language model. Start at [`LlmSource`].
//!
//! Invariants: dropping the stream drops the request on the wire; a text that is a printed tool call
//! comes as [`Delta::Call`], never as [`Delta::Text`]; a stream ends with [`Delta::End`] or an error.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::Stream;
use sdk::{BoxFuture, ToolDef};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::{CallRequest, Message};

/// One question to a model. In this order it goes out: `system`, `tools`, `messages`, `tail`; what stays
/// the same from turn to turn is in front, byte for byte, so that a provider can cache it.
#[derive(Clone, Debug, Default)]
pub struct SourceRequest {
    pub system: Arc<str>,
    pub tools: Arc<[ToolDef]>,
    pub messages: Vec<Message>,
    /// Time and state: the last system text, after all messages.
    pub tail: String,
    pub output_tokens_max: Option<u32>,
    /// The session, for caches and logs.
    pub cache_key: String,
    /// `en` or `zh`.
    pub language: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    Text(String),
    /// For people to see; not sent back.
    Reasoning(String),
    /// To be sent back unchanged in [`Message::Assistant`].
    ReasoningBlock(Value),
    /// Whole: fragments are put together by the adapter.
    Call(CallRequest),
    /// May come several times; the last one counts.
    Usage(Usage),
    End(EndReason),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    Stop,
    ToolCalls,
    /// The output limit was reached.
    Length,
    /// The provider held the answer back.
    Filtered,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    /// Of the prompt, read from a cache.
    pub cached_tokens: u64,
    pub reasoning_tokens: u64,
    /// Millionths of a US dollar, where the source has prices.
    pub cost_usd_micros: u64,
}

pub type DeltaStream = Pin<Box<dyn Stream<Item = Result<Delta, SourceError>> + Send>>;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Abilities {
    /// Tokens of prompt and answer together.
    pub context_tokens: u64,
    pub tools: bool,
    pub vision: bool,
    pub streaming: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceErrorKind {
    /// The key is wrong or may not do this.
    Auth,
    /// No credit left.
    Quota,
    RateLimited,
    Overloaded,
    Unreachable,
    Timeout,
    /// The provider does not take the request as it is.
    BadRequest,
    /// The conversation is longer than the model can read.
    ContextTooLong,
    NoSuchModel,
    /// The stream ended in the middle.
    Cut,
    /// What came is not the protocol.
    Protocol,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{source_name}: {message}")]
pub struct SourceError {
    pub kind: SourceErrorKind,
    /// Which source.
    pub source_name: String,
    /// Cause, and what to do; without any key.
    pub message: String,
    pub retry_after: Option<Duration>,
}

pub trait LlmSource: Send + Sync {
    fn name(&self) -> String;
    fn abilities(&self) -> Abilities;
    /// Ready when the model begins to answer.
    fn ask(&self, request: SourceRequest) -> BoxFuture<'static, Result<DeltaStream, SourceError>>;
}
