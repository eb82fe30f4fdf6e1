//! What turns did, and what sessions remember. Start at the implementation of [`TurnLog`].
//!
//! Invariants: a history never shows half of a call and its result (`pairs`); a turn is closed once, by
//! [`close`], and stays closed.

mod compact;
mod pairs;

use kernel::message::Message;
use kernel::ports::{Answered, BoxFuture, Failure, FailureKind, StoredTurn, TurnLog};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

use crate::database::Database;
use crate::error::StoreError;
use crate::rows;

/// Limit: the single steps of older turns are forgotten; their answers and messages stay.
pub const TURN_LOGS_KEPT: i64 = 1_000;

impl TurnLog for Database {
    fn append<'a>(
        &'a self,
        turn: &'a str,
        session: &'a str,
        event: Value,
        sync: bool,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        let (turn, session) = (turn.to_owned(), session.to_owned());
        let append = move |connection: &Connection| {
            connection
                .prepare_cached("INSERT INTO turns (turn, session) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?
                .execute(params![turn, session])?;
            connection
                .prepare_cached("INSERT INTO turn_events (turn, event) VALUES (?1, ?2)")?
                .execute(params![turn, event.to_string()])?;
            Ok(())
        };
        Box::pin(async move {
            let written = if sync { self.write(append).await } else { self.write_relaxed(append).await };
            Ok(written?)
        })
    }

    fn open(&self) -> BoxFuture<'_, Result<Vec<StoredTurn>, Failure>> {
        Box::pin(async move { Ok(self.read(open_turns).await?) })
    }

    fn history<'a>(&'a self, session: &'a str, count: usize) -> BoxFuture<'a, Result<Vec<Message>, Failure>> {
        let session = session.to_owned();
        Box::pin(async move { Ok(self.read(move |connection| history(connection, &session, count)).await?) })
    }

    fn compact<'a>(&'a self, session: &'a str, keep: usize, summary: Message) -> BoxFuture<'a, Result<(), Failure>> {
        let session = session.to_owned();
        Box::pin(async move {
            Ok(self.write(move |connection| compact::compact(connection, &session, keep, &summary)).await?)
        })
    }

    fn last_changes<'a>(&'a self, session: &'a str) -> BoxFuture<'a, Result<Option<(String, Value)>, Failure>> {
        let session = session.to_owned();
        Box::pin(async move { Ok(self.read(move |connection| last_changes(connection, &session)).await?) })
    }

    fn mark_undone<'a>(&'a self, turn: &'a str) -> BoxFuture<'a, Result<(), Failure>> {
        let turn = turn.to_owned();
        Box::pin(async move {
            let write = self.write(move |connection| {
                match connection.execute("UPDATE turns SET undone = 1 WHERE turn = ?1", [&turn])? {
                    0 => Err(Failure::not_found(format!("there is no turn {turn}")).into()),
                    _ => Ok(()),
                }
            });
            Ok(write.await?)
        })
    }

    fn sessions(&self) -> BoxFuture<'_, Result<Vec<(String, i64)>, Failure>> {
        Box::pin(async move {
            let read = self.read(|connection| {
                let mut statement = connection.prepare_cached(
                    "SELECT session, coalesce(max(answered_at_ms), 0) AS newest FROM turns
                     GROUP BY session ORDER BY newest DESC, session",
                )?;
                let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
                Ok(rows.collect::<Result<Vec<(String, i64)>, _>>()?)
            });
            Ok(read.await?)
        })
    }

    fn spent_since(&self, at_ms: i64) -> BoxFuture<'_, Result<(u64, u64), Failure>> {
        Box::pin(async move {
            let read = self.read(move |connection| {
                let spent = connection
                    .prepare_cached(
                        "SELECT coalesce(sum(tokens), 0), coalesce(sum(cost_usd_micros), 0)
                         FROM turns WHERE answered_at_ms >= ?1",
                    )?
                    .query_row([at_ms], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?;
                Ok((u64::try_from(spent.0).unwrap_or(0), u64::try_from(spent.1).unwrap_or(0)))
            });
            Ok(read.await?)
        })
    }
}

fn open_turns(connection: &Connection) -> Result<Vec<StoredTurn>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT turns.turn, session, event FROM turns JOIN turn_events ON turn_events.turn = turns.turn
         WHERE answered_at_ms IS NULL ORDER BY turns.number, turn_events.number",
    )?;
    let mut rows = statement.query([])?;
    let mut found: Vec<StoredTurn> = Vec::new();
    while let Some(row) = rows.next()? {
        let turn: String = row.get(0)?;
        let event = rows::json(row, 2)?;
        match found.last_mut().filter(|last| last.turn == turn) {
            Some(last) => last.events.push(event),
            None => found.push(StoredTurn { turn, session: row.get(1)?, events: vec![event] }),
        }
    }
    Ok(found)
}

