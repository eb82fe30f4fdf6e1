//! Chat completions as OpenAI has them and nearly everybody else. Start at [`OpenAi`] for what goes out
//! and [`Completion`] for what comes back.
//!
//! Invariant: nothing that a known server leaves out or says in another way makes an answer fail.

use std::borrow::Cow;

use kernel::ports::{EndReason, SourceRequest, Usage};
use sdk::ToolDef;
use serde_json::{Map, Value, json};

use super::{Wire, append, bearer, count, first_text, lay_over};
use crate::answer::{Answer, Counted, own_blocks};
use crate::calls::{Fragments, arguments_object};
use crate::config::{Effort, Settled, Thinking};
use crate::conversation::{Step, marked, steps};
use crate::decode::Reader;
use crate::fault::Fault;
use crate::frames::Framing;
use crate::names::wire_name;
use crate::providers::{LateText, Provider};

/// The block of reasoning that holds what belongs to single calls, by their ids.
const EXTRAS: &str = "extra_content_of_calls";

pub(crate) struct OpenAi;

impl Wire for OpenAi {
    fn endpoint(&self, settled: &Settled) -> String {
        format!("{}/chat/completions", settled.base)
    }

    fn headers(&self, settled: &Settled) -> Vec<(&'static str, String)> {
        bearer(settled)
    }

    fn body(&self, settled: &Settled, request: &SourceRequest) -> Value {
        let config = &settled.config;
        let mut body = Map::new();
        body.insert("model".into(), json!(config.model));
        body.insert("stream".into(), json!(true));
        if config.stream_usage.unwrap_or(true) {
            body.insert("stream_options".into(), json!({"include_usage": true}));
        }
        if !request.tools.is_empty() && config.tools.unwrap_or(true) {
            body.insert("tools".into(), request.tools.iter().map(tool).collect());
        }
        body.insert("messages".into(), Value::Array(messages(settled, request)));
        if let Some(tokens) = settled.output_tokens(request.output_tokens_max) {
            let field = config.output_limit_field.as_deref().unwrap_or(settled.provider.output_limit_field());
            body.insert(field.into(), json!(tokens));
        }
        if let Some(temperature) = config.temperature {
            body.insert("temperature".into(), json!(temperature));
        }
        thinking(settled, &mut body);
        match settled.provider {
            Provider::OpenAi if !request.cache_key.is_empty() => {
                body.insert("prompt_cache_key".into(), json!(request.cache_key));
            }
            Provider::OpenRouter => drop(body.insert("usage".into(), json!({"include": true}))),
            _ => {}
        }
        lay_over(&mut body, &config.extra_body);
        Value::Object(body)
    }

    fn reader(&self, settled: &Settled) -> Box<dyn Reader> {
        Box::new(Completion { returns_reasoning: settled.returns_reasoning(), ..Completion::default() })
    }

    fn add_picture(&self, body: &mut Value, png: &str) {
        let last = body["messages"].as_array_mut().and_then(|list| list.iter_mut().rfind(|m| m["role"] == "user"));
        if let Some(message) = last {
            let text = message["content"].take();
            message["content"] = json!([
                {"type": "text", "text": text},
                {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{png}")}},
            ]);
        }
    }
}

fn thinking(settled: &Settled, body: &mut Map<String, Value>) {
    let Some(thinking) = settled.config.thinking else { return };
    let on = thinking != Thinking::Switch(false);
    match (settled.provider, thinking) {
        (Provider::DeepSeek | Provider::Moonshot, _) => {
            body.insert("thinking".into(), json!({"type": if on { "enabled" } else { "disabled" }}));
        }
        (Provider::Qwen, _) => {
            body.insert("enable_thinking".into(), json!(on));
            if let Thinking::Tokens(tokens) = thinking {
                body.insert("thinking_budget".into(), json!(tokens));
            }
        }
        (Provider::OpenRouter, Thinking::Switch(on)) => drop(body.insert("reasoning".into(), json!({"enabled": on}))),
        (Provider::OpenRouter, Thinking::Tokens(tokens)) => {
            body.insert("reasoning".into(), json!({"max_tokens": tokens}));
        }
        (Provider::OpenRouter, Thinking::Effort(effort)) => {
            body.insert("reasoning".into(), json!({"effort": effort}));
        }
        (_, Thinking::Effort(effort)) => drop(body.insert("reasoning_effort".into(), json!(effort))),
        (Provider::OpenAi, Thinking::Tokens(_)) => drop(body.insert("reasoning_effort".into(), json!(Effort::Medium))),
        // Templates of vLLM, SGLang and llama.cpp read it there.
        (_, Thinking::Switch(on)) if settled.provider != Provider::OpenAi => {
            body.insert("chat_template_kwargs".into(), json!({"enable_thinking": on}));
        }
        _ => {}
    }
}

fn tool(tool: &ToolDef) -> Value {
    let function = json!({
        "name": wire_name(&tool.name),
        "description": tool.description,
        "parameters": schema(&tool.parameters),
    });
    json!({"type": "function", "function": function})
}

/// A tool without arguments needs an object all the same.
pub(super) fn schema(parameters: &Value) -> Cow<'_, Value> {
    if parameters.is_object() && parameters["type"] == "object" {
        return Cow::Borrowed(parameters);
    }
    Cow::Owned(json!({"type": "object", "properties": {}}))
}

