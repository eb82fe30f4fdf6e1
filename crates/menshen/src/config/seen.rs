//! What foreign tools said of themselves when they were allowed. Start at [`Seen::class`].
//!
//! Invariants: a tool that is allowed is held to what it said when it was first seen as allowed; saying
//! something else it asks, over a restart too, until a person accepts it; a file that cannot be read or written
//! allows nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use decide::gate::Language;
use mcp::client::{Asked, Class};
use serde::{Deserialize, Serialize};

/// Of one tool, digests of what it says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Said {
    pub allowed: String,
    /// What it said last.
    pub now: String,
    /// The same in its own words.
    pub words: String,
}

impl Said {
    pub fn changed(&self) -> bool {
        self.allowed != self.now
    }

    /// Names what it says now, so that a person accepts what they read and nothing newer.
    pub fn code(&self) -> &str {
        self.now.get(..CODE_LETTERS).unwrap_or_default()
    }
}

const CODE_LETTERS: usize = 12;

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
        asked.said.clone_into(&mut said.words);
        let (class, new) = (if said.changed() { Class::Changed } else { Class::Allow }, *said != before);
        if new && let Err(error) = write(&self.path, &tools) {
            tracing::error!("{error:#}: no foreign tool is allowed");
            return Class::Changed;
        }
        class
    }
}

/// A person looked at what this tool says now, which has this code, and allows it.
pub fn accept(folder: &Path, server: &str, tool: &str, code: &str, language: Language) -> Result<()> {
    let path = folder.join("tools.json");
    let mut tools = read(&path)?;
    let Some(said) = tools.get_mut(server).and_then(|tools| tools.get_mut(tool)) else {
        bail!(match language {
            Language::English => format!(
                "no tool `{tool}` of a server `{server}` was allowed and seen yet: `menshen tools list` shows those that were"
            ),
            Language::Chinese =>
                format!("还没有见过服务器 `{server}` 的已允许的工具 `{tool}`：`menshen tools list` 列出见过的"),
        });
    };
    if said.code().is_empty() || code != said.code() {
        bail!(match language {
            Language::English => format!(
                "`{tool}` of `{server}` says something else than what has the code {code}: look again with `menshen tools list`"
            ),
            Language::Chinese => {
                format!("`{server}` 的 `{tool}` 现在的说明与代码 {code} 不符：请用 `menshen tools list` 再看一次")
            }
        });
    }
    said.allowed.clone_from(&said.now);
    write(&path, &tools)
}

/// All that was seen, in order: server, tool, and what it says.
pub fn list(folder: &Path) -> Result<Vec<(String, String, Said)>> {
    let tools = read(&folder.join("tools.json"))?;
    let rows = tools
        .into_iter()
        .flat_map(|(server, tools)| tools.into_iter().map(move |(tool, said)| (server.clone(), tool, said)));
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
        Asked { server: "notes", tool, digest, said: digest }
    }

    #[test]
    fn a_tool_is_held_to_what_it_said_when_it_was_allowed_over_a_restart_too() {
        let folder = tempfile::tempdir().unwrap();
        let (seen, first, other) = (Seen::new(folder.path()), "aaaaaaaaaaaaaa", "cccccccccccccc");
        assert_eq!(seen.class(&asked("echo", first)), Class::Allow);
        assert_eq!(seen.class(&asked("echo", "bbbbbbbbbbbbbb")), Class::Changed);
        assert_eq!(seen.class(&asked("echo", first)), Class::Allow);
        assert_eq!(Seen::new(folder.path()).class(&asked("echo", other)), Class::Changed);
        let rows = list(folder.path()).unwrap();
        assert_eq!(rows.len(), 1);
        let (server, tool, said) = &rows[0];
        assert_eq!((server.as_str(), tool.as_str(), said.words.as_str()), ("notes", "echo", other));
        assert!(said.changed());
        // It became another one once more, while the person read.
        assert_eq!(seen.class(&asked("echo", "eeeeeeeeeeeeee")), Class::Changed);
        let english = Language::English;
        assert!(accept(folder.path(), "notes", "echo", said.code(), english).is_err());
        assert!(accept(folder.path(), "notes", "echo", "", english).is_err());
        assert_eq!(seen.class(&asked("echo", other)), Class::Changed);
        accept(folder.path(), "notes", "echo", said.code(), english).unwrap();
        assert_eq!(seen.class(&asked("echo", other)), Class::Allow);
        assert_eq!(seen.class(&asked("echo", first)), Class::Changed);
        assert!(accept(folder.path(), "notes", "other", said.code(), english).is_err());
    }

    #[test]
    fn a_file_that_cannot_be_read_or_written_allows_nothing() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tools.json"), "{").unwrap();
        assert_eq!(Seen::new(folder.path()).class(&asked("echo", "a")), Class::Changed);
        assert_eq!(Seen::new(Path::new("/proc/nowhere")).class(&asked("echo", "a")), Class::Changed);
    }
}
