//! The agent: sessions side by side, one turn at a time in each. Start at [`Agent::run`] and
//! [`Agent::put`].
//!
//! Invariants: an input is on the disk before it counts as accepted; it is answered once; what a crash
//! left open is gone on with at the next start, and no tool is run a second time.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use sdk::{Failure, FailureKind, LlmApi};
use tokio::sync::{Notify, broadcast, oneshot};

use crate::ports::{
    Answered, Clock, GraphMemory, Inbox, Input, LlmSource, NewInput, Schedules, Surroundings, TextMemory, TurnLog, Undo,
};
use crate::registry::Tools;
use crate::stages::Stages;
use crate::turn::{Event, Limits, Turn};

mod asking;
mod builtin;
mod calling;
mod clockwork;
mod events;
mod keeping;
mod session;
mod sessions;
mod turning;

pub use events::AgentEvent;
pub use keeping::ROOM_LOOK;
use session::Command;
pub(crate) use session::language;
use sessions::Sessions;
pub use sessions::{SESSION_WAITING_MAX, SESSIONS_MAX};
pub use turning::RECALL_MAX;

/// Limit: events that a slow listener may lag behind; then it misses some, and is told so.
pub const EVENTS_MAX: usize = 4096;

/// All that the agent is given.
#[derive(Clone)]
pub struct Ports {
    pub source: Arc<dyn LlmSource>,
    pub llm: Arc<dyn LlmApi>,
    pub inbox: Arc<dyn Inbox>,
    pub turns: Arc<dyn TurnLog>,
    pub schedules: Arc<dyn Schedules>,
    pub graph: Arc<dyn GraphMemory>,
    pub text: Arc<dyn TextMemory>,
    pub clock: Arc<dyn Clock>,
    pub surroundings: Arc<dyn Surroundings>,
    pub undo: Arc<dyn Undo>,
    /// Somebody added or cancelled a schedule.
    pub rescheduled: Arc<Notify>,
}

/// Cheap to clone; the last clone that goes ends nothing, [`Agent::close`] does.
#[derive(Clone)]
pub struct Agent(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub ports: Ports,
    pub tools: Tools,
    pub stages: Stages,
    pub limits: ArcSwap<Limits>,
    events: broadcast::Sender<AgentEvent>,
    sessions: Mutex<Sessions>,
    tasks: Mutex<tokio::task::JoinSet<()>>,
    closed: AtomicBool,
}

impl Agent {
    /// The agent, with nothing going on yet: register tools and stages, then [`Agent::run`].
    pub fn new(ports: Ports, limits: Limits) -> Result<Self, Failure> {
        let agent = Self(Arc::new(Inner {
            ports,
            tools: Tools::default(),
            stages: Stages::default(),
            limits: ArcSwap::from_pointee(limits),
            events: broadcast::channel(EVENTS_MAX).0,
            sessions: Mutex::default(),
            tasks: Mutex::default(),
            closed: AtomicBool::new(false),
        }));
        builtin::register(&agent)?;
        Ok(agent)
    }

    /// Goes on with what was left open, and starts the schedules.
    pub async fn run(&self) -> Result<(), Failure> {
        let inner = &self.0;
        let mut taken = BTreeSet::new();
        for stored in inner.ports.turns.open().await? {
            let turn = self.told_again(stored.events);
            if turn.id.is_empty() || turn.is_over() {
                continue;
            }
            taken.extend(turn.inputs.iter().copied());
            let session = turn.session.clone();
            self.send(&session, Command::Resume(Box::new(turn)));
        }
        for input in inner.ports.inbox.pending().await? {
            if !taken.contains(&input.id) {
                let session = input.new.session.clone();
                self.send(&session, Command::Input(Box::new(input)));
            }
        }
        let agent = self.clone();
        self.spawn(async move { clockwork::run(&agent).await });
        Ok(())
    }

    /// A turn as its log has it. A step that cannot be read, of another version perhaps, ends it with an
    /// account: what came after it is not known, and is not done again.
    fn told_again(&self, events: Vec<serde_json::Value>) -> Turn {
        let (mut turn, now) = (Turn::default(), self.0.ports.clock.now_ms());
        for event in events {
            match serde_json::from_value::<Event>(event) {
                Ok(event) => drop(turn.apply(event, now)),
                Err(error) => {
                    tracing::warn!(turn = turn.id, "a step of this turn cannot be read, so it ends here: {error}");
                    turn.apply(Event::Stopped, now);
                    break;
                }
            }
        }
        turn
    }

