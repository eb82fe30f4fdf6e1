//! The household's facts, told to a memory as its people would.

use std::collections::{BTreeMap, HashMap, HashSet};

use kernel::ports::{Fact, GraphMemory, RecallQuery};
use sdk::{PurgeMode, Triple};
use serde::Deserialize;
use store::search::Dictionary;
use store::{Access, Database, Graph};

use crate::asked::{Question, data};

#[derive(Clone, Debug, Deserialize)]
pub struct Told {
    pub id: String,
    pub text: String,
    pub subject: String,
    pub relation: String,
    pub object: String,
    pub at: i64,
    pub source: String,
    pub replaces: Option<String>,
    #[serde(default)]
    pub forgotten: bool,
}

pub struct Household {
    facts: Vec<Told>,
    /// The names of the data by the memory's ids.
    pub names: HashMap<i64, String>,
    pub graph: Graph,
    _folder: tempfile::TempDir,
}

/// Everything told in its order, and what is to be forgotten forgotten.
pub async fn told() -> Household {
    let facts: Vec<Told> = data("facts.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path(), Access::Full).unwrap();
    let graph = Graph::new(database, Dictionary::default());
    let mut names = HashMap::new();
    for some in facts.chunks(500) {
        let committed: Vec<Fact> = some.iter().map(fact).collect();
        let ids = graph.commit(&committed).await.unwrap();
        names.extend(ids.into_iter().zip(some).map(|(id, told)| (id, told.id.clone())));
    }
    for told in facts.iter().filter(|told| told.forgotten) {
        let criteria = BTreeMap::from([
            ("subject_contains".to_owned(), told.subject.clone()),
            ("relation_type".to_owned(), told.relation.clone()),
            ("target_contains".to_owned(), told.object.clone()),
        ]);
        let purged = graph.purge(&criteria, PurgeMode::Soft, false).await.unwrap();
        assert_eq!(purged.count, 1, "{}", told.id);
    }
    Household { facts, names, graph, _folder: folder }
}

fn fact(told: &Told) -> Fact {
    Fact {
        triple: Triple { subject: told.subject.clone(), relation: told.relation.clone(), object: told.object.clone() },
        text: told.text.clone(),
        told_at_ms: told.at * 1000,
        told_by: told.source.clone(),
        session: "main".into(),
        single: told.replaces.is_some(),
    }
}

impl Household {
    pub async fn recall(&self, question: &Question) -> Vec<String> {
        let query = RecallQuery {
            words: vec![question.question.clone()],
            depth: 1,
            count_max: 10,
            from_ms: question.at.map(|at| at.from * 1000),
            to_ms: question.at.map(|at| at.to * 1000 - 1),
        };
        let recall = self.graph.recall(query).await.unwrap();
        recall.facts.iter().map(|fact| self.names[&fact.id].clone()).collect()
    }

    /// What the seed's memory would still hold: it keeps replaced facts and marks forgotten ones.
    pub fn alive(&self) -> Vec<Told> {
        self.facts.iter().filter(|told| !told.forgotten).cloned().collect()
    }

    pub fn explain(&self, question: &Question, found: &[String]) -> String {
        let wanted: HashSet<&String> = question.expects.iter().chain(&question.rejects).collect();
        let line = |id: &String| {
            let told = self.facts.iter().find(|told| told.id == *id).unwrap();
            format!("[{id}] {} · {} · {} | {}", told.subject, told.relation, told.object, told.text)
        };
        let wanted = wanted.into_iter().map(|id| format!("\n    want {}", line(id))).collect::<String>();
        let got = found.iter().take(3).map(|id| format!("\n    got  {}", line(id))).collect::<String>();
        format!("{} {}{wanted}{got}", question.id, question.question)
    }
}
