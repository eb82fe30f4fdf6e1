//! The pure half of cutting text into words: light English stems, what carries no meaning of its own.
//!
//! Start at [`stem`]. Invariant: a word with a digit in it is a code or a number and is never changed.

use std::collections::HashSet;
use std::sync::OnceLock;

use crate::text::is_unspaced;

/// The form under which an English word is compared: without possessive and plural. `word` is lower case.
pub fn stem(word: &str) -> &str {
    let word =
        word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word).trim_end_matches(['\'', '’']);
    let letters = word.len() >= 4 && word.bytes().all(|b| b.is_ascii_alphabetic());
    if !letters || word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") {
        return word;
    }
    for ending in ["ches", "shes", "xes", "sses", "zes"] {
        if word.ends_with(ending) {
            return &word[..word.len() - 2];
        }
    }
    word.strip_suffix('s').unwrap_or(word)
}

/// Other forms that the same word may have been told in: `lived`, `living`, `lives` for `live`.
pub fn forms(word: &str) -> Vec<String> {
    if word.len() < 3 || !word.bytes().all(|b| b.is_ascii_alphabetic()) {
        return Vec::new();
    }
    let mut forms = Vec::new();
    let mut add = |form: String| {
        if form != word && form.len() >= 3 && !forms.contains(&form) {
            forms.push(form);
        }
    };
    for family in IRREGULAR.iter().filter(|family| family.contains(&word)) {
        family.iter().for_each(|form| add((*form).to_owned()));
    }
    if let Some(root) = word.strip_suffix("ie") {
        add(format!("{root}y"));
    } else if let Some(root) = word.strip_suffix("ied") {
        add(format!("{root}y"));
    } else if let Some(root) = word.strip_suffix("ing").or_else(|| word.strip_suffix("ed")) {
        let doubled = root.len() > 3 && root.as_bytes()[root.len() - 1] == root.as_bytes()[root.len() - 2];
        add(root.to_owned());
        add(format!("{root}e"));
        if doubled {
            add(root[..root.len() - 1].to_owned());
        }
    } else {
        let root = word.strip_suffix('e').unwrap_or(word);
        add(format!("{root}ed"));
        add(format!("{root}ing"));
    }
    if let Some(root) = word.strip_suffix('y') {
        add(format!("{root}ie"));
        add(format!("{root}ied"));
    }
    forms
}

/// A number, a date, a model: it is meant to the letter.
pub fn is_exact(word: &str) -> bool {
    word.bytes().any(|b| b.is_ascii_digit())
}

/// Words that stand in every sentence.
pub fn says_nothing(word: &str) -> bool {
    static ALL: OnceLock<HashSet<&str>> = OnceLock::new();
    ALL.get_or_init(|| STOP.iter().copied().collect()).contains(word)
}

/// Says little by itself: a verb or a measure of one character, or one of the commonest verbs. It is told in many
/// ways, or not at all.
pub fn is_light(word: &str) -> bool {
    let mut letters = word.chars();
    let one = letters.next().is_some_and(is_unspaced) && letters.next().is_none();
    one || LIGHT.contains(&word)
}

const LIGHT: &[&str] = &[
    "going", "went", "come", "came", "out", "up", "take", "make", "give", "want", "need", "use", "using", "used",
    "getting", "一次",
];

/// Verbs whose forms are no endings.
const IRREGULAR: &[&[&str]] = &[
    &["drink", "drank", "drunk"],
    &["eat", "ate", "eaten"],
    &["buy", "bought"],
    &["bring", "brought"],
    &["teach", "taught"],
    &["think", "thought"],
    &["catch", "caught"],
    &["sleep", "slept"],
    &["keep", "kept"],
    &["leave", "left"],
    &["lose", "lost"],
    &["sell", "sold"],
    &["send", "sent"],
    &["lend", "lent"],
    &["spend", "spent"],
    &["build", "built"],
    &["break", "broke", "broken"],
    &["speak", "spoke", "spoken"],
    &["wake", "woke", "woken"],
    &["drive", "drove", "driven"],
    &["write", "wrote", "written"],
    &["ride", "rode", "ridden"],
    &["rise", "rose", "risen"],
    &["fall", "fell", "fallen"],
    &["grow", "grew", "grown"],
    &["throw", "threw", "thrown"],
    &["fly", "flew", "flown"],
    &["draw", "drew", "drawn"],
    &["wear", "wore", "worn"],
    &["tear", "tore", "torn"],
    &["swim", "swam", "swum"],
    &["sing", "sang", "sung"],
    &["begin", "began", "begun"],
    &["run", "ran"],
    &["win", "won"],
    &["meet", "met"],
    &["feed", "fed"],
    &["read", "read"],
    &["lead", "led"],
    &["hold", "held"],
    &["stand", "stood"],
    &["pay", "paid"],
    &["hide", "hid", "hidden"],
    &["choose", "chose", "chosen"],
    &["steal", "stole", "stolen"],
    &["freeze", "froze", "frozen"],
    &["forget", "forgot", "forgotten"],
    &["give", "gave", "given"],
    &["born", "birth"],
    &["die", "died", "death", "dead"],
    &["child", "children"],
    &["tooth", "teeth"],
    &["foot", "feet"],
    &["wife", "wives"],
    &["shelf", "shelves"],
    &["knife", "knives"],
    &["leaf", "leaves"],
];

