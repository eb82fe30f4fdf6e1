//! Where an import is built, and how it gets to its place. Start at [`Stage`] and [`finish_or_clear`].
//!
//! Invariant: with `complete` in it the stage is moved on to its end; without, it is thrown away.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rusqlite::Connection;
use sdk::Failure;
use serde_json::{Map, Value};

use super::{FileLine, rows};
use crate::aggregates::{AGGREGATES, FILES};
use crate::database::{Folder, enlarge_cache, finish_layout, make_layout, make_private_folder, sync_folder};
use crate::error::StoreError;
use crate::outbox::leave_a_gap;
use crate::search::Dictionary;
use crate::{documents, graph};

const COMPLETE: &str = "complete";
const DATABASE: &str = "menshen.db";
const TEXT: &str = "text";

pub(super) struct Stage {
    root: PathBuf,
    connection: Connection,
    /// The text file that lines are written to now.
    text: Option<(String, BufWriter<File>)>,
}

impl Stage {
    pub(super) fn make(folder: &Folder) -> Result<Self, StoreError> {
        let root = folder.import_stage();
        make_private_folder(&root)?;
        let path = root.join(DATABASE);
        folder.make_private_file(&path)?;
        let connection = Connection::open(&path)?;
        enlarge_cache(&connection)?;
        Ok(Self { root, connection, text: None })
    }

    /// Rows come in as the store had them that they are from.
    pub(super) fn begin(&mut self, layout: i64) -> Result<(), StoreError> {
        make_layout(&mut self.connection, layout)?;
        self.connection.pragma_update(None, "foreign_keys", true)?;
        Ok(self.connection.execute_batch("BEGIN")?)
    }

    pub(super) fn row(&mut self, name: &str, fields: Map<String, Value>) -> Result<(), StoreError> {
        rows::insert(&self.connection, name, fields)
    }

    pub(super) fn sequence(&mut self, table: &str, last: i64) -> Result<(), StoreError> {
        if !AGGREGATES.iter().any(|aggregate| aggregate.table == table) {
            return Err(Failure::invalid(format!("there is no table {table}")).into());
        }
        let known =
            self.connection.execute("UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1", (table, last))?;
        if known == 0 {
            self.connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)", (table, last))?;
        }
        Ok(())
    }

    pub(super) fn text(&mut self, name: &str, line: &Value) -> Result<(), StoreError> {
        let plain = name.ends_with(".jsonl") && !name.contains(['/', '\\', '\0']);
        if !plain {
            return Err(Failure::invalid(format!("{name} is no name of a text file")).into());
        }
        let path = self.root.join(TEXT).join(name);
        let mut open = match self.text.take() {
            Some((current, file)) if current == name => file,
            other => {
                if let Some((_, file)) = other {
                    close(file, &path)?;
                }
                make_private_folder(&self.root.join(TEXT))?;
                let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
                BufWriter::new(file.map_err(|error| StoreError::file(&path, error))?)
            }
        };
        writeln!(open, "{line}").map_err(|error| StoreError::file(&path, error))?;
        self.text = Some((name.to_owned(), open));
        Ok(())
    }

    pub(super) fn file(&mut self, line: FileLine) -> Result<(), StoreError> {
        let relative = Path::new(&line.name);
        let mut parts = relative.components();
        let known = parts.next().is_some_and(|first| FILES.iter().any(|name| first.as_os_str() == *name));
        if !known || !relative.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(Failure::invalid(format!("{} is no place for a file", line.name)).into());
        }
        let bytes = match (line.text, line.base64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(text)) => STANDARD
                .decode(text)
                .map_err(|error| Failure::invalid(format!("{} is not base64: {error}", line.name)))?,
            _ => return Err(Failure::invalid(format!("{} has not exactly one content", line.name)).into()),
        };
        let path = self.root.join(relative);
        if let Some(parent) = path.parent() {
            make_private_folder(parent)?;
        }
        let written = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&path);
        let written = written.and_then(|mut file| file.write_all(&bytes).and_then(|()| file.sync_all()));
        written.map_err(|error| StoreError::file(&path, error))
    }

    pub(super) fn finish(&mut self) -> Result<(), StoreError> {
        if let Some((_, file)) = self.text.take() {
            close(file, &self.root.join(TEXT))?;
        }
        self.connection.execute_batch("COMMIT")?;
        finish_layout(&mut self.connection)?;
        self.index()?;
        leave_a_gap(&self.connection)
    }

    /// What is searched by is not in an export. The knowledge folder and the text files are read when they
    /// are first needed, as any that are new.
    fn index(&self) -> Result<(), StoreError> {
        let dictionary = Dictionary::default();
        self.connection.execute_batch("BEGIN")?;
        graph::index_again(&self.connection, &dictionary)?;
        documents::index_again(&self.connection, &dictionary)?;
        Ok(self.connection.execute_batch("COMMIT")?)
    }

    /// From here on it will be moved to its place, whatever happens.
    pub(super) fn complete(self) -> Result<(), StoreError> {
        self.connection.close().map_err(|(_, error)| StoreError::from(error))?;
        sync_all(&self.root)?;
        let path = self.root.join(COMPLETE);
        let written = File::create(&path).and_then(|file| file.sync_all());
        written.map_err(|error| StoreError::file(&path, error))?;
        sync_folder(&self.root)
    }
}

