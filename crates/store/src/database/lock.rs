//! One process at a time writes. Start at [`Lock::take`]. Invariant: the lock ends with the process that
//! holds it, however that ends; what is written in the file only tells people who it is.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;

use super::Folder;
use crate::error::StoreError;

pub(crate) struct Lock {
    file: File,
}

impl Lock {
    pub(crate) fn take(folder: &Folder) -> Result<Self, StoreError> {
        let path = folder.lock();
        let opened = OpenOptions::new().create(true).truncate(false).read(true).write(true).mode(0o600).open(&path);
        let mut file = opened.map_err(|error| StoreError::file(&path, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                let read = file.read_to_string(&mut pid).map(|_| pid.trim().to_owned()).unwrap_or_default();
                let pid = if read.is_empty() { "unknown".into() } else { read };
                return Err(StoreError::InUse { folder: folder.root().to_path_buf(), pid });
            }
            Err(TryLockError::Error(error)) => return Err(StoreError::file(&path, error)),
        }
        let written =
            file.set_len(0).and_then(|()| file.rewind()).and_then(|()| writeln!(file, "{}", std::process::id()));
        written.map_err(|error| StoreError::file(&path, error))?;
        Ok(Self { file })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A lock file without a number is that of a store that was closed well.
        let _ = self.file.set_len(0);
    }
}
