//! Replies on their way to people, and what happened for those who watch. Start at [`Outbox`].
//!
//! Invariants: a reply is put here in the transaction of its answer ([`super::Inbox::answer`]) and stays
//! until somebody says that it arrived, so that it goes out at least once, always under the same id; an
//! event has one sequence number, for good, and a later one has a larger one.

use sdk::{BoxFuture, Failure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::inbox::Principal;

/// A reply that waits for delivery.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Outgoing {
    /// For the receiver to tell a second delivery from a second reply.
    pub id: i64,
    pub turn: String,
    pub session: String,
    /// Whom it is for, and by which channel.
    pub principal: Principal,
    pub reply: String,
    pub ended: String,
    pub at_ms: i64,
}

pub trait Outbox: Send + Sync {
    /// Oldest first, at most so many. An answer without words puts nothing here.
    fn undelivered(&self, count: usize) -> BoxFuture<'_, Result<Vec<Outgoing>, Failure>>;
    /// Takes it out; whether it was there.
    fn delivered(&self, id: i64) -> BoxFuture<'_, Result<bool, Failure>>;
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Event {
    pub seq: i64,
    pub kind: String,
    pub body: Value,
}

pub trait Events: Send + Sync {
    /// Its sequence number. Numbers may be left out, after a crash, but never come twice.
    fn append<'a>(&'a self, kind: &'a str, body: Value) -> BoxFuture<'a, Result<i64, Failure>>;
    /// Those after this number, oldest first, at most so many. The oldest are given up after a while.
    fn since(&self, seq: i64, count: usize) -> BoxFuture<'_, Result<Vec<Event>, Failure>>;
    /// The numbers of the oldest event that is kept and of the newest; None before the first. Who has
    /// seen less than the oldest has missed some.
    fn range(&self) -> BoxFuture<'_, Result<Option<(i64, i64)>, Failure>>;
}
