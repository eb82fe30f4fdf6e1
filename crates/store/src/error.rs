//! What can go wrong with the store, as far as callers tell it apart. Start at [`StoreError`].
//!
//! Invariant: each message names the file and what to do; no value of a setting stands in one.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sdk::{Failure, FailureKind};

mod chinese;

#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    #[error(
        "the household in {folder} is in use by process {pid}: stop that first \
         (`menshen chat` joins a running `menshen serve`)"
    )]
    InUse { folder: PathBuf, pid: String },
    #[error(
        "the store {path} was written by a newer Menshen (layout {found}; this one knows up to {known}): \
         install that version again, or put back a backup of before the update"
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error(
        "the store {path} has the older layout {found} and was opened read-only: \
         start Menshen once, which keeps a backup and brings it to {known}"
    )]
    Older { path: PathBuf, found: i64, known: i64 },
    #[error("{path} is a database of another program: name another data folder")]
    Foreign { path: PathBuf },
    #[error("the store {path} is damaged ({detail}): stop Menshen, move {path} and the files {path}-* aside, {cure}")]
    Corrupt { path: PathBuf, detail: String, cure: String },
    #[error("the store {path} is not there: name the data folder with --data, or start Menshen once")]
    Missing { path: PathBuf },
    #[error("this store was opened read-only: nothing can be changed")]
    ReadOnly,
    #[error("the store was closed")]
    Closed,
    #[error("{path}: {source}")]
    File { path: PathBuf, source: Arc<io::Error> },
    #[error("the disk with the store is full: make room and try again")]
    DiskFull,
    #[error("the store could not do it: {0}")]
    Sql(Arc<rusqlite::Error>),
    #[error(
        "the key file {path} is not there, and secrets are sealed with it: put it back (a backup may hold it), \
         or remove the secret settings and set them anew"
    )]
    KeyMissing { path: PathBuf },
    #[error(
        "{path} is not the key that the secrets are sealed with: put the right one back (a backup may hold it), \
         or remove the secret settings and set them anew"
    )]
    KeyWrong { path: PathBuf },
    #[error("the secret setting {space}/{key} cannot be sealed or opened: remove it and set it anew")]
    Seal { space: String, key: String },
    #[error("{path} is there already: name another one, or move it away")]
    TargetExists { path: PathBuf },
    #[error("{path} holds something already: an import needs an empty data folder, name another one with --data")]
    NotEmpty { path: PathBuf },
    #[error("line {line} of the export cannot be taken in, and nothing of it was: {problem}")]
    Import { line: u64, problem: String },
    #[error("an entry of the store cannot be read: {0}")]
    Json(Arc<serde_json::Error>),
    #[error("a piece of work on the store failed from within: {0}")]
    Panicked(String),
    /// What a piece of work refuses by itself; goes to the caller as it is.
    #[error(transparent)]
    Refused(#[from] Failure),
}

impl StoreError {
    pub fn file(path: &Path, source: io::Error) -> Self {
        Self::File { path: path.to_path_buf(), source: Arc::new(source) }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        // Where there is no room for the file beside the log, SQLite does not call it that.
        let no_room =
            error.sqlite_error().is_some_and(|cause| cause.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE);
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Self::DiskFull,
            _ if no_room => Self::DiskFull,
            _ => Self::Sql(Arc::new(error)),
        }
    }
}

impl From<serde_json::Error> for StoreError {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(Arc::new(error))
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let kind = match &error {
            StoreError::Refused(failure) => return failure.clone(),
            StoreError::InUse { .. } | StoreError::Closed | StoreError::Missing { .. } => FailureKind::Unavailable,
            StoreError::ReadOnly => FailureKind::Forbidden,
            StoreError::DiskFull => FailureKind::Full,
            _ => FailureKind::Failed,
        };
        Failure::new(kind, error.to_string())
    }
}
