//! How well a name fits what somebody called it: width, case, script, pinyin, numerals, word order,
//! a part of the name, one slip of the finger.
//!
//! Start at [`score_name`]. Invariants: 1 means equal up to folding and nothing else reaches it; a
//! word is never found inside another word; numbers are never guessed.

use super::fold::{Folded, fold, unspaced};
use super::pinyin;

/// Scores below are no fit at all.
pub const NAME_SCORE_MIN: f64 = 0.5;
/// From here on it is the same name, written differently.
const SAME_NAME_MIN: f64 = 0.9;

/// 0 (nothing in common) to 1 (equal up to folding).
pub fn score_name(query: &str, name: &str) -> f64 {
    score_folded(&fold(query), &fold(name))
}

/// Is this the same name: equal, with numerals written out, in pinyin, or in another order?
pub fn names_match(query: &str, name: &str) -> bool {
    score_name(query, name) >= SAME_NAME_MIN
}

/// [`score_name`] for texts folded before.
pub fn score_folded(query: &Folded, name: &Folded) -> f64 {
    if query.is_empty() || name.is_empty() {
        return 0.0;
    }
    if query.joined() == name.joined() {
        return 1.0;
    }
    if let (Some(a), Some(b)) = (numerals(query), numerals(name))
        && a == b
    {
        return 0.98;
    }
    let spelled =
        |letters: &Folded, text: &Folded| pinyin::spellings(letters).iter().any(|it| pinyin::spells(it, text));
    if (!query.has_han() && name.has_han() && spelled(query, name))
        || (query.has_han() && !name.has_han() && spelled(name, query))
    {
        return 0.95;
    }
    if other_order(query, name) {
        return 0.9;
    }
    if same_but_for_a_slip(query, name) {
        return 0.7;
    }
    if pinyin::sound_alike(query, name) {
        return 0.65;
    }
    part(query, name)
}

/// A part of the name was said, or more than the name.
#[allow(clippy::cast_precision_loss)]
fn part(query: &Folded, name: &Folded) -> f64 {
    let (asked, whole) = (query.weight() as f64, name.weight() as f64);
    if query.weight() >= 3 && name.find(query).is_some() {
        return 0.6 + 0.25 * asked / whole;
    }
    let scattered = query.len() < name.len()
        && query.words().all(|word| !word.starts_with(unspaced) && name.words().any(|other| other == word));
    if query.weight() >= 3 && scattered {
        return 0.55 + 0.2 * (asked / whole).min(1.0);
    }
    if name.weight() >= 3 && query.find(name).is_some() {
        return 0.5 + 0.25 * whole / asked;
    }
    0.0
}

/// The same words, the second half first ("light bedroom", 灯卧室). Not any order: "light on, door
/// off" is not "light off, door on".
pub(crate) fn other_order(query: &Folded, name: &Folded) -> bool {
    let enough = |from: usize, to: usize| (from..to).any(|n| !query.word(n).chars().all(unspaced)) || to - from >= 2;
    query.len() == name.len()
        && query.joined().len() == name.joined().len()
        && (1..query.len()).any(|at| {
            enough(0, at)
                && enough(at, query.len())
                && query.slice(0, at) == name.slice(name.len() - at, name.len())
                && query.slice(at, query.len()) == name.slice(0, name.len() - at)
        })
}

/// The words with numerals as digits, if there are any.
fn numerals(text: &Folded) -> Option<String> {
    let digit = |word: &str| {
        const NUMERALS: [&[&str]; 11] = [
            &["零", "〇", "zero"],
            &["一", "one"],
            &["二", "两", "two"],
            &["三", "three"],
            &["四", "four"],
            &["五", "five"],
            &["六", "six"],
            &["七", "seven"],
            &["八", "eight"],
            &["九", "nine"],
            &["十", "ten"],
        ];
        NUMERALS.iter().position(|names| names.contains(&word))
    };
    let mut any = false;
    let mut out = String::new();
    for word in text.words() {
        let number = digit(word).map(|number| number.to_string());
        any |= number.is_some() || word.bytes().any(|b| b.is_ascii_digit());
        let word = number.as_deref().unwrap_or(word);
        if out.ends_with(char::is_numeric) && word.starts_with(char::is_numeric) {
            out.push(' ');
        }
        out.push_str(word);
    }
    any.then_some(out)
}

/// Equal but for one slip in one longer word. A short word, a number, or a word that is itself a
/// common one of a home ("light" for "night") is never a slip.
pub(crate) fn same_but_for_a_slip(typed: &Folded, name: &Folded) -> bool {
    if typed.len() != name.len() || typed.joined().len().abs_diff(name.joined().len()) > 1 {
        return false;
    }
    let mut slips = 0;
    for (a, b) in typed.words().zip(name.words()) {
        if a == b {
            continue;
        }
        slips += 1;
        if slips > 1 || a.len().min(b.len()) < 4 || COMMON.contains(&a) || !one_slip(a, b) {
            return false;
        }
    }
    slips == 1
}

/// Words that nobody types by mistake for another.
const COMMON: &[&str] = &[
    "light", "lights", "right", "night", "might", "sight", "fight", "tight", "bright", "lock", "locks", "unlock",
    "door", "doors", "floor", "open", "opens", "close", "closed", "clothes", "left", "lift", "heat", "heart", "seat",
    "cool", "pool", "warm", "fire", "time", "dime", "home", "house", "come", "move", "love", "mode", "node", "code",
    "bath", "path", "both", "high", "down", "dawn", "town", "lamp", "ramp", "room", "rooms", "roof", "scene", "arrive",
    "alive", "drive", "leave", "leaving", "living", "party", "parts", "work", "word", "fork", "walk", "back", "pack",
    "read", "ready", "bread", "head", "weekend", "week", "weak", "wake", "cake", "lake", "make", "take", "boat",
    "coat", "bed", "red", "fan", "gate", "date", "late", "cold", "gold", "hold", "good", "food", "mood", "wood",
    "dinner", "winner", "inner", "dining", "diner", "driving", "lower", "power", "tower", "shower", "flower",
    "reading", "heading", "heating", "seating", "eating", "baking", "waking", "making", "taking", "cleaning",
    "leaning", "learning", "cooking", "looking", "locking", "booking", "test", "rest", "guest", "quest", "west",
    "east", "feast",
];

/// One letter left out, added, changed or swapped with its neighbour; the first letter stands, and
/// digits are not letters.
pub(crate) fn one_slip(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let numeric = |word: &[char]| word.iter().any(|c| c.is_numeric());
    if a.len().abs_diff(b.len()) > 1 || a.first() != b.first() || numeric(&a) || numeric(&b) {
        return false;
    }
    let same = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let (rest_a, rest_b) = (&a[same..], &b[same..]);
    match (rest_a, rest_b) {
        ([], []) => false,
        ([x, y, tail_a @ ..], [v, w, tail_b @ ..]) if x == w && y == v && tail_a == tail_b => true,
        ([_, tail_a @ ..], _) if tail_a == rest_b => true,
        (_, [_, tail_b @ ..]) if tail_b == rest_a => true,
        // Another letter is often another word ("storm" for "story"): only in long ones.
        ([_, tail_a @ ..], [_, tail_b @ ..]) => a.len() >= 6 && tail_a == tail_b,
        _ => false,
    }
}
