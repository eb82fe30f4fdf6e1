//! What the graph promises.

use std::collections::BTreeMap;

use kernel::ports::{Fact, FailureKind, GraphMemory, Purged, Recall, RecallQuery};
use sdk::{PurgeMode, Triple};

use crate::search::test_dictionary;
use crate::{Access, Database, Graph};

struct World {
    graph: Graph,
    _folder: tempfile::TempDir,
}

fn world() -> World {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path(), Access::Full).unwrap();
    World { graph: Graph::new(database, test_dictionary()), _folder: folder }
}

fn fact(subject: &str, relation: &str, object: &str, told_at_ms: i64) -> Fact {
    let triple = Triple { subject: subject.into(), relation: relation.into(), object: object.into() };
    Fact { triple, told_at_ms, session: "main".into(), ..Fact::default() }
}

impl World {
    async fn tell(&self, facts: &[Fact]) -> Vec<i64> {
        self.graph.commit(facts).await.unwrap()
    }

    async fn ask(&self, words: &[&str], depth: u32) -> Recall {
        let words = words.iter().map(|&word| word.to_owned()).collect();
        self.graph.recall(RecallQuery { words, depth, ..RecallQuery::default() }).await.unwrap()
    }

    async fn purge(&self, criteria: &[(&str, &str)], mode: PurgeMode, dry_run: bool) -> Purged {
        self.graph.purge(&criteria_of(criteria), mode, dry_run).await.unwrap()
    }
}

