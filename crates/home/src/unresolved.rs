//! Calls whose outcome is unknown, until the house can be asked what became of them.
//!
//! Start at [`Unresolved::add`]. Invariant: bounded, and nothing in here is ever sent again: it is
//! read back and written to the audit.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use decide::house::{EntityId, House};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::audit::{Audit, LeftOpen};

/// Limit: More are not remembered; their intent is in the audit all the same.
const UNRESOLVED_MAX: usize = 1000;
/// What is slow to answer gets this time before its state is read.
const SETTLE: Duration = Duration::from_secs(10);

#[derive(Default)]
pub(crate) struct Unresolved(Mutex<Vec<Open>>);

struct Open {
    intent: u64,
    ids: Vec<EntityId>,
    since: Instant,
}

impl Unresolved {
    pub fn add(&self, intent: u64, ids: Vec<EntityId>) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() < UNRESOLVED_MAX {
            open.push(Open { intent, ids, since: Instant::now() });
        }
    }

    /// What an earlier run left open.
    pub fn take_over(&self, left: Vec<LeftOpen>) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The newest, should there be more than are remembered.
        for left in left.into_iter().rev().take(UNRESOLVED_MAX) {
            // A machine that was just started cannot tell a time before its start; then it waits from now.
            let since = Instant::now().checked_sub(left.age.min(SETTLE)).unwrap_or_else(Instant::now);
            open.push(Open { intent: left.intent, ids: left.ids, since });
        }
    }

    /// Writes down how the house stands now for all that is old enough. Call with a fresh house.
    pub fn read_back(&self, house: &House, audit: &Audit) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|open| {
            if open.since.elapsed() < SETTLE {
                return true;
            }
            let states: serde_json::Map<String, Value> = (open.ids.iter())
                .map(|id| (id.to_string(), json!(house.entities.get(id).and_then(|entity| entity.value()))))
                .collect();
            audit.note("read_back", json!({ "intent": open.intent, "states": states }));
            false
        });
    }
}
