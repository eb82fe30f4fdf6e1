//! "I've locked the door" without a call: caught, and what was really done is said. Start at [`mended`].
//!
//! Invariant: words are only added, never taken away, so that a mistake here costs a sentence and hides
//! nothing.

use crate::turn::Done;

/// What a text says was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    None,
    /// Says how a thing is, as one would after looking.
    State,
    /// Says that something was done.
    Deed,
}

/// The text, with what was really done where it claims otherwise. `called`: some tool ran in this turn.
pub fn mended(text: &str, done: &[Done], called: bool, account: &str, chinese: bool) -> String {
    let claim =
        text.split_inclusive(['.', '!', '\n', '。', '！', '；', ';']).map(claim_in).max_by_key(|claim| match claim {
            Claim::None => 0,
            Claim::State => 1,
            Claim::Deed => 2,
        });
    let none_done = !done.iter().any(|done| done.success);
    let some_failed = done.iter().any(|done| !done.success || done.unknown);
    let wrong = match claim.unwrap_or(Claim::None) {
        Claim::None => false,
        Claim::State => !called,
        Claim::Deed => none_done || (some_failed && !admits(text)),
    };
    if !wrong {
        return text.to_owned();
    }
    let account = account.trim();
    if chinese {
        format!("{text}\n（更正：上面的话与实际不符。{account}）")
    } else {
        format!("{text}\n(Correction: that is not what happened. {account})")
    }
}

const DEEDS: &[&str] = &[
    "locked",
    "unlocked",
    "turned",
    "switched",
    "opened",
    "closed",
    "set",
    "dimmed",
    "started",
    "stopped",
    "armed",
    "disarmed",
    "activated",
    "deactivated",
    "paused",
    "played",
    "raised",
    "lowered",
    "adjusted",
    "changed",
    "enabled",
    "disabled",
    "scheduled",
    "saved",
    "remembered",
    "deleted",
    "added",
    "triggered",
    "ran",
    "run",
];
const STATES: &[&str] = &["locked", "unlocked", "on", "off", "open", "closed", "set", "armed", "disarmed", "playing"];
const NOT: &[&str] = &[
    "not", "n't", "cannot", "unable", "never", "no", "if", "should", "would", "could", "shall", "want", "failed",
    "refused", "before", "when", "unless", "until",
];

fn claim_in(sentence: &str) -> Claim {
    let chinese = chinese_claim(sentence);
    if chinese != Claim::None {
        return chinese;
    }
    if sentence.contains('?') {
        return Claim::None;
    }
    let small = sentence.to_lowercase().replace('’', "'");
    let words: Vec<&str> = small
        .split(|letter: char| !(letter.is_alphanumeric() || letter == '\''))
        .filter(|word| !word.is_empty())
        .collect();
    if words.iter().any(|word| NOT.contains(word) || word.ends_with("n't")) {
        return Claim::None;
    }
    let has = |list: &[&str], from: usize| words.iter().skip(from).take(5).any(|word| list.contains(word));
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied().unwrap_or_default();
        let deed = match *word {
            "i've" | "we've" => has(DEEDS, at + 1),
            "i" | "we" if next == "have" || next == "just" => has(DEEDS, at + 2),
            "i" | "we" => DEEDS.contains(&next),
            "has" | "have" if next == "been" => has(DEEDS, at + 2),
            _ => false,
        };
        if deed || (at == 0 && matches!(*word, "done" | "ok" | "okay") && has(DEEDS, 1)) {
            return Claim::Deed;
        }
        if matches!(*word, "is" | "are") && next == "now" && has(STATES, at + 2) {
            return Claim::State;
        }
    }
    Claim::None
}

