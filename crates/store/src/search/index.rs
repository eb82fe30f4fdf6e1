//! Putting texts into an index and taking them out. Start at [`Corpus::put`]. Invariant: the counts of
//! words move in the same transaction as the texts.

use std::borrow::Cow;
use std::collections::BTreeMap;

use decide::text::pinyin_spellings;
use rusqlite::{Connection, params};

use super::{Corpus, Text};
use crate::error::StoreError;

/// A word that is read in more ways is found by the first of them.
const SPELLINGS_MAX: usize = 4;

/// So many texts are put into an index together.
const PUT_TOGETHER: usize = 1_000;

impl Corpus {
    /// `id` is the caller's; it must not be in the index.
    pub fn put(self, connection: &Connection, id: i64, text: &Text) -> Result<(), StoreError> {
        self.put_all(connection, [(id, text)])
    }

    /// Many at once cost much less than one after the other: a word is counted once for all of them.
    pub fn put_all<'a>(
        self,
        connection: &Connection,
        texts: impl IntoIterator<Item = (i64, &'a Text)>,
    ) -> Result<(), StoreError> {
        let sql = format!("INSERT INTO {} (rowid, words, characters) VALUES (?1, ?2, ?3)", self.table());
        let mut insert = connection.prepare_cached(&sql)?;
        let mut counts: BTreeMap<Cow<'a, str>, i64> = BTreeMap::new();
        for (id, text) in texts {
            insert.execute(params![id, text.words_joined(), text.characters_joined()])?;
            for term in counted(text) {
                *counts.entry(term).or_default() += 1;
            }
        }
        let mut count = connection.prepare_cached(
            "INSERT INTO search_terms (corpus, term, texts) VALUES (?1, ?2, ?3)
             ON CONFLICT (corpus, term) DO UPDATE SET texts = texts + ?3 RETURNING texts",
        )?;
        for (term, added) in counts {
            let texts: i64 = count.query_row(params![self.number(), term, added], |row| row.get(0))?;
            if texts == added {
                spell(connection, &term)?;
            }
        }
        Ok(())
    }

    /// Makes the index anew of texts that come one by one.
    pub fn make_again(
        self,
        connection: &Connection,
        texts: impl Iterator<Item = Result<(i64, Text), StoreError>>,
    ) -> Result<(), StoreError> {
        self.clear(connection)?;
        let mut some: Vec<(i64, Text)> = Vec::with_capacity(PUT_TOGETHER);
        for text in texts {
            some.push(text?);
            if some.len() == PUT_TOGETHER {
                self.put_all(connection, some.iter().map(|(id, text)| (*id, text)))?;
                some.clear();
            }
        }
        self.put_all(connection, some.iter().map(|(id, text)| (*id, text)))
    }

    /// `text` is what was put in.
    pub fn take_out(self, connection: &Connection, id: i64, text: &Text) -> Result<(), StoreError> {
        connection.prepare_cached(&format!("DELETE FROM {} WHERE rowid = ?1", self.table()))?.execute([id])?;
        let mut count = connection
            .prepare_cached("UPDATE search_terms SET texts = max(texts - 1, 0) WHERE corpus = ?1 AND term = ?2")?;
        for term in counted(text) {
            count.execute(params![self.number(), term])?;
        }
        connection
            .prepare_cached("DELETE FROM search_vectors WHERE corpus = ?1 AND text = ?2")?
            .execute([self.number(), id])?;
        Ok(())
    }

    /// Empties the index, before all is put in anew.
    pub fn clear(self, connection: &Connection) -> Result<(), StoreError> {
        let table = self.table();
        connection.execute_batch(&format!("INSERT INTO {table} ({table}) VALUES ('delete-all')"))?;
        connection.execute("DELETE FROM search_terms WHERE corpus = ?1", [self.number()])?;
        connection.execute("DELETE FROM search_vectors WHERE corpus = ?1", [self.number()])?;
        Ok(())
    }

    pub fn texts(self, connection: &Connection) -> Result<u64, StoreError> {
        self.count(connection, "")
    }

    /// In how many texts this word stands.
    pub(super) fn count(self, connection: &Connection, term: &str) -> Result<u64, StoreError> {
        let mut select = connection.prepare_cached("SELECT texts FROM search_terms WHERE corpus = ?1 AND term = ?2")?;
        let mut rows = select.query(params![self.number(), term])?;
        let texts: i64 = match rows.next()? {
            Some(row) => row.get(0)?,
            None => 0,
        };
        Ok(u64::try_from(texts).unwrap_or(0))
    }
}

/// What of a text is counted: its words, the single characters inside them, and itself.
fn counted(text: &Text) -> impl Iterator<Item = Cow<'_, str>> {
    let words = text.terms().into_iter().map(Cow::Borrowed);
    words.chain(text.inner_characters().into_iter().map(|it| Cow::Owned(inside(it)))).chain([Cow::Borrowed("")])
}

/// Under which a character inside of longer words is counted. No word begins so.
pub(super) fn inside(character: &str) -> String {
    format!("_{character}")
}

fn spell(connection: &Connection, term: &str) -> Result<(), StoreError> {
    if term.is_ascii() || term.chars().count() < 2 {
        return Ok(());
    }
    spell_name(connection, term)
}

/// As every word of at least two characters, but for names: 宝 is called Bao.
pub fn spell_name(connection: &Connection, term: &str) -> Result<(), StoreError> {
    let mut insert =
        connection.prepare_cached("INSERT OR IGNORE INTO search_spellings (spelling, term) VALUES (?1, ?2)")?;
    for spelling in pinyin_spellings(term).into_iter().take(SPELLINGS_MAX) {
        insert.execute([spelling.as_str(), term])?;
    }
    Ok(())
}

/// Words that are in some index and spelled so.
pub(super) fn spelled(connection: &Connection, spelling: &str) -> Result<Vec<String>, StoreError> {
    /// Most words that one spelling stands for; homophones beyond them are not looked at.
    const WORDS_MAX: i64 = 16;
    let mut select = connection.prepare_cached("SELECT term FROM search_spellings WHERE spelling = ?1 LIMIT ?2")?;
    let rows = select.query_map(params![spelling, WORDS_MAX], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
