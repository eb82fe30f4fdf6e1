//! Memory with a source of meaning that knows three directions: sleep, food, and the rest. Start at the first test.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use kernel::ports::{BoxFuture, Clock, Documents, Fact, Failure, FailureKind, GraphMemory, RecallQuery};
use sdk::{Doc, Triple};

use super::*;
use crate::search::test_dictionary;
use crate::{Access, DocumentMemory, Graph};

type Meanwhile = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

/// Counts words of sleep and of food.
#[derive(Default)]
struct Toy {
    away: AtomicBool,
    asked: AtomicUsize,
    /// Texts with this in them are refused.
    refused: std::sync::Mutex<Option<&'static str>>,
    /// Done before an answer is given.
    meanwhile: std::sync::Mutex<Option<Meanwhile>>,
    slow: AtomicBool,
}

const SLEEP: [&str; 5] = ["bedtime", "sleep", "slumber", "就寝", "睡"];
const FOOD: [&str; 4] = ["dinner", "supper", "eat", "晚饭"];

impl Embedder for Toy {
    fn model(&self) -> String {
        "toy".into()
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, Failure>> {
        Box::pin(async move {
            if self.away.load(Ordering::SeqCst) {
                return Err(Failure::new(FailureKind::Unavailable, "it is away"));
            }
            let refused = *self.refused.lock().unwrap();
            if texts.iter().any(|text| refused.is_some_and(|refused| text.contains(refused))) {
                return Err(Failure::new(FailureKind::Invalid, "not this text"));
            }
            if self.slow.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            let meanwhile = self.meanwhile.lock().unwrap().take();
            if let Some(meanwhile) = meanwhile {
                meanwhile().await;
            }
            self.asked.fetch_add(texts.len(), Ordering::SeqCst);
            let count = |text: &str, words: &[&str]| words.iter().filter(|word| text.contains(**word)).count() as f32;
            let vector = |text: &String| {
                let text = text.to_lowercase();
                vec![count(&text, &SLEEP), count(&text, &FOOD), f32::from(u8::from(text.contains("mat")))]
            };
            Ok(texts.iter().map(vector).collect())
        })
    }
}

struct Noon;

impl Clock for Noon {
    fn now_ms(&self) -> i64 {
        1_796_040_000_000
    }

    fn written(&self, at_ms: i64) -> String {
        at_ms.to_string()
    }
}

fn fact(subject: &str, relation: &str, object: &str) -> Fact {
    let triple = Triple { subject: subject.into(), relation: relation.into(), object: object.into() };
    Fact {
        triple,
        text: format!("{subject} {relation} {object}"),
        told_at_ms: 1,
        told_by: "main".into(),
        session: "main".into(),
        single: false,
    }
}

struct World {
    database: Database,
    toy: Arc<Toy>,
    meaning: Meaning,
    graph: Graph,
    _folder: tempfile::TempDir,
}

fn world() -> World {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path(), Access::Full).unwrap();
    let toy = Arc::new(Toy::default());
    let meaning = Meaning::new(toy.clone(), 0.6);
    let graph = Graph::new(database.clone(), test_dictionary()).with_meaning(meaning.clone());
    World { database, toy, meaning, graph, _folder: folder }
}

impl World {
    async fn recall(&self, question: &str) -> Vec<(String, f64)> {
        let query = RecallQuery { words: vec![question.into()], ..RecallQuery::default() };
        let recall = self.graph.recall(query).await.unwrap();
        recall.facts.into_iter().map(|fact| (fact.relation.target_name, fact.relation.score)).collect()
    }
}

#[tokio::test]
async fn what_no_word_finds_is_found_by_its_meaning_and_what_is_not_near_is_not() {
    let world = world();
    let facts =
        [fact("kids", "bedtime", "half past eight"), fact("family", "dinner", "at six"), fact("cat", "mat", "red")];
    world.graph.commit(&facts).await.unwrap();
    assert!(world.recall("slumber begins").await.is_empty(), "not embedded yet");
    assert_eq!(world.meaning.catch_up(&world.database).await.unwrap(), 3);
    let found = world.recall("slumber begins").await;
    assert_eq!(found.iter().map(|(what, _)| what.as_str()).collect::<Vec<_>>(), ["half past eight"]);
    assert!(found.iter().all(|(_, score)| (0.0..=1.0).contains(score)), "{found:?}");
    // By words and by meaning it is there once.
    assert_eq!(world.recall("bedtime of kids").await.len(), 1);
    assert!(world.recall("slumber of Nell").await.is_empty(), "whom nobody knows");
    assert!(world.recall("quarterly tax").await.is_empty());
    // Each text once, and none again.
    let asked = world.toy.asked.load(Ordering::SeqCst);
    assert_eq!(world.meaning.catch_up(&world.database).await.unwrap(), 0);
    assert_eq!(world.toy.asked.load(Ordering::SeqCst), asked);
}

