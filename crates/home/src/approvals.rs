//! What waits for a person's yes. Start at [`Approvals::file`] and [`Approvals::decide`].
//!
//! Invariants: an id has no power, it only names a question; a question is decided once, by an atomic claim,
//! and the claim alone makes a [`Yes`]; what nobody decides in time is denied, and so is everything at a
//! restart, since nothing is kept but the audit; nothing that a model wrote is in a question.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use decide::gate::{Call, Language, Origin, Risk, Yes};
use decide::house::EntityId;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::broadcast;
use tokio::time::Instant;

use crate::audit::{Audit, recorded};

mod question;
mod shown;

pub use question::{Asking, Both, Question};
pub use shown::{Ended, Shown, State};

/// Limit: questions that one conversation may have open; one more is refused at once.
pub const APPROVALS_OF_SESSION_MAX: usize = 3;
/// Limit: questions that may be open at all.
pub const APPROVALS_MAX: usize = 30;
/// Limit: so long a question waits; then it counts as a no.
pub const APPROVAL_LIFE: Duration = Duration::from_secs(120);
/// Limit: after a no, the same is not asked again for so long.
pub const COOL_DOWN: Duration = Duration::from_secs(60);
/// So long a call that was decided gets the same answer again.
const ANSWER_KEPT: Duration = Duration::from_secs(120);
/// Decided questions that can be looked at; older ones are in the audit.
const ENDED_MAX: usize = 100;
/// A console that lags behind reads the list again.
const EVENTS_MAX: usize = 64;

/// By which road a person decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Road {
    Console,
    Phone,
    Terminal,
}

/// Who decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Person {
    pub road: Road,
    pub name: String,
}

/// An approved call on its way: whoever carries it out judges it again, and has this one yes.
#[derive(Debug)]
pub struct Approved {
    pub call: Call,
    pub origin: Origin,
    pub language: Language,
    pub yes: Yes,
}

type Carrying = Pin<Box<dyn Future<Output = Value> + Send>>;
/// Judges again, permits, executes, and tells as the tools do.
pub type Carry = Arc<dyn Fn(Approved) -> Carrying + Send + Sync>;

/// What became of filing a question.
#[derive(Clone, Debug)]
pub enum Filed {
    /// It waits, since now or since before.
    Waits(Shown),
    /// The same was decided a moment ago: this is what came of it, and nothing more will move.
    Decided(Shown),
    /// Too many of this conversation are open.
    TooMany,
    /// A person said no to the same so many seconds ago that it may not be asked yet.
    CoolDown(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotDecided {
    #[error("there is no such question, or it was forgotten")]
    Unknown,
    #[error("it was decided already, or its time is over")]
    Over,
    #[error("the audit file cannot be written, so nothing is approved")]
    Audit,
}

/// Everything that waits or was decided. Cheap to clone.
#[derive(Clone)]
pub struct Approvals(Arc<Inner>);

struct Inner {
    kept: Mutex<VecDeque<Kept>>,
    audit: Audit,
    carry: OnceLock<Carry>,
    changed: broadcast::Sender<Shown>,
    /// Of this run, so that an id of an earlier run names nothing.
    run: String,
}

struct Kept {
    question: Question,
    shown: Shown,
    until: Instant,
    ended: Option<Instant>,
}

impl Approvals {
    /// `run` differs from one start of the program to the next.
    pub fn new(audit: Audit, run: String) -> Self {
        let changed = broadcast::channel(EVENTS_MAX).0;
        Self(Arc::new(Inner { kept: Mutex::default(), audit, carry: OnceLock::new(), changed, run }))
    }

    /// Who does what was approved; said once, when the tools are made.
    pub fn carried_by(&self, carry: Carry) {
        let _once = self.0.carry.set(carry);
    }

    /// Every question when it is filed, and again when it is decided or its time is over.
    pub fn subscribe(&self) -> broadcast::Receiver<Shown> {
        self.0.changed.subscribe()
    }

    /// Puts a question to the people of the house. Equal ones of one conversation are one.
    pub fn file(&self, question: Question) -> Filed {
        self.expire();
        let (now, mut kept) = (Instant::now(), self.kept());
        if let Some(filed) = known(&kept, &question, now) {
            return filed;
        }
        let open = |session: Option<&str>| {
            let open = kept.iter().filter(|one| one.ended.is_none());
            open.filter(|one| session.is_none_or(|session| one.question.session == session)).count()
        };
        if open(Some(&question.session)) >= APPROVALS_OF_SESSION_MAX || open(None) >= APPROVALS_MAX {
            return Filed::TooMany;
        }
        let number = kept.back().map_or(1, |one| one.shown.number + 1);
        let shown = Shown::new(&question, number, &self.0.run);
        let line = json!({ "id": shown.id, "session": question.session, "origin": question.origin,
            "call": recorded(&json!(question.call)), "question": shown.question.en });
        self.0.audit.note("asked", line);
        kept.push_back(Kept { question, shown: shown.clone(), until: now + APPROVAL_LIFE, ended: None });
        while kept.len() > ENDED_MAX && kept.front().is_some_and(|one| one.ended.is_some()) {
            kept.pop_front();
        }
        drop(kept);
        self.tell(&shown);
        let book = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(APPROVAL_LIFE).await;
            book.expire();
        });
        Filed::Waits(shown)
    }

