//! Answers to questions in words, in both languages. Start at [`facts`]; [`with_names`] is for texts
//! that name things by their ids. Invariant: names and states are cleaned text from the house, and
//! quoted as they are where there is no word for them.

use decide::gate::Language;
use decide::house::{EntityId, House};
use decide::understood::{Ask, Condition, Fact};
use mcp::Desk;

use super::moved;

/// At most so many things are told by name.
const NAMES_MAX: usize = 12;

/// The name that a person knows a thing by; none where its id is all there is.
pub type Names<'a> = &'a dyn Fn(&EntityId) -> Option<String>;

/// The text with each thing's name before its id: `unlocking “Front Door” (lock.front_door)`.
pub fn with_names(text: &str, language: Language, names: Names<'_>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(in_id) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c| !in_id(c)).unwrap_or(from.len());
        let (mut id, mut after) = from.split_at(end);
        // A full stop may be the sentence's.
        while let Some(shorter) = id.strip_suffix('.') {
            (id, after) = from.split_at(shorter.len());
        }
        out.push_str(before);
        let name = EntityId::parse(id).filter(|parsed| parsed.as_str() == id).and_then(|id| names(&id));
        match (name, language) {
            (None, _) => out.push_str(id),
            (Some(name), Language::English) => out.push_str(&format!("“{name}” ({id})")),
            (Some(name), Language::Chinese) => {
                // What sets an id off from Chinese words, a quoted name needs not.
                if out.strip_suffix(' ').is_some_and(|words| !words.ends_with(|c: char| c.is_ascii())) {
                    out.pop();
                }
                out.push_str(&format!("“{name}”（{id}）"));
                after = after.strip_prefix(' ').unwrap_or(after);
            }
        }
        let dots = after.len() - after.trim_start_matches('.').len();
        out.push_str(&after[..dots]);
        rest = &after[dots..];
    }
    out.push_str(rest);
    out
}

fn in_id(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}

/// One sentence, or a line for each thing.
pub fn facts(desk: &Desk, house: &House, ask: &Ask, facts: &[Fact]) -> String {
    let zh = desk.language == Language::Chinese;
    let view = desk.view(house);
    let name = |fact: &Fact| view.name(&fact.entity_id);
    let fitting: Vec<&Fact> = facts.iter().filter(|fact| fact.fits == Some(true)).collect();
    let listed = |facts: &[&Fact]| {
        let names: Vec<String> = facts.iter().take(NAMES_MAX).map(|fact| name(fact)).collect();
        let more = facts.len().saturating_sub(NAMES_MAX);
        let names = names.join(if zh { "、" } else { ", " });
        match (more, zh) {
            (0, _) => names,
            (more, true) => format!("{names}，还有 {more} 个"),
            (more, false) => format!("{names} and {more} more"),
        }
    };
    let said = |fact: &Fact| {
        let state = house.entity(fact.entity_id.as_str()).map(|entity| moved::state(&fact.entity_id, entity));
        let state = state.unwrap_or_else(|| fact.state.clone());
        let state = word(fact.entity_id.domain(), &state, zh);
        match &fact.unit {
            Some(unit) if fact.state.parse::<f64>().is_ok() => format!("{state} {unit}"),
            _ => state,
        }
    };
    match ask {
        Ask::State | Ask::Measure(_) => {
            let one = |fact: &Fact| match (fact.value, &fact.unit) {
                (Some(value), Some(unit)) => format!("{}: {value} {unit}", name(fact)),
                _ => format!("{}: {}", name(fact), said(fact)),
            };
            facts.iter().map(one).collect::<Vec<_>>().join(if zh { "；" } else { "; " })
        }
        Ask::Count(condition) => {
            let condition = state_word(condition, zh);
            match zh {
                true => format!("{} 个{condition}，共 {} 个", fitting.len(), facts.len()),
                false => format!("{} of {} {condition}", fitting.len(), facts.len()),
            }
        }
        Ask::Which(condition) | Ask::Is(condition) => match (facts, fitting.as_slice()) {
            ([fact], _) => format!("{}: {}", name(fact), said(fact)),
            (_, []) => {
                let condition = state_word(condition, zh);
                if zh {
                    format!("{} 个里没有一个{condition}", facts.len())
                } else {
                    format!("none of {} is {condition}", facts.len())
                }
            }
            (_, fitting) => {
                let condition = state_word(condition, zh);
                let all = fitting.len() == facts.len();
                match (all, zh) {
                    (true, true) => format!("{} 个全都{condition}", facts.len()),
                    (true, false) => format!("all {} are {condition}", facts.len()),
                    (false, true) => format!("{condition}：{}（{}/{}）", listed(fitting), fitting.len(), facts.len()),
                    (false, false) => {
                        format!("{condition}: {} ({} of {})", listed(fitting), fitting.len(), facts.len())
                    }
                }
            }
        },
    }
}

