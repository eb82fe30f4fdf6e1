//! The audit file: what was judged, meant and done, one JSON object a line, each line chained to the
//! one before by its hash.
//!
//! Start at [`Audit::append`]; [`verify`] reads a file back. Invariant: an append that returned is on
//! the disk, and no earlier line can be changed or left out without `verify` saying where.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::audit_chain::{Line, Tail, seal, tail_of};
use crate::error::{Cause, ErrorCode, HouseError};

pub use crate::audit_chain::{Checked, Flaw, verify};

/// A file larger than this is put aside and a new one begun, its first line chained to the last.
pub const AUDIT_FILE_BYTES_MAX: u64 = 16 << 20;
/// Files put aside; the oldest beyond them is deleted.
pub const AUDIT_FILES_MAX: u32 = 20;
/// Lines that may wait for the disk; more are refused.
const WAITING_LINES_MAX: usize = 1024;
/// Longest wait for the disk.
const DISK_SECS_MAX: u64 = 5;

/// Writes to one file from one thread. Several processes may share the file.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    writer: Option<Arc<Writer>>,
}

#[derive(Debug)]
struct Writer {
    path: PathBuf,
    lines: mpsc::Sender<Job>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Job {
    kind: String,
    body: Value,
    done: Option<oneshot::Sender<Result<u64, String>>>,
}

impl Audit {
    /// Nothing is touched before the first line. Without a path nothing is kept.
    pub fn new(path: Option<&Path>) -> Self {
        let writer = path.map(|path| {
            let (lines, jobs) = mpsc::channel(WAITING_LINES_MAX);
            let file = AuditFile::new(path, AUDIT_FILE_BYTES_MAX);
            let thread = std::thread::Builder::new().name("audit".into()).spawn(move || write_all(file, jobs));
            if let Err(error) = &thread {
                tracing::error!(%error, "the audit thread cannot start; nothing but locking and closing will be sent");
            }
            Arc::new(Writer { path: path.to_owned(), lines, thread: Mutex::new(thread.ok()) })
        });
        Self { writer }
    }

    pub fn path(&self) -> Option<&Path> {
        self.writer.as_ref().map(|writer| &*writer.path)
    }

    /// Appends one line and waits until it is on the disk. Gives its number, 0 where none is kept.
    pub async fn append(&self, kind: &str, body: Value) -> Result<u64, HouseError> {
        let Some(writer) = &self.writer else { return Ok(0) };
        let failed = |why: &str| {
            HouseError::new(ErrorCode::CallFailed, Cause::Audit, format!("{}: {why}", writer.path.display()))
        };
        let (done, written) = oneshot::channel();
        let job = Job { kind: kind.to_owned(), body, done: Some(done) };
        writer.lines.try_send(job).map_err(|_| failed("too many lines wait for the disk"))?;
        match tokio::time::timeout(Duration::from_secs(DISK_SECS_MAX), written).await {
            Ok(Ok(result)) => result.map_err(|why| failed(&why)),
            Ok(Err(_)) => Err(failed("the writer has stopped")),
            Err(_) => Err(failed("the disk does not answer")),
        }
    }

    /// Appends one line without waiting; a failure is logged.
    pub fn note(&self, kind: &str, body: Value) {
        let Some(writer) = &self.writer else { return };
        let job = Job { kind: kind.to_owned(), body, done: None };
        if writer.lines.try_send(job).is_err() {
            tracing::error!(kind, "an audit line is lost: too many wait for the disk");
        }
    }

    /// Writes what waits. Call when nothing more will come.
    pub async fn flush(&self) {
        let Some(writer) = &self.writer else { return };
        let (done, written) = oneshot::channel();
        let job = Job { kind: String::new(), body: Value::Null, done: Some(done) };
        if writer.lines.send(job).await.is_ok() {
            let _either_way = tokio::time::timeout(Duration::from_secs(DISK_SECS_MAX), written).await;
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // The thread ends when the channel does; it is not waited for, a dead disk would hang us.
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(thread);
    }
}

/// The writing thread: all that waits goes out with one sync.
fn write_all(mut file: AuditFile, mut jobs: mpsc::Receiver<Job>) {
    while let Some(first) = jobs.blocking_recv() {
        let mut batch = vec![first];
        while let Ok(job) = jobs.try_recv() {
            batch.push(job);
        }
        let lines = batch.iter().filter(|job| !job.kind.is_empty());
        let result = file.append(lines.map(|job| (job.kind.as_str(), &job.body)));
        if let Err(error) = &result {
            tracing::error!(%error, path = %file.path.display(), "the audit file cannot be written");
        }
        let mut numbers = result.as_ref().map(|first| *first).unwrap_or_default();
        for job in batch {
            let is_line = !job.kind.is_empty();
            if let Some(done) = job.done {
                let answer = result.as_ref().map(|_| numbers).map_err(ToString::to_string);
                let _gone = done.send(answer);
            }
            numbers += u64::from(is_line);
        }
    }
}

/// The file itself; blocking.
struct AuditFile {
    path: PathBuf,
    bytes_max: u64,
    /// Where the file ended when this process wrote last: device, inode, length, and the chain's end.
    known: Option<(u64, u64, u64, Tail)>,
}

impl AuditFile {
    fn new(path: &Path, bytes_max: u64) -> Self {
        Self { path: path.to_owned(), bytes_max, known: None }
    }