/// For whoever holds the lock: an import that was whole is brought to its end, half a one is removed.
pub(crate) fn finish_or_clear(folder: &Folder) -> Result<(), StoreError> {
    let stage = folder.import_stage();
    if !stage.exists() {
        return Ok(());
    }
    if stage.join(COMPLETE).exists() {
        // The database comes last: without it there is no store that could be opened half full.
        for name in FILES.iter().copied().chain([TEXT, DATABASE]) {
            move_over(&stage.join(name), &folder.root().join(name), folder)?;
        }
        sync_folder(folder.root())?;
        tracing::info!("the import is in its place");
    }
    fs::remove_dir_all(&stage).map_err(|error| StoreError::file(&stage, error))
}

fn move_over(from: &Path, to: &Path, folder: &Folder) -> Result<(), StoreError> {
    if !from.exists() {
        return Ok(());
    }
    if *to == folder.database() {
        // Left by the empty store that was here; they are not the new one's.
        for ending in ["-wal", "-shm"] {
            let side = PathBuf::from(format!("{}{ending}", to.display()));
            if side.exists() {
                fs::remove_file(&side).map_err(|error| StoreError::file(&side, error))?;
            }
        }
    }
    fs::rename(from, to).map_err(|error| StoreError::file(to, error))
}

/// Nothing is there that an import would have to be mixed with.
pub(super) fn check_empty(folder: &Folder) -> Result<(), StoreError> {
    for name in FILES.iter().copied().chain([TEXT]) {
        let path = folder.root().join(name);
        let filled = match fs::read_dir(&path) {
            Ok(mut entries) => entries.next().is_some(),
            Err(_) => path.exists(),
        };
        if filled {
            return Err(StoreError::NotEmpty { path });
        }
    }
    let path = folder.database();
    if !path.exists() || fs::metadata(&path).is_ok_and(|found| found.len() == 0) {
        return Ok(());
    }
    let connection = Connection::open(&path)?;
    for aggregate in AGGREGATES {
        let there = connection
            .query_row("SELECT count(*) FROM sqlite_schema WHERE name = ?1", [aggregate.table], |row| row.get(0))
            .and_then(|tables: i64| match tables {
                0 => Ok(0),
                _ => connection
                    .query_row(&format!("SELECT EXISTS (SELECT 1 FROM {})", aggregate.table), [], |row| row.get(0)),
            })?;
        if there > 0 {
            return Err(StoreError::NotEmpty { path });
        }
    }
    Ok(())
}

fn close(file: BufWriter<File>, path: &Path) -> Result<(), StoreError> {
    let written = file.into_inner().map_err(|error| error.into_error()).and_then(|file| file.sync_all());
    written.map_err(|error| StoreError::file(path, error))
}

fn sync_all(folder: &Path) -> Result<(), StoreError> {
    let entries = fs::read_dir(folder).map_err(|error| StoreError::file(folder, error))?;
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        if path.is_dir() {
            sync_all(&path)?;
        }
    }
    sync_folder(folder)
}
