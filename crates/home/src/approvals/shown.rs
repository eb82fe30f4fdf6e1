//! A question as people and programs see it. Start at [`Shown`]. Invariant: what is shown has no power.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use decide::gate::{Origin, Risk};
use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant;

use super::question::{Both, Question};
use super::{APPROVAL_LIFE, Person, ids};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Waiting,
    /// Claimed: decided, and not carried out to its end yet.
    Executing,
    Approved,
    Denied,
    /// A person said yes, but by then the call would have done something else: nothing was sent.
    Changed,
    /// Nobody decided in time.
    Expired,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shown {
    pub id: String,
    #[serde(skip)]
    pub(super) number: u64,
    pub session: String,
    pub origin: Origin,
    pub state: State,
    pub question: Both,
    /// Why it asks, a sentence each.
    pub why: Vec<Both>,
    /// What would open, disarm or harm, by entity id.
    pub targets: Vec<String>,
    /// What would be sent, `lock.unlock lock.front_door`.
    pub moves: Vec<String>,
    pub risk: Risk,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// Until it counts as a no; 0 when it is over.
    pub seconds_left: u64,
    pub decided_by: Option<Person>,
    /// What the house did, as the tool tells it; null where nothing was done.
    pub answer: Value,
}

/// How it ended.
pub struct Ended {
    pub state: State,
    pub by: Option<Person>,
    pub answer: Value,
}

impl Shown {
    pub(super) fn new(question: &Question, number: u64, run: &str) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            id: format!("{run}-{number}"),
            number,
            session: question.session.clone(),
            origin: question.origin,
            state: State::Waiting,
            question: question.text.clone(),
            why: question.why.clone(),
            targets: ids(&question.targets),
            moves: question.moves.clone(),
            risk: question.risk,
            at_ms: u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
            seconds_left: APPROVAL_LIFE.as_secs(),
            decided_by: None,
            answer: Value::Null,
        }
    }

    /// As it stands now.
    pub(super) fn at(&self, until: Instant, now: Instant) -> Self {
        let left = if self.state == State::Waiting { until.saturating_duration_since(now) } else { Duration::ZERO };
        Self { seconds_left: left.as_secs(), ..self.clone() }
    }

    pub(super) fn end(&mut self, ended: Ended) {
        let Ended { state, by, answer } = ended;
        (self.state, self.decided_by, self.answer, self.seconds_left) = (state, by, answer, 0);
    }
}
