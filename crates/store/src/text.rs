//! What was said, line by line, in files that a person can read. Start at [`TextFiles`].
//!
//! Invariants: a line is written at once and is on the disk when its future is ready; a line that a
//! crash cut short is passed over and costs no other line; no file is ever deleted in here; what is found
//! was read from the files.

mod files;
mod index;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use kernel::ports::{BoxFuture, Failure, TextHit, TextMemory, TextQuery};
use sdk::TextEvent;

use crate::Database;
use crate::error::StoreError;
use crate::search::Dictionary;
pub(crate) use files::names_in;
use files::{Files, line_at};
pub use files::{TextLimits, TextStats};
use index::TextIndex;
pub use index::TextPlace;

/// So many lines go into the index at once.
const INDEXED_TOGETHER: usize = 500;
/// So many lines wait for the next search, or for so many, before they go into the index.
const INDEX_BEHIND_MAX: usize = 64;

#[derive(Clone)]
pub struct TextFiles {
    shared: Arc<Shared>,
}

struct Shared {
    folder: PathBuf,
    files: Mutex<Files>,
    index: TextIndex,
    /// Another process writes the lines and the index.
    read_only: bool,
    /// Lines written since the index was brought up to the last one.
    behind: AtomicUsize,
    /// One at a time brings the index up.
    catching_up: tokio::sync::Mutex<()>,
}

impl TextFiles {
    pub fn new(folder: &Path, limits: TextLimits, database: Database, dictionary: Dictionary) -> Self {
        let shared = Shared {
            folder: folder.to_path_buf(),
            files: Mutex::new(Files::new(folder, limits, database.is_read_only())),
            read_only: database.is_read_only(),
            index: TextIndex::new(database, dictionary),
            behind: AtomicUsize::new(0),
            catching_up: tokio::sync::Mutex::new(()),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Brings the index up to the last line; a search does it too. Where the index has its newest line
    /// somewhere else than the files do, it is made again.
    pub async fn catch_up(&self) -> Result<u64, Failure> {
        if self.shared.read_only {
            return Ok(0);
        }
        let index = &self.shared.index;
        let _one = self.shared.catching_up.lock().await;
        self.shared.behind.store(0, Ordering::Relaxed);
        let mut added = 0;
        let mut newest = index.newest().await?;
        if let Some(place) = newest.clone()
            && self.blocking_in(move |folder| line_at(folder, &place)).await?.is_none()
        {
            index.clear().await?;
            newest = None;
        }
        loop {
            let after = newest.take();
            let lines = self.blocking(move |files| files.lines_after(after.as_ref(), INDEXED_TOGETHER)).await?;
            let Some((last, _)) = lines.last() else { return Ok(added) };
            newest = Some(last.clone());
            added += lines.len() as u64;
            index.add(lines).await?;
        }
    }

    pub async fn stats(&self) -> Result<TextStats, Failure> {
        self.blocking(|files| files.stats()).await
    }

    /// Runs this where it may block. The lock is held for one append or for listing names, not over a search.
    async fn blocking<T, F>(&self, work: F) -> Result<T, Failure>
    where
        F: FnOnce(&mut Files) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        let shared = Arc::clone(&self.shared);
        let done =
            tokio::task::spawn_blocking(move || work(&mut shared.files.lock().unwrap_or_else(PoisonError::into_inner)));
        let outcome = done.await.unwrap_or_else(|error| Err(StoreError::Panicked(error.to_string())));
        Ok(outcome?)
    }
}

impl TextMemory for TextFiles {
    fn append(&self, event: TextEvent) -> BoxFuture<'_, Result<(), Failure>> {
        Box::pin(async move {
            self.blocking(move |files| files.append(event)).await?;
            let behind = self.shared.behind.fetch_add(1, Ordering::Relaxed) + 1;
            if behind >= INDEX_BEHIND_MAX
                && let Err(failure) = self.catch_up().await
            {
                // The line itself is kept; a search tries again.
                tracing::warn!("what was said could not be put into the index: {failure}");
            }
            Ok(())
        })
    }

    fn search(&self, query: TextQuery) -> BoxFuture<'_, Result<Vec<TextHit>, Failure>> {
        Box::pin(async move {
            let index = &self.shared.index;
            self.catch_up().await?;
            let found = index.find(self.shared.folder.clone(), query.clone()).await?;
            if !found.is_stale || self.shared.read_only {
                return Ok(found.hits);
            }
            index.clear().await?;
            self.catch_up().await?;
            Ok(index.find(self.shared.folder.clone(), query).await?.hits)
        })
    }
}

impl TextFiles {
    /// As [`Self::blocking`], for what only reads lines.
    async fn blocking_in<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Path) -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let shared = Arc::clone(&self.shared);
        let done = tokio::task::spawn_blocking(move || work(&shared.folder));
        Ok(done.await.map_err(|error| StoreError::Panicked(error.to_string()))?)
    }
}

#[cfg(test)]
mod tests;
