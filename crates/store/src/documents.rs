//! Documents: texts that are kept for a while, handed back whole, and known by the graph when nobody
//! asks for them any longer. Start at [`DocumentMemory`].
//!
//! Invariants: what is taken out, consumed or removed, is kept until it is restored; promotion adds facts
//! and takes nothing away.

mod parts;
mod promote;
mod rows;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use kernel::ports::{BoxFuture, Clock, DocumentHit, Documents, Failure, GraphMemory};
use sdk::Doc;
use serde_json::{Map, Value};

pub use parts::parts;
pub(crate) use rows::index_again;

use crate::search::{Dictionary, Meaning};
use crate::{Database, Graph};

/// Limit: a longer document is refused; knowledge files may be longer.
pub(crate) const DOCUMENT_KEPT_CHARS_MAX: usize = 1_000_000;
const TITLE_CHARS_MAX: usize = 200;
const ID_CHARS_MAX: usize = 200;
/// Limit: more documents are not given back at once.
const DOCUMENTS_FOUND_MAX: usize = 50;
const COUNT: usize = 5;

/// A handle; clones share one memory.
#[derive(Clone)]
pub struct DocumentMemory {
    database: Database,
    dictionary: Dictionary,
    clock: Arc<dyn Clock>,
    meaning: Meaning,
}

impl DocumentMemory {
    pub fn new(database: Database, dictionary: Dictionary, clock: Arc<dyn Clock>) -> Self {
        Self { database, dictionary, clock, meaning: Meaning::default() }
    }

    /// The same memory, searched by meaning too.
    pub fn with_meaning(self, meaning: Meaning) -> Self {
        Self { meaning, ..self }
    }

    /// Takes facts from at most `limit` documents that nobody touched for three days, a document at a
    /// time, so that whoever writes meanwhile waits for one at most. How many documents that were.
    pub async fn promote_some(&self, graph: &Graph, now_ms: i64, limit: usize) -> Result<usize, Failure> {
        let mut done = 0;
        while done < limit {
            let (dictionary, before) = (self.dictionary.clone(), now_ms - promote::DOCUMENT_UNTOUCHED_MS);
            let next = move |connection: &_| promote::next(connection, &dictionary, before);
            let Some((id, facts)) = self.database.read(next).await? else { break };
            graph.commit(&facts).await?;
            self.database.write_relaxed(move |connection| promote::mark(connection, id, now_ms)).await?;
            done += 1;
            tokio::task::yield_now().await;
        }
        Ok(done)
    }
}

impl Documents for DocumentMemory {
    fn insert(&self, doc: Doc) -> BoxFuture<'_, Result<String, Failure>> {
        Box::pin(async move {
            check(&doc)?;
            let (dictionary, now_ms) = (self.dictionary.clone(), self.clock.now_ms());
            let insert = move |connection: &_| rows::insert(connection, &dictionary, &doc, now_ms);
            Ok(self.database.write(insert).await?)
        })
    }

    fn query<'a>(
        &'a self,
        text: &'a str,
        count_max: usize,
        consume: bool,
    ) -> BoxFuture<'a, Result<Vec<DocumentHit>, Failure>> {
        let text = text.to_owned();
        let most = if count_max == 0 { COUNT } else { count_max.min(DOCUMENTS_FOUND_MAX) };
        Box::pin(async move {
            let (dictionary, meant) = (self.dictionary.clone(), self.meaning.of(&text).await);
            let find = move |connection: &_| rows::find(connection, &dictionary, (&text, meant.as_ref()), most);
            let found = self.database.read(find).await?;
            if found.is_empty() {
                return Ok(Vec::new());
            }
            let (dictionary, now_ms) = (self.dictionary.clone(), self.clock.now_ms());
            if consume {
                let take = move |connection: &_| rows::consume(connection, &dictionary, found);
                return Ok(self.database.write(take).await?);
            }
            let touch = move |connection: &_| rows::touch(connection, found, now_ms);
            Ok(self.database.write_relaxed(touch).await?)
        })
    }

    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<String>, Failure>> {
        let (id, dictionary) = (id.to_owned(), self.dictionary.clone());
        Box::pin(async move {
            let remove = move |connection: &_| rows::remove(connection, &dictionary, &id);
            Ok(self.database.write(remove).await?)
        })
    }

    fn restore<'a>(&'a self, undo: &'a str) -> BoxFuture<'a, Result<u64, Failure>> {
        let (undo, dictionary) = (undo.to_owned(), self.dictionary.clone());
        Box::pin(async move {
            let restore = move |connection: &_| rows::restore(connection, &dictionary, &undo);
            Ok(self.database.write(restore).await?)
        })
    }

    fn stats(&self) -> BoxFuture<'_, Result<Map<String, Value>, Failure>> {
        Box::pin(async move { Ok(self.database.read(rows::stats).await?) })
    }
}

fn check(doc: &Doc) -> Result<(), Failure> {
    if doc.title.trim().is_empty() && doc.content.trim().is_empty() {
        return Err(Failure::invalid("the document is empty: give it a title or a content"));
    }
    if doc.content.chars().count() > DOCUMENT_KEPT_CHARS_MAX {
        let long = format!(
            "the document is longer than {DOCUMENT_KEPT_CHARS_MAX} characters: put it into the knowledge folder"
        );
        return Err(Failure::invalid(long));
    }
    for (what, text, max) in [("title", &doc.title, TITLE_CHARS_MAX), ("id", &doc.id, ID_CHARS_MAX)] {
        if text.chars().count() > max {
            return Err(Failure::invalid(format!("the document's {what} is longer than {max} characters: shorten it")));
        }
    }
    Ok(())
}
