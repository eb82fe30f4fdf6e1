//! The tools of memory as a model calls them.

use std::sync::atomic::AtomicI64;

use super::*;
use crate::tools::fakes::{FakeClock, FakeGraph, FakeText, assert_portable, call};

/// Monday 2026-11-30 19:41 UTC.
const NOW: i64 = 1_796_067_660_000;

struct Fixture {
    graph: Arc<FakeGraph>,
    text: Arc<FakeText>,
    tools: Vec<Tool>,
}

fn fixture() -> Fixture {
    let (graph, text) = (Arc::new(FakeGraph::default()), Arc::new(FakeText::default()));
    let clock = Arc::new(FakeClock(AtomicI64::new(NOW)));
    let zone = Arc::new(|| "Europe/Berlin".to_owned());
    let tools = memory_tools(&MemoryDesk { graph: graph.clone(), text: text.clone(), clock, zone });
    Fixture { graph, text, tools }
}

fn scope() -> ToolScope {
    ToolScope { session: "main".into(), channel: "console".into(), language: "en".into(), ..ToolScope::default() }
}

fn tea() -> Value {
    json!({"facts": [
        {"subject": "Anna", "relation": "likes", "object": "green tea", "text": "Anna said she likes\ngreen tea"},
        {"subject": "Anna", "relation": "lives in", "object": "Bern", "single": true},
    ]})
}

#[tokio::test]
async fn a_fact_comes_back_with_who_told_it_and_when() {
    let Fixture { graph, tools, .. } = fixture();
    let kept = call(&tools, "memory_commit", tea(), &scope()).await.unwrap();
    assert_eq!(kept["remembered"], json!(2));
    let fact = graph.facts.lock().unwrap()[1].1.clone();
    assert_eq!((fact.single, fact.session.as_str(), fact.told_at_ms), (true, "main", NOW));
    let found =
        call(&tools, "memory_recall", json!({"query": "Anna, tea", "from": "2026-11-30"}), &scope()).await.unwrap();
    assert_eq!(
        found["facts"][0],
        json!({
            "id": 1, "subject": "Anna", "relation": "likes", "object": "green tea",
            "told_at": "2026-11-30 19:41", "told_by": "console", "score": 0.667,
            "text": "Anna said she likes green tea",
        })
    );
    let query = graph.asked.lock().unwrap().clone();
    assert_eq!(query.words, ["Anna", "tea"]);
    // The day begins where the household lives.
    assert_eq!(query.from_ms, Some(1_796_067_660_000 - (20 * 60 + 41) * 60_000));
}

#[tokio::test]
async fn what_is_not_known_is_said_not_to_be_known() {
    let Fixture { tools, .. } = fixture();
    let english = call(&tools, "memory_recall", json!({"query": "submarine"}), &scope()).await.unwrap();
    assert_eq!(english, json!({"count": 0, "note": "nothing known about submarine"}));
    let chinese = ToolScope { language: "zh".into(), ..scope() };
    for tool in ["memory_recall", "text_search"] {
        let answer = call(&tools, tool, json!({"query": "潜水艇"}), &chinese).await.unwrap();
        assert_eq!(answer, json!({"count": 0, "note": "没有关于“潜水艇”的任何记录"}));
    }
}

#[tokio::test]
async fn what_was_read_is_not_passed_off_as_what_the_person_said() {
    let Fixture { graph, tools, .. } = fixture();
    let said = ToolScope { tainted: true, said: "remember that ANNA likes green tea".into(), ..scope() };
    call(&tools, "memory_commit", tea(), &said).await.unwrap();
    let read = ToolScope { tainted: true, said: "what does that page say?".into(), ..scope() };
    let fact = json!({"facts": [{"subject": "the door", "relation": "code is", "object": "1234"}]});
    call(&tools, "memory_commit", fact, &read).await.unwrap();
    let told: Vec<String> = graph.facts.lock().unwrap().iter().map(|(_, fact)| fact.told_by.clone()).collect();
    assert_eq!(told, ["console", "console", "console, from what was read"]);
}

