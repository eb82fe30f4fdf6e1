//! Chinese read aloud: does a Latin spelling say these characters, do two spellings sound the same?
//!
//! Start at [`spells`]. Every reading of a character counts (乐 is `le` and `yue`), tones do not.
//! Invariant: one single character is never enough to match by sound.

use pinyin::ToPinyinMulti;

use super::fold::{Folded, han};

/// The toneless readings of one character, `ü` as it stands in the tables.
fn readings(character: char) -> impl Iterator<Item = &'static str> {
    character.to_pinyin_multi().into_iter().flatten().map(|reading| reading.plain())
}

/// A text as pinyin input: its letters, or nothing when it cannot be pinyin.
///
/// Two forms, because `wan3 an1` carries tones and `deng2` may carry a number.
pub(crate) fn spellings(text: &Folded) -> Vec<String> {
    let joined = text.joined();
    let possible = joined.len() <= 120
        && joined.bytes().all(|b| b.is_ascii_alphanumeric() || b == b' ')
        && joined.bytes().filter(u8::is_ascii_alphabetic).count() >= 3;
    if !possible {
        return Vec::new();
    }
    let letters: String = joined.bytes().filter(|b| *b != b' ').map(|b| plain(char::from(b))).collect();
    let bytes = letters.as_bytes();
    let tone = |at: usize| {
        matches!(bytes[at], b'0'..=b'5')
            && at > 0
            && bytes[at - 1].is_ascii_alphabetic()
            && !bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
    };
    let toneless: String = (0..bytes.len()).filter(|&at| !tone(at)).map(|at| char::from(bytes[at])).collect();
    if toneless == letters { vec![letters] } else { vec![letters, toneless] }
}

/// Do these letters spell this name, of which at least two characters are Chinese?
pub(crate) fn spells(letters: &str, name: &Folded) -> bool {
    let characters = name.joined().chars().filter(|&c| c != ' ');
    if characters.clone().filter(|&c| han(c)).count() < 2 || letters.len() > 127 {
        return false;
    }
    // The set of places in `letters` that the characters so far may have reached, one bit each.
    let mut reached: u128 = 1;
    for character in characters {
        let mut next: u128 = 0;
        let mut places = reached;
        while places != 0 {
            let at = places.trailing_zeros() as usize;
            places &= places - 1;
            let rest = letters.get(at..).unwrap_or("");
            if han(character) {
                for length in readings(character).filter_map(|reading| prefix(rest, reading)) {
                    next |= 1 << (at + length);
                }
            } else if rest.starts_with(plain(character)) {
                next |= 1 << (at + 1);
            }
        }
        reached = next;
        if reached == 0 {
            return false;
        }
    }
    reached >> letters.len() & 1 == 1
}

/// Every toneless spelling of a purely Chinese text of one to eight characters, at most 64.
pub(crate) fn all_spellings(text: &Folded) -> Vec<String> {
    const SPELLINGS_MAX: usize = 64;
    if !(1..=8).contains(&text.len()) || !text.joined().chars().all(han) {
        return Vec::new();
    }
    let mut all = vec![String::new()];
    for character in text.joined().chars() {
        let mut syllables: Vec<String> = readings(character).map(|r| r.chars().map(plain).collect()).collect();
        syllables.sort();
        syllables.dedup();
        all = all.iter().flat_map(|start| syllables.iter().map(move |next| format!("{start}{next}"))).collect();
        all.truncate(SPELLINGS_MAX);
    }
    all
}

/// The letters that a spelling of this name may begin with, as bits, so that most need no reading.
pub(crate) fn initials(name: &Folded) -> u32 {
    let bit = |letter: char| if letter.is_ascii_lowercase() { 1 << (letter as u32 - u32::from(b'a')) } else { 1 << 31 };
    let Some(first) = name.joined().chars().next() else { return 0 };
    if !han(first) {
        return bit(plain(first));
    }
    readings(first).filter_map(|reading| reading.chars().next()).fold(0, |bits, letter| bits | bit(plain(letter)))
}

/// May these letters spell a name with these initials?
pub(crate) fn may_begin(letters: &str, initials: u32) -> bool {
    let first = letters.bytes().next().unwrap_or(b' ');
    initials >> 31 == 1 || (first.is_ascii_lowercase() && initials >> (first - b'a') & 1 == 1)
}

/// Two Chinese texts of the same length that sound alike: what a listener or an input method mixes up.
pub(crate) fn sound_alike(a: &Folded, b: &Folded) -> bool {
    let all_han = |text: &Folded| text.joined().chars().all(han);
    a.len() == b.len()
        && a.len() >= 2
        && all_han(a)
        && all_han(b)
        && a.joined()
            .chars()
            .zip(b.joined().chars())
            .all(|(a, b)| a == b || readings(a).any(|r| readings(b).any(|s| r == s)))
}

fn prefix(text: &str, reading: &str) -> Option<usize> {
    let length = reading.chars().count();
    let start = text.get(..length)?;
    start.chars().eq(reading.chars().map(plain)).then_some(length)
}

/// `lü`, `lv` and `lu` are typed for the same thing.
fn plain(letter: char) -> char {
    match letter {
        'v' | 'ü' => 'u',
        'ê' => 'e',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::fold;

    #[track_caller]
    fn check(typed: &str, name: &str, expected: bool) {
        let said = spellings(&fold(typed)).iter().any(|letters| spells(letters, &fold(name)));
        assert_eq!(said, expected, "{typed} for {name}");
    }

    #[test]
    fn pinyin_is_read_with_and_without_blanks_tones_and_all_readings() {
        for typed in ["wan an", "wanan", "wǎn ān", "wan3 an1", "wan3an1", "Wan'an", "WANAN"] {
            check(typed, "晚安", true);
        }
        check("yinyue", "音乐", true);
        check("shui jiao", "睡觉", true);
        check("lü deng", "绿灯", true);
        check("lv deng", "绿灯", true);
        check("lu deng", "绿灯", true);
        check("TV moshi", "TV模式", true);
        check("chang jing 2", "场景2", true);
    }

    #[test]
    fn what_is_not_the_whole_name_is_not_its_pinyin() {
        check("wan", "晚安", false);
        check("wananle", "晚安", false);
        check("an wan", "晚安", false);
        check("wan", "晚", false);
        check("", "晚安", false);
        check("bedtime", "晚安", false);
    }
}
