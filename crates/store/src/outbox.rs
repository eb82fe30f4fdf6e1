//! Replies on their way, and numbered events. Start at the implementation of [`Outbox`].
//!
//! Invariant: an id or a sequence number that anybody may have seen is never given again: SQLite keeps
//! the largest one (`AUTOINCREMENT`), and after a crash events leave numbers out (`leave_a_gap`), so that
//! they need not wait for the disk one by one.

use kernel::ports::{Answered, BoxFuture, Event, Events, Failure, Outbox, Outgoing};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

use crate::database::Database;
use crate::error::StoreError;
use crate::rows;

/// Limit: when more replies wait for a channel that does not come, the oldest are given up; they stay
/// in the history of their session.
pub const REPLIES_WAITING_MAX: i64 = 10_000;

/// Limit: older events than the newest of these are forgotten.
pub const EVENTS_KEPT: i64 = 10_000;

/// After so many new ones the old ones are looked for.
const TIDY_EACH: i64 = 64;

/// More than the events that can be lost between two syncs.
const GAP: i64 = 1_000_000;

impl Outbox for Database {
    fn undelivered(&self, count: usize) -> BoxFuture<'_, Result<Vec<Outgoing>, Failure>> {
        Box::pin(async move { Ok(self.read(move |connection| undelivered(connection, count)).await?) })
    }

    fn delivered(&self, id: i64) -> BoxFuture<'_, Result<bool, Failure>> {
        Box::pin(async move {
            let write = self.write(move |connection| {
                Ok(connection.prepare_cached("DELETE FROM outbox WHERE id = ?1")?.execute([id])? == 1)
            });
            Ok(write.await?)
        })
    }
}

pub(crate) fn put(connection: &Connection, answered: &Answered) -> Result<(), StoreError> {
    if answered.reply.is_empty() {
        return Ok(());
    }
    connection
        .prepare_cached(
            "INSERT INTO outbox (turn, session, principal, reply, ended, at_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            answered.turn,
            answered.session,
            serde_json::to_string(&answered.principal)?,
            answered.reply,
            answered.ended,
            answered.at_ms
        ])?;
    // Now and then is often enough, and costs nothing in between.
    if connection.last_insert_rowid() % TIDY_EACH != 0 {
        return Ok(());
    }
    let given_up = connection
        .prepare_cached("DELETE FROM outbox WHERE id <= (SELECT id FROM outbox ORDER BY id DESC LIMIT 1 OFFSET ?1)")?
        .execute([REPLIES_WAITING_MAX])?;
    if given_up > 0 {
        tracing::warn!(given_up, "too many replies wait for delivery: the oldest were given up");
    }
    Ok(())
}

fn undelivered(connection: &Connection, count: usize) -> Result<Vec<Outgoing>, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT id, turn, session, principal, reply, ended, at_ms FROM outbox ORDER BY id LIMIT ?1")?;
    let mut rows = statement.query([i64::try_from(count).unwrap_or(i64::MAX)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(Outgoing {
            id: row.get(0)?,
            turn: row.get(1)?,
            session: row.get(2)?,
            principal: rows::json(row, 3)?,
            reply: row.get(4)?,
            ended: row.get(5)?,
            at_ms: row.get(6)?,
        });
    }
    Ok(found)
}

impl Events for Database {
    fn append<'a>(&'a self, kind: &'a str, body: Value) -> BoxFuture<'a, Result<i64, Failure>> {
        let kind = kind.to_owned();
        Box::pin(async move {
            let write = self.write_relaxed(move |connection| {
                connection
                    .prepare_cached("INSERT INTO events (kind, body) VALUES (?1, ?2)")?
                    .execute(params![kind, body.to_string()])?;
                let seq = connection.last_insert_rowid();
                if seq % TIDY_EACH != 0 {
                    return Ok(seq);
                }
                connection
                    .prepare_cached(
                        "DELETE FROM events WHERE seq <= (SELECT seq FROM events ORDER BY seq DESC LIMIT 1 OFFSET ?1)",
                    )?
                    .execute([EVENTS_KEPT])?;
                Ok(seq)
            });
            Ok(write.await?)
        })
    }

    fn since(&self, seq: i64, count: usize) -> BoxFuture<'_, Result<Vec<Event>, Failure>> {
        Box::pin(async move { Ok(self.read(move |connection| since(connection, seq, count)).await?) })
    }

    fn range(&self) -> BoxFuture<'_, Result<Option<(i64, i64)>, Failure>> {
        Box::pin(async move {
            let read = self.read(|connection| {
                let found = connection
                    .query_row("SELECT min(seq), max(seq) FROM events", [], |row| {
                        Ok(row.get::<_, Option<i64>>(0)?.zip(row.get(1)?))
                    })
                    .optional()?;
                Ok(found.flatten())
            });
            Ok(read.await?)
        })
    }
}

fn since(connection: &Connection, seq: i64, count: usize) -> Result<Vec<Event>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT seq, kind, body FROM events WHERE seq > ?1 ORDER BY seq LIMIT ?2")?;
    let mut rows = statement.query(params![seq, i64::try_from(count).unwrap_or(i64::MAX)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let body = rows::json(row, 2)?;
        found.push(Event { seq: row.get(0)?, kind: row.get(1)?, body });
    }
    Ok(found)
}

/// After an end that was not a good one, and in a copy that may be put back later: somebody may have
/// seen numbers that are not in the file.
pub(crate) fn leave_a_gap(connection: &Connection) -> Result<(), StoreError> {
    connection.execute("UPDATE sqlite_sequence SET seq = seq + ?1 WHERE name IN ('events', 'outbox')", [GAP])?;
    Ok(())
}
