//! One conversation as somebody follows it: its events, and the replies that nobody has seen yet. Start at
//! [`Listener`].
//!
//! Invariants: a reply is taken out of the outbox after it was shown, so that it is shown at least once;
//! whoever lags behind misses events and no answer.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use kernel::agent::{Agent, AgentEvent};
use kernel::ports::{Answered, Failure, NewInput, Outbox, Outgoing};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

/// The channel of those who talk by `menshen chat`, beside a service or alone.
pub const CHANNEL: &str = "chat";
/// As many replies are looked through at once.
const REPLIES_MAX: usize = 1000;

pub struct Listener {
    agent: Agent,
    outbox: Arc<dyn Outbox>,
    session: String,
    events: Receiver<AgentEvent>,
    /// Put in here and not answered yet.
    waiting: BTreeSet<i64>,
    /// Turns whose replies were given by [`Listener::unseen`].
    given: BTreeSet<String>,
    caught_up: VecDeque<Answered>,
    lagged: bool,
}

impl Listener {
    /// From now on nothing is missed.
    pub fn new(agent: Agent, outbox: Arc<dyn Outbox>, session: &str) -> Self {
        Self {
            events: agent.subscribe(),
            agent,
            outbox,
            session: session.to_owned(),
            waiting: BTreeSet::new(),
            given: BTreeSet::new(),
            caught_up: VecDeque::new(),
            lagged: false,
        }
    }

    /// Accepted when this returns its id; always into this conversation.
    pub async fn put(&mut self, input: NewInput) -> Result<i64, Failure> {
        let id = self.agent.put(NewInput { session: self.session.clone(), ..input }).await?;
        self.waiting.insert(id);
        Ok(id)
    }

    /// The answer to an input that was answered already when it was put in, once more.
    pub async fn answered(&mut self, input: i64) -> Result<Option<AgentEvent>, Failure> {
        let Some(answered) = self.agent.ports().inbox.answer_of(input).await? else { return Ok(None) };
        self.waiting.remove(&input);
        // Should its event be on its way, it is not told a second time.
        self.given.insert(answered.turn.clone());
        Ok(Some(ended(answered)))
    }

    pub fn stop(&self) {
        self.agent.stop(&self.session);
    }

    /// Replies of this conversation that nobody has seen, oldest first: a timer fired, a crash came between.
    pub async fn unseen(&mut self) -> Result<Vec<Outgoing>, Failure> {
        let mut all = self.outbox.undelivered(REPLIES_MAX).await?;
        all.retain(|reply| reply.session == self.session && reply.principal.channel == CHANNEL);
        self.given = all.iter().map(|reply| reply.turn.clone()).collect();
        Ok(all)
    }

    /// It was shown.
    pub async fn seen(&self, turn: &str) {
        let Ok(all) = self.outbox.undelivered(REPLIES_MAX).await else { return };
        for reply in all.iter().filter(|reply| reply.turn == turn && reply.principal.channel == CHANNEL) {
            // What could not be taken out is shown once more, which is better than not at all.
            let _shown_again = self.outbox.delivered(reply.id).await;
        }
    }

    /// The next event of this conversation; None when the agent has ended. May be dropped: nothing is lost.
    pub async fn next(&mut self) -> Option<AgentEvent> {
        loop {
            if self.lagged {
                self.catch_up().await;
            }
            if let Some(answered) = self.caught_up.pop_front() {
                return Some(ended(answered));
            }
            match self.events.recv().await {
                Ok(AgentEvent::TurnEnded { answered, .. }) if self.is_mine(&answered) => return Some(ended(*answered)),
                Ok(AgentEvent::TurnEnded { .. }) => {}
                Ok(event) if event.session() == self.session => return Some(event),
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => self.lagged = true,
                Err(RecvError::Closed) => return None,
            }
        }
    }

    fn is_mine(&mut self, answered: &Answered) -> bool {
        let new = answered.session == self.session && !self.given.remove(&answered.turn);
        self.waiting.retain(|id| !answered.inputs.contains(id));
        new
    }

    /// Answers that came while this one lagged behind.
    async fn catch_up(&mut self) {
        let mut found = Vec::new();
        for id in &self.waiting {
            if let Ok(Some(answered)) = self.agent.ports().inbox.answer_of(*id).await {
                found.push((*id, answered));
            }
        }
        for (id, answered) in found {
            self.waiting.remove(&id);
            self.caught_up.push_back(answered);
        }
        self.lagged = false;
    }
}

fn ended(answered: Answered) -> AgentEvent {
    let (session, turn) = (answered.session.clone(), answered.turn.clone());
    AgentEvent::TurnEnded { session, turn, answered: Box::new(answered) }
}
