//! Whether the turn that is being worked on may be remembered. Start at [`remembering`]. Invariant: what a
//! handler does inside its own task is covered, however deep; what it moves to a task of its own is not.

use sdk::{Failure, FailureKind};

tokio::task_local! {
    static NO_MEMORY: bool;
}

/// Runs a handler of a turn.
pub(crate) async fn within<T>(no_memory: bool, work: impl Future<Output = T>) -> T {
    NO_MEMORY.scope(no_memory, work).await
}

/// An error where nothing of this turn may be remembered.
pub(crate) fn remembering() -> Result<(), Failure> {
    if NO_MEMORY.try_with(|quiet| *quiet).unwrap_or(false) {
        return Err(Failure::new(
            FailureKind::Forbidden,
            "nothing of this conversation may be remembered; nothing was written",
        ));
    }
    Ok(())
}
