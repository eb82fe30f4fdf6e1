//! The files: appending, putting aside, reading. Start at [`Files::append`].
//!
//! Invariants: names in their order are the order of writing, also when the clock was set back; a line
//! is the bytes up to a line end, and what has none yet does not count.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use sdk::TextEvent;

use super::TextPlace;
use crate::database::{make_private_folder, sync_folder};
use crate::error::StoreError;

/// Limit: a fuller text file is put aside and the next one begun.
pub const TEXT_FILE_BYTES_MAX: u64 = 10 * 1024 * 1024;

/// Limit: the same for an older one.
pub const TEXT_FILE_AGE_SECS: i64 = 24 * 60 * 60;

/// Limit: more text files than these are kept too, they are the household's; only counted as beyond.
pub const TEXT_FILES_USUAL: usize = 4_000;

#[derive(Clone, Copy, Debug)]
pub struct TextLimits {
    pub file_bytes_max: u64,
    pub file_age_secs: i64,
    pub files_usual: usize,
}

impl Default for TextLimits {
    fn default() -> Self {
        Self { file_bytes_max: TEXT_FILE_BYTES_MAX, file_age_secs: TEXT_FILE_AGE_SECS, files_usual: TEXT_FILES_USUAL }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextStats {
    pub files: usize,
    pub bytes: u64,
    /// Of them, more than is usual.
    pub files_beyond: usize,
}

pub(super) struct Files {
    folder: PathBuf,
    limits: TextLimits,
    read_only: bool,
    current: Option<Current>,
}

struct Current {
    name: String,
    file: File,
    bytes: u64,
    /// Unix seconds of its first line.
    began_s: i64,
}

impl Files {
    pub(super) fn new(folder: &Path, limits: TextLimits, read_only: bool) -> Self {
        Self { folder: folder.to_path_buf(), limits, read_only, current: None }
    }

    pub(super) fn append(&mut self, mut event: TextEvent) -> Result<(), StoreError> {
        if self.read_only {
            return Err(StoreError::ReadOnly);
        }
        if event.timestamp == 0 {
            event.timestamp = now_s();
        }
        let mut line = serde_json::to_vec(&event)?;
        line.push(b'\n');
        let mut current = match self.current.take() {
            Some(current) => current,
            None => self.resume(event.timestamp)?,
        };
        let old = event.timestamp.saturating_sub(current.began_s) >= self.limits.file_age_secs;
        if current.bytes > 0 && (old || current.bytes + line.len() as u64 > self.limits.file_bytes_max) {
            current = self.begin(event.timestamp)?;
        }
        let path = self.folder.join(&current.name);
        let written = current.file.write_all(&line).and_then(|()| current.file.sync_data());
        // After an error the file is looked at anew: half a line may stand at its end.
        written.map_err(|error| StoreError::file(&path, error))?;
        current.bytes += line.len() as u64;
        self.current = Some(current);
        Ok(())
    }

    /// The newest file, if there is one.
    fn resume(&self, now_s: i64) -> Result<Current, StoreError> {
        make_private_folder(&self.folder)?;
        let Some(name) = self.names()?.pop() else { return self.begin(now_s) };
        let path = self.folder.join(&name);
        let opened = open_to_append(&path).and_then(|(file, bytes)| {
            let began_s = first_line(&path)?.map_or(now_s, |event| event.timestamp);
            Ok(Current { name, file, bytes, began_s })
        });
        opened.map_err(|error| StoreError::file(&path, error))
    }

    fn begin(&self, now_s: i64) -> Result<Current, StoreError> {
        let name = self.next_name(now_s)?;
        let path = self.folder.join(&name);
        let (file, bytes) = open_to_append(&path).map_err(|error| StoreError::file(&path, error))?;
        sync_folder(&self.folder)?;
        Ok(Current { name, file, bytes, began_s: now_s })
    }

    fn next_name(&self, now_s: i64) -> Result<String, StoreError> {
        let time = jiff::Timestamp::from_second(now_s).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        let time = time.strftime("%Y-%m-%dT%H-%M-%SZ").to_string();
        let fresh = format!("{time}-0001.jsonl");
        let Some(last) = self.names()?.pop().filter(|last| *last >= fresh) else { return Ok(fresh) };
        // The same second, or a clock that was set back: the next number of the newest name.
        let stem = last.strip_suffix(".jsonl").unwrap_or(&last);
        let (time, number) = stem.rsplit_once('-').unwrap_or((stem, "0"));
        Ok(format!("{time}-{:04}.jsonl", number.parse::<u32>().unwrap_or(0) + 1))
    }

    /// Oldest first.
    fn names(&self) -> Result<Vec<String>, StoreError> {
        let mut names = names_in(&self.folder).map_err(|error| StoreError::file(&self.folder, error))?;
        names.sort();
        Ok(names)
    }

    pub(super) fn stats(&self) -> Result<TextStats, StoreError> {
        let names = self.names()?;
        let sizes = names.iter().filter_map(|name| fs::metadata(self.folder.join(name)).ok());
        Ok(TextStats {
            files: names.len(),
            bytes: sizes.map(|found| found.len()).sum(),
            files_beyond: names.len().saturating_sub(self.limits.files_usual),
        })
    }

    /// At most so many lines that were written after that one.
    pub(super) fn lines_after(
        &self,
        after: Option<&TextPlace>,
        count: usize,
    ) -> Result<Vec<(TextPlace, TextEvent)>, StoreError> {
        let mut found = Vec::new();
        let names = self.names()?;
        let names = names.into_iter().filter(|name| after.is_none_or(|after| *name >= after.file));
        for name in names {
            let path = self.folder.join(&name);
            let from = after.filter(|after| after.file == name).map(|after| after.offset);
            let read = each_line(&path, from.unwrap_or(0), |offset, event| {
                if from != Some(offset) {
                    found.push((TextPlace { file: name.clone(), offset }, event));
                }
                found.len() < count
            });
            read.map_err(|error| StoreError::file(&path, error))?;
            if found.len() >= count {
                break;
            }
        }
        Ok(found)
    }
}

/// The line that begins there, if one does.
pub(super) fn line_at(folder: &Path, place: &TextPlace) -> Option<TextEvent> {
    let mut file = File::open(folder.join(&place.file)).ok()?;
    if place.offset > 0 {
        let mut before = [0];
        file.seek(SeekFrom::Start(place.offset - 1)).ok()?;
        file.read_exact(&mut before).ok()?;
        if before != *b"\n" {
            return None;
        }
    }
    let mut line = Vec::new();
    BufReader::new(file).read_until(b'\n', &mut line).ok()?;
    if line.ends_with(b"\n") { serde_json::from_slice(&line).ok() } else { None }
}

/// Gives each whole line that can be read, with its place, until the taker says `false`.
pub(super) fn each_line(path: &Path, from: u64, mut take: impl FnMut(u64, TextEvent) -> bool) -> io::Result<()> {
    let mut file = BufReader::new(File::open(path)?);
    file.seek(SeekFrom::Start(from))?;
    let mut offset = from;
    let mut line = Vec::new();
    while file.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
        if let Ok(event) = serde_json::from_slice(&line)
            && !take(offset, event)
        {
            break;
        }
        offset += line.len() as u64;
        line.clear();
    }
    Ok(())
}

pub(crate) fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        if let Ok(name) = entry?.file_name().into_string()
            && name.ends_with(".jsonl")
        {
            names.push(name);
        }
    }
    Ok(names)
}

/// Ends a line that a crash cut short, so that the next one stands for itself.
fn open_to_append(path: &Path) -> io::Result<(File, u64)> {
    let mut file = OpenOptions::new().create(true).append(true).read(true).mode(0o600).open(path)?;
    let mut bytes = file.metadata()?.len();
    if bytes > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
            bytes += 1;
        }
    }
    Ok((file, bytes))
}

fn first_line(path: &Path) -> io::Result<Option<TextEvent>> {
    let mut first = None;
    each_line(path, 0, |_, event| {
        first = Some(event);
        false
    })?;
    Ok(first)
}

fn now_s() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.ok().and_then(|since| i64::try_from(since.as_secs()).ok()).unwrap_or(0)
}
