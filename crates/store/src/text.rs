//! What was said, line by line, in files that a person can read. Start at [`TextFiles`].
//!
//! Invariants: a line is written at once and is on the disk when its future is ready; a line that a
//! crash cut short is passed over and costs no other line; no file is ever deleted in here.

mod files;
mod index;
mod scan;

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use kernel::ports::{BoxFuture, Failure, TextHit, TextMemory, TextQuery};
use sdk::TextEvent;

use crate::error::StoreError;
use files::Files;
pub(crate) use files::names_in;
pub use files::{TextLimits, TextStats};
pub use index::{TextIndex, TextPlace};

/// So many lines go into the index at once.
const INDEXED_TOGETHER: usize = 500;

#[derive(Clone)]
pub struct TextFiles {
    shared: Arc<Shared>,
}

struct Shared {
    files: Mutex<Files>,
    index: OnceLock<Arc<dyn TextIndex>>,
}

impl TextFiles {
    pub fn new(folder: &Path, limits: TextLimits) -> Self {
        Self::over(Files::new(folder, limits, false))
    }

    /// One that takes no new lines: another process writes them.
    pub fn read_only(folder: &Path) -> Self {
        Self::over(Files::new(folder, TextLimits::default(), true))
    }

    fn over(files: Files) -> Self {
        Self { shared: Arc::new(Shared { files: Mutex::new(files), index: OnceLock::new() }) }
    }

    /// From now on this one answers searches; without one the newest files are read through. Only the
    /// first counts.
    pub fn set_index(&self, index: Arc<dyn TextIndex>) {
        let _ = self.shared.index.set(index);
    }

    /// Brings the index up to the last line; a search does it too. Worth calling after a start, when a
    /// whole folder of files may be new.
    pub async fn catch_up(&self) -> Result<u64, Failure> {
        let Some(index) = self.shared.index.get().cloned() else { return Ok(0) };
        let mut added = 0;
        let mut newest = index.newest().await?;
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
        Box::pin(self.blocking(move |files| files.append(event)))
    }

    fn search(&self, query: TextQuery) -> BoxFuture<'_, Result<Vec<TextHit>, Failure>> {
        Box::pin(async move {
            let Some(index) = self.shared.index.get().cloned() else { return self.scan(query).await };
            self.catch_up().await?;
            let places = index.find(query).await?;
            self.blocking(move |files| {
                let hit = |(place, score)| {
                    // A file that a person deleted takes its lines along.
                    files.line_at(&place).map(|event| TextHit { event, score })
                };
                Ok(places.into_iter().filter_map(hit).collect())
            })
            .await
        })
    }
}

impl TextFiles {
    async fn scan(&self, query: TextQuery) -> Result<Vec<TextHit>, Failure> {
        let paths = self.blocking(|files| files.newest_first()).await?;
        let done = tokio::task::spawn_blocking(move || scan::scan(&paths, &query));
        Ok(done.await.map_err(|error| StoreError::Panicked(error.to_string()))?)
    }
}

#[cfg(test)]
mod tests;
