//! The source that needs no key and no account: the household's macros, plain commands, Home Assistant's
//! own recogniser. Start at [`BuiltIn`].
//!
//! Invariants: it moves nothing itself, it asks for tool calls like any model; what it says was done is
//! what the tools' results say.

use std::collections::VecDeque;
use std::sync::Arc;

use decide::gate::Language;
use decide::text::clean;
use futures_util::stream;
use kernel::message::{CallRequest, Message};
use kernel::notes::note;
use kernel::ports::{Abilities, BoxFuture, Delta, DeltaStream, EndReason, LlmSource, SourceError, SourceRequest};
use mcp::Desk;
use serde_json::{Value, json};

use crate::understand::told::word;
use crate::understand::{Named, Plan, plan};

/// Under this name it is listed and chosen.
pub const NAME: &str = "built-in";
/// Things told by name in one answer.
const NAMES_MAX: usize = 12;

/// Why no language model answers in its place, where one should.
pub type Failing = Arc<dyn Fn() -> Option<SourceError> + Send + Sync>;

const NOT_UNDERSTOOD: &str = "Not understood; nothing was done";
const NOT_UNDERSTOOD_ZH: &str = "没有听懂，没有执行任何操作";
const WHICH: &str = "Several things fit, so nothing was done";
const WHICH_ZH: &str = "有多个符合，没有执行任何操作";
const FAILED: &str = "Nothing was done";
const FAILED_ZH: &str = "没有执行任何操作";

/// Whether an answer of this source says that nothing came of it: such have no other sign.
pub fn not_done(reply: &str) -> bool {
    [NOT_UNDERSTOOD, NOT_UNDERSTOOD_ZH, WHICH, WHICH_ZH, FAILED, FAILED_ZH].iter().any(|lead| reply.starts_with(lead))
}

pub struct BuiltIn {
    desk: Desk,
    /// None: no language model is set up.
    failing: Option<Failing>,
}

impl BuiltIn {
    /// Where no language model is set up.
    pub fn alone(desk: Desk) -> Self {
        Self { desk, failing: None }
    }

    /// Behind language models that answer as long as they can.
    pub fn behind(desk: Desk, failing: Failing) -> Self {
        Self { desk, failing: Some(failing) }
    }

    /// Why nothing better answers, as a person hears it.
    fn why(&self, zh: bool) -> String {
        match (self.failing.as_ref().map(|failing| failing()), zh) {
            (None, true) => "（还没有配置语言模型：`menshen llm --help`）".to_owned(),
            (None, false) => " (No language model is set up: `menshen llm --help`.)".to_owned(),
            (Some(Some(error)), true) => format!("（语言模型没有回答。{error}）"),
            (Some(Some(error)), false) => format!(" (The language model did not answer. {error})"),
            // It was chosen.
            (Some(None), _) => String::new(),
        }
    }
}

impl LlmSource for BuiltIn {
    fn name(&self) -> String {
        NAME.to_owned()
    }

    fn abilities(&self) -> Abilities {
        Abilities { context_tokens: 1_000_000, tools: true, vision: false, streaming: false }
    }

    fn ask(&self, request: SourceRequest) -> BoxFuture<'static, Result<DeltaStream, SourceError>> {
        let (desk, why) = (self.desk.clone(), self.why(request.language == "zh"));
        Box::pin(async move {
            let zh = request.language == "zh";
            let results: Vec<&Message> =
                request.messages.iter().rev().take_while(|message| matches!(message, Message::Tool { .. })).collect();
            let deltas = if results.is_empty() {
                let text = request.messages.last().map(Message::content).unwrap_or_default().to_owned();
                answer(&desk, &text, zh, &why).await
            } else {
                let said: Vec<String> =
                    results.into_iter().rev().map(|message| in_words(message.content(), zh)).collect();
                spoken(said.join("\n"))
            };
            Ok(Box::pin(stream::iter(deltas.into_iter().map(Ok))) as DeltaStream)
        })
    }
}

