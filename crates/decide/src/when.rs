//! When something is due: durations, moments and repeated times as people and models write them.
//! Start at [`read_duration`], [`read_moment`] and [`Cron`].
//!
//! Invariants: no clock is read, the present comes in as `now_ms` (milliseconds since 1970, as every time
//! here); what is read is always after `now_ms` and at most [`AHEAD_MAX_MS`] ahead. A local time that the
//! clocks skip is met at the moment they jump, one that comes twice is met the first time.

mod cron;
mod duration;
mod moment;
#[cfg(test)]
mod tests;
mod zone;

use std::fmt;

pub use cron::{Cron, CronProblem};
pub(crate) use duration::TENS;
pub use duration::read_duration;
pub use moment::{Moment, read_moment};
pub use zone::Zone;

/// Nothing is set further ahead: ten years of 366 days.
pub const AHEAD_MAX_MS: i64 = 10 * 366 * 24 * 3600 * 1000;

/// What is wrong with a time, told so that whoever wrote it can mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhenProblem {
    UnreadableDuration,
    UnreadableMoment,
    Negative,
    Zero,
    /// How the time would have been read, local.
    Past(String),
    TooFar,
    NoSuchZone(String),
}

impl fmt::Display for WhenProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnreadableDuration => f.write_str(
                "is no duration: write a number with s, m, h, d or w, such as 10m, 1h30m or 90s; for months and years give the date",
            ),
            Self::UnreadableMoment => {
                f.write_str("is no time: write 2026-11-30 18:30 (local), 18:30 for the next time it is that late, or tomorrow 07:00")
            }
            Self::Negative => f.write_str("is negative: it must be more than zero"),
            Self::Zero => f.write_str("is zero: it must be more than zero"),
            Self::Past(read) => write!(f, "is in the past ({read}): give a later time"),
            Self::TooFar => f.write_str("is more than ten years ahead: give an earlier time"),
            Self::NoSuchZone(name) => {
                write!(f, "\"{name}\" is no time zone: give an IANA name such as Europe/Berlin or Asia/Shanghai")
            }
        }
    }
}
