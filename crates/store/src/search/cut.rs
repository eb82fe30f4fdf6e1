//! Text cut into what it is searched by. Start at [`cut`]. Invariant: a word holds letters, digits and
//! `_` of comparable text only, so it can stand in a search expression.

use decide::rank::{Cut, stem};
use decide::text::{comparable, is_unspaced};

use super::Dictionary;

/// More of one text is not searched by.
const TEXT_CHARS_MAX: usize = 20_000;
/// Longer runs of letters are no words (keys, pictures as text).
const WORD_CHARS_MAX: usize = 64;

/// A text cut into words, in its order.
#[derive(Clone, Debug, Default)]
pub struct Text {
    pub words: Vec<Cut>,
    /// The comparable text itself.
    pub plain: String,
}

impl Text {
    pub fn new(dictionary: &Dictionary, text: &str) -> Self {
        let capped: String = text.chars().take(TEXT_CHARS_MAX).collect();
        let plain = comparable(&capped);
        let words = cut(dictionary, &plain);
        Self { words, plain }
    }

    /// All words once, for the index.
    pub(super) fn terms(&self) -> Vec<&str> {
        let all = self.words.iter().flat_map(|cut| std::iter::once(&cut.word).chain(&cut.parts));
        let mut terms: Vec<&str> = all.map(String::as_str).collect();
        terms.sort_unstable();
        terms.dedup();
        terms
    }

    /// The characters of its longer unspaced words, each once.
    pub(super) fn inner_characters(&self) -> Vec<&str> {
        let longer = self.words.iter().filter(|cut| cut.word.chars().nth(1).is_some());
        let mut inner: Vec<&str> =
            longer.filter(|cut| cut.word.starts_with(is_unspaced)).flat_map(|cut| characters(&cut.word)).collect();
        inner.sort_unstable();
        inner.dedup();
        inner
    }

    /// Words in their order, parts after them.
    pub(super) fn words_joined(&self) -> String {
        let all = self.words.iter().flat_map(|cut| std::iter::once(&cut.word).chain(&cut.parts));
        join(all.map(String::as_str))
    }

    /// One character after the other, other words whole.
    pub(super) fn characters_joined(&self) -> String {
        join(self.words.iter().flat_map(|cut| characters(&cut.word)))
    }
}

/// The characters of an unspaced word; any other word itself.
pub(super) fn characters(word: &str) -> Vec<&str> {
    if word.starts_with(is_unspaced) {
        word.char_indices().map(|(at, character)| &word[at..at + character.len_utf8()]).collect()
    } else {
        vec![word]
    }
}

fn join<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut joined = String::new();
    for word in words {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(word);
    }
    joined
}

fn cut(dictionary: &Dictionary, plain: &str) -> Vec<Cut> {
    let mut words = Vec::new();
    let mut rest = plain;
    while let Some(first) = rest.chars().next() {
        let class = Class::of(first);
        let mut end = rest.len();
        for (at, character) in rest.char_indices().skip(1) {
            let joined = match class {
                Class::Unspaced => Class::of(character) == Class::Unspaced,
                Class::Letter => Class::of(character) == Class::Letter || links(rest, at, character),
                Class::Other => Class::of(character) == Class::Other,
            };
            if !joined {
                end = at;
                break;
            }
        }
        let (run, after) = rest.split_at(end);
        match class {
            Class::Unspaced => {
                words.extend(dictionary.cut(run).into_iter().map(|(word, parts)| Cut { word, parts }));
            }
            Class::Letter => spaced(run, &mut words),
            Class::Other => {}
        }
        rest = after;
    }
    words
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Unspaced,
    Letter,
    Other,
}

impl Class {
    fn of(character: char) -> Self {
        if is_unspaced(character) {
            Self::Unspaced
        } else if character.is_alphanumeric() {
            Self::Letter
        } else {
            Self::Other
        }
    }
}

/// Does this mark hold a code, an address or an abbreviation together: `AC-12`, `3.5`, `a@b.c`, `Bob's`?
fn links(text: &str, at: usize, mark: char) -> bool {
    if !matches!(mark, '-' | '.' | '_' | ':' | '/' | '@' | '+' | '\'' | '’') {
        return false;
    }
    let letter = |character: Option<char>| character.is_some_and(|c| Class::of(c) == Class::Letter);
    letter(text[..at].chars().next_back()) && letter(text[at + mark.len_utf8()..].chars().next())
}

/// A run of letters, digits and the marks that hold them together.
fn spaced(run: &str, words: &mut Vec<Cut>) {
    if run.chars().count() > WORD_CHARS_MAX {
        return;
    }
    let run = run.replace('’', "'");
    let pieces: Vec<&str> = run.split(['-', '.', '_', ':', '/', '@', '+']).filter(|piece| !piece.is_empty()).collect();
    let code = run.bytes().any(|byte| byte.is_ascii_digit()) || run.contains('@');
    if pieces.len() <= 1 || !code {
        for piece in &pieces {
            push(words, piece, Vec::new());
        }
        if pieces.len() > 1 && run.contains('-') {
            // `wi-fi` is also looked for as `wifi`.
            if let Some(last) = words.last_mut() {
                last.parts.push(pieces.concat().replace('\'', ""));
            }
        }
        return;
    }
    let whole = run.replace(|c: char| !c.is_alphanumeric(), "_");
    let mut parts: Vec<String> = pieces.iter().map(|piece| bare(piece)).collect();
    parts.push(pieces.concat().replace('\'', ""));
    words.push(Cut { word: whole, parts });
}

fn push(words: &mut Vec<Cut>, word: &str, parts: Vec<String>) {
    if let Some(asks) = word.strip_suffix("'s")
        && matches!(asks, "what" | "who" | "where" | "when" | "how" | "which" | "that" | "there" | "it")
    {
        // "What's the make" is "what is", not "what make".
        words.extend([asks, "is"].map(|word| Cut { word: word.to_owned(), parts: Vec::new() }));
        return;
    }
    let word = bare(word);
    if !word.is_empty() {
        words.push(Cut { word, parts });
    }
}

/// The stem, without apostrophes.
fn bare(word: &str) -> String {
    stem(word).replace('\'', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let text = Text::new(&super::super::test_dictionary(), text);
        let words: Vec<&str> = text.words.iter().map(|cut| cut.word.as_str()).collect();
        assert_eq!(words, expected);
    }

    #[test]
    fn both_languages_are_cut_into_the_words_people_look_for() {
        check("妈妈说主卧的吸顶灯坏了", &["妈妈", "说", "主卧", "的", "吸顶灯", "坏了"]);
        check("電話號碼是１３８-1234", &["电话号码", "是", "138_1234"]);
        check("Bob's glasses, the AC-1200 at 22:30", &["bob", "glass", "the", "ac_1200", "at", "22_30"]);
        check("Don't use the Wi-Fi.", &["dont", "use", "the", "wi", "fi"]);
        check("猫", &["猫"]);
        check("", &[]);
    }

    #[test]
    fn a_word_can_always_stand_in_a_search_expression() {
        for text in ["\"quoted\" OR NEAR(a b)", "a*b^c", "'; DROP TABLE x; --", "né à 100%", "🙂 ok", "กขค"] {
            let text = Text::new(&super::super::test_dictionary(), text);
            for term in text.terms() {
                assert!(term.chars().all(|c| c.is_alphanumeric() || c == '_'), "{term:?}");
            }
        }
    }
}
