//! What came in and was not answered yet, and what each turn did so far. Start at [`Inbox`].
//!
//! Invariants: an input is on the disk, fully synced, before it counts as accepted; it is marked as
//! answered in the same transaction as its answer, so that it is answered once over a crash too.

use sdk::{BoxFuture, Failure, InjectionKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::Message;

/// Who speaks, and by which way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Principal {
    pub channel: String,
    pub user_id: String,
    pub group_id: String,
}

/// Where something is said, for who may look it up: what a group of others says is apart from its channel.
pub fn place(channel: &str, group_id: &str) -> String {
    if group_id.is_empty() { channel.to_owned() } else { format!("{channel}/{group_id}") }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NewInput {
    /// Channel and id of the conversation, `main` by default.
    pub session: String,
    pub kind: InjectionKind,
    pub principal: Principal,
    /// A plugin, a schedule, or the channel itself.
    pub source: String,
    pub text: String,
    /// Equal ones of one session and channel are accepted once: a client may send again what it is not
    /// sure of.
    pub client_id: Option<String>,
    pub at_ms: i64,
}

impl NewInput {
    /// Whether a person says this, now and by a channel: not a schedule, not a plugin that was told something.
    pub fn by_person(&self) -> bool {
        self.source.is_empty() || self.source == self.principal.channel
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Input {
    /// Grows from one to the next, for good.
    pub id: i64,
    #[serde(flatten)]
    pub new: NewInput,
}

/// The end of a turn, kept in one transaction: the inputs are answered, the messages are in the
/// session's history, the reply waits for delivery, the turn's log is closed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    pub turn: String,
    pub session: String,
    pub inputs: Vec<i64>,
    pub principal: Principal,
    pub reply: String,
    pub ended: String,
    /// For the history of the session; empty where nothing may be remembered.
    pub messages: Vec<Message>,
    /// What was changed and how to change it back, for undo; null where nothing was.
    pub changes: Value,
    pub usage: Value,
    pub at_ms: i64,
}

pub trait Inbox: Send + Sync {
    /// The id, and whether it was there already (by `client_id`).
    fn put(&self, input: NewInput) -> BoxFuture<'_, Result<(i64, bool), Failure>>;
    /// Not answered yet, oldest first.
    fn pending(&self) -> BoxFuture<'_, Result<Vec<Input>, Failure>>;
    /// An input that was answered before, or a turn that ended before, is an error of kind `duplicate`;
    /// nothing is changed then.
    fn answer(&self, answered: Answered) -> BoxFuture<'_, Result<(), Failure>>;
    /// The answer to an input that was put in before, where there is one. Messages that a summary stands
    /// for by now are not in it.
    fn answer_of(&self, input: i64) -> BoxFuture<'_, Result<Option<Answered>, Failure>>;
}

/// A turn that was under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredTurn {
    pub turn: String,
    pub session: String,
    /// In the order in which they happened.
    pub events: Vec<Value>,
}

/// The events of turns, and the history of sessions.
pub trait TurnLog: Send + Sync {
    /// Appends one event; `sync` waits for the disk.
    fn append<'a>(
        &'a self,
        turn: &'a str,
        session: &'a str,
        event: Value,
        sync: bool,
    ) -> BoxFuture<'a, Result<(), Failure>>;
    /// Turns that began and have no answer.
    fn open(&self) -> BoxFuture<'_, Result<Vec<StoredTurn>, Failure>>;
    /// The newest messages of a session, at most so many, oldest first; beginning with a `User` or `System` one.
    fn history<'a>(&'a self, session: &'a str, count: usize) -> BoxFuture<'a, Result<Vec<Message>, Failure>>;
    /// Replaces all but the newest `keep` messages of a session by one summary.
    fn compact<'a>(&'a self, session: &'a str, keep: usize, summary: Message) -> BoxFuture<'a, Result<(), Failure>>;
    /// The last turn of a session that changed something and was not undone.
    fn last_changes<'a>(&'a self, session: &'a str) -> BoxFuture<'a, Result<Option<(String, Value)>, Failure>>;
    fn mark_undone<'a>(&'a self, turn: &'a str) -> BoxFuture<'a, Result<(), Failure>>;
    /// Sessions by name with the time of their last turn, newest first.
    fn sessions(&self) -> BoxFuture<'_, Result<Vec<(String, i64)>, Failure>>;
    /// Tokens and micro-dollars used since this time.
    fn spent_since(&self, at_ms: i64) -> BoxFuture<'_, Result<(u64, u64), Failure>>;
}
