//! Anthropic's messages. Start at [`Anthropic`] for what goes out and [`Blocks`] for what comes back.
//!
//! Invariants: user and assistant alternate, beginning with the user; results stand first in the message
//! after their calls; a thinking block goes back as it came, signature and all, or not at all.

use std::collections::BTreeMap;

use kernel::ports::{EndReason, SourceRequest, Usage};
use serde_json::{Map, Value, json};

use super::openai::schema;
use super::{Wire, append, count, lay_over};
use crate::answer::{Answer, Counted, own_blocks};
use crate::calls::{Call, arguments_object};
use crate::config::{Effort, Settled, Thinking};
use crate::conversation::{Step, marked, steps};
use crate::decode::Reader;
use crate::fault::Fault;
use crate::frames::Framing;
use crate::names::{wire_id, wire_name};

/// The protocol demands a limit; enough for an answer, and accepted by every model but the oldest.
const OUTPUT_TOKENS: u32 = 8192;
const THINKING_TOKENS_MIN: u32 = 1024;

pub(crate) struct Anthropic;

impl Wire for Anthropic {
    fn endpoint(&self, settled: &Settled) -> String {
        format!("{}/v1/messages", settled.base)
    }

    fn headers(&self, settled: &Settled) -> Vec<(&'static str, String)> {
        let mut headers = vec![("anthropic-version", "2023-06-01".to_owned())];
        let key = &settled.config.key;
        if !key.is_empty() {
            headers.push(("x-api-key", key.reveal().to_owned()));
        }
        headers
    }

    fn body(&self, settled: &Settled, request: &SourceRequest) -> Value {
        let config = &settled.config;
        let steps = steps(&request.messages);
        let may_think = may_think(&steps, settled);
        let thinking = thinking(&config.model, config.thinking, may_think);
        let output = settled.output_tokens(request.output_tokens_max).unwrap_or(OUTPUT_TOKENS);
        let mut body = Map::new();
        body.insert("model".into(), json!(config.model));
        body.insert("stream".into(), json!(true));
        body.insert("max_tokens".into(), json!(output.saturating_add(thinking.tokens)));
        let mut tools: Vec<Value> = Vec::new();
        if config.tools.unwrap_or(true) {
            tools.extend(request.tools.iter().map(|tool| {
                json!({"name": wire_name(&tool.name), "description": tool.description,
                       "input_schema": schema(&tool.parameters)})
            }));
        }
        // A mark at the end of the prefix covers tools and system: they stand in this order there.
        if request.system.is_empty() {
            tools.last_mut().into_iter().for_each(cache);
        } else {
            let mut system = json!({"type": "text", "text": &*request.system});
            cache(&mut system);
            body.insert("system".into(), json!([system]));
        }
        if !tools.is_empty() {
            body.insert("tools".into(), Value::Array(tools));
        }
        body.insert("messages".into(), messages(&steps, settled, may_think && !thinking.off, &request.tail));
        // With thinking the protocol allows no other temperature than its own.
        if let Some(temperature) = config.temperature.filter(|_| thinking.tokens == 0) {
            body.insert("temperature".into(), json!(temperature.min(1.0)));
        }
        body.extend(thinking.fields);
        lay_over(&mut body, &config.extra_body);
        Value::Object(body)
    }

    fn reader(&self, _settled: &Settled) -> Box<dyn Reader> {
        Box::<Blocks>::default()
    }

    fn add_picture(&self, body: &mut Value, png: &str) {
        let last = body["messages"].as_array_mut().and_then(|list| list.last_mut());
        if let Some(content) = last.and_then(|message| message["content"].as_array_mut()) {
            let source = json!({"type": "base64", "media_type": "image/png", "data": png});
            content.push(json!({"type": "image", "source": source}));
        }
    }
}

#[derive(Default)]
struct ThinkingFields {
    fields: Map<String, Value>,
    /// Room for it, beside the answer itself.
    tokens: u32,
    off: bool,
}

/// Newer models decide for themselves how long they think and take an effort; older ones take a number.
/// Where nothing is configured nothing is said, and a model does as it does by default.
fn thinking(model: &str, thinking: Option<Thinking>, may_think: bool) -> ThinkingFields {
    let Some(thinking) = thinking else { return ThinkingFields::default() };
    let mut fields = Map::new();
    if thinking == Thinking::Switch(false) || !may_think {
        fields.insert("thinking".into(), json!({"type": "disabled"}));
        return ThinkingFields { fields, tokens: 0, off: true };
    }
    let tokens = match thinking {
        Thinking::Switch(_) => 4096,
        Thinking::Effort(Effort::Low) => 2048,
        Thinking::Effort(Effort::Medium) => 8192,
        Thinking::Effort(Effort::High) => 16_384,
        Thinking::Tokens(tokens) => tokens.max(THINKING_TOKENS_MIN),
    };
    if decides_itself(model) {
        fields.insert("thinking".into(), json!({"type": "adaptive"}));
        if let Thinking::Effort(effort) = thinking {
            fields.insert("output_config".into(), json!({"effort": effort}));
        }
    } else {
        fields.insert("thinking".into(), json!({"type": "enabled", "budget_tokens": tokens}));
    }
    ThinkingFields { fields, tokens, off: false }
}

