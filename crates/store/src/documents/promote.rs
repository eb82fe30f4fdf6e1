//! What a document tells, as facts. Start at [`statements`]. Invariant: a fact says no more than its
//! sentence does, and carries that sentence; where no plain statement is made, it only says that somebody
//! or something is mentioned there.

use decide::text::clean;
use kernel::ports::Fact;
use rusqlite::{Connection, OptionalExtension, params};
use sdk::Triple;

use crate::StoreError;
use crate::search::{Dictionary, Text};

/// Limit: documents that were not touched for three days give their facts to the graph.
pub(super) const DOCUMENT_UNTOUCHED_MS: i64 = 3 * 24 * 60 * 60 * 1000;
/// Facts of one document at most; what comes after is found in the document only.
const FACTS_MAX: usize = 40;
/// A longer sentence is no plain statement.
const SENTENCE_CHARS_MAX: usize = 200;
const NAME_CHARS_MAX: usize = 40;

/// The document that was left alone longest, and its facts.
pub(super) fn next(
    connection: &Connection,
    dictionary: &Dictionary,
    before_ms: i64,
) -> Result<Option<(i64, Vec<Fact>)>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT id, name, title, content, inserted_at_ms FROM memory_documents
         WHERE promoted_at_ms IS NULL AND taken IS NULL AND touched_at_ms <= ?1 ORDER BY touched_at_ms LIMIT 1",
    )?;
    let found: Option<(i64, String, String, String, i64)> = select
        .query_row([before_ms], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))
        .optional()?;
    let Some((id, name, title, content, at_ms)) = found else { return Ok(None) };
    let title = if title.trim().is_empty() { name.clone() } else { title };
    let mut facts = Vec::new();
    for sentence in sentences(&content) {
        if facts.len() >= FACTS_MAX {
            break;
        }
        let triples = match statement(sentence) {
            Some(triple) => vec![triple],
            None => mentions(connection, dictionary, sentence, &title)?,
        };
        facts.extend(triples.into_iter().map(|triple| Fact {
            triple,
            text: clean(sentence, SENTENCE_CHARS_MAX),
            told_at_ms: at_ms,
            told_by: format!("document:{name}"),
            ..Fact::default()
        }));
    }
    facts.truncate(FACTS_MAX);
    Ok(Some((id, facts)))
}

pub(super) fn mark(connection: &Connection, id: i64, now_ms: i64) -> Result<(), StoreError> {
    connection.execute("UPDATE memory_documents SET promoted_at_ms = ?1 WHERE id = ?2", params![now_ms, id])?;
    Ok(())
}

fn sentences(content: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| matches!(c, '。' | '！' | '？' | '!' | '?' | '\n' | '；');
    let lines = content.split(ends).flat_map(|line| line.split(". "));
    lines
        .map(|sentence| sentence.trim().trim_end_matches('.'))
        .filter(|sentence| (4..=SENTENCE_CHARS_MAX).contains(&sentence.chars().count()))
}

/// 洗衣机的保修期是三年 · the dog's vet is Dr Hill · the colour of the door is red.
pub(super) fn statement(sentence: &str) -> Option<Triple> {
    let triple = |subject: &str, relation: &str, object: &str| {
        let short = |text: &str| {
            let text = text.trim().trim_start_matches("the ").trim_start_matches("The ").trim();
            (1..=NAME_CHARS_MAX).contains(&text.chars().count()).then(|| text.to_owned())
        };
        Some(Triple { subject: short(subject)?, relation: short(relation)?, object: short(object)? })
    };
    let plain = |text: &str| !text.contains(['，', ',', '、', '：', ':', '（', '(']);
    if let Some((front, object)) = sentence.split_once('是').or_else(|| sentence.split_once('为'))
        && let Some((subject, relation)) = front.split_once('的')
        && plain(front)
        && !relation.contains('的')
    {
        return triple(subject, relation, object);
    }
    let (front, object) = sentence.split_once(" is ")?;
    if !plain(front) {
        return None;
    }
    if let Some((subject, relation)) = front.split_once("'s ") {
        return triple(subject, relation, object);
    }
    let (relation, subject) = front.split_once(" of ")?;
    triple(subject, relation, object)
}

/// Whom the graph knows by name and the sentence names.
fn mentions(
    connection: &Connection,
    dictionary: &Dictionary,
    sentence: &str,
    title: &str,
) -> Result<Vec<Triple>, StoreError> {
    /// More names of one sentence are not linked.
    const NAMES_MAX: usize = 3;
    let mut select = connection.prepare_cached("SELECT name FROM memory_entities WHERE key = ?1")?;
    let mut named: Vec<Triple> = Vec::new();
    for cut in &Text::new(dictionary, sentence).words {
        if named.len() >= NAMES_MAX || cut.word.chars().count() < 2 {
            continue;
        }
        let name: Option<String> = select.query_row([&cut.word], |row| row.get(0)).optional()?;
        if let Some(subject) = name
            && !named.iter().any(|known| known.subject == subject)
        {
            let relation = if sentence.is_ascii() { "is mentioned in" } else { "见于" };
            named.push(Triple { subject, relation: relation.into(), object: title.to_owned() });
        }
    }
    Ok(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sentence: &str, expected: Option<(&str, &str, &str)>) {
        let found = statement(sentence);
        let found = found.as_ref().map(|it| (it.subject.as_str(), it.relation.as_str(), it.object.as_str()));
        assert_eq!(found, expected);
    }

    #[test]
    fn only_plain_statements_become_facts() {
        check("洗衣机的保修期是三年", Some(("洗衣机", "保修期", "三年")));
        check("The dog's vet is Dr Hill", Some(("dog", "vet", "Dr Hill")));
        check("The colour of the front door is red", Some(("front door", "colour", "red")));
        check("今天去了超市，买的是苹果", None);
        check("It is raining", None);
        check("他的爸爸的电话是123", None);
    }
}
