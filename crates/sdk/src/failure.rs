//! What went wrong, in a form that a model and a program can both use. Start at [`Failure`].
//! Invariant: the message names the cause and what to do; a secret never stands in it.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// An argument is missing, of the wrong type, or out of range.
    Invalid,
    /// There is no such key, document, tool or source.
    NotFound,
    /// The name is taken.
    Duplicate,
    /// This caller may not do that.
    Forbidden,
    /// It took too long and was given up.
    Timeout,
    /// There is no more room; later there may be.
    Full,
    /// Something that is needed cannot be reached.
    Unavailable,
    /// Everything else.
    Failed,
}

/// Cause and cure in one sentence, with a kind that callers can tell apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub kind: FailureKind,
    pub message: String,
}

impl Failure {
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Invalid, message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(FailureKind::NotFound, message)
    }

    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Failed, message)
    }
}