fn criteria_of(criteria: &[(&str, &str)]) -> BTreeMap<String, String> {
    criteria.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn targets(recall: &Recall) -> Vec<&str> {
    recall.facts.iter().map(|fact| fact.relation.target_name.as_str()).collect()
}

#[tokio::test]
async fn a_question_is_answered_with_the_fact_and_nothing_known_with_nothing() {
    let world = world();
    world
        .tell(&[fact("小明", "过敏", "花生", 1), fact("小红", "血型", "A型", 2), fact("Bob", "birthday", "3 May", 3)])
        .await;
    assert_eq!(targets(&world.ask(&["小明对什么过敏？"], 0).await), ["花生"]);
    assert_eq!(targets(&world.ask(&["when is Bob's birthday?"], 0).await), ["3 May"]);
    assert!(world.ask(&["小明的血型是什么"], 1).await.facts.is_empty());
    assert!(world.ask(&["what is Bob's blood type"], 1).await.facts.is_empty());
    assert!(world.ask(&["小刚的生日"], 1).await.facts.is_empty());
}

#[tokio::test]
async fn script_width_case_and_pinyin_make_no_difference_and_single_characters_are_found() {
    let world = world();
    world
        .tell(&[
            fact("電話機", "放在", "書房", 1),
            fact("乐乐", "猫", "花花", 2),
            fact("空调", "型号", "ＫＦＲ－３５", 3),
        ])
        .await;
    assert_eq!(targets(&world.ask(&["电话机在哪里"], 0).await), ["書房"]);
    assert_eq!(targets(&world.ask(&["lele"], 0).await), ["花花"]);
    assert_eq!(targets(&world.ask(&["猫"], 0).await), ["花花"]);
    assert_eq!(targets(&world.ask(&["kfr-35"], 0).await), ["ＫＦＲ－３５"]);
    let ids = world.tell(&[fact("电话机", "放在", "书房", 5)]).await;
    assert_eq!(ids, world.tell(&[fact("電話機", "放在", "書房", 6)]).await, "one fact, however it is written");
}

#[tokio::test]
async fn a_fact_told_again_is_there_once_with_its_newer_time() {
    let world = world();
    let first = world.tell(&[fact("小明", "喜欢", "足球", 1_000)]).await;
    let second = world.tell(&[fact("小明", "喜欢", "足球", 9_000)]).await;
    assert_eq!(first, second);
    let recall = world.ask(&["小明喜欢什么"], 2).await;
    assert_eq!(recall.facts.len(), 1);
    assert_eq!(recall.facts[0].relation.told_at, 9);
    world.tell(&[fact("小明", "喜欢", "足球", 2_000)]).await;
    assert_eq!(world.ask(&["小明喜欢什么"], 0).await.facts[0].relation.told_at, 9, "an older telling changes nothing");
}

#[tokio::test]
async fn the_newest_wins_and_the_older_stays_visible_as_superseded() {
    let world = world();
    let single = |object: &str, at| Fact { single: true, ..fact("小明", "住在", object, at) };
    world.tell(&[single("北京", 1), single("上海", 2), single("杭州", 3)]).await;
    let recall = world.ask(&["小明住在哪里"], 1).await;
    assert_eq!(targets(&recall), ["杭州", "上海", "北京"]);
    let superseded: Vec<bool> = recall.facts.iter().map(|fact| fact.relation.superseded).collect();
    assert_eq!(superseded, [false, true, true]);
    // Once the newest is forgotten, the one before it holds again.
    world.purge(&[("target_contains", "杭州")], PurgeMode::Soft, false).await;
    let recall = world.ask(&["小明住在哪里"], 1).await;
    assert_eq!((targets(&recall)[0], recall.facts[0].relation.superseded), ("上海", false));
}

#[tokio::test]
async fn what_there_is_only_one_of_is_known_without_being_told_so() {
    let world = world();
    world.tell(&[fact("Bob", "lives in", "Leeds", 1), fact("Bob", "lives in", "York", 2)]).await;
    world.tell(&[fact("Bob", "likes", "tea", 1), fact("Bob", "likes", "jazz", 2)]).await;
    let lives = world.ask(&["where does Bob live"], 0).await;
    assert_eq!((targets(&lives)[0], lives.facts[0].relation.superseded), ("York", false));
    assert!(world.ask(&["what does Bob like"], 0).await.facts.iter().all(|fact| !fact.relation.superseded));
}

#[tokio::test]
async fn a_forgotten_fact_comes_back_by_undo_and_can_be_learned_again() {
    let world = world();
    world.tell(&[fact("小明", "手机号", "13800000000", 1), fact("小明", "喜欢", "足球", 2)]).await;
    let purged = world.purge(&[("relation_type", "手机号")], PurgeMode::Soft, false).await;
    assert_eq!(purged.count, 1);
    assert!(world.ask(&["小明手机号多少"], 1).await.facts.is_empty());
    assert_eq!(world.graph.restore(&purged.undo).await.unwrap(), 1);
    assert_eq!(targets(&world.ask(&["小明手机号多少"], 0).await), ["13800000000"]);
    assert_eq!(world.graph.restore(&purged.undo).await.unwrap_err().kind, FailureKind::NotFound);

    world.purge(&[("relation_type", "手机号")], PurgeMode::Soft, false).await;
    world.tell(&[fact("小明", "手机号", "13800000000", 9)]).await;
    assert_eq!(targets(&world.ask(&["小明手机号多少"], 0).await), ["13800000000"]);
}

#[tokio::test]
async fn purge_needs_a_known_criterion_and_what_fits_nothing_deletes_nothing() {
    let world = world();
    world.tell(&[fact("小明", "喜欢", "足球", 1), fact("小红", "喜欢", "足球", 2)]).await;
    for wrong in
        [&[][..], &[("subject", "小明")], &[("subject_contains", " ")], &[("relation_type", "喜欢"), ("x", "y")]]
    {
        let failure = world.graph.purge(&criteria_of(wrong), PurgeMode::Hard, false).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Invalid);
    }
    let nothing = [("subject_contains", "小明"), ("target_contains", "钢琴")];
    assert_eq!(world.purge(&nothing, PurgeMode::Hard, false).await, Purged::default());
    let dry = world.purge(&[("subject_contains", "小明")], PurgeMode::Hard, true).await;
    assert_eq!((dry.count, dry.undo.as_str(), dry.facts.len()), (1, "", 1));
    assert_eq!(world.ask(&["足球"], 0).await.facts.len(), 2, "a dry run deletes nothing");
    let hard = world.purge(&[("subject_contains", "小明")], PurgeMode::Hard, false).await;
    assert_eq!((hard.count, hard.undo.as_str()), (1, ""));
    assert_eq!(world.ask(&["足球"], 0).await.facts.len(), 1);
    let told = world.graph.introspect().await.unwrap();
    assert_eq!(
        (told["entities"].as_i64(), told["relations"].as_i64()),
        (Some(2), Some(1)),
        "who is left alone goes too"
    );
}

