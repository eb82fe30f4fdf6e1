//! Candidates folded once, with the look-ups that make matching cheap.
//!
//! Start at [`Prepared::new`]. Invariant: candidates stand in the order of their ids, once each, so
//! the order they came in cannot matter.

use std::collections::{BTreeMap, HashMap};

use super::moments::{self, Moment};
use super::{Candidate, LOOSE_WEIGHT_MIN, carriers};
use crate::house::EntityId;
use crate::text::{Folded, NAME_CHARS_MAX, clean, fold, pinyin};

/// The scenes and scripts of one house, ready to be asked. Rebuild it when names change.
#[derive(Clone, Debug, Default)]
pub struct Prepared {
    pub(super) macros: Vec<Macro>,
    pub(super) names: Vec<Name>,
    /// Names by their joined words, by those without "mode" and "scene", and by moment.
    pub(super) by_full: HashMap<String, Vec<usize>>,
    pub(super) by_core: HashMap<String, Vec<usize>>,
    pub(super) by_moment: HashMap<Moment, Vec<usize>>,
    /// Names by how many words they have, with and without "mode".
    pub(super) by_length: HashMap<usize, Vec<usize>>,
    /// Macros by the words of their ids.
    pub(super) by_object: HashMap<String, Vec<usize>>,
}

#[derive(Clone, Debug)]
pub(super) struct Macro {
    pub id: EntityId,
    pub shown: String,
}

#[derive(Clone, Debug)]
pub(super) struct Name {
    /// Which macro it names.
    pub of: usize,
    /// It is the one shown.
    pub first: bool,
    pub full: Folded,
    pub core: Folded,
    pub moment: Option<Moment>,
    /// People say it so, too ("Movie night"; not "Home theater").
    pub said: bool,
    /// Moments whose wordings are a part of it.
    pub inside: Vec<Moment>,
    pub has_han: bool,
    /// First letters of its pinyin and of its core's.
    pub initials: u32,
}

/// "打扫 Clean the house" is two names for one thing: a Chinese part and a part in Latin letters, one
/// after the other, each long enough to stand alone.
fn halves(name: &Folded) -> Option<[Folded; 2]> {
    let han: Vec<bool> = name.words().map(|word| !word.is_ascii()).collect();
    let at = han.windows(2).position(|pair| pair[0] != pair[1])? + 1;
    let one_change = han[at..].iter().all(|is_han| *is_han == han[at]);
    let parts = [name.part(0, at), name.part(at, han.len())];
    let stands_alone = |part: &Folded| part.weight() >= if part.has_han() { 8 } else { 5 };
    (one_change && parts.iter().all(stands_alone)).then_some(parts)
}

impl Prepared {
    pub fn new(candidates: &[Candidate<'_>]) -> Self {
        let mut by_id: BTreeMap<&EntityId, &Candidate<'_>> = BTreeMap::new();
        for candidate in candidates {
            by_id.insert(candidate.id, candidate);
        }
        let mut prepared = Self::default();
        for (of, (id, candidate)) in by_id.into_iter().enumerate() {
            let object = fold(&id.object().replace('_', " "));
            let shown = candidate.names.iter().map(|name| clean(name, NAME_CHARS_MAX)).find(|name| !name.is_empty());
            let shown = shown.unwrap_or_else(|| id.object().replace('_', " "));
            if candidate.names.is_empty() {
                prepared.add_name(Name::new(of, true, object.clone()));
            }
            // An id may be older than the name: a short one ("home", "time") says too little.
            if object.weight() >= LOOSE_WEIGHT_MIN {
                prepared.by_object.entry(object.joined().to_owned()).or_default().push(of);
            }
            for (number, name) in candidate.names.iter().enumerate() {
                let name = fold(name);
                let halves = halves(&name);
                prepared.add_name(Name::new(of, number == 0, name));
                for half in halves.into_iter().flatten() {
                    prepared.add_name(Name::new(of, false, half));
                }
            }
            prepared.macros.push(Macro { id: id.clone(), shown });
        }
        prepared
    }

    fn add_name(&mut self, name: Name) {
        if name.full.is_empty()
            || self.names.iter().rev().take_while(|it| it.of == name.of).any(|it| it.full == name.full)
        {
            return;
        }
        let number = self.names.len();
        self.by_full.entry(name.full.joined().to_owned()).or_default().push(number);
        if name.core != name.full && name.core.weight() >= 2 {
            self.by_core.entry(name.core.joined().to_owned()).or_default().push(number);
        }
        self.by_length.entry(name.full.len()).or_default().push(number);
        if name.core.len() != name.full.len() {
            self.by_length.entry(name.core.len()).or_default().push(number);
        }
        if let Some(moment) = name.moment {
            self.by_moment.entry(moment).or_default().push(number);
        }
        self.names.push(name);
    }
}

impl Name {
    fn new(of: usize, first: bool, full: Folded) -> Self {
        let (from, to) = carriers::core(&full);
        let core = full.part(from, to);
        let readings = carriers::readings(&full);
        let wordings = || [core.joined()].into_iter().chain(readings.iter().map(|it| full.slice(it.from, it.to)));
        let said = wordings().find_map(moments::said);
        let moment = said.or_else(|| wordings().find_map(moments::named));
        let initials = pinyin::initials(&full) | pinyin::initials(&core);
        Self {
            of,
            first,
            has_han: full.has_han(),
            core,
            inside: moments::inside(&full),
            moment,
            said: said.is_some(),
            initials,
            full,
        }
    }
}
