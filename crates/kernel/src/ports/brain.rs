//! An agent as the faces (HTTP, standard input, Home Assistant) drive it: the kernel, or a `pi` child. Start
//! at [`Brain`].
//!
//! The words are pi's: commands and events are the records of its RPC protocol. Invariants: a prompt is
//! accepted when [`Brain::submit`] returns, and ends with exactly one [`Outcome`] of its own, never with the
//! answer to another; no call waits for a person or for a slow listener.

use std::sync::Arc;

use sdk::{BoxFuture, Failure};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::{broadcast, watch};

use super::inbox::Principal;

/// One thing that somebody asks of the agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Prompt {
    /// The job's id: equal ones are accepted once.
    pub job: String,
    /// The conversation, `main` where nothing is said.
    pub session: String,
    pub principal: Principal,
    pub text: String,
    /// As pi has them: `{"type":"image","data":base64,"mimeType":…}`.
    pub images: Vec<Value>,
    /// What happens while another prompt is being answered.
    pub behavior: Option<StreamingBehavior>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StreamingBehavior {
    /// It joins what is being done.
    Steer,
    /// It waits for its turn.
    FollowUp,
}

/// What a brain did with a prompt that it accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Disposition {
    Started,
    Queued,
    /// Done with already, without a turn: a slash command.
    Handled,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "state")]
pub enum Progress {
    #[default]
    Queued,
    Running,
    Ended(Outcome),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Ended {
    #[default]
    Done,
    Failed,
    Aborted,
    /// The brain went away in the middle: nobody knows how far it came.
    Lost,
}

/// How one prompt ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Outcome {
    pub ended: Ended,
    /// What was said to this prompt; of an aborted one what there was by then.
    pub answer: Option<String>,
    /// Cause and fix, where it did not end well.
    pub error: Option<String>,
    /// As pi has it: `{input, output, cacheRead, cacheWrite, totalTokens, cost}`; null where nobody counted.
    pub usage: Value,
}

pub struct Submitted {
    pub disposition: Disposition,
    /// Ends with [`Progress::Ended`]; closed without one, the prompt is lost.
    pub progress: watch::Receiver<Progress>,
}

/// One of pi's event records.
#[derive(Clone, Debug, PartialEq)]
pub struct BrainEvent {
    pub session: String,
    /// The prompt it belongs to, where that is known.
    pub job: Option<String>,
    /// An object with `type`.
    pub record: Arc<Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BrainStatus {
    /// `kernel` or `pi`.
    pub agent: &'static str,
    pub version: Option<String>,
    /// It is there; a child has a process.
    pub running: bool,
    /// It takes prompts now.
    pub ready: bool,
    pub pid: Option<u32>,
    /// Why it is not ready, and what happens next.
    pub error: Option<String>,
}

pub trait Brain: Send + Sync {
    /// Accepted when this returns. A [`Failure`] says that nothing was accepted.
    fn submit(&self, prompt: Prompt) -> BoxFuture<'_, Result<Submitted, Failure>>;
    /// What became of a prompt that an earlier process accepted; [`Ended::Lost`] where nobody can tell.
    fn resume(&self, prompt: Prompt) -> BoxFuture<'_, Result<Submitted, Failure>>;
    /// Any command of pi's protocol but prompts, by its `type`. The answer is pi's response record, also where
    /// it says `success:false`; a [`Failure`] says that there was none.
    fn command<'a>(
        &'a self,
        session: &'a str,
        command: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Map<String, Value>, Failure>>;
    fn status(&self) -> BrainStatus;
    /// Events from now on. Who lags behind misses some, and is told so.
    fn events(&self) -> broadcast::Receiver<BrainEvent>;
    /// Ends it: children are gone when this returns.
    fn close(&self) -> BoxFuture<'_, ()>;
}
