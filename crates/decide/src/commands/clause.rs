//! The pieces of one clause sorted by what they do: verb, thing, place, value. Start at
//! [`Clause::new`]. Invariant: a piece that finds no role makes the whole clause none.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::kinds::Kind;
use super::names::Named;
use super::tile::{Means, Piece};
use super::vocabulary::{Count, Word};
use crate::house::EntityId;
use crate::understood::effects::{Level, Mode, Quantity, Verb};
use crate::understood::{Condition, Measure};

/// A thing or things, as said: by name, by kind, by place.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Thing {
    pub entities: Option<Vec<EntityId>>,
    pub areas: Option<BTreeSet<Arc<str>>>,
    pub floors: Option<BTreeSet<Arc<str>>>,
    pub house: bool,
    pub outside: bool,
    pub kind: Option<(Kind, Count)>,
    pub all: bool,
    /// 都 was said: all that was named, which may be one place's.
    pub each: bool,
    pub other: bool,
    pub measure: Option<Measure>,
}

impl Thing {
    pub fn placed(&self) -> bool {
        self.areas.is_some() || self.floors.is_some() || self.house || self.outside
    }

    /// Nothing but a place.
    pub fn only_place(&self) -> bool {
        self.placed() && self.entities.is_none() && self.kind.is_none() && self.measure.is_none() && !self.other
    }

    pub fn empty(&self) -> bool {
        *self == Self::default()
    }

