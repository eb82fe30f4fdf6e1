//! Timers and schedules. Start at [`Schedules`]. Invariant: that a schedule fired and that its message
//! is in the inbox are one transaction, so that it fires once over a crash too.

use sdk::{BoxFuture, Failure};
use serde::{Deserialize, Serialize};

use super::inbox::NewInput;

/// When something is due. Times of day are those of `zone`, an IANA name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum When {
    Once {
        at_ms: i64,
    },
    /// Five fields: minute, hour, day of month, month, day of week.
    Cron {
        expression: String,
        zone: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    pub id: String,
    pub when: When,
    /// Goes into the inbox when it is due; its session and channel are where it was asked for.
    pub input: NewInput,
    pub next_at_ms: i64,
    pub created_at_ms: i64,
}

pub trait Schedules: Send + Sync {
    /// One with the same id is replaced.
    fn add(&self, schedule: Schedule) -> BoxFuture<'_, Result<(), Failure>>;
    /// Soonest first.
    fn list(&self) -> BoxFuture<'_, Result<Vec<Schedule>, Failure>>;
    /// Whether there was one.
    fn cancel<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<bool, Failure>>;
    /// Puts this input into the inbox (its own, which may say that it is late) and sets the next time, or
    /// removes it. Nothing happens where it is not due any more at `due_at_ms`: somebody else fired it.
    fn fire<'a>(
        &'a self,
        id: &'a str,
        due_at_ms: i64,
        next_at_ms: Option<i64>,
        input: NewInput,
    ) -> BoxFuture<'a, Result<Option<i64>, Failure>>;
}
