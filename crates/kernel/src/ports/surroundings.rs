//! What the agent knows before anybody says a word. Start at [`Surroundings`]. Invariant: nothing here
//! waits; the text is what is known now, cleaned of control characters.

use std::sync::Arc;

use sdk::BoxFuture;
use serde_json::Value;

pub trait Surroundings: Send + Sync {
    /// The household's AGENTS.md as it is now.
    fn persona(&self) -> Arc<str>;
    /// A small index of the house: rooms and what is in them. Changes seldom.
    fn house(&self, language: &str) -> String;
    /// What is so just now: whether the house is reachable, who waits for what.
    fn state(&self, language: &str) -> String;
}

/// Changes back what a turn changed, through the gate like everything else.
pub trait Undo: Send + Sync {
    /// What came of it, as a tool's result, in this language where it speaks.
    fn undo<'a>(&'a self, changes: Value, language: &'a str) -> BoxFuture<'a, Value>;
}
