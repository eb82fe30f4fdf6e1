//! A folder of files that the household knows things from. Start at [`KnowledgeFolder`]; `watch` keeps
//! the index beside it current.
//!
//! Invariants: no name leads out of the folder and no link is followed; a file that cannot be read keeps
//! nobody from finding the others; every part says which file and which heading or page it is from.

mod chunks;
mod files;
mod pdf;
mod rows;
#[cfg(test)]
mod tests;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kernel::ports::{BoxFuture, Failure, KnowledgeBase, KnowledgePart};

pub use watch::Watch;

use crate::search::{Dictionary, Meaning};
use crate::{Database, StoreError};
use files::Name;

/// Limit: more parts are not given back at once.
const KNOWLEDGE_FOUND_MAX: usize = 50;
const COUNT: usize = 5;
/// Limit: a longer file is not added by a tool; it can be put into the folder by hand.
const KNOWLEDGE_ADDED_CHARS_MAX: usize = 1_000_000;
/// Limit: no more of a file is given back at once; the next call begins where this one ended.
const KNOWLEDGE_READ_CHARS_MAX: usize = 20_000;

/// A handle; clones share one index.
#[derive(Clone)]
pub struct KnowledgeFolder {
    shared: Arc<Shared>,
    meaning: Meaning,
}

struct Shared {
    root: PathBuf,
    database: Database,
    dictionary: Dictionary,
    /// One rescan at a time; two would index the same file twice.
    scanning: tokio::sync::Mutex<()>,
    pdf: pdf::Reader,
    /// Set until the first rescan, which tries again what failed in an earlier life.
    first: AtomicBool,
}

/// What a rescan did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    pub indexed: usize,
    pub gone: usize,
    pub failed: usize,
}

impl KnowledgeFolder {
    pub fn new(root: &Path, database: Database, dictionary: Dictionary) -> Self {
        let scanning = tokio::sync::Mutex::new(());
        let pdf = pdf::Reader::default();
        Self {
            shared: Arc::new(Shared {
                root: root.to_path_buf(),
                database,
                dictionary,
                scanning,
                pdf,
                first: AtomicBool::new(true),
            }),
            meaning: Meaning::default(),
        }
    }

    /// The same folder, searched by meaning too.
    pub fn with_meaning(self, meaning: Meaning) -> Self {
        Self { meaning, ..self }
    }

    pub fn root(&self) -> &Path {
        &self.shared.root
    }

    /// Reads what changed since the last time, a file at a time. A folder that is not there is empty.
    pub async fn rescan(&self) -> Result<Scanned, Failure> {
        let _one = self.shared.scanning.lock().await;
        let root = self.shared.root.clone();
        let there = blocking(move || Ok(files::walk(&root))).await?;
        if self.shared.first.swap(false, Ordering::Relaxed) {
            self.shared.database.write_relaxed(rows::forget_failed).await?;
        }
        let known = self.shared.database.read(rows::files).await?;
        let mut scanned = Scanned::default();
        for file in &there {
            if known.get(&file.name).is_some_and(|seen| *seen == file.seen) {
                continue;
            }
            match self.index(file).await? {
                None => scanned.indexed += 1,
                Some(problem) => {
                    tracing::warn!(file = %file.name, %problem, "a knowledge file cannot be searched");
                    scanned.failed += 1;
                }
            }
        }
        let gone: Vec<String> = known.into_keys().filter(|name| !there.iter().any(|file| file.name == *name)).collect();
        scanned.gone = gone.len();
        if !gone.is_empty() {
            let dictionary = self.shared.dictionary.clone();
            let forget = move |connection: &_| rows::forget(connection, &dictionary, &gone);
            self.shared.database.write_relaxed(forget).await?;
        }
        Ok(scanned)
    }

    /// Puts one file into the index; what keeps it from being searched, where something does.
    async fn index(&self, file: &files::Seen) -> Result<Option<String>, Failure> {
        let (path, shared) = (self.shared.root.join(&file.name), Arc::clone(&self.shared));
        let kind = file.kind;
        let read = blocking(move || Ok(files::parts(&path, kind, &shared.pdf))).await?;
        let (parts, problem) = match read {
            Ok(parts) => (parts, None),
            Err(problem) => (Vec::new(), Some(problem)),
        };
        let (file, told, dictionary) = (file.clone(), problem.clone(), self.shared.dictionary.clone());
        let keep = move |connection: &_| rows::replace(connection, &dictionary, &file, &parts, told.as_deref());
        self.shared.database.write_relaxed(keep).await?;
        Ok(problem)
    }
}

impl KnowledgeBase for KnowledgeFolder {
    fn search<'a>(&'a self, query: &'a str, count_max: usize) -> BoxFuture<'a, Result<Vec<KnowledgePart>, Failure>> {
        let (query, dictionary) = (query.to_owned(), self.shared.dictionary.clone());
        let most = if count_max == 0 { COUNT } else { count_max.min(KNOWLEDGE_FOUND_MAX) };
        Box::pin(async move {
            let meant = self.meaning.of(&query).await;
            let find = move |connection: &_| rows::find(connection, &dictionary, (&query, meant.as_ref()), most);
            Ok(self.shared.database.read(find).await?)
        })
    }

    fn add<'a>(&'a self, name: &'a str, content: &'a str) -> BoxFuture<'a, Result<(), Failure>> {
        let (name, content) = (name.to_owned(), content.to_owned());
        Box::pin(async move {
            if content.chars().count() > KNOWLEDGE_ADDED_CHARS_MAX {
                let long = format!("the text is longer than {KNOWLEDGE_ADDED_CHARS_MAX} characters: add it in parts");
                return Err(Failure::invalid(long));
            }
            let name = Name::to_write(&name)?;
            let root = self.shared.root.clone();
            blocking(move || files::write(&root, &name, &content)).await?;
            self.rescan().await?;
            Ok(())
        })
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<String>, Failure>> {
        Box::pin(async move { Ok(self.shared.database.read(rows::names).await?) })
    }

    fn read<'a>(
        &'a self,
        name: &'a str,
        offset: usize,
        chars_max: usize,
    ) -> BoxFuture<'a, Result<(String, bool), Failure>> {
        let name = name.to_owned();
        let most = if chars_max == 0 { KNOWLEDGE_READ_CHARS_MAX } else { chars_max.min(KNOWLEDGE_READ_CHARS_MAX) };
        Box::pin(async move {
            let name = Name::to_read(&name)?;
            let text = self.shared.database.read(move |connection| rows::text(connection, name.as_str())).await?;
            let rest = text.chars().count().saturating_sub(offset);
            Ok((text.chars().skip(offset).take(most).collect(), rest > most))
        })
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Failure> + Send + 'static) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(work);
    done.await.unwrap_or_else(|error| Err(StoreError::Panicked(error.to_string()).into()))
}