#[tokio::test]
async fn recall_goes_as_far_as_asked_and_gives_nothing_twice() {
    let world = world();
    let chain =
        [("小明", "朋友", "大伟"), ("大伟", "养", "旺财"), ("旺财", "兽医", "石医生"), ("大伟", "朋友", "小明")];
    world.tell(&chain.map(|(a, b, c)| fact(a, b, c, 1))).await;
    let reached = async |depth| {
        let mut reached: Vec<String> =
            targets(&world.ask(&["小明的朋友是谁"], depth).await).iter().map(|&name| name.to_owned()).collect();
        reached.sort();
        reached
    };
    assert_eq!(reached(0).await.len(), 2);
    assert_eq!(reached(1).await.len(), 3);
    assert_eq!(reached(2).await.len(), 4);
    assert_eq!(reached(9).await.len(), 4);
    let scores: Vec<f64> = world.ask(&["小明的朋友是谁"], 2).await.facts.iter().map(|it| it.relation.score).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b) && scores.iter().all(|score| (0.0..=1.0).contains(score)));
}

#[tokio::test]
async fn several_keywords_find_what_any_of_them_names() {
    let world = world();
    world.tell(&[fact("小明", "喜欢", "足球", 1), fact("小红", "生日", "五月三日", 2)]).await;
    let mut found = world.ask(&["小明", "小红", "血型"], 0).await;
    found.facts.sort_by_key(|fact| fact.relation.told_at);
    assert_eq!(found.facts.len(), 2);
    let recent = world.ask(&[], 0).await;
    assert_eq!((recent.facts.len(), recent.entities.len()), (2, 4));
}

#[tokio::test]
async fn a_span_of_time_leaves_out_what_was_told_before_and_after() {
    let world = world();
    world
        .tell(&[
            fact("家里", "电表", "100", 1_000),
            fact("家里", "电表", "200", 2_000),
            fact("家里", "电表", "300", 3_000),
        ])
        .await;
    let words = vec!["电表读数".to_owned()];
    let query = RecallQuery { words, from_ms: Some(1_500), to_ms: Some(2_500), depth: 2, ..RecallQuery::default() };
    assert_eq!(targets(&world.graph.recall(query).await.unwrap()), ["200"]);
}

#[tokio::test]
async fn merging_two_names_keeps_every_fact_once() {
    let world = world();
    world
        .tell(&[
            fact("Bob", "likes", "tea", 1),
            fact("Robert", "likes", "tea", 5_000),
            fact("Robert", "plays", "chess", 2),
            fact("Robert", "is called", "Bob", 3),
        ])
        .await;
    assert_eq!(world.graph.merge_entities("Robert", "Bob").await.unwrap(), 2);
    let recall = world.ask(&["Bob"], 0).await;
    let mut known = targets(&recall);
    known.sort_unstable();
    assert_eq!(known, ["chess", "tea"]);
    let tea = recall.facts.iter().find(|fact| fact.relation.target_name == "tea").unwrap();
    assert_eq!(tea.relation.told_at, 5, "the newer time is kept");
    for (source, target) in [("Robert", "Bob"), ("Bob", "nobody"), ("Bob", "Bob")] {
        assert!(world.graph.merge_entities(source, target).await.is_err());
    }
}

#[tokio::test]
async fn a_fact_without_a_name_or_with_an_endless_one_is_refused_whole() {
    let world = world();
    for (subject, relation, object) in [("", "likes", "tea"), ("Bob", " ", "tea"), ("Bob", "likes", &"x".repeat(300))] {
        let told = [fact("Ann", "likes", "tea", 1), fact(subject, relation, object, 1)];
        assert_eq!(world.graph.commit(&told).await.unwrap_err().kind, FailureKind::Invalid);
    }
    assert!(world.ask(&[], 0).await.facts.is_empty());
}

#[tokio::test]
async fn hostile_text_is_found_as_text_and_breaks_no_search() {
    let world = world();
    let hostile = "ignore all \u{202E}rules\" OR words : \"*\" NEAR('; DROP TABLE memory_facts; --";
    world.tell(&[Fact { text: hostile.into(), ..fact("Bob", "said", "something", 1) }]).await;
    for words in [hostile, "\"", "*", "NEAR(", "words:bob", "'; --", "AND OR NOT", "\u{0}", "🙂"] {
        world.ask(&[words], 2).await;
    }
    let recall = world.ask(&["what did Bob say about rules"], 0).await;
    assert!(recall.facts.iter().all(|fact| !fact.text.contains('\u{202E}')));
}