    /// Accepts an input: it is on the disk when this returns its id. One that was accepted before, by its
    /// `client_id`, is not accepted again and gives the same id.
    pub async fn put(&self, mut input: NewInput) -> Result<i64, Failure> {
        if self.0.closed.load(Ordering::SeqCst) {
            return Err(Failure::new(FailureKind::Unavailable, "the agent is shutting down; send it again later"));
        }
        if input.text.trim().is_empty() {
            return Err(Failure::invalid("the message is empty"));
        }
        if input.session.is_empty() {
            "main".clone_into(&mut input.session);
        }
        if input.at_ms == 0 {
            input.at_ms = self.0.ports.clock.now_ms();
        }
        let (id, known) = self.0.ports.inbox.put(input.clone()).await?;
        if !known {
            let session = input.session.clone();
            self.send(&session, Command::Input(Box::new(Input { id, new: input })));
        }
        Ok(id)
    }

    /// The answer to an input, when there is one.
    pub async fn answer(&self, input: i64) -> Result<Answered, Failure> {
        let mut events = self.subscribe();
        loop {
            if let Some(answered) = self.0.ports.inbox.answer_of(input).await? {
                return Ok(answered);
            }
            loop {
                match events.recv().await {
                    Ok(AgentEvent::TurnEnded { answered, .. }) if answered.inputs.contains(&input) => {
                        return Ok(*answered);
                    }
                    Ok(_) => {}
                    Err(broadcast::error::RecvError::Lagged(_)) => break,
                    Err(broadcast::error::RecvError::Closed) => {
                        return Err(Failure::new(FailureKind::Unavailable, "the agent has ended"));
                    }
                }
            }
        }
    }

    /// Ends the turn that runs in this session; false where none does.
    pub fn stop(&self, session: &str) -> bool {
        let sessions = self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.running.get(session).is_some_and(|sender| sender.try_send(Command::Stop).is_ok())
    }

    /// Takes back an input that waits for its turn: it is answered with nothing, ended as `withdrawn`. False
    /// where its turn has begun.
    pub async fn withdraw(&self, session: &str, input: i64) -> Result<bool, Failure> {
        let (told, answer) = oneshot::channel();
        self.send(session, Command::Withdraw(input, told));
        let waited = tokio::time::timeout(WITHDRAW_MAX, answer).await;
        let Ok(Ok(Some(input))) = waited else { return Ok(false) };
        let answered = Answered {
            turn: format!("w{}", input.id),
            session: input.new.session.clone(),
            inputs: vec![input.id],
            principal: input.new.principal.clone(),
            reply: String::new(),
            ended: "withdrawn".into(),
            messages: vec![],
            changes: serde_json::Value::Null,
            usage: serde_json::Value::Null,
            at_ms: self.0.ports.clock.now_ms(),
        };
        if let Err(failure) = self.0.ports.inbox.answer(answered).await {
            self.send(session, Command::Input(input));
            return Err(failure);
        }
        Ok(true)
    }

    pub fn subscribe(&self) -> broadcast::Receiver<AgentEvent> {
        self.0.events.subscribe()
    }

    pub fn tools(&self) -> &Tools {
        &self.0.tools
    }

    pub fn stages(&self) -> &Stages {
        &self.0.stages
    }

    pub fn ports(&self) -> &Ports {
        &self.0.ports
    }

    pub fn set_limits(&self, limits: Limits) {
        self.0.limits.store(Arc::new(limits));
    }

    /// Everything of a plugin leaves: its tools and its handlers.
    pub fn remove_owner(&self, owner: &str) {
        self.0.tools.remove(owner);
        self.0.stages.remove(owner);
    }

    /// Ends all that runs. What was not answered is gone on with at the next start.
    pub async fn close(&self) {
        self.0.closed.store(true, Ordering::SeqCst);
        let mut tasks = std::mem::take(&mut *self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        tasks.shutdown().await;
    }

    pub(crate) fn tell(&self, event: AgentEvent) {
        // Nobody may be listening, and that is fine.
        let _heard = self.0.events.send(event);
    }

    /// Work that ends with the agent.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }
}

/// How long a session without a message keeps its task.
const IDLE: Duration = Duration::from_secs(60);
/// A session that is busy with its store answers later; what waits then goes on waiting.
const WITHDRAW_MAX: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests;
