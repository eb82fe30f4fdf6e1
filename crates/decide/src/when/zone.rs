//! Time zones by name, from the tables built into the program. Start at [`Zone::reached`]. Invariant:
//! the system's own tables are never read, so the same question has the same answer on every machine.

use std::sync::LazyLock;

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, civil};

use super::WhenProblem;

static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// Where clocks are set alike.
#[derive(Clone, Debug)]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

impl Zone {
    /// By its IANA name, in any case.
    pub fn named(name: &str) -> Result<Self, WhenProblem> {
        let unknown = || WhenProblem::NoSuchZone(crate::text::clean(name, 60));
        let zone = ZONES.get(name.trim()).map_err(|_| unknown())?;
        let name = zone.iana_name().filter(|name| *name != "Etc/Unknown").ok_or_else(unknown)?.to_owned();
        Ok(Self { name, zone })
    }

    pub fn utc() -> Self {
        Self { name: "UTC".to_owned(), zone: TimeZone::UTC }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// `2026-11-30 18:30`, with seconds where there are any.
    pub fn written(&self, at_ms: i64) -> String {
        let Some(local) = self.local(at_ms) else { return format!("{at_ms} ms") };
        let local = DateTime::from_parts(local.date(), whole_seconds(local.time()));
        local.strftime(if local.second() == 0 { "%Y-%m-%d %H:%M" } else { "%Y-%m-%d %H:%M:%S" }).to_string()
    }

    /// The first and the last millisecond of a day, `2026-11-30`.
    pub fn day(&self, text: &str) -> Option<(i64, i64)> {
        if text.contains(['T', 't', ' ', ':']) {
            return None;
        }
        let day: civil::Date = text.trim().parse().ok()?;
        let next = day.tomorrow().ok()?;
        let start = |day: civil::Date| self.reached(DateTime::from_parts(day, civil::Time::MIN));
        Some((start(day)?, start(next)? - 1))
    }

    /// `Monday`.
    pub fn weekday(&self, at_ms: i64) -> String {
        self.local(at_ms).map(|local| local.strftime("%A").to_string()).unwrap_or_default()
    }

    /// What the clocks show; none outside the years that the calendar holds.
    pub(super) fn local(&self, at_ms: i64) -> Option<DateTime> {
        Some(self.zone.to_datetime(Timestamp::from_millisecond(at_ms).ok()?))
    }

    /// The first moment at which the clocks show this or later.
    pub(super) fn reached(&self, local: DateTime) -> Option<i64> {
        let at = match self.zone.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } | AmbiguousOffset::Fold { before: offset, .. } => {
                offset.to_timestamp(local).ok()?
            }
            AmbiguousOffset::Gap { after, .. } => {
                let before_the_jump = after.to_timestamp(local).ok()?;
                self.zone.following(before_the_jump).next()?.timestamp()
            }
        };
        Some(at.as_millisecond())
    }

    /// Whether the clocks never show this.
    pub(super) fn skips(&self, local: DateTime) -> bool {
        matches!(self.zone.to_ambiguous_timestamp(local).offset(), AmbiguousOffset::Gap { .. })
    }

    /// How far the clocks are ahead of UTC at a moment, in milliseconds, and until when that holds.
    pub(super) fn offset(&self, at_ms: i64) -> Option<(i64, Option<i64>)> {
        let at = Timestamp::from_millisecond(at_ms).ok()?;
        let offset = i64::from(self.zone.to_offset(at).seconds()) * 1000;
        Some((offset, self.zone.following(at).next().map(|change| change.timestamp().as_millisecond())))
    }
}

fn whole_seconds(time: civil::Time) -> civil::Time {
    civil::Time::new(time.hour(), time.minute(), time.second(), 0).unwrap_or(civil::Time::MIN)
}
