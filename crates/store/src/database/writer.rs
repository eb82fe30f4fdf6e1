//! The thread that writes. Start at [`Writer::run`] for callers and `commit` for what happens.
//!
//! Invariant: what is answered with success was committed; what is answered with an error left nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::{Folder, Lock, explain};
use crate::error::StoreError;

/// Limit: further writers wait for room.
const WRITES_WAITING_MAX: usize = 256;

/// Limit: so many writes that wait together become one transaction; the rest is the next one.
const WRITES_TOGETHER_MAX: usize = 64;

/// After so many changed rows the memory that they took is given back.
const MANY_CHANGES: u64 = 10_000;

pub(super) struct Writer {
    /// None only while it is dropped.
    queue: Option<mpsc::Sender<Box<dyn Write>>>,
    thread: Option<JoinHandle<()>>,
}

/// A piece of work in the queue: run first, told of its end after the commit.
trait Write: Send {
    fn synced(&self) -> bool;
    /// Whether to keep what it did.
    fn run(&mut self, connection: &Connection) -> bool;
    fn settle(self: Box<Self>, committed: Result<(), StoreError>);
}

struct Pending<T, F> {
    work: Option<F>,
    outcome: Option<Result<T, StoreError>>,
    answer: oneshot::Sender<Result<T, StoreError>>,
    synced: bool,
}

impl<T, F> Write for Pending<T, F>
where
    F: FnOnce(&Connection) -> Result<T, StoreError> + Send,
    T: Send,
{
    fn synced(&self) -> bool {
        self.synced
    }

    fn run(&mut self, connection: &Connection) -> bool {
        let Some(work) = self.work.take() else { return false };
        let outcome = catch_unwind(AssertUnwindSafe(|| work(connection)))
            .unwrap_or_else(|panic| Err(StoreError::Panicked(words_of(panic.as_ref()))));
        let keep = outcome.is_ok();
        self.outcome = Some(outcome);
        keep
    }

    fn settle(self: Box<Self>, committed: Result<(), StoreError>) {
        let outcome = match (self.outcome, committed) {
            (Some(Err(error)), _) => Err(error),
            (_, Err(error)) => Err(error),
            (Some(Ok(value)), Ok(())) => Ok(value),
            (None, Ok(())) => Err(StoreError::Closed),
        };
        // A caller that went away does not want to know.
        let _ = self.answer.send(outcome);
    }
}

impl Writer {
    pub(super) fn start(connection: Connection, lock: Lock, folder: Folder) -> Result<Self, StoreError> {
        let (queue, waiting) = mpsc::channel(WRITES_WAITING_MAX);
        let name = folder.database();
        let thread = thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || write_until_closed(connection, waiting, lock, &folder))
            .map_err(|error| StoreError::file(&name, error))?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    pub(super) async fn run<T, F>(&self, work: F, synced: bool) -> Result<T, StoreError>
    where
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        let (answer, done) = oneshot::channel();
        let pending = Pending { work: Some(work), outcome: None, answer, synced };
        let queue = self.queue.as_ref().ok_or(StoreError::Closed)?;
        queue.send(Box::new(pending)).await.map_err(|_| StoreError::Closed)?;
        done.await.map_err(|_| StoreError::Closed)?
    }
}

impl Drop for Writer {
    /// Waits until all that was accepted is written, so that the folder is free when this returns.
    fn drop(&mut self) {
        self.queue = None;
        let Some(thread) = self.thread.take() else { return };
        // The last handle may go with a piece of work on the thread itself; it ends by itself then.
        if thread.thread().id() != thread::current().id() && thread.join().is_err() {
            tracing::error!("the store's writer ended with a panic");
        }
    }
}

fn write_until_closed(
    mut connection: Connection,
    mut waiting: mpsc::Receiver<Box<dyn Write>>,
    lock: Lock,
    folder: &Folder,
) {
    let mut full_sync = true;
    let mut tidied = connection.total_changes();
    while let Some(first) = waiting.blocking_recv() {
        let mut batch = vec![first];
        while batch.len() < WRITES_TOGETHER_MAX
            && let Ok(next) = waiting.try_recv()
        {
            batch.push(next);
        }
        let committed = commit(&mut connection, &mut batch, &mut full_sync).map_err(|error| explain(folder, error));
        if let Err(error) = &committed {
            tracing::error!(%error, writes = batch.len(), "the store could not write");
        }
        for write in batch {
            write.settle(committed.clone());
        }
        let changes = connection.total_changes();
        if changes - tidied >= MANY_CHANGES && waiting.is_empty() {
            tidied = changes;
            // Such a batch filled the cache; what follows does not need it.
            if let Err(error) = connection.execute_batch("PRAGMA shrink_memory") {
                tracing::warn!(%error, "the store keeps more memory than it needs");
            }
        }
    }
    if let Err(error) = connection.execute_batch("PRAGMA optimize; PRAGMA wal_checkpoint(TRUNCATE);") {
        tracing::warn!(%error, "the store was closed without tidying up; nothing is lost");
    }
    drop(connection);
    drop(lock);
}

fn commit(connection: &mut Connection, batch: &mut [Box<dyn Write>], full_sync: &mut bool) -> Result<(), StoreError> {
    let wanted = batch.iter().any(|write| write.synced());
    if wanted != *full_sync {
        connection.pragma_update(None, "synchronous", if wanted { "FULL" } else { "NORMAL" })?;
        *full_sync = wanted;
    }
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let written = run_all(connection, batch).and_then(|()| Ok(connection.execute_batch("COMMIT")?));
    if written.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    written
}

fn run_all(connection: &mut Connection, batch: &mut [Box<dyn Write>]) -> Result<(), StoreError> {
    for write in batch {
        connection.execute_batch("SAVEPOINT piece")?;
        let keep = write.run(connection);
        // A full disk or a read error makes SQLite roll everything back by itself; the savepoint is gone
        // then, and so is what the others of this batch did: the next statement fails and says so to all.
        connection.execute_batch(if keep { "RELEASE piece" } else { "ROLLBACK TO piece; RELEASE piece" })?;
    }
    Ok(())
}

fn words_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no words".into())
}
