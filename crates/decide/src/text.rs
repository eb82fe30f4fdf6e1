//! Text from outside, made safe to quote. Start at [`clean`]; [`fold`] and [`score_name`] compare.
//! Invariant: what `clean` gives has no control, bidirectional, zero-width or private-use character
//! and is at most `max` characters long, what `clean_lines` gives has line breaks and tabs besides; what `fold` gives is for comparing and is never shown.

mod comparable;
#[cfg(test)]
#[path = "text/tests.rs"]
mod comparing;
mod fold;
mod names;
mod numerals;
mod pictures;
pub(crate) mod pinyin;
mod simplify;

pub use comparable::comparable;
pub use fold::{FOLD_CHARS_MAX, Folded, fold};
pub use names::{NAME_SCORE_MIN, names_match, score_folded, score_name};
pub(crate) use names::{other_order, same_but_for_a_slip};
pub(crate) use numerals::{chinese_digit, chinese_number};
pub use pictures::{Shown, without_pictures};

/// The toneless spellings of a purely Chinese word of at most eight characters; none of another.
pub fn pinyin_spellings(word: &str) -> Vec<String> {
    pinyin::all_spellings(&fold(word))
}

/// A character of a script that puts no blanks between words.
pub fn is_unspaced(character: char) -> bool {
    fold::unspaced(character)
}

/// Longest name that leaves this program, in characters.
pub const NAME_CHARS_MAX: usize = 120;

/// Text from the house or a model as data: one line, no invisible characters, capped.
pub fn clean(text: &str, max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max * 4));
    let mut count = 0;
    let mut space = false;
    for character in text.chars() {
        let character = if character.is_whitespace() { ' ' } else { character };
        if invisible(character) || (character == ' ' && (space || out.is_empty())) {
            continue;
        }
        if count == max {
            out.push('…');
            return out;
        }
        space = character == ' ';
        out.push(character);
        count += 1;
    }
    out.truncate(out.trim_end().len());
    out
}

/// The same with line breaks and indentation kept: documents, pages, notes.
pub fn clean_lines(text: &str, max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max.saturating_mul(4)));
    let mut before = ' ';
    for (count, character) in text.chars().enumerate() {
        if count == max {
            out.push('…');
            break;
        }
        match character {
            '\n' if before == '\r' => {}
            '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => out.push('\n'),
            '\t' => out.push('\t'),
            other if other.is_whitespace() => out.push(' '),
            other if invisible(other) => {}
            other => out.push(other),
        }
        before = character;
    }
    out
}

/// A character that shows nothing, or changes how others are shown.
pub fn invisible(character: char) -> bool {
    let code = character as u32;
    // What most text consists of.
    if matches!(code, 0x20..=0x7E | 0x4E00..=0x9FFF) {
        return false;
    }
    character.is_control()
        || matches!(code,
            0x00AD | 0x034F | 0x061C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F
            | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F
            | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB | 0xE0000..=0xE0FFF
            | 0xE000..=0xF8FF | 0xF0000..=0x10FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_never_leave() {
        let dirty = "Kit\u{202E}chen\u{200B}\n\n Light\u{0007}\u{E0041} ";
        assert_eq!(clean(dirty, NAME_CHARS_MAX), "Kitchen Light");
        assert_eq!(clean("abcdef", 3), "abc…");
        assert_eq!(clean("", 3), "");
        assert_eq!(clean_lines("# A\r\n\n  b\u{202E}\u{0007} c\u{3000}\r\t- d", 99), "# A\n\n  b c \n\t- d");
        assert_eq!(clean_lines("ab\ncd", 4), "ab\nc…");
    }
}
