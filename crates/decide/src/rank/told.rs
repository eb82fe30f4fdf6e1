//! One candidate against one question. Start at [`fit`]. Invariant: a number or a code is only ever met
//! by itself.

use std::collections::HashSet;

use super::{Concept, Cut, FORM, KIND, Need, PHRASE_WORDS_MAX, SAME, concepts, lookup, phrase, says_nothing};

/// What a text tells, ready to be compared.
#[derive(Clone, Debug, Default)]
pub struct Told {
    words: HashSet<String>,
    concepts: HashSet<Concept>,
    /// Comparable text without blanks between Chinese characters.
    plain: String,
    /// Words that mean something: a short text that has it all says it more surely than a long one.
    length: usize,
}

/// How much of a question a text covers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fit {
    /// Share of the question's weight that is met, 0 to 1.
    pub coverage: f64,
    /// The heaviest need that is not met at all, as a share of all.
    pub missing: f64,
    /// Share of the question words (where, when) that are met.
    pub asked: f64,
    /// Share of the text's words that the question has.
    pub density: f64,
    /// All numbers and codes of the question are met, and it has some.
    pub exact: bool,
}

/// A part of a word that is met counts for so much.
const PART: f64 = 0.6;
/// Below this nothing of a question is answered.
pub const COVERAGE_MIN: f64 = 0.55;
/// Nothing that weighs so much of a question may be left out.
pub const MISSING_MAX: f64 = 0.34;

impl Told {
    pub fn new(words: &[Cut], plain: String) -> Self {
        let table = concepts();
        let mut told = Self { plain, ..Self::default() };
        for (at, cut) in words.iter().enumerate() {
            told.concepts.extend(lookup(table, &cut.word));
            for part in &cut.parts {
                told.concepts.extend(table.of(part));
            }
            for length in 2..=PHRASE_WORDS_MAX.min(words.len() - at) {
                told.concepts.extend(table.of(&phrase(&words[at..at + length])));
            }
            told.length += usize::from(!says_nothing(&cut.word));
            told.words.extend(cut.parts.iter().cloned());
            told.words.insert(cut.word.clone());
        }
        told
    }

    /// How well this one need is met, 0 to 1.
    fn meets(&self, need: &Need) -> f64 {
        if self.words.contains(&need.word) {
            return 1.0;
        }
        if need.exact {
            return 0.0;
        }
        let unspaced = !need.word.is_ascii() && need.word.chars().count() > 1;
        if unspaced && self.plain.contains(&need.word) {
            return FORM;
        }
        let other = need.others.iter().filter(|(other, _)| self.words.contains(other)).map(|&(_, how)| how);
        let concept = need.concepts.iter().filter(|it| !it.narrow).filter_map(|it| self.concept(it.group));
        let best = other.chain(concept).fold(0.0, f64::max);
        if best > 0.0 { best } else { self.part_of(&need.word) }
    }

    fn concept(&self, group: u16) -> Option<f64> {
        let has = |narrow| self.concepts.contains(&Concept { group, narrow });
        if has(false) { Some(SAME) } else { has(true).then_some(KIND) }
    }

    /// Pairs of characters that both have: 洗衣机 and 洗衣.
    #[allow(clippy::cast_precision_loss)]
    fn part_of(&self, word: &str) -> f64 {
        let characters: Vec<char> = word.chars().collect();
        if word.is_ascii() || characters.len() < 3 {
            return 0.0;
        }
        let pairs = characters.windows(2).map(|pair| pair.iter().collect::<String>());
        let met = pairs.filter(|pair| self.plain.contains(pair.as_str())).count();
        PART * met as f64 / (characters.len() - 1) as f64
    }
}

/// How much of the question this text covers.
#[allow(clippy::cast_precision_loss)]
pub fn fit(needs: &[Need], told: &Told) -> Fit {
    let (mut met, mut all, mut missing) = (0.0, 0.0, 0.0_f64);
    let (mut asked, mut asking, mut hits) = (0.0, 0.0, 0);
    let (mut exact, mut exact_met) = (0, 0);
    for need in needs {
        let how = told.meets(need);
        hits += usize::from(how > 0.0);
        if need.asks {
            asking += 1.0;
            asked += how;
            continue;
        }
        met += need.weight * how;
        all += need.weight;
        if how < PART / 2.0 {
            missing = missing.max(need.weight);
        }
        exact += usize::from(need.exact);
        exact_met += usize::from(need.exact && how > 0.0);
    }
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    Fit {
        coverage: share(met, all),
        missing: share(missing, all),
        asked: share(asked, asking),
        density: (hits as f64 / told.length.max(1) as f64).min(1.0),
        exact: exact > 0 && exact == exact_met,
    }
}

impl Fit {
    /// Whether this may stand as an answer at all.
    pub fn is_answer(&self) -> bool {
        self.coverage >= COVERAGE_MIN && self.missing <= MISSING_MAX
    }
}

/// The score by which hits are ordered, 0 to 1. `age` is 0 for what is newest and 1 for what is oldest.
pub fn value(fit: &Fit, age: f64, superseded: bool) -> f64 {
    let whole = 0.78 * fit.coverage
        + 0.06 * fit.asked
        + 0.06 * fit.density
        + 0.05 * (1.0 - age.clamp(0.0, 1.0))
        + if fit.exact { 0.05 } else { 0.0 };
    let whole = if superseded { whole * 0.6 } else { whole };
    whole.clamp(0.0, 1.0)
}
