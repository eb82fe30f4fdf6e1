//! What the kernel needs from outside: models, storage, time. Start at [`LlmSource`] and [`Inbox`].
//!
//! Invariant: a port says what is guaranteed when its future is ready; what is written is on the disk
//! then, unless the port says otherwise.

mod brain;
mod clock;
mod inbox;
mod knowledge;
mod memory;
mod outbox;
mod schedule;
mod settings;
mod source;
mod surroundings;

pub use brain::{
    Brain, BrainEvent, BrainStatus, Disposition, Ended, Outcome, Progress, Prompt, StreamingBehavior, Submitted,
};
pub use clock::Clock;
pub use inbox::{Answered, Inbox, Input, NewInput, Principal, StoredTurn, TurnLog, place};
pub use knowledge::{KnowledgeBase, KnowledgePart};
pub use memory::{
    DocumentHit, Documents, Fact, GraphMemory, Purged, Recall, RecallQuery, RecalledFact, TextHit, TextMemory,
    TextQuery,
};
pub use outbox::{Event, Events, Outbox, Outgoing};
pub use schedule::{Schedule, Schedules, When};
pub use settings::{SettingsStore, StoredSetting};
pub use source::{
    Abilities, Delta, DeltaStream, EndReason, LlmSource, SourceError, SourceErrorKind, SourceRequest, Usage,
};

pub use surroundings::{Surroundings, Undo};

pub use sdk::{BoxFuture, Failure, FailureKind};
