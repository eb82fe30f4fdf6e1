//! What holds for every text.

use proptest::prelude::*;

use super::FAMILY;
use crate::commands::read;
use crate::understood::Understood;

fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "turn",
        "on",
        "off",
        "the",
        "lights",
        "in",
        "kitchen",
        "study",
        "desk lamp",
        "and",
        "set",
        "to",
        "30%",
        "not",
        "don't",
        "打开",
        "关",
        "把",
        "台灯",
        "书房",
        "的",
        "灯",
        "不要",
        "别",
        "调到",
        "百分之",
        "三十",
        "和",
        "，",
        "吗",
        "锁",
        "前门",
        "除了",
        "以外",
        "except",
        "all",
        "所有",
        "一半",
        "红色",
        "unlock",
        "?",
        "。",
        "is",
        "没有",
        "了",
        "26",
        "度",
        "半",
    ]);
    prop::collection::vec(word, 0..14).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_text_makes_it_fail(text in ".{0,60}") {
        let _ = read(&text, &FAMILY, |_| true);
    }

    #[test]
    fn a_sentence_that_denies_moves_nothing(text in words()) {
        let denies = ["not", "don't", "不要", "别"].iter().any(|no| text.contains(no));
        if denies {
            prop_assert!(!matches!(read(&text, &FAMILY, |_| true), Some(Understood::Calls(_))), "{}", text);
        }
    }

    #[test]
    fn every_target_is_in_the_house_and_in_scope(text in words()) {
        let scope = |id: &crate::house::EntityId| id.domain() == "light";
        if let Some(understood) = read(&text, &FAMILY, scope) {
            for id in understood.entities() {
                prop_assert!(FAMILY.entity(id.as_str()).is_some() && id.domain() == "light", "{}: {}", text, id);
            }
        }
    }
}
