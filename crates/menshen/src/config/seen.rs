//! What foreign tools said of themselves when they were allowed. Start at [`Seen::class`].
//!
//! Invariants: a tool that is allowed is held to what it said when it was first seen as allowed; saying
//! something else it asks, over a restart too, until a person accepts it; a file that cannot be read or written
//! allows nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use mcp::client::{Asked, Class};
use serde::{Deserialize, Serialize};

/// Of one tool, digests of what it says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    pub allowed: String,
    /// What it said last.
    pub now: String,
}

type Tools = BTreeMap<String, BTreeMap<String, Said>>;

/// The file; read at every question, so that an acceptance holds at once.
pub struct Seen {
    path: PathBuf,
    one_at_a_time: Mutex<()>,
}

impl Seen {
    pub fn new(folder: &Path) -> Self {
        Self { path: folder.join("tools.json"), one_at_a_time: Mutex::default() }
    }

    /// The class of a tool that the operator allowed.
    pub fn class(&self, asked: &Asked<'_>) -> Class {
        let _mine = self.one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tools = match read(&self.path) {
            Ok(tools) => tools,
            Err(error) => {
                tracing::error!("{error:#}: no foreign tool is allowed");
                return Class::Changed;
            }
        };
        let said = tools.entry(asked.server.to_owned()).or_default().entry(asked.tool.to_owned()).or_default();
        let before = said.clone();
        if said.allowed.is_empty() {
            asked.digest.clone_into(&mut said.allowed);
        }
        asked.digest.clone_into(&mut said.now);
        let (class, new) = (if said.allowed == said.now { Class::Allow } else { Class::Changed }, *said != before);
        if new && let Err(error) = write(&self.path, &tools) {
            tracing::error!("{error:#}: no foreign tool is allowed");
            return Class::Changed;
        }
        class
    }
}

/// A person looked at what this tool says now, and allows it; false where it was never seen as allowed.
pub fn accept(folder: &Path, server: &str, tool: &str) -> Result<bool> {
    let path = folder.join("tools.json");
    let mut tools = read(&path)?;
    let Some(said) = tools.get_mut(server).and_then(|tools| tools.get_mut(tool)) else { return Ok(false) };
    said.allowed.clone_from(&said.now);
    write(&path, &tools)?;
    Ok(true)
}

/// All that was seen, in order: server, tool, and whether it is another than was allowed.
pub fn list(folder: &Path) -> Result<Vec<(String, String, bool)>> {
    let tools = read(&folder.join("tools.json"))?;
    let rows = tools.into_iter().flat_map(|(server, tools)| {
        tools.into_iter().map(move |(tool, said)| (server.clone(), tool, said.allowed != said.now))
    });
    Ok(rows.collect())
}

fn read(path: &Path) -> Result<Tools> {
    match std::fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).with_context(|| format!("cannot understand {}", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Tools::new()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

fn write(path: &Path, tools: &Tools) -> Result<()> {
    super::edit::write_private(path, serde_json::to_string_pretty(tools)?.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked<'a>(tool: &'a str, digest: &'a str) -> Asked<'a> {
        Asked { server: "notes", tool, digest }
    }

    #[test]
    fn a_tool_is_held_to_what_it_said_when_it_was_allowed_over_a_restart_too() {
        let folder = tempfile::tempdir().unwrap();
        let seen = Seen::new(folder.path());
        assert_eq!(seen.class(&asked("echo", "a")), Class::Allow);
        assert_eq!(seen.class(&asked("echo", "b")), Class::Changed);
        assert_eq!(seen.class(&asked("echo", "a")), Class::Allow);
        assert_eq!(Seen::new(folder.path()).class(&asked("echo", "c")), Class::Changed);
        assert_eq!(list(folder.path()).unwrap(), [("notes".to_owned(), "echo".to_owned(), true)]);
        assert!(accept(folder.path(), "notes", "echo").unwrap());
        assert_eq!(seen.class(&asked("echo", "c")), Class::Allow);
        assert_eq!(seen.class(&asked("echo", "a")), Class::Changed);
        assert!(!accept(folder.path(), "notes", "other").unwrap());
    }

    #[test]
    fn a_file_that_cannot_be_read_or_written_allows_nothing() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tools.json"), "{").unwrap();
        assert_eq!(Seen::new(folder.path()).class(&asked("echo", "a")), Class::Changed);
        assert_eq!(Seen::new(Path::new("/proc/nowhere")).class(&asked("echo", "a")), Class::Changed);
    }
}
