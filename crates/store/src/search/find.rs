//! From a question to texts, best first. Start at [`Corpus::find`].
//!
//! The rarest things asked for bring the candidates, so a question with a common word in it costs no more
//! than one without. Invariant: at most [`POSTINGS_MAX`] entries are weighed and [`CANDIDATES_MAX`] texts
//! are compared.

use decide::rank::{Fit, Need, Told, fit, needs, value, weigh};
use rusqlite::{Connection, params};

use super::cut::characters;
use super::index::spelled;
use super::{Corpus, Dictionary, Text};
use crate::error::StoreError;

/// So many entries of the index one search weighs.
const POSTINGS_MAX: u64 = 12_000;
/// So many texts are compared with the question.
const CANDIDATES_MAX: usize = 160;
/// Chosen from so many, where only some will do.
const PICKED_FROM_MAX: usize = 1_600;
/// Where everything asked for is common, so many of the newest texts are looked at.
const NEWEST_MAX: usize = 400;
/// A word found by its sound is as good as this.
const SPELLED: f64 = 0.9;

/// A question, read.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    pub text: Text,
    pub needs: Vec<Need>,
}

/// A text that may answer, as its owner knows it.
#[derive(Clone, Debug, Default)]
pub struct Source {
    pub id: i64,
    pub text: String,
    /// Who or what it is about, as it was called.
    pub subject: String,
    pub at_ms: i64,
    pub superseded: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    pub id: i64,
    /// 0 to 1.
    pub score: f64,
    pub fit: Fit,
}

impl Corpus {
    /// Reads a question against what this corpus has: how rare each thing is, and how else it is written.
    pub fn ask(self, connection: &Connection, dictionary: &Dictionary, question: &str) -> Result<Asked, StoreError> {
        let text = Text::new(dictionary, question);
        let mut needs = needs(&text.words);
        for need in &mut needs {
            if need.word.len() >= 4 && need.word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
                need.others.extend(spelled(connection, &need.word)?.into_iter().map(|word| (word, SPELLED)));
            }
            need.count = self.count(connection, &need.word)?;
            for (other, _) in &need.others {
                need.count += self.count(connection, other)?;
            }
        }
        weigh(&mut needs, self.texts(connection)?);
        Ok(Asked { text, needs })
    }

    /// Ids of texts that may answer, those with the rarest words first.
    fn candidates(self, connection: &Connection, asked: &Asked, most: usize) -> Result<Vec<i64>, StoreError> {
        let mut needs: Vec<&Need> = asked.needs.iter().collect();
        // Question words bring nobody, unless there is nothing else.
        if needs.iter().any(|need| !need.asks) {
            needs.retain(|need| !need.asks);
        }
        needs.sort_by_key(|need| need.count);
        let mut room = POSTINGS_MAX;
        let mut rare = Vec::new();
        let mut common = Vec::new();
        for need in needs {
            if need.count <= room {
                room -= need.count;
                rare.push(expression(need));
            } else {
                common.push(expression(need));
            }
        }
        let mut found = Vec::new();
        if !rare.is_empty() {
            let sql = format!("SELECT rowid FROM {0} WHERE {0} MATCH ?1 ORDER BY rank LIMIT ?2", self.table());
            self.matching(connection, &sql, &rare.join(" OR "), most, &mut found)?;
        }
        if found.is_empty() && !common.is_empty() {
            let sql = format!("SELECT rowid FROM {0} WHERE {0} MATCH ?1 ORDER BY rowid DESC LIMIT ?2", self.table());
            let all: Vec<String> = common.iter().map(|each| format!("({each})")).collect();
            self.matching(connection, &sql, &all.join(" AND "), NEWEST_MAX / 2, &mut found)?;
            self.matching(connection, &sql, &common.join(" OR "), NEWEST_MAX / 2, &mut found)?;
        }
        Ok(found)
    }

    fn matching(
        self,
        connection: &Connection,
        sql: &str,
        expression: &str,
        most: usize,
        found: &mut Vec<i64>,
    ) -> Result<(), StoreError> {
        let mut select = connection.prepare_cached(sql)?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = select.query_map(params![expression, most], |row| row.get(0))?;
        for id in rows {
            let id = id?;
            if !found.contains(&id) {
                found.push(id);
            }
        }
        Ok(())
    }

    /// Texts that answer, best first. `sources` gives the texts of the ids that still are there; where it
    /// leaves many out (`picky`), more ids are brought.
    pub fn find(
        self,
        connection: &Connection,
        dictionary: &Dictionary,
        asked: &Asked,
        picky: bool,
        sources: impl FnOnce(&[i64]) -> Result<Vec<Source>, StoreError>,
    ) -> Result<Vec<Found>, StoreError> {
        let ids = self.candidates(connection, asked, if picky { PICKED_FROM_MAX } else { CANDIDATES_MAX })?;
        let mut sources = sources(&ids)?;
        sources.truncate(CANDIDATES_MAX);
        Ok(order(dictionary, asked, &sources))
    }
}

/// Compares texts with a question. Those that do not answer it stay out.
pub fn order(dictionary: &Dictionary, asked: &Asked, sources: &[Source]) -> Vec<Found> {
    let newest = sources.iter().map(|source| source.at_ms).max().unwrap_or(0);
    let oldest = sources.iter().map(|source| source.at_ms).min().unwrap_or(0);
    let mut found: Vec<Found> = sources
        .iter()
        .filter_map(|source| {
            let text = Text::new(dictionary, &source.text);
            let fit = fit(&asked.needs, &Told::new(&text.words, text.plain));
            let score = value(&fit, age(source.at_ms, oldest, newest), source.superseded);
            fit.is_answer().then_some(Found { id: source.id, score, fit })
        })
        .collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.id.cmp(&a.id)));
    found
}

#[allow(clippy::cast_precision_loss)]
fn age(at_ms: i64, oldest: i64, newest: i64) -> f64 {
    (newest - at_ms) as f64 / (newest - oldest).max(1) as f64
}

/// What finds a need, as FTS5 writes it.
fn expression(need: &Need) -> String {
    let words = std::iter::once(need.word.as_str()).chain(need.others.iter().map(|(other, _)| other.as_str()));
    let each: Vec<String> = words.map(|word| one(word, need.count == 0)).collect();
    each.join(" OR ")
}

/// Words hold letters, digits and `_` only; a phrase has blanks. A word that nothing was cut into is
/// looked for by its characters, and so is a single one.
fn one(word: &str, uncut: bool) -> String {
    let characters = characters(word);
    if characters.len() == 1 && !word.contains(' ') && word.is_ascii() {
        return format!("words : \"{word}\"");
    }
    if characters.len() == 1 || uncut || word.contains(' ') {
        return format!("characters : \"{}\"", characters.join(" "));
    }
    format!("words : \"{word}\"")
}
