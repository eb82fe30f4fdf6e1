//! Which stage may write which field. Start at [`permitted`]. Invariant: what is not written here as
//! permitted is not taken over, whatever a handler does.

use std::fmt;

use sdk::{Stage, StageContext, ToolCall};

/// A write that the stage does not permit; it was dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub stage: Stage,
    pub field: &'static str,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "may not write {} in {}; the write was dropped", self.field, self.stage.name())
    }
}

/// The context after a handler, with only the permitted changes in it.
pub fn permitted(stage: Stage, before: &StageContext, after: StageContext) -> (StageContext, Vec<Violation>) {
    use Stage::{AfterOutput, AfterToolcall, BeforeOutput, BeforeToolcall, OnInput, PostAction, PreAction};
    let mut kept = before.clone();
    let mut violations = Vec::new();
    macro_rules! take {
        ($field:ident, $name:literal, $($allowed:pat_param)|+) => {
            if after.$field != before.$field {
                if matches!(stage, $($allowed)|+) {
                    kept.$field = after.$field;
                } else {
                    violations.push(Violation { stage, field: $name });
                }
            }
        };
    }
    take!(raw_message, "RawMessage", OnInput);
    take!(context_msgs, "ContextMsgs", PreAction);
    take!(llm_text, "LLMText", PostAction);
    take!(tool_results, "ToolResults", AfterToolcall);
    take!(final_text, "FinalText", BeforeOutput);
    take!(
        extra,
        "Extra",
        OnInput | PreAction | PostAction | BeforeToolcall | AfterToolcall | BeforeOutput | AfterOutput
    );
    tool_calls(stage, before, after.tool_calls, &mut kept, &mut violations);
    if after.response != before.response {
        if stage == AfterOutput {
            violations.push(Violation { stage, field: "Response" });
        } else {
            kept.response = after.response;
        }
    }
    if after.no_memory != before.no_memory {
        // It can only be raised, and only while nothing was remembered yet.
        if after.no_memory && matches!(stage, OnInput | PreAction) {
            kept.no_memory = true;
        } else {
            violations.push(Violation { stage, field: "NoMemory" });
        }
    }
    macro_rules! fixed {
        ($($field:ident: $name:literal),+) => {
            $(if after.$field != before.$field {
                violations.push(Violation { stage, field: $name });
            })+
        };
    }
    fixed!(user_id: "UserID", group_id: "GroupID", reasoning_content: "ReasoningContent", token_usage: "TokenUsage",
        phase: "Phase", memory: "Memory", channel: "Channel", session: "Session");
    (kept, violations)
}

/// Calls may be rewritten after the model's answer and before each tool; `deny` only before a tool. At a
/// tool there is one call, and its id and place stay.
fn tool_calls(
    stage: Stage,
    before: &StageContext,
    after: Vec<ToolCall>,
    kept: &mut StageContext,
    violations: &mut Vec<Violation>,
) {
    if after == before.tool_calls {
        return;
    }
    match stage {
        Stage::PostAction => {
            let denied = after.iter().any(|call| call.deny.is_some());
            if denied {
                violations.push(Violation { stage, field: "ToolCall.deny" });
            }
            kept.tool_calls = after.into_iter().map(|call| ToolCall { deny: None, ..call }).collect();
        }
        Stage::BeforeToolcall => {
            let same = after.len() == before.tool_calls.len()
                && after.iter().zip(&before.tool_calls).all(|(after, before)| after.id == before.id);
            if same {
                kept.tool_calls = after;
            } else {
                violations.push(Violation { stage, field: "ToolCalls" });
            }
        }
        _ => violations.push(Violation { stage, field: "ToolCalls" }),
    }
}
