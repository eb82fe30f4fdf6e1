//! One process at a time writes. Start at [`Lock::take`]. Invariant: the lock ends with the process that
//! holds it, however that ends; what is written in the file only tells people who it is.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;

use super::Folder;
use crate::error::StoreError;

pub(crate) struct Lock {
    file: File,
    /// The process before this one did not close the store: it was killed, or the power failed.
    pub(super) left_open: bool,
}

impl Lock {
    pub(crate) fn take(folder: &Folder) -> Result<Self, StoreError> {
        let path = folder.lock();
        let opened = OpenOptions::new().create(true).truncate(false).read(true).write(true).mode(0o600).open(&path);
        let mut file = opened.map_err(|error| StoreError::file(&path, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let pid = read_number(&mut file).unwrap_or_else(|| "unknown".into());
                return Err(StoreError::InUse { folder: folder.root().to_path_buf(), pid });
            }
            Err(TryLockError::Error(error)) => return Err(StoreError::file(&path, error)),
        }
        let left_open = read_number(&mut file).is_some();
        let written = write_number(&mut file);
        written.map_err(|error| StoreError::file(&path, error))?;
        Ok(Self { file, left_open })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A lock file without a number is that of a store that was closed well.
        let _ = self.file.set_len(0);
    }
}

fn read_number(file: &mut File) -> Option<String> {
    let mut number = String::new();
    file.read_to_string(&mut number).ok()?;
    let number = number.trim().to_owned();
    (!number.is_empty()).then_some(number)
}

/// Synced: after a loss of power it has to be there. Never empty in between: a start that is killed here
/// must not make the next one believe that all was closed well.
fn write_number(file: &mut File) -> io::Result<()> {
    let number = format!("{}\n", std::process::id());
    file.rewind()?;
    file.write_all(number.as_bytes())?;
    file.set_len(number.len() as u64)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_shorter_number_takes_the_place_of_a_longer_one() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"99999999999999\n").unwrap();
        write_number(&mut file).unwrap();
        file.rewind().unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, format!("{}\n", std::process::id()));
    }
}
