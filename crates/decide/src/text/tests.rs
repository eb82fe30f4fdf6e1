//! Texts in and out, in tables.

use proptest::prelude::*;

use super::*;

#[track_caller]
fn equal(a: &str, b: &str) {
    assert_eq!(fold(a).joined(), fold(b).joined(), "{a} and {b}");
    assert!((score_name(a, b) - 1.0).abs() < f64::EPSILON);
}

#[test]
fn what_people_write_differently_and_mean_the_same_is_equal() {
    equal("Kitchen Light", "kitchen  LIGHT");
    equal("Ｋｉｔｃｈｅｎ　ｌｉｇｈｔ", "Kitchen light");
    equal("Café lights", "cafe lights");
    equal("Küche", "KUCHE");
    equal("Straße", "strasse");
    equal("Łóżko", "lozko");
    equal("Mum's room", "mums room");
    equal("Mum’s room", "Mums room");
    equal("bed time", "Bedtime");
    equal("bed-light", "bed_light");
    equal("🌙 晚安", "晚安！");
    equal("晚\u{200B}安", "晚安");
    equal("bed\u{200B}time", "bedtime");
    equal("關閉臥室電視", "关闭卧室电视");
    equal("客廳的燈", "客厅的灯");
    equal("臺燈", "台灯");
    equal("书房２号灯", "书房2号灯");
    equal("リビング", "ﾘﾋﾞﾝｸﾞ");
    equal("İstanbul", "istanbul");
}

#[track_caller]
fn check(query: &str, name: &str, least: f64, most: f64) {
    let score = score_name(query, name);
    assert!((least..=most).contains(&score), "{query} for {name}: {score}");
}

#[test]
fn a_name_fits_better_the_more_of_it_was_said() {
    check("ke ting deng", "客厅灯", 0.95, 0.95);
    check("kètīng dēng", "客厅灯", 0.95, 0.95);
    check("客厅灯", "keting deng", 0.95, 0.95);
    check("lamp one", "Lamp 1", 0.98, 0.98);
    check("二楼灯", "2楼灯", 0.98, 0.98);
    check("light kitchen", "Kitchen light", 0.9, 0.9);
    check("吊灯客厅", "客厅吊灯", 0.9, 0.9);
    check("kitchen", "Kitchen light", 0.6, 0.85);
    check("吊灯", "客厅吊灯", 0.6, 0.85);
    check("light main", "Main kitchen light", 0.55, 0.75);
    check("the kitchen light please", "Kitchen light", 0.5, 0.75);
    check("kitchen lihgt", "Kitchen light", 0.7, 0.7);
    check("kichen light", "Kitchen light", 0.7, 0.7);
    check("克厅灯", "客厅灯", 0.65, 0.65);
}

#[test]
fn what_only_looks_alike_does_not_fit() {
    for (query, name) in [
        ("out", "Outdoor lights"),
        ("bye", "Goodbyes"),
        ("", "Kitchen"),
        ("Kitchen", ""),
        ("!!!", "???"),
        ("k", "Kitchen light"),
        ("lamp 1", "Lamp 2"),
        ("lamp 12", "Lamp 1 2"),
        ("good light", "Good night"),
        ("lock", "Unlock"),
        ("开灯关窗", "关灯开窗"),
        ("lights on door off", "lights off door on"),
        ("wan", "晚安"),
    ] {
        check(query, name, 0.0, 0.0);
    }
}

#[test]
fn names_match_takes_another_writing_but_not_a_part() {
    assert!(names_match("ＫＩＴＣＨＥＮ　ＬＩＧＨＴ", "kitchen light"));
    assert!(names_match("keting", "客厅"));
    assert!(!names_match("kitchen", "kitchen light"));
    assert!(!names_match("kitchen lihgt", "kitchen light"));
}

#[test]
fn a_mark_without_a_letter_is_nothing_and_one_with_a_letter_stays() {
    assert!(fold("\u{3099}\u{FF9E}").is_empty());
    equal("か\u{3099}", "が");
    equal("हिन्दी", "हिन्दी!");
    let text = fold("\u{105B3}\u{FF9E}");
    assert_eq!(fold(text.joined()), text);
}

proptest! {
    #[test]
    fn folding_what_was_folded_changes_nothing(text in "\\PC{0,60}") {
        let once = fold(&text);
        let words: Vec<_> = once.words().collect();
        let twice = fold(&words.join(" "));
        prop_assert_eq!(twice.words().collect::<Vec<_>>(), words);
    }

    #[test]
    fn the_short_ways_lead_where_the_general_way_does(plain in "[\\x00-\\x7f]{0,30}", han in "[\\x00-\\x7f一-龥離電]{0,20}") {
        prop_assert_eq!(fold(&plain), super::fold::in_general(&plain));
        prop_assert_eq!(fold(&han), super::fold::in_general(&han));
    }

    #[test]
    fn any_two_texts_have_a_score_between_nothing_and_one(a in any::<String>(), b in any::<String>()) {
        let score = score_name(&a, &b);
        prop_assert!((0.0..=1.0).contains(&score));
        prop_assert_eq!(score_name(&a, &a) > 0.0, !fold(&a).is_empty());
    }

    #[test]
    fn ranges_of_words_never_panic(text in "[a-z晚安1 ]{0,20}", from in 0usize..30, to in 0usize..30) {
        let folded = fold(&text);
        prop_assert!(folded.part(from, to).len() <= folded.len());
        prop_assert!(folded.slice(from, to).len() <= folded.joined().len());
    }
}
