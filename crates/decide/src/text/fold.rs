//! Text made comparable: what people write differently and mean the same becomes equal.
//!
//! Start at [`fold`]. Width, case, accents, apostrophes, punctuation, emoji, invisible characters
//! and traditional script disappear; what is left are *words*: runs of letters and digits, and one
//! word for each character of Chinese and Japanese, which are written without blanks. Comparing
//! words keeps "bye" out of "Goodbye kiss" and "out" out of "Outdoor lights".
//! Invariant: folding what was folded changes nothing.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::simplify::simplify;

/// Longest text that is folded, in characters; what comes after is not looked at.
pub const FOLD_CHARS_MAX: usize = 400;

/// Comparable text: words, and all of them joined.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Folded {
    joined: String,
    /// Where each word starts and ends in `joined`.
    words: Vec<(usize, usize)>,
}

/// Fold any text. Never fails; text without letters or digits gives no words.
pub fn fold(text: &str) -> Folded {
    // Most names are one of these, and a search looks at all names of a large house.
    if text.is_ascii() {
        return fold_ascii(text.as_bytes());
    }
    if text.chars().all(nothing_to_normalise) {
        return words(bare(text).map(|c| c.to_ascii_lowercase()));
    }
    in_general(text)
}

/// Any text.
pub(super) fn in_general(text: &str) -> Folded {
    words(bare(text).nfkd().flat_map(char::to_lowercase).nfkd().filter(|&c| !(accent(c) || apostrophe(c))).nfc())
}

fn bare(text: &str) -> impl Iterator<Item = char> {
    let visible = text.chars().take(FOLD_CHARS_MAX).filter(|&c| c.is_whitespace() || !super::invisible(c));
    visible.filter(|&c| !apostrophe(c))
}

/// What the general way makes of such a text, a byte at a time.
fn fold_ascii(text: &[u8]) -> Folded {
    let (mut joined, mut words) = (Vec::with_capacity(text.len() + 4), Vec::with_capacity(8));
    let mut begun = None;
    for &byte in text.iter().take(FOLD_CHARS_MAX) {
        if byte.is_ascii_alphanumeric() {
            if begun.is_none() {
                if byte.is_ascii_digit() && joined.last().is_some_and(u8::is_ascii_digit) {
                    joined.push(b' ');
                }
                begun = Some(joined.len());
            }
            joined.push(byte.to_ascii_lowercase());
        } else if parts(byte)
            && let Some(start) = begun.take()
        {
            words.push((start, joined.len()));
        }
    }
    words.extend(begun.map(|start| (start, joined.len())));
    Folded { joined: String::from_utf8(joined).unwrap_or_default(), words }
}

/// Apostrophes and what cannot be seen part no words.
fn parts(byte: u8) -> bool {
    !matches!(byte, b'\'' | b'`' | 0..=0x08 | 0x0E..=0x1F | 0x7F)
}

/// No normal form changes it, alone or beside others of the kind, and lower case is that of ASCII.
fn nothing_to_normalise(character: char) -> bool {
    character.is_ascii() || ('\u{4E00}'..='\u{9FFF}').contains(&character)
}

fn words(plain: impl Iterator<Item = char>) -> Folded {
    let mut folded = Folded::default();
    // May a letter continue the last word, may a mark sit on it?
    let (mut open, mut seat) = (false, false);
    for character in plain {
        if !nothing_to_normalise(character) && is_combining_mark(character) {
            if seat {
                folded.push(character, true);
            }
            continue;
        }
        seat = character.is_alphanumeric();
        if !seat {
            open = false;
        } else if unspaced(character) {
            folded.push(simplify(character), false);
            open = false;
        } else if let Some(letters) = spelled_out(character) {
            for letter in letters.chars() {
                folded.push(letter, open);
                open = true;
            }
        } else {
            folded.push(character, open);
            open = true;
        }
    }
    folded
}

impl Folded {
    fn push(&mut self, character: char, continues: bool) {
        if continues && let Some((_, end)) = self.words.last_mut() {
            self.joined.push(character);
            *end = self.joined.len();
            return;
        }
        // "Lamp 1 2" is not "Lamp 12".
        if character.is_numeric() && self.joined.ends_with(char::is_numeric) {
            self.joined.push(' ');
        }
        let start = self.joined.len();
        self.joined.push(character);
        self.words.push((start, self.joined.len()));
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How many words.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    pub fn word(&self, number: usize) -> &str {
        self.words.get(number).map_or("", |&(start, end)| &self.joined[start..end])
    }

    pub fn words(&self) -> impl DoubleEndedIterator<Item = &str> + Clone {
        self.words.iter().map(|&(start, end)| &self.joined[start..end])
    }

    /// All words without blanks ("bed time" and "bedtime" are one name).
    pub fn joined(&self) -> &str {
        &self.joined
    }

    /// The words of a range, joined.
    pub fn slice(&self, from: usize, to: usize) -> &str {
        match (self.words.get(from), to.checked_sub(1).and_then(|last| self.words.get(last))) {
            (Some(&(start, _)), Some(&(_, end))) if start < end => &self.joined[start..end],
            _ => "",
        }
    }

    /// The words of a range as a folded text of their own.
    pub fn part(&self, from: usize, to: usize) -> Self {
        let Some(words) = self.words.get(from..to) else { return Self::default() };
        let base = words.first().map_or(0, |&(start, _)| start);
        Self {
            joined: self.slice(from, to).to_owned(),
            words: words.iter().map(|&(start, end)| (start - base, end - base)).collect(),
        }
    }

    /// Do the words from `at` on begin with these?
    pub fn has_at(&self, at: usize, pattern: &Folded) -> bool {
        at + pattern.len() <= self.len() && pattern.words().enumerate().all(|(n, word)| self.word(at + n) == word)
    }

    /// Where these words stand in a row, if they do.
    pub fn find(&self, pattern: &Folded) -> Option<usize> {
        if pattern.is_empty() || pattern.len() > self.len() {
            return None;
        }
        (0..=self.len() - pattern.len()).find(|&at| self.has_at(at, pattern))
    }

    /// How much there is: a Chinese character says about as much as four letters.
    pub fn weight(&self) -> usize {
        self.joined.chars().map(|c| if unspaced(c) { 4 } else { 1 }).sum()
    }

    /// Written (also) in Chinese characters.
    pub fn has_han(&self) -> bool {
        !self.joined.is_ascii() && self.joined.chars().any(han)
    }
}

/// Left out without parting the word: "I'm" is "im", "xi'an" is "xian".
fn apostrophe(character: char) -> bool {
    matches!(character, '\'' | '’' | '‘' | '‛' | 'ʼ' | 'ʹ' | '′' | '`' | '´' | '＇' | '｀' | 'ˈ')
}

/// Marks that sit on Latin, Greek and Cyrillic letters; those of other scripts carry meaning.
fn accent(character: char) -> bool {
    ('\u{0300}'..='\u{036F}').contains(&character)
}

/// Letters that Unicode does not take apart.
fn spelled_out(character: char) -> Option<&'static str> {
    Some(match character {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'þ' => "th",
        'ı' => "i",
        'ς' => "σ",
        _ => return None,
    })
}

/// A Chinese character.
pub(crate) fn han(character: char) -> bool {
    matches!(character as u32, 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF | 0x3005 | 0x3007)
}

/// A character of a script that puts no blanks between words.
pub(crate) fn unspaced(character: char) -> bool {
    han(character) || matches!(character as u32, 0x3041..=0x30FF | 0x31F0..=0x31FF)
}
