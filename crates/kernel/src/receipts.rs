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
    let claim = text.split_inclusive(ENDS).map(claim_in).max_by_key(|claim| match claim {
        Claim::None => 0,
        Claim::State => 1,
        Claim::Deed => 2,
    });
    let sentences = || text.split_inclusive(ENDS).filter(|sentence| claim_in(sentence) == Claim::Deed);
    let unsupported =
        sentences().filter_map(guarded_deed).any(|deed| !done.iter().any(|done| done.success && supports(done, deed)));
    let none_done = !done.iter().any(|done| done.success);
    let some_failed = done.iter().any(|done| !done.success || done.unknown);
    let wrong = match claim.unwrap_or(Claim::None) {
        Claim::None => false,
        Claim::State => !called,
        Claim::Deed => none_done || unsupported || (some_failed && !admits(text)),
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

/// What ends a sentence.
const ENDS: [char; 7] = ['.', '!', '\n', '。', '！', '；', ';'];

/// Deeds that no other deed makes true: the lamp is on, and yet the door was not locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GuardedDeed {
    Lock,
    Open,
    Arm,
    Disarm,
}

/// The deed of a sentence that says that something was done.
fn guarded_deed(sentence: &str) -> Option<GuardedDeed> {
    let small = sentence.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| small.contains(word));
    let word = |wanted: &str| small.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == wanted);
    let way_in = ["door", "gate", "garage"].iter().any(|wanted| word(wanted)) || has(&["门", "車庫", "车库"]);
    if word("unlocked") || has(&["解锁", "解鎖", "开锁", "開鎖"]) {
        return Some(GuardedDeed::Open);
    }
    if way_in && (word("opened") || has(&["打开", "打開", "开了", "開了", "开启", "開啟"])) {
        return Some(GuardedDeed::Open);
    }
    if word("disarmed") || has(&["撤防"]) {
        return Some(GuardedDeed::Disarm);
    }
    if word("armed") || has(&["布防", "设防", "設防"]) {
        return Some(GuardedDeed::Arm);
    }
    (word("locked") || has(&["锁", "鎖"])).then_some(GuardedDeed::Lock)
}

/// Tools of the program itself that move nothing in the house, by how their names begin.
const ELSEWHERE: &[&str] =
    &["memory_", "text_", "doc_", "knowledge_", "timer_", "schedule_", "settings_", "llm_", "web_", "read_"];
/// Services that neither lock nor open, by their domain.
const COMFORT: &[&str] = &[
    "light",
    "climate",
    "fan",
    "humidifier",
    "media_player",
    "vacuum",
    "todo",
    "calendar",
    "timer",
    "counter",
    "notify",
    "tts",
    "persistent_notification",
];

/// Whether what was done can be that deed. A macro, a plugin's tool or a relay may be anything.
fn supports(done: &Done, deed: GuardedDeed) -> bool {
    if ELSEWHERE.iter().any(|start| done.tool.starts_with(start)) {
        return false;
    }
    let service = done.what.split(' ').next().unwrap_or_default();
    let Some((domain, service)) = service.split_once('.').filter(|_| done.tool == "call_service") else { return true };
    match domain {
        "lock" => deed == if service == "lock" { GuardedDeed::Lock } else { GuardedDeed::Open },
        "cover" | "valve" => deed == GuardedDeed::Open && !service.starts_with("close") && !service.starts_with("stop"),
        "alarm_control_panel" => {
            deed == if service.contains("disarm") { GuardedDeed::Disarm } else { GuardedDeed::Arm }
        }
        domain => !COMFORT.contains(&domain),
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
    fn another_deed_does_not_make_a_claim_about_a_door_true() {
        let did = |tool: &str, what: &str| {
            vec![Done { tool: tool.into(), success: true, refused: false, unknown: false, what: what.into() }]
        };
        let lamp = did("call_service", "light.turn_on light.kitchen");
        let note = did("memory_commit", "memory_commit");
        let locked = did("call_service", "lock.lock lock.front_door");
        let armed = did("call_service", "alarm_control_panel.alarm_arm_home alarm_control_panel.house");
        let closed = did("call_service", "cover.close_cover cover.garage");
        for (text, deeds) in [
            ("I've unlocked the front door.", &lamp),
            ("I've locked the front door.", &note),
            ("I have disarmed the alarm.", &armed),
            ("Done. I've opened the garage.", &closed),
            ("I've unlocked the back door.", &locked),
            ("好的，我已经把门打开了。", &lamp),
            ("我已经把前门锁好了。", &note),
            ("已为您撤防。", &armed),
            ("我已经解锁前门了。", &locked),
        ] {
            check(text, deeds, true, true);
        }
        let macros = did("run_macro", "scene.good_night 晚安");
        let relay = did("call_service", "switch.turn_on switch.gate");
        for (text, deeds) in [
            ("I've turned on the lamp.", &lamp),
            ("I've opened the curtains.", &closed),
            ("I've locked the front door.", &locked),
            ("I've locked the doors and turned off the lights.", &macros),
            ("I've opened the gate.", &relay),
            ("I have armed the alarm.", &armed),
            ("我已经把前门锁好了。", &locked),
            ("已经布防好了。", &armed),
        ] {
            check(text, deeds, true, false);
        }
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
