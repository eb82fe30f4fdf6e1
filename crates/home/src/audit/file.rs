//! One audit file on the disk, shared by several processes, put aside when it is full. Blocking.
//!
//! Start at [`AuditFile::append`]. Invariant: every append continues the chain where the file really
//! ends, whoever wrote last.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::AUDIT_FILES_MAX;
use super::chain::{Line, Tail, seal, tail_of};

/// The file itself; blocking.
pub(super) struct AuditFile {
    pub path: PathBuf,
    bytes_max: u64,
    /// Where the file ended when this process wrote last: device, inode, length, and the chain's end.
    known: Option<(u64, u64, u64, Tail)>,
}

impl AuditFile {
    pub fn new(path: &Path, bytes_max: u64) -> Self {
        Self { path: path.to_owned(), bytes_max, known: None }
    }

    /// Writes all lines, not yet synced; gives the number of the first, and the file to sync.
    pub fn append<'a>(&mut self, lines: impl Iterator<Item = (&'a str, &'a Value)>) -> std::io::Result<(u64, File)> {
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
        let before = file.metadata()?.len();
        if let Err(error) = file.write_all(&text) {
            // On a full disk a part of a line would be left; two such parts would look like tampering.
            let _left_as_torn = file.set_len(before);
            return Err(error);
        }
        let metadata = file.metadata()?;
        self.known = Some((metadata.dev(), metadata.ino(), metadata.len(), tail));
        Ok((first, file))
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

/// Both handles lead to one file.
pub(super) fn same(one: &File, other: &File) -> bool {
    let key = |file: &File| file.metadata().map(|metadata| (metadata.dev(), metadata.ino())).ok();
    key(one) == key(other)
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
    use crate::audit::verify;
    use std::os::unix::fs::PermissionsExt;

    fn lines(file: &mut AuditFile, bodies: &[Value]) -> u64 {
        file.append(bodies.iter().map(|body| ("test", body))).unwrap().0
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

    /// A limit on the size of files stands in for a full disk: both write a part and then fail.
    #[test]
    fn a_write_that_fails_half_way_leaves_no_part_of_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let this = std::env::current_exe().unwrap();
        let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" --exact audit::file::tests::fills_the_file --nocapture";
        let mut command = std::process::Command::new("bash");
        let output = command.args(["-c", script]).arg(this).env("MENSHEN_TEST_FILE", &path).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        let checked = verify(&fs::read(&path).unwrap(), None);
        assert!(checked.lines > 2 && !checked.unfinished && checked.flaws.is_empty(), "{checked:?}");
        lines(&mut AuditFile::new(&path, 1 << 20), &[json!({"after": true})]);
        let checked = verify(&fs::read(&path).unwrap(), None);
        assert_eq!((checked.torn, checked.flaws), (0, vec![]));
    }

    /// Run by the test above in a process of its own.
    #[test]
    fn fills_the_file() {
        let Some(path) = std::env::var_os("MENSHEN_TEST_FILE") else { return };
        let mut file = AuditFile::new(Path::new(&path), 1 << 20);
        let body = json!({ "text": "门".repeat(200) });
        let failed = (0..100).filter(|_| file.append([("test", &body)].into_iter()).is_err()).count();
        assert!(failed > 50, "nothing failed");
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
}
