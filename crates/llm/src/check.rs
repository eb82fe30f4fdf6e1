//! What an endpoint can do, found out by asking it. Start at [`check`].
//!
//! Invariant: a finding says what was seen, not what the configuration hopes, and what to do about it.

use std::time::Duration;

use futures_util::StreamExt;
use kernel::message::Message;
use kernel::ports::{Delta, SourceError, SourceErrorKind, SourceRequest};
use sdk::ToolDef;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::answer::Observed;
use crate::config::Kind;
use crate::source::Source;

/// What a server says of itself comes within this time, or is not known.
const ABOUT_WAIT: Duration = Duration::from_secs(10);
const ANSWER_TOKENS: u32 = 2048;

/// A red square of 64 by 64, PNG.
const RED: &str = "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAS0lEQVR42u3PQQkAAAgAsetfWiP4FgYrsKZeS0BAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEDgsqnc8OJg6Ln3AAAAAElFTkSuQmCC";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    Reachable,
    Streams,
    Usage,
    Tools,
    Vision,
    Context,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    Yes,
    No,
    Unknown,
}

#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    pub what: What,
    pub found: Found,
    pub en: String,
    pub zh: String,
}

/// What `menshen llm check` shows.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub name: String,
    pub model: String,
    pub address: String,
    pub findings: Vec<Finding>,
}

impl Report {
    /// The house can be run with it: it answers and makes calls.
    pub fn is_usable(&self) -> bool {
        let works = |what| self.findings.iter().any(|finding| finding.what == what && finding.found == Found::Yes);
        works(What::Reachable) && works(What::Tools)
    }

    fn add(&mut self, what: What, found: Found, en: impl Into<String>, zh: impl Into<String>) {
        self.findings.push(Finding { what, found, en: en.into(), zh: zh.into() });
    }
}

/// Asks a few small questions; a paid source is paid for them.
pub async fn check(source: &Source) -> Report {
    let config = source.config();
    let address = source.address().to_owned();
    let mut report = Report { name: config.name.clone(), model: config.model.clone(), address, findings: Vec::new() };
    let began = Instant::now();
    match ask(source, question("Count from one to twelve in words, separated by commas."), None).await {
        Err(error) => {
            let zh = in_chinese(&error);
            report.add(What::Reachable, Found::No, error.message, zh);
            return report;
        }
        Ok(heard) => {
            let seconds = began.elapsed().as_secs_f64();
            report.add(
                What::Reachable,
                Found::Yes,
                format!("answers, in {seconds:.1} s"),
                format!("可以连通，{seconds:.1} 秒内完成回答"),
            );
            streams(&mut report, &heard);
            usage(&mut report, &heard);
        }
    }
    tools(&mut report, source).await;
    vision(&mut report, source).await;
    context(&mut report, source).await;
    report
}

struct Heard {
    text: String,
    calls: Vec<(String, Value)>,
    observed: Observed,
}

fn question(text: &str) -> SourceRequest {
    SourceRequest {
        system: "You are being tested. Do exactly what is asked, without any explanation.".into(),
        messages: vec![Message::User { content: text.into() }],
        output_tokens_max: Some(ANSWER_TOKENS),
        language: "en".into(),
        ..SourceRequest::default()
    }
}

async fn ask(source: &Source, request: SourceRequest, picture: Option<&str>) -> Result<Heard, SourceError> {
    let (mut stream, observed) = source.ask_observed(request, picture).await?;
    let mut heard = Heard { text: String::new(), calls: Vec::new(), observed: Observed::default() };
    while let Some(delta) = stream.next().await {
        match delta? {
            Delta::Text(text) => heard.text.push_str(&text),
            Delta::Call(call) => {
                heard.calls.push((call.name, serde_json::from_str(&call.arguments).unwrap_or_default()));
            }
            _ => {}
        }
    }
    heard.observed = observed.lock().map(|observed| *observed).unwrap_or_default();
    Ok(heard)
}

/// The same error again, in the other language of the household.
fn in_chinese(error: &SourceError) -> String {
    crate::fault::cure(error.kind, true).to_owned()
}

fn streams(report: &mut Report, heard: &Heard) {
    if heard.observed.in_one_piece {
        let en = "does not stream: answers come in one piece, and an interrupt saves nothing";
        report.add(What::Streams, Found::No, en, "不支持流式输出：回答一次性返回，打断不能节省时间");
    } else if heard.observed.text_pieces > 1 {
        let pieces = heard.observed.text_pieces;
        report.add(
            What::Streams,
            Found::Yes,
            format!("streams ({pieces} pieces)"),
            format!("支持流式输出（{pieces} 段）"),
        );
    } else {
        let en = "a stream, but the answer came in a single piece: something in between may be holding it back";
        report.add(What::Streams, Found::Unknown, en, "是流式协议，但回答只有一段：中间的代理可能在缓冲");
    }
}

fn usage(report: &mut Report, heard: &Heard) {
    if heard.observed.usage {
        report.add(What::Usage, Found::Yes, "reports tokens", "会报告 token 用量");
    } else {
        let en = "does not report tokens: budgets of tokens and money cannot count this source";
        report.add(What::Usage, Found::No, en, "不报告 token 用量：token 与费用预算无法统计该模型源");
    }
}

