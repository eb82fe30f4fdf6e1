//! One candidate against one question. Start at [`fit`]. Invariant: a number or a code is only ever met
//! by itself.

use std::cell::OnceCell;
use std::collections::HashSet;

use super::shapes::{SHAPES, shapes};
use super::{ANSWER, Cut, FORM, Need, concepts, says_nothing};
use crate::text::is_unspaced;

/// What a text tells, ready to be compared.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// What it is about: subject and relation of a fact, title or heading of a document.
    head: Side,
    /// The other thing that a fact names.
    tail: Side,
    all: Side,
    /// Comparable text.
    plain: String,
    /// Looked for only where a question could be answered by them.
    shapes: OnceCell<Vec<&'static str>>,
}

#[derive(Clone, Debug, Default)]
struct Side {
    words: HashSet<String>,
    /// All words between blanks, for phrases.
    joined: String,
    characters: HashSet<char>,
    /// Words that mean something.
    meaning: Vec<String>,
}

/// How much of a question a text covers. Shares are 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fit {
    /// Share of the question's weight that is met.
    pub coverage: f64,
    /// The same by the very words.
    pub literal: f64,
    /// The same by what the text is about.
    pub head: f64,
    /// Weight of what is not met: attributes (age, price), what is told of elsewhere, what is told nowhere.
    pub missing_name: f64,
    pub missing_attribute: f64,
    pub missing_answer: f64,
    pub missing_known: f64,
    pub missing_unseen: f64,
    /// The heaviest need that is not met.
    pub missing: f64,
    /// Share of the question words (where, when) that are met.
    pub asked: f64,
    /// Share of the text's words, and of what it is about, that the question has.
    pub density: f64,
    pub about: f64,
    /// The rarest need that is met.
    pub rarest: f64,
    /// Weight of names that are met, and of the rest.
    pub names: f64,
    pub others: f64,
    /// How many needs are met, names and the rest.
    pub name_hits: f64,
    pub other_hits: f64,
    /// How many names and attributes are met by what the text is about.
    pub head_hits: f64,
    /// Not only names are asked for.
    pub asks_more: bool,
    /// How many things are asked for.
    pub needs: u32,
    /// Everything asked for is a name or an attribute.
    pub plain_question: bool,
    /// It says the right of what was asked for the left, or names somebody's daughter who was not asked for.
    pub other_thing: bool,
    /// What the answer is one of, by a word of the table, and it is not.
    pub other_kind: bool,
    /// How many attributes are met.
    pub attributes: f64,
    /// A number or code of the question is met, or is not.
    pub exact: bool,
    pub exact_missing: bool,
}

/// What is met less than this is not met.
const MET_MIN: f64 = 0.4;
/// A single character inside a longer word: 弦 in 琴弦.
const INSIDE: f64 = 0.7;
/// What an answer looks like counts for so much.
const SHAPE: f64 = 0.6;
/// One character of two, or the beginning of a word.
const PART: f64 = 0.6;

impl Side {
    fn new<'a>(words: impl Iterator<Item = &'a Cut>) -> Self {
        let mut side = Self { joined: " ".into(), ..Self::default() };
        for cut in words {
            side.joined.push_str(&cut.word);
            side.joined.push(' ');
            if !says_nothing(&cut.word) && !side.words.contains(&cut.word) {
                side.meaning.push(cut.word.clone());
                side.characters.extend(cut.word.chars().filter(|&c| is_unspaced(c)));
            }
            side.words.extend(cut.parts.iter().cloned());
            side.words.insert(cut.word.clone());
        }
        side
    }

    fn has(&self, word: &str) -> bool {
        if word.contains(' ') { self.joined.contains(&format!(" {word} ")) } else { self.words.contains(word) }
    }

    fn meets(&self, need: &Need) -> f64 {
        if self.has(&need.word) {
            return 1.0;
        }
        if need.exact {
            return 0.0;
        }
        // The best come first.
        let other = need.others.iter().filter(|(other, _)| self.has(other)).map(|&(_, how)| how).fold(0.0, f64::max);
        if other > 0.0 { other } else { self.part_of(&need.word) }
    }

    /// Characters that both have, or the same beginning: 鞋子 and 鞋码, `breathing` and `breathe`.
    #[allow(clippy::cast_precision_loss)]
    fn part_of(&self, word: &str) -> f64 {
        if word.starts_with(is_unspaced) {
            let (mut all, mut met) = (0, 0);
            for character in word.chars() {
                all += 1;
                met += usize::from(self.characters.contains(&character));
            }
            return if all > 1 { PART * met as f64 / f64::from(all) } else { 0.0 };
        }
        let begins = |other: &String| {
            let same = other.bytes().zip(word.bytes()).take_while(|(a, b)| a == b).count();
            same >= 5 && same * 3 >= other.len().max(word.len()) * 2
        };
        if word.len() >= 5 && word.is_ascii() && self.meaning.iter().any(begins) { PART } else { 0.0 }
    }

    /// Share of its words that the question has.
    #[allow(clippy::cast_precision_loss)]
    fn asked_for(&self, needs: &[Need]) -> f64 {
        let asked = |word: &&String| {
            needs.iter().any(|need| {
                let unspaced = !need.word.is_ascii() && need.word.chars().nth(1).is_some();
                need.word == **word
                    || need.others.iter().any(|(other, _)| other == *word)
                    || (unspaced && word.contains(&need.word))
                    || (!word.is_ascii() && need.word.contains(word.as_str()))
            })
        };
        self.meaning.iter().filter(asked).count() as f64 / self.meaning.len().max(1) as f64
    }
}

