//! The reason that a person reads.

use super::{Household, english_household, family};
use crate::gate::Language;
use crate::macros::{Basis, Hit, Match, Moment, NoMatch, THRESHOLD, Why, candidates};

#[track_caller]
fn one(home: &Household, phrase: &str) -> Hit {
    match home.ask(phrase) {
        Match::One(hit) => hit,
        other => panic!("{phrase}: {other:?}"),
    }
}

#[track_caller]
fn check(home: &Household, phrase: &str, basis: Basis, moment: Option<Moment>) {
    let hit = one(home, phrase);
    assert_eq!((hit.basis, hit.moment), (basis, moment), "{phrase}");
    assert!((THRESHOLD..=1.0).contains(&hit.confidence));
    for language in [Language::English, Language::Chinese] {
        let reason = hit.reason(language);
        assert!(reason.contains(&hit.name) && reason.chars().count() > 8, "{reason}");
    }
}

#[test]
fn a_hit_says_what_it_rests_on() {
    let home = english_household();
    check(&home, "script.away", Basis::Id, None);
    check(&home, "bedtime", Basis::Name, Some(Moment::GoodNight));
    check(&home, "leaving the house", Basis::Alias, Some(Moment::Leaving));
    check(&home, "dinner", Basis::Core, Some(Moment::Dining));
    check(&home, "supper", Basis::Moment, Some(Moment::Dining));
    check(&home, "stop music", Basis::ObjectId, None);
    check(&home, "moive night", Basis::Spelling, Some(Moment::Movie));
    check(&home, "good nigth", Basis::MomentSpelling, Some(Moment::GoodNight));
    check(&family(), "wan an", Basis::Pinyin, Some(Moment::GoodNight));
    check(&Household::new("scene.a | 离家"), "理家", Basis::Sound, Some(Moment::Leaving));
    check(&Household::new("scene.a | Kids bedtime"), "bedtime kids", Basis::WordOrder, None);
}

#[test]
fn the_reason_is_a_sentence_in_either_language() {
    let hit = one(&family(), "睡觉了");
    assert_eq!(
        hit.reason(Language::Chinese),
        "这句话的意思是“晚安”，而脚本“晚安”正是这个家为此准备的。场景 scene.wan_an 与它同名；脚本更完整，优先于场景。"
    );
    assert_eq!(
        hit.reason(Language::English),
        "The phrase means good night, and the script \"晚安\" is this household's own for it. \
         The scene scene.wan_an has the same name; a script goes before it, being the fuller routine."
    );
    let hit = one(&english_household(), "run the bedtime scene");
    assert_eq!(hit.reason(Language::English), "The phrase is the name of the scene \"Bedtime\".");
    assert_eq!(hit.reason(Language::Chinese), "这句话就是场景“Bedtime”的名字。");
}

#[test]
fn a_name_from_the_house_is_cleaned_before_it_is_quoted() {
    let home = Household::new("scene.a | Bed\u{202E}time\u{0007}");
    assert_eq!(one(&home, "bedtime").name, "Bedtime");
}

#[test]
fn what_comes_near_is_offered_and_not_run() {
    let home = Household::new("scene.kids | Kids bedtime\nscene.hall | Home Theater\nscene.zh | 客厅晚安");
    let near = |phrase: &str| match home.ask(phrase) {
        Match::None(NoMatch { why: Why::NothingFits, near }) => {
            assert!(near.iter().all(|hit| hit.basis == Basis::Part && hit.confidence < THRESHOLD));
            near.iter().map(|hit| hit.entity_id.to_string()).collect::<Vec<_>>()
        }
        other => panic!("{phrase}: {other:?}"),
    };
    assert_eq!(near("bedtime"), ["scene.kids", "scene.zh"]);
    assert_eq!(near("晚安"), ["scene.kids", "scene.zh"]);
    assert_eq!(near("theater"), ["scene.hall"]);
    assert!(near("time").is_empty());
    assert!(near("launch the shuttle").is_empty());
    for phrase in ["no bedtime", "when is bedtime"] {
        assert!(matches!(home.ask(phrase), Match::None(none) if none.near.is_empty()), "{phrase}");
    }
}

#[test]
fn only_scenes_and_scripts_that_the_caller_keeps_are_candidates() {
    use crate::house::{Entity, EntityId, House};
    let mut house = House::default();
    for id in ["scene.a", "script.b", "light.c", "automation.d", "script.hidden", "scenes.x"] {
        house.entities.insert(EntityId::parse(id).unwrap(), Entity::default());
    }
    let found = candidates(&house, |id, _| id.object() != "hidden");
    assert_eq!(found.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["scene.a", "script.b"]);
}
