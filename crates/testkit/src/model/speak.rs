//! The steps of a reply as bytes of one wire format. Start at [`Speaker`]. Invariant: what comes out is
//! what the provider itself sends, so that a client that reads this reads the provider.

use serde_json::{Value, json};

use super::asked::Protocol;
use super::reply::{Reply, Step};

pub(super) struct Speaker {
    protocol: Protocol,
    piece_chars: usize,
    usage: (u64, u64),
    /// The block or call that comes next.
    index: usize,
    called: bool,
}

impl Speaker {
    pub fn new(protocol: Protocol, reply: &Reply) -> Self {
        Self { protocol, piece_chars: reply.piece_chars, usage: reply.usage, index: 0, called: false }
    }

    pub fn content_type(&self) -> &'static str {
        if self.protocol == Protocol::Ollama { "application/x-ndjson" } else { "text/event-stream" }
    }

    pub fn begin(&self) -> Vec<String> {
        let usage = json!({"input_tokens": self.usage.0, "output_tokens": 1});
        match self.protocol {
            Protocol::OpenAi => vec![self.chunk(json!({"role": "assistant", "content": ""}), Value::Null)],
            Protocol::Anthropic => vec![event(json!({
                "type": "message_start",
                "message": {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "usage": usage},
            }))],
            Protocol::Ollama => Vec::new(),
        }
    }

    /// Events of this step, each its own piece; nothing for those that are no words.
    pub fn step(&mut self, step: &Step) -> Vec<String> {
        match step {
            Step::Say(text) => self.words(text, "text", "text_delta"),
            Step::Reason(text) => self.words(text, "thinking", "thinking_delta"),
            Step::Call { name, arguments } => self.call(name, arguments),
            Step::Fail(message) => vec![self.failure(500, message)],
            _ => Vec::new(),
        }
    }

    /// An error as it stands in a stream.
    fn failure(&self, status: u16, message: &str) -> String {
        match self.protocol {
            Protocol::OpenAi => data(&failure_body(self.protocol, status, message)),
            Protocol::Anthropic => event(failure_body(self.protocol, status, message)),
            Protocol::Ollama => line(&failure_body(self.protocol, status, message)),
        }
    }

    fn words(&mut self, text: &str, kind: &str, delta: &str) -> Vec<String> {
        let pieces = pieces(text, self.piece_chars);
        let reasons = kind == "thinking";
        match self.protocol {
            Protocol::OpenAi => {
                let key = if reasons { "reasoning_content" } else { "content" };
                pieces.iter().map(|piece| self.chunk(json!({key: piece}), Value::Null)).collect()
            }
            Protocol::Ollama => {
                let key = if reasons { "thinking" } else { "content" };
                let message = |piece: &String| {
                    let mut message = json!({"role": "assistant", "content": ""});
                    message[key] = json!(piece);
                    line(&json!({"model": "scripted", "message": message, "done": false}))
                };
                pieces.iter().map(message).collect()
            }
            Protocol::Anthropic => {
                let mut deltas: Vec<Value> = pieces.iter().map(|piece| json!({"type": delta, kind: piece})).collect();
                if reasons {
                    deltas.push(json!({"type": "signature_delta", "signature": "c2lnbmF0dXJl"}));
                }
                self.block(json!({"type": kind, kind: ""}), deltas)
            }
        }
    }

    fn call(&mut self, name: &str, arguments: &str) -> Vec<String> {
        self.called = true;
        let pieces = pieces(arguments, self.piece_chars);
        let id = format!("call_{name}_{}", self.index);
        match self.protocol {
            Protocol::OpenAi => {
                let index = self.index;
                self.index += 1;
                let head = json!({"index": index, "id": id, "type": "function",
                                  "function": {"name": name, "arguments": ""}});
                let more = pieces.iter().map(|piece| json!({"index": index, "function": {"arguments": piece}}));
                let fragments = std::iter::once(head).chain(more);
                fragments.map(|fragment| self.chunk(json!({"tool_calls": [fragment]}), Value::Null)).collect()
            }
            Protocol::Anthropic => {
                let deltas = pieces.iter().map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
                let deltas = deltas.collect();
                self.block(json!({"type": "tool_use", "id": id, "name": name, "input": {}}), deltas)
            }
            Protocol::Ollama => {
                let arguments: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
                let call = json!({"function": {"name": name, "arguments": arguments}});
                let message = json!({"role": "assistant", "content": "", "tool_calls": [call]});
                vec![line(&json!({"model": "scripted", "message": message, "done": false}))]
            }
        }
    }

    fn block(&mut self, start: Value, deltas: Vec<Value>) -> Vec<String> {
        let index = self.index;
        self.index += 1;
        let mut events = vec![event(json!({"type": "content_block_start", "index": index, "content_block": start}))];
        events.extend(
            deltas
                .into_iter()
                .map(|delta| event(json!({"type": "content_block_delta", "index": index, "delta": delta}))),
        );
        events.push(event(json!({"type": "content_block_stop", "index": index})));
        events
    }

    pub fn end(&self) -> Vec<String> {
        let (prompt, completion) = self.usage;
        match self.protocol {
            Protocol::OpenAi => {
                let reason = if self.called { "tool_calls" } else { "stop" };
                let usage =
                    data(&json!({"object": "chat.completion.chunk", "choices": [], "usage": openai_usage(self.usage)}));
                vec![self.chunk(json!({}), json!(reason)), usage, "data: [DONE]\n\n".to_owned()]
            }
            Protocol::Anthropic => {
                let reason = if self.called { "tool_use" } else { "end_turn" };
                let delta = json!({"type": "message_delta", "delta": {"stop_reason": reason},
                                   "usage": {"output_tokens": completion}});
                vec![event(delta), event(json!({"type": "message_stop"}))]
            }
            Protocol::Ollama => vec![line(&json!({
                "model": "scripted", "message": {"role": "assistant", "content": ""}, "done": true,
                "done_reason": "stop", "prompt_eval_count": prompt, "eval_count": completion,
            }))],
        }
    }

    fn chunk(&self, delta: Value, reason: Value) -> String {
        data(&json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "scripted",
                     "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}))
    }
}

