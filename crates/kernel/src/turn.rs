//! What a turn does next: a state machine, events in, effects out.
//!
//! Start at [`Turn::apply`]. Invariants: all state of a turn is in [`Turn`]; the same events give the
//! same turn, so that one is taken up again from its log after a crash; an interrupt joins exactly once.

use std::collections::BTreeSet;

use sdk::{Stage, StageContext, ToolCall, ToolResult};
use serde::{Deserialize, Serialize};

use crate::message::Message;
use crate::ports::{Principal, Usage};

mod batch;
mod closing;
mod event;
mod limits;
mod steps;

pub use batch::{Batched, Progress};
pub use closing::{Done, Ended};
pub use event::{Effect, Event, Patch, Reply};
pub use limits::{Limits, Spent};

/// Where a turn is. What is awaited stands in the name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    #[default]
    New,
    OnInput,
    Preparing,
    PreAction,
    Asking,
    PostAction,
    /// `before_toolcall` of the second, in a group of calls that begins with the first and ends before
    /// the third.
    Before(usize, usize, usize),
    /// These calls run: from, to (not included).
    Calling(usize, usize),
    /// `after_toolcall` of this call; the group ends before the second number.
    After(usize, usize),
    BeforeOutput,
    Delivering,
    AfterOutput,
    Over,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub id: String,
    pub session: String,
    /// What this turn answers: the first, then interrupts in the order in which they joined.
    pub inputs: Vec<i64>,
    pub principal: Principal,
    /// Somebody else interrupted: what is done now is in nobody's name.
    #[serde(default)]
    pub several: bool,
    /// `en` or `zh`.
    pub language: String,
    /// The one context that goes through all stages.
    pub context: StageContext,
    /// What was said, interrupts too, word for word.
    pub said: String,
    /// The same without what schedules and plugins put in, whose words a model or a stranger may have chosen:
    /// what a person is held to have named.
    pub named: String,
    /// What came after the context's messages: answers, results, interrupts.
    pub messages: Vec<Message>,
    /// The calls of the last answer.
    pub batch: Vec<Batched>,
    pub limits: Limits,
    pub spent: Spent,
    pub step: Step,
    /// Calls that did something or failed to, for receipts.
    pub done: Vec<Done>,
    /// What was changed, so that it can be changed back.
    pub changes: Vec<serde_json::Value>,
    pub ended: Option<Ended>,
    /// Interrupts that came while nothing could take them in.
    waiting: Vec<String>,
    /// Tools that change nothing, and may run side by side.
    read_only: BTreeSet<String>,
    /// How often an answer that was cut off was asked for again.
    cut: u32,
    /// A person spoke, and not a timer or a plugin.
    by_person: bool,
    /// How often the program ended at this very step, and went on with it.
    resumed: u32,
    /// Calls of which nobody knows what they did, and nothing was read since: by name and arguments.
    #[serde(default)]
    unsure: Vec<(String, serde_json::Map<String, serde_json::Value>)>,
    /// The conversation was too long once, and was made shorter.
    shortened: bool,
}

impl Turn {
    /// The messages for the model: the context's, then what came after.
    pub fn request_messages(&self) -> Vec<Message> {
        let parse = |message: &serde_json::Map<String, serde_json::Value>| {
            serde_json::from_value(serde_json::Value::Object(message.clone())).ok()
        };
        self.context.context_msgs.iter().filter_map(parse).chain(self.messages.iter().cloned()).collect()
    }

    /// What goes into the history of the session: what the person said, and all that followed.
    pub fn to_remember(&self, reply: &str) -> Vec<Message> {
        if self.context.no_memory {
            return Vec::new();
        }
        let mut messages = vec![Message::User { content: self.context.raw_message.clone() }];
        messages.extend(self.messages.iter().cloned());
        messages.push(Message::Assistant { content: reply.to_owned(), calls: vec![], reasoning: vec![] });
        messages
    }

    pub fn is_over(&self) -> bool {
        self.step == Step::Over
    }

    pub fn usage(&self) -> Usage {
        self.spent.usage
    }

    pub(crate) fn chinese(&self) -> bool {
        self.language == "zh"
    }

    /// The context as the handlers of a stage see it.
    pub fn context_for(&self, stage: Stage, call: Option<usize>) -> StageContext {
        let mut context = self.context.clone();
        context.phase = stage;
        if let Some(batched) = call.and_then(|at| self.batch.get(at)) {
            context.tool_calls = vec![batched.call.clone()];
            context.tool_results = batched.result.iter().cloned().collect();
        }
        context
    }

    pub fn call(&self, at: usize) -> Option<&ToolCall> {
        self.batch.get(at).map(|batched| &batched.call)
    }

    pub fn result(&self, at: usize) -> Option<&ToolResult> {
        self.batch.get(at).and_then(|batched| batched.result.as_ref())
    }
}

#[cfg(test)]
mod tests;
