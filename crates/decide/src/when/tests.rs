//! Times as written, and repeated times against a walk over every minute.

use jiff::civil::DateTime;
use proptest::prelude::*;

use super::{Cron, CronProblem, WhenProblem, Zone, read_duration, read_moment};

fn zone(name: &str) -> Zone {
    Zone::named(name).unwrap()
}

/// The moment at which the clocks of a zone first show this.
fn at(local: &str, zone: &Zone) -> i64 {
    zone.reached(local.parse::<DateTime>().unwrap()).unwrap()
}

#[track_caller]
fn lasts(text: &str, seconds: f64) {
    #[allow(clippy::cast_possible_truncation)]
    let milliseconds = (seconds * 1000.0) as i64;
    assert_eq!(read_duration(text), Ok(milliseconds), "{text}");
}

#[test]
fn durations_are_read_in_both_languages() {
    for (text, seconds) in [
        ("10m", 600.0),
        ("1h30m", 5400.0),
        ("1h 30m", 5400.0),
        ("90s", 90.0),
        ("90", 90.0),
        ("1.5 hours", 5400.0),
        ("in 10 minutes", 600.0),
        ("10 minutes from now", 600.0),
        ("half an hour", 1800.0),
        ("an hour and a half", 5400.0),
        ("one and a half hours", 5400.0),
        ("a quarter of an hour", 900.0),
        ("twenty-five minutes", 1500.0),
        ("2 days, 3 hours and 5 minutes", 2.0 * 86400.0 + 3.0 * 3600.0 + 300.0),
        ("1 week", 604_800.0),
        ("10分钟", 600.0),
        ("十分钟后", 600.0),
        ("半小时", 1800.0),
        ("半个小时之后", 1800.0),
        ("一个半小时", 5400.0),
        ("1小时半", 5400.0),
        ("两个小时", 7200.0),
        ("二十五分钟", 1500.0),
        ("一百五分钟", 9000.0),
        ("一百零五分钟", 6300.0),
        ("一百二十分钟", 7200.0),
        ("再过三刻钟", 2700.0),
        ("１０分钟", 600.0),
        ("0.5s", 0.5),
    ] {
        lasts(text, seconds);
    }
}

#[test]
fn a_duration_that_is_none_says_what_is_wrong() {
    for text in ["", "soon", "10 bananas", "10m bananas", "m10", "1h30", "--5m", "1e9", "..", "1.2.3s", "2 months"] {
        assert_eq!(read_duration(text), Err(WhenProblem::UnreadableDuration), "{text}");
    }
    for text in ["0", "0m", "-0s", "零分钟"] {
        assert_eq!(read_duration(text), Err(WhenProblem::Zero), "{text}");
    }
    for text in ["-5m", "minus 5 minutes", "负五分钟"] {
        assert_eq!(read_duration(text), Err(WhenProblem::Negative), "{text}");
    }
    for text in ["4000 days", "999999999999999w"] {
        assert_eq!(read_duration(text), Err(WhenProblem::TooFar), "{text}");
    }
}

#[test]
fn moments_are_read_in_their_zone() {
    let berlin = zone("europe/berlin");
    assert_eq!(berlin.name(), "Europe/Berlin");
    let now = at("2026-11-30T20:41:10", &berlin);
    let read = |text: &str| read_moment(text, &berlin, now).map(|moment| moment.at_ms);
    for text in
        ["2026-12-01 07:00", "2026-12-01T07:00:00", "07:00", "7:00", "tomorrow 7:00", "Tomorrow at 07:00", "明天07:00"]
    {
        assert_eq!(read(text), Ok(at("2026-12-01T07:00:00", &berlin)), "{text}");
    }
    assert_eq!(read("20:42"), Ok(at("2026-11-30T20:42:00", &berlin)));
    assert_eq!(read("20:41"), Ok(at("2026-12-01T20:41:00", &berlin)));
    assert_eq!(read("后天 07:30"), Ok(at("2026-12-02T07:30:00", &berlin)));
    for text in ["2026-12-01T07:00:00+01:00", "2026-12-01T06:00Z", "2026-12-01 14:00[Asia/Shanghai]"] {
        assert_eq!(read(text), Ok(at("2026-12-01T07:00:00", &berlin)), "{text}");
    }
    for text in ["", "soon", "2026-12-01", "25:00", "7", "2026-02-30 07:00", "tomorrow", "07:00 pm"] {
        assert_eq!(read(text), Err(WhenProblem::UnreadableMoment), "{text}");
    }
    assert_eq!(read("2026-11-30 20:41"), Err(WhenProblem::Past("2026-11-30 20:41 Europe/Berlin".to_owned())));
    assert_eq!(read("2037-01-01 00:00"), Err(WhenProblem::TooFar));
    assert_eq!(read("07:00[Mars/Base]"), Err(WhenProblem::NoSuchZone("Mars/Base".to_owned())));
    assert!(Zone::named("").is_err() && Zone::named("Etc/Unknown").is_err() && Zone::named("../etc").is_err());
}