const STOP: &[&str] = &[
    "now",
    "yet",
    "these",
    "day",
    "off",
    "more",
    "most",
    "other",
    "another",
    "im",
    "dont",
    "back",
    "around",
    "under",
    "between",
    "after",
    "before",
    "during",
    "per",
    "through",
    "while",
    "both",
    "only",
    "same",
    "own",
    "hello",
    "hey",
    "ok",
    "really",
    "actually",
    "anyway",
    "whole",
    "way",
    "put",
    "keep",
    "kept",
    "called",
    "named",
    "呗",
    "来着",
    "哈",
    "那边",
    "这边",
    "一种",
    "一下子",
    "的话",
    "啥",
    "叫",
    "换",
    "买",
    "拿",
    "弄",
    "点",
    "放",
    "打",
    "用",
    "找",
    "要买",
    "应",
    "跟谁",
    "给谁",
    "一般",
    "还是",
    "里头",
    "那儿",
    "这儿",
    "那里",
    "这里",
    "哪去",
    "去哪",
    "上回",
    "到底",
    "多久",
    "麻烦",
    "帮我",
    // What a question is wrapped in.
    "的",
    "了",
    "吗",
    "呢",
    "啊",
    "吧",
    "呀",
    "嘛",
    "哦",
    "么",
    "是",
    "是不是",
    "有没有",
    "有",
    "在",
    "和",
    "与",
    "跟",
    "及",
    "或",
    "或者",
    "还是",
    "也",
    "都",
    "就",
    "才",
    "又",
    "再",
    "很",
    "太",
    "最",
    "更",
    "这",
    "那",
    "这个",
    "那个",
    "这些",
    "那些",
    "它",
    "他",
    "她",
    "他们",
    "她们",
    "它们",
    "你",
    "我",
    "您",
    "你们",
    "我们",
    "咱们",
    "咱",
    "自己",
    "一下",
    "一个",
    "一些",
    "个",
    "把",
    "被",
    "给",
    "对",
    "从",
    "到",
    "向",
    "于",
    "以",
    "为",
    "由",
    "用",
    "得",
    "地",
    "着",
    "过",
    "会",
    "能",
    "可以",
    "可能",
    "应该",
    "要",
    "需要",
    "请问",
    "请",
    "告诉",
    "知道",
    "还",
    "不",
    "没",
    "没有",
    "什么样",
    "多",
    "少",
    "上",
    "下",
    "里",
    "中",
    "后",
    "前",
    "时",
    "所",
    "说",
    "想",
    "听说",
    "关于",
    "情况",
    "事",
    "事情",
    "东西",
    "家里",
    "家",
    "咱家",
    "我家",
    "我们家",
    "里面",
    "当时",
    "一共",
    "总共",
    "到底",
    "究竟",
    "帮",
    "帮忙",
    "查",
    "查查",
    "看看",
    "一次",
    "一",
    "只",
    "次",
    "些",
    "各",
    "每",
    "该",
    "其",
    "之",
    "而",
    "但",
    "但是",
    "如果",
    "因此",
    "所以",
    "几",
    "号",
    "日",
    "位",
    "做",
    "去",
    "来",
    "年",
    "月",
    "哪",
    "谁",
    "还有",
    "现在",
    "目前",
    "是否",
    "怎么",
    "为什么",
    "大概",
    "平时",
    "通常",
    "一般",
    "平常",
    "a",
    "an",
    "the",
    "of",
    "to",
    "in",
    "on",
    "at",
    "for",
    "from",
    "by",
    "with",
    "and",
    "or",
    "but",
    "is",
    "are",
    "was",
    "were",
    "be",
    "been",
    "being",
    "am",
    "do",
    "doe",
    "does",
    "did",
    "done",
    "has",
    "ha",
    "have",
    "had",
    "having",
    "can",
    "could",
    "will",
    "would",
    "shall",
    "should",
    "may",
    "might",
    "must",
    "i",
    "me",
    "my",
    "mine",
    "we",
    "us",
    "our",
    "you",
    "your",
    "he",
    "him",
    "hi",
    "his",
    "she",
    "her",
    "hers",
    "it",
    "its",
    "they",
    "them",
    "their",
    "this",
    "that",
    "these",
    "those",
    "there",
    "here",
    "not",
    "no",
    "so",
    "as",
    "if",
    "than",
    "then",
    "too",
    "very",
    "just",
    "also",
    "please",
    "tell",
    "know",
    "about",
    "any",
    "some",
    "all",
    "each",
    "which",
    "what",
    "who",
    "whose",
    "whom",
    "when",
    "where",
    "why",
    "how",
    "s",
    "t",
    "re",
    "ve",
    "ll",
    "d",
    "m",
    "into",
    "down",
    "over",
    "again",
    "ever",
    "one",
    "thing",
    "something",
    "anything",
    "let",
    "get",
    "got",
    "go",
    "goe",
    "say",
    "said",
    "house",
    "household",
    "home",
    "family",
    "our",
    "ours",
    "exactly",
    "currently",
    "still",
    "usually",
    "normally",
    "supposed",
    "many",
    "much",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_and_possessives_fall_away_and_codes_stay() {
        for (word, expected) in [
            ("lights", "light"),
            ("boxes", "box"),
            ("glasses", "glass"),
            ("bob's", "bob"),
            ("parents'", "parent"),
            ("bus", "bus"),
            ("glass", "glass"),
            ("is", "is"),
            ("e27s", "e27s"),
            ("switches", "switch"),
            ("allergies", "allergie"),
        ] {
            assert_eq!(stem(word), expected);
        }
    }

    #[test]
    fn other_forms_of_a_verb_are_known() {
        assert!(forms("live").contains(&"lived".to_owned()));
        assert!(forms("moving").contains(&"move".to_owned()));
        assert!(forms("running").contains(&"run".to_owned()));
        assert!(forms("allergie").contains(&"allergy".to_owned()));
        assert!(forms("allergy").contains(&"allergie".to_owned()));
        assert!(forms("e27").is_empty());
    }
}
