//! Handlers of the seven stages, in the order in which they were registered. Start at [`Stages::run`].
//!
//! Invariants: one after the other, on one context; what a stage does not permit is dropped and reported
//! against its owner; a handler that fails, panics or outlives its deadline changes nothing and is named.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use sdk::{Stage, StageContext, StageHandler};

use crate::quiet::within;

mod matrix;

pub use matrix::{Violation, permitted};

/// Limit: longest time of one handler of a stage.
pub const HANDLER_MAX: Duration = Duration::from_secs(5);
/// Limit: handlers of all stages together.
pub const HANDLERS_MAX: usize = 512;

#[derive(Clone)]
struct Registered {
    owner: Arc<str>,
    stage: Stage,
    own_tools_only: bool,
    handler: StageHandler,
}

/// What went wrong in one handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub owner: String,
    pub stage: Stage,
    pub message: String,
}

#[derive(Default)]
pub struct Stages {
    handlers: ArcSwap<Vec<Registered>>,
}

impl Stages {
    /// False where there is no more room.
    pub fn register(&self, owner: &str, stage: Stage, own_tools_only: bool, handler: StageHandler) -> bool {
        let mut room = true;
        self.handlers.rcu(|handlers| {
            let mut handlers = Vec::clone(handlers);
            room = handlers.len() < HANDLERS_MAX;
            if room {
                let handler = handler.clone();
                handlers.push(Registered { owner: owner.into(), stage, own_tools_only, handler });
            }
            handlers
        });
        room
    }

    /// Everything that this owner registered leaves.
    pub fn remove(&self, owner: &str) {
        self.handlers.rcu(|handlers| handlers.iter().filter(|one| &*one.owner != owner).cloned().collect::<Vec<_>>());
    }

    /// Runs all handlers of the context's phase. `tool_owner` is the plugin of the call, at the stages of
    /// one. A handler that gives a response ends the stage.
    pub async fn run(&self, mut context: StageContext, tool_owner: &str) -> (StageContext, Vec<Problem>) {
        let stage = context.phase;
        let mut problems = Vec::new();
        let handlers = self.handlers.load_full();
        for one in handlers.iter().filter(|one| one.stage == stage && one.hears(tool_owner)) {
            let problem = |message: String| Problem { owner: one.owner.to_string(), stage, message };
            match run_one(one.handler.clone(), context.clone()).await {
                Ok(changed) => {
                    let (kept, violations) = permitted(stage, &context, changed);
                    context = kept;
                    problems.extend(violations.into_iter().map(|violation| problem(violation.to_string())));
                }
                Err(message) => problems.push(problem(message)),
            }
            if context.response.is_some() && stage != Stage::AfterOutput {
                break;
            }
        }
        (context, problems)
    }

    pub fn is_empty(&self, stage: Stage) -> bool {
        !self.handlers.load().iter().any(|one| one.stage == stage)
    }
}

impl Registered {
    fn hears(&self, tool_owner: &str) -> bool {
        let of_a_tool = matches!(self.stage, Stage::BeforeToolcall | Stage::AfterToolcall);
        !(self.own_tools_only && of_a_tool) || &*self.owner == tool_owner
    }
}

/// In a task of its own, so that a panic ends there. Dropping the guard stops it.
async fn run_one(handler: StageHandler, mut context: StageContext) -> Result<StageContext, String> {
    let quiet = context.no_memory;
    let task = tokio::spawn(within(quiet, async move {
        let done = handler(&mut context).await;
        done.map(|()| context)
    }));
    let guard = AbortOnDrop(task.abort_handle());
    let ended = tokio::time::timeout(HANDLER_MAX, task).await;
    drop(guard);
    match ended {
        Ok(Ok(Ok(context))) => Ok(context),
        Ok(Ok(Err(failure))) => Err(format!("failed: {failure}")),
        Ok(Err(_)) => Err("panicked; the turn goes on without it".to_owned()),
        Err(_) => Err(format!("took longer than {} s and was stopped", HANDLER_MAX.as_secs())),
    }
}

pub(crate) struct AbortOnDrop(pub tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests;