#[test]
fn a_moment_that_the_clocks_skip_is_when_they_jump_and_one_that_comes_twice_is_the_first() {
    let berlin = zone("Europe/Berlin");
    let now = at("2026-01-01T00:00:00", &berlin);
    let skipped = read_moment("2026-03-29 02:30", &berlin, now).unwrap();
    assert!(skipped.skipped);
    assert_eq!(berlin.written(skipped.at_ms), "2026-03-29 03:00");
    let twice = read_moment("2026-10-25 02:30", &berlin, now).unwrap();
    assert_eq!((twice.at_ms, twice.skipped), (at("2026-10-25T01:30:00", &berlin) + 3_600_000, false));
}

#[test]
fn a_day_is_as_long_as_it_is() {
    let berlin = zone("Europe/Berlin");
    for (day, hours) in [("2026-11-30", 24), ("2026-03-29", 23), ("2026-10-25", 25)] {
        let (start, end) = berlin.day(day).unwrap();
        assert_eq!(end + 1 - start, hours * 3_600_000, "{day}");
    }
    // In this zone the clocks jump at midnight.
    let (start, _) = zone("America/Santiago").day("2026-09-06").unwrap();
    assert_eq!(zone("America/Santiago").written(start), "2026-09-06 01:00");
    for text in ["", "tomorrow", "2026-02-30", "2026-11-30T10:00", "30.11.2026"] {
        assert_eq!(berlin.day(text), None, "{text}");
    }
}

#[track_caller]
fn fires(expression: &str, zone_name: &str, from: &str, expected: &[&str]) {
    let zone = zone(zone_name);
    let cron = Cron::parse(expression).unwrap();
    let mut now = at(from, &zone);
    for expected in expected {
        now = cron.next_after(&zone, now).unwrap();
        let (offset, _) = zone.offset(now).unwrap();
        assert_eq!(format!("{} {:+}", zone.written(now), offset / 3_600_000), *expected, "{expression}");
    }
}

#[test]
fn expressions_fire_when_they_say() {
    let from = "2026-11-30T20:41:10";
    fires("30 7 * * mon-fri", "Europe/Berlin", from, &["2026-12-01 07:30 +1", "2026-12-02 07:30 +1"]);
    fires(
        "0 9 * * SAT,sun",
        "Asia/Shanghai",
        from,
        &["2026-12-05 09:00 +8", "2026-12-06 09:00 +8", "2026-12-12 09:00 +8"],
    );
    fires(
        "0 9 * * fri-sun",
        "Asia/Shanghai",
        from,
        &["2026-12-04 09:00 +8", "2026-12-05 09:00 +8", "2026-12-06 09:00 +8"],
    );
    fires("0 9 * * 7", "UTC", from, &["2026-12-06 09:00 +0", "2026-12-13 09:00 +0"]);
    fires("*/20 * * * *", "UTC", from, &["2026-11-30 21:00 +0", "2026-11-30 21:20 +0"]);
    fires("10-50/20 8 1 jan *", "UTC", from, &["2027-01-01 08:10 +0", "2027-01-01 08:30 +0", "2027-01-01 08:50 +0"]);
    // Either day field is enough where both say something.
    fires("0 0 13 * fri", "UTC", from, &["2026-12-04 00:00 +0", "2026-12-11 00:00 +0", "2026-12-13 00:00 +0"]);
    fires("0 0 29 2 *", "UTC", "2096-03-01T00:00:00", &["2104-02-29 00:00 +0"]);
    // At the minute itself the next one counts.
    fires("41 20 * * *", "UTC", "2026-11-30T20:41:00", &["2026-12-01 20:41 +0"]);
    fires("41 20 * * *", "UTC", "2026-11-30T20:40:59", &["2026-11-30 20:41 +0"]);
}

