//! What holds for every phrase, whatever it says.

use proptest::prelude::*;

use super::{chinese_household, english_household, family};
use crate::house::EntityId;
use crate::macros::{Basis, Candidate, Match, Prepared, match_phrase};
use crate::text::fold;
use std::sync::{Arc, LazyLock};

static HOMES: LazyLock<[Prepared; 3]> = LazyLock::new(|| {
    [family(), english_household(), chinese_household()].map(|home| Prepared::new(&home.candidates()))
});

const DENIALS: &[&str] = &[
    "不要",
    "别",
    "请不要",
    "取消",
    "停止",
    "先别",
    "不用",
    "do not ",
    "don't ",
    "please don't ",
    "never ",
    "cancel ",
    "stop ",
    "not ",
];
const CARRIERS: &[&str] =
    &["", "打开", "执行", "帮我", "请", "run ", "start ", "say ", "please ", "activate the ", "麻烦", "给我来个"];
const NAMES: &[&str] = &[
    "晚安",
    "离家",
    "睡觉了",
    "我回来了",
    "看电影",
    "good night",
    "bedtime",
    "movie time",
    "I'm home",
    "bye",
    "party",
    "吃饭",
    "回家模式",
    "wan an",
    "出差",
];

fn carrier() -> impl Strategy<Value = &'static str> {
    prop::sample::select(CARRIERS)
}

fn word() -> impl Strategy<Value = String> {
    let words =
        [CARRIERS, NAMES, DENIALS, &["吗", "了", "模式", "场景", " time", " mode", "?", "，", " now", "是什么"]]
            .concat();
    prop::collection::vec(prop::sample::select(words), 0..8).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn a_denied_phrase_never_matches(
        denial in prop::sample::select(DENIALS), a in carrier(), b in carrier(), name in prop::sample::select(NAMES), after in prop::sample::select(&["", "吧", " please", "模式", " now", "，谢谢"]),
    ) {
        for phrase in [format!("{denial}{a}{b}{name}{after}"), format!("{a}{denial}{b}{name}{after}"), format!("{a} {b} {denial}{name}{after}")] {
            for home in &*HOMES {
                prop_assert!(matches!(home.match_phrase(&phrase), Match::None(_)), "{phrase}");
            }
        }
    }

    #[test]
    fn a_phrase_equal_to_a_name_finds_that_name_first(name in "\\PC{1,30}", other in "\\PC{0,30}", noise in prop::sample::select(&["", "!", " ", "。", "🌙", "\u{200B}"])) {
        prop_assume!(!fold(&name).is_empty() && fold(&name).joined() != fold(&other).joined());
        prop_assume!(EntityId::parse(&name).is_none());
        let (a, b) = (EntityId::parse("scene.a").unwrap(), EntityId::parse("script.b").unwrap());
        let names: [Vec<Arc<str>>; 2] = [vec![name.as_str().into()], vec![other.as_str().into()]];
        let candidates = [Candidate { id: &a, names: &names[0] }, Candidate { id: &b, names: &names[1] }];
        for phrase in [name.to_lowercase(), format!("{noise}{name}{noise}")] {
            prop_assume!(fold(&phrase).joined() == fold(&name).joined());
            match match_phrase(&phrase, &candidates) {
                Match::One(hit) => prop_assert!(hit.entity_id == a && hit.basis == Basis::Name),
                other => prop_assert!(false, "{other:?}"),
            }
        }
    }

    #[test]
    fn the_order_of_candidates_does_not_matter(phrase in word(), seed in any::<prop::sample::Index>(), reverse: bool) {
        for (home, prepared) in [family(), english_household(), chinese_household()].iter().zip(&*HOMES) {
            let expected = prepared.match_phrase(&phrase);
            let mut candidates = home.candidates();
            let turn = seed.index(candidates.len());
            candidates.rotate_left(turn);
            if reverse {
                candidates.reverse();
            }
            prop_assert_eq!(match_phrase(&phrase, &candidates), expected);
        }
    }

    #[test]
    fn no_text_panics(phrase in any::<String>(), name in any::<String>(), words in word()) {
        let id = EntityId::parse("scene.a").unwrap();
        let names = [Arc::from(name)];
        let prepared = Prepared::new(&[Candidate { id: &id, names: &names }]);
        prepared.match_phrase(&phrase);
        prepared.match_phrase(&words);
        HOMES[0].match_phrase(&phrase);
    }

    #[test]
    fn what_runs_is_at_or_above_the_threshold_and_a_candidate(phrase in word()) {
        for home in &*HOMES {
            match home.match_phrase(&phrase) {
                Match::One(hit) => prop_assert!(hit.confidence >= crate::macros::THRESHOLD && hit.confidence <= 1.0),
                Match::Ambiguous(hits) => prop_assert!(hits.len() >= 2),
                Match::None(none) => prop_assert!(none.near.iter().all(|hit| hit.confidence < crate::macros::THRESHOLD)),
            }
        }
    }
}

#[test]
fn long_and_repetitive_phrases_are_answered_like_any_other() {
    for part in ["please ", "的", "请", "now ", "good night ", "wan an ", "乐", "a", "不", "可以吗", "the a my our "]
    {
        for count in [10, 40, 100, 2000] {
            HOMES[0].match_phrase(&part.repeat(count));
        }
    }
}