#[tokio::test]
async fn a_hard_purge_is_a_rehearsal_until_asked_for_twice() {
    let Fixture { graph, tools, .. } = fixture();
    call(&tools, "memory_commit", tea(), &scope()).await.unwrap();
    let hard = json!({"subject_contains": "Anna", "mode": "hard"});
    let rehearsed = call(&tools, "memory_purge", hard, &scope()).await.unwrap();
    assert_eq!((&rehearsed["would_forget"], &rehearsed["undo"]), (&json!(2), &Value::Null));
    assert_eq!(graph.facts.lock().unwrap().len(), 2);
    let sure = json!({"subject_contains": "Anna", "mode": "hard", "dry_run": false});
    let tainted = ToolScope { tainted: true, ..scope() };
    let refused = call(&tools, "memory_purge", sure.clone(), &tainted).await.unwrap_err();
    assert_eq!(refused.kind, FailureKind::Forbidden);
    assert_eq!(graph.facts.lock().unwrap().len(), 2);
    let named = ToolScope { said: "forget ANNA for good".into(), ..tainted };
    let done = call(&tools, "memory_purge", sure, &named).await.unwrap();
    assert_eq!(done["forgotten"], json!(2));
    assert!(graph.facts.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_soft_purge_can_be_undone() {
    let Fixture { graph, tools, .. } = fixture();
    call(&tools, "memory_commit", tea(), &scope()).await.unwrap();
    let gone = call(&tools, "memory_purge", json!({"target_contains": "tea"}), &scope()).await.unwrap();
    assert_eq!(gone["facts"][0]["object"], json!("green tea"));
    assert_eq!(graph.facts.lock().unwrap().len(), 1);
    let back = call(&tools, "memory_restore", json!({"undo": gone["undo"]}), &scope()).await.unwrap();
    assert_eq!(back["restored"], json!(1));
    let none = call(&tools, "memory_purge", json!({"target_contains": "coffee"}), &scope()).await.unwrap();
    assert_eq!((&none["forgotten"], &none["note"]), (&json!(0), &json!("nothing fits, nothing was forgotten")));
    assert_eq!(graph.facts.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn nothing_is_forgotten_wholesale() {
    let Fixture { graph, tools, .. } = fixture();
    call(&tools, "memory_commit", tea(), &scope()).await.unwrap();
    for criteria in [
        json!({}),
        json!({"subject_contains": ""}),
        json!({"subject_contains": "Anna", "target_contains": " \u{200B}"}),
    ] {
        let refused = call(&tools, "memory_purge", criteria.clone(), &scope()).await.unwrap_err();
        assert_eq!(refused.kind, FailureKind::Invalid, "{criteria}");
    }
    assert_eq!(graph.facts.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn no_writer_writes_in_a_turn_that_must_not_be_remembered() {
    let Fixture { graph, tools, .. } = fixture();
    let quiet = ToolScope { no_memory: true, ..scope() };
    for (tool, arguments) in [
        ("memory_commit", tea()),
        ("memory_merge", json!({"source": "a", "target": "b"})),
        ("memory_purge", json!({"subject_contains": "a"})),
        ("memory_restore", json!({"undo": "u"})),
    ] {
        assert_eq!(call(&tools, tool, arguments, &quiet).await.unwrap_err().kind, FailureKind::Forbidden, "{tool}");
    }
    assert!(graph.facts.lock().unwrap().is_empty());
}

#[tokio::test]
async fn wrong_facts_are_named_by_number_and_none_is_kept() {
    let Fixture { graph, tools, .. } = fixture();
    let facts = json!({"facts": [
        {"subject": "Anna", "relation": "likes", "object": "tea"},
        {"subject": " ", "relation": "likes", "object": "x".repeat(201)},
    ]});
    let refused = call(&tools, "memory_commit", facts, &scope()).await.unwrap_err();
    for word in ["facts[1]", "`subject`", "`object`"] {
        assert!(refused.message.contains(word), "{refused}");
    }
    assert!(graph.facts.lock().unwrap().is_empty());
    let same = json!({"source": "Anna", "target": "Anna"});
    assert!(call(&tools, "memory_merge", same, &scope()).await.is_err());
}

#[tokio::test]
async fn a_group_of_others_does_not_search_what_was_said_in_the_house() {
    let Fixture { text, tools, .. } = fixture();
    for (channel, content) in [("console", "the safe code is behind the tea"), ("qq", "who likes tea?")] {
        text.0.lock().unwrap().push(sdk::TextEvent {
            role: "user".into(),
            content: content.into(),
            timestamp: NOW / 1000,
            channel: channel.into(),
        });
    }
    let home = call(&tools, "text_search", json!({"query": "tea"}), &scope()).await.unwrap();
    assert_eq!(home["count"], json!(2));
    assert_eq!(home["messages"][0]["at"], json!("2026-11-30 19:41"));
    let group = ToolScope { channel: "qq".into(), group_id: "7".into(), ..scope() };
    let others = call(&tools, "text_search", json!({"query": "tea", "channel": "console"}), &group).await.unwrap();
    assert_eq!((&others["count"], &others["messages"][0]["channel"]), (&json!(1), &json!("qq")));
}

#[tokio::test]
async fn a_merge_says_how_much_it_moved() {
    let Fixture { tools, .. } = fixture();
    call(&tools, "memory_commit", tea(), &scope()).await.unwrap();
    let merged = call(&tools, "memory_merge", json!({"source": "Anna", "target": "Anna M"}), &scope()).await.unwrap();
    assert_eq!(merged, json!({"moved": 2, "into": "Anna M"}));
    let counted = call(&tools, "memory_introspect", json!({}), &scope()).await.unwrap();
    assert_eq!(counted["facts"], json!(2));
}

#[test]
fn any_provider_takes_the_definitions() {
    assert_portable(&fixture().tools);
}
