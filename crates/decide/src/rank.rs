//! How well what is told answers what is asked: the order of search hits, and when to say "nothing known".
//!
//! Start at [`needs`] (what a question asks for), [`Told`] (what a text tells) and [`fit`] (how much of the
//! one is in the other). Cutting text into words and finding candidates is the store's; all here is pure.
//! Invariants: a score is 0 to 1; what a question names and nothing told names is never papered over by
//! what else fits, see [`Fit::is_answer`].

mod concepts;
mod fuse;
mod shapes;
mod told;
mod words;

pub use concepts::{Concept, Concepts, PHRASE_WORDS_MAX, concepts};
pub use fuse::fuse;
pub use told::{Fit, Places, Told, fit};
pub use words::{forms, is_exact, is_light, says_nothing, stem};

/// A word of a text, in comparable form, with the shorter words inside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    pub word: String,
    pub parts: Vec<String>,
}

/// One thing that a question asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Need {
    /// As it was said.
    pub word: String,
    /// The word behind it in the question.
    pub next: String,
    pub concepts: Vec<Concept>,
    /// Other words and phrases that would do, each with how well, at most 1.
    pub others: Vec<(String, f64)>,
    /// Asks for something that somebody has one of: an age, a price.
    pub attribute: bool,
    /// Such a one that is told by a number alone: a size, a weight.
    pub measure: bool,
    /// A question word: it helps to rank, an answer need not have it.
    pub asks: bool,
    /// What the answer is one of (which **brand**): it counts for less, the answer is rarely called so.
    pub answer: bool,
    /// The household knows somebody or something by this name.
    pub name: bool,
    /// A number or a code: only itself will do.
    pub exact: bool,
    /// A light word (开, 订, 一次): it helps to rank, an answer need not have it.
    pub light: bool,
    /// How rare it is among all that is told, 0 to 1: set by [`weigh`].
    pub weight: f64,
    /// How many texts have it.
    pub count: u64,
}

/// Most things that one question is taken to ask for; what comes after is not looked at.
const NEEDS_MAX: usize = 24;
/// What the answer is one of weighs so much where it is not met.
const ANSWER: f64 = 0.4;
/// Groups that an answer tells without their word.
const MEASURES: [&str; 4] = ["size", "height", "weight", "age"];
/// How well another form of the same word does.
const FORM: f64 = 0.95;
/// How well a word does that is only spelled the same in pinyin.
pub const SPELLED: f64 = 0.9;
/// How well another word for the same thing does, and a kind of it.
const SAME: f64 = 0.78;
const KIND: f64 = 0.68;

/// What a question asks for, in its order.
pub fn needs(question: &[Cut]) -> Vec<Need> {
    let table = concepts();
    let mut needs: Vec<Need> = Vec::new();
    let mut at = 0;
    while at < question.len() && needs.len() < NEEDS_MAX {
        let (length, found) = longest_phrase(table, question, at);
        let next = need(table, &question[at..at + length], found);
        let after = at.checked_sub(1).and_then(|before| question.get(before)).is_some_and(|cut| chooses(&cut.word));
        at += length;
        if let Some(mut next) = next
            && !needs.iter().any(|known| known.word == next.word)
        {
            next.answer = after && !next.asks && (next.measure || !next.attribute);
            next.next = question.get(at).map(|cut| cut.word.clone()).unwrap_or_default();
            needs.push(next);
        }
    }
    needs
}

/// What stands after it is what the answer is one of: which brand, 什么牌子.
fn chooses(word: &str) -> bool {
    matches!(
        word,
        "what"
            | "which"
            | "什么"
            | "哪个"
            | "哪种"
            | "哪"
            | "哪款"
            | "哪家"
            | "啥"
            | "哪些"
            | "种"
            | "款"
            | "kind"
            | "sort"
            | "type"
    )
}

