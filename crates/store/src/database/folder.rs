//! Where things lie in the data folder. Start at [`Folder`]. Invariant: what is made here, only its
//! owner may enter or read.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::error::StoreError;

#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_path_buf() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn database(&self) -> PathBuf {
        self.root.join("menshen.db")
    }

    pub fn lock(&self) -> PathBuf {
        self.root.join("menshen.lock")
    }

    pub fn backups(&self) -> PathBuf {
        self.root.join("backups")
    }

    pub fn text(&self) -> PathBuf {
        self.root.join("text")
    }

    pub fn knowledge(&self) -> PathBuf {
        self.root.join("knowledge")
    }

    /// Where an import is built before it counts.
    pub(crate) fn import_stage(&self) -> PathBuf {
        self.root.join("import.partial")
    }

    /// The key for secrets, where the settings name no other one.
    pub fn key(&self) -> PathBuf {
        self.root.join("secret.key")
    }

    pub(crate) fn make(&self) -> Result<(), StoreError> {
        make_private_folder(&self.root)
    }

    /// An empty file where there is none. SQLite gives its own side files the rights of the main one.
    pub(crate) fn make_private_file(&self, path: &Path) -> Result<(), StoreError> {
        let made = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path);
        made.and_then(|file| tighten(&file, 0o600)).map_err(|error| StoreError::file(path, error))
    }

    pub(crate) fn newest_backup(&self) -> Option<PathBuf> {
        let entries = fs::read_dir(self.backups()).ok()?;
        let databases = entries
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "db"));
        databases.max_by_key(|path| fs::metadata(path).and_then(|found| found.modified()).ok())
    }
}

/// A folder that is there already keeps the rights that somebody gave it: it may be shared on purpose.
pub(crate) fn make_private_folder(path: &Path) -> Result<(), StoreError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| StoreError::file(path, error))?;
    if let Ok(found) = fs::metadata(path)
        && found.permissions().mode() & 0o022 != 0
    {
        tracing::warn!(folder = %path.display(), "others may write in the data folder: chmod 700 closes it");
    }
    Ok(())
}

fn tighten(file: &File, mode: u32) -> io::Result<()> {
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        file.set_permissions(fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

/// So that a new name in there outlives a loss of power.
pub(crate) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(|error| StoreError::file(path, error))
}
