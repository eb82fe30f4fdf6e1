//! Which schedules are due, and what then goes into the inbox. Start at [`due`]. Invariants: one that
//! came due several times while nobody was there fires once; one that is late says so.

use decide::when::{Cron, Zone};

use crate::agent::language;
use crate::ports::{NewInput, Schedule, When};

/// Later than this after its time a message says that it is late.
const LATE_MS: i64 = 60_000;

/// What to hand to [`crate::ports::Schedules::fire`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    pub id: String,
    pub due_at_ms: i64,
    /// None where it is over after this time.
    pub next_at_ms: Option<i64>,
    pub input: NewInput,
}

/// Those whose time has come, soonest first. `written` is the time as a person reads it.
pub fn due(schedules: &[Schedule], now_ms: i64, written: impl Fn(i64) -> String) -> Vec<Due> {
    let mut due: Vec<Due> = schedules
        .iter()
        .filter(|schedule| schedule.next_at_ms <= now_ms)
        .map(|schedule| Due {
            id: schedule.id.clone(),
            due_at_ms: schedule.next_at_ms,
            next_at_ms: next_after(&schedule.when, now_ms),
            input: NewInput {
                text: reminder(&schedule.input.text, schedule.next_at_ms, now_ms, &written),
                at_ms: now_ms,
                client_id: Some(format!("{}@{}", schedule.id, schedule.next_at_ms)),
                ..schedule.input.clone()
            },
        })
        .collect();
    due.sort_by(|a, b| (a.due_at_ms, &a.id).cmp(&(b.due_at_ms, &b.id)));
    due
}

/// When the kernel should look again: the soonest time of all.
pub fn soonest(schedules: &[Schedule]) -> Option<i64> {
    schedules.iter().map(|schedule| schedule.next_at_ms).min()
}

/// The next time after `now_ms`. A zone that this program does not know counts as UTC.
pub fn next_after(when: &When, now_ms: i64) -> Option<i64> {
    match when {
        When::Once { at_ms } => (*at_ms > now_ms).then_some(*at_ms),
        When::Cron { expression, zone } => {
            let zone = Zone::named(zone).unwrap_or_else(|_| Zone::utc());
            Cron::parse(expression).ok()?.next_after(&zone, now_ms)
        }
    }
}

/// What the message says when its time has come, in the language it is written in.
fn reminder(message: &str, due_at_ms: i64, now_ms: i64, written: impl Fn(i64) -> String) -> String {
    let chinese = language(message) == "zh";
    let late_ms = now_ms - due_at_ms;
    if late_ms <= LATE_MS {
        return if chinese {
            format!("[定时] 时间到：{message}")
        } else {
            format!("[timer] It is time: {message}")
        };
    }
    let due = written(due_at_ms);
    let late = how_long(late_ms, chinese);
    if chinese {
        format!("[定时] 本应在 {due} 提醒，迟了{late}：{message}")
    } else {
        format!("[timer] This was due at {due} and is {late} late: {message}")
    }
}

fn how_long(milliseconds: i64, chinese: bool) -> String {
    let minutes = milliseconds / 60_000;
    let (count, english, chinese_unit) = match minutes {
        0..120 => (minutes, "minute", "分钟"),
        120..2880 => (minutes / 60, "hour", "小时"),
        _ => (minutes / 1440, "day", "天"),
    };
    match (chinese, count) {
        (true, _) => format!("{count}{chinese_unit}"),
        (false, 1) => format!("1 {english}"),
        (false, _) => format!("{count} {english}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: i64 = 1_796_040_000_000;

    fn schedule(id: &str, when: When, next_at_ms: i64, text: &str) -> Schedule {
        let input =
            NewInput { session: "main".into(), source: "timer".into(), text: text.into(), ..NewInput::default() };
        Schedule { id: id.into(), when, input, next_at_ms, created_at_ms: 0 }
    }

    fn hourly() -> When {
        When::Cron { expression: "0 * * * *".into(), zone: "Europe/Berlin".into() }
    }

    #[test]
    fn what_is_due_fires_soonest_first_and_the_rest_waits() {
        let once = |id: &str, at_ms| schedule(id, When::Once { at_ms }, at_ms, "tea");
        let all = [once("b", NOON), once("c", NOON + 1), once("a", NOON - 5)];
        let found = due(&all, NOON, |_| String::new());
        assert_eq!(found.iter().map(|due| due.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert!(found.iter().all(|due| due.next_at_ms.is_none()));
        assert_eq!(found[0].input.text, "[timer] It is time: tea");
        assert_eq!(found[0].input.client_id.as_deref(), Some(format!("a@{}", NOON - 5).as_str()));
        assert_eq!(soonest(&all), Some(NOON - 5));
    }

    #[test]
    fn after_a_downtime_a_repeated_one_fires_once_and_says_that_it_is_late() {
        let now = NOON + 90_000;
        let missed =
            [schedule("s", hourly(), NOON - 5 * 3_600_000, "吃药"), schedule("t", hourly(), NOON - 3_600_000, "pills")];
        let found = due(&missed, now, |at| format!("<{at}>"));
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].next_at_ms, Some(NOON + 3_600_000));
        assert_eq!(found[0].input.text, format!("[定时] 本应在 <{}> 提醒，迟了5小时：吃药", NOON - 5 * 3_600_000));
        assert_eq!(
            found[1].input.text,
            format!("[timer] This was due at <{}> and is 61 minutes late: pills", NOON - 3_600_000)
        );
        assert_eq!(due(&[schedule("s", hourly(), found[0].next_at_ms.unwrap(), "x")], now, |_| String::new()), []);
    }

    #[test]
    fn a_schedule_that_cannot_be_read_any_more_fires_and_is_over() {
        let broken = When::Cron { expression: "what".into(), zone: "Nowhere".into() };
        let found = due(&[schedule("s", broken, NOON, "x")], NOON, |_| String::new());
        assert_eq!(found[0].next_at_ms, None);
    }
}
