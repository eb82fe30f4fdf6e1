//! The layout of the file, by number. Start at [`MIGRATIONS`]; how to add one stands in
//! [`super`](crate::database). Invariant: a file has exactly the layout its `user_version` says, because
//! the steps and that number are one transaction.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, TransactionBehavior};

use super::Folder;
use super::folder::make_private_folder;
use crate::error::StoreError;

/// In order; the first brings an empty file to layout 1.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/0001_kernel.sql"),
    include_str!("../../migrations/0002_memory.sql"),
    include_str!("../../migrations/0003_text_search.sql"),
];

pub(crate) const LAYOUT: i64 = MIGRATIONS.len() as i64;

/// "mnsh": this file is ours.
const APPLICATION: i64 = 0x6d6e_7368;

/// Before anything is changed: it is ours, or empty, and not from the future.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let found = layout_of(connection)?;
    let application: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application != APPLICATION && (tables > 0 || application != 0) {
        return Err(StoreError::Foreign { path: path.to_path_buf() });
    }
    if found > LAYOUT {
        return Err(StoreError::Newer { path: path.to_path_buf(), found, known: LAYOUT });
    }
    Ok(())
}

pub(super) fn check_read_only(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    check(connection, path)?;
    let found = layout_of(connection)?;
    if found < LAYOUT {
        return Err(StoreError::Older { path: path.to_path_buf(), found, known: LAYOUT });
    }
    Ok(())
}

pub(super) fn migrate(connection: &mut Connection, folder: &Folder) -> Result<(), StoreError> {
    migrate_by(MIGRATIONS, connection, folder)
}

fn migrate_by(steps: &[&str], connection: &mut Connection, folder: &Folder) -> Result<(), StoreError> {
    let (found, known) = (layout_of(connection)?, steps.len() as i64);
    if found == known {
        return Ok(());
    }
    if found > 0 {
        let backup = keep_backup(connection, folder, found)?;
        tracing::info!(from = found, to = known, backup = %backup.display(), "the store gets a newer layout");
    }
    take_steps(connection, steps, found)
}

/// An empty file gets the layout of that number, as an older Menshen made it.
pub(crate) fn make_layout(connection: &mut Connection, layout: i64) -> Result<(), StoreError> {
    let count = usize::try_from(layout).unwrap_or(0).min(MIGRATIONS.len());
    take_steps(connection, &MIGRATIONS[..count], 0)
}

/// From a file's layout to today's, where nobody needs the old one any more.
pub(crate) fn finish_layout(connection: &mut Connection) -> Result<(), StoreError> {
    let found = layout_of(connection)?;
    take_steps(connection, MIGRATIONS, found)
}

fn take_steps(connection: &mut Connection, steps: &[&str], from: i64) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for step in steps.iter().skip(usize::try_from(from).unwrap_or(0)) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", steps.len() as i64)?;
    Ok(transaction.commit()?)
}

fn layout_of(connection: &Connection) -> Result<i64, StoreError> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

fn keep_backup(connection: &Connection, folder: &Folder, layout: i64) -> Result<PathBuf, StoreError> {
    make_private_folder(&folder.backups())?;
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let path = folder.backups().join(format!("menshen-layout{layout}-{seconds}.db"));
    vacuum_into(connection, folder, &path)?;
    Ok(path)
}

/// A whole, compact copy of one moment.
pub(crate) fn vacuum_into(connection: &Connection, folder: &Folder, path: &Path) -> Result<(), StoreError> {
    // SQLite takes an empty file as it is, so this one has its rights from the start.
    folder.make_private_file(path)?;
    connection.execute("VACUUM INTO ?1", [path.to_string_lossy()])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    const NEXT: &str = "CREATE TABLE added (name TEXT) STRICT; INSERT INTO added SELECT kind FROM events;";

    fn opened() -> (TempDir, Folder, Connection) {
        let root = TempDir::new().unwrap();
        let folder = Folder::new(root.path());
        let mut connection = Connection::open(folder.database()).unwrap();
        migrate(&mut connection, &folder).unwrap();
        connection.execute("INSERT INTO events (kind, body) VALUES ('kept', '{}')", []).unwrap();
        (root, folder, connection)
    }

    #[test]
    fn an_older_store_is_copied_whole_before_it_gets_the_newer_layout() {
        let (_root, folder, mut connection) = opened();
        assert!(!folder.backups().exists(), "a new store needs none");
        migrate_by(&[MIGRATIONS, &[NEXT]].concat(), &mut connection, &folder).unwrap();
        let kept: String = connection.query_row("SELECT name FROM added", [], |row| row.get(0)).unwrap();
        assert_eq!((kept.as_str(), layout_of(&connection).unwrap()), ("kept", LAYOUT + 1));
        let backup = Connection::open(folder.newest_backup().unwrap()).unwrap();
        let kept: String = backup.query_row("SELECT kind FROM events", [], |row| row.get(0)).unwrap();
        assert_eq!((kept.as_str(), layout_of(&backup).unwrap()), ("kept", LAYOUT));
    }

    #[test]
    fn a_step_that_fails_leaves_the_older_layout_as_it_was() {
        let (_root, folder, mut connection) = opened();
        let steps = [MIGRATIONS, &[NEXT, "CREATE TABLE added (name TEXT)"]].concat();
        migrate_by(&steps, &mut connection, &folder).unwrap_err();
        assert_eq!(layout_of(&connection).unwrap(), LAYOUT);
        connection.query_row("SELECT count(*) FROM added", [], |row| row.get::<_, i64>(0)).unwrap_err();
    }
}