fn messages(settled: &Settled, request: &SourceRequest) -> Vec<Value> {
    let late = settled.late_text();
    let steps = steps(&request.messages);
    let mut list = List { messages: Vec::new(), merges: late != LateText::System };
    list.say("system", &request.system);
    let mut front = String::new();
    let mut late_text = |list: &mut List, text: &str| match late {
        LateText::System => list.say("system", text),
        LateText::User if !text.is_empty() => list.say("user", &marked(text)),
        LateText::Front if !text.is_empty() => front = format!("{front}\n\n{text}"),
        _ => {}
    };
    for step in &steps {
        match step {
            Step::System(text) => late_text(&mut list, text),
            Step::User(text) => list.say("user", text),
            Step::Assistant { content, calls, reasoning } if calls.is_empty() => {
                let _not_wanted_back = reasoning;
                list.say("assistant", content);
            }
            Step::Assistant { content, calls, reasoning } => {
                let made = calls.iter().map(|(call, _)| {
                    let arguments = arguments_object(&call.arguments).to_string();
                    json!({"id": call.id, "type": "function",
                           "function": {"name": wire_name(&call.name), "arguments": arguments}})
                });
                let mut message =
                    json!({"role": "assistant", "content": content, "tool_calls": made.collect::<Vec<_>>()});
                give_back(settled, reasoning, &mut message);
                list.messages.push(message);
                let results = calls.iter().map(
                    |(call, outcome)| json!({"role": "tool", "tool_call_id": call.id, "content": outcome.content}),
                );
                list.messages.extend(results);
            }
        }
    }
    late_text(&mut list, &request.tail);
    let front = front.trim();
    if !front.is_empty() {
        list.put_in_front(front);
    }
    list.messages
}

fn give_back(settled: &Settled, reasoning: &[Value], message: &mut Value) {
    let returns = settled.returns_reasoning();
    for (key, value) in own_blocks(reasoning, settled).filter_map(Value::as_object).flatten() {
        if key == EXTRAS {
            for call in message["tool_calls"].as_array_mut().into_iter().flatten() {
                if let Some(extra) = call["id"].as_str().and_then(|id| value.get(id)) {
                    call["extra_content"] = extra.clone();
                }
            }
        } else if returns {
            message[key.as_str()] = value.clone();
        }
    }
    // A call that another source made has none, and these refuse a call without.
    let demands = matches!(settled.provider, Provider::DeepSeek | Provider::Moonshot);
    if returns && demands && message.get("reasoning_content").is_none() {
        message["reasoning_content"] = json!(" ");
    }
}

struct List {
    messages: Vec<Value>,
    /// Neighbours of one role become one message, for templates that demand alternation.
    merges: bool,
}

impl List {
    fn say(&mut self, role: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.messages.last_mut() {
            Some(last) if self.merges && last["role"] == role && last.get("tool_calls").is_none() => {
                last["content"] = json!(format!("{}\n\n{text}", last["content"].as_str().unwrap_or_default()));
            }
            _ => self.messages.push(json!({"role": role, "content": text})),
        }
    }

    fn put_in_front(&mut self, text: &str) {
        match self.messages.first_mut() {
            Some(first) if first["role"] == "system" => {
                first["content"] = json!(format!("{}\n\n{text}", first["content"].as_str().unwrap_or_default()));
            }
            _ => self.messages.insert(0, json!({"role": "system", "content": text})),
        }
    }
}

#[derive(Default)]
struct Completion {
    returns_reasoning: bool,
    calls: Fragments,
    reasoning: String,
    /// OpenRouter's, put together.
    details: Vec<Value>,
    counted: Option<Counted>,
    end: Option<EndReason>,
}

impl Reader for Completion {
    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn event(&mut self, event: &Value, answer: &mut Answer) -> Result<(), Fault> {
        let choice = &event["choices"][0];
        for usage in [&choice["usage"], &event["usage"]] {
            if usage.is_object() {
                self.counted = Some(counted(usage));
            }
        }
        // Some servers send the last event in the form of a whole answer.
        let delta = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        self.delta(delta, answer);
        if let Some(reason) = choice["finish_reason"].as_str().filter(|reason| !reason.is_empty()) {
            self.end = Some(end_reason(reason));
        }
        Ok(())
    }

