//! Where settings are kept, secrets sealed. Start at [`SealedSettings`].
//!
//! Invariant: a secret is sealed before it reaches the disk, and no error makes one unreadable: with the
//! wrong key, or without one, nothing is sealed anew and nothing is taken away.

mod key;

use std::path::{Path, PathBuf};

use kernel::ports::{BoxFuture, Failure, SettingsStore, StoredSetting};
use rusqlite::{Connection, params};
use serde_json::Value;

use crate::database::Database;
use crate::error::StoreError;
use crate::rows;
use key::Key;

#[derive(Clone)]
pub struct SealedSettings {
    database: Database,
    key_file: PathBuf,
}

impl SealedSettings {
    /// The key file is made when the first secret is put.
    pub fn new(database: Database, key_file: &Path) -> Self {
        Self { database, key_file: key_file.to_path_buf() }
    }
}

impl SettingsStore for SealedSettings {
    fn load(&self) -> BoxFuture<'_, Result<Vec<StoredSetting>, Failure>> {
        let key_file = self.key_file.clone();
        Box::pin(async move { Ok(self.database.read(move |connection| load(connection, &key_file)).await?) })
    }

    fn put(&self, setting: StoredSetting) -> BoxFuture<'_, Result<(), Failure>> {
        let key_file = self.key_file.clone();
        Box::pin(async move { Ok(self.database.write(move |connection| put(connection, &key_file, &setting)).await?) })
    }

    fn remove<'a>(&'a self, space: &'a str, key: &'a str) -> BoxFuture<'a, Result<bool, Failure>> {
        let (space, key) = (space.to_owned(), key.to_owned());
        Box::pin(async move {
            let write = self.database.write(move |connection| {
                let removed =
                    connection.execute("DELETE FROM settings WHERE space = ?1 AND key = ?2", params![space, key])?;
                Ok(removed == 1)
            });
            Ok(write.await?)
        })
    }
}

fn load(connection: &Connection, key_file: &Path) -> Result<Vec<StoredSetting>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT space, key, value, sealed, key_id FROM settings ORDER BY space, key")?;
    let mut rows = statement.query([])?;
    let mut opener: Option<Key> = None;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (space, key): (String, String) = (row.get(0)?, row.get(1)?);
        let sealed: Option<Vec<u8>> = row.get(3)?;
        let value = match &sealed {
            None => rows::json(row, 2)?,
            Some(sealed) => {
                let opener = match &mut opener {
                    Some(opener) => opener,
                    none => none.insert(Key::read(key_file)?),
                };
                opener.check(&row.get::<_, Vec<u8>>(4)?, key_file)?;
                opener.open(&space, &key, sealed)?
            }
        };
        found.push(StoredSetting { space, key, value, secret: sealed.is_some() });
    }
    Ok(found)
}

fn put(connection: &Connection, key_file: &Path, setting: &StoredSetting) -> Result<(), StoreError> {
    let (value, sealed, key_id) = if setting.secret {
        let key = key_to_seal_with(connection, key_file)?;
        (None, Some(key.seal(&setting.space, &setting.key, &setting.value)?), Some(key.id()))
    } else {
        (Some(Value::to_string(&setting.value)), None, None)
    };
    connection.execute(
        "INSERT INTO settings (space, key, value, sealed, key_id) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (space, key) DO UPDATE SET value = ?3, sealed = ?4, key_id = ?5",
        params![setting.space, setting.key, value, sealed, key_id],
    )?;
    Ok(())
}

/// The key that all other secrets are sealed with; a new one only where there is no other secret.
fn key_to_seal_with(connection: &Connection, key_file: &Path) -> Result<Key, StoreError> {
    let mut statement = connection.prepare("SELECT DISTINCT key_id FROM settings WHERE sealed IS NOT NULL")?;
    let used = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<Vec<u8>>, _>>()?;
    if used.is_empty() && !key_file.exists() {
        return Key::make(key_file);
    }
    let key = Key::read(key_file)?;
    used.iter().try_for_each(|id| key.check(id, key_file))?;
    Ok(key)
}

#[cfg(test)]
mod tests;
