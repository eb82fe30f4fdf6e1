//! A copy of all files of a household, made while everything runs. Start at [`Store::backup`].
//!
//! To put one back: copy or unpack it into an empty data folder, and start. Invariants: the database in
//! it is of one moment, and all else was copied after that moment, so that nothing in it points to a
//! file that is not there; a backup is there whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use rusqlite::Connection;

use crate::database::{Folder, make_private_folder, sync_folder, vacuum_into};
use crate::error::StoreError;
use crate::outbox::leave_a_gap;
use crate::store::Store;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackupOptions {
    /// Secrets cannot be opened without the key; whoever has a backup with it can open them.
    pub without_key: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupReport {
    pub path: PathBuf,
    pub files: u64,
    /// Of the files, before packing.
    pub bytes: u64,
    pub key: KeyInBackup,
    /// Links and the like, which were not followed.
    pub left_out: Vec<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyInBackup {
    /// No secret was ever set.
    None,
    Included,
    /// As was asked.
    LeftOut,
    /// It is kept outside of the data folder, and has to be kept safe by itself.
    Elsewhere(PathBuf),
}

impl Store {
    /// Into a new folder, or into one packed file where the name ends in `.tar.gz` or `.tgz`.
    pub async fn backup(&self, target: &Path, options: BackupOptions) -> Result<BackupReport, StoreError> {
        if target.exists() {
            return Err(StoreError::TargetExists { path: target.to_path_buf() });
        }
        // One spelling for each place, so that they can be compared below.
        let root = one_spelling(self.folder().root())?;
        let target = match (target.parent(), target.file_name()) {
            (Some(parent), Some(name)) => {
                let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
                one_spelling(parent)?.join(name)
            }
            _ => target.to_path_buf(),
        };
        let unfinished = with_ending(&target, ".partial");
        let key = KeyPlace::of(self, &root, options);
        let work = Work { folder: Folder::new(&root), key, target, unfinished: unfinished.clone() };
        let done = self.database().read_outside(move |connection| work.run(connection)).await;
        if done.is_err() {
            // What is half done is of no use to anybody; the error that is told is the first one.
            let _ = fs::remove_dir_all(&unfinished);
            let _ = fs::remove_file(with_ending(&unfinished, ".tar.gz"));
        }
        done
    }
}

struct Work {
    folder: Folder,
    key: KeyPlace,
    target: PathBuf,
    unfinished: PathBuf,
}

struct KeyPlace {
    file: PathBuf,
    said: KeyInBackup,
}

impl KeyPlace {
    fn of(store: &Store, root: &Path, options: BackupOptions) -> Self {
        let file = one_spelling(store.key_file()).unwrap_or_else(|_| store.key_file().to_path_buf());
        let said = match (file.exists(), file.starts_with(root)) {
            (false, _) => KeyInBackup::None,
            (true, false) => KeyInBackup::Elsewhere(file.clone()),
            (true, true) if options.without_key => KeyInBackup::LeftOut,
            (true, true) => KeyInBackup::Included,
        };
        Self { file, said }
    }
}

impl Work {
    fn run(self, connection: &Connection) -> Result<BackupReport, StoreError> {
        if self.unfinished.exists() {
            fs::remove_dir_all(&self.unfinished).map_err(|error| StoreError::file(&self.unfinished, error))?;
        }
        make_private_folder(&self.unfinished)?;
        copy_database(connection, &self.folder, &self.unfinished)?;
        let mut report = BackupReport {
            path: self.target.clone(),
            files: 1,
            bytes: length_of(&self.unfinished.join("menshen.db")),
            key: self.key.said.clone(),
            left_out: Vec::new(),
        };
        self.copy_folder(self.folder.root(), &self.unfinished, &mut report)?;
        let finished = if is_archive(&self.target) { self.pack()? } else { self.unfinished.clone() };
        fs::rename(&finished, &self.target).map_err(|error| StoreError::file(&self.target, error))?;
        if let Some(parent) = self.target.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            sync_folder(parent)?;
        }
        Ok(report)
    }

    fn copy_folder(&self, from: &Path, to: &Path, report: &mut BackupReport) -> Result<(), StoreError> {
        let entries = fs::read_dir(from).map_err(|error| StoreError::file(from, error))?;
        for entry in entries {
            let entry = entry.map_err(|error| StoreError::file(from, error))?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(|error| StoreError::file(from, error))?);
            let target = to.join(entry.file_name());
            if self.is_ours_to_skip(&path) {
                continue;
            }
            if kind.is_dir() {
                make_private_folder(&target)?;
                self.copy_folder(&path, &target, report)?;
                sync_folder(&target)?;
            } else if kind.is_file() {
                match copy_file(&path, &target) {
                    Ok(bytes) => {
                        report.files += 1;
                        report.bytes += bytes;
                    }
                    // Files are put aside and deleted while we look.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(StoreError::file(&path, error)),
                }
            } else {
                report.left_out.push(path);
            }
        }
        Ok(())
    }

    /// The database was copied already; locks, older backups and this one are no part of a backup.
    fn is_ours_to_skip(&self, path: &Path) -> bool {
        let database = self.folder.database();
        let of_database = ["", "-wal", "-shm", "-journal"].iter().any(|ending| path == with_ending(&database, ending));
        let key = path == self.key.file && self.key.said != KeyInBackup::Included;
        let ours =
            [self.folder.lock(), self.folder.backups(), self.folder.import_stage()].iter().any(|own| path == own);
        of_database || key || ours || path == self.target || path == self.unfinished
    }

    fn pack(&self) -> Result<PathBuf, StoreError> {
        let path = with_ending(&self.unfinished, ".tar.gz");
        let packed = private_file(&path).and_then(|file| {
            let mut archive = tar::Builder::new(GzEncoder::new(file, Compression::default()));
            archive.append_dir_all(".", &self.unfinished)?;
            archive.into_inner()?.finish()?.sync_all()
        });
        packed.map_err(|error| StoreError::file(&path, error))?;
        fs::remove_dir_all(&self.unfinished).map_err(|error| StoreError::file(&self.unfinished, error))?;
        Ok(path)
    }
}

fn copy_database(connection: &Connection, folder: &Folder, to: &Path) -> Result<(), StoreError> {
    let path = to.join("menshen.db");
    // A reading connection may write nothing at all, not even into another file.
    connection.pragma_update(None, "query_only", false)?;
    let copied = vacuum_into(connection, folder, &path);
    connection.pragma_update(None, "query_only", true)?;
    copied?;
    // Who puts it back goes back in time, and others remember the numbers that came after.
    let copy = Connection::open(&path)?;
    leave_a_gap(&copy)?;
    copy.close().map_err(|(_, error)| StoreError::from(error))?;
    Ok(())
}

/// What the file holds now; what is appended meanwhile is for the next backup.
fn copy_file(from: &Path, to: &Path) -> io::Result<u64> {
    let file = File::open(from)?;
    let length = file.metadata()?.len();
    let mut copy = private_file(to)?;
    let bytes = io::copy(&mut file.take(length), &mut copy)?;
    copy.sync_all()?;
    Ok(bytes)
}

fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(path)
}

fn is_archive(path: &Path) -> bool {
    let name = path.to_string_lossy();
    name.ends_with(".tar.gz") || name.ends_with(".tgz")
}

fn one_spelling(path: &Path) -> Result<PathBuf, StoreError> {
    fs::canonicalize(path).map_err(|error| StoreError::file(path, error))
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn length_of(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}
