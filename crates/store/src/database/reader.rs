//! The connections that only read. Start at [`Readers::run`]. Invariant: never more than
//! [`READERS_MAX`] of them; each is opened when it is first needed.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;

use super::{Folder, connect, explain};
use crate::error::StoreError;

/// Limit: more reads at once wait for one of these.
const READERS_MAX: usize = 4;

/// Pages that each of them keeps of a large file, in KiB; of a small one, what there is. To map the file instead
/// is as fast, but a disk that fails then ends the program and not the statement.
const CACHE_KIB: i64 = 16 * 1024;

pub(super) struct Readers {
    folder: Folder,
    read_only: bool,
    places: Semaphore,
    idle: Mutex<Vec<Connection>>,
}

/// A connection that goes back by itself, also when the work on it panics.
struct Lease {
    connection: Option<Connection>,
    home: Arc<Readers>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.home.give_back(connection);
        }
    }
}

impl Readers {
    pub(super) fn new(folder: Folder, read_only: bool) -> Self {
        Self { folder, read_only, places: Semaphore::new(READERS_MAX), idle: Mutex::new(Vec::new()) }
    }

    pub(super) fn connect(&self) -> Result<Connection, StoreError> {
        // A reading connection of the writer's process may write SQLite's own side files, no table.
        let access = if self.read_only { OpenFlags::SQLITE_OPEN_READ_ONLY } else { OpenFlags::SQLITE_OPEN_READ_WRITE };
        let connection = connect(&self.folder.database(), access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.pragma_update(None, "query_only", true)?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        Ok(connection)
    }

    pub(super) fn give_back(&self, connection: Connection) {
        // A transaction that a panic left open would show an old picture to the next one.
        if connection.is_autocommit() {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
    }

    pub(super) async fn run<T, F>(self: &Arc<Self>, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        self.run_outside(|connection| {
            let transaction = connection.unchecked_transaction()?;
            let found = work(&transaction)?;
            transaction.commit()?;
            Ok(found)
        })
        .await
    }

    pub(super) async fn run_outside<T, F>(self: &Arc<Self>, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        let place = self.places.acquire().await.map_err(|_| StoreError::Closed)?;
        let home = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            let idle = home.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let connection = match idle {
                Some(connection) => connection,
                None => home.connect()?,
            };
            let lease = Lease { connection: Some(connection), home };
            match &lease.connection {
                Some(connection) => work(connection),
                None => Err(StoreError::Closed),
            }
        });
        let outcome = done.await.unwrap_or_else(|error| Err(StoreError::Panicked(error.to_string())));
        drop(place);
        outcome.map_err(|error| explain(&self.folder, error))
    }
}
