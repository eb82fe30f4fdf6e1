//! A long history gets a summary in place of its beginning. Start at [`compact`].
//!
//! Invariant: what is kept begins with a `User` or `System` message, so that no call loses its result;
//! rather more is kept than was asked for.

use kernel::message::Message;
use rusqlite::{Connection, params};

use super::role;
use crate::error::StoreError;

pub(super) fn compact(
    connection: &Connection,
    session: &str,
    keep: usize,
    summary: &Message,
) -> Result<(), StoreError> {
    let Some(last) = last_to_go(connection, session, keep)? else { return Ok(()) };
    connection.execute("DELETE FROM messages WHERE session = ?1 AND id < ?2", params![session, last])?;
    // The summary takes the place of the newest that goes, so that it stands before all that is kept.
    connection.execute(
        "UPDATE messages SET turn = NULL, role = ?2, message = ?3 WHERE id = ?1",
        params![last, role(summary), serde_json::to_string(summary)?],
    )?;
    Ok(())
}

/// The newest message that goes; None where all are kept.
fn last_to_go(connection: &Connection, session: &str, keep: usize) -> Result<Option<i64>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT id, role FROM messages WHERE session = ?1 ORDER BY id DESC")?;
    let mut rows = statement.query([session])?;
    let mut kept = 0;
    let mut may_cut = true;
    while let Some(row) = rows.next()? {
        if kept >= keep && may_cut {
            return Ok(Some(row.get(0)?));
        }
        kept += 1;
        let role: String = row.get(1)?;
        may_cut = role == "user" || role == "system";
    }
    Ok(None)
}
