//! Time from outside. Invariant: the kernel asks nobody else what time it is.

/// The hours of a household.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970.
    fn now_ms(&self) -> i64;
    /// The time as a person of this household would read it, with weekday and zone:
    /// `2026-11-30 Monday 20:41 Europe/Berlin`.
    fn written(&self, at_ms: i64) -> String;
}