impl Told {
    pub fn new(head: &[Cut], tail: &[Cut], body: &[Cut], plain: String) -> Self {
        let all = Side::new(head.iter().chain(tail).chain(body));
        Self { head: Side::new(head.iter()), tail: Side::new(tail.iter()), all, plain, shapes: OnceCell::new() }
    }

    /// How well this one need is met, 0 to 1.
    fn meets(&self, need: &Need) -> f64 {
        let unspaced = !need.word.is_ascii() && need.word.chars().count() > 1;
        if unspaced && self.plain.contains(&need.word) {
            return 1.0;
        }
        let single = need.word.starts_with(is_unspaced) && need.word.chars().nth(1).is_none();
        if single && self.plain.contains(&need.word) {
            return INSIDE;
        }
        let table = concepts();
        let mut names = need.concepts.iter().filter_map(|it| table.group(*it)).map(|group| group.name);
        let has = |shape: &str| self.shapes.get_or_init(|| shapes(&self.plain)).contains(&shape);
        let by_shape = !need.exact && names.clone().any(|name| SHAPES.contains(&name) && has(name));
        // House number 18 is nobody's telephone.
        let by_words = if names.any(|name| name == "phone") && !has("number") { 0.0 } else { self.all.meets(need) };
        by_words.max(if by_shape { SHAPE } else { 0.0 })
    }
}

impl Told {
    /// Does it name what is never the same as what was asked for?
    fn is_set_apart(&self, need: &Need) -> bool {
        let table = concepts();
        let never = need.concepts.iter().filter(|it| !it.narrow).filter_map(|it| table.group(*it));
        let mut others = never.flat_map(|group| &group.never).filter_map(|&number| table.group_at(number));
        others.any(|group| group.words.iter().any(|word| self.all.has(word)))
    }

    /// Is it about a relative or friend of somebody, whom nobody asked for?
    fn is_of_somebody_else(&self, needs: &[Need]) -> bool {
        let asked = |word: &String| {
            needs.iter().any(|need| need.word.contains(word) || need.others.iter().any(|(other, _)| other == word))
        };
        // Whom it is about comes first: in 外婆 · 电话 it is herself who is meant.
        let beside = self.head.meaning.iter().skip(1);
        beside.filter(|word| concepts().is_person(word)).any(|word| !asked(word))
    }
}

