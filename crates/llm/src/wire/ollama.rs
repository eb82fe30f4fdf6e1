//! Ollama's own `/api/chat`. Start at [`Ollama`] for what goes out and [`Lines`] for what comes back.
//!
//! Invariant: the room for the conversation is always asked for; Ollama's own default cuts it in silence.

use kernel::ports::{EndReason, SourceRequest, Usage};
use serde_json::{Map, Value, json};

use super::openai::schema;
use super::{Wire, bearer, count, lay_over};
use crate::answer::{Answer, Counted};
use crate::calls::{Fragments, arguments_object};
use crate::config::{Settled, Thinking};
use crate::conversation::{Step, marked, steps};
use crate::decode::Reader;
use crate::fault::Fault;
use crate::frames::Framing;
use crate::names::wire_name;
use crate::providers::LateText;

pub(crate) struct Ollama;

impl Wire for Ollama {
    fn endpoint(&self, settled: &Settled) -> String {
        format!("{}/api/chat", settled.base)
    }

    fn headers(&self, settled: &Settled) -> Vec<(&'static str, String)> {
        bearer(settled)
    }

    fn body(&self, settled: &Settled, request: &SourceRequest) -> Value {
        let config = &settled.config;
        let mut options = Map::new();
        options.insert("num_ctx".into(), json!(settled.context_tokens));
        if let Some(tokens) = settled.output_tokens(request.output_tokens_max) {
            options.insert("num_predict".into(), json!(tokens));
        }
        if let Some(temperature) = config.temperature {
            options.insert("temperature".into(), json!(temperature));
        }
        let mut body = Map::new();
        body.insert("model".into(), json!(config.model));
        body.insert("stream".into(), json!(true));
        body.insert("options".into(), Value::Object(options));
        if !request.tools.is_empty() && config.tools.unwrap_or(true) {
            let tools = request.tools.iter().map(|tool| {
                let function = json!({"name": wire_name(&tool.name), "description": tool.description,
                                      "parameters": schema(&tool.parameters)});
                json!({"type": "function", "function": function})
            });
            body.insert("tools".into(), tools.collect());
        }
        match config.thinking {
            Some(Thinking::Switch(on)) => drop(body.insert("think".into(), json!(on))),
            Some(Thinking::Effort(effort)) => drop(body.insert("think".into(), json!(effort))),
            Some(Thinking::Tokens(_)) => drop(body.insert("think".into(), json!(true))),
            None => {}
        }
        body.insert("messages".into(), Value::Array(messages(settled, request)));
        lay_over(&mut body, &config.extra_body);
        Value::Object(body)
    }

    fn reader(&self, _settled: &Settled) -> Box<dyn Reader> {
        Box::<Lines>::default()
    }

    fn add_picture(&self, body: &mut Value, png: &str) {
        let last = body["messages"].as_array_mut().and_then(|list| list.last_mut());
        if let Some(message) = last {
            message["images"] = json!([png]);
        }
    }
}

fn messages(settled: &Settled, request: &SourceRequest) -> Vec<Value> {
    let late = settled.late_text();
    let mut front = request.system.to_string();
    let mut list: Vec<Value> = Vec::new();
    let mut say = |list: &mut Vec<Value>, step: Option<&str>| {
        let Some(text) = step.filter(|text| !text.is_empty()) else { return };
        match late {
            LateText::System => list.push(json!({"role": "system", "content": text})),
            LateText::User => add_user(list, &marked(text)),
            LateText::Front => front = format!("{front}\n\n{text}").trim_start().to_owned(),
        }
    };
    for step in &steps(&request.messages) {
        match step {
            Step::System(text) => say(&mut list, Some(text)),
            Step::User(text) => add_user(&mut list, text),
            Step::Assistant { content, calls, .. } => {
                let mut message = json!({"role": "assistant", "content": content});
                if !calls.is_empty() {
                    let made = calls.iter().map(|(call, _)| {
                        let arguments = arguments_object(&call.arguments);
                        json!({"function": {"name": wire_name(&call.name), "arguments": arguments}})
                    });
                    message["tool_calls"] = made.collect();
                }
                list.push(message);
                list.extend(calls.iter().map(|(call, outcome)| {
                    json!({"role": "tool", "tool_name": wire_name(&call.name), "content": outcome.content})
                }));
            }
        }
    }
    say(&mut list, Some(&request.tail));
    if !front.is_empty() {
        list.insert(0, json!({"role": "system", "content": front}));
    }
    list
}

/// Neighbours of one role become one message: many templates demand alternation.
fn add_user(list: &mut Vec<Value>, text: &str) {
    if text.is_empty() {
        return;
    }
    match list.last_mut() {
        Some(last) if last["role"] == "user" => {
            last["content"] = json!(format!("{}\n\n{text}", last["content"].as_str().unwrap_or_default()));
        }
        _ => list.push(json!({"role": "user", "content": text})),
    }
}

#[derive(Default)]
struct Lines {
    done: bool,
}

impl Reader for Lines {
    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn event(&mut self, line: &Value, answer: &mut Answer) -> Result<(), Fault> {
        let message = &line["message"];
        answer.reasoning(message["thinking"].as_str().unwrap_or_default());
        answer.text(message["content"].as_str().unwrap_or_default());
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            // Each comes whole; its place in the list means nothing to the next line.
            let mut alone = Fragments::default();
            alone.add(call);
            alone.take().into_iter().for_each(|call| answer.call(call));
        }
        if line["done"] != true {
            return Ok(());
        }
        self.done = true;
        let usage = Usage {
            prompt_tokens: count(&line["prompt_eval_count"]),
            completion_tokens: count(&line["eval_count"]),
            ..Usage::default()
        };
        if line["eval_count"].is_u64() || line["prompt_eval_count"].is_u64() {
            answer.usage(Counted { usage, ..Counted::default() });
        }
        answer.end(if line["done_reason"] == "length" { EndReason::Length } else { EndReason::Stop });
        Ok(())
    }

    fn whole(&mut self, body: &Value, answer: &mut Answer) -> Result<(), Fault> {
        if !body["message"].is_object() {
            return Err(Fault::protocol("the body has no `message`"));
        }
        self.event(body, answer)?;
        self.finish(true, answer)
    }

    fn finish(&mut self, marked: bool, answer: &mut Answer) -> Result<(), Fault> {
        if !marked && !self.done {
            return Err(Fault::cut("the stream ended before the line that says done"));
        }
        answer.end(EndReason::Stop);
        Ok(())
    }
}
