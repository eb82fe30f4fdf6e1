//! Learning. Start at [`commit`]. Invariant: a fact that is told again only gets its newer time; one that
//! was forgotten is there again.

use decide::rank::concepts;
use decide::text::clean;
use kernel::ports::{Fact, Failure};
use rusqlite::{Connection, OptionalExtension, params};

use super::rows::{any, key};
use crate::StoreError;
use crate::search::{Corpus, Dictionary, spell_name};

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

pub(super) fn commit(connection: &Connection, dictionary: &Dictionary, facts: &[Fact]) -> Result<Vec<i64>, StoreError> {
    dictionary.add(facts.iter().flat_map(|fact| [fact.triple.subject.as_str(), fact.triple.object.as_str()]));
    facts.iter().map(|fact| learn(connection, dictionary, fact)).collect()
}

fn learn(connection: &Connection, dictionary: &Dictionary, fact: &Fact) -> Result<i64, StoreError> {
    let source = mention(connection, &fact.triple.subject)?;
    let target = mention(connection, &fact.triple.object)?;
    let relation = clean(&fact.triple.relation, FACT_NAME_CHARS_MAX);
    let relation_key = key(&relation);
    let single = fact.single || concepts().is_single([relation_key.as_str()]);
    let mut select = connection.prepare_cached(
        "SELECT id, forgotten IS NOT NULL FROM memory_facts WHERE source = ?1 AND relation_key = ?2 AND target = ?3",
    )?;
    let known: Option<(i64, bool)> =
        select.query_row(params![source, relation_key, target], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let text = clean(&fact.text, FACT_TEXT_CHARS_MAX);
    let id = match known {
        Some((id, false)) => {
            // What is known in words keeps them; what was bare gets them.
            let bare = any(connection, id)?.filter(|row| row.text.is_empty() && !text.is_empty());
            if let Some(row) = &bare {
                Corpus::Facts.take_out(connection, id, &row.cut(dictionary))?;
            }
            connection
                .prepare_cached(
                    "UPDATE memory_facts SET told_at_ms = max(told_at_ms, ?1), single = max(single, ?3),
                         text = CASE text WHEN '' THEN ?4 ELSE text END,
                         told_by = CASE WHEN ?1 >= told_at_ms THEN ?2 ELSE told_by END WHERE id = ?5",
                )?
                .execute(params![fact.told_at_ms, fact.told_by, single, text, id])?;
            if bare.is_none() {
                return Ok(id);
            }
            id
        }
        Some((id, true)) => {
            connection
                .prepare_cached(
                    "UPDATE memory_facts SET told_at_ms = ?1, told_by = ?2, session = ?3, single = ?4,
                         text = CASE ?5 WHEN '' THEN text ELSE ?5 END, relation = ?7, forgotten = NULL WHERE id = ?6",
                )?
                .execute(params![fact.told_at_ms, fact.told_by, fact.session, single, text, id, relation])?;
            id
        }
        None => {
            let mut insert = connection.prepare_cached(
                "INSERT INTO memory_facts (told_at_ms, told_by, session, single, text, source, relation, relation_key, target)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?;
            insert.insert(params![
                fact.told_at_ms,
                fact.told_by,
                fact.session,
                single,
                text,
                source,
                relation,
                relation_key,
                target
            ])?
        }
    };
    if let Some(row) = any(connection, id)? {
        Corpus::Facts.put(connection, id, &row.cut(dictionary))?;
    }
    Ok(id)
}

/// The entity of this name, mentioned once more.
fn mention(connection: &Connection, name: &str) -> Result<i64, StoreError> {
    let mut upsert = connection.prepare_cached(
        "INSERT INTO memory_entities (name, key, kind, mentions) VALUES (?1, ?2, 'Concept', 1)
         ON CONFLICT (key) DO UPDATE SET mentions = mentions + 1 RETURNING id",
    )?;
    let name = clean(name, FACT_NAME_CHARS_MAX);
    let compared = key(&name);
    if compared.chars().count() == 1 {
        spell_name(connection, &compared)?;
    }
    Ok(upsert.query_row(params![name, compared], |row| row.get(0))?)
}
