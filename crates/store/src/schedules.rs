//! Timers and schedules. Start at the implementation of [`Schedules`].
//!
//! Invariant: the input of a schedule that fired and its next time are one transaction.

use kernel::ports::{BoxFuture, Failure, FailureKind, NewInput, Schedule, Schedules};
use rusqlite::{Connection, params};

use crate::database::Database;
use crate::error::StoreError;
use crate::{inbox, rows};

/// Limit: a further timer or schedule answers `full` until one has fired or is cancelled.
pub const SCHEDULES_MAX: i64 = 1_000;

impl Schedules for Database {
    fn add(&self, schedule: Schedule) -> BoxFuture<'_, Result<(), Failure>> {
        Box::pin(async move { Ok(self.write(move |connection| add(connection, &schedule)).await?) })
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<Schedule>, Failure>> {
        Box::pin(async move { Ok(self.read(list).await?) })
    }

    fn cancel<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<bool, Failure>> {
        let id = id.to_owned();
        Box::pin(async move {
            let write =
                self.write(move |connection| Ok(connection.execute("DELETE FROM schedules WHERE id = ?1", [id])? == 1));
            Ok(write.await?)
        })
    }

    fn fire<'a>(
        &'a self,
        id: &'a str,
        due_at_ms: i64,
        next_at_ms: Option<i64>,
        mut input: NewInput,
    ) -> BoxFuture<'a, Result<Option<i64>, Failure>> {
        let id = id.to_owned();
        Box::pin(async move {
            let write = self.write(move |connection| {
                if !is_due(connection, &id, due_at_ms)? {
                    return Ok(None);
                }
                match next_at_ms {
                    Some(next) if next <= due_at_ms => {
                        let message = format!("the next time of schedule {id} is not after the one that is due");
                        return Err(Failure::invalid(message).into());
                    }
                    Some(next) => {
                        connection.execute("UPDATE schedules SET next_at_ms = ?2 WHERE id = ?1", params![id, next])?
                    }
                    None => connection.execute("DELETE FROM schedules WHERE id = ?1", [&id])?,
                };
                // Each time is an input of its own, also where the schedule was made by one that had an id.
                input.client_id = None;
                let (input, _) = inbox::insert(connection, &input)?;
                Ok(Some(input))
            });
            Ok(write.await?)
        })
    }
}

fn add(connection: &Connection, schedule: &Schedule) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO schedules (id, due, input, next_at_ms, created_at_ms) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (id) DO UPDATE SET due = ?2, input = ?3, next_at_ms = ?4, created_at_ms = ?5",
        )?
        .execute(params![
            schedule.id,
            serde_json::to_string(&schedule.when)?,
            serde_json::to_string(&schedule.input)?,
            schedule.next_at_ms,
            schedule.created_at_ms
        ])?;
    let count: i64 = connection.query_row("SELECT count(*) FROM schedules", [], |row| row.get(0))?;
    if count > SCHEDULES_MAX {
        let message = format!("there are {SCHEDULES_MAX} timers and schedules already: cancel some first");
        return Err(Failure::new(FailureKind::Full, message).into());
    }
    Ok(())
}

fn list(connection: &Connection) -> Result<Vec<Schedule>, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT id, due, input, next_at_ms, created_at_ms FROM schedules ORDER BY next_at_ms, id")?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(Schedule {
            id: row.get(0)?,
            when: rows::json(row, 1)?,
            input: rows::json(row, 2)?,
            next_at_ms: row.get(3)?,
            created_at_ms: row.get(4)?,
        });
    }
    Ok(found)
}

fn is_due(connection: &Connection, id: &str, due_at_ms: i64) -> Result<bool, StoreError> {
    let found = connection
        .prepare_cached("SELECT 1 FROM schedules WHERE id = ?1 AND next_at_ms = ?2")?
        .exists(params![id, due_at_ms])?;
    Ok(found)
}
