//! The three wire formats. Start at [`Wire`]; one file each.
//!
//! Invariant: a body depends on nothing but the request and the settings, and what does not change from
//! turn to turn stands in front.

pub(crate) mod anthropic;
pub(crate) mod ollama;
pub(crate) mod openai;

use kernel::ports::SourceRequest;
use serde_json::{Map, Value};

use crate::config::{Kind, Settled};
use crate::decode::Reader;

pub(crate) trait Wire: Send + Sync {
    fn endpoint(&self, settled: &Settled) -> String;
    /// Beside those that the operator added.
    fn headers(&self, settled: &Settled) -> Vec<(&'static str, String)>;
    fn body(&self, settled: &Settled, request: &SourceRequest) -> Value;
    fn reader(&self, settled: &Settled) -> Box<dyn Reader>;
    /// Puts a picture (PNG, base64) beside the last text of the body.
    fn add_picture(&self, body: &mut Value, png: &str);
}

pub(crate) fn of(kind: Kind) -> &'static dyn Wire {
    match kind {
        Kind::OpenAi => &openai::OpenAi,
        Kind::Anthropic => &anthropic::Anthropic,
        Kind::Ollama => &ollama::Ollama,
    }
}

fn bearer(settled: &Settled) -> Vec<(&'static str, String)> {
    let key = &settled.config.key;
    if key.is_empty() { Vec::new() } else { vec![("authorization", format!("Bearer {}", key.reveal()))] }
}

/// The operator's own fields go over ours; objects are joined, so that one option leaves the others.
fn lay_over(body: &mut Map<String, Value>, extra: &Map<String, Value>) {
    for (key, value) in extra {
        match (body.get_mut(key), value) {
            (Some(Value::Object(there)), Value::Object(new)) => lay_over(there, new),
            _ => drop(body.insert(key.clone(), value.clone())),
        }
    }
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// The first of these that is a text and not empty.
fn first_text<'a>(values: &[&'a Value]) -> &'a str {
    values.iter().filter_map(|value| value.as_str()).find(|text| !text.is_empty()).unwrap_or_default()
}

fn append(value: &mut Value, more: &str) {
    match value {
        Value::String(text) => text.push_str(more),
        _ => *value = Value::String(more.to_owned()),
    }
}
