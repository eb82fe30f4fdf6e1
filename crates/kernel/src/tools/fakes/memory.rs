//! Memories kept in memory. Start at any of them. Invariant: each keeps its port's promises for small
//! numbers, by looking at everything.

use std::collections::BTreeMap;
use std::sync::Mutex;

use sdk::{BoxFuture, Doc, Failure, PurgeMode, Relation, TextEvent};
use serde_json::{Map, Value, json};

use super::ready;
use crate::ports::{
    DocumentHit, Documents, Fact, GraphMemory, KnowledgeBase, KnowledgePart, Purged, Recall, RecallQuery, RecalledFact,
    TextHit, TextMemory, TextQuery,
};

type Numbered = Vec<(i64, Fact)>;

#[derive(Default)]
pub(crate) struct FakeGraph {
    pub(crate) facts: Mutex<Numbered>,
    pub(crate) asked: Mutex<RecallQuery>,
    gone: Mutex<BTreeMap<String, Numbered>>,
}

fn recalled(id: i64, fact: &Fact, score: f64) -> RecalledFact {
    let relation = Relation {
        source_name: fact.triple.subject.clone(),
        target_name: fact.triple.object.clone(),
        relation_type: fact.triple.relation.clone(),
        told_at: fact.told_at_ms / 1000,
        told_by: fact.told_by.clone(),
        superseded: false,
        score,
    };
    RecalledFact { id, relation, text: fact.text.clone() }
}

impl GraphMemory for FakeGraph {
    fn commit<'a>(&'a self, facts: &'a [Fact]) -> BoxFuture<'a, Result<Vec<i64>, Failure>> {
        let mut all = self.facts.lock().unwrap();
        let mut ids = Vec::new();
        for fact in facts {
            let id = i64::try_from(all.len()).unwrap() + 1;
            all.push((id, fact.clone()));
            ids.push(id);
        }
        ready(Ok(ids))
    }

    fn recall(&self, query: RecallQuery) -> BoxFuture<'_, Result<Recall, Failure>> {
        let fits = |fact: &Fact| {
            query
                .words
                .iter()
                .any(|word| [&fact.triple.subject, &fact.triple.object].iter().any(|name| name.contains(word)))
        };
        let all = self.facts.lock().unwrap();
        let facts =
            all.iter().filter(|(_, fact)| fits(fact)).map(|(id, fact)| recalled(*id, fact, 2.0 / 3.0)).collect();
        *self.asked.lock().unwrap() = query;
        ready(Ok(Recall { entities: Vec::new(), facts }))
    }

    fn introspect(&self) -> BoxFuture<'_, Result<Map<String, Value>, Failure>> {
        let count = self.facts.lock().unwrap().len();
        ready(Ok(Map::from_iter([("facts".to_owned(), json!(count))])))
    }

    fn merge_entities<'a>(&'a self, source: &'a str, target: &'a str) -> BoxFuture<'a, Result<u64, Failure>> {
        let mut moved = 0;
        for (_, fact) in self.facts.lock().unwrap().iter_mut().filter(|(_, fact)| fact.triple.subject == source) {
            fact.triple.subject = target.to_owned();
            moved += 1;
        }
        ready(Ok(moved))
    }

    fn purge<'a>(
        &'a self,
        criteria: &'a BTreeMap<String, String>,
        mode: PurgeMode,
        dry_run: bool,
    ) -> BoxFuture<'a, Result<Purged, Failure>> {
        let fits = |(_, fact): &(i64, Fact)| {
            criteria.iter().all(|(name, value)| match name.as_str() {
                "subject_contains" => fact.triple.subject.contains(value),
                "target_contains" => fact.triple.object.contains(value),
                "relation_type" => &fact.triple.relation == value,
                _ => &fact.session == value,
            })
        };
        let mut all = self.facts.lock().unwrap();
        let (going, staying): (Numbered, Numbered) = all.iter().cloned().partition(fits);
        let facts = going.iter().map(|(id, fact)| recalled(*id, fact, 1.0)).collect();
        let mut purged = Purged { count: u64::try_from(going.len()).unwrap(), facts, undo: String::new() };
        if !dry_run {
            *all = staying;
            if mode == PurgeMode::Soft && !going.is_empty() {
                purged.undo = "u1".to_owned();
                self.gone.lock().unwrap().insert("u1".to_owned(), going);
            }
        }
        ready(Ok(purged))
    }

    fn restore<'a>(&'a self, undo: &'a str) -> BoxFuture<'a, Result<u64, Failure>> {
        let Some(back) = self.gone.lock().unwrap().remove(undo) else {
            return ready(Err(Failure::not_found("nothing to bring back by that name")));
        };
        let count = u64::try_from(back.len()).unwrap();
        self.facts.lock().unwrap().extend(back);
        ready(Ok(count))
    }
}

