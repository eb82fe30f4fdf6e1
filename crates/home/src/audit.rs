//! The audit file: what was judged, meant and done, one JSON object a line, each line chained to the
//! one before by its hash.
//!
//! Start at [`Audit::append`]; [`verify`] reads a file back. Two threads: one writes, one syncs, so
//! that a slow disk does not hold up the next line. Invariant: an append that returned is in the file
//! (synced to the disk where that was asked for), and no earlier line can be changed or left out
//! without `verify` saying where.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc as blocking;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::error::{Cause, ErrorCode, HouseError};

mod chain;
mod file;
mod left;
mod recorded;

pub use chain::{Checked, Flaw, verify};
use file::AuditFile;
pub(crate) use left::{LeftOpen, left_open};
pub use recorded::{RECORDED_CHARS_MAX, recorded};

/// Limit: A file larger than this is put aside and a new one begun, its first line chained to the last.
pub const AUDIT_FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Limit: Files put aside; the oldest beyond them is deleted.
pub const AUDIT_FILES_MAX: u32 = 20;
/// Limit: Lines that may wait for the disk; more are refused.
const WAITING_LINES_MAX: usize = 1024;
/// Longest wait for the disk.
const DISK_MAX: Duration = Duration::from_secs(5);

/// Writes to one file. Several processes may share it.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    writer: Option<Arc<Writer>>,
}

#[derive(Debug)]
struct Writer {
    path: PathBuf,
    lines: mpsc::Sender<Job>,
    /// The last sync failed: until one succeeds, every line waits for its own.
    unsynced: Arc<AtomicBool>,
}

/// When an append counts as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// The system has it: it outlives this program, not a power cut.
    Written,
    Synced,
}

type Waiting = oneshot::Sender<Result<u64, String>>;

#[derive(Debug)]
struct Job {
    /// Nothing: only wait until all before it is on the disk.
    line: Option<(String, Value)>,
    done: Option<(Until, Waiting)>,
}

/// A file to sync, and who waits for it.
struct Sync {
    file: File,
    waiting: Vec<(u64, Waiting)>,
}

impl Audit {
    /// Nothing is touched before the first line. Without a path nothing is kept.
    pub fn new(path: Option<&Path>) -> Self {
        Self { writer: path.map(|path| Arc::new(Writer::start(path))) }
    }

    pub fn path(&self) -> Option<&Path> {
        self.writer.as_ref().map(|writer| &*writer.path)
    }

    /// Appends one line and waits until it is on the disk. Gives its number, 0 where none is kept.
    pub async fn append(&self, kind: &str, body: Value) -> Result<u64, HouseError> {
        self.append_until(Until::Synced, kind, body).await
    }

    /// Appends one line and waits until the system has it; it is synced right after.
    pub async fn append_written(&self, kind: &str, body: Value) -> Result<u64, HouseError> {
        self.append_until(Until::Written, kind, body).await
    }

    async fn append_until(&self, until: Until, kind: &str, body: Value) -> Result<u64, HouseError> {
        let Some(writer) = &self.writer else { return Ok(0) };
        let until = if writer.unsynced.load(Ordering::Relaxed) { Until::Synced } else { until };
        let (done, written) = oneshot::channel();
        let job = Job { line: Some((kind.to_owned(), body)), done: Some((until, done)) };
        writer.lines.try_send(job).map_err(|_| writer.failed("too many lines wait for the disk"))?;
        match tokio::time::timeout(DISK_MAX, written).await {
            Ok(Ok(result)) => result.map_err(|why| writer.failed(&why)),
            Ok(Err(_)) => Err(writer.failed("the writer has stopped")),
            Err(_) => Err(writer.failed("the disk does not answer")),
        }
    }

    /// Appends one line without waiting; a failure is logged.
    pub fn note(&self, kind: &str, body: Value) {
        let Some(writer) = &self.writer else { return };
        if writer.lines.try_send(Job { line: Some((kind.to_owned(), body)), done: None }).is_err() {
            tracing::error!(kind, "an audit line is lost: too many wait for the disk");
        }
    }

    /// Waits until all that was appended is on the disk.
    pub async fn flush(&self) {
        let Some(writer) = &self.writer else { return };
        let (done, written) = oneshot::channel();
        if writer.lines.send(Job { line: None, done: Some((Until::Synced, done)) }).await.is_ok() {
            let _either_way = tokio::time::timeout(DISK_MAX, written).await;
        }
    }
}

