//! pi's records as JSON: responses, messages, usage. Start at [`ok`] and [`refused`]. Invariant: shapes are
//! those that pi 1.6.0 writes; what we add comes beside them.

use kernel::message::Message;
use kernel::ports::Usage;
use serde_json::{Map, Value, json};

/// The `code` of a response to a command that this agent has no use for.
pub const NOT_SUPPORTED: &str = "not_supported";

pub fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

pub fn ok(command: &str, data: Value) -> Map<String, Value> {
    let mut response = object(json!({ "type": "response", "command": command, "success": true }));
    if !data.is_null() {
        response.insert("data".into(), data);
    }
    response
}

pub fn refused(command: &str, error: impl Into<String>) -> Map<String, Value> {
    object(json!({ "type": "response", "command": command, "success": false, "error": error.into() }))
}

/// Refused for good: this agent does not have that.
pub fn not_supported(command: &str, why: &str) -> Map<String, Value> {
    let mut response = refused(command, format!("`{command}` is not supported by this agent: {why}"));
    response.insert("code".into(), NOT_SUPPORTED.into());
    response
}

/// As pi counts: `input` is what was not read from a cache.
pub fn usage(usage: &Usage) -> Value {
    let cached = usage.cached_tokens.min(usage.prompt_tokens);
    json!({
        "input": usage.prompt_tokens - cached,
        "output": usage.completion_tokens,
        "cacheRead": cached,
        "cacheWrite": 0,
        "reasoning": usage.reasoning_tokens,
        "totalTokens": usage.prompt_tokens + usage.completion_tokens,
        "cost": {
            "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0,
            "total": dollars(usage.cost_usd_micros), "totalFromProvider": false
        }
    })
}

pub fn dollars(micros: u64) -> f64 {
    // Exact up to nine thousand million dollars.
    micros as f64 / 1_000_000.0
}

pub fn user(text: &str, at_ms: Option<i64>) -> Value {
    stamped(json!({ "role": "user", "content": [{ "type": "text", "text": text }] }), at_ms)
}

pub fn tool_result(call_id: &str, name: &str, text: &str, is_error: bool, at_ms: Option<i64>) -> Value {
    let content = json!([{ "type": "text", "text": text }]);
    let message = json!({ "role": "toolResult", "toolCallId": call_id, "toolName": name, "content": content, "isError": is_error });
    stamped(message, at_ms)
}

/// What the history of a conversation keeps; it has no times.
pub fn kept(message: &Message, model: &str) -> Value {
    match message {
        Message::System { content } => json!({ "role": "system", "content": content }),
        Message::User { content } => user(content, None),
        Message::Tool { call_id, name, content, is_error } => tool_result(call_id, name, content, *is_error, None),
        Message::Assistant { content, calls, .. } => {
            let mut blocks = Vec::new();
            if !content.is_empty() {
                blocks.push(json!({ "type": "text", "text": content }));
            }
            for call in calls {
                let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
                blocks.push(json!({ "type": "toolCall", "id": call.id, "name": call.name, "arguments": arguments }));
            }
            let reason = if calls.is_empty() { "stop" } else { "toolUse" };
            json!({
                "role": "assistant", "content": blocks, "api": "menshen", "provider": "menshen", "model": model,
                "usage": usage(&Usage::default()), "stopReason": reason
            })
        }
    }
}

fn stamped(mut message: Value, at_ms: Option<i64>) -> Value {
    if let Some(at_ms) = at_ms {
        message["timestamp"] = at_ms.into();
    }
    message
}
