//! The pure half of cutting text into words: light English stems, what carries no meaning of its own.
//!
//! Start at [`stem`]. Invariant: a word with a digit in it is a code or a number and is never changed.

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
    if word.len() < 4 || !word.bytes().all(|b| b.is_ascii_alphabetic()) {
        return Vec::new();
    }
    let mut forms = Vec::new();
    let mut add = |form: String| {
        if form != word && form.len() >= 3 && !forms.contains(&form) {
            forms.push(form);
        }
    };
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
    STOP.contains(&word)
}

const STOP: &[&str] = &[
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
    "out",
    "up",
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