#[tokio::test]
async fn a_source_that_is_away_leaves_the_search_by_words() {
    let world = world();
    world.graph.commit(&[fact("kids", "bedtime", "half past eight")]).await.unwrap();
    world.toy.away.store(true, Ordering::SeqCst);
    assert!(world.meaning.catch_up(&world.database).await.is_err());
    assert_eq!(world.recall("kids bedtime").await.len(), 1);
    world.toy.away.store(false, Ordering::SeqCst);
    assert_eq!(world.meaning.catch_up(&world.database).await.unwrap(), 1, "gone on with");
}

#[tokio::test]
async fn what_is_forgotten_is_not_found_by_its_meaning_either() {
    let world = world();
    world.graph.commit(&[fact("kids", "bedtime", "half past eight")]).await.unwrap();
    world.meaning.catch_up(&world.database).await.unwrap();
    let criteria = [("subject_contains".to_owned(), "kids".to_owned())].into();
    world.graph.purge(&criteria, sdk::PurgeMode::Soft, false).await.unwrap();
    assert!(world.recall("slumber begins").await.is_empty());
}

#[tokio::test]
async fn documents_are_found_by_their_meaning() {
    let world = world();
    let documents = DocumentMemory::new(world.database.clone(), test_dictionary(), Arc::new(Noon));
    let documents = documents.with_meaning(world.meaning.clone());
    let doc = Doc { title: "Evenings".into(), content: "Supper is soup.".into(), ..Doc::default() };
    documents.insert(doc).await.unwrap();
    world.meaning.catch_up(&world.database).await.unwrap();
    let hits = documents.query("when do we eat", 5, false).await.unwrap();
    assert_eq!(hits.len(), 1);
}

#[tokio::test]
async fn a_text_that_the_source_does_not_take_keeps_no_other_from_being_found() {
    let world = world();
    let facts =
        [fact("kids", "bedtime", "half past eight"), fact("poison", "is", "here"), fact("family", "dinner", "at six")];
    world.graph.commit(&facts).await.unwrap();
    *world.toy.refused.lock().unwrap() = Some("poison");
    assert!(world.meaning.catch_up(&world.database).await.is_err(), "one is left");
    assert_eq!(world.recall("slumber begins").await.len(), 1);
    assert_eq!(world.recall("when we eat").await.len(), 1);
    *world.toy.refused.lock().unwrap() = None;
    assert_eq!(world.meaning.catch_up(&world.database).await.unwrap(), 1);
}

#[tokio::test]
async fn a_question_that_is_not_embedded_in_time_is_searched_by_words() {
    let world = world();
    world.graph.commit(&[fact("kids", "bedtime", "half past eight")]).await.unwrap();
    world.toy.slow.store(true, Ordering::SeqCst);
    let recall = tokio::time::timeout(RECALL_MAX, world.recall("kids bedtime")).await;
    assert_eq!(recall.expect("before a turn goes on without memory").len(), 1);
}

#[tokio::test]
async fn a_text_that_was_replaced_while_it_was_embedded_does_not_give_its_meaning_to_the_next() {
    let world = world();
    world.graph.commit(&[fact("kids", "bedtime", "half past eight")]).await.unwrap();
    let database = world.database.clone();
    let replace = move || -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let text = "kids like red mats";
            let other = move |connection: &Connection| {
                Ok(connection.execute("UPDATE memory_facts SET text = ?1", [text]).map(drop)?)
            };
            database.write(other).await.unwrap();
        })
    };
    *world.toy.meanwhile.lock().unwrap() = Some(Box::new(replace));
    world.meaning.catch_up(&world.database).await.unwrap();
    assert!(world.recall("slumber begins").await.is_empty());
}
