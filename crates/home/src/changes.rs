//! What has to be read again, collected until somebody does.
//!
//! Start at [`Changes::take`]. Invariants: bounded by the number of entities, and nothing noted is
//! lost: it is taken, or it waits; [`Changes::settled`] returns only when all that was noted before it
//! was asked is in the picture.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use decide::house::EntityId;
use tokio::sync::{Notify, watch};

#[derive(Default)]
pub(crate) struct Changes {
    noted: Mutex<(Noted, u64)>,
    notify: Notify,
    /// How many of the notes are in the picture.
    drawn: watch::Sender<u64>,
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
        {
            let (noted, count) = &mut *self.noted.lock().unwrap_or_else(PoisonError::into_inner);
            change(noted);
            *count += 1;
        }
        self.notify.notify_one();
    }

    /// Counts the notes. The same number twice: nothing was noted in between.
    pub fn count(&self) -> u64 {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).1
    }

    /// Waits until all that was noted up to now is in the picture, not what is noted meanwhile: a house
    /// that never rests is waited for no longer than one that does. Safe to cancel.
    pub async fn settled(&self) {
        let count = self.count();
        // Fails only when this very sender is gone.
        let mut drawn = self.drawn.subscribe();
        let _reached = drawn.wait_for(|drawn| *drawn >= count).await;
    }

    pub fn is_settled(&self) -> bool {
        *self.drawn.borrow() >= self.count()
    }

    /// What was taken when the count was this is in the picture now.
    pub fn drew(&self, count: u64) {
        self.drawn.send_modify(|drawn| *drawn = count.max(*drawn));
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

    /// All that was noted, and the count of it for [`Changes::drew`].
    pub fn take(&self) -> (Noted, u64) {
        let (noted, count) = &mut *self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        (std::mem::take(noted), *count)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_was_noted_is_waited_for_and_what_comes_later_is_not() {
        let changes = Changes::default();
        changes.settled().await;
        changes.note(|noted| noted.places = true);
        assert!(!changes.is_settled());
        let (noted, count) = changes.take();
        assert!(noted.places);
        let waiting = changes.settled();
        tokio::pin!(waiting);
        let second = std::time::Duration::from_secs(1);
        assert!(tokio::time::timeout(second, &mut waiting).await.is_err(), "taken is not yet drawn");
        changes.note(|noted| noted.services = true);
        changes.drew(count);
        tokio::time::timeout(second, waiting).await.unwrap();
        assert!(!changes.is_settled(), "the later note still waits");
    }
}
