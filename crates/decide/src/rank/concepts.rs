//! Words that mean the same in a household: 多大, 年龄 and "how old" ask for one thing.
//!
//! Start at [`concepts`]; the table is `concepts.txt`, whose head says how to write in it. Invariant: the
//! table only ever helps to find, it adds nothing to what is told.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::words::stem;

const TABLE: &str = include_str!("concepts.txt");
/// So many words at most make one entry of the table.
pub const PHRASE_WORDS_MAX: usize = 4;

/// A group of the table, and on which side of it a word stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Concept {
    pub group: u16,
    /// Behind the `|`: a kind of it.
    pub narrow: bool,
}

#[derive(Debug, Default)]
pub struct Group {
    pub name: &'static str,
    /// The words as they are compared.
    pub words: Vec<String>,
    pub single: bool,
    pub asks: bool,
    pub empty: bool,
    /// Somebody else than who is asked about.
    pub person: bool,
    /// Groups that are never this one.
    pub never: Vec<u16>,
}

/// The whole table, read once.
#[derive(Debug, Default)]
pub struct Concepts {
    groups: Vec<Group>,
    of: HashMap<String, Vec<Concept>>,
}

/// The household's table of words.
pub fn concepts() -> &'static Concepts {
    static CONCEPTS: OnceLock<Concepts> = OnceLock::new();
    CONCEPTS.get_or_init(|| Concepts::read(TABLE))
}

impl Concepts {
    fn read(table: &'static str) -> Self {
        let mut all = Self::default();
        for line in table.lines().filter(|line| !line.starts_with('#')) {
            if let Some(names) = line.strip_prefix('^') {
                all.set_apart(names);
                continue;
            }
            let Some((name, words)) = line.split_once(':') else { continue };
            let number = u16::try_from(all.groups.len()).unwrap_or(u16::MAX);
            let mut group = Group {
                name: name.trim_end_matches(['!', '~', '?', '&']),
                words: Vec::new(),
                single: name.contains('!'),
                asks: name.contains(['~', '?']),
                empty: name.contains('?'),
                person: name.contains('&'),
                never: Vec::new(),
            };
            for (narrow, side) in [false, true].into_iter().zip(words.split('|')) {
                for word in side.split(',').map(compared).filter(|word| !word.is_empty()) {
                    let concept = Concept { group: number, narrow };
                    let of = all.of.entry(word.clone()).or_default();
                    if !of.iter().any(|known| known.group == number) {
                        of.push(concept);
                        group.words.push(word);
                    }
                }
            }
            all.groups.push(group);
        }
        all
    }

    /// Groups that are named before, and never are each other.
    fn set_apart(&mut self, names: &str) {
        let numbered = || self.groups.iter().zip(0_u16..);
        let set: Vec<u16> = names
            .split_whitespace()
            .filter_map(|name| numbered().find(|(group, _)| group.name == name).map(|(_, number)| number))
            .collect();
        for &number in &set {
            if let Some(group) = self.groups.get_mut(usize::from(number)) {
                group.never.extend(set.iter().filter(|&&other| other != number));
            }
        }
    }

    /// Does this word mean somebody by what they are to another: daughter, neighbour?
    pub fn is_person(&self, word: &str) -> bool {
        self.of(word).iter().any(|&it| self.group(it).is_some_and(|group| group.person))
    }

    pub fn group_at(&self, number: u16) -> Option<&Group> {
        self.groups.get(usize::from(number))
    }

    /// What a word or a phrase of words with blanks between them stands for.
    pub fn of(&self, word: &str) -> &[Concept] {
        self.of.get(word).map_or(&[], Vec::as_slice)
    }

    pub fn group(&self, concept: Concept) -> Option<&Group> {
        self.groups.get(usize::from(concept.group))
    }

    /// Has somebody only one of these at a time, by the words of a relation (lives in, 生日)?
    pub fn is_single<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> bool {
        words.into_iter().flat_map(|word| self.of(word)).any(|&it| self.group(it).is_some_and(|group| group.single))
    }

    /// The Chinese words of the table, for a dictionary that cuts text, and whether they ask.
    pub fn unspaced_words(&self) -> impl Iterator<Item = (&str, bool)> {
        let words = self.of.iter().filter(|(word, _)| word.chars().count() > 1 && !word.is_ascii());
        words.map(|(word, concepts)| {
            (word.as_str(), concepts.iter().any(|it| !it.narrow && self.group(*it).is_some_and(|group| group.asks)))
        })
    }
}

/// A word of the table as the words of a text are compared.
fn compared(word: &str) -> String {
    word.split_whitespace().map(stem).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_meet_in_one_group() {
        let table = concepts();
        let shared = |a: &str, b: &str| table.of(a).iter().any(|x| table.of(b).iter().any(|y| x.group == y.group));
        for (a, b) in [
            ("多大", "how old"),
            ("住址", "live"),
            ("电话", "phone number"),
            ("过敏", "allergic"),
            ("生日", "birthday"),
        ] {
            assert!(shared(a, b), "{a} {b}");
        }
        assert!(!shared("father", "grandfather"));
    }

    #[test]
    fn every_line_is_a_group_of_comparable_words() {
        let table = concepts();
        for names in TABLE.lines().filter_map(|line| line.strip_prefix('^')) {
            for name in names.split_whitespace() {
                assert!(table.groups.iter().any(|group| group.name == name && !group.never.is_empty()), "{name}");
            }
        }
        for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with(['#', '^'])) {
            let (_, words) = line.split_once(':').unwrap_or_else(|| panic!("no colon: {line}"));
            assert_eq!(words, crate::text::comparable(words), "{line}");
            assert!(words.split([',', '|']).all(|word| !word.trim().is_empty()), "{line}");
            assert!(words.split([',', '|']).all(|word| word.split_whitespace().count() <= PHRASE_WORDS_MAX), "{line}");
        }
    }
}