    /// Writes all lines with one sync; gives the number of the first.
    fn append<'a>(&mut self, lines: impl Iterator<Item = (&'a str, &'a Value)>) -> std::io::Result<u64> {
        let _lock = self.lock()?;
        let mut file = self.open()?;
        let mut tail = self.tail(&mut file)?;
        let mut text = Vec::new();
        if tail.torn_bytes > 0 {
            text.push(b'\n');
            let body = json!({ "torn_bytes": tail.torn_bytes });
            seal(&mut tail, Line { kind: "recovered", body: &body }, &mut text);
        }
        if tail.torn_bytes == 0 && text.is_empty() && file.metadata()?.len() > self.bytes_max {
            self.put_aside()?;
            file = self.open()?;
        }
        let first = tail.next;
        for (kind, body) in lines {
            seal(&mut tail, Line { kind, body }, &mut text);
        }
        self.known = None; // a failed write leaves the end unknown
        file.write_all(&text)?;
        file.sync_data()?;
        let metadata = file.metadata()?;
        self.known = Some((metadata.dev(), metadata.ino(), metadata.len(), tail));
        Ok(first)
    }

    /// One process writes at a time.
    fn lock(&self) -> std::io::Result<File> {
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder)?;
        }
        let lock = private(OpenOptions::new().create(true).truncate(false).write(true)).open(self.numbered("lock"))?;
        lock.lock()?;
        Ok(lock)
    }

    fn open(&self) -> std::io::Result<File> {
        private(OpenOptions::new().create(true).append(true).read(true)).open(&self.path)
    }

    fn tail(&mut self, file: &mut File) -> std::io::Result<Tail> {
        let metadata = file.metadata()?;
        match self.known.take() {
            Some((device, inode, length, tail))
                if (device, inode, length) == (metadata.dev(), metadata.ino(), metadata.len()) =>
            {
                return Ok(tail);
            }
            _ => {}
        }
        if metadata.len() == 0 {
            // A new file continues the one put aside last, if there is one.
            return match File::open(self.numbered("1")) {
                Ok(mut older) => read_tail(&mut older),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Tail::default()),
                Err(error) => Err(error),
            };
        }
        read_tail(file)
    }

    fn numbered(&self, suffix: &str) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(".");
        name.push(suffix);
        name.into()
    }

    fn put_aside(&self) -> std::io::Result<()> {
        for number in (1..AUDIT_FILES_MAX).rev() {
            let (from, to) = (self.numbered(&number.to_string()), self.numbered(&(number + 1).to_string()));
            if from.exists() {
                fs::rename(from, to)?;
            }
        }
        fs::rename(&self.path, self.numbered("1"))
    }
}

fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(0o600)
}

/// The end of the chain in a file; reads backwards as far as it must.
fn read_tail(file: &mut File) -> std::io::Result<Tail> {
    let length = file.metadata()?.len();
    let mut window = 64 << 10;
    loop {
        let from = length.saturating_sub(window);
        file.seek(SeekFrom::Start(from))?;
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        if let Some(tail) = tail_of(&text) {
            return Ok(tail);
        }
        if from == 0 {
            return Err(std::io::Error::other("holds no line that can be read; put it aside"));
        }
        window *= 4;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn lines(file: &mut AuditFile, bodies: &[Value]) -> u64 {
        file.append(bodies.iter().map(|body| ("test", body))).unwrap()
    }

    #[test]
    fn lines_of_two_writers_make_one_chain_and_only_the_owner_may_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/audit.jsonl");
        let (mut one, mut two) = (AuditFile::new(&path, 1 << 20), AuditFile::new(&path, 1 << 20));
        assert_eq!(lines(&mut one, &[json!({"a": 1}), json!({"a": "门"})]), 1);
        assert_eq!(lines(&mut two, &[json!({"b": 1})]), 3);
        assert_eq!(lines(&mut one, &[json!({"a": 3})]), 4);
        let checked = verify(&fs::read(&path).unwrap(), None);
        assert_eq!((checked.lines, checked.flaws.len()), (4, 0));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_line_torn_by_a_crash_is_recovered_and_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        lines(&mut AuditFile::new(&path, 1 << 20), &[json!({}), json!({})]);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() - 20]).unwrap();
        lines(&mut AuditFile::new(&path, 1 << 20), &[json!({"after": true})]);
        let checked = verify(&fs::read(&path).unwrap(), None);
        assert_eq!(checked.flaws, []);
        assert_eq!(checked.torn, 1);
    }

    #[test]
    fn a_full_file_is_put_aside_and_the_chain_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let mut file = AuditFile::new(&path, 200);
        for number in 0..6 {
            lines(&mut file, &[json!({ "number": number })]);
        }
        let older = verify(&fs::read(folder.path().join("audit.jsonl.1")).unwrap(), None);
        let newer = verify(&fs::read(&path).unwrap(), older.last_hash.as_deref());
        assert_eq!((older.flaws.len(), newer.flaws.len()), (0, 0));
        // A process that starts anew finds the end as well.
        assert_eq!(lines(&mut AuditFile::new(&path, 200), &[json!({})]), 7);
    }

    #[tokio::test]
    async fn a_disk_that_cannot_be_written_is_an_error_that_names_the_file() {
        let audit = Audit::new(Some(Path::new("/proc/nowhere/audit.jsonl")));
        let error = audit.append("intent", json!({})).await.unwrap_err();
        assert!(error.is(Cause::Audit));
        assert!(error.message.contains("/proc/nowhere/audit.jsonl"), "{error}");
    }
}
