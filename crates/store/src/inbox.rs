//! What came in, until it is answered. Start at the implementation of [`Inbox`].
//!
//! Invariant: an input has the name of the turn that answered it exactly when that turn's answer, its
//! messages and its reply in the outbox are there: one transaction writes them all.

use kernel::ports::{Answered, BoxFuture, Failure, FailureKind, Inbox, Input, NewInput};
use rusqlite::{Connection, OptionalExtension, params};

use crate::database::Database;
use crate::error::StoreError;
use crate::{outbox, rows, turns};

/// Limit: a further input answers `full` until some of these are answered.
pub const INPUTS_PENDING_MAX: i64 = 10_000;

impl Inbox for Database {
    fn put(&self, input: NewInput) -> BoxFuture<'_, Result<(i64, bool), Failure>> {
        Box::pin(async move { Ok(self.write(move |connection| insert(connection, &input)).await?) })
    }

    fn pending(&self) -> BoxFuture<'_, Result<Vec<Input>, Failure>> {
        Box::pin(async move { Ok(self.read(pending).await?) })
    }

    fn answer(&self, answered: Answered) -> BoxFuture<'_, Result<(), Failure>> {
        Box::pin(async move {
            let write = self.write(move |connection| {
                turns::close(connection, &answered)?;
                for input in &answered.inputs {
                    mark_answered(connection, *input, &answered.turn)?;
                }
                outbox::put(connection, &answered)
            });
            Ok(write.await?)
        })
    }

    fn answer_of(&self, input: i64) -> BoxFuture<'_, Result<Option<Answered>, Failure>> {
        Box::pin(async move {
            let read = self.read(move |connection| {
                let turn = connection
                    .query_row("SELECT turn FROM inputs WHERE id = ?1", [input], |row| row.get::<_, Option<String>>(0))
                    .optional()?;
                turn.flatten().map_or(Ok(None), |turn| turns::answer(connection, &turn))
            });
            Ok(read.await?)
        })
    }
}

/// The id, and whether it was there already.
pub(crate) fn insert(connection: &Connection, input: &NewInput) -> Result<(i64, bool), StoreError> {
    let known = connection
        .prepare_cached("SELECT id FROM inputs WHERE session = ?1 AND channel = ?2 AND client_id = ?3")?
        .query_row(params![input.session, input.principal.channel, input.client_id], |row| row.get(0))
        .optional()?;
    if let Some(id) = known {
        return Ok((id, true));
    }
    let waiting: i64 =
        connection.prepare_cached("SELECT count(*) FROM inputs WHERE turn IS NULL")?.query_row([], |row| row.get(0))?;
    if waiting >= INPUTS_PENDING_MAX {
        let message = format!("{waiting} messages wait for an answer already: try again when there are fewer");
        return Err(Failure::new(FailureKind::Full, message).into());
    }
    connection
        .prepare_cached("INSERT INTO inputs (session, channel, client_id, input) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![input.session, input.principal.channel, input.client_id, serde_json::to_string(input)?])?;
    Ok((connection.last_insert_rowid(), false))
}

fn pending(connection: &Connection) -> Result<Vec<Input>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT id, input FROM inputs WHERE turn IS NULL ORDER BY id")?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let new = rows::json(row, 1)?;
        found.push(Input { id: row.get(0)?, new });
    }
    Ok(found)
}

fn mark_answered(connection: &Connection, input: i64, turn: &str) -> Result<(), StoreError> {
    let changed = connection
        .prepare_cached("UPDATE inputs SET turn = ?2 WHERE id = ?1 AND turn IS NULL")?
        .execute(params![input, turn])?;
    if changed == 1 {
        return Ok(());
    }
    let by: Option<Option<String>> =
        connection.query_row("SELECT turn FROM inputs WHERE id = ?1", [input], |row| row.get(0)).optional()?;
    Err(match by.flatten() {
        Some(by) => Failure::new(FailureKind::Duplicate, format!("input {input} was answered by turn {by} already")),
        None => Failure::not_found(format!("there is no input {input}")),
    }
    .into())
}