fn spoken(text: String) -> VecDeque<Delta> {
    [Delta::Text(text), Delta::End(EndReason::Stop)].into()
}

fn calling(calls: Vec<(&str, Value)>) -> VecDeque<Delta> {
    let request = |(at, (name, arguments)): (usize, (&str, Value))| {
        Delta::Call(CallRequest {
            id: format!("built_in_{at}"),
            name: name.to_owned(),
            arguments: arguments.to_string(),
        })
    };
    calls.into_iter().enumerate().map(request).chain([Delta::End(EndReason::ToolCalls)]).collect()
}

async fn answer(desk: &Desk, text: &str, zh: bool, why: &str) -> VecDeque<Delta> {
    if let Some(note) = note(text) {
        return spoken(note.to_owned());
    }
    if is_undo(text) {
        return calling(vec![("undo", json!({}))]);
    }
    let language = if zh { Language::Chinese } else { Language::English };
    match plan(desk, text, language).await {
        Plan::Macro(_) => calling(vec![("run_macro", json!({ "phrase": text }))]),
        Plan::Calls(calls) => {
            let call = |call: decide::gate::Call| ("call_service", json!(call));
            calling(calls.into_iter().map(call).collect())
        }
        Plan::Told(sentence) => spoken(sentence),
        Plan::Which(named) if zh => spoken(format!("{WHICH_ZH}。请说明是哪一个：{}", names(&named, zh))),
        Plan::Which(named) => spoken(format!("{WHICH}. Which one: {}?", names(&named, zh))),
        Plan::NotUnderstood(near) => spoken(not_understood(&near, zh) + why),
        Plan::Failed(answer) if zh => spoken(format!("{FAILED_ZH}：{}", text_of(&answer, "message"))),
        Plan::Failed(answer) => spoken(format!("{FAILED}: {}", text_of(&answer, "message"))),
    }
}

fn is_undo(text: &str) -> bool {
    let small = text.trim().trim_end_matches(['.', '!', '。', '！']).to_lowercase();
    matches!(
        small.as_str(),
        "undo" | "undo that" | "undo it" | "please undo" | "撤销" | "撤消" | "撤回" | "恢复原样" | "撤銷" | "请撤销"
    )
}

fn not_understood(near: &[Named], zh: bool) -> String {
    let names = names(near, zh);
    match (near.is_empty(), zh) {
        (true, true) => format!("{NOT_UNDERSTOOD_ZH}。"),
        (true, false) => format!("{NOT_UNDERSTOOD}."),
        (false, true) => format!("{NOT_UNDERSTOOD_ZH}。相近的有：{names}。"),
        (false, false) => format!("{NOT_UNDERSTOOD}. Near it: {names}."),
    }
}

fn names(named: &[Named], zh: bool) -> String {
    let shown: Vec<&str> = named.iter().take(NAMES_MAX).map(|one| one.name.as_str()).collect();
    shown.join(if zh { "、" } else { ", " })
}

