//! Files of the folder. Start at [`walk`] and [`Name`]. Invariant: a [`Name`] has only plain components,
//! so joined to the folder it stays inside; links are not followed.

use std::fs;
use std::io::{Read, Write};
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use kernel::ports::Failure;

use super::chunks::{Chunk, markdown, plain};
use super::pdf;

/// Limit: a longer Markdown or text file is not searched; `list` shows it all the same.
const KNOWLEDGE_FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Limit: more files of the folder are not looked at.
const KNOWLEDGE_FILES_MAX: usize = 10_000;
/// Limit: folders inside folders deeper than this are not looked at.
const KNOWLEDGE_DEPTH_MAX: usize = 8;
const NAME_CHARS_MAX: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Markdown,
    Text,
    Pdf,
}

impl Kind {
    fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "md" | "markdown" => Some(Self::Markdown),
            "txt" | "text" | "log" | "csv" => Some(Self::Text),
            "pdf" => Some(Self::Pdf),
            _ => None,
        }
    }
}

/// What tells whether a file changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub bytes: i64,
    pub changed_at_ms: i64,
}

#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub name: String,
    pub kind: Kind,
    pub seen: Stamp,
}

/// A file's name inside the folder, with `/` between folders.
#[derive(Clone, Debug)]
pub(super) struct Name(String);

impl Name {
    pub(super) fn to_read(name: &str) -> Result<Self, Failure> {
        let refuse = |why: &str| {
            let shown = decide::text::clean(name, 120);
            Err(Failure::invalid(format!("{shown} is no name of a knowledge file: {why}; list shows the names")))
        };
        if name.trim().is_empty() || name.chars().count() > NAME_CHARS_MAX {
            return refuse("it is empty or too long");
        }
        if name.chars().any(|c| c.is_control() || matches!(c, '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|')) {
            return refuse("it has a character that file names must not have");
        }
        for component in Path::new(name).components() {
            match component {
                Component::Normal(part) if !part.to_string_lossy().starts_with('.') => {}
                _ => return refuse("it leads out of the folder, or to a hidden file"),
            }
        }
        Ok(Self(name.trim_end_matches('/').to_owned()))
    }

    /// As to be read; without an ending it is Markdown.
    pub(super) fn to_write(name: &str) -> Result<Self, Failure> {
        let Self(name) = Self::to_read(name)?;
        match Kind::of(Path::new(&name)) {
            Some(Kind::Pdf) => Err(Failure::invalid("a PDF cannot be written as text: name the file .md or .txt")),
            Some(_) => Ok(Self(name)),
            None => Ok(Self(format!("{name}.md"))),
        }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// All files that can be searched, in the order of their names.
pub(super) fn walk(root: &Path) -> Vec<Seen> {
    let mut found = Vec::new();
    let mut folders = vec![(root.to_path_buf(), String::new(), 0)];
    while let Some((folder, inside, depth)) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.filter_map(Result::ok) {
            let name = entry.file_name().to_string_lossy().into_owned();
            // `file_type` is that of the link itself, so links are neither files nor folders here.
            let Ok(kind) = entry.file_type() else { continue };
            if name.starts_with('.') || found.len() >= KNOWLEDGE_FILES_MAX {
                continue;
            }
            let name = format!("{inside}{name}");
            if kind.is_dir() && depth < KNOWLEDGE_DEPTH_MAX {
                folders.push((entry.path(), format!("{name}/"), depth + 1));
            } else if kind.is_file() {
                found.extend(seen(&entry.path(), name));
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn seen(path: &Path, name: String) -> Option<Seen> {
    let kind = Kind::of(path)?;
    let metadata = fs::symlink_metadata(path).ok()?;
    let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let stamp = Stamp {
        bytes: i64::try_from(metadata.len()).unwrap_or(i64::MAX),
        changed_at_ms: i64::try_from(changed.as_millis()).unwrap_or(i64::MAX),
    };
    Some(Seen { name, kind, seen: stamp })
}

/// The parts of a file, or why there are none.
pub(super) fn parts(path: &Path, kind: Kind, pdf: &pdf::Reader) -> Result<Vec<Chunk>, String> {
    let limit = if kind == Kind::Pdf { pdf::PDF_BYTES_MAX } else { KNOWLEDGE_FILE_BYTES_MAX };
    let bytes = read(path, limit)?;
    match kind {
        Kind::Pdf => pdf.pages(bytes),
        Kind::Markdown => Ok(markdown(&text(&bytes))),
        Kind::Text => Ok(plain(&text(&bytes))),
    }
}

fn read(path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    let file = fs::File::open(path).map_err(|error| format!("it cannot be opened: {error}"))?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| format!("it cannot be read: {error}"))?;
    if bytes.len() as u64 > limit {
        return Err(format!("it is larger than {} MB: split it", limit / 1024 / 1024));
    }
    Ok(bytes)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_start_matches('\u{feff}').to_owned()
}

/// Writes a file whole: it is there as it was, or as it should be.
pub(super) fn write(root: &Path, name: &Name, content: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::failed(format!("{} cannot be written: {error}", name.as_str()));
    fs::create_dir_all(root).map_err(failed)?;
    let path = inside(root, name)?;
    let folder = path.parent().unwrap_or(root);
    let hidden = folder.join(format!(".{}.new", path.file_name().unwrap_or_default().to_string_lossy()));
    let written = fs::File::create(&hidden)
        .and_then(|mut file| file.write_all(content.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&hidden, &path));
    if written.is_err() {
        // The next scan does not see hidden files.
        let _ = fs::remove_file(&hidden);
    }
    written.map_err(failed)
}

/// The path of a name, its folders made, none of them a link.
fn inside(root: &Path, name: &Name) -> Result<PathBuf, Failure> {
    let mut path = root.to_path_buf();
    let mut components = Path::new(name.as_str()).components().peekable();
    while let Some(component) = components.next() {
        path.push(component);
        let found = fs::symlink_metadata(&path);
        if found.as_ref().is_ok_and(fs::Metadata::is_symlink) {
            let link =
                format!("{} goes through a link, which may lead out of the folder: choose another name", name.as_str());
            return Err(Failure::invalid(link));
        }
        if components.peek().is_some() && found.is_err() {
            fs::create_dir(&path)
                .map_err(|error| Failure::failed(format!("a folder of {} cannot be made: {error}", name.as_str())))?;
        }
    }
    Ok(path)
}