    pub fn take_place(&mut self, other: &Self) {
        self.areas.clone_from(&other.areas);
        self.floors.clone_from(&other.floors);
        self.house = other.house;
        self.outside = other.outside;
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Clause<'a> {
    pub thing: Thing,
    pub verb: Option<Verb>,
    /// The kind that the verb itself names.
    pub verb_kind: Option<Kind>,
    pub turn: bool,
    pub sets: bool,
    pub to: bool,
    pub at: bool,
    pub by: bool,
    pub values: Vec<Quantity>,
    pub choice: Option<&'a Named>,
    pub take: bool,
    pub colour: bool,
    pub condition: Option<Condition>,
    /// Which piece spoke of the thing first, and which of what to do last.
    pub thing_at: Option<usize>,
    pub verb_at: Option<usize>,
    done_at: Option<usize>,
    /// A particle that has no "turn": where.
    loose_at: Option<usize>,
    last_at: usize,
    /// Where "in" was said last, if nothing but a place came behind it.
    in_at: Option<usize>,
}

impl<'a> Clause<'a> {
    pub fn new(pieces: &[&Piece<'a>], question: bool) -> Option<Self> {
        let mut clause = Self::default();
        for (at, piece) in pieces.iter().enumerate() {
            let on_place = matches!(piece.means, Means::Word(Word::OnPlace));
            if on_place && !place_next(pieces.get(at + 1..)?) {
                return None;
            }
            clause.add(at, piece, question)?;
        }
        Some(clause)
    }

    /// Something is done in it.
    pub fn active(&self) -> bool {
        self.verb.is_some() || self.sets || !self.values.is_empty() || self.choice.is_some()
    }

    pub fn verb_first(&self) -> bool {
        match (self.verb_at, self.thing_at) {
            (Some(verb), Some(thing)) => verb < thing,
            (Some(_), None) => true,
            _ => false,
        }
    }

    /// The words stand as they do in a wish and not in a report (灯关了) or a heap.
    pub fn wishes(&self, polite: bool) -> bool {
        let loose =
            self.loose_at.is_none_or(|at| self.turn || at == self.last_at || self.in_at.is_some_and(|it| it > at));
        let verb_then_thing = |done: usize| self.thing_at.is_some_and(|thing| done < thing);
        let done = self.done_at.is_none_or(|done| self.take || polite || verb_then_thing(done));
        loose && done
    }

    fn add(&mut self, at: usize, piece: &Piece<'a>, question: bool) -> Option<()> {
        let silent = match &piece.means {
            Means::Word(word) => self.add_word(at, word, question)?,
            Means::Value(value) => {
                self.value(at, value.clone());
                false
            }
            Means::Entity(named) => {
                self.thing_at(at);
                put(&mut self.thing.entities, named.entities.clone())?;
                false
            }
            Means::Area(named) => {
                self.thing_at(at);
                put(&mut self.thing.areas, named.areas.clone())?;
                false
            }
            Means::Floor(named) => {
                self.thing_at(at);
                put(&mut self.thing.floors, named.floors.clone())?;
                false
            }
            Means::Choice(named) => {
                put(&mut self.choice, *named)?;
                self.verb_at(at);
                false
            }
        };
        if !silent {
            self.last_at = at;
            if !matches!(piece.means, Means::Area(_) | Means::Floor(_) | Means::Word(Word::House)) {
                self.in_at = None;
            }
        }
        Some(())
    }

    /// Gives whether the word is one that may stand behind a particle.
    fn add_word(&mut self, at: usize, word: &Word, question: bool) -> Option<bool> {
        match word {
            Word::Filler | Word::OnPlace | Word::Polite => return Some(true),
            Word::In => {
                self.in_at = Some(at);
                return Some(true);
            }
            Word::Verb(verb) => self.do_it(at, *verb)?,
            Word::Particle(verb) => {
                self.loose_at = Some(at);
                if matches!(
                    (self.verb, verb),
                    (Some(Verb::ArmAway), Verb::ArmHome | Verb::ArmNight | Verb::ArmVacation | Verb::ArmAway)
                ) {
                    self.verb = None;
                    self.loose_at = None;
                }
                self.do_it(at, *verb)?;
            }
            Word::VerbOf(verb, kind) => {
                self.do_it(at, *verb)?;
                self.verb_kind = Some(*kind);
            }
            Word::VerbTo(verb) => {
                self.do_it(at, *verb)?;
                self.to = true;
            }
            Word::Turn => self.turn = true,
            Word::SetTo => {
                self.sets = true;
                self.to = true;
                self.verb_at(at);
            }
            Word::To => self.to = true,
            Word::At => self.at = true,
            Word::By => self.by = true,
            Word::Take => self.take = true,
            Word::Done => self.done_at = Some(at),
            Word::Kind(kind, count) => {
                self.thing_at(at);
                put(&mut self.thing.kind, (*kind, *count))?;
            }
            Word::All => self.thing.all = true,
            Word::Each => self.thing.each = true,
            Word::Other => {
                self.thing.other = true;
                self.thing_at(at);
            }
            Word::House => {
                self.thing_at(at);
                self.thing.house = true;
            }
            Word::Outside => {
                self.thing_at(at);
                self.thing.outside = true;
            }
            Word::Measure(measure) => {
                self.thing_at(at);
                put(&mut self.thing.measure, *measure)?;
            }
            Word::OfColour => self.colour = true,
            Word::Colour(name) => self.value(at, Quantity::Colour(name)),
            Word::Kelvin(kelvin) => self.value(at, Quantity::Kelvin(*kelvin)),
            Word::Level(level) => self.value(at, Quantity::Level(*level)),
            Word::Mode(mode) => self.value(at, Quantity::Mode(*mode)),
            Word::Percent(percent) => self.value(at, Quantity::Percent(*percent)),
            Word::State(condition) if question => {
                put(&mut self.condition, condition.clone())?;
            }
            Word::AskMeasure(measure) if question => put(&mut self.thing.measure, *measure)?,
            Word::AskIs | Word::AskMa | Word::AskWhich | Word::AskCount | Word::AskWhat | Word::Any if question => {}
            // A request in the form of a question: the caller saw to it.
            Word::AskMa => return Some(true),
            _ => return None,
        }
        Some(false)
    }

    fn do_it(&mut self, at: usize, verb: Verb) -> Option<()> {
        self.verb_at(at);
        put(&mut self.verb, verb)
    }

    fn value(&mut self, at: usize, value: Quantity) {
        self.values.push(value);
        if self.verb_at.is_none() {
            self.verb_at(at);
        }
    }

    fn thing_at(&mut self, at: usize) {
        self.thing_at.get_or_insert(at);
    }

    fn verb_at(&mut self, at: usize) {
        self.verb_at = Some(at);
    }

    /// The values fit together and were said in a way that makes them values.
    pub fn values_fit(&self) -> bool {
        let said_to = self.to || self.sets;
        let each = self.values.iter().all(|value| match value {
            // "At 7" may be a time.
            Quantity::Number(_) => said_to || self.by || (self.thing.measure.is_some() && !self.at),
            // "Night light pink"; but a pink night light is another thing.
            Quantity::Colour(_) if self.thing.entities.is_some() && self.thing_at < self.verb_at => true,
            Quantity::Colour(_) | Quantity::Level(_) => {
                said_to || self.turn || self.verb.is_some() || self.thing.measure.is_some() || self.colour
            }
            Quantity::Mode(_) => said_to || matches!(self.verb, None | Some(Verb::OnOrOpen)),
            _ => true,
        });
        let kinds = match self.values.as_slice() {
            [] | [_] => true,
            [Quantity::Mode(_), other] | [other, Quantity::Mode(_)] => degrees(other),
            [Quantity::Colour(_) | Quantity::Kelvin(_), Quantity::Percent(_) | Quantity::Level(_)]
            | [Quantity::Percent(_) | Quantity::Level(_), Quantity::Colour(_) | Quantity::Kelvin(_)] => true,
            _ => false,
        };
        each && kinds && (self.choice.is_none() || self.values.is_empty())
    }

    /// The kind that is meant where none was said.
    pub fn unsaid_kind(&self) -> Option<Kind> {
        let by_verb = match self.verb {
            Some(Verb::Brighter | Verb::Dimmer) => Some(Kind::Light),
            Some(Verb::Warmer | Verb::Cooler) => Some(Kind::Climate),
            Some(Verb::Louder | Verb::Quieter | Verb::Mute | Verb::Unmute | Verb::Next | Verb::Previous) => {
                Some(Kind::Player)
            }
            Some(Verb::Pause | Verb::Play) => Some(Kind::Player),
            Some(Verb::Faster | Verb::Slower) => Some(Kind::Fan),
            _ => None,
        };
        let by_value = || match self.values.as_slice() {
            [value] if degrees(value) && !matches!(value, Quantity::Number(_)) && (self.turn || self.to) => {
                Some(Kind::Climate)
            }
            [Quantity::Mode(Mode::Cool | Mode::Heat | Mode::Dry), ..] if self.thing.placed() => Some(Kind::Climate),
            [Quantity::Colour(_) | Quantity::Kelvin(_)] if self.thing.placed() && self.colour => Some(Kind::Light),
            _ => None,
        };
        self.verb_kind.or_else(|| self.thing.measure.and_then(Kind::of_measure)).or(by_verb).or_else(by_value)
    }

    /// Where to, and not by how much.
    pub fn absolute(&self) -> bool {
        let named = |value: &Quantity| {
            matches!(value, Quantity::Level(Level::Highest | Level::Lowest | Level::Low | Level::Medium | Level::High))
                || matches!(value, Quantity::Mode(_) | Quantity::Colour(_) | Quantity::Kelvin(_))
        };
        !self.by && (self.to || self.sets || self.at || self.values.iter().all(named))
    }
}

fn place_next(pieces: &[&Piece<'_>]) -> bool {
    let next = pieces.iter().find(|piece| !matches!(piece.means, Means::Word(Word::Filler)));
    next.is_some_and(|piece| matches!(piece.means, Means::Area(_) | Means::Floor(_)))
}

fn degrees(value: &Quantity) -> bool {
    matches!(value, Quantity::Degrees(_) | Quantity::Celsius(_) | Quantity::Fahrenheit(_) | Quantity::Number(_))
}

/// Once only.
fn put<T>(place: &mut Option<T>, value: T) -> Option<()> {
    match place {
        Some(_) => None,
        None => {
            *place = Some(value);
            Some(())
        }
    }
}
