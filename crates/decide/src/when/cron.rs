//! Repeated times in five fields: minute, hour, day of month, month, day of week. Start at
//! [`Cron::next_after`].
//!
//! Invariants: an expression that is read comes true some day; a field that allows all its values says
//! nothing. Where both day fields say something, either is enough, as everywhere with cron. Over a change
//! of the clocks an expression that names hours fires once for each local time: a time that is skipped
//! fires when the clocks jump, one that comes twice fires the first time. One for every hour runs on.

use std::fmt;

use jiff::civil::{Date, DateTime, Time};

use super::Zone;

/// Which values of each field are meant, a bit a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cron {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CronProblem {
    FieldCount(usize),
    /// Which field, what stands there, what may stand there.
    Field {
        field: &'static str,
        part: String,
        allowed: String,
    },
    /// Such as 30 February.
    Never,
}

impl fmt::Display for CronProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FieldCount(count) => write!(
                f,
                "has {count} fields: write five, minute hour day-of-month month day-of-week, such as 30 7 * * mon-fri"
            ),
            Self::Field { field, part, allowed } => write!(f, "field {field}: \"{part}\" is not {allowed}"),
            Self::Never => f.write_str("never comes true: no such month has such a day"),
        }
    }
}

struct Field {
    name: &'static str,
    min: u8,
    max: u8,
    names: &'static [&'static str],
}