/// The whole answer as one JSON body.
pub(super) fn whole(protocol: Protocol, reply: &Reply) -> Value {
    let (mut said, mut reasoned) = (String::new(), String::new());
    let mut calls: Vec<(&str, &str)> = Vec::new();
    for step in &reply.steps {
        match step {
            Step::Say(text) => said.push_str(text),
            Step::Reason(text) => reasoned.push_str(text),
            Step::Call { name, arguments } => calls.push((name, arguments)),
            _ => {}
        }
    }
    let parsed = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| json!(text));
    let (prompt, completion) = reply.usage;
    match protocol {
        Protocol::OpenAi => {
            let made = calls.iter().enumerate().map(|(at, (name, arguments))| {
                json!({"id": format!("call_{name}_{at}"), "type": "function", "function": {"name": name, "arguments": arguments}})
            });
            let mut message = json!({"role": "assistant", "content": said, "tool_calls": made.collect::<Vec<_>>()});
            if !reasoned.is_empty() {
                message["reasoning_content"] = json!(reasoned);
            }
            let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
            json!({"object": "chat.completion", "usage": openai_usage(reply.usage),
                   "choices": [{"index": 0, "message": message, "finish_reason": reason}]})
        }
        Protocol::Anthropic => {
            let mut content = Vec::new();
            if !reasoned.is_empty() {
                content.push(json!({"type": "thinking", "thinking": reasoned, "signature": "c2lnbmF0dXJl"}));
            }
            if !said.is_empty() {
                content.push(json!({"type": "text", "text": said}));
            }
            content.extend(calls.iter().enumerate().map(|(at, (name, arguments))| {
                json!({"type": "tool_use", "id": format!("call_{name}_{at}"), "name": name, "input": parsed(arguments)})
            }));
            let reason = if calls.is_empty() { "end_turn" } else { "tool_use" };
            json!({"type": "message", "role": "assistant", "content": content, "stop_reason": reason,
                   "usage": {"input_tokens": prompt, "output_tokens": completion}})
        }
        Protocol::Ollama => {
            let made = calls
                .iter()
                .map(|(name, arguments)| json!({"function": {"name": name, "arguments": parsed(arguments)}}));
            let message = json!({"role": "assistant", "content": said, "thinking": reasoned, "tool_calls": made.collect::<Vec<_>>()});
            json!({"model": "scripted", "message": message, "done": true, "done_reason": "stop",
                   "prompt_eval_count": prompt, "eval_count": completion})
        }
    }
}

/// An error as the body of an answer.
pub(super) fn failure_body(protocol: Protocol, status: u16, message: &str) -> Value {
    match protocol {
        Protocol::OpenAi => json!({"error": {"message": message, "type": "scripted", "code": status}}),
        Protocol::Anthropic => json!({"type": "error", "error": {"type": "api_error", "message": message}}),
        Protocol::Ollama => json!({"error": message}),
    }
}

fn openai_usage((prompt, completion): (u64, u64)) -> Value {
    json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion})
}

fn pieces(text: &str, chars: usize) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(chars).map(|piece| piece.iter().collect()).collect()
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn event(value: Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap_or_default())
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}