    fn whole(&mut self, body: &Value, answer: &mut Answer) -> Result<(), Fault> {
        if !body["choices"][0].is_object() {
            return Err(Fault::protocol("the body has no `choices`"));
        }
        self.event(body, answer)?;
        self.finish(true, answer)
    }

    fn finish(&mut self, marked: bool, answer: &mut Answer) -> Result<(), Fault> {
        let Some(end) = self.end.or(marked.then_some(EndReason::Stop)) else {
            return Err(Fault::cut("the stream ended without a finish reason"));
        };
        let calls = self.calls.take();
        let extras = self.calls.take_extras();
        if !extras.is_empty() {
            answer.reasoning_block(json!({ EXTRAS: extras }));
        }
        if self.returns_reasoning && !calls.is_empty() {
            if !self.details.is_empty() {
                answer.reasoning_block(json!({"reasoning_details": std::mem::take(&mut self.details)}));
            } else if !self.reasoning.is_empty() {
                answer.reasoning_block(json!({"reasoning_content": std::mem::take(&mut self.reasoning)}));
            }
        }
        calls.into_iter().for_each(|call| answer.call(call));
        if let Some(counted) = self.counted {
            answer.usage(counted);
        }
        answer.end(end);
        Ok(())
    }
}

impl Completion {
    fn delta(&mut self, delta: &Value, answer: &mut Answer) {
        let reasoning = first_text(&[&delta["reasoning_content"], &delta["reasoning"]]);
        self.reason(reasoning, answer);
        for detail in delta["reasoning_details"].as_array().into_iter().flatten() {
            self.detail(detail);
        }
        match &delta["content"] {
            Value::String(text) => answer.text(text),
            // Mistral sends parts.
            Value::Array(parts) => {
                for part in parts {
                    answer.text(part["text"].as_str().unwrap_or_default());
                    for thought in part["thinking"].as_array().into_iter().flatten() {
                        self.reason(thought["text"].as_str().unwrap_or_default(), answer);
                    }
                }
            }
            _ => {}
        }
        answer.text(delta["refusal"].as_str().unwrap_or_default());
        match &delta["tool_calls"] {
            Value::Array(calls) => calls.iter().for_each(|call| self.calls.add(call)),
            call @ Value::Object(_) => self.calls.add(call),
            _ => {}
        }
        if delta["function_call"].is_object() {
            self.calls.add(&json!({"index": 0, "function": delta["function_call"]}));
        }
        if !self.calls.is_empty() {
            answer.begin();
        }
    }

    fn reason(&mut self, text: &str, answer: &mut Answer) {
        answer.reasoning(text);
        if self.returns_reasoning {
            self.reasoning.push_str(text);
        }
    }

    /// Fragments of one index are one detail.
    fn detail(&mut self, detail: &Value) {
        let same = |there: &&mut Value| there["index"] == detail["index"] && there["type"] == detail["type"];
        let Some(there) = self.details.iter_mut().rfind(same) else {
            self.details.push(detail.clone());
            return;
        };
        for (key, value) in detail.as_object().into_iter().flatten() {
            match value.as_str() {
                Some(more) if matches!(key.as_str(), "text" | "summary" | "data") => {
                    append(&mut there[key.as_str()], more)
                }
                _ if !value.is_null() => there[key.as_str()] = value.clone(),
                _ => {}
            }
        }
    }
}

fn end_reason(reason: &str) -> EndReason {
    match reason {
        "tool_calls" | "function_call" => EndReason::ToolCalls,
        "length" | "max_tokens" => EndReason::Length,
        "content_filter" | "sensitive" => EndReason::Filtered,
        _ => EndReason::Stop,
    }
}

fn counted(usage: &Value) -> Counted {
    let prompt = &usage["prompt_tokens_details"];
    let cached = [&prompt["cached_tokens"], &usage["prompt_cache_hit_tokens"], &usage["cached_tokens"]];
    let usage_counted = Usage {
        prompt_tokens: count(&usage["prompt_tokens"]),
        completion_tokens: count(&usage["completion_tokens"]),
        cached_tokens: cached.into_iter().map(count).max().unwrap_or(0),
        reasoning_tokens: count(&usage["completion_tokens_details"]["reasoning_tokens"]),
        cost_usd_micros: 0,
    };
    Counted { usage: usage_counted, written_tokens: 0, cost_usd: usage["cost"].as_f64() }
}