#[test]
fn a_named_hour_fires_once_over_a_change_of_the_clocks() {
    fires("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00", &["2026-03-29 03:00 +2", "2026-03-30 02:30 +2"]);
    fires("0,30 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00:00", &["2026-03-29 03:00 +2", "2026-03-29 03:30 +2"]);
    fires("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00", &["2026-10-25 02:30 +2", "2026-10-26 02:30 +1"]);
}

#[test]
fn every_hour_runs_on_over_a_change_of_the_clocks() {
    fires(
        "30 * * * *",
        "Europe/Berlin",
        "2026-10-25T01:00:00",
        &["2026-10-25 01:30 +2", "2026-10-25 02:30 +2", "2026-10-25 02:30 +1", "2026-10-25 03:30 +1"],
    );
    fires("30 * * * *", "Europe/Berlin", "2026-03-29T01:00:00", &["2026-03-29 01:30 +1", "2026-03-29 03:30 +2"]);
}

#[test]
fn an_expression_that_is_none_names_its_field() {
    assert_eq!(Cron::parse("0 30 7 * * *"), Err(CronProblem::FieldCount(6)));
    assert_eq!(Cron::parse(""), Err(CronProblem::FieldCount(0)));
    for text in ["0 0 30 2 *", "0 0 31 4,6,9,11 *"] {
        assert_eq!(Cron::parse(text), Err(CronProblem::Never), "{text}");
    }
    for (text, field) in [
        ("60 * * * *", "minute"),
        ("*/0 * * * *", "minute"),
        ("-1 * * * *", "minute"),
        ("1, * * * *", "minute"),
        ("* 24 * * *", "hour"),
        ("* 8-6 * * *", "hour"),
        ("* * 0 * *", "day of month"),
        ("* * * 13 *", "month"),
        ("* * * mon *", "month"),
        ("* * * * 8", "day of week"),
        ("* * * * fri-mon", "day of week"),
        ("* * * * montag", "day of week"),
        ("99999999999999999999 * * * *", "minute"),
    ] {
        match Cron::parse(text) {
            Err(CronProblem::Field { field: found, .. }) => assert_eq!(found, field, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

/// The values of a field with the text that means them.
fn field(min: u8, max: u8) -> impl Strategy<Value = (String, Vec<u8>)> {
    let all = move || (min..=max).collect::<Vec<u8>>();
    let span = (min..=max, min..=max).prop_map(|(a, b)| (a.min(b), a.max(b)));
    prop_oneof![
        2 => Just(("*".to_owned(), all())),
        2 => (min..=max).prop_map(|value| (value.to_string(), vec![value])),
        1 => (2..=20_u8).prop_map(move |step| (format!("*/{step}"), all().into_iter().step_by(step.into()).collect())),
        1 => span.prop_map(|(from, to)| (format!("{from}-{to}"), (from..=to).collect())),
        1 => prop::collection::vec(min..=max, 2..4).prop_map(|values| {
            (values.iter().map(u8::to_string).collect::<Vec<_>>().join(","), values)
        }),
    ]
}

type Fields = [(String, Vec<u8>); 5];

fn expression() -> impl Strategy<Value = Fields> {
    (field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6)).prop_map(|(a, b, c, d, e)| [a, b, c, d, e])
}

fn meant(fields: &Fields, local: DateTime) -> bool {
    let [minute, hour, day, month, weekday] = fields;
    let has = |field: &(String, Vec<u8>), value: i8| field.1.contains(&value.unsigned_abs());
    let every = |field: &(String, Vec<u8>), from: u8, to: u8| (from..=to).all(|value| field.1.contains(&value));
    let day_of_month = has(day, local.day());
    let day_of_week = has(weekday, local.weekday().to_sunday_zero_offset());
    let either = !every(day, 1, 31) && !every(weekday, 0, 6);
    has(minute, local.minute())
        && has(hour, local.hour())
        && has(month, local.month())
        && if either { day_of_month || day_of_week } else { day_of_month && day_of_week }
}

/// Walks every minute: what the rule says, without any knowledge of when clocks change.
fn first_by_walking(fields: &Fields, zone: &Zone, now: i64, minutes: i64) -> Option<i64> {
    const MINUTE: i64 = 60_000;
    let local = |at: i64| zone.local(at).unwrap();
    let every_hour = (0..24).all(|hour| fields[1].1.contains(&hour));
    let start = now - now.rem_euclid(MINUTE) - 26 * 60 * MINUTE;
    let mut shown = local(start);
    let end = now + minutes * MINUTE;
    for at in (start + MINUTE..=end).step_by(60_000) {
        let here = local(at);
        let mut fires = every_hour && meant(fields, here);
        // Every local minute that is reached here for the first time.
        while !every_hour && shown < here {
            shown = shown.checked_add(jiff::SignedDuration::from_mins(1)).unwrap();
            fires |= meant(fields, shown);
        }
        if fires && at > now {
            return Some(at);
        }
    }
    None
}

const ZONES: &[&str] = &[
    "Europe/Berlin",
    "America/New_York",
    "Asia/Shanghai",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "Europe/Dublin",
    "Antarctica/Troll",
    "Pacific/Chatham",
    "Asia/Kathmandu",
    "America/Sao_Paulo",
    "Pacific/Apia",
    "America/Scoresbysund",
    "Asia/Tehran",
];

/// Often close to a change of the clocks.
fn moment() -> impl Strategy<Value = (&'static str, i64)> {
    let between = 1_262_304_000_000..2_051_222_400_000_i64;
    let near = (between.clone(), -90_000_000..90_000_000_i64, any::<bool>());
    (prop::sample::select(ZONES), near).prop_map(|(name, (at, off, change))| {
        let change = zone(name).offset(at).and_then(|(_, until)| until).filter(|_| change);
        (name, change.unwrap_or(at) + off)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_next_time_is_the_first_that_a_walk_over_every_minute_finds(fields in expression(), (name, now) in moment()) {
        let zone = zone(name);
        let text = fields.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(" ");
        let minutes = 2 * 24 * 60;
        match Cron::parse(&text) {
            Err(problem) => prop_assert_eq!(problem, CronProblem::Never, "{}", text),
            Ok(cron) => {
                let next = cron.next_after(&zone, now).unwrap();
                prop_assert!(next > now, "{} in {}", text, name);
                let near = Some(next).filter(|next| *next <= now + minutes * 60_000);
                prop_assert_eq!(near, first_by_walking(&fields, &zone, now, minutes), "{} in {} after {}", text, name, now);
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused_and_what_is_read_lies_ahead(text in "\\PC{0,24}", (name, now) in moment()) {
        let zone = zone(name);
        if let Ok(milliseconds) = read_duration(&text) {
            prop_assert!(milliseconds > 0 && milliseconds <= super::AHEAD_MAX_MS);
        }
        if let Ok(moment) = read_moment(&text, &zone, now) {
            prop_assert!(moment.at_ms > now && moment.at_ms - now <= super::AHEAD_MAX_MS);
        }
        if let Ok(cron) = Cron::parse(&text) {
            prop_assert!(cron.next_after(&zone, now).is_some_and(|next| next > now));
        }
    }

    #[test]
    fn what_looks_like_a_time_is_read_or_refused(text in "[0-9:hms 一二十半个小时分钟前后.,-]{0,16}", (name, now) in moment()) {
        if let Ok(milliseconds) = read_duration(&text) {
            prop_assert!(milliseconds > 0 && milliseconds <= super::AHEAD_MAX_MS);
        }
        if let Ok(moment) = read_moment(&text, &zone(name), now) {
            prop_assert!(moment.at_ms > now);
        }
    }
}
