//! The calls of one answer. Start at [`Batched`]. Invariant: every call of a batch ends with exactly one
//! result, run or not, so that no provider is shown a call without one.

use sdk::{ToolCall, ToolResult};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Step, Turn};
use crate::message::Message;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    #[default]
    Waiting,
    Started,
    Finished,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Batched {
    pub call: ToolCall,
    pub progress: Progress,
    pub result: Option<ToolResult>,
}

impl Batched {
    pub fn new(call: ToolCall) -> Self {
        Self { call, ..Self::default() }
    }

    pub fn finish(&mut self, success: bool, result: Value) {
        let call = &self.call;
        let (call_id, name, plugin) = (call.id.clone(), call.name.clone(), call.plugin.clone());
        self.result = Some(ToolResult { call_id, name, plugin, success, result });
        self.progress = Progress::Finished;
    }
}

impl Turn {
    /// The next calls that run together: one that changes something alone, those that only read with
    /// their neighbours.
    pub(super) fn group_from(&self, from: usize) -> usize {
        let reads = |at: usize| self.batch.get(at).is_some_and(|batched| self.read_only.contains(&batched.call.name));
        if !reads(from) {
            return from + 1;
        }
        (from..self.batch.len()).find(|at| !reads(*at)).unwrap_or(self.batch.len())
    }

    /// What was not begun gets this as its result.
    pub(super) fn skip_rest(&mut self, why: &str) {
        for batched in &mut self.batch {
            match batched.progress {
                Progress::Waiting => batched.finish(false, json!({ "isError": true, "skipped": why })),
                Progress::Started => {
                    batched.finish(false, json!({ "isError": true, "outcome": "outcome_unknown", "cause": why }))
                }
                Progress::Finished => {}
            }
        }
    }

    /// What may have happened already is not done again by a model that has not looked.
    pub(super) fn look_first(&mut self) {
        let error = if self.chinese() {
            "不知道上一次同样的操作是否已经执行：先读取当前状态，再决定是否重做"
        } else {
            "nobody knows whether the same call happened before: read the state first, then decide"
        };
        let unsure = |call: &ToolCall| {
            self.unsure.iter().any(|(name, arguments)| *name == call.name && *arguments == call.arguments)
        };
        for batched in self.batch.iter_mut().filter(|batched| unsure(&batched.call)) {
            let outcome =
                json!({ "isError": true, "code": "look_first", "outcome": "nothing_changed", "error": error });
            batched.finish(false, outcome);
        }
    }

    /// Of which calls nobody knows what they did, after this batch.
    fn note_unsure(&mut self) {
        let reads = |batched: &Batched| self.read_only.contains(&batched.call.name);
        let seen = |batched: &Batched| reads(batched) && batched.result.as_ref().is_some_and(|result| result.success);
        if self.batch.iter().any(seen) {
            self.unsure.clear();
        }
        // What was read beside it may have been read before it.
        let unknown = |batched: &&Batched| {
            let outcome = batched.result.as_ref().and_then(|result| result.result.get("outcome"));
            !reads(batched) && outcome.and_then(Value::as_str) == Some("outcome_unknown")
        };
        let new = self.batch.iter().filter(unknown).map(|batched| &batched.call);
        self.unsure.extend(new.map(|call| (call.name.clone(), call.arguments.clone())));
    }

    /// Results as messages, in the order of the calls.
    pub(super) fn close_batch(&mut self) {
        self.note_unsure();
        for batched in std::mem::take(&mut self.batch) {
            let Some(result) = batched.result else { continue };
            self.note_done(&batched.call, &result);
            self.messages.push(Message::Tool {
                call_id: result.call_id.clone(),
                name: result.name.clone(),
                content: compact(&result.result),
                is_error: !result.success,
            });
            self.context.tool_results.push(result);
        }
    }

    pub(super) fn running(&self) -> bool {
        matches!(self.step, Step::Calling(..))
    }
}

/// Text stays text; all else is compact JSON.
fn compact(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
