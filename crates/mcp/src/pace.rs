//! How fast a client may act: a model that runs wild is slowed down, a person never notices. Start at
//! [`Pace::take`]. Invariant: moves toward safety are not counted and never wait.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Limit: writes in one minute, unless the policy says otherwise; the next answers `too_fast`.
pub const WRITES_PER_MINUTE_MAX: u32 = 120;

/// Limit: tool calls of one client that are worked on at once; further ones wait.
pub const CALLS_AT_ONCE_MAX: usize = 16;

/// Limit: tool calls of one client that may wait for that; the next answers `too_fast`.
pub const CALLS_WAITING_MAX: usize = 256;

const MINUTE: Duration = Duration::from_secs(60);

/// The writes of the last minute.
#[derive(Default)]
pub struct Pace {
    times: Mutex<VecDeque<Instant>>,
}

impl Pace {
    /// Counts one write, or says in how many seconds there is room again.
    pub fn take(&self, at_most: Option<u32>) -> Result<(), u64> {
        self.take_at(Instant::now(), at_most.unwrap_or(WRITES_PER_MINUTE_MAX))
    }

    fn take_at(&self, now: Instant, at_most: u32) -> Result<(), u64> {
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        while times.front().is_some_and(|first| now.duration_since(*first) >= MINUTE) {
            times.pop_front();
        }
        if times.len() < at_most as usize {
            times.push_back(now);
            return Ok(());
        }
        let wait = times.front().map_or(MINUTE, |first| MINUTE.saturating_sub(now.duration_since(*first)));
        Err(wait.as_secs() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_s_writes_are_counted_and_forgotten() {
        let (pace, start) = (Pace::default(), Instant::now());
        assert!((0..3).all(|second| pace.take_at(start + Duration::from_secs(second), 3).is_ok()));
        assert_eq!(pace.take_at(start + Duration::from_secs(30), 3), Err(31));
        assert_eq!(pace.take_at(start + Duration::from_secs(60), 3), Ok(()));
        assert!(pace.take_at(start + Duration::from_secs(60), 3).is_err());
    }
}
