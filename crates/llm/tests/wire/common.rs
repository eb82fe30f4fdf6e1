//! A source of each kind before a scripted model, and an answer gathered up.

use futures_util::StreamExt;
use kernel::message::{CallRequest, Message};
use kernel::ports::{Delta, EndReason, LlmSource, SourceError, SourceRequest, Usage};
use llm::{Config, Kind, Secret, Source};
use sdk::ToolDef;
use serde_json::{Value, json};
use testkit::ScriptedModel;

pub const KINDS: [Kind; 3] = [Kind::OpenAi, Kind::Anthropic, Kind::Ollama];
pub const KEY: &str = "sk-very-hidden-key";

pub fn config(model: &ScriptedModel, kind: Kind) -> Config {
    Config {
        name: "scripted".into(),
        kind: Some(kind),
        base_url: model.url.clone(),
        model: "scripted".into(),
        key: Secret::new(KEY),
        ..Config::default()
    }
}

pub fn source(model: &ScriptedModel, kind: Kind) -> Source {
    Source::new(&config(model, kind)).expect("a right configuration")
}

pub fn tool(name: &str) -> ToolDef {
    let parameters = json!({"type": "object", "properties": {"room": {"type": "string"}}});
    ToolDef { name: name.into(), description: "d".into(), parameters, ..ToolDef::default() }
}

pub fn request() -> SourceRequest {
    SourceRequest {
        system: "You run a house.".into(),
        tools: [tool("lights_on"), tool("files.read")].into(),
        messages: vec![Message::User { content: "开灯".into() }],
        tail: "Monday 20:41".into(),
        cache_key: "main".into(),
        language: "en".into(),
        ..SourceRequest::default()
    }
}

/// An answer, gathered up.
#[derive(Debug, Default)]
pub struct Heard {
    pub text: String,
    pub reasoning: String,
    pub blocks: Vec<Value>,
    pub calls: Vec<CallRequest>,
    pub usage: Usage,
    pub end: Option<EndReason>,
    pub error: Option<SourceError>,
    pub texts: usize,
}

impl Heard {
    /// Names and arguments of the calls.
    pub fn called(&self) -> Vec<(&str, Value)> {
        let arguments = |call: &CallRequest| serde_json::from_str(&call.arguments).expect("JSON");
        self.calls.iter().map(|call| (call.name.as_str(), arguments(call))).collect()
    }
}

pub async fn hear(source: &dyn LlmSource, request: SourceRequest) -> Heard {
    let mut heard = Heard::default();
    let mut stream = match source.ask(request).await {
        Ok(stream) => stream,
        Err(error) => return Heard { error: Some(error), ..heard },
    };
    while let Some(delta) = stream.next().await {
        assert!(heard.end.is_none() && heard.error.is_none(), "something came after the end: {delta:?}");
        match delta {
            Ok(Delta::Text(text)) => {
                heard.texts += 1;
                heard.text.push_str(&text);
            }
            Ok(Delta::Reasoning(text)) => heard.reasoning.push_str(&text),
            Ok(Delta::ReasoningBlock(block)) => heard.blocks.push(block),
            Ok(Delta::Call(call)) => heard.calls.push(call),
            Ok(Delta::Usage(usage)) => heard.usage = usage,
            Ok(Delta::End(reason)) => heard.end = Some(reason),
            Err(error) => heard.error = Some(error),
        }
    }
    assert!(heard.end.is_some() || heard.error.is_some(), "a stream without an end");
    heard
}
