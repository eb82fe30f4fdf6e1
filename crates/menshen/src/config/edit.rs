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
    let parsed: std::result::Result<DocumentMut, toml_edit::TomlError> = text.parse();
    let mut document = parsed.map_err(|error| not_understood(path, &text, error.message(), error.span()))?;
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

/// What is wrong with the file and where, without a word of what stands there: it may be a token or a code.
pub fn not_understood(path: &Path, text: &str, why: &str, at: Option<std::ops::Range<usize>>) -> anyhow::Error {
    // "invalid type: integer `1234`, expected a string" would tell the code.
    let why = match why.rsplit_once(", expected ") {
        Some((what, expected)) if what.starts_with("invalid ") => format!("expected {expected}"),
        _ => why.to_owned(),
    };
    let line = at.and_then(|at| text.get(..at.start)).map(|before| before.matches('\n').count() + 1);
    let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
    anyhow::anyhow!("cannot understand {}{line}: {}", path.display(), why.replace('\n', " "))
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

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "eyJhbGciOi.SECRET";

    #[test]
    fn a_broken_file_is_told_by_its_line_and_never_by_what_stands_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("menshen.toml");
        for broken in
            ["token = \"{}", "token = {}", "token = \"{}\"\ntoken = \"{}\"", "{}", "= \"{}\"", "a = \"{}\" \"{}\""]
        {
            let text = format!("[house]\n{}\n", broken.replace("{}", SECRET));
            std::fs::write(&path, &text).unwrap();
            let error = format!("{:#}", change(&path, Vec::new()).unwrap_err());
            assert!(!error.contains("SECRET") && error.contains("line "), "{broken}: {error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "the file stays as it was");
        }
    }

    #[test]
    fn a_change_keeps_comments_and_only_the_owner_can_read_the_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("menshen.toml");
        std::fs::write(&path, "# mine\n[gate.guard] # all of them\n\"light.a\" = \"harmless\" # a lamp\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let one = Change { table: &["gate", "guard"], key: "switch.b", value: Some(text("opens")) };
        change(&path, vec![one]).unwrap();
        let written = std::fs::read_to_string(&path).unwrap();
        for kept in ["# mine", "# all of them", "\"light.a\" = \"harmless\" # a lamp", "\"switch.b\" = \"opens\""] {
            assert!(written.contains(kept), "{kept}: {written}");
        }
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