/// The longest entry of the table that begins here, in words; one word where there is none.
fn longest_phrase(table: &Concepts, words: &[Cut], at: usize) -> (usize, Vec<Concept>) {
    for length in (2..=PHRASE_WORDS_MAX.min(words.len() - at)).rev() {
        let found = table.of(&phrase(&words[at..at + length]));
        if !found.is_empty() {
            return (length, found.to_vec());
        }
    }
    (1, lookup(table, &words[at].word))
}

/// Words of a phrase: with blanks, except between Chinese ones.
fn phrase(words: &[Cut]) -> String {
    let mut joined = String::new();
    for cut in words {
        if joined.ends_with(|c: char| c.is_ascii()) || (!joined.is_empty() && cut.word.is_ascii()) {
            joined.push(' ');
        }
        joined.push_str(&cut.word);
    }
    joined
}

fn lookup(table: &Concepts, word: &str) -> Vec<Concept> {
    let mut found = table.of(word).to_vec();
    for form in forms(word) {
        found.extend(table.of(&form).iter().filter(|concept| !found.contains(concept)).copied().collect::<Vec<_>>());
    }
    found
}

fn need(table: &Concepts, words: &[Cut], concepts: Vec<Concept>) -> Option<Need> {
    let [first, rest @ ..] = words else { return None };
    let asking = |it: &Concept| !it.narrow && table.group(*it).is_some_and(|group| group.asks);
    let asks = !concepts.is_empty() && (concepts.iter().all(asking) || (rest.is_empty() && says_nothing(&first.word)));
    if rest.is_empty() && says_nothing(&first.word) && !concepts.iter().any(asking) {
        return None;
    }
    if !concepts.is_empty() && concepts.iter().all(|it| table.group(*it).is_some_and(|group| group.empty)) {
        return None;
    }
    let word = if rest.is_empty() { first.word.clone() } else { phrase(words) };
    let exact = rest.is_empty() && is_exact(&word);
    let attribute = concepts.iter().filter_map(|it| table.group(*it)).any(|group| group.single);
    let others = others(table, words, &word, &concepts);
    let measure = concepts.iter().filter_map(|it| table.group(*it)).any(|group| MEASURES.contains(&group.name));
    let asks = asks || how_many(&word);
    let light = is_light(&word);
    Some(Need { word, concepts, others, asks, exact, attribute, measure, light, ..Need::default() })
}

/// 几 and what is counted: 几圈, 几样.
fn how_many(word: &str) -> bool {
    word.starts_with('几') && (2..=3).contains(&word.chars().count())
}

/// Other forms of the word, and what stands in its groups of the table, with other forms of that.
fn others(table: &Concepts, words: &[Cut], word: &str, concepts: &[Concept]) -> Vec<(String, f64)> {
    let mut others: Vec<(String, f64)> = Vec::new();
    let mut add = |other: &str, how: f64| {
        if other != word && !others.iter().any(|(known, _)| known == other) {
            others.push((other.to_owned(), how));
        }
    };
    if let [one] = words {
        forms(&one.word).iter().for_each(|form| add(form, FORM));
    }
    let mut group = |narrow: bool, how: f64| {
        for concept in concepts.iter().filter(|it| !it.narrow) {
            for other in table.group(*concept).map(|group| group.words.as_slice()).unwrap_or_default() {
                if table.of(other).iter().any(|it| it.group == concept.group && it.narrow == narrow) {
                    add(other, how);
                    forms(other).iter().for_each(|form| add(form, how));
                }
            }
        }
    };
    group(false, SAME);
    group(true, KIND);
    others
}

/// Gives each need its weight: how many of `total` texts have it, by the store's own counting.
#[allow(clippy::cast_precision_loss)]
pub fn weigh(needs: &mut [Need], total: u64) {
    let total = total.max(1) as f64;
    for need in needs.iter_mut() {
        let count = (need.count as f64).min(total);
        let rarity = (1.0 + total / (1.0 + count)).ln() / (1.0 + total).ln().max(1.0);
        need.weight = rarity.clamp(0.05, 1.0);
    }
}
