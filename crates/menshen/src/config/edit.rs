//! Changes the operator's file in place, keeping comments and order. Start at [`change`].
//! Invariant: the file is replaced whole or not at all, and only its owner can read it.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use toml_edit::{DocumentMut, Item, Table, value};

/// One change below a table, `gate.guard` and the like; a missing value takes the key away.
pub struct Change<'a> {
    pub table: &'a [&'a str],
    pub key: &'a str,
    pub value: Option<Item>,
}

pub fn change(path: &Path, changes: Vec<Change<'_>>) -> Result<()> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let mut document: DocumentMut = text.parse().with_context(|| format!("cannot understand {}", path.display()))?;
    for change in changes {
        let mut table = document.as_table_mut();
        for name in change.table {
            let mut fresh = Table::new();
            fresh.set_implicit(true);
            let item = table.entry(name).or_insert(Item::Table(fresh));
            table = item.as_table_mut().with_context(|| format!("`{name}` in {} is no table", path.display()))?;
        }
        match change.value {
            Some(item) => _ = table.insert(change.key, item),
            None => _ = table.remove(change.key),
        }
    }
    write_private(path, document.to_string().as_bytes())
}

/// Writes beside and renames, mode 0600.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let beside = path.with_extension(format!("new-{}", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let write = || -> std::io::Result<()> {
        let mut file = options.open(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// A text as a TOML value.
pub fn text(text: &str) -> Item {
    value(text)
}
