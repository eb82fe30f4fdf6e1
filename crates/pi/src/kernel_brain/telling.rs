//! What the kernel does, told in pi's events. Start at [`Telling::heard`]. Invariant: events come in pi's
//! order and in pairs: what was begun is ended, also where the kernel took it back; a run ends once, with
//! `agent_end` and `agent_settled`, when nothing waits in its conversation.

use kernel::agent::AgentEvent;
use kernel::ports::{Answered, Usage};
use sdk::{ToolCall, ToolResult};
use serde_json::{Value, json};

use crate::records;

/// One conversation, as pi would tell it.
#[derive(Default)]
pub struct Telling {
    run: Option<Run>,
}

/// From `agent_start` to `agent_settled`: one turn of the kernel, and those that waited behind it.
#[derive(Default)]
struct Run {
    messages: Vec<Value>,
    /// `turn_start` without its `turn_end`: of pi's turns, one answer of the model with its tools.
    turn_open: bool,
    message: Option<Assistant>,
    /// The answer that the open turn ended with so far, and what its tools gave.
    answer: Option<Value>,
    results: Vec<Value>,
    /// Said meanwhile; the model sees it with its next question.
    joined: Vec<String>,
    aborted: bool,
}

/// An answer whose `message_end` has not been told.
struct Assistant {
    model: String,
    at_ms: i64,
    blocks: Vec<Value>,
    /// The last block still grows.
    growing: bool,
    /// It is whole; what is delivered may still take its place.
    rests: bool,
    usage: Usage,
}

/// What the telling needs beside the event.
pub struct Around<'a> {
    pub now_ms: i64,
    pub model: &'a str,
    /// Something waits for its turn in this conversation.
    pub waits: bool,
}

impl Telling {
    pub fn running(&self) -> bool {
        self.run.is_some()
    }

    pub fn heard(&mut self, event: &AgentEvent, around: &Around<'_>) -> Vec<Value> {
        let mut out = Vec::new();
        match event {
            AgentEvent::TurnStarted { text, .. } => {
                let run = self.run(&mut out);
                run.begin_turn(&mut out);
                run.user(text, around, &mut out);
            }
            AgentEvent::TextDelta { text, .. } => self.assistant(around, &mut out).grow("text", text, &mut out),
            AgentEvent::ReasoningDelta { text, .. } => {
                self.assistant(around, &mut out).grow("thinking", text, &mut out);
            }
            AgentEvent::MessageEnded { calls, usage, .. } => self.message_ended(calls, *usage, around, &mut out),
            AgentEvent::TextRetracted { .. } => self.retracted(around, &mut out),
            AgentEvent::ToolStarted { call, .. } => {
                let run = self.run(&mut out);
                run.settle_message("toolUse", None, around, &mut out);
                out.push(json!({ "type": "tool_execution_start", "toolCallId": call.id, "toolName": call.name, "args": call.arguments }));
            }
            AgentEvent::ToolEnded { result, .. } => self.run(&mut out).tool_ended(result, around, &mut out),
            AgentEvent::Interrupted { text, .. } => self.run(&mut out).joined.push(text.clone()),
            AgentEvent::TurnEnded { answered, .. } => self.turn_ended(answered, around, &mut out),
            AgentEvent::Problem { .. } => {}
            // As an extension of pi's tells something that wants no answer.
            AgentEvent::Postponed { turn, message, .. } => out.push(json!({
                "type": "extension_ui_request", "id": format!("postponed-{turn}"), "method": "notify",
                "message": message, "notifyType": "warning",
            })),
        }
        out
    }

    /// Ends a run that stayed open for something which then did not come.
    pub fn settle(&mut self, out: &mut Vec<Value>) {
        let Some(run) = self.run.take_if(|run| !run.turn_open) else { return };
        out.push(json!({ "type": "agent_end", "messages": run.messages, "willRetry": false }));
        out.push(json!({ "type": "agent_settled", "aborted": run.aborted }));
    }