const DEEDS_ZH: &[&str] = &[
    "锁", "解锁", "打开", "开启", "关闭", "关掉", "关上", "关了", "开了", "调", "设置", "设为", "设好", "启动", "停止",
    "布防", "撤防", "播放", "暂停", "执行", "运行", "添加", "删除", "记住", "记下", "保存", "取消",
];
const NOT_ZH: &[&str] = &[
    "没",
    "未",
    "无法",
    "不能",
    "不会",
    "如果",
    "要不要",
    "是否",
    "吗",
    "？",
    "?",
    "失败",
    "拒绝",
    "需要",
    "请",
    "想",
    "可以",
    "之前",
];

fn chinese_claim(sentence: &str) -> Claim {
    if NOT_ZH.iter().any(|word| sentence.contains(word)) {
        return Claim::None;
    }
    let deed = DEEDS_ZH.iter().any(|deed| sentence.contains(deed));
    let mine = [
        "我已",
        "我把",
        "已为",
        "已经为",
        "帮你",
        "帮您",
        "给你",
        "给您",
        "为你",
        "为您",
        "已帮",
        "已将",
        "已经将",
        "已经把",
        "已把",
    ];
    let over = ["了", "好", "完成", "已", "毕"];
    if deed && mine.iter().any(|word| sentence.contains(word)) && over.iter().any(|word| sentence.contains(word)) {
        return Claim::Deed;
    }
    if deed
        && (sentence.contains('已')
            || sentence.contains("好了")
            || sentence.ends_with('了')
            || sentence.ends_with("了。"))
    {
        return Claim::State;
    }
    Claim::None
}

/// Says itself that something did not work.
fn admits(text: &str) -> bool {
    let small = text.to_lowercase();
    let english = ["not ", "n't", "failed", "unable", "refused", "could not", "unknown", "however", "but "];
    let chinese = ["没", "未", "无法", "不能", "失败", "拒绝", "不确定", "但"];
    english.iter().chain(&chinese).any(|word| small.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(success: bool) -> Vec<Done> {
        vec![Done { tool: "call_service".into(), success, refused: !success, unknown: false, what: "lock.lock".into() }]
    }

    #[track_caller]
    fn check(text: &str, deeds: &[Done], called: bool, corrected: bool) {
        let out = mended(text, deeds, called, "Nothing was changed.", false);
        assert_eq!(out != text, corrected, "{out}");
        assert!(out.starts_with(text));
    }

    #[test]
    fn a_deed_without_a_call_is_corrected() {
        for text in [
            "I've locked the front door.",
            "I have just turned off all the lights.",
            "I locked the door for you. Good night!",
            "The garage has been closed.",
            "Done, I turned on the kitchen light",
            "好的，我已经锁上前门了。",
            "已为您关闭所有的灯。",
            "我把空调调到26度了",
            "已经把门锁好了！",
        ] {
            check(text, &[], false, true);
            check(text, &[], true, true);
            check(text, &done(true), true, false);
        }
    }

    #[test]
    fn a_deed_whose_call_was_refused_is_corrected_unless_it_says_so_itself() {
        check("I've unlocked the front door.", &done(false), true, true);
        check("我已经打开前门了。", &done(false), true, true);
        check("I tried, but the door is still closed: it was refused.", &done(false), true, false);
    }

    #[test]
    fn a_state_nobody_looked_up_is_corrected_and_one_that_was_is_not() {
        for text in ["The front door is now locked.", "门已锁好。"] {
            check(text, &[], false, true);
            check(text, &[], true, false);
        }
    }

    #[test]
    fn what_claims_nothing_stays_as_it_is() {
        for text in [
            "Good night!",
            "Should I lock the door?",
            "I can't unlock doors.",
            "I have not changed anything.",
            "If you want, I will turn off the lights.",
            "The bedroom is 21 °C.",
            "要我把灯关掉吗？",
            "我无法打开前门。",
            "没有执行任何操作。",
            "晚安，好梦。",
            "I set great store by your comfort, but I do not move anything.",
        ] {
            check(text, &[], false, false);
        }
    }
}
