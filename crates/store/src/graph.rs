//! What is known about the household, as facts between things. Start at [`Graph`]; `commit` learns,
//! `recall` remembers, `forget` takes away and gives back.
//!
//! Invariants: one fact is there once, however often it is told; what one recall looks at is bounded,
//! however much is known; forgetting is undone by the name it gave, and a forgotten fact can be learned.

mod commit;
mod forget;
mod merge;
mod recall;
mod rows;
#[cfg(test)]
mod tests;
mod walk;

pub(crate) use rows::index_again;

use std::collections::BTreeMap;

use kernel::ports::{BoxFuture, Fact, Failure, GraphMemory, Purged, Recall, RecallQuery};
use sdk::PurgeMode;
use serde_json::{Map, Value};

use crate::search::{Dictionary, Meaning};
use crate::{Database, StoreError};

/// A handle; clones share one memory.
#[derive(Clone)]
pub struct Graph {
    database: Database,
    dictionary: Dictionary,
    meaning: Meaning,
}

impl Graph {
    pub fn new(database: Database, dictionary: Dictionary) -> Self {
        Self { database, dictionary, meaning: Meaning::default() }
    }

    /// The same memory, searched by meaning too.
    pub fn with_meaning(self, meaning: Meaning) -> Self {
        Self { meaning, ..self }
    }

    /// Puts the names of what is known into the dictionary: once, after opening.
    pub async fn learn_names(&self) -> Result<(), Failure> {
        let dictionary = self.dictionary.clone();
        let learn = self.database.read(move |connection| rows::names(connection, &dictionary));
        Ok(learn.await?)
    }
}

impl GraphMemory for Graph {
    fn commit<'a>(&'a self, facts: &'a [Fact]) -> BoxFuture<'a, Result<Vec<i64>, Failure>> {
        let (facts, dictionary) = (facts.to_vec(), self.dictionary.clone());
        Box::pin(async move {
            commit::check(&facts)?;
            let words = dictionary.clone();
            let lesson = tokio::task::spawn_blocking(move || commit::Lesson::new(&words, facts));
            let lesson = lesson.await.map_err(|error| StoreError::Panicked(error.to_string()))?;
            Ok(self.database.write(move |connection| commit::commit(connection, &dictionary, lesson)).await?)
        })
    }

    fn recall(&self, query: RecallQuery) -> BoxFuture<'_, Result<Recall, Failure>> {
        Box::pin(self.remember(query))
    }

    fn introspect(&self) -> BoxFuture<'_, Result<Map<String, Value>, Failure>> {
        Box::pin(async move { Ok(self.database.read(rows::introspect).await?) })
    }

    fn merge_entities<'a>(&'a self, source: &'a str, target: &'a str) -> BoxFuture<'a, Result<u64, Failure>> {
        let (source, target) = (source.to_owned(), target.to_owned());
        let dictionary = self.dictionary.clone();
        Box::pin(async move {
            let merge = move |connection: &_| merge::merge(connection, &dictionary, &source, &target);
            Ok(self.database.write(merge).await?)
        })
    }

    fn purge<'a>(
        &'a self,
        criteria: &'a BTreeMap<String, String>,
        mode: PurgeMode,
        dry_run: bool,
    ) -> BoxFuture<'a, Result<Purged, Failure>> {
        let dictionary = self.dictionary.clone();
        Box::pin(async move {
            let criteria = forget::Criteria::read(criteria)?;
            if dry_run {
                return Ok(self.database.read(move |connection| criteria.preview(connection, mode)).await?);
            }
            let forget = move |connection: &_| criteria.forget(connection, &dictionary, mode);
            Ok(self.database.write(forget).await?)
        })
    }

    fn restore<'a>(&'a self, undo: &'a str) -> BoxFuture<'a, Result<u64, Failure>> {
        let (undo, dictionary) = (undo.to_owned(), self.dictionary.clone());
        Box::pin(async move {
            let restore = move |connection: &_| forget::restore(connection, &dictionary, &undo);
            Ok(self.database.write(restore).await?)
        })
    }
}

/// A name for what was just taken away, under which it comes back.
pub(crate) fn new_undo(connection: &rusqlite::Connection) -> Result<String, StoreError> {
    Ok(connection.query_row("SELECT lower(hex(randomblob(12)))", [], |row| row.get(0))?)
}
