//! Numbers as people say them, in digits and in words, with their units. Start at [`value_at`].
//! Invariant: the longest reading is taken; a number never starts in the middle of another.

use super::words::{MINUS, PERCENT, POINT, Words};
use crate::text::{chinese_digit, chinese_number};
use crate::understood::effects::Quantity;
use crate::when::TENS;

/// The value that starts at a word and how many words it takes.
pub(super) fn value_at(words: &Words, at: usize) -> Option<(usize, Quantity)> {
    let (length, value) = quantity(words, at)?;
    words.whole(at, at + length).then_some((length, value))
}

fn quantity(words: &Words, at: usize) -> Option<(usize, Quantity)> {
    if let Some(found) = chinese_share(words, at) {
        return Some(found);
    }
    let (length, number) = number(words, at)?;
    let word = |n: usize| words.words.get(at + length + n).map_or("", String::as_str);
    let seconds = |unit: f64, taken: usize| {
        let total = number * unit;
        #[allow(clippy::cast_possible_truncation)]
        let whole = total.round() as i64;
        Some((length + taken, Quantity::Seconds(whole)))
    };
    match (word(0), word(1)) {
        (PERCENT, _) => Some((length + 1, Quantity::Percent(number))),
        ("per", "cent") => Some((length + 2, Quantity::Percent(number))),
        ("度", "半") => Some((length + 2, Quantity::Degrees(number + 0.5))),
        ("度", _) => Some((length + 1, Quantity::Degrees(number))),
        ("摄", "氏") if word(2) == "度" => Some((length + 3, Quantity::Celsius(number))),
        ("华", "氏") if word(2) == "度" => Some((length + 3, Quantity::Fahrenheit(number))),
        ("degree" | "degrees", "celsius" | "c" | "centigrade") => Some((length + 2, Quantity::Celsius(number))),
        ("degree" | "degrees", "fahrenheit" | "f") => Some((length + 2, Quantity::Fahrenheit(number))),
        ("degree" | "degrees", _) => Some((length + 1, Quantity::Degrees(number))),
        ("celsius" | "c" | "centigrade", _) => Some((length + 1, Quantity::Celsius(number))),
        ("fahrenheit" | "f", _) => Some((length + 1, Quantity::Fahrenheit(number))),
        #[allow(clippy::cast_possible_truncation)]
        ("k" | "kelvin", _) => Some((length + 1, Quantity::Kelvin(number as i64))),
        ("second" | "seconds" | "秒", next) => seconds(1.0, if next == "钟" { 2 } else { 1 }),
        ("minute" | "minutes" | "min" | "mins", _) => seconds(60.0, 1),
        ("分", "钟") => seconds(60.0, 2),
        ("hour" | "hours", _) => seconds(3600.0, 1),
        ("小", "时") => seconds(3600.0, 2),
        ("个", "小") if word(2) == "时" => seconds(3600.0, 3),
        _ => Some((length, Quantity::Number(number))),
    }
}

/// 百分之三十, 三成.
fn chinese_share(words: &Words, at: usize) -> Option<(usize, Quantity)> {
    let said = |n: usize| words.words.get(at + n).map_or("", String::as_str);
    if (said(0), said(1), said(2)) == ("百", "分", "之") {
        let (length, number) = number(words, at + 3)?;
        return Some((length + 3, Quantity::Percent(number)));
    }
    let (length, tenths) = number(words, at)?;
    (said(length) == "成" && (1.0..=10.0).contains(&tenths) && said(length + 1) != "为")
        .then(|| (length + 1, Quantity::Percent(tenths * 10.0)))
}

/// A bare number.
pub(super) fn number(words: &Words, at: usize) -> Option<(usize, f64)> {
    let word = |at: usize| words.words.get(at).map_or("", String::as_str);
    if matches!(word(at), MINUS | "负") || (word(at), word(at + 1)) == ("零", "下") {
        let sign = if word(at) == "零" { 2 } else { 1 };
        let (length, number) = positive(words, at + sign)?;
        return Some((length + sign, -number));
    }
    positive(words, at)
}

fn positive(words: &Words, at: usize) -> Option<(usize, f64)> {
    let (length, whole) = digits(words, at).or_else(|| chinese(words, at)).or_else(|| english(words, at))?;
    let word = |n: usize| words.words.get(at + length + n).map_or("", String::as_str);
    if word(0) == POINT || word(0) == "点" {
        let mut taken = length + 1;
        let mut fraction = 0.0;
        let mut place = 0.1;
        if word(0) == POINT && word(1).bytes().all(|b| b.is_ascii_digit()) && !word(1).is_empty() {
            for digit in word(1).bytes() {
                fraction += f64::from(digit - b'0') * place;
                place /= 10.0;
            }
            return Some((taken + 1, tidy(whole + fraction)));
        }
        while let Some(digit) = words.words.get(at + taken).and_then(|word| small(word)).filter(|digit| *digit < 10.0) {
            fraction += digit * place;
            place /= 10.0;
            taken += 1;
        }
        if taken > length + 1 {
            return Some((taken, tidy(whole + fraction)));
        }
    }
    if (word(0), word(1), word(2)) == ("and", "a", "half") {
        return Some((length + 3, whole + 0.5));
    }
    Some((length, whole))
}

