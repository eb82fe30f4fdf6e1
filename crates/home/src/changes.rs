//! What has to be read again, collected until somebody does.
//!
//! Start at [`Changes::take`]. Invariant: bounded by the number of entities, and nothing noted is
//! lost: it is taken, or it waits.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use decide::house::EntityId;
use tokio::sync::Notify;

#[derive(Default)]
pub(crate) struct Changes {
    noted: Mutex<Noted>,
    notify: Notify,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Noted {
    pub config: bool,
    pub services: bool,
    /// Areas, devices, floors or labels.
    pub places: bool,
    pub entries: BTreeSet<EntityId>,
    /// What voice assistants are shown. The house has no event for it.
    pub exposed: bool,
    pub macros: BTreeSet<EntityId>,
    pub all_macros: bool,
}

impl Changes {
    pub fn note(&self, change: impl FnOnce(&mut Noted)) {
        change(&mut self.noted.lock().unwrap_or_else(PoisonError::into_inner));
        self.notify.notify_one();
    }

    pub fn macros(&self, ids: Vec<EntityId>) {
        if !ids.is_empty() {
            self.note(|noted| noted.macros.extend(ids));
        }
    }

    /// Waits until something is noted. Safe to cancel: nothing is taken.
    pub async fn noted(&self) {
        self.notify.notified().await;
    }

    pub fn take(&self) -> Noted {
        std::mem::take(&mut self.noted.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Noted {
    pub fn merge(&mut self, other: Self) {
        self.config |= other.config;
        self.services |= other.services;
        self.places |= other.places;
        self.exposed |= other.exposed;
        self.all_macros |= other.all_macros;
        self.entries.extend(other.entries);
        self.macros.extend(other.macros);
    }
}
