//! What documents promise.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use kernel::ports::{Clock, Documents, Fact, FailureKind, GraphMemory, RecallQuery};
use sdk::{Doc, Triple};

use super::promote::DOCUMENT_UNTOUCHED_MS;
use crate::search::test_dictionary;
use crate::{Access, Database, DocumentMemory, Graph};

#[derive(Default)]
struct Hands(AtomicI64);

impl Clock for Hands {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    fn written(&self, at_ms: i64) -> String {
        at_ms.to_string()
    }
}

struct World {
    documents: DocumentMemory,
    graph: Graph,
    clock: Arc<Hands>,
    _folder: tempfile::TempDir,
}

fn world() -> World {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path(), Access::Full).unwrap();
    let clock = Arc::new(Hands::default());
    let documents = DocumentMemory::new(database.clone(), test_dictionary(), clock.clone());
    World { documents, graph: Graph::new(database, test_dictionary()), clock, _folder: folder }
}

fn doc(id: &str, title: &str, content: &str) -> Doc {
    Doc { id: id.into(), title: title.into(), content: content.into(), score: None }
}

impl World {
    async fn titles(&self, text: &str) -> Vec<String> {
        self.documents.query(text, 0, false).await.unwrap().into_iter().map(|hit| hit.doc.title).collect()
    }
}

#[tokio::test]
async fn a_consumed_document_is_handed_back_whole_and_comes_back_by_undo() {
    let world = world();
    let content = format!("洗衣机说明书。{}\n\n排水泵在右下角。", "先看这里。".repeat(2_000));
    let id = world.documents.insert(doc("", "洗衣机", &content)).await.unwrap();
    let hits = world.documents.query("洗衣机的排水泵在哪里", 3, true).await.unwrap();
    assert_eq!((hits.len(), &hits[0].doc.content, &hits[0].doc.id), (1, &content, &id));
    assert!(world.titles("洗衣机").await.is_empty(), "it is taken out");
    let undo = hits[0].undo.clone().unwrap();
    assert_eq!(world.documents.restore(&undo).await.unwrap(), 1);
    assert_eq!(world.titles("洗衣机").await, ["洗衣机"]);
    assert_eq!(world.documents.restore(&undo).await.unwrap_err().kind, FailureKind::NotFound);
}

#[tokio::test]
async fn what_answers_best_comes_first_and_what_does_not_answer_stays_out() {
    let world = world();
    world.documents.insert(doc("a", "Holiday plan", "We fly to Rome on the third of May.")).await.unwrap();
    world
        .documents
        .insert(doc("b", "Boiler", "The boiler is serviced by Keith. Its pressure is 1.4 bar."))
        .await
        .unwrap();
    assert_eq!(world.titles("boiler pressure").await, ["Boiler"]);
    assert_eq!(world.titles("when do we fly to Rome?").await, ["Holiday plan"]);
    assert!(world.titles("password of the bank account").await.is_empty());
    let hit = &world.documents.query("Rome", 0, false).await.unwrap()[0];
    assert!(hit.undo.is_none() && (0.0..=1.0).contains(&hit.doc.score.unwrap()));
}

#[tokio::test]
async fn inserting_under_a_known_id_replaces_and_removing_can_be_undone() {
    let world = world();
    world.documents.insert(doc("plan", "Plan", "We fly to Rome.")).await.unwrap();
    world.documents.insert(doc("plan", "Plan", "We fly to Oslo.")).await.unwrap();
    assert!(world.titles("Rome").await.is_empty());
    assert_eq!(world.titles("Oslo").await, ["Plan"]);
    assert_eq!(world.documents.remove("nothing").await.unwrap(), None);
    let undo = world.documents.remove("plan").await.unwrap().unwrap();
    assert!(world.titles("Oslo").await.is_empty());
    world.documents.restore(&undo).await.unwrap();
    assert_eq!(world.titles("Oslo").await, ["Plan"]);
    let told = world.documents.stats().await.unwrap();
    assert_eq!((told["documents"].as_i64(), told["taken_out"].as_i64()), (Some(1), Some(0)));
}

#[tokio::test]
async fn empty_and_endless_documents_are_refused() {
    let world = world();
    let long = "x".repeat(super::DOCUMENT_KEPT_CHARS_MAX + 1);
    for wrong in [doc("", " ", ""), doc("", "long", &long), doc("", &"t".repeat(500), "x")] {
        assert_eq!(world.documents.insert(wrong).await.unwrap_err().kind, FailureKind::Invalid);
    }
}

#[tokio::test]
async fn documents_nobody_touches_give_their_facts_to_the_graph_in_small_steps() {
    let world = world();
    let known = Triple { subject: "Keith".into(), relation: "job".into(), object: "plumber".into() };
    world.graph.commit(&[Fact { triple: known, ..Fact::default() }]).await.unwrap();
    for number in 0..3 {
        let text = format!("The code of shed {number} is {number}{number}7. Keith came on Monday and drank tea.");
        world.documents.insert(doc(&format!("note-{number}"), &format!("Note {number}"), &text)).await.unwrap();
    }
    let promote = async |now_ms| world.documents.promote_some(&world.graph, now_ms, 2).await.unwrap();
    assert_eq!(promote(DOCUMENT_UNTOUCHED_MS - 1).await, 0, "too early");
    // Who is asked for is not old.
    world.clock.0.store(DOCUMENT_UNTOUCHED_MS, Ordering::Relaxed);
    assert_eq!(world.titles("code of shed 2").await, ["Note 2"]);
    assert_eq!(promote(DOCUMENT_UNTOUCHED_MS + 1).await, 2);
    assert_eq!(promote(DOCUMENT_UNTOUCHED_MS + 1).await, 0, "each once");
    let ask = async |words: &str| {
        let query = RecallQuery { words: vec![words.into()], ..RecallQuery::default() };
        world.graph.recall(query).await.unwrap().facts
    };
    let code = ask("what is the code of shed 1").await;
    assert_eq!(code[0].relation.target_name, "117");
    assert_eq!(code[0].relation.told_by, "document:note-1");
    assert!(ask("when did Keith drink tea").await[0].text.contains("drank tea"));
    assert_eq!(world.titles("code of shed 1").await, ["Note 1"], "the document itself stays");
}