fn tidy(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

fn digits(words: &Words, at: usize) -> Option<(usize, f64)> {
    let word = words.words.get(at)?;
    if word.len() > 6 || !word.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let number = word.parse().ok()?;
    Some((1, number))
}

fn small(word: &str) -> Option<f64> {
    const DIGITS: [&str; 10] = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    let english = || DIGITS.iter().zip(0_u8..).find(|(name, _)| **name == word).map(|(_, value)| f64::from(value));
    only(word).and_then(chinese_digit).or_else(english)
}

fn chinese(words: &Words, at: usize) -> Option<(usize, f64)> {
    let words = words.words.get(at..).unwrap_or_default();
    chinese_number(words.iter().map_while(|word| only(word)))
}

/// The character of a word that has one.
fn only(word: &str) -> Option<char> {
    let mut characters = word.chars();
    characters.next().filter(|_| characters.next().is_none())
}

/// "twenty two", "a hundred", "one hundred and five".
fn english(words: &Words, at: usize) -> Option<(usize, f64)> {
    const TEENS: [(&str, f64); 10] = [
        ("ten", 10.0),
        ("eleven", 11.0),
        ("twelve", 12.0),
        ("thirteen", 13.0),
        ("fourteen", 14.0),
        ("fifteen", 15.0),
        ("sixteen", 16.0),
        ("seventeen", 17.0),
        ("eighteen", 18.0),
        ("nineteen", 19.0),
    ];
    let word = |n: usize| words.words.get(at + n).map_or("", String::as_str);
    let among =
        |table: &[(&str, f64)], word: &str| table.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    if word(1) == "hundred" && (word(0) == "a" || small(word(0)).is_some_and(|digit| digit > 0.0)) {
        return Some((2, small(word(0)).unwrap_or(1.0) * 100.0));
    }
    if let Some(tens) = among(TENS, word(0)) {
        return Some(match small(word(1)).filter(|digit| *digit > 0.0 && word(1).is_ascii()) {
            Some(digit) => (2, tens + digit),
            None => (1, tens),
        });
    }
    let single = among(&TEENS, word(0)).or_else(|| small(word(0)).filter(|_| word(0).is_ascii()))?;
    Some((1, single))
}

#[cfg(test)]
mod tests {
    use super::super::words::spell;
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Quantity) {
        let words = spell(text);
        assert_eq!(value_at(&words, 0), Some((words.len(), expected)), "{text}");
    }

    #[test]
    fn numbers_in_digits_and_words_with_units() {
        check("50%", Quantity::Percent(50.0));
        check("百分之三十", Quantity::Percent(30.0));
        check("百分之五", Quantity::Percent(5.0));
        check("百分之一百", Quantity::Percent(100.0));
        check("三成", Quantity::Percent(30.0));
        check("fifty percent", Quantity::Percent(50.0));
        check("thirty five per cent", Quantity::Percent(35.0));
        check("a hundred percent", Quantity::Percent(100.0));
        check("26度半", Quantity::Degrees(26.5));
        check("二十六度", Quantity::Degrees(26.0));
        check("二十六点五度", Quantity::Degrees(26.5));
        check("22.5 degrees", Quantity::Degrees(22.5));
        check("twenty two degrees", Quantity::Degrees(22.0));
        check("72°F", Quantity::Fahrenheit(72.0));
        check("22 c", Quantity::Celsius(22.0));
        check("零下五度", Quantity::Degrees(-5.0));
        check("2700K", Quantity::Kelvin(2700));
        check("两千七百", Quantity::Number(2700.0));
        check("一百五", Quantity::Number(150.0));
        check("一百零五", Quantity::Number(105.0));
        check("十二", Quantity::Number(12.0));
        check("5 minutes", Quantity::Seconds(300));
        check("五分钟", Quantity::Seconds(300));
        check("two and a half hours", Quantity::Seconds(9000));
        check("-5", Quantity::Number(-5.0));
    }

    #[test]
    fn what_is_no_number_gives_none() {
        for text in ["灯", "百", "and", "point", "1234567"] {
            assert_eq!(value_at(&spell(text), 0), None, "{text}");
        }
    }
}
