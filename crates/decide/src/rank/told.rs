//! One candidate against one question. Start at [`fit`]. Invariant: a number or a code is only ever met
//! by itself.

use std::cell::OnceCell;
use std::collections::HashSet;

use super::shapes::{NEEDED, SHAPES, shapes};
use super::{ANSWER, Cut, FORM, Need, SAME, concepts, says_nothing};
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
    /// Weight of what is not met: names, what the answer is one of, what nobody ever told of.
    pub missing_name: f64,
    pub missing_answer: f64,
    pub missing_unseen: f64,
    /// The heaviest need that is not met.
    pub missing: f64,
    /// Share of the question words (where, when) that are met.
    pub asked: f64,
    /// Share of the text's words, and of what it is about, that the question has.
    pub density: f64,
    pub about: f64,
    /// How many needs are met, names and the rest.
    pub name_hits: f64,
    pub other_hits: f64,
    /// How many names and attributes are met by what the text is about.
    pub head_hits: f64,
    /// Not only names are asked for.
    pub asks_more: bool,
    /// Everything asked for is a name or an attribute.
    pub plain_question: bool,
    /// It says the right of what was asked for the left, or names somebody's daughter who was not asked for.
    pub other_thing: bool,
    /// Somebody's attribute is asked for, and this is about another's.
    pub of_another: bool,
    /// What the answer is one of, by a word of the table, and it is not.
    pub other_kind: bool,
    /// How many attributes are met.
    pub attributes: f64,
    /// A number or code of the question is met, or is not.
    pub exact: bool,
    pub exact_missing: bool,
    /// It lacks what the answer is one of, by a word for something that everybody has: which size, which day.
    pub asks_which: bool,
    /// Share of the question's weight that stands beside the same word in the text as in the question.
    pub pairs: f64,
    /// A rare code is met: little else is called so.
    pub rare_code: bool,
    /// It tells no time, no place or no number, and was asked for one.
    pub other_shape: bool,
    /// A light word is not met.
    pub light_missing: bool,
    /// How many things beside names and light words are met.
    pub hits: u32,
    /// Of what is asked for, what is not met, by its place in the question: what must be, and what the answer is
    /// one of.
    pub unmet: Places,
    pub unmet_answer: Places,
}

/// Things that a question asks for, by their places in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Places(u32);

