//! The one file of a household, `menshen.db`, and the threads that may touch it. Start at
//! [`Database::open`], then [`Database::write`] and [`Database::read`].
//!
//! One thread writes; what waits in its queue together is one transaction, each piece in a savepoint
//! of its own, so that one that fails takes nothing else with it. A few connections read beside it and
//! always see what was written before they were asked.
//!
//! **A new table**: add `migrations/NNNN_name.sql` with the next number and name it at the end of
//! `MIGRATIONS` in `database/migrations.rs`; tables are `STRICT`, no `BEGIN` and no `PRAGMA` in there.
//! A file that went out in a release is never changed again. What belongs to the household is also
//! named in `AGGREGATES` (`aggregates.rs`), so that it is exported; an index that can be made again is not.
//!
//! Invariant: a future of [`Database::write`] is ready when its change is on the disk, fully synced; one
//! of [`Database::write_relaxed`] when it outlives a crash of this program, though not of the machine.

mod folder;
mod lock;
mod migrations;
mod reader;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

pub use folder::Folder;
pub(crate) use folder::{make_private_folder, sync_folder};
pub(crate) use lock::Lock;
pub(crate) use migrations::{LAYOUT, finish_layout, make_layout, vacuum_into};

use crate::error::StoreError;
use crate::import::finish_or_clear;
use crate::outbox;
use reader::Readers;
use writer::Writer;

/// So long a connection waits for another one, before it fails: only a second process can make it wait.
const BUSY_MAX: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// One process at a time.
    #[default]
    Full,
    /// No lock, no migration, no change; beside another process.
    ReadOnly,
}

/// A handle; clones share the same threads. The file is closed when the last one is dropped.
#[derive(Clone)]
pub struct Database {
    shared: Arc<Shared>,
}

struct Shared {
    folder: Folder,
    readers: Arc<Readers>,
    /// None where the store was opened read-only. Dropped after the readers' list, and joined then.
    writer: Option<Writer>,
}

impl Database {
    /// Makes folder and file where there are none, and brings an older file to today's layout after a
    /// backup. Blocks for a moment: not for a task that others wait for.
    pub fn open(folder: &Path, access: Access) -> Result<Self, StoreError> {
        let folder = Folder::new(folder);
        if access == Access::ReadOnly {
            return Self::open_read_only(folder);
        }
        folder.make()?;
        let lock = Lock::take(&folder)?;
        finish_or_clear(&folder)?;
        let path = folder.database();
        folder.make_private_file(&path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = connect(&path, flags).map_err(|error| explain(&folder, error))?;
        prepare(&mut connection, &folder).map_err(|error| explain(&folder, error))?;
        if lock.left_open {
            outbox::leave_a_gap(&connection).map_err(|error| explain(&folder, error))?;
        }
        let readers = Arc::new(Readers::new(folder.clone(), false));
        let writer = Writer::start(connection, lock, folder.clone())?;
        Ok(Self { shared: Arc::new(Shared { folder, readers, writer: Some(writer) }) })
    }

    fn open_read_only(folder: Folder) -> Result<Self, StoreError> {
        let path = folder.database();
        if !path.exists() {
            return Err(StoreError::Missing { path });
        }
        let readers = Arc::new(Readers::new(folder.clone(), true));
        let connection = readers.connect()?;
        migrations::check_read_only(&connection, &path).map_err(|error| explain(&folder, error))?;
        readers.give_back(connection);
        Ok(Self { shared: Arc::new(Shared { folder, readers, writer: None }) })
    }

    pub fn folder(&self) -> &Folder {
        &self.shared.folder
    }

    pub fn is_read_only(&self) -> bool {
        self.shared.writer.is_none()
    }

    /// Runs this in the writer's next transaction. Ready when it is on the disk; an error means that
    /// nothing of it was kept. A caller that goes away does not stop what is in the queue already.
    pub async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        self.writer()?.run(work, true).await
    }

    /// As [`Self::write`], but a machine that loses power right after it may lose it.
    pub async fn write_relaxed<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        self.writer()?.run(work, false).await
    }

    /// Runs this on a reading connection, in one transaction: all it reads is of one moment.
    pub async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        self.shared.readers.run(work).await
    }

    /// As [`Self::read`], outside of any transaction: for what SQLite does only so (`VACUUM INTO`).
    pub(crate) async fn read_outside<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        self.shared.readers.run_outside(work).await
    }

    fn writer(&self) -> Result<&Writer, StoreError> {
        self.shared.writer.as_ref().ok_or(StoreError::ReadOnly)
    }
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_MAX)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // Else a statement is planned anew whenever its values change, which takes longer than to run it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// For a connection that writes much at once: with less, it writes its pages over and over. Memory is taken
/// only as far as a batch needs it.
pub(crate) fn enlarge_cache(connection: &Connection) -> Result<(), StoreError> {
    Ok(connection.pragma_update(None, "cache_size", -64 * 1024)?)
}

fn prepare(connection: &mut Connection, folder: &Folder) -> Result<(), StoreError> {
    migrations::check(connection, &folder.database())?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)?;
    enlarge_cache(connection)?;
    migrations::migrate(connection, folder)
}

/// SQLite's word for a damaged file becomes ours, which says what to do.
fn explain(folder: &Folder, error: StoreError) -> StoreError {
    let StoreError::Sql(cause) = &error else { return error };
    match cause.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase) => StoreError::Corrupt {
            path: folder.database(),
            detail: cause.to_string(),
            cure: match folder.newest_backup() {
                Some(backup) => format!("and copy {} there as menshen.db", backup.display()),
                None => "and put back a backup, or start with an empty store and `menshen import`".into(),
            },
        },
        _ => error,
    }
}

#[cfg(test)]
mod tests;
