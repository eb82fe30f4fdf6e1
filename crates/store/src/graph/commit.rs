//! Learning. Start at [`commit`]. Invariant: a fact that is told again only gets its newer time; one that
//! was forgotten is there again.

use std::collections::{BTreeMap, HashMap};

use decide::rank::concepts;
use decide::text::clean;
use kernel::ports::{Fact, Failure};
use rusqlite::{Connection, OptionalExtension, params};

use super::rows::{Row, any, key, searchable};
use crate::StoreError;
use crate::search::{Corpus, Dictionary, Text, spell_name};

/// Limit: a longer name of a thing or a relation is refused; the sentence has room for more.
const FACT_NAME_CHARS_MAX: usize = 200;
/// Limit: more of the sentence a fact was told in is not kept.
const FACT_TEXT_CHARS_MAX: usize = 4_000;
/// Limit: more facts in one commit are refused.
const FACTS_LEARNED_MAX: usize = 1_000;

pub(super) fn check(facts: &[Fact]) -> Result<(), Failure> {
    if facts.len() > FACTS_LEARNED_MAX {
        return Err(Failure::invalid(format!(
            "{} facts at once are too many: commit {FACTS_LEARNED_MAX} at most",
            facts.len()
        )));
    }
    for fact in facts {
        let triple = &fact.triple;
        for (what, name) in [("subject", &triple.subject), ("relation", &triple.relation), ("object", &triple.object)] {
            if key(name).is_empty() {
                return Err(Failure::invalid(format!("a fact needs a {what}: name who or what it is about")));
            }
            if name.chars().count() > FACT_NAME_CHARS_MAX {
                let long = format!(
                    "the {what} is longer than {FACT_NAME_CHARS_MAX} characters: name it shortly, the sentence goes to `text`"
                );
                return Err(Failure::invalid(long));
            }
        }
    }
    Ok(())
}

/// What is learned, with the words it will be searched by: they are cut before anybody waits for the writer.
pub(super) struct Lesson {
    facts: Vec<Fact>,
    words: Vec<Text>,
}

impl Lesson {
    pub(super) fn new(dictionary: &Dictionary, facts: Vec<Fact>) -> Self {
        dictionary.add(facts.iter().flat_map(|fact| [fact.triple.subject.as_str(), fact.triple.object.as_str()]));
        let words = facts.iter().map(|fact| {
            let [subject, relation, object] = names(fact);
            Text::new(dictionary, &searchable(&subject, &relation, &object, &text(fact)))
        });
        Self { words: words.collect(), facts }
    }
}

pub(super) fn commit(connection: &Connection, dictionary: &Dictionary, lesson: Lesson) -> Result<Vec<i64>, StoreError> {
    let things = mention(connection, &lesson.facts)?;
    // Put into the index at the end, all together.
    let mut put: BTreeMap<i64, Text> = BTreeMap::new();
    let mut ids = Vec::with_capacity(lesson.facts.len());
    for (fact, words) in lesson.facts.iter().zip(lesson.words) {
        let (id, learned) = learn(connection, &things, fact)?;
        match learned {
            Learned::Nothing => {}
            Learned::Fact => {
                put.insert(id, words);
            }
            Learned::Words | Learned::Again => {
                let Some(row) = any(connection, id)? else { continue };
                let bare = Row { text: String::new(), ..row.clone() };
                if learned == Learned::Words && put.remove(&id).is_none() {
                    Corpus::Facts.take_out(connection, id, &bare.cut(dictionary))?;
                }
                put.insert(id, row.cut(dictionary));
            }
        }
        ids.push(id);
    }
    Corpus::Facts.put_all(connection, put.iter().map(|(&id, words)| (id, words)))?;
    Ok(ids)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Learned {
    Nothing,
    Fact,
    /// What was known without a sentence got one.
    Words,
    /// What was forgotten is there again.
    Again,
}

fn learn(connection: &Connection, things: &HashMap<String, i64>, fact: &Fact) -> Result<(i64, Learned), StoreError> {
    let [subject, relation, object] = names(fact);
    let thing = |name: &str| things.get(&key(name)).copied().unwrap_or_default();
    let (source, target) = (thing(&subject), thing(&object));
    let relation_key = key(&relation);
    let single = fact.single || concepts().is_single([relation_key.as_str()]);
    let mut select = connection.prepare_cached(
        "SELECT id, forgotten IS NOT NULL, text = '' FROM memory_facts
         WHERE source = ?1 AND relation_key = ?2 AND target = ?3",
    )?;
    let known: Option<(i64, bool, bool)> = select
        .query_row(params![source, relation_key, target], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let text = text(fact);
    match known {
        Some((id, false, bare)) => {
            // What is known in words keeps them; what was bare gets them.
            connection
                .prepare_cached(
                    "UPDATE memory_facts SET told_at_ms = max(told_at_ms, ?1), single = max(single, ?3),
                         text = CASE text WHEN '' THEN ?4 ELSE text END,
                         told_by = CASE WHEN ?1 >= told_at_ms THEN ?2 ELSE told_by END WHERE id = ?5",
                )?
                .execute(params![fact.told_at_ms, fact.told_by, single, text, id])?;
            Ok((id, if bare && !text.is_empty() { Learned::Words } else { Learned::Nothing }))
        }
        Some((id, true, _)) => {
            connection
                .prepare_cached(
                    "UPDATE memory_facts SET told_at_ms = ?1, told_by = ?2, session = ?3, single = ?4,
                         text = CASE ?5 WHEN '' THEN text ELSE ?5 END, relation = ?7, forgotten = NULL WHERE id = ?6",
                )?
                .execute(params![fact.told_at_ms, fact.told_by, fact.session, single, text, id, relation])?;
            Ok((id, Learned::Again))
        }
        None => {
            let mut insert = connection.prepare_cached(
                "INSERT INTO memory_facts (told_at_ms, told_by, session, single, text, source, relation, relation_key, target)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?;
            let id = insert.insert(params![
                fact.told_at_ms,
                fact.told_by,
                fact.session,
                single,
                text,
                source,
                relation,
                relation_key,
                target
            ])?;
            Ok((id, Learned::Fact))
        }
    }
}

/// Subject, relation and object as they are kept.
fn names(fact: &Fact) -> [String; 3] {
    let triple = &fact.triple;
    [&triple.subject, &triple.relation, &triple.object].map(|name| clean(name, FACT_NAME_CHARS_MAX))
}

fn text(fact: &Fact) -> String {
    clean(&fact.text, FACT_TEXT_CHARS_MAX)
}

/// The entities of these names by their keys, each mentioned once more for every time it is named.
fn mention(connection: &Connection, facts: &[Fact]) -> Result<HashMap<String, i64>, StoreError> {
    let mut upsert = connection.prepare_cached(
        "INSERT INTO memory_entities (name, key, kind, mentions) VALUES (?1, ?2, 'Concept', ?3)
         ON CONFLICT (key) DO UPDATE SET mentions = mentions + ?3 RETURNING id",
    )?;
    let mut things: BTreeMap<String, (String, i64)> = BTreeMap::new();
    for fact in facts {
        let [subject, _, object] = names(fact);
        for name in [subject, object] {
            things.entry(key(&name)).or_insert((name, 0)).1 += 1;
        }
    }
    let mut ids = HashMap::new();
    for (compared, (name, mentions)) in things {
        if compared.chars().count() == 1 {
            spell_name(connection, &compared)?;
        }
        let id = upsert.query_row(params![name, compared, mentions], |row| row.get(0))?;
        ids.insert(compared, id);
    }
    Ok(ids)
}
