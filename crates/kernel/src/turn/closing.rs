//! How a turn ends, and what a person hears when it does not end well. Start at [`Turn::closing`].
//! Invariant: whatever ends a turn, what was done is said, and what is not known is said to be unknown.

use sdk::{Stage, ToolCall, ToolResult};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Turn;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ended", rename_all = "snake_case")]
pub enum Ended {
    Answered,
    /// A handler of this stage gave the response.
    ByStage {
        stage: Stage,
    },
    Stopped,
    OutOfRounds,
    OutOfTime,
    OutOfTokens,
    OutOfMoney,
    SourceFailed {
        message: String,
    },
    /// The program ended again and again at the same step.
    GivenUp,
}

/// A call that changed something, or was meant to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Done {
    pub tool: String,
    pub success: bool,
    /// Held back by the gate, or by a plugin.
    pub refused: bool,
    pub unknown: bool,
    /// In a few words: `lock.lock lock.front_door`.
    pub what: String,
}

impl Turn {
    pub(super) fn note_done(&mut self, call: &ToolCall, result: &ToolResult) {
        if self.read_only.contains(&call.name) {
            return;
        }
        let flag = |name: &str| result.result.get(name).and_then(Value::as_bool) == Some(true);
        let text = result.result.to_string();
        self.done.push(Done {
            tool: call.name.clone(),
            success: result.success,
            refused: flag("refused") || flag("denied"),
            unknown: text.contains("outcome_unknown"),
            what: in_words(call, &result.result),
        });
    }

    /// What the person hears: the reason, then what was done.
    pub(super) fn closing(&self, ended: &Ended) -> String {
        let limits = &self.limits;
        let (english, chinese) = match ended {
            Ended::Answered | Ended::ByStage { .. } => (String::new(), String::new()),
            Ended::Stopped => ("Stopped.".to_owned(), "已停止。".to_owned()),
            Ended::OutOfRounds => (
                format!("I stopped after {} rounds of tool calls without coming to an end.", limits.tool_rounds_max),
                format!("调用工具 {} 轮后仍未完成，我停下来了。", limits.tool_rounds_max),
            ),
            Ended::OutOfTime => (
                format!("I stopped because this took longer than {} seconds.", limits.turn_secs_max),
                format!("用时超过 {} 秒，我停下来了。", limits.turn_secs_max),
            ),
            Ended::OutOfTokens => (
                "I stopped because the limit of tokens is reached (budgets in menshen.toml).".to_owned(),
                "已达到 token 用量上限（menshen.toml 中的 budgets），我停下来了。".to_owned(),
            ),
            Ended::OutOfMoney => (
                "I stopped because the limit of cost is reached (budgets in menshen.toml).".to_owned(),
                "已达到费用上限（menshen.toml 中的 budgets），我停下来了。".to_owned(),
            ),
            Ended::GivenUp => (
                "I gave this up: the program ended again and again while it was working on it. The log of `menshen serve` says why.".to_owned(),
                "我放弃了这件事：处理它的时候程序反复意外退出，原因见 `menshen serve` 的日志。".to_owned(),
            ),
            Ended::SourceFailed { message } => {
                (format!("The language model could not answer: {message}"), format!("语言模型无法回答：{message}"))
            }
        };
        let first = if self.chinese() { chinese } else { english };
        format!("{first}{}", self.account())
    }

    /// What was done so far, in one or two sentences.
    pub fn account(&self) -> String {
        let list = |keep: &dyn Fn(&Done) -> bool| -> Vec<&str> {
            self.done.iter().filter(|done| keep(done)).map(|done| done.what.as_str()).collect()
        };
        let done = list(&|done| done.success && !done.unknown);
        let unknown = list(&|done| done.unknown);
        let not = list(&|done| !done.success && !done.unknown);
        let mut text = String::new();
        let mut say = |english: &str, chinese: &str, items: &[&str]| {
            if !items.is_empty() && self.chinese() {
                text.push_str(&format!("{chinese}{}。", items.join("、")));
            } else if !items.is_empty() {
                text.push_str(&format!(" {english} {}.", items.join(", ")));
            }
        };
        say("Done so far:", "已完成：", &done);
        say("Not known whether done:", "不确定是否完成：", &unknown);
        say("Not done:", "未完成：", &not);
        if text.is_empty() {
            text = if self.chinese() {
                "没有改动任何东西。".to_owned()
            } else {
                " Nothing was changed.".to_owned()
            };
        }
        text
    }
}

/// Things told by name for one call.
const NAMES_MAX: usize = 5;

/// By the names of things where the result has them: `台灯 → on`; else by what was called.
fn in_words(call: &ToolCall, result: &Value) -> String {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let things = result.get("outcomes").and_then(Value::as_array);
    let moved = |thing: &Value| {
        let state = thing.get("state").or_else(|| thing.get("outcome")).and_then(Value::as_str)?;
        Some(format!("{} → {state}", thing.get("name").and_then(Value::as_str)?))
    };
    let mut named: Vec<String> = things.into_iter().flatten().take(NAMES_MAX).filter_map(moved).collect();
    let left = things.map_or(0, Vec::len).saturating_sub(NAMES_MAX);
    if left > 0 {
        named.push(format!("+{left}"));
    }
    if !named.is_empty() {
        return named.join(", ");
    }
    let argument = |name: &str| call.arguments.get(name).and_then(text);
    let ran = result.get("ran").and_then(text);
    let named = ["entity_id", "name", "macro", "phrase", "key", "id", "title"].iter().find_map(|name| argument(name));
    let what = match (ran, argument("domain"), argument("service")) {
        (Some(ran), ..) => ran,
        (None, Some(domain), Some(service)) => format!("{domain}.{service}"),
        _ => call.name.clone(),
    };
    match named {
        Some(name) => format!("{what} {name}"),
        None => what,
    }
}