    /// The run, begun if what was heard is of a turn whose start was not.
    fn run(&mut self, out: &mut Vec<Value>) -> &mut Run {
        self.run.get_or_insert_with(|| {
            out.push(json!({ "type": "agent_start" }));
            Run::default()
        })
    }

    /// The answer that is being given, begun if need be.
    fn assistant(&mut self, around: &Around<'_>, out: &mut Vec<Value>) -> &mut Assistant {
        let run = self.run(out);
        if run.message.as_ref().is_some_and(|message| message.rests) {
            run.settle_message("stop", None, around, out);
        }
        if run.answer.is_some() {
            run.end_turn(out);
        }
        run.begin_turn(out);
        for text in std::mem::take(&mut run.joined) {
            run.user(&text, around, out);
        }
        run.message.get_or_insert_with(|| {
            let message = Assistant::new(around);
            out.push(json!({ "type": "message_start", "message": message.record("pending", None) }));
            message
        })
    }

    fn message_ended(&mut self, calls: &[ToolCall], usage: Usage, around: &Around<'_>, out: &mut Vec<Value>) {
        let message = self.assistant(around, out);
        message.usage = usage;
        message.rests = true;
        // The last answer is ended with what is delivered in its place.
        if !calls.is_empty() {
            message.close_block(out);
            calls.iter().for_each(|call| message.call(call, out));
            self.run(out).settle_message("toolUse", None, around, out);
        }
    }

    /// What was said so far does not hold.
    fn retracted(&mut self, around: &Around<'_>, out: &mut Vec<Value>) {
        if let Some(run) = &mut self.run
            && run.message.is_some()
        {
            run.settle_message("aborted", Some("taken back: cut off or interrupted"), around, out);
        }
    }

    fn turn_ended(&mut self, answered: &Answered, around: &Around<'_>, out: &mut Vec<Value>) {
        let (reason, error) = match answered.ended.as_str() {
            "answered" | "by_stage" => ("stop", None),
            "stopped" | "withdrawn" => ("aborted", Some("Request was aborted")),
            _ => ("error", Some(answered.reply.as_str())),
        };
        let run = self.run(out);
        run.joined.clear();
        // Also where a stage gave the answer, or an account stands in place of one.
        match &mut run.message {
            Some(message) => message.becomes(&answered.reply, out),
            None => self.assistant(around, out).becomes(&answered.reply, out),
        }
        let run = self.run(out);
        run.settle_message(reason, error, around, out);
        run.end_turn(out);
        run.aborted = reason == "aborted";
        if !around.waits {
            self.settle(out);
        }
    }
}

impl Run {
    fn begin_turn(&mut self, out: &mut Vec<Value>) {
        if !self.turn_open {
            self.turn_open = true;
            out.push(json!({ "type": "turn_start" }));
        }
    }

    fn end_turn(&mut self, out: &mut Vec<Value>) {
        let message = self.answer.take().unwrap_or(Value::Null);
        let results = std::mem::take(&mut self.results);
        if std::mem::take(&mut self.turn_open) {
            out.push(json!({ "type": "turn_end", "message": message, "toolResults": results }));
        }
    }

    fn user(&mut self, text: &str, around: &Around<'_>, out: &mut Vec<Value>) {
        self.whole(records::user(text, Some(around.now_ms)), out);
    }

    fn whole(&mut self, message: Value, out: &mut Vec<Value>) {
        out.push(json!({ "type": "message_start", "message": message }));
        out.push(json!({ "type": "message_end", "message": message }));
        self.messages.push(message);
    }

    fn tool_ended(&mut self, result: &ToolResult, around: &Around<'_>, out: &mut Vec<Value>) {
        let text = result.result.to_string();
        let content = json!([{ "type": "text", "text": text }]);
        out.push(json!({
            "type": "tool_execution_end", "toolCallId": result.call_id, "toolName": result.name,
            "result": { "content": content, "structuredContent": result.result }, "isError": !result.success
        }));
        let message = records::tool_result(&result.call_id, &result.name, &text, !result.success, Some(around.now_ms));
        self.whole(message.clone(), out);
        self.results.push(message);
    }

