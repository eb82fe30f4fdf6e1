//! Which sessions run, and what waits for one. Start at [`Agent::send`].
//!
//! Invariant: what was accepted always finds its place: in the queue of its session, or, where that is
//! full or too many sessions run, in `later`, in its order. The inbox bounds how much that can be.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::PoisonError;

use tokio::sync::mpsc;

use super::Agent;
use super::session::{Command, Session};

/// Limit: inputs of one session that are handed to it at once; more are taken up after these.
pub const SESSION_WAITING_MAX: usize = 64;
/// Limit: sessions with something going on at once.
pub const SESSIONS_MAX: usize = 1000;

#[derive(Default)]
pub(super) struct Sessions {
    pub running: HashMap<String, mpsc::Sender<Command>>,
    /// Found no room, by session.
    later: BTreeMap<String, VecDeque<Command>>,
}

impl Agent {
    /// Hands it to its session, which is begun where there is none.
    pub(super) fn send(&self, session: &str, command: Command) {
        let mut sessions = self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        // Behind what waits already, or the order would be lost.
        let waits = sessions.later.contains_key(session);
        if !waits && !sessions.running.contains_key(session) && sessions.running.len() < SESSIONS_MAX {
            self.begin(&mut sessions, session);
        }
        let left = match sessions.running.get(session).filter(|_| !waits) {
            Some(sender) => sender.try_send(command).err().map(mpsc::error::TrySendError::into_inner),
            None => Some(command),
        };
        if let Some(command) = left {
            sessions.later.entry(session.to_owned()).or_default().push_back(command);
        }
    }

    fn begin(&self, sessions: &mut Sessions, session: &str) {
        let (sender, receiver) = mpsc::channel(SESSION_WAITING_MAX);
        sessions.running.insert(session.to_owned(), sender);
        self.spawn(Session::new(self.clone(), session.to_owned(), receiver).run());
    }

    /// What found no room in the queue of this session; to be asked for after the queue was emptied.
    pub(super) fn later(&self, session: &str) -> VecDeque<Command> {
        let mut sessions = self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.later.remove(session).unwrap_or_default()
    }

    /// Whether a session without a message should end soon: others wait for its place.
    pub(super) fn crowded(&self) -> bool {
        !self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner).later.is_empty()
    }

    /// Gives the place of an idle session free, to one that waits for it; false where something came in
    /// meanwhile.
    pub(super) fn leave(&self, session: &str, receiver: &mpsc::Receiver<Command>) -> bool {
        let mut sessions = self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if !receiver.is_empty() || sessions.later.contains_key(session) {
            return false;
        }
        sessions.running.remove(session);
        let next = sessions.later.keys().find(|name| !sessions.running.contains_key(*name)).cloned();
        if let Some(next) = next {
            self.begin(&mut sessions, &next);
        }
        true
    }
}