#[derive(Default)]
pub(crate) struct FakeText(pub(crate) Mutex<Vec<TextEvent>>);

impl TextMemory for FakeText {
    fn append(&self, event: TextEvent) -> BoxFuture<'_, Result<(), Failure>> {
        self.0.lock().unwrap().push(event);
        ready(Ok(()))
    }

    fn search(&self, query: TextQuery) -> BoxFuture<'_, Result<Vec<TextHit>, Failure>> {
        let all = self.0.lock().unwrap();
        let fits = |event: &&TextEvent| {
            event.content.contains(&query.text)
                && query.channel.as_ref().is_none_or(|channel| *channel == event.channel)
        };
        ready(Ok(all.iter().filter(fits).map(|event| TextHit { event: event.clone(), score: 1.0 }).collect()))
    }
}

#[derive(Default)]
pub(crate) struct FakeDocuments(Mutex<(Vec<Doc>, Vec<Doc>)>);

impl Documents for FakeDocuments {
    fn insert(&self, doc: Doc) -> BoxFuture<'_, Result<String, Failure>> {
        self.0.lock().unwrap().0.push(Doc { id: "d1".into(), ..doc });
        ready(Ok("d1".to_owned()))
    }

    fn query<'a>(
        &'a self,
        text: &'a str,
        count_max: usize,
        consume: bool,
    ) -> BoxFuture<'a, Result<Vec<DocumentHit>, Failure>> {
        let mut all = self.0.lock().unwrap();
        let found: Vec<Doc> = all.0.iter().filter(|doc| doc.title.contains(text)).take(count_max).cloned().collect();
        if consume {
            all.0.retain(|doc| !found.contains(doc));
            all.1.extend(found.clone());
        }
        let undo = consume.then(|| "u1".to_owned());
        ready(Ok(found.into_iter().map(|doc| DocumentHit { doc, undo: undo.clone() }).collect()))
    }

    fn remove<'a>(&'a self, _id: &'a str) -> BoxFuture<'a, Result<Option<String>, Failure>> {
        ready(Ok(None))
    }

    fn restore<'a>(&'a self, _undo: &'a str) -> BoxFuture<'a, Result<u64, Failure>> {
        let mut all = self.0.lock().unwrap();
        let back = std::mem::take(&mut all.1);
        let count = u64::try_from(back.len()).unwrap();
        all.0.extend(back);
        ready(Ok(count))
    }

    fn stats(&self) -> BoxFuture<'_, Result<Map<String, Value>, Failure>> {
        ready(Ok(Map::new()))
    }
}

#[derive(Default)]
pub(crate) struct FakeKnowledge(Mutex<BTreeMap<String, String>>);

impl KnowledgeBase for FakeKnowledge {
    fn search<'a>(&'a self, query: &'a str, count_max: usize) -> BoxFuture<'a, Result<Vec<KnowledgePart>, Failure>> {
        let all = self.0.lock().unwrap();
        let found = all.iter().filter(|(name, _)| name.contains(query)).take(count_max).map(|(name, content)| {
            let place = content.lines().next().unwrap_or_default().trim_start_matches("# ").to_owned();
            KnowledgePart { name: name.clone(), place, content: content.clone(), score: 1.0 }
        });
        ready(Ok(found.collect()))
    }

    fn add<'a>(&'a self, name: &'a str, content: &'a str) -> BoxFuture<'a, Result<(), Failure>> {
        self.0.lock().unwrap().insert(name.to_owned(), content.to_owned());
        ready(Ok(()))
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<String>, Failure>> {
        ready(Ok(self.0.lock().unwrap().keys().cloned().collect()))
    }

    fn read<'a>(
        &'a self,
        name: &'a str,
        offset: usize,
        chars_max: usize,
    ) -> BoxFuture<'a, Result<(String, bool), Failure>> {
        let all = self.0.lock().unwrap();
        let Some(content) = all.get(name) else { return ready(Err(Failure::not_found("no such file"))) };
        let piece: String = content.chars().skip(offset).take(chars_max).collect();
        ready(Ok((piece, content.chars().count() > offset + chars_max)))
    }
}
