//! How a source is doing. Start at [`Health`]; pure, the time is an argument.
//!
//! Invariant: failures that come while a source is already resting do not lengthen its rest.

use kernel::ports::{SourceError, SourceErrorKind as Kind};

/// Limit: a source that failed is not asked for so long; doubled with each further failure.
pub const SOURCE_REST: std::time::Duration = std::time::Duration::from_secs(30);
/// Limit: no rest is longer, unless the provider asked for more.
pub const SOURCE_REST_MAX: std::time::Duration = std::time::Duration::from_secs(30 * 60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Ready,
    /// Not asked before this time (milliseconds since 1970), while another can be.
    Resting {
        until_ms: i64,
    },
    /// The key is refused: not asked until the settings change.
    Disabled,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Health {
    failures: u32,
    until_ms: i64,
    /// The provider said how long to wait: it is not asked before that by anybody.
    told_to_wait: bool,
    disabled: bool,
    /// One answer broke off since the last whole one: lines break, and it is asked again at once.
    cut: bool,
    pub last_error: Option<SourceError>,
    pub answers: u64,
    pub failed: u64,
}

impl Health {
    pub fn state(&self, now_ms: i64) -> State {
        match (self.disabled, now_ms < self.until_ms) {
            (true, _) => State::Disabled,
            (_, true) => State::Resting { until_ms: self.until_ms },
            _ => State::Ready,
        }
    }

    /// Whether it may be asked when no other source is ready.
    pub fn in_need(&self, now_ms: i64) -> bool {
        !self.disabled && (now_ms >= self.until_ms || !self.told_to_wait)
    }

    pub fn failed(&mut self, error: &SourceError, now_ms: i64) {
        self.failed += 1;
        self.last_error = Some(error.clone());
        match error.kind {
            Kind::Auth => self.disabled = true,
            // These speak of the request, not of the source.
            Kind::BadRequest | Kind::ContextTooLong => {}
            Kind::Cut if !std::mem::replace(&mut self.cut, true) => {}
            kind => self.rest(kind, error.retry_after.map_or(0, millis), now_ms),
        }
    }

    /// A provider that says how long is believed, whether that is shorter than ours or longer.
    fn rest(&mut self, kind: Kind, told_ms: i64, now_ms: i64) {
        let resting = now_ms < self.until_ms;
        if resting && told_ms == 0 {
            return;
        }
        if !resting {
            self.failures = self.failures.saturating_add(1);
        }
        let doubled = millis(SOURCE_REST).saturating_mul(1 << self.failures.saturating_sub(1).min(16));
        // An empty account is not filled in half a minute.
        let ours = if kind == Kind::Quota { millis(SOURCE_REST_MAX) } else { doubled.min(millis(SOURCE_REST_MAX)) };
        self.told_to_wait = told_ms > 0;
        self.until_ms = now_ms + if told_ms > 0 { told_ms } else { ours };
    }

    pub fn succeeded(&mut self) {
        *self = Self { answers: self.answers + 1, failed: self.failed, last_error: None, ..Self::default() };
    }
}

fn millis(duration: std::time::Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
