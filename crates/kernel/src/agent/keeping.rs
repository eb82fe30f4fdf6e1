//! What must be kept before anything else happens, on a disk that may be full. Start at
//! [`Session::until_kept`].
//!
//! Invariants: a turn that cannot be written down does nothing, and an answer that cannot be kept is not told
//! before it is, so that it is told once; whoever waits hears why, in their language.

use std::time::Duration;

use sdk::{Failure, FailureKind};

use super::AgentEvent;
use super::session::Session;

/// Limit: between two tries to write to a disk that is full.
pub const ROOM_LOOK: Duration = Duration::from_secs(5);
/// Tries to write to a store that fails in another way than for want of room.
const TRIES_MAX: u32 = 3;

/// Whose turn waits.
pub(super) struct Whose {
    pub turn: String,
    pub inputs: Vec<i64>,
    pub chinese: bool,
}

impl Session {
    /// Tries until it is kept. An error says that it never will be: it was kept before, or the store fails in
    /// a way that room does not mend.
    pub async fn until_kept<F>(&mut self, whose: &Whose, keep: impl Fn() -> F) -> Result<(), Failure>
    where
        F: Future<Output = Result<(), Failure>>,
    {
        let mut tries = 0;
        while let Err(failure) = keep().await {
            tries += 1;
            let full = failure.kind == FailureKind::Full;
            let settled = matches!(failure.kind, FailureKind::Duplicate | FailureKind::NotFound);
            if settled || (!full && tries >= TRIES_MAX) {
                return Err(failure);
            }
            if full && tries == 1 {
                tracing::warn!(turn = whose.turn, "{failure}; tried again until there is room");
                self.postponed(whose);
            }
            self.pause(Duration::from_secs(u64::from(tries)).min(ROOM_LOOK)).await;
        }
        Ok(())
    }

    fn postponed(&self, whose: &Whose) {
        let message = if whose.chinese {
            "磁盘已满：你的话已经记下，腾出空间后会自动回答一次，已做的事不会再做。请腾出磁盘空间。"
        } else {
            "The disk is full. What you said is kept; it is answered by itself, once, when there is room, and nothing is done twice. Make room on the disk."
        };
        self.agent.tell(AgentEvent::Postponed {
            session: self.name.clone(),
            turn: whose.turn.clone(),
            inputs: whose.inputs.clone(),
            message: message.to_owned(),
        });
    }

    /// What comes in meanwhile waits for its own turn; nothing runs that could be stopped.
    async fn pause(&mut self, time: Duration) {
        let over = tokio::time::sleep(time);
        tokio::pin!(over);
        loop {
            // Either may be dropped: a command was taken or was not.
            tokio::select! {
                () = &mut over => return,
                command = self.commands.recv() => match command {
                    Some(command) => self.take(command),
                    // The agent is closing; the task is about to be dropped.
                    None => over.as_mut().await,
                },
            }
        }
    }
}

/// For a person, and for the log.
pub(super) fn not_written(chinese: bool, failure: &Failure) -> String {
    match (chinese, failure.kind) {
        (false, _) => format!("a step of this turn could not be written down: {failure}"),
        (true, FailureKind::Full) => "磁盘已满，这一步没能写下来".to_owned(),
        (true, _) => format!("这一步没能写到磁盘上：{failure}"),
    }
}