fn text_of(answer: &Value, key: &str) -> String {
    answer.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// A tool's result as a person hears it.
fn in_words(content: &str, zh: bool) -> String {
    let Ok(result) = serde_json::from_str::<Value>(content) else { return clean(content, 2000) };
    let message =
        ["message", "error", "reason", "skipped"].iter().map(|key| text_of(&result, key)).find(|text| !text.is_empty());
    if let (Some(message), true) = (&message, result["pending"] == true) {
        let id = result.pointer("/approval/id").and_then(Value::as_str).unwrap_or_default();
        let how = if zh { "决定：" } else { "Decide: " };
        return format!("{message} {how}`menshen approvals yes {id}`");
    }
    let outcomes = result.get("outcomes").and_then(Value::as_array).filter(|outcomes| !outcomes.is_empty());
    let refused = result.get("refused") == Some(&json!(true)) || result.get("isError") == Some(&json!(true));
    let name = result.pointer("/match/name").and_then(Value::as_str).map(|name| clean(name, 80));
    let ran = result.get("ran") == Some(&json!(true));
    if let (Some(name), true, false) = (&name, ran, refused) {
        return if zh { format!("{name}：已执行") } else { format!("{name}: done") };
    }
    if let (Some(outcomes), false) = (outcomes, refused) {
        let mut said: Vec<String> =
            outcomes.iter().take(NAMES_MAX).map(|outcome| outcome_in_words(outcome, zh)).collect();
        let left = outcomes.len().saturating_sub(NAMES_MAX);
        if left > 0 {
            said.push(if zh { format!("还有 {left} 个") } else { format!("and {left} more") });
        }
        return said.join(if zh { "；" } else { "; " });
    }
    let done = ran || result.get("ok") == Some(&json!(true));
    match done && !refused {
        true if message.is_none() => (if zh { "好了" } else { "Done" }).to_owned(),
        _ => message.unwrap_or_else(|| (if zh { "没有成功" } else { "That did not work" }).to_owned()),
    }
}

fn outcome_in_words(outcome: &Value, zh: bool) -> String {
    let name = text_of(outcome, "name");
    let domain = text_of(outcome, "entity_id").split('.').next().unwrap_or_default().to_owned();
    let state = outcome.get("state").and_then(Value::as_str).map(|state| word(&domain, state, zh));
    let kind = text_of(outcome, "outcome");
    let said = match (kind.as_str(), state) {
        ("confirmed" | "done", Some(state)) => state,
        ("accepted" | "assumed" | "confirmed" | "done", _) => (if zh { "已发送" } else { "sent" }).to_owned(),
        ("unavailable", _) => (if zh { "离线，没有动作" } else { "unavailable, nothing moved" }).to_owned(),
        ("not_confirmed", _) => {
            (if zh { "没有及时确认，请看一眼" } else { "not confirmed in time, please look" }).to_owned()
        }
        ("outcome_unknown", _) => (if zh {
            "连接中断，不确定是否执行"
        } else {
            "the connection broke, not known whether it happened"
        })
        .to_owned(),
        _ => (if zh { "没有成功" } else { "did not work" }).to_owned(),
    };
    if zh { format!("{name}：{said}") } else { format!("{name}: {said}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_told_as_they_are() {
        for (content, english, chinese) in [
            (
                r#"{"ok":true,"outcomes":[{"entity_id":"light.k","name":"Kitchen","outcome":"confirmed","state":"on"}]}"#,
                "Kitchen: on",
                "Kitchen：开",
            ),
            (
                r#"{"ok":false,"refused":true,"message":"Refused, nothing moved."}"#,
                "Refused, nothing moved.",
                "Refused, nothing moved.",
            ),
            (r#"{"ran":true,"match":{"name":"晚安"}}"#, "晚安: done", "晚安：已执行"),
            (
                r#"{"ok":false,"outcomes":[{"entity_id":"lock.a","name":"A","outcome":"outcome_unknown"}],"message":"x"}"#,
                "A: the connection broke, not known whether it happened",
                "A：连接中断，不确定是否执行",
            ),
            (r#"{"isError":true,"skipped":"the turn ended"}"#, "the turn ended", "the turn ended"),
            (r#"{"ok":true}"#, "Done", "好了"),
        ] {
            assert_eq!(in_words(content, false), english);
            assert_eq!(in_words(content, true), chinese);
        }
    }

    #[test]
    fn undo_is_heard_in_both_languages_and_only_alone() {
        for text in ["undo", "Undo that.", "撤销", "撤销。", " 恢复原样 "] {
            assert!(is_undo(text), "{text}");
        }
        for text in ["do not undo", "undo the belt", "不要撤销", "撤销权"] {
            assert!(!is_undo(text), "{text}");
        }
    }
}
