//! Remembering. Start at [`Graph::remember`]: what answers the words, then what is near that. Invariant:
//! where nothing answers, no fact is given back, however much is known of the things that were named.

use std::collections::HashSet;

use kernel::ports::{Failure, Recall, RecallQuery};
use rusqlite::{Connection, params};

use super::Graph;
use super::rows::{Row, Span, alive, bare, entity_row, superseded_by};
use super::walk::walk;
use crate::StoreError;
use crate::search::{Asked, Corpus, Dictionary, Found, Meant, Strictness};

/// Facts given back where nobody says how many.
const COUNT: usize = 20;
/// Limit: more facts are not given back at once.
const FACTS_RECALLED_MAX: usize = 200;
/// From so many of the best facts on is gone further.
const STARTS_MAX: usize = 4;
/// What no longer holds is worth so much.
const SUPERSEDED: f64 = 0.6;
/// Most keywords that are looked for one by one.
const KEYWORDS_MAX: usize = 12;
/// What only one of several keywords finds is worth so much.
const ONE_KEYWORD: f64 = 0.5;
/// Things given back.
const ENTITIES_MAX: usize = 20;

impl Graph {
    pub(super) async fn remember(&self, query: RecallQuery) -> Result<Recall, Failure> {
        let dictionary = self.dictionary.clone();
        let meant = self.meaning.of(&query.words.join(" ")).await;
        let recall = move |connection: &Connection| recall(connection, &dictionary, meant.as_ref(), &query);
        Ok(self.database.read(recall).await?)
    }
}

fn recall(
    connection: &Connection,
    dictionary: &Dictionary,
    meant: Option<&Meant>,
    query: &RecallQuery,
) -> Result<Recall, StoreError> {
    let span = Span { from_ms: query.from_ms, to_ms: query.to_ms };
    let most = if query.count_max == 0 { COUNT } else { query.count_max.min(FACTS_RECALLED_MAX) };
    let words: Vec<&str> = query.words.iter().map(|word| word.trim()).filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        return newest(connection, span, most);
    }
    let mut rows = Vec::new();
    let asked = Corpus::Facts.ask(connection, dictionary, &words.join(" "), meant)?;
    let mut found = search(connection, dictionary, &asked, span, &mut rows)?;
    if found.is_empty() && words.len() > 1 {
        for word in words.iter().take(KEYWORDS_MAX) {
            let asked = Corpus::Facts.ask(connection, dictionary, word, None)?;
            for hit in search(connection, dictionary, &asked, span, &mut rows)? {
                if !found.iter().any(|known| known.id == hit.id) {
                    found.push(Found { score: hit.score * ONE_KEYWORD, ..hit });
                }
            }
        }
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
    }
    gather(connection, query.depth, span, most, found, rows)
}

/// What answers, best first; the rows of all that were looked at are added to `rows`.
fn search(
    connection: &Connection,
    dictionary: &Dictionary,
    asked: &Asked,
    span: Span,
    rows: &mut Vec<Row>,
) -> Result<Vec<Found>, StoreError> {
    let strictness = if span.is_whole() { Strictness::Fact } else { Strictness::Span };
    let found = Corpus::Facts.find(connection, dictionary, asked, strictness, |ids| {
        let mut sources = Vec::new();
        for &id in ids {
            if let Some(row) = bare(connection, id)?.filter(|row| span.holds(row.told_at_ms)) {
                sources.push(row.as_source());
                rows.push(row);
            }
        }
        Ok(sources)
    })?;
    newest_first(connection, found, span, rows)
}

/// Where a newer fact says otherwise, it takes the place of the older one, which stays behind it.
fn newest_first(
    connection: &Connection,
    found: Vec<Found>,
    span: Span,
    rows: &mut Vec<Row>,
) -> Result<Vec<Found>, StoreError> {
    let mut current: Vec<Found> = Vec::new();
    let mut older = Vec::new();
    for hit in found.into_iter().take(FACTS_RECALLED_MAX) {
        let by = superseded_by(connection, hit.id, span)?;
        if let Some(row) = rows.iter_mut().find(|row| row.id == hit.id) {
            row.superseded_by = by;
        }
        let newest = Found { id: by.unwrap_or(hit.id), ..hit };
        if !current.iter().any(|known| known.id == newest.id) {
            if !rows.iter().any(|row| row.id == newest.id) {
                rows.extend(alive(connection, newest.id, span)?);
            }
            current.push(newest);
        }
        if by.is_some() {
            older.push(Found { score: hit.score * SUPERSEDED, ..hit });
        }
    }
    current.extend(older);
    current.sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok(current)
}

fn gather(
    connection: &Connection,
    depth: u32,
    span: Span,
    most: usize,
    found: Vec<Found>,
    rows: Vec<Row>,
) -> Result<Recall, StoreError> {
    let mut recall = Recall::default();
    let mut given = HashSet::new();
    let mut things: Vec<(i64, f64)> = Vec::new();
    let mut thing = |id: i64, score: f64| {
        if !things.iter().any(|&(known, _)| known == id) {
            things.push((id, score));
        }
    };
    let mut starts = 0;
    for hit in found.iter().take(most) {
        let Some(row) = rows.iter().find(|row| row.id == hit.id).filter(|row| given.insert(row.id)) else { continue };
        thing(row.source, hit.score);
        thing(row.target, hit.score);
        starts = if recall.facts.len() < STARTS_MAX { recall.facts.len() + 1 } else { starts };
        recall.facts.push(row.clone().recalled(hit.score));
    }
    let start: Vec<(i64, f64)> = things.iter().copied().take(2 * starts).collect();
    for passed in walk(connection, &start, depth, span)? {
        if recall.facts.len() >= most {
            break;
        }
        if !given.insert(passed.id) {
            continue;
        }
        if let Some(row) = alive(connection, passed.id, span)? {
            things.push((row.source, passed.score));
            things.push((row.target, passed.score));
            recall.facts.push(row.recalled(passed.score));
        }
    }
    recall.entities = entities(connection, &things)?;
    Ok(recall)
}

fn entities(connection: &Connection, things: &[(i64, f64)]) -> Result<Vec<sdk::Entity>, StoreError> {
    let mut seen = HashSet::new();
    let mut entities = Vec::new();
    for &(id, _) in things.iter().filter(|&&(id, _)| seen.insert(id)).take(ENTITIES_MAX) {
        entities.extend(entity_row(connection, id)?);
    }
    Ok(entities)
}

/// What was told last, where nothing was asked.
fn newest(connection: &Connection, span: Span, most: usize) -> Result<Recall, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT id FROM memory_facts WHERE forgotten IS NULL AND told_at_ms BETWEEN ?1 AND ?2
         ORDER BY told_at_ms DESC LIMIT ?3",
    )?;
    let (from, to) = (span.from_ms.unwrap_or(i64::MIN), span.to_ms.unwrap_or(i64::MAX));
    let ids = select
        .query_map(params![from, to, i64::try_from(most).unwrap_or(i64::MAX)], |row| row.get(0))?
        .collect::<Result<Vec<i64>, _>>()?;
    let mut recall = Recall::default();
    for id in ids {
        recall.facts.extend(alive(connection, id, span)?.map(|row| row.recalled(0.0)));
    }
    let mut top = connection.prepare_cached("SELECT id FROM memory_entities ORDER BY mentions DESC LIMIT ?1")?;
    let top = top.query_map([i64::try_from(ENTITIES_MAX).unwrap_or(20)], |row| Ok((row.get(0)?, 0.0)))?;
    recall.entities = entities(connection, &top.collect::<Result<Vec<_>, _>>()?)?;
    Ok(recall)
}