    /// What came of exactly this call of this conversation a moment ago, where a person said yes to it.
    pub fn done_already(&self, session: &str, call: &Call) -> Option<Shown> {
        let now = Instant::now();
        let kept = self.kept();
        let found = kept.iter().rev().find(|one| one.question.session == session && one.question.call == *call)?;
        let fresh = found.ended.is_none_or(|ended| now < ended + ANSWER_KEPT);
        (fresh && matches!(found.shown.state, State::Approved | State::Executing)).then(|| found.shown.clone())
    }

    /// Open ones first, then the newest decided ones.
    pub fn list(&self) -> Vec<Shown> {
        self.expire();
        let now = Instant::now();
        let kept = self.kept();
        let (open, over): (Vec<&Kept>, Vec<&Kept>) = kept.iter().partition(|one| one.ended.is_none());
        open.into_iter().chain(over.into_iter().rev()).map(|one| one.shown.at(one.until, now)).collect()
    }

    pub fn get(&self, id: &str) -> Option<Shown> {
        self.expire();
        let kept = self.kept();
        kept.iter().find(|one| one.shown.id == id).map(|one| one.shown.at(one.until, Instant::now()))
    }

    /// A person's word. A yes is carried out, to its end even if the one who waits for this goes away.
    pub async fn decide(&self, id: &str, yes: bool, by: Person) -> Result<Shown, NotDecided> {
        let approved = self.claim(id, yes)?;
        let line = json!({ "id": id, "yes": yes, "by": by });
        // What a person allowed is on the disk before it happens.
        if self.0.audit.append("decided", line).await.is_err() && yes {
            self.end(id, Ended { state: State::Denied, by: Some(by), answer: Value::Null })?;
            return Err(NotDecided::Audit);
        }
        let Some(approved) = approved else {
            return self.end(id, Ended { state: State::Denied, by: Some(by), answer: Value::Null });
        };
        let (book, id) = (self.clone(), id.to_owned());
        let done = tokio::spawn(async move {
            let answer = match book.0.carry.get() {
                Some(carry) => carry(approved).await,
                None => Value::Null,
            };
            let state = if answer["changed"] == true { State::Changed } else { State::Approved };
            book.end(&id, Ended { state, by: Some(by), answer })
        });
        done.await.unwrap_or(Err(NotDecided::Over))
    }

    /// Takes the question out of reach of everybody else.
    fn claim(&self, id: &str, yes: bool) -> Result<Option<Approved>, NotDecided> {
        self.expire();
        let mut kept = self.kept();
        let one = kept.iter_mut().find(|one| one.shown.id == id).ok_or(NotDecided::Unknown)?;
        if one.shown.state != State::Waiting {
            return Err(NotDecided::Over);
        }
        one.shown.state = State::Executing;
        let question = &one.question;
        Ok(yes.then(|| Approved {
            call: question.call.clone(),
            origin: question.origin,
            language: question.language,
            yes: Yes::of_a_person(question.asked.clone()),
        }))
    }

    fn end(&self, id: &str, ended: Ended) -> Result<Shown, NotDecided> {
        let mut kept = self.kept();
        let one = kept.iter_mut().find(|one| one.shown.id == id).ok_or(NotDecided::Unknown)?;
        one.ended = Some(Instant::now());
        one.shown.end(ended);
        let shown = one.shown.clone();
        drop(kept);
        self.tell(&shown);
        Ok(shown)
    }

    /// Whose time is over is denied.
    fn expire(&self) {
        let now = Instant::now();
        let mut over = Vec::new();
        for one in self.kept().iter_mut().filter(|one| one.shown.state == State::Waiting && one.until <= now) {
            one.ended = Some(now);
            one.shown.end(Ended { state: State::Expired, by: None, answer: Value::Null });
            over.push(one.shown.clone());
        }
        for shown in over {
            self.0.audit.note("decided", json!({ "id": shown.id, "yes": false, "by": "time" }));
            self.tell(&shown);
        }
    }

    fn tell(&self, shown: &Shown) {
        // Nobody may be listening; the list has it.
        let _heard = self.0.changed.send(shown.clone());
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<Kept>> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The same question of the same conversation, where it is open or was decided a moment ago.
fn known(kept: &VecDeque<Kept>, question: &Question, now: Instant) -> Option<Filed> {
    let same = |one: &&Kept| {
        let (a, b) = (&one.question, question);
        a.session == b.session && (a.call == b.call || a.asked == b.asked)
    };
    let one = kept.iter().rev().find(same)?;
    let Some(ended) = one.ended else { return Some(Filed::Waits(one.shown.at(one.until, now))) };
    let since = now.saturating_duration_since(ended);
    match one.shown.state {
        State::Approved if since < ANSWER_KEPT => Some(Filed::Decided(one.shown.clone())),
        State::Denied | State::Expired if since < COOL_DOWN => {
            Some(Filed::CoolDown((COOL_DOWN - since).as_secs().max(1)))
        }
        _ => None,
    }
}

/// Of the risk, where the reasons name none: the stricter one.
fn risk(risk: Option<Risk>) -> Risk {
    risk.unwrap_or(Risk::Security)
}

/// Ids as the tools give them.
fn ids(targets: &[EntityId]) -> Vec<String> {
    targets.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests;
