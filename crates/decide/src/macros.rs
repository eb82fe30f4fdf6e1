//! Which of the household's own scenes and scripts does a phrase mean?
//!
//! Start at [`match_phrase`], or at [`Prepared`] to ask a house more than once. A phrase is folded
//! (`text::fold`), carrier words come off its ends (`carriers`), and what stays must *be* a name, or
//! a wording of a moment (`moments`) that a macro is named for, or either with one slip. Parts of
//! names and loose words in common never run anything; they are only offered as [`NoMatch::near`].
//!
//! Invariants: a phrase that denies, ends, asks or tells runs nothing; the order of the candidates
//! does not matter; a phrase equal to a name finds that name first; below [`THRESHOLD`] nothing is
//! found.

use std::sync::Arc;

use serde::Serialize;

use crate::house::{Entity, EntityId, House};

mod carriers;
mod heard;
mod moments;
mod prepared;
mod rank;
mod reason;
#[cfg(test)]
mod tests;
mod wordings;

pub use moments::Moment;
pub use prepared::Prepared;

/// Fits below this confidence are no fits.
pub const THRESHOLD: f64 = 0.7;
/// What weighs less (a Chinese character counts four, a letter one) is never guessed at.
const LOOSE_WEIGHT_MIN: usize = 5;
/// At most so many candidates are listed.
pub const HITS_MAX: usize = 8;

/// A scene or script as the matcher sees it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    pub id: &'a EntityId,
    /// The shown name first, then aliases, registry and original name.
    pub names: &'a [Arc<str>],
}

/// What a phrase means here.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Match {
    One(Hit),
    /// Several fit equally: ask which, run none. In the order of their ids.
    Ambiguous(Vec<Hit>),
    None(NoMatch),
}

/// One macro that fits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    pub entity_id: EntityId,
    /// The name to show, cleaned.
    pub name: String,
    /// The moment of the day that it is for, where the phrase or the name says so.
    pub moment: Option<Moment>,
    /// 0 to 1.
    pub confidence: f64,
    pub basis: Basis,
    /// A scene of the same name that this script was taken before.
    pub instead_of: Option<EntityId>,
}

/// Nothing fits, so nothing runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NoMatch {
    pub why: Why,
    /// What comes near, to ask about; empty when the phrase denies or asks.
    pub near: Vec<Hit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// No letters or digits in it.
    Empty,
    /// It says not to, or to end it.
    Negated,
    /// It asks or tells about something and does not ask for it.
    Question,
    NothingFits,
}

/// What a hit rests on, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The phrase is the entity id.
    Id,
    /// The phrase is the shown name.
    Name,
    /// The phrase is another of its names.
    Alias,
    /// The same but for a word such as "mode" or 场景.
    Core,
    /// The pinyin of a name.
    Pinyin,
    /// The words of a name, second half first.
    WordOrder,
    /// Another wording for the same moment.
    Moment,
    /// The words of the entity id.
    ObjectId,
    /// A name with one slip of the finger.
    Spelling,
    /// A name written with characters that sound the same.
    Sound,
    /// A moment with one slip of the finger.
    MomentSpelling,
    /// A part in common. Never runs.
    Part,
}

impl Basis {
    pub fn confidence(self) -> f64 {
        match self {
            Self::Id | Self::Name => 1.0,
            Self::Alias => 0.97,
            Self::Core => 0.95,
            Self::Pinyin => 0.92,
            Self::WordOrder => 0.9,
            Self::Moment => 0.88,
            Self::ObjectId => 0.8,
            Self::Spelling => 0.78,
            Self::Sound => 0.75,
            Self::MomentSpelling => 0.72,
            Self::Part => 0.5,
        }
    }
}

/// The scenes and scripts of a house that `keep` lets through (scope, hidden and disabled ones are
/// the caller's to decide), in the order of their ids.
pub fn candidates(house: &House, keep: impl Fn(&EntityId, &Entity) -> bool) -> Vec<Candidate<'_>> {
    let macros = house.domain("scene").chain(house.domain("script"));
    macros
        .filter(|(id, entity)| keep(id, entity))
        .map(|(id, entity)| Candidate { id, names: &entity.info.names })
        .collect()
}

/// Which of these the phrase means. Keep a [`Prepared`] to ask the same candidates again.
pub fn match_phrase(phrase: &str, candidates: &[Candidate<'_>]) -> Match {
    Prepared::new(candidates).match_phrase(phrase)
}
