//! An export becomes a store. Start at [`import`].
//!
//! Invariant: all or nothing, over a crash too. Everything is built in `import.partial`; only when it is
//! whole and on the disk does a file `complete` appear in there, and only then are things moved to
//! their places, from where they are picked up again by whoever opens the folder next.

mod rows;
mod stage;

use std::io::BufRead;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::database::{Folder, LAYOUT, Lock};
use crate::error::StoreError;
use crate::export::{Ending, Heading};
use stage::Stage;
pub(crate) use stage::finish_or_clear;

/// Limit: a longer line of an export is refused.
pub const IMPORT_LINE_BYTES_MAX: u64 = 256 * 1024 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportReport {
    pub lines: u64,
    /// By space and key: they were not in the export and have to be set again.
    pub secrets_to_set: Vec<String>,
}

#[derive(Deserialize)]
struct Sequence {
    table: String,
    last: i64,
}

#[derive(Deserialize)]
struct TextLine {
    file: String,
    line: Value,
}

#[derive(Deserialize)]
pub(crate) struct FileLine {
    name: String,
    text: Option<String>,
    base64: Option<String>,
}

/// Into a data folder that has no store yet, or an empty one. Blocks until all is on the disk.
pub fn import(folder: &Path, input: impl BufRead) -> Result<ImportReport, StoreError> {
    let folder = Folder::new(folder);
    folder.make()?;
    let lock = Lock::take(&folder)?;
    finish_or_clear(&folder)?;
    stage::check_empty(&folder)?;
    let done = Stage::make(&folder).and_then(|stage| fill(stage, input));
    let report = match done {
        Ok((stage, report)) => {
            stage.complete()?;
            report
        }
        Err(error) => {
            finish_or_clear(&folder)?;
            return Err(error);
        }
    };
    finish_or_clear(&folder)?;
    drop(lock);
    Ok(report)
}

fn fill(mut stage: Stage, mut input: impl BufRead) -> Result<(Stage, ImportReport), StoreError> {
    let mut line = Vec::new();
    let mut number = 0;
    let heading = heading(next_line(&mut input, &mut line, number)?, number)?;
    stage.begin(heading.layout)?;
    loop {
        number += 1;
        let Some(bytes) = next_line(&mut input, &mut line, number)? else {
            return Err(wrong(number, "it ends here, but its last line is missing: the export was cut short"));
        };
        let (name, body) = one_name(bytes, number)?;
        if name == "end" {
            let ending: Ending = read(body, number)?;
            if ending.lines != number {
                return Err(wrong(number, &format!("it had {} lines before this one", ending.lines)));
            }
            break;
        }
        take(&mut stage, &name, body, number)?;
    }
    if next_line(&mut input, &mut line, number + 1)?.is_some() {
        return Err(wrong(number + 1, "something follows the last line"));
    }
    stage.finish()?;
    Ok((stage, ImportReport { lines: number + 1, secrets_to_set: heading.secrets_left_out }))
}

fn take(stage: &mut Stage, name: &str, body: Value, number: u64) -> Result<(), StoreError> {
    match name {
        "sequence" => {
            let sequence: Sequence = read(body, number)?;
            stage.sequence(&sequence.table, sequence.last).map_err(|error| at(number, error))
        }
        "text" => {
            let text: TextLine = read(body, number)?;
            stage.text(&text.file, &text.line).map_err(|error| at(number, error))
        }
        "file" => stage.file(read(body, number)?).map_err(|error| at(number, error)),
        _ => {
            let fields: Map<String, Value> = read(body, number)?;
            stage.row(name, fields).map_err(|error| at(number, error))
        }
    }
}

fn heading(bytes: Option<&[u8]>, number: u64) -> Result<Heading, StoreError> {
    let heading: Heading = bytes
        .and_then(|bytes| serde_json::from_slice(bytes).ok())
        .ok_or_else(|| wrong(number, "this is not an export of Menshen: its first line says nothing of one"))?;
    if heading.menshen_export != 1 || heading.layout > LAYOUT {
        let message = format!("it was written by the newer Menshen {}: install that version", heading.version);
        return Err(wrong(number, &message));
    }
    Ok(heading)
}

fn next_line<'a>(input: &mut impl BufRead, line: &'a mut Vec<u8>, number: u64) -> Result<Option<&'a [u8]>, StoreError> {
    line.clear();
    let mut limited = std::io::Read::take(input, IMPORT_LINE_BYTES_MAX);
    let read = limited.read_until(b'\n', line).map_err(|error| wrong(number, &error.to_string()))?;
    if read as u64 == IMPORT_LINE_BYTES_MAX {
        return Err(wrong(number, "it is too long"));
    }
    Ok((read > 0).then_some(line.as_slice()))
}

/// A line is an object with one name.
fn one_name(bytes: &[u8], number: u64) -> Result<(String, Value), StoreError> {
    let line: Map<String, Value> = serde_json::from_slice(bytes).map_err(|error| wrong(number, &error.to_string()))?;
    let mut names = line.into_iter();
    match (names.next(), names.next()) {
        (Some(one), None) => Ok(one),
        _ => Err(wrong(number, "it has not exactly one name")),
    }
}

fn read<T: serde::de::DeserializeOwned>(body: Value, number: u64) -> Result<T, StoreError> {
    serde_json::from_value(body).map_err(|error| wrong(number, &error.to_string()))
}

fn wrong(number: u64, problem: &str) -> StoreError {
    StoreError::Import { line: number + 1, problem: problem.to_owned() }
}

/// Says in which line it was, unless it says so already or has nothing to do with the line.
fn at(number: u64, error: StoreError) -> StoreError {
    match error {
        StoreError::Import { .. } | StoreError::DiskFull | StoreError::File { .. } => error,
        other => wrong(number, &other.to_string()),
    }
}