async fn tools(report: &mut Report, source: &Source) {
    let parameters = json!({"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]});
    let tool = ToolDef {
        name: "note_number".into(),
        description: "Writes a number down.".into(),
        parameters,
        ..ToolDef::default()
    };
    let request =
        SourceRequest { tools: [tool].into(), ..question("Write the number 37 down with the tool note_number.") };
    match ask(source, request, None).await {
        Ok(heard)
            if heard.calls.iter().any(|(name, arguments)| name == "note_number" && is_37(&arguments["number"])) =>
        {
            if heard.observed.made_calls > 0 {
                report.add(What::Tools, Found::Yes, "calls tools", "支持工具调用");
            } else {
                let en = "prints its calls as text; they are understood, but a server with a tool parser is surer";
                report.add(What::Tools, Found::Yes, en, "以文本形式输出调用；可以识别，但建议启用服务端的工具解析");
            }
        }
        Ok(heard) if !heard.calls.is_empty() => {
            let en = "calls tools, with wrong arguments: the model may be too small to run a house";
            report.add(What::Tools, Found::No, en, "会调用工具，但参数错误：模型可能太小，难以管家");
        }
        Ok(_) => {
            let en = "called no tool when told to: choose another model, or switch tools on at the server";
            report.add(What::Tools, Found::No, en, "被要求时没有调用工具：请换模型，或在服务端启用工具");
        }
        Err(error) => {
            let zh = in_chinese(&error);
            report.add(What::Tools, Found::No, format!("refuses a request with tools: {}", error.message), zh);
        }
    }
}

fn is_37(value: &Value) -> bool {
    value.as_f64() == Some(37.0) || value == "37"
}

async fn vision(report: &mut Report, source: &Source) {
    let request = question("Which colour fills this picture? Answer with one English word.");
    let configured = source.config().vision;
    match ask(source, request, Some(RED)).await {
        Ok(heard) if heard.text.to_lowercase().contains("red") => {
            let (en, zh) = if configured {
                ("sees pictures", "支持图片")
            } else {
                ("sees pictures; set `vision = true` to use it", "支持图片；设置 `vision = true` 后可用")
            };
            report.add(What::Vision, Found::Yes, en, zh);
        }
        Ok(_) => report.add(What::Vision, Found::No, "does not see pictures", "不支持图片"),
        Err(error) if matches!(error.kind, SourceErrorKind::BadRequest | SourceErrorKind::Overloaded) => {
            report.add(What::Vision, Found::No, "refuses pictures", "不接受图片");
        }
        Err(error) => {
            let zh = in_chinese(&error);
            report.add(What::Vision, Found::Unknown, error.message, zh);
        }
    }
}

async fn context(report: &mut Report, source: &Source) {
    let configured = source.shared().settled.context_tokens;
    match context_of(source).await {
        Some(tokens) if tokens < configured => {
            let en = format!(
                "reads {tokens} tokens, less than the configured {configured}: set `context_tokens = {tokens}`"
            );
            let zh = format!("上下文为 {tokens} token，小于配置的 {configured}：请设置 `context_tokens = {tokens}`");
            report.add(What::Context, Found::No, en, zh);
        }
        Some(tokens) => {
            let en = format!("reads {tokens} tokens; {configured} of them are used");
            report.add(What::Context, Found::Yes, en, format!("上下文为 {tokens} token；使用其中 {configured}"));
        }
        None => {
            let en = format!("does not say how much it reads; {configured} tokens are assumed (`context_tokens`)");
            let zh = format!("未说明上下文长度；按 {configured} token 处理（`context_tokens`）");
            report.add(What::Context, Found::Unknown, en, zh);
        }
    }
}

/// Every server says it elsewhere.
async fn context_of(source: &Source) -> Option<u64> {
    let shared = source.shared();
    let (settled, http) = (&shared.settled, &shared.http);
    let deadline = Instant::now() + ABOUT_WAIT;
    let (base, model) = (&settled.base, settled.config.model.as_str());
    match settled.kind {
        Kind::Ollama => {
            let about = http.post(&format!("{base}/api/show"), &json!({"model": model}), deadline).await.ok()?;
            let info = about["model_info"].as_object()?;
            info.iter().find(|(key, _)| key.ends_with(".context_length")).and_then(|(_, value)| value.as_u64())
        }
        Kind::Anthropic => {
            let about = http.get(&format!("{base}/v1/models/{model}"), deadline).await.ok()?;
            [&about["max_input_tokens"], &about["context_window"]].into_iter().find_map(Value::as_u64)
        }
        Kind::OpenAi => {
            // llama.cpp says there what it was started with; its list of models says what was trained.
            let root = base.strip_suffix("/v1").unwrap_or(base);
            if settled.near
                && let Ok(about) = http.get(&format!("{root}/props"), deadline).await
                && let Some(tokens) = about["default_generation_settings"]["n_ctx"].as_u64()
            {
                return Some(tokens);
            }
            let list = http.get(&format!("{base}/models"), deadline).await.ok()?;
            let about = list["data"].as_array()?.iter().find(|entry| entry["id"] == model)?;
            let keys =
                ["max_model_len", "loaded_context_length", "context_length", "max_context_length", "context_window"];
            keys.iter().find_map(|key| about[*key].as_u64())
        }
    }
}
