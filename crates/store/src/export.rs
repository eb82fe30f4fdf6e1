//! Everything a household owns as lines of JSON, to move it elsewhere or to read it. Start at
//! [`Store::export`]; [`crate::import`] is the way back.
//!
//! The first line says what this is and what is not in it, the last that it is whole. In between a line
//! is an object with one name, that of the aggregate. Invariant: no secret and no key is in it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::aggregates::{AGGREGATES, Aggregate, FILES};
use crate::database::{Folder, LAYOUT};
use crate::error::StoreError;
use crate::store::Store;

/// The first line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Heading {
    /// Of these lines; 1 so far.
    pub(crate) menshen_export: u32,
    /// Of the store they are from.
    pub(crate) layout: i64,
    pub(crate) version: String,
    /// Secret settings by space and key: they have to be set again.
    pub(crate) secrets_left_out: Vec<String>,
}

/// The last line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ending {
    /// All lines before this one.
    pub(crate) lines: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportReport {
    pub lines: u64,
    pub secrets_left_out: Vec<String>,
}

impl Store {
    /// The rows are of one moment. Also for a store that was opened read-only beside a running one.
    pub async fn export(&self, out: impl Write + Send + 'static) -> Result<ExportReport, StoreError> {
        let folder = self.folder().clone();
        let read = self.database().read(move |connection| {
            let mut lines = Lines { out: BufWriter::new(out), count: 0 };
            let secrets_left_out = secrets(connection)?;
            lines.write(&Heading {
                menshen_export: 1,
                layout: LAYOUT,
                version: env!("CARGO_PKG_VERSION").into(),
                secrets_left_out: secrets_left_out.clone(),
            })?;
            for aggregate in AGGREGATES {
                lines.rows(connection, aggregate)?;
            }
            lines.sequences(connection)?;
            lines.text(&folder)?;
            for name in FILES {
                lines.files(folder.root(), name)?;
            }
            let count = lines.count;
            lines.write(&json!({"end": Ending { lines: count }}))?;
            lines.out.flush().map_err(cannot_write)?;
            Ok(ExportReport { lines: lines.count, secrets_left_out })
        });
        read.await
    }
}

fn secrets(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut statement =
        connection.prepare("SELECT space || '/' || key FROM settings WHERE sealed IS NOT NULL ORDER BY space, key")?;
    let found = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(found)
}

struct Lines<W: Write> {
    out: BufWriter<W>,
    count: u64,
}

impl<W: Write> Lines<W> {
    fn write(&mut self, line: &impl Serialize) -> Result<(), StoreError> {
        serde_json::to_writer(&mut self.out, line)?;
        self.out.write_all(b"\n").map_err(cannot_write)?;
        self.count += 1;
        Ok(())
    }

    fn rows(&mut self, connection: &Connection, aggregate: &Aggregate) -> Result<(), StoreError> {
        let condition = if aggregate.unless.is_empty() { "0" } else { aggregate.unless };
        let mut statement =
            connection.prepare(&format!("SELECT * FROM {} WHERE NOT ({condition})", aggregate.table))?;
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let mut fields = Map::new();
            for (index, column) in columns.iter().enumerate() {
                if !aggregate.left_out.contains(&column.as_str()) {
                    fields.insert(column.clone(), to_json(row.get_ref(index)?)?);
                }
            }
            self.write(&json!({ aggregate.name: fields }))?;
        }
        Ok(())
    }

    /// So that ids go on from where they were, also where their rows are gone.
    fn sequences(&mut self, connection: &Connection) -> Result<(), StoreError> {
        let mut statement = connection.prepare("SELECT name, seq FROM sqlite_sequence ORDER BY name")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (table, last): (String, i64) = (row.get(0)?, row.get(1)?);
            if AGGREGATES.iter().any(|aggregate| aggregate.table == table) {
                self.write(&json!({"sequence": {"table": table, "last": last}}))?;
            }
        }
        Ok(())
    }

    fn text(&mut self, folder: &Folder) -> Result<(), StoreError> {
        let root = folder.text();
        let mut names = crate::text::names_in(&root).map_err(|error| StoreError::file(&root, error))?;
        names.sort();
        for name in names {
            let path = root.join(&name);
            let file = File::open(&path).map_err(|error| StoreError::file(&path, error))?;
            for line in BufReader::new(file).split(b'\n') {
                let line = line.map_err(|error| StoreError::file(&path, error))?;
                // One that a crash cut short says nothing any more.
                if let Ok(line) = serde_json::from_slice::<Value>(&line) {
                    self.write(&json!({"text": {"file": name, "line": line}}))?;
                }
            }
        }
        Ok(())
    }

    fn files(&mut self, root: &Path, name: &str) -> Result<(), StoreError> {
        let path = root.join(name);
        let Ok(found) = fs::symlink_metadata(&path) else { return Ok(()) };
        if found.is_dir() {
            let entries = fs::read_dir(&path).map_err(|error| StoreError::file(&path, error))?;
            let mut names: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.file_name()).collect();
            names.sort();
            for inner in names {
                let Some(inner) = inner.to_str() else {
                    tracing::warn!(folder = %path.display(), "a file whose name is no text is not exported");
                    continue;
                };
                self.files(root, &format!("{name}/{inner}"))?;
            }
        } else if found.is_file() {
            let bytes = fs::read(&path).map_err(|error| StoreError::file(&path, error))?;
            let line = match String::from_utf8(bytes) {
                Ok(text) => json!({"file": {"name": name, "text": text}}),
                Err(error) => json!({"file": {"name": name, "base64": STANDARD.encode(error.as_bytes())}}),
            };
            self.write(&line)?;
        }
        Ok(())
    }
}

fn to_json(value: ValueRef<'_>) -> Result<Value, StoreError> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => json!(number),
        ValueRef::Real(number) => json!(number),
        ValueRef::Text(_) => json!(value.as_str().map_err(rusqlite::Error::from)?),
        ValueRef::Blob(bytes) => json!({"base64": STANDARD.encode(bytes)}),
    })
}

fn cannot_write(error: std::io::Error) -> StoreError {
    StoreError::file(Path::new("the export"), error)
}
