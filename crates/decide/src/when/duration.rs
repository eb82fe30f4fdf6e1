//! How long from now. Start at [`read_duration`]. Invariant: every word of the text is understood, or
//! nothing is.

use unicode_normalization::UnicodeNormalization;

use super::{AHEAD_MAX_MS, WhenProblem};
use crate::text::chinese_number;

/// Longest first among those with a common beginning.
const UNITS: &[(&str, f64)] = &[
    ("seconds", 1.0),
    ("second", 1.0),
    ("secs", 1.0),
    ("sec", 1.0),
    ("秒钟", 1.0),
    ("秒", 1.0),
    ("minutes", 60.0),
    ("minute", 60.0),
    ("mins", 60.0),
    ("min", 60.0),
    ("分钟", 60.0),
    ("分", 60.0),
    ("刻钟", 900.0),
    ("hours", 3600.0),
    ("hour", 3600.0),
    ("hrs", 3600.0),
    ("hr", 3600.0),
    ("小时", 3600.0),
    ("钟头", 3600.0),
    ("days", 86400.0),
    ("day", 86400.0),
    ("天", 86400.0),
    ("日", 86400.0),
    ("weeks", 604_800.0),
    ("week", 604_800.0),
    ("星期", 604_800.0),
    ("礼拜", 604_800.0),
    ("周", 604_800.0),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3600.0),
    ("d", 86400.0),
    ("w", 604_800.0),
];

const NUMBERS: &[(&str, f64)] = &[
    ("a quarter of an", 0.25),
    ("quarter of an", 0.25),
    ("half an", 0.5),
    ("half a", 0.5),
    ("a couple of", 2.0),
    ("thirteen", 13.0),
    ("fourteen", 14.0),
    ("fifteen", 15.0),
    ("sixteen", 16.0),
    ("seventeen", 17.0),
    ("eighteen", 18.0),
    ("nineteen", 19.0),
    ("eleven", 11.0),
    ("twelve", 12.0),
    ("one", 1.0),
    ("two", 2.0),
    ("three", 3.0),
    ("four", 4.0),
    ("five", 5.0),
    ("six", 6.0),
    ("seven", 7.0),
    ("eight", 8.0),
    ("nine", 9.0),
    ("ten", 10.0),
    ("an", 1.0),
    ("a", 1.0),
];

/// Of every reader of numbers.
pub(crate) const TENS: &[(&str, f64)] = &[
    ("twenty", 20.0),
    ("thirty", 30.0),
    ("forty", 40.0),
    ("fifty", 50.0),
    ("sixty", 60.0),
    ("seventy", 70.0),
    ("eighty", 80.0),
    ("ninety", 90.0),
];

/// Milliseconds from `10m`, `1h30m`, `in 90 seconds`, `half an hour`, `一个半小时后`; a bare number is seconds.
pub fn read_duration(text: &str) -> Result<i64, WhenProblem> {
    let plain = text.nfkc().collect::<String>().to_lowercase();
    let mut rest = plain.trim();
    for prefix in ["in ", "after ", "再过", "过"] {
        rest = rest.strip_prefix(prefix).unwrap_or(rest).trim_start();
    }
    for suffix in ["from now", "later", "之后", "以后", "后"] {
        rest = rest.strip_suffix(suffix).unwrap_or(rest).trim_end();
    }
    let unsigned = ["-", "−", "minus ", "负"].iter().find_map(|sign| rest.strip_prefix(sign));
    let seconds = total(unsigned.unwrap_or(rest)).ok_or(WhenProblem::UnreadableDuration)?;
    let milliseconds = (seconds * 1000.0).round();
    match milliseconds {
        none if none <= 0.0 => Err(WhenProblem::Zero),
        _ if unsigned.is_some() => Err(WhenProblem::Negative),
        #[allow(clippy::cast_precision_loss)]
        far if far > AHEAD_MAX_MS as f64 => Err(WhenProblem::TooFar),
        #[allow(clippy::cast_possible_truncation)]
        near => Ok(near as i64),
    }
}

fn total(text: &str) -> Option<f64> {
    let mut rest = text.trim();
    let mut total = 0.0;
    let mut parts = 0;
    while !rest.is_empty() {
        let (number, after) = number(rest)?;
        if after.is_empty() && parts == 0 {
            return Some(number);
        }
        let after = after.strip_prefix('-').unwrap_or(after);
        let (unit, after) = named(after, UNITS)?;
        total += number * unit;
        parts += 1;
        rest = after.trim_start_matches([' ', ',', '、', '零', '又']);
        for more in ["and a half", "半"] {
            if let Some(after) = rest.strip_prefix(more) {
                total += unit / 2.0;
                rest = after.trim_start();
            }
        }
        rest = rest.strip_prefix("and ").unwrap_or(rest);
    }
    (parts > 0).then_some(total)
}

/// A number and what comes after it, without the measure word 个.
fn number(text: &str) -> Option<(f64, &str)> {
    let (number, rest) = digits(text).or_else(|| chinese(text)).or_else(|| english(text))?;
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('个').unwrap_or(rest);
    match rest.strip_prefix('半') {
        Some(after) if !after.is_empty() => Some((number + 0.5, after.strip_prefix('个').unwrap_or(after))),
        _ => match rest.strip_prefix("and a half ") {
            Some(after) => Some((number + 0.5, after)),
            None => Some((number, rest)),
        },
    }
}

fn digits(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at_checked(end)?;
    if !number.starts_with(|c: char| c.is_ascii_digit()) || number.len() > 15 {
        return None;
    }
    Some((number.parse().ok()?, rest))
}

fn chinese(text: &str) -> Option<(f64, &str)> {
    if let Some(rest) = text.strip_prefix('半') {
        return Some((0.5, rest));
    }
    let (taken, number) = chinese_number(text.chars())?;
    let end = text.char_indices().nth(taken).map_or(text.len(), |(at, _)| at);
    text.split_at_checked(end).map(|(_, rest)| (number, rest))
}

fn english(text: &str) -> Option<(f64, &str)> {
    if let Some((tens, rest)) = named(text, TENS) {
        let ones = rest.trim_start_matches(['-', ' ']);
        return Some(match named(ones, NUMBERS) {
            Some((one, after)) if (1.0..10.0).contains(&one) => (tens + one, after),
            _ => (tens, rest),
        });
    }
    named(text, NUMBERS)
}

/// One of the words, whole: no Latin letter may follow it, unless it is a single one before a digit.
fn named<'a>(text: &'a str, words: &[(&str, f64)]) -> Option<(f64, &'a str)> {
    let text = text.trim_start();
    let (word, value) = words.iter().find(|(word, _)| {
        text.strip_prefix(word).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphabetic()))
    })?;
    Some((*value, text.strip_prefix(word)?.trim_start()))
}