fn state_word(condition: &Condition, zh: bool) -> String {
    let (english, chinese) = match condition {
        Condition::On => ("on", "开着"),
        Condition::Off => ("off", "关着"),
        Condition::Open => ("open", "开着"),
        Condition::Closed => ("closed", "关着"),
        Condition::OnOrOpen => ("on or open", "开着"),
        Condition::OffOrClosed => ("off or closed", "关着"),
        Condition::Locked => ("locked", "锁着"),
        Condition::Unlocked => ("unlocked", "没锁"),
        Condition::Playing => ("playing", "在播放"),
        Condition::Unavailable => ("unavailable", "离线"),
        Condition::Detected => ("reporting something", "有感应"),
        Condition::State(state) => return decide::text::clean(state, 60),
    };
    (if zh { chinese } else { english }).to_owned()
}

/// A state in the person's words, what follows it as it is.
pub fn word(domain: &str, state: &str, zh: bool) -> String {
    if !zh {
        return state.to_owned();
    }
    let (first, rest) = state.split_once(' ').map_or((state, ""), |(first, rest)| (first, rest));
    let word = match (domain, first) {
        ("binary_sensor", "on") => "有感应",
        ("binary_sensor", "off") => "无感应",
        (_, "on") => "开",
        (_, "off") => "关",
        (_, "open") => "开着",
        (_, "closed") => "关着",
        (_, "opening") => "正在打开",
        (_, "closing") => "正在关闭",
        (_, "locked") => "已锁",
        (_, "unlocked") => "未锁",
        (_, "locking") => "正在上锁",
        (_, "unlocking") => "正在解锁",
        (_, "jammed") => "卡住",
        (_, "unavailable") => "不可用",
        (_, "unknown") => "未知",
        (_, "playing") => "播放中",
        (_, "paused") => "已暂停",
        (_, "idle") => "空闲",
        (_, "docked") => "在充电座",
        (_, "cleaning") => "清扫中",
        (_, "returning") => "返回中",
        (_, "mowing") => "割草中",
        (_, "cool") => "制冷",
        (_, "heat") => "制热",
        (_, "dry") => "除湿",
        (_, "auto") => "自动",
        (_, "fan_only") => "送风",
        (_, "disarmed") => "未布防",
        (_, "armed_away") => "外出布防",
        (_, "armed_home") => "在家布防",
        (_, "armed_night") => "夜间布防",
        (_, "arming") => "布防中",
        _ => first,
    };
    if rest.is_empty() { word.to_owned() } else { format!("{word} {rest}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, language: Language, expected: &str) {
        let names = |id: &EntityId| (id.as_str() == "lock.front").then(|| "Front Door".to_owned());
        assert_eq!(with_names(text, language, &names), expected);
    }

    #[test]
    fn a_thing_is_told_by_its_name_and_its_id_and_nothing_else_is_touched() {
        use Language::{Chinese, English};
        check("unlocking lock.front opens the house", English, "unlocking “Front Door” (lock.front) opens the house");
        check("解锁 lock.front 会打开房屋", Chinese, "解锁“Front Door”（lock.front）会打开房屋");
        check("lock.unlock lock.front", Chinese, "lock.unlock “Front Door”（lock.front）");
        check("解锁 lock.front，等于", Chinese, "解锁“Front Door”（lock.front），等于");
        check("it works lock.front.", English, "it works “Front Door” (lock.front).");
        for same in ["lock.unlock lock.front_2", "xlock.front", "e.g. Lock.front ...", "", ".", "锁"] {
            check(same, English, same);
        }
    }
}