impl Places {
    fn add(&mut self, place: usize) {
        self.0 |= 1_u32.checked_shl(u32::try_from(place).unwrap_or(u32::MAX)).unwrap_or(0);
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn count(self) -> u32 {
        self.0.count_ones()
    }

    pub fn shares(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl std::ops::BitOrAssign for Places {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// What is met less than this is not met; two characters of three are enough.
const MET_MIN: f64 = 0.39;
/// Of so rare a word there is one text, or two.
const RARE: f64 = 0.85;
/// With so many things met, one may be missing.
const ALL_BUT_ONE: u32 = 3;
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

    /// Does the word stand before the same word as in the question?
    fn has_pair(&self, need: &Need) -> bool {
        !need.next.is_empty() && self.joined.contains(&format!(" {} {} ", need.word, need.next))
    }

    fn meets(&self, need: &Need) -> f64 {
        if self.has(&need.word) {
            return 1.0;
        }
        if need.exact {
            return 0.0;
        }
        let other = need.others.iter().filter(|(other, _)| self.has(other)).map(|&(_, how)| how).fold(0.0, f64::max);
        // Who is called nearly so is somebody else.
        if other > 0.0 || need.name { other } else { self.part_of(&need.word) }
    }

    fn has_part(&self, part: &str) -> bool {
        self.meaning.iter().any(|word| word.contains(part))
    }

    /// Characters that both have, or the same beginning: 鞋子 and 鞋码, `breathing` and `breathe`.
    #[allow(clippy::cast_precision_loss)]
    fn part_of(&self, word: &str) -> f64 {
        if word.starts_with(is_unspaced) {
            let letters: Vec<(usize, char)> = word.char_indices().collect();
            let met = match letters.as_slice() {
                // 奶奶 is not told by 奶糖.
                [(_, one), (_, other)] if one == other => 0,
                [_, _] => letters.iter().filter(|(_, letter)| self.characters.contains(letter)).count(),
                // 驱虫药 is told by 驱虫; 姚医生 is another than 刘医生.
                _ => (2..letters.len())
                    .rev()
                    .find(|&length| letters.get(length).is_some_and(|&(end, _)| self.has_part(&word[..end])))
                    .unwrap_or(0),
            };
            return PART * met as f64 / letters.len().max(1) as f64;
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
    /// What of a question it is about by the very words: what somebody has told of, here or of somebody else.
    pub fn heads(&self, needs: &[Need]) -> Places {
        let mut places = Places::default();
        for (place, need) in needs.iter().enumerate() {
            let least = if need.attribute { SAME } else { FORM };
            if self.head.meets(need) >= least {
                places.add(place);
            }
        }
        places
    }

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

/// A time, a place or a number is asked for.
fn needed(need: &Need) -> bool {
    let mut groups = need.concepts.iter().filter_map(|it| concepts().group(*it)).peekable();
    groups.peek().is_some() && groups.all(|group| NEEDED.contains(&group.name))
}

/// How much of the question this text covers.
#[allow(clippy::cast_precision_loss)]
pub fn fit(needs: &[Need], told: &Told) -> Fit {
    let mut fit = Fit { plain_question: true, ..Fit::default() };
    let (mut all, mut asked, mut asking) = (0.0, 0.0, 0.0);
    for (place, need) in needs.iter().enumerate() {
        let how = told.meets(need);
        if need.asks {
            asking += 1.0;
            asked += how;
            fit.other_shape |= how < MET_MIN && needed(need);
            continue;
        }
        fit.asks_more |= !need.name;
        fit.plain_question &= need.name || need.attribute;
        fit.other_kind |= need.answer && !need.measure && how < MET_MIN && !need.concepts.is_empty();
        let weight = need.weight * if need.answer && how < MET_MIN { ANSWER } else { 1.0 };
        all += weight;
        fit.coverage += weight * how;
        fit.literal += if how >= FORM { weight } else { 0.0 };
        fit.head += weight * told.head.meets(need);
        match (how >= MET_MIN, need.light, need.answer) {
            (true, light, _) => fit.hits += u32::from(!light && !need.name),
            (false, true, _) => fit.light_missing = true,
            // Which size, which day: the answer is one, and seldom says so.
            (false, false, true) if need.measure => fit.asks_which = true,
            (false, false, true) => fit.unmet_answer.add(place),
            (false, false, false) => fit.unmet.add(place),
        }
        if how >= MET_MIN {
            fit.attributes += f64::from(u8::from(need.attribute));
            if (need.name || need.attribute) && told.head.meets(need).max(told.tail.meets(need)) >= MET_MIN {
                fit.head_hits += 1.0;
            }
            if need.name {
                fit.of_another |= told.head.meets(need).max(told.tail.meets(need)) < MET_MIN;
                fit.name_hits += 1.0;
            } else {
                fit.other_hits += 1.0;
            }
            fit.rare_code |= need.exact && need.weight >= RARE;
            fit.pairs += if told.all.has_pair(need) { weight } else { 0.0 };
            fit.exact |= need.exact;
            continue;
        }
        fit.other_thing |= told.is_set_apart(need);
        fit.missing = fit.missing.max(weight);
        fit.exact_missing |= need.exact;
        if need.name {
            fit.missing_name += weight;
        } else if need.answer {
            fit.missing_answer += weight;
        } else if !need.attribute && need.count == 0 {
            fit.missing_unseen += weight;
        }
    }
    fit.other_thing |= fit.attributes > 0.0 && told.is_of_somebody_else(needs);
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    fit.coverage = share(fit.coverage, all);
    fit.literal = share(fit.literal, all);
    fit.pairs = share(fit.pairs, all);
    fit.head = share(fit.head, all);
    fit.asked = share(asked, asking);
    fit.about = told.head.asked_for(needs);
    fit.density = told.all.asked_for(needs);
    fit
}

/// Inside a named span of time there is less to mix it up with.
const SPAN_COVERAGE_MIN: f64 = 0.15;
/// Half of what is asked for, at least.
const PASSAGE_COVERAGE_MIN: f64 = 0.5;

impl Fit {
    /// Whether it says something else than what was asked for, however well the rest fits: about somebody
    /// else, of another kind, or nothing but the name.
    pub fn is_beside(&self) -> bool {
        self.missing_name > 0.0
            || self.other_kind
            || self.other_thing
            || (self.asks_more && self.other_hits == 0.0)
            || (self.plain_question && self.attributes > 0.0 && (self.head_hits == 0.0 || self.of_another))
    }

    /// Whether this may stand as an answer. `heads`: what of the question anything is about that was told.
    ///
    /// What tells all that was asked for answers. What lacks something does so only where nobody ever told of
    /// that by this word (Lan's perfume is known, so Priya's would be told as such), and enough of the rest is
    /// there, or so little is there at all that the words are another's.
    pub fn is_answer(&self, heads: Places) -> bool {
        if self.is_beside() || self.other_shape || self.unmet_answer.shares(heads) {
            return false;
        }
        if self.unmet.is_empty() {
            // Of somebody alone anything is told, and an attribute alone is somebody's, unless more was asked for.
            let alone = self.hits == 0 || (self.name_hits == 0.0 && f64::from(self.hits) <= self.attributes);
            return !(alone && self.light_missing)
                && (self.hits > 0 || (self.unmet_answer.is_empty() && !self.asks_which));
        }
        if (self.hits >= ALL_BUT_ONE || self.rare_code) && self.unmet.count() == 1 {
            return true;
        }
        let named = self.name_hits > 0.0;
        !self.unmet.shares(heads)
            && (self.hits >= 2
                || (!named
                    && (self.hits == 0 || (self.missing_unseen > 0.0 && f64::from(self.hits) > self.attributes))))
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
            + 0.2 * self.pairs
            + 0.27 * self.asked
            + if self.exact { 0.23 } else { 0.0 }
            - 0.42 * self.missing_answer
            - 0.06 * self.missing;
        (sum / SCORE_MAX).clamp(0.0, 1.0)
    }
}

/// What the score's parts add up to at most.
const SCORE_MAX: f64 = 2.18;

#[cfg(test)]
mod tests {
    use super::super::{needs, weigh};
    use super::*;

    fn cut(text: &str) -> Vec<Cut> {
        text.split(' ').filter(|word| !word.is_empty()).map(|word| Cut { word: word.into(), parts: vec![] }).collect()
    }

    /// What is asked, with the names in it; a word that is told of anywhere counts.
    fn asked(question: &str, names: &[&str], told: &[&str]) -> Vec<Need> {
        let mut needs = needs(&cut(question));
        for need in &mut needs {
            need.name = names.contains(&&*need.word);
            need.count = told.iter().filter(|text| text.split(' ').any(|word| word == need.word)).count() as u64;
        }
        weigh(&mut needs, 100);
        needs
    }

    /// The first text answers, by what it and the others tell: `subject relation · object · sentence`.
    #[track_caller]
    fn check(question: &str, names: &[&str], told: &[&str], answers: bool) {
        let needs = asked(question, names, told);
        let one = |text: &str| {
            let parts: Vec<Vec<Cut>> = text.split(" · ").map(cut).collect();
            Told::new(&parts[0], &parts[1], &parts[2], text.to_owned())
        };
        let mut heads = Places::default();
        told.iter().for_each(|text| heads |= one(text).heads(&needs));
        let fit = fit(&needs, &one(told[0]));
        assert_eq!(fit.is_answer(heads), answers, "{question}: {fit:?}");
    }

    const RIDE: &str = "max bus · 76 · max take the 76";
    const CAR: &str = "priya car · kia · priya drive a kia";

    #[test]
    fn what_tells_all_that_was_asked_for_answers() {
        check("which bus does max take", &["max"], &[RIDE, CAR], true);
        check("陈伟 鞋码", &["陈伟"], &["陈伟 鞋码 · 43码 · 陈伟 皮鞋 43码"], true);
    }

    #[test]
    fn what_is_told_of_somebody_else_is_not_known_of_this_one() {
        check("which car does max drive", &["max", "priya"], &[RIDE, CAR], false);
        check(
            "林静 血型",
            &["林静", "陈伟"],
            &["林静 生日 · 9月 · 林静 生日 9月", "陈伟 血型 · A型 · 陈伟 A型"],
            false,
        );
        check("姚医生 电话", &["姚医生", "刘医生"], &["刘医生 电话 · 0571 · 刘医生 电话 0571"], false);
    }

    #[test]
    fn an_attribute_of_who_is_only_mentioned_is_another_ones() {
        let friend = "何敏 血型 · B型 · 林静 说 何敏 是 B型";
        check("林静 血型", &["林静", "何敏"], &[friend], false);
        check("何敏 血型", &["林静", "何敏"], &[friend], true);
    }

    #[test]
    fn what_lacks_a_word_that_nobody_ever_told_may_be_it_in_other_words() {
        let patch = "wardrobe damp · downpipe · damp patch behind the wardrobe is the downpipe";
        check("why is the patch behind the wardrobe soggy", &[], &[patch], true);
        check("why is the wardrobe soggy", &["wardrobe"], &[patch], false);
        // Nobody ever heard of 小刚.
        check("小刚 生日", &["何敏"], &["何敏 生日 · 3月 · 何敏 生日 3月"], false);
    }

    #[test]
    fn what_tells_no_time_does_not_answer_when() {
        let book = "豆豆 疫苗本 · 抽屉 · 豆豆 的 疫苗本 抽屉";
        check("豆豆 疫苗本 什么时候", &["豆豆"], &[book], false);
        check("豆豆 疫苗本 在哪里", &["豆豆"], &[book], true);
    }
}