fn history(connection: &Connection, session: &str, count: usize) -> Result<Vec<Message>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT message FROM messages WHERE session = ?1 ORDER BY id DESC LIMIT ?2")?;
    let mut rows = statement.query(params![session, i64::try_from(count).unwrap_or(i64::MAX)])?;
    let mut newest_first = Vec::new();
    while let Some(row) = rows.next()? {
        newest_first.push(rows::json(row, 0)?);
    }
    Ok(pairs::whole(newest_first.into_iter().rev()))
}

fn last_changes(connection: &Connection, session: &str) -> Result<Option<(String, Value)>, StoreError> {
    let found: Option<(String, String)> = connection
        .query_row(
            "SELECT turn, changes FROM turns WHERE session = ?1 AND changes IS NOT NULL AND undone = 0
             ORDER BY number DESC LIMIT 1",
            [session],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    Ok(found.map(|(turn, changes)| Ok::<_, serde_json::Error>((turn, serde_json::from_str(&changes)?))).transpose()?)
}

/// The turn's own part of an answer: its row and its messages.
pub(crate) fn close(connection: &Connection, answered: &Answered) -> Result<(), StoreError> {
    let changes = (!answered.changes.is_null()).then(|| answered.changes.to_string());
    let closed = connection
        .prepare_cached(
            "INSERT INTO turns (turn, session, answered_at_ms, principal, reply, ended, inputs, changes, usage,
                                tokens, cost_usd_micros)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT (turn) DO UPDATE SET
                session = ?2, answered_at_ms = ?3, principal = ?4, reply = ?5, ended = ?6, inputs = ?7,
                changes = ?8, usage = ?9, tokens = ?10, cost_usd_micros = ?11
             WHERE answered_at_ms IS NULL",
        )?
        .execute(params![
            answered.turn,
            answered.session,
            answered.at_ms,
            serde_json::to_string(&answered.principal)?,
            answered.reply,
            answered.ended,
            serde_json::to_string(&answered.inputs)?,
            changes,
            answered.usage.to_string(),
            tokens(&answered.usage),
            count(&answered.usage, "cost_usd_micros"),
        ])?;
    if closed == 0 {
        let message = format!("turn {} was answered already", answered.turn);
        return Err(Failure::new(FailureKind::Duplicate, message).into());
    }
    for message in &answered.messages {
        connection
            .prepare_cached("INSERT INTO messages (session, turn, role, message) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![answered.session, answered.turn, role(message), serde_json::to_string(message)?])?;
    }
    forget_old_steps(connection, &answered.turn)
}

fn forget_old_steps(connection: &Connection, turn: &str) -> Result<(), StoreError> {
    let number: i64 =
        connection.prepare_cached("SELECT number FROM turns WHERE turn = ?1")?.query_row([turn], |row| row.get(0))?;
    // A few at a time: turns end in another order than they began.
    connection
        .prepare_cached(
            "DELETE FROM turn_events WHERE turn IN
             (SELECT turn FROM turns WHERE number BETWEEN ?1 - 20 AND ?1 AND answered_at_ms IS NOT NULL)",
        )?
        .execute([number - TURN_LOGS_KEPT])?;
    Ok(())
}

pub(crate) fn answer(connection: &Connection, turn: &str) -> Result<Option<Answered>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT session, answered_at_ms, principal, reply, ended, inputs, changes, usage FROM turns
         WHERE turn = ?1 AND answered_at_ms IS NOT NULL",
    )?;
    let mut rows = statement.query([turn])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let changes: Option<String> = row.get(6)?;
    Ok(Some(Answered {
        turn: turn.to_owned(),
        session: row.get(0)?,
        at_ms: row.get(1)?,
        principal: rows::json(row, 2)?,
        reply: row.get(3)?,
        ended: row.get(4)?,
        inputs: rows::json(row, 5)?,
        changes: changes.map(|changes| serde_json::from_str(&changes)).transpose()?.unwrap_or(Value::Null),
        usage: rows::json(row, 7)?,
        messages: messages_of(connection, turn)?,
    }))
}

fn messages_of(connection: &Connection, turn: &str) -> Result<Vec<Message>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT message FROM messages WHERE turn = ?1 ORDER BY id")?;
    let mut rows = statement.query([turn])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(rows::json(row, 0)?);
    }
    Ok(found)
}

pub(super) fn role(message: &Message) -> &'static str {
    match message {
        Message::System { .. } => "system",
        Message::User { .. } => "user",
        Message::Assistant { .. } => "assistant",
        Message::Tool { .. } => "tool",
    }
}

fn count(usage: &Value, name: &str) -> i64 {
    usage.get(name).and_then(Value::as_i64).unwrap_or(0)
}

fn tokens(usage: &Value) -> i64 {
    count(usage, "prompt_tokens").saturating_add(count(usage, "completion_tokens"))
}
