//! A sentence, and every name, as the same kind of words. Start at [`spell`]. Invariants: a name
//! spelled alone and the same name inside a sentence give the same words; signs that carry meaning
//! ("%", "26.5", "-5", "°") become words instead of vanishing.

use unicode_normalization::UnicodeNormalization;

use crate::text::fold;

/// Words, and before which of them the sentence was parted by punctuation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Words {
    pub words: Vec<String>,
    /// `breaks[n]`: something parts word n from the one before it.
    pub breaks: Vec<bool>,
    /// It ends with a question mark.
    pub asks: bool,
}

/// What stands for a sign.
pub(super) const PERCENT: &str = "percent";
pub(super) const POINT: &str = "point";
pub(super) const MINUS: &str = "minus";

pub(super) fn spell(text: &str) -> Words {
    let plain: Vec<char> = text.nfkc().collect();
    let mut clauses = vec![String::new()];
    for (at, &character) in plain.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| plain.get(at)).copied();
        let after = plain.get(at + 1).copied();
        let digit = |character: Option<char>| character.is_some_and(|c| c.is_ascii_digit());
        let Some(clause) = clauses.last_mut() else { break };
        match character {
            '%' | '٪' => push(clause, PERCENT),
            '°' => match after {
                Some('C' | 'c') => push(clause, "degrees celsius"),
                Some('F' | 'f') => push(clause, "degrees fahrenheit"),
                _ => push(clause, "degrees"),
            },
            'C' | 'c' | 'F' | 'f' if before == Some('°') => {}
            '.' if digit(before) && digit(after) => push(clause, POINT),
            '-' | '−' if digit(after) && !before.is_some_and(char::is_alphanumeric) => push(clause, MINUS),
            '&' => push(clause, "and"),
            // Inside a number it is no pause.
            ',' if digit(before) && digit(after) => clause.push(' '),
            ',' | '.' | ';' | ':' | '!' | '?' | '、' | '。' | '…' | '\n' => clauses.push(String::new()),
            _ => {
                let changes = match (before, character) {
                    (Some(before), after) if before.is_ascii_digit() => after.is_ascii_alphabetic(),
                    (Some(before), after) if before.is_ascii_alphabetic() => after.is_ascii_digit(),
                    _ => false,
                };
                if changes {
                    clause.push(' ');
                }
                clause.push(character);
            }
        }
    }
    let asks = plain.iter().rev().find(|c| !c.is_whitespace()) == Some(&'?');
    joined(&clauses, asks)
}

fn push(clause: &mut String, word: &str) {
    clause.push(' ');
    clause.push_str(word);
    clause.push(' ');
}

fn joined(clauses: &[String], asks: bool) -> Words {
    let mut words = Words { asks, ..Words::default() };
    for clause in clauses {
        let mut first = true;
        for word in fold(clause).words() {
            words.words.push(word.to_owned());
            words.breaks.push(first);
            first = false;
        }
    }
    if let Some(first) = words.breaks.first_mut() {
        *first = false;
    }
    words
}

impl Words {
    pub fn len(&self) -> usize {
        self.words.len()
    }

    pub fn has_at(&self, at: usize, pattern: &[String]) -> bool {
        self.words.get(at..at + pattern.len()).is_some_and(|words| words == pattern)
    }

    /// No punctuation stands inside these words.
    pub fn whole(&self, from: usize, to: usize) -> bool {
        self.breaks.get(from + 1..to).is_none_or(|breaks| !breaks.contains(&true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(spell(text).words, expected, "{text}");
    }

    #[test]
    fn signs_become_words_and_names_stay_what_they_are() {
        check("把灯调到50%", &["把", "灯", "调", "到", "50", "percent"]);
        check("set it to 26.5°C", &["set", "it", "to", "26", "point", "5", "degrees", "celsius"]);
        check("调到２６℃", &["调", "到", "26", "degrees", "celsius"]);
        check("PM2.5", &["pm", "2", "point", "5"]);
        check("HDMI1", &["hdmi", "1"]);
        check("-5", &["minus", "5"]);
    }

    #[test]
    fn punctuation_parts_but_not_inside_a_number() {
        let words = spell("开灯，关窗帘。");
        assert_eq!(words.breaks, [false, false, true, false, false]);
        assert!(!spell("1,000 K").breaks.contains(&true));
        assert!(spell("is it on ?").asks && !spell("turn it on!").asks);
    }
}