const MINUTE: Field = Field { name: "minute", min: 0, max: 59, names: &[] };
const HOUR: Field = Field { name: "hour", min: 0, max: 23, names: &[] };
const DAY: Field = Field { name: "day of month", min: 1, max: 31, names: &[] };
const MONTH: Field = Field {
    name: "month",
    min: 1,
    max: 12,
    names: &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
};
/// 0 and 7 are both Sunday.
const WEEKDAY: Field =
    Field { name: "day of week", min: 0, max: 7, names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"] };
const SUNDAY_TWICE: u64 = 1 << 7;

/// A date further ahead than this many years is not looked for: 29 February is at most eight years away,
/// on a given day of the week at most forty.
const YEARS_MAX: i16 = 50;

impl Cron {
    pub fn parse(text: &str) -> Result<Self, CronProblem> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields.as_slice() else {
            return Err(CronProblem::FieldCount(fields.len()));
        };
        let mut weekdays = WEEKDAY.read(weekday)?;
        if weekdays & SUNDAY_TWICE != 0 {
            weekdays = weekdays & !SUNDAY_TWICE | 1;
        }
        let cron = Self {
            minutes: MINUTE.read(minute)?,
            hours: HOUR.read(hour)?,
            days: DAY.read(day)?,
            months: MONTH.read(month)?,
            weekdays,
        };
        if cron.comes_true() { Ok(cron) } else { Err(CronProblem::Never) }
    }

    fn comes_true(&self) -> bool {
        const LONGEST: [u8; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let day_of = |(month, days): (u8, u8)| has(self.months, month) && self.days & DAY.span(1, days) != 0;
        !self.every_day_of_week() || (1..).zip(LONGEST).any(day_of)
    }

    fn every_day_of_week(&self) -> bool {
        self.weekdays == WEEKDAY.span(0, 6)
    }

    /// The first time after `now_ms`; none where it is further ahead than the calendar reaches.
    pub fn next_after(&self, zone: &Zone, now_ms: i64) -> Option<i64> {
        if self.hours == HOUR.span(0, 23) {
            return self.next_running_on(zone, now_ms);
        }
        let mut from = minute_after(zone.local(now_ms)?)?;
        loop {
            let local = self.next_match(from)?;
            let at = zone.reached(local)?;
            if at > now_ms {
                return Some(at);
            }
            from = minute_after(local)?;
        }
    }

    /// For every hour: between two changes of the clocks local time runs evenly.
    fn next_running_on(&self, zone: &Zone, now_ms: i64) -> Option<i64> {
        let mut from = minute_after(zone.local(now_ms)?)?;
        let mut since = now_ms;
        loop {
            let (offset, until) = zone.offset(since)?;
            let local = self.next_match(from)?;
            let at = Zone::utc().reached(local)? - offset;
            match until {
                Some(until) if at >= until => {
                    since = until;
                    let jumped = zone.local(until)?;
                    from = if whole_minute(jumped) { jumped } else { minute_after(jumped)? };
                }
                _ => return Some(at),
            }
        }
    }

    /// The first local minute that is meant, this one included.
    fn next_match(&self, from: DateTime) -> Option<DateTime> {
        let last_year = from.year().checked_add(YEARS_MAX)?;
        let mut date = from.date();
        let mut earliest = (from.hour(), from.minute());
        while date.year() <= last_year {
            if !has(self.months, date.month().unsigned_abs()) {
                date = date.last_of_month().tomorrow().ok()?;
            } else if let Some((hour, minute)) = self.meets(date).then(|| self.first_time(earliest)).flatten() {
                return Some(DateTime::from_parts(date, Time::new(hour, minute, 0, 0).ok()?));
            } else {
                date = date.tomorrow().ok()?;
            }
            earliest = (0, 0);
        }
        None
    }

    fn meets(&self, date: Date) -> bool {
        let day = has(self.days, date.day().unsigned_abs());
        let weekday = has(self.weekdays, date.weekday().to_sunday_zero_offset().unsigned_abs());
        let every_day_of_month = self.days == DAY.span(1, 31);
        if every_day_of_month || self.every_day_of_week() { day && weekday } else { day || weekday }
    }

    fn first_time(&self, (hour, minute): (i8, i8)) -> Option<(i8, i8)> {
        let this_hour = has(self.hours, hour.unsigned_abs()).then(|| first(self.minutes, minute)).flatten();
        if let Some(minute) = this_hour {
            return Some((hour, minute));
        }
        Some((first(self.hours, hour + 1)?, first(self.minutes, 0)?))
    }
}

fn has(set: u64, value: u8) -> bool {
    set >> value & 1 == 1
}

/// The smallest value of a set that is not below another.
fn first(set: u64, from: i8) -> Option<i8> {
    let rest = set.checked_shr(u32::from(from.unsigned_abs()))?;
    if rest == 0 { None } else { from.checked_add(i8::try_from(rest.trailing_zeros()).ok()?) }
}

fn whole_minute(local: DateTime) -> bool {
    local.second() == 0 && local.subsec_nanosecond() == 0
}

fn minute_after(local: DateTime) -> Option<DateTime> {
    let minute = DateTime::from_parts(local.date(), Time::new(local.hour(), local.minute(), 0, 0).ok()?);
    minute.checked_add(jiff::SignedDuration::from_mins(1)).ok()
}

impl Field {
    fn span(&self, from: u8, to: u8) -> u64 {
        (from..=to).fold(0, |set, value| set | 1 << value)
    }

    /// `*`, `5`, `1-5`, `*/10`, `10-50/20`, `mon,wed`.
    fn read(&self, text: &str) -> Result<u64, CronProblem> {
        text.split(',').try_fold(0, |set, part| match self.part(part) {
            Some(values) => Ok(set | values),
            None => Err(self.problem(part)),
        })
    }

    fn part(&self, part: &str) -> Option<u64> {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(step.parse::<u8>().ok().filter(|step| *step > 0)?)),
            None => (part, None),
        };
        let highest = if self.max == 7 { 6 } else { self.max };
        let (from, to) = match range.split_once('-') {
            _ if range == "*" => (self.min, highest),
            Some((from, to)) => (self.value(from)?, self.value(to)?),
            None => {
                let value = self.value(range)?;
                (value, if step.is_some() { highest.max(value) } else { value })
            }
        };
        // A week that ends on Sunday: fri-sun.
        let to = if self.max == 7 && to == 0 && from > 0 { 7 } else { to };
        if from > to {
            return None;
        }
        let step = usize::from(step.unwrap_or(1));
        Some((from..=to).step_by(step).fold(0, |set, value| set | 1 << value))
    }

    fn value(&self, text: &str) -> Option<u8> {
        if let Some(at) = self.names.iter().position(|name| text.eq_ignore_ascii_case(name)) {
            return u8::try_from(at).ok()?.checked_add(if self.max == 7 { 0 } else { self.min });
        }
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        text.parse().ok().filter(|value| (self.min..=self.max).contains(value))
    }

    fn problem(&self, part: &str) -> CronProblem {
        let names = match (self.names.first(), self.names.last()) {
            (Some(first), Some(last)) => format!(" or {first} to {last}"),
            _ => String::new(),
        };
        let (min, max) = (self.min, self.max);
        CronProblem::Field {
            field: self.name,
            part: crate::text::clean(part, 30),
            allowed: format!("a value {min} to {max}{names}, *, a range a-b, a step */n, or a list with commas"),
        }
    }
}
