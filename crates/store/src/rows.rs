//! Values out of rows. Invariant: a text that is not what its column promises is an error, never a
//! default.

use rusqlite::Row;
use serde::de::DeserializeOwned;

use crate::error::StoreError;

pub(crate) fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<T, StoreError> {
    let text = row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?;
    Ok(serde_json::from_str(text)?)
}