    /// `message_end`, where a message is open.
    fn settle_message(&mut self, reason: &str, error: Option<&str>, around: &Around<'_>, out: &mut Vec<Value>) {
        let Some(mut message) = self.message.take() else { return };
        message.close_block(out);
        let mut record = message.record(reason, error);
        record["durationMs"] = (around.now_ms - message.at_ms).max(0).into();
        record["thinkingLevel"] = "off".into();
        out.push(json!({ "type": "message_end", "message": record }));
        self.messages.push(record.clone());
        self.answer = Some(record);
    }
}

impl Assistant {
    fn new(around: &Around<'_>) -> Self {
        let usage = Usage::default();
        Self {
            model: around.model.to_owned(),
            at_ms: around.now_ms,
            blocks: vec![],
            growing: false,
            rests: false,
            usage,
        }
    }

    fn record(&self, reason: &str, error: Option<&str>) -> Value {
        let mut record = json!({
            "role": "assistant", "content": self.blocks, "api": "menshen", "provider": "menshen",
            "model": self.model, "usage": records::usage(&self.usage), "stopReason": reason, "timestamp": self.at_ms
        });
        if let Some(error) = error {
            record["errorMessage"] = error.into();
        }
        record
    }

    fn update(&self, event: Value, out: &mut Vec<Value>) {
        let usage = records::usage(&self.usage);
        out.push(json!({ "type": "message_update", "usage": usage, "assistantMessageEvent": event }));
    }

    fn at(&self) -> usize {
        self.blocks.len().saturating_sub(1)
    }

    /// `kind` is `text` or `thinking`, which is also the name of the field.
    fn grow(&mut self, kind: &str, delta: &str, out: &mut Vec<Value>) {
        if self.growing && self.blocks.last().is_some_and(|block| block["type"] != kind) {
            self.close_block(out);
        }
        if !self.growing {
            self.growing = true;
            self.blocks.push(json!({ "type": kind, kind: "" }));
            self.update(json!({ "type": format!("{kind}_start"), "contentIndex": self.at() }), out);
        }
        if let Some(Value::String(text)) = self.blocks.last_mut().map(|block| &mut block[kind]) {
            text.push_str(delta);
        }
        let event = json!({ "type": format!("{kind}_delta"), "contentIndex": self.at(), "delta": delta });
        self.update(event, out);
    }

    fn close_block(&mut self, out: &mut Vec<Value>) {
        if let Some(block) = self.blocks.last()
            && std::mem::take(&mut self.growing)
        {
            let kind = block["type"].as_str().unwrap_or("text");
            let event = json!({ "type": format!("{kind}_end"), "contentIndex": self.at(), "content": block[kind] });
            self.update(event, out);
        }
    }

    fn call(&mut self, call: &ToolCall, out: &mut Vec<Value>) {
        let record = json!({ "type": "toolCall", "id": call.id, "name": call.name, "arguments": call.arguments });
        self.blocks.push(record.clone());
        let at = self.at();
        let start = json!({ "type": "toolcall_start", "contentIndex": at, "id": call.id, "toolName": call.name });
        self.update(start, out);
        let arguments = Value::Object(call.arguments.clone()).to_string();
        self.update(json!({ "type": "toolcall_delta", "contentIndex": at, "delta": arguments }), out);
        self.update(json!({ "type": "toolcall_end", "contentIndex": at, "toolCall": record }), out);
    }

    /// The text becomes this one: by what is added where it begins so, else by the end of its block.
    fn becomes(&mut self, reply: &str, out: &mut Vec<Value>) {
        let spoken: String = self.blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("");
        match reply.strip_prefix(spoken.as_str()) {
            Some("") => {}
            Some(rest) if self.growing || spoken.is_empty() => self.grow("text", rest, out),
            _ => {
                self.blocks.retain(|block| block["type"] != "text");
                self.blocks.push(json!({ "type": "text", "text": reply }));
                self.growing = true;
            }
        }
    }
}
