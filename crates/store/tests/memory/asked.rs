//! Questions, and how many were answered.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde::Deserialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Exact,
    Paraphrase,
    Time,
    Contradiction,
    Deletion,
    Unknown,
}

impl Kind {
    pub const ALL: [Self; 6] =
        [Self::Exact, Self::Paraphrase, Self::Time, Self::Contradiction, Self::Deletion, Self::Unknown];

    pub fn has_answer(self) -> bool {
        !matches!(self, Self::Deletion | Self::Unknown)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Paraphrase => "paraphrase",
            Self::Time => "time",
            Self::Contradiction => "contradiction",
            Self::Deletion => "deletion",
            Self::Unknown => "unknown",
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub struct At {
    pub from: i64,
    pub to: i64,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Question {
    pub id: String,
    pub kind: Kind,
    pub question: String,
    pub expects: Vec<String>,
    pub rejects: Vec<String>,
    pub at: Option<At>,
}

impl Question {
    /// Right at once: the first answer is one of the expected; nothing, where nothing is known.
    pub fn is_right(&self, found: &[String]) -> bool {
        match found.first() {
            None => !self.kind.has_answer(),
            Some(first) => self.expects.contains(first),
        }
    }

    fn is_among(&self, found: &[String]) -> bool {
        found.iter().take(5).any(|id| self.expects.contains(id))
    }
}

/// Something that answers questions with facts, best first.
pub trait Method {
    fn find(&self, question: &str) -> Vec<String>;
}

pub fn data(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/memory").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub fn read(file: &str) -> Vec<Question> {
    data(file).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[derive(Clone, Debug, Default)]
pub struct Counts {
    of: BTreeMap<Kind, (usize, usize, usize)>,
}

impl Counts {
    pub fn add(&mut self, question: &Question, found: &[String]) {
        let (all, first, five) = self.of.entry(question.kind).or_default();
        *all += 1;
        *first += usize::from(question.is_right(found));
        *five += usize::from(question.is_among(found));
    }

    pub fn has(&self, kind: Kind) -> bool {
        self.of.contains_key(&kind)
    }

    fn share(&self, kind: Kind, of: impl Fn(&(usize, usize, usize)) -> usize) -> f64 {
        self.of.get(&kind).map_or(0.0, |counts| of(counts) as f64 / counts.0.max(1) as f64)
    }

    pub fn first(&self, kind: Kind) -> f64 {
        self.share(kind, |counts| counts.1)
    }

    pub fn in_five(&self, kind: Kind) -> f64 {
        self.share(kind, |counts| counts.2)
    }
}

pub fn table(file: &str, ours: &Counts, others: &[(&str, Counts)]) -> String {
    let mut table = format!("{file}\n{:14}{:>5}{:>18}", "kind", "n", "first / in five");
    for (name, _) in others {
        write!(table, "{name:>24}").unwrap();
    }
    for kind in Kind::ALL {
        let all = ours.of.get(&kind).map_or(0, |counts| counts.0);
        write!(table, "\n{:14}{all:5}", kind.name()).unwrap();
        for (width, counts) in std::iter::once((18, ours)).chain(others.iter().map(|(_, counts)| (24, counts))) {
            let cell = if kind.has_answer() {
                format!("{:.3} / {:.3}", counts.first(kind), counts.in_five(kind))
            } else {
                format!("nothing {:.3}", counts.first(kind))
            };
            write!(table, "{cell:>width$}").unwrap();
        }
    }
    table
}
