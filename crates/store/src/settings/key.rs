//! The key that secrets are sealed with. Start at [`Key`].
//!
//! Invariant: a sealed value opens only under the same key and the same space and name: one that is
//! copied to another place in the file stays shut.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use chacha20poly1305::aead::{Aead, Generate, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::database::sync_folder;
use crate::error::StoreError;

const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 24;

pub(super) struct Key {
    bytes: [u8; KEY_BYTES],
}

impl Key {
    /// A new one, on the disk before anything is sealed with it.
    pub(super) fn make(path: &Path) -> Result<Self, StoreError> {
        let bytes = <[u8; KEY_BYTES]>::try_generate()
            .map_err(|error| StoreError::file(path, io::Error::other(format!("no random numbers: {error}"))))?;
        write_new(path, &bytes).map_err(|error| StoreError::file(path, error))?;
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            sync_folder(folder)?;
        }
        Ok(Self { bytes })
    }

    pub(super) fn read(path: &Path) -> Result<Self, StoreError> {
        let bytes = fs::read(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => StoreError::KeyMissing { path: path.to_path_buf() },
            _ => StoreError::file(path, error),
        })?;
        if let Ok(found) = fs::metadata(path)
            && found.permissions().mode() & 0o077 != 0
        {
            tracing::warn!(file = %path.display(), "others may read the key of the secrets: chmod 600 closes it");
        }
        let bytes = bytes.try_into().map_err(|_| StoreError::KeyWrong { path: path.to_path_buf() })?;
        Ok(Self { bytes })
    }

    /// Which key this is, without saying anything about it.
    pub(super) fn id(&self) -> Vec<u8> {
        let mut hash = Sha256::new();
        hash.update(b"menshen key id 1\0");
        hash.update(self.bytes);
        hash.finalize().iter().take(8).copied().collect()
    }

    pub(super) fn check(&self, id: &[u8], path: &Path) -> Result<(), StoreError> {
        if self.id() == id { Ok(()) } else { Err(StoreError::KeyWrong { path: path.to_path_buf() }) }
    }

    /// The nonce, then the sealed text.
    pub(super) fn seal(&self, space: &str, name: &str, value: &Value) -> Result<Vec<u8>, StoreError> {
        let nonce = XNonce::try_generate().map_err(|_| StoreError::Seal { space: space.into(), key: name.into() })?;
        let text = value.to_string();
        let place = place(space, name);
        let sealed = self
            .cipher()
            .encrypt(&nonce, Payload { msg: text.as_bytes(), aad: &place })
            .map_err(|_| StoreError::Seal { space: space.into(), key: name.into() })?;
        let mut whole = nonce.to_vec();
        whole.extend(sealed);
        Ok(whole)
    }

    pub(super) fn open(&self, space: &str, name: &str, whole: &[u8]) -> Result<Value, StoreError> {
        let shut = || StoreError::Seal { space: space.into(), key: name.into() };
        let (nonce, sealed) = whole.split_at_checked(NONCE_BYTES).ok_or_else(shut)?;
        let nonce = XNonce::try_from(nonce).map_err(|_| shut())?;
        let place = place(space, name);
        let text = self.cipher().decrypt(&nonce, Payload { msg: sealed, aad: &place }).map_err(|_| shut())?;
        serde_json::from_slice(&text).map_err(|_| shut())
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&self.bytes.into())
    }
}

/// Space and name so that no two pairs read the same.
fn place(space: &str, name: &str) -> Vec<u8> {
    let mut place = b"menshen setting 1\0".to_vec();
    place.extend((space.len() as u64).to_be_bytes());
    place.extend(space.as_bytes());
    place.extend(name.as_bytes());
    place
}

/// Whole or not at all: a key that was cut short would be none.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".new");
    let mut file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&unfinished)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&unfinished, path)
}
