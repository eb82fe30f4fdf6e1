//! A moment, as a date and time of day somewhere. Start at [`read_moment`]. Invariant: a moment without a
//! time of day is not guessed.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use unicode_normalization::UnicodeNormalization;

use super::{AHEAD_MAX_MS, WhenProblem, Zone};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub at_ms: i64,
    /// The clocks skip the time that was asked for; this is the moment at which they jump.
    pub skipped: bool,
}

/// `2026-11-30 18:30`, `18:30` (the next time it is that late), `tomorrow 07:00`, in the zone given or in
/// one that the text names: `…Z`, `…+08:00`, `…[Asia/Shanghai]`.
pub fn read_moment(text: &str, zone: &Zone, now_ms: i64) -> Result<Moment, WhenProblem> {
    let plain = text.nfkc().collect::<String>();
    let mut plain = plain.trim();
    let mut zone = zone.clone();
    if let Some((before, name)) = plain.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
        zone = Zone::named(name)?;
        plain = before.trim_end();
    } else if let Ok(at) = plain.parse::<Timestamp>() {
        return ahead(Moment { at_ms: at.as_millisecond(), skipped: false }, &zone, now_ms);
    }
    let today = zone.local(now_ms).ok_or(WhenProblem::UnreadableMoment)?.date();
    let (date, time) = parts(plain, today).ok_or(WhenProblem::UnreadableMoment)?;
    let on = |date: Date| {
        let local = DateTime::from_parts(date, time);
        let at_ms = zone.reached(local).ok_or(WhenProblem::UnreadableMoment)?;
        Ok(Moment { at_ms, skipped: zone.skips(local) })
    };
    match date {
        Some(date) => ahead(on(date)?, &zone, now_ms),
        None => {
            let first = on(today)?;
            if first.at_ms > now_ms {
                return Ok(first);
            }
            on(today.tomorrow().map_err(|_| WhenProblem::TooFar)?)
        }
    }
}

fn ahead(moment: Moment, zone: &Zone, now_ms: i64) -> Result<Moment, WhenProblem> {
    if moment.at_ms <= now_ms {
        return Err(WhenProblem::Past(format!("{} {}", zone.written(moment.at_ms), zone.name())));
    }
    if moment.at_ms - now_ms > AHEAD_MAX_MS {
        return Err(WhenProblem::TooFar);
    }
    Ok(moment)
}

/// The day, where one is named, and the time of day.
fn parts(text: &str, today: Date) -> Option<(Option<Date>, Time)> {
    let named = |days: i64| today.checked_add(jiff::Span::new().try_days(days).ok()?).ok();
    for (word, days) in [("today", 0), ("tomorrow", 1), ("今天", 0), ("明天", 1), ("后天", 2)] {
        if let Some(rest) = text.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word)) {
            let rest = text.get(rest.len()..)?.trim_start();
            let rest = rest.strip_prefix("at ").unwrap_or(rest);
            return Some((Some(named(days)?), time_of_day(rest)?));
        }
    }
    if let Some(time) = time_of_day(text) {
        return Some((None, time));
    }
    let at = text.find(['T', 't', ' '])?;
    let (date, time) = text.split_at_checked(at)?;
    Some((Some(date.parse().ok()?), time_of_day(time.get(1..)?.trim_start())?))
}

/// `7:05`, `18:30`, `18:30:15`.
fn time_of_day(text: &str) -> Option<Time> {
    let mut fields = [0_i8; 3];
    let mut count = 0;
    for part in text.split(':') {
        if part.is_empty() || part.len() > 2 || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *fields.get_mut(count)? = part.parse().ok()?;
        count += 1;
    }
    let [hour, minute, second] = fields;
    if count < 2 {
        return None;
    }
    Time::new(hour, minute, second, 0).ok()
}
