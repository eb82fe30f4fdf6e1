//! What goes on, for consoles, channels and logs. Start at [`AgentEvent`]. Invariant: events tell what
//! happened and decide nothing; whoever misses some finds the outcome in the store.

use sdk::{Stage, ToolCall, ToolResult};
use serde::{Deserialize, Serialize};

use crate::ports::{Answered, Usage};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AgentEvent {
    TurnStarted {
        session: String,
        turn: String,
        /// What it answers so far: by these whoever put them in knows its own turn.
        #[serde(default)]
        inputs: Vec<i64>,
        channel: String,
        text: String,
    },
    /// Part of what the model says.
    TextDelta {
        session: String,
        turn: String,
        text: String,
    },
    ReasoningDelta {
        session: String,
        turn: String,
        text: String,
    },
    /// What was said in this answer so far does not hold: it was cut off or interrupted.
    TextRetracted {
        session: String,
        turn: String,
    },
    /// One answer of the model is whole.
    MessageEnded {
        session: String,
        turn: String,
        text: String,
        /// What it asks for, as far as it could be read; a stage may still change it.
        #[serde(default)]
        calls: Vec<ToolCall>,
        usage: Usage,
    },
    ToolStarted {
        session: String,
        turn: String,
        call: ToolCall,
    },
    ToolEnded {
        session: String,
        turn: String,
        result: ToolResult,
    },
    /// Another message joined this turn.
    Interrupted {
        session: String,
        turn: String,
        text: String,
    },
    /// A handler or a store did not do its part; the turn goes on.
    Problem {
        session: String,
        turn: String,
        owner: String,
        stage: Option<Stage>,
        message: String,
    },
    /// Nothing can be written down: the turn waits until there is room, and then goes on by itself.
    Postponed {
        session: String,
        turn: String,
        inputs: Vec<i64>,
        message: String,
    },
    TurnEnded {
        session: String,
        turn: String,
        answered: Box<Answered>,
    },
}

impl AgentEvent {
    pub fn session(&self) -> &str {
        match self {
            AgentEvent::TurnStarted { session, .. }
            | AgentEvent::TextDelta { session, .. }
            | AgentEvent::ReasoningDelta { session, .. }
            | AgentEvent::TextRetracted { session, .. }
            | AgentEvent::MessageEnded { session, .. }
            | AgentEvent::ToolStarted { session, .. }
            | AgentEvent::ToolEnded { session, .. }
            | AgentEvent::Interrupted { session, .. }
            | AgentEvent::Problem { session, .. }
            | AgentEvent::Postponed { session, .. }
            | AgentEvent::TurnEnded { session, .. } => session,
        }
    }

    pub fn turn(&self) -> &str {
        match self {
            AgentEvent::TurnStarted { turn, .. }
            | AgentEvent::TextDelta { turn, .. }
            | AgentEvent::ReasoningDelta { turn, .. }
            | AgentEvent::TextRetracted { turn, .. }
            | AgentEvent::MessageEnded { turn, .. }
            | AgentEvent::ToolStarted { turn, .. }
            | AgentEvent::ToolEnded { turn, .. }
            | AgentEvent::Interrupted { turn, .. }
            | AgentEvent::Problem { turn, .. }
            | AgentEvent::Postponed { turn, .. }
            | AgentEvent::TurnEnded { turn, .. } => turn,
        }
    }
}