/// How much of the question this text covers.
#[allow(clippy::cast_precision_loss)]
pub fn fit(needs: &[Need], told: &Told) -> Fit {
    let mut fit = Fit { plain_question: true, ..Fit::default() };
    let (mut all, mut asked, mut asking) = (0.0, 0.0, 0.0);
    for need in needs {
        let how = told.meets(need);
        if need.asks {
            asking += 1.0;
            asked += how;
            continue;
        }
        fit.needs += 1;
        fit.asks_more |= !need.name;
        fit.plain_question &= need.name || need.attribute;
        fit.other_kind |= need.answer && how < MET_MIN && !need.concepts.is_empty();
        let weight = need.weight * if need.answer && how < MET_MIN { ANSWER } else { 1.0 };
        all += weight;
        fit.coverage += weight * how;
        fit.literal += if how >= FORM { weight } else { 0.0 };
        fit.head += weight * told.head.meets(need);
        if how >= MET_MIN {
            fit.attributes += f64::from(u8::from(need.attribute));
            if (need.name || need.attribute) && told.head.meets(need).max(told.tail.meets(need)) >= MET_MIN {
                fit.head_hits += 1.0;
            }
            if need.name {
                fit.name_hits += 1.0;
                fit.names += need.weight * how;
            } else {
                fit.other_hits += 1.0;
                fit.others += need.weight * how;
            }
            fit.rarest = fit.rarest.max(need.weight * how);
            fit.exact |= need.exact;
            continue;
        }
        fit.other_thing |= told.is_set_apart(need);
        fit.missing = fit.missing.max(weight);
        fit.exact_missing |= need.exact;
        let place = if need.name {
            &mut fit.missing_name
        } else if need.answer {
            &mut fit.missing_answer
        } else if need.attribute {
            &mut fit.missing_attribute
        } else if need.count > 0 {
            &mut fit.missing_known
        } else {
            &mut fit.missing_unseen
        };
        *place += weight;
    }
    fit.other_thing |= fit.attributes > 0.0 && told.is_of_somebody_else(needs);
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    fit.coverage = share(fit.coverage, all);
    fit.literal = share(fit.literal, all);
    fit.head = share(fit.head, all);
    fit.asked = share(asked, asking);
    fit.about = told.head.asked_for(needs);
    fit.density = told.all.asked_for(needs);
    fit
}

/// How surely something is an answer, before it is given as one.
const SURE_MIN: f64 = 0.4;
/// Inside a named span of time there is less to mix it up with.
const SPAN_COVERAGE_MIN: f64 = 0.15;
/// Half of what is asked for, at least.
const PASSAGE_COVERAGE_MIN: f64 = 0.5;

impl Fit {
    /// Whether it says something else than what was asked for, however well the rest fits: about somebody
    /// else, of another kind, another attribute, or nothing but the name.
    pub fn is_beside(&self) -> bool {
        self.missing_name > 0.0
            || self.other_kind
            || self.other_thing
            || (self.missing_attribute > 0.0 && self.attributes == 0.0)
            || (self.asks_more && self.other_hits == 0.0)
            || (self.plain_question && self.attributes > 0.0 && self.head_hits == 0.0)
    }

    /// How surely it is an answer, 0 to 1. The weights are those of a logistic regression on the open half
    /// of the memory questions, see docs/dev/measured/memory.md.
    pub fn sureness(&self) -> f64 {
        let missing = self.missing_known + self.missing_unseen + self.missing_name;
        let by_length = match self.needs {
            0..=2 => -1.58,
            3 => -0.59,
            4 => 0.0,
            _ => 0.3,
        };
        let sum = -2.48 + 1.9 * self.coverage - 1.41 * self.missing
            + 1.52 * self.rarest
            + 1.05 * self.asked
            + 2.03 * self.density
            + 0.69 * self.others
            + by_length * missing;
        1.0 / (1.0 + (-sum).exp())
    }

    /// Whether this may stand as an answer.
    pub fn is_answer(&self) -> bool {
        !self.is_beside() && self.sureness() >= SURE_MIN
    }

    /// The same where the question names a span of time, outside of which nothing is looked at.
    pub fn is_of_span(&self) -> bool {
        self.coverage >= SPAN_COVERAGE_MIN
    }

    /// Whether a passage of a longer text, which tells more than one thing, has what was asked for.
    pub fn is_passage(&self) -> bool {
        self.coverage >= PASSAGE_COVERAGE_MIN && self.missing_name == 0.0 && !self.exact_missing
    }

    /// The score by which hits are ordered, 0 to 1; weights from the same place.
    pub fn score(&self) -> f64 {
        let sum = self.coverage - 0.09 * self.literal
            + 0.09 * self.head
            + 0.13 * self.about
            + 0.35 * self.density
            + 0.27 * self.asked
            + if self.exact { 0.23 } else { 0.0 }
            - 0.42 * self.missing_answer
            - 0.06 * self.missing;
        (sum / SCORE_MAX).clamp(0.0, 1.0)
    }
}

/// What the score's parts add up to at most.
const SCORE_MAX: f64 = 1.98;