impl Writer {
    /// The threads end when the last handle is dropped; a dead disk is not waited for.
    fn start(path: &Path) -> Self {
        let (lines, jobs) = mpsc::channel(WAITING_LINES_MAX);
        let (syncs, to_sync) = blocking::sync_channel(WAITING_LINES_MAX);
        let unsynced = Arc::new(AtomicBool::new(false));
        let (file, flag) = (AuditFile::new(path, AUDIT_FILE_BYTES_MAX), unsynced.clone());
        let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
            if let Err(error) = std::thread::Builder::new().name(name.to_owned()).spawn(work) {
                tracing::error!(%error, "no thread for the audit; nothing but moves toward safety will be sent");
            }
        };
        spawn("audit-write", Box::new(move || write_all(file, jobs, &syncs)));
        spawn("audit-sync", Box::new(move || sync_all(&to_sync, &flag)));
        Self { path: path.to_owned(), lines, unsynced }
    }

    fn failed(&self, why: &str) -> HouseError {
        HouseError::new(ErrorCode::CallFailed, Cause::Audit, format!("{}: {why}", self.path.display()))
    }
}

/// The writing thread: all that waits goes out in one write.
fn write_all(mut file: AuditFile, mut jobs: mpsc::Receiver<Job>, syncs: &blocking::SyncSender<Sync>) {
    while let Some(first) = jobs.blocking_recv() {
        let mut batch = vec![first];
        while let Ok(job) = jobs.try_recv() {
            batch.push(job);
        }
        let lines = batch.iter().filter_map(|job| job.line.as_ref());
        match file.append(lines.map(|(kind, body)| (kind.as_str(), body))) {
            Ok((first, written)) => {
                let waiting = answer_written(batch, first);
                // Full only when the disk has not answered for long; then this waits with it.
                let _stopped = syncs.send(Sync { file: written, waiting });
            }
            Err(error) => {
                tracing::error!(%error, path = %file.path.display(), "the audit file cannot be written");
                for (_, waiting) in batch.into_iter().filter_map(|job| job.done) {
                    let _gone = waiting.send(Err(error.to_string()));
                }
            }
        }
    }
}

/// Answers those who wait for the write only; gives back the others, each with the line's number.
fn answer_written(batch: Vec<Job>, first: u64) -> Vec<(u64, Waiting)> {
    let (mut number, mut later) = (first, Vec::new());
    for job in batch {
        match job.done {
            Some((Until::Written, waiting)) => drop(waiting.send(Ok(number))),
            Some((Until::Synced, waiting)) => later.push((number, waiting)),
            None => {}
        }
        number += u64::from(job.line.is_some());
    }
    later
}

/// The syncing thread: all that was written meanwhile is synced at once.
fn sync_all(syncs: &blocking::Receiver<Sync>, unsynced: &AtomicBool) {
    while let Ok(first) = syncs.recv() {
        let (mut file, mut waiting) = (first.file, first.waiting);
        let mut result = Ok(());
        while let Ok(next) = syncs.try_recv() {
            if !file::same(&file, &next.file) {
                result = result.and(file.sync_data());
            }
            file = next.file;
            waiting.extend(next.waiting);
        }
        let result = result.and(file.sync_data()).map_err(|error| error.to_string());
        if let Err(error) = &result {
            tracing::error!(%error, "the audit file cannot be synced to the disk");
        }
        unsynced.store(result.is_err(), Ordering::Relaxed);
        for (number, waiting) in waiting {
            let _gone = waiting.send(result.clone().map(|()| number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[tokio::test]
    async fn a_disk_that_cannot_be_written_is_an_error_that_names_the_file() {
        let audit = Audit::new(Some(Path::new("/proc/nowhere/audit.jsonl")));
        let error = audit.append("intent", json!({})).await.unwrap_err();
        assert!(error.is(Cause::Audit));
        assert!(error.message.contains("/proc/nowhere/audit.jsonl"), "{error}");
    }

    #[tokio::test]
    async fn lines_are_numbered_in_the_order_they_came_and_none_is_lost_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let audit = Audit::new(Some(&path));
        assert_eq!(audit.append("one", json!({})).await.unwrap(), 1);
        assert_eq!(audit.append_written("two", json!({})).await.unwrap(), 2);
        (0..100).for_each(|number| audit.note("more", json!({ "number": number })));
        audit.flush().await;
        let checked = verify(&std::fs::read(&path).unwrap(), None);
        assert_eq!((checked.lines, checked.flaws.len()), (102, 0));
    }
}
