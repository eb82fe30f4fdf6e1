//! What is in the household's folder. Start at [`Kept::read`]. Invariant: what cannot be read fails the
//! test here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use store::{Access, Options, Store};

#[derive(Debug)]
pub struct KeptInput {
    pub client_id: Option<String>,
    pub text: String,
    /// As it was put in: `text`, `interrupt`, `no_memory`.
    pub kind: String,
    pub turn: Option<String>,
}

#[derive(Debug)]
pub struct KeptTurn {
    pub answered: bool,
    pub reply: String,
    pub inputs: Vec<i64>,
}

#[derive(Default)]
pub struct Kept {
    pub inputs: BTreeMap<i64, KeptInput>,
    pub turns: BTreeMap<String, KeptTurn>,
    pub outbox_turns: Vec<String>,
    pub schedules: i64,
}

impl Kept {
    pub async fn read(data: &Path) -> Self {
        let store = Store::open(data, &Options::default()).unwrap();
        let read = store.database().read(|connection| {
            let sound: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
            assert_eq!(sound, "ok");
            let astray = connection.prepare("PRAGMA foreign_key_check")?.query([])?.next()?.is_some();
            assert!(!astray, "a row points to nothing");
            let mut kept = Self::default();
            let mut statement =
                connection.prepare("SELECT id, client_id, input ->> 'text', turn, input ->> 'kind' FROM inputs")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let input =
                    KeptInput { client_id: row.get(1)?, text: row.get(2)?, turn: row.get(3)?, kind: row.get(4)? };
                kept.inputs.insert(row.get(0)?, input);
            }
            let mut statement = connection.prepare(
                "SELECT turn, answered_at_ms IS NOT NULL, coalesce(reply, ''), coalesce(inputs, '[]') FROM turns",
            )?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let inputs: String = row.get(3)?;
                let inputs = serde_json::from_str(&inputs).unwrap();
                let turn = KeptTurn { answered: row.get(1)?, reply: row.get(2)?, inputs };
                kept.turns.insert(row.get(0)?, turn);
            }
            let mut statement = connection.prepare("SELECT turn FROM outbox")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                kept.outbox_turns.push(row.get(0)?);
            }
            kept.schedules = connection.query_row("SELECT count(*) FROM schedules", [], |row| row.get(0))?;
            Ok(kept)
        });
        read.await.unwrap()
    }
}

/// Messages without an answer, and timers; beside the process that has the folder.
pub async fn waiting(data: &Path) -> (i64, i64) {
    let store = Store::open(data, &Options { access: Access::ReadOnly, ..Options::default() }).unwrap();
    let read = store.database().read(|connection| {
        let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        Ok((count("SELECT count(*) FROM inputs WHERE turn IS NULL")?, count("SELECT count(*) FROM schedules")?))
    });
    read.await.unwrap()
}

/// A copy of the folder as the kill left it opens and is sound; one whose newest files lack their last
/// bytes, as after a loss of power, too.
pub fn check_copy(data: &Path, chance: u64) {
    if !data.join("menshen.db").exists() {
        return;
    }
    for cut in [0, 1 + chance % 5000] {
        let copy = tempfile::tempdir().unwrap();
        for path in files_in(data) {
            let name = path.strip_prefix(data).unwrap();
            let mut bytes = std::fs::read(&path).unwrap();
            // SQLite syncs the main file before it gives up the log that it came from.
            if cut > 0 && name.to_str().is_some_and(|name| name.ends_with("-wal") || name.ends_with(".jsonl")) {
                bytes.truncate(bytes.len().saturating_sub(usize::try_from(cut).unwrap()));
            }
            let to = copy.path().join(name);
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::write(to, bytes).unwrap();
        }
        let check = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(Kept::read(copy.path()));
            text_lines(&copy.path().join("text"));
        });
        check.join().unwrap_or_else(|_| panic!("a copy without its last {cut} bytes is not sound"));
    }
}

/// All files below, sockets left out.
pub fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(files_in(&entry.path()));
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
    found
}

/// Lines that can be read, and how many cannot.
pub fn text_lines(folder: &Path) -> (Vec<Value>, usize) {
    let (mut lines, mut torn) = (Vec::new(), 0);
    let files = if folder.exists() { files_in(folder) } else { Vec::new() };
    for path in files {
        for line in String::from_utf8_lossy(&std::fs::read(path).unwrap()).lines() {
            match serde_json::from_str(line) {
                Ok(value) => lines.push(value),
                Err(_) => torn += 1,
            }
        }
    }
    (lines, torn)
}