/// Opus and Sonnet from 4.6 on, all others from 5 on: `claude-opus-4-6`, `claude-haiku-5-20261001`.
fn decides_itself(model: &str) -> bool {
    let Some((_, name)) = model.split_once("claude-") else { return false };
    let mut parts = name.split(['-', '.']);
    let family = parts.next().unwrap_or_default();
    let mut number = || parts.next().filter(|part| part.len() <= 2).and_then(|part| part.parse::<u32>().ok());
    let version = (number().unwrap_or(0), number().unwrap_or(0));
    // In the old order the version stood first: `claude-3-5-haiku`.
    match family {
        "opus" | "sonnet" => version >= (4, 6),
        _ => version >= (5, 0) && family.parse::<u32>().is_err(),
    }
}

/// In the middle of a turn that another source began there are calls without thinking before them, and
/// the provider refuses those while thinking is on.
fn may_think(steps: &[Step<'_>], settled: &Settled) -> bool {
    let this_turn = steps.iter().rev().take_while(|step| !matches!(step, Step::User(_)));
    let mut calls = this_turn.filter_map(|step| match step {
        Step::Assistant { calls, reasoning, .. } if !calls.is_empty() => Some(reasoning),
        _ => None,
    });
    calls.all(|reasoning| own_blocks(reasoning, settled).next().is_some())
}

fn cache(block: &mut Value) {
    block["cache_control"] = json!({"type": "ephemeral"});
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn messages(steps: &[Step<'_>], settled: &Settled, thinks: bool, tail: &str) -> Value {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    let mut add = |role: &'static str, block: Value| match turns.last_mut() {
        Some((last, blocks)) if *last == role => blocks.push(block),
        None if role == "assistant" => {
            turns.push(("user", vec![text(&marked("The conversation goes on from here."))]));
            turns.push((role, vec![block]));
        }
        _ => turns.push((role, vec![block])),
    };
    for step in steps {
        match step {
            Step::System(said) if !said.is_empty() => add("user", text(&marked(said))),
            Step::User(said) if !said.is_empty() => add("user", text(said)),
            Step::Assistant { content, calls, reasoning } => {
                if thinks {
                    own_blocks(reasoning, settled).for_each(|block| add("assistant", block.clone()));
                }
                if !content.trim().is_empty() {
                    add("assistant", text(content.trim_end()));
                }
                for (call, _) in calls {
                    let input = arguments_object(&call.arguments);
                    let (id, name) = (wire_id(&call.id), wire_name(&call.name));
                    add("assistant", json!({"type": "tool_use", "id": id, "name": name, "input": input}));
                }
                for (call, outcome) in calls {
                    let mut result = json!({"type": "tool_result", "tool_use_id": wire_id(&call.id)});
                    if !outcome.content.is_empty() {
                        result["content"] = json!(outcome.content);
                    }
                    if outcome.is_error {
                        result["is_error"] = json!(true);
                    }
                    add("user", result);
                }
            }
            _ => {}
        }
    }
    // The second mark: what was said so far is read from the cache by the next request.
    let last = turns.last_mut().and_then(|(_, blocks)| blocks.last_mut());
    last.filter(|block| block["type"] != "thinking" && block["type"] != "redacted_thinking")
        .into_iter()
        .for_each(cache);
    if !tail.is_empty() {
        let block = text(&marked(tail));
        match turns.last_mut() {
            Some(("user", blocks)) => blocks.push(block),
            _ => turns.push(("user", vec![block])),
        }
    }
    turns.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

#[derive(Default)]
struct Blocks {
    open: BTreeMap<u64, Value>,
    /// Arguments as text, by index.
    input: BTreeMap<u64, String>,
    counted: Counted,
    end: Option<EndReason>,
}

impl Reader for Blocks {
    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn event(&mut self, event: &Value, answer: &mut Answer) -> Result<(), Fault> {
        let index = count(&event["index"]);
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => self.count(&event["message"]["usage"], answer),
            "content_block_start" => self.start(index, &event["content_block"], answer),
            "content_block_delta" => self.delta(index, &event["delta"], answer),
            "content_block_stop" => self.stop(index, answer),
            "message_delta" => {
                if let Some(reason) = event["delta"]["stop_reason"].as_str() {
                    self.end = Some(end_reason(reason));
                }
                self.count(&event["usage"], answer);
            }
            "message_stop" => return self.finish(true, answer),
            // Pings, and what is yet to be invented.
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, body: &Value, answer: &mut Answer) -> Result<(), Fault> {
        let Some(content) = body["content"].as_array() else {
            return Err(Fault::protocol("the body has no `content`"));
        };
        for (index, block) in (0u64..).zip(content) {
            self.start(index, block, answer);
            self.stop(index, answer);
        }
        self.count(&body["usage"], answer);
        self.end = body["stop_reason"].as_str().map(end_reason);
        self.finish(true, answer)
    }

    fn finish(&mut self, marked: bool, answer: &mut Answer) -> Result<(), Fault> {
        let Some(end) = self.end.or(marked.then_some(EndReason::Stop)) else {
            return Err(Fault::cut("the stream ended without a stop reason"));
        };
        while let Some(index) = self.open.keys().next().copied() {
            self.stop(index, answer);
        }
        answer.end(end);
        Ok(())
    }
}

impl Blocks {
    /// A block may come with its content already in it.
    fn start(&mut self, index: u64, block: &Value, answer: &mut Answer) {
        answer.text(block["text"].as_str().unwrap_or_default());
        answer.reasoning(block["thinking"].as_str().unwrap_or_default());
        answer.begin();
        self.open.insert(index, block.clone());
    }

    fn delta(&mut self, index: u64, delta: &Value, answer: &mut Answer) {
        if let Some(said) = delta["text"].as_str() {
            answer.text(said);
        }
        if let Some(more) = delta["partial_json"].as_str() {
            self.input.entry(index).or_default().push_str(more);
        }
        // Some compatible servers send thinking without opening a block.
        let block = self.open.entry(index).or_insert_with(|| json!({"type": "thinking"}));
        for key in ["thinking", "signature"] {
            if let Some(more) = delta[key].as_str() {
                append(&mut block[key], more);
            }
        }
        answer.reasoning(delta["thinking"].as_str().unwrap_or_default());
    }

    fn stop(&mut self, index: u64, answer: &mut Answer) {
        let Some(block) = self.open.remove(&index) else { return };
        let streamed = self.input.remove(&index).unwrap_or_default();
        match block["type"].as_str().unwrap_or_default() {
            "thinking" if block["signature"].is_string() => answer.reasoning_block(block),
            "redacted_thinking" => answer.reasoning_block(block),
            "tool_use" => {
                let whole = &block["input"];
                let arguments =
                    if streamed.trim().is_empty() && whole.is_object() { whole.to_string() } else { streamed };
                let field = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
                answer.call(Call { id: field("id"), name: field("name"), arguments });
            }
            _ => {}
        }
    }

    /// Later numbers are totals and go over earlier ones; what is left out then stays.
    fn count(&mut self, usage: &Value, answer: &mut Answer) {
        if !usage.is_object() {
            return;
        }
        let before = self.counted;
        let (read, written) = (count(&usage["cache_read_input_tokens"]), count(&usage["cache_creation_input_tokens"]));
        let prompt = count(&usage["input_tokens"]) + read + written;
        let old = before.usage;
        self.counted = Counted {
            usage: Usage {
                prompt_tokens: prompt.max(old.prompt_tokens),
                completion_tokens: count(&usage["output_tokens"]).max(old.completion_tokens),
                cached_tokens: read.max(old.cached_tokens),
                reasoning_tokens: count(&usage["output_tokens_details"]["thinking_tokens"]).max(old.reasoning_tokens),
                cost_usd_micros: 0,
            },
            written_tokens: written.max(before.written_tokens),
            cost_usd: None,
        };
        if self.counted != before {
            answer.usage(self.counted);
        }
    }
}

fn end_reason(reason: &str) -> EndReason {
    match reason {
        "tool_use" => EndReason::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => EndReason::Length,
        "refusal" => EndReason::Filtered,
        _ => EndReason::Stop,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_models_decide_themselves_how_long_they_think() {
        for model in [
            "claude-opus-4-6",
            "claude-sonnet-4.6",
            "claude-sonnet-5-20261001",
            "anthropic/claude-haiku-5",
            "claude-fable-5",
        ] {
            assert!(decides_itself(model), "{model}");
        }
        for model in [
            "claude-opus-4-5-20251101",
            "claude-3-5-haiku-20241022",
            "claude-sonnet-4-20250514",
            "claude-haiku-4-5",
            "deepseek-chat",
        ] {
            assert!(!decides_itself(model), "{model}");
        }
        let high = thinking("claude-opus-5", Some(Thinking::Effort(Effort::High)), true).fields;
        assert_eq!(Value::Object(high), json!({"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}}));
    }
}
