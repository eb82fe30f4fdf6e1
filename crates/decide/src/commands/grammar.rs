//! From a tiling to what it asks for. Start at [`Reader::evaluate`]. Invariants: every clause must
//! make sense or none counts; what was said of one thing is not carried to another unless people
//! always mean it so.

use super::clause::{Clause, Thing};
use super::things::{Found, Reader, Search};
use super::tile::{Means, Piece, Tiling};
use super::vocabulary::{Word, words_at};
use super::words::Words;
use crate::gate::Call;
use crate::house::EntityId;
use crate::understood::effects::{Effect, Quantity, Verb, Wish, calls, effect};
use crate::understood::{Measure, Understood};

/// What became of one tiling.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    Senseless,
    /// It makes sense and cannot be done: no other reading may take its place.
    Nothing,
    Is(Understood),
}

/// One verb with all the things that it is for.
struct Group<'a> {
    clause: Clause<'a>,
    things: Vec<Thing>,
}

impl Reader<'_> {
    pub fn evaluate(&self, words: &Words, tiling: &Tiling<'_>) -> Outcome {
        let pieces: Vec<&Piece<'_>> = tiling.pieces.iter().collect();
        let has =
            |test: fn(&Word) -> bool| pieces.iter().any(|piece| matches!(piece.means, Means::Word(word) if test(word)));
        let polite = has(|word| *word == Word::Polite);
        let asks = has(|word| {
            matches!(word, Word::AskIs | Word::AskWhich | Word::AskCount | Word::AskWhat | Word::AskMeasure(_))
        });
        let ma = has(|word| *word == Word::AskMa);
        let marked = ma || words.asks;
        if asks || (marked && !polite) || (ma && states_only(words, &pieces)) {
            return self.question(words, &pieces);
        }
        self.command(words, &pieces, polite)
    }

    fn command(&self, words: &Words, pieces: &[&Piece<'_>], polite: bool) -> Outcome {
        let Some((main, left_out)) = without_exception(words, pieces) else { return Outcome::Senseless };
        let left_out = match self.left_out(words, &left_out) {
            Ok(ids) => ids,
            Err(outcome) => return outcome,
        };
        let Some(groups) = groups(words, &main, polite) else { return Outcome::Senseless };
        if left_out.is_some() && groups.len() != 1 {
            return Outcome::Nothing;
        }
        let mut all: Vec<Call> = Vec::new();
        let several = groups.len() > 1;
        let located =
            groups.iter().flat_map(|group| &group.things).any(|thing| thing.placed() || thing.entities.is_some());
        for group in groups {
            match self.group(&group, left_out.as_deref(), several && located) {
                Ok(calls) => all.extend(calls),
                Err(Outcome::Is(which)) if !several => return Outcome::Is(which),
                Err(Outcome::Is(_)) => return Outcome::Nothing,
                Err(outcome) => return outcome,
            }
        }
        if all.is_empty() { Outcome::Nothing } else { Outcome::Is(Understood::Calls(all)) }
    }

    /// What is excepted, as entities.
    fn left_out(&self, words: &Words, pieces: &[&Piece<'_>]) -> Result<Option<Vec<EntityId>>, Outcome> {
        if pieces.is_empty() {
            return Ok(None);
        }
        let mut ids = Vec::new();
        for clause in clauses(words, pieces) {
            let clause = Clause::new(&clause, false).ok_or(Outcome::Senseless)?;
            if clause.active() || clause.turn || clause.take {
                return Err(Outcome::Senseless);
            }
            if clause.thing.empty() {
                continue;
            }
            ids.extend(self.all_of(&clause.thing).ok_or(Outcome::Nothing)?);
        }
        Ok(Some(ids))
    }

    /// Everything that a thing can mean.
    fn all_of(&self, thing: &Thing) -> Option<Vec<EntityId>> {
        if let Some(ids) = &thing.entities {
            return Some(ids.clone());
        }
        let kind = thing.kind.map(|(kind, _)| kind);
        if kind.is_none() && !thing.placed() {
            return None;
        }
        let fits = |(id, entity): &(&EntityId, &crate::house::Entity)| {
            self.in_place(thing, entity) && kind.is_none_or(|kind| kind.tiers().iter().any(|test| test(id, entity)))
        };
        let ids: Vec<EntityId> = self.house.entities.iter().filter(fits).map(|(id, _)| id.clone()).collect();
        (!ids.is_empty()).then_some(ids)
    }

    fn group(&self, group: &Group<'_>, left_out: Option<&[EntityId]>, elsewhere: bool) -> Result<Vec<Call>, Outcome> {
        let clause = &group.clause;
        let wishes = self.wishes(clause);
        let able = |id: &EntityId| measure_fits(clause, id) && self.effects(clause, &wishes, id).is_some();
        if let Some(named) = clause.choice {
            // An option means something only beside the thing that has it ("off" is one, too).
            let beside = |thing: &Thing| {
                let has = |id: &EntityId| named.choices.iter().any(|choice| choice.of == *id);
                thing.kind.is_some() || thing.entities.iter().flatten().any(has)
            };
            if !group.things.iter().all(beside) {
                return Err(Outcome::Senseless);
            }
        }
        let verb = clause.verb.unwrap_or(Verb::Set);
        let search = Search { verb, own: clause.verb_kind, unsaid: clause.unsaid_kind(), able: &able };
        let mut ids: Vec<EntityId> = Vec::new();
        let lone = group.things.len() == 1;
        for thing in &group.things {
            let vague = thing.entities.is_none() && !thing.placed() && !thing.other;
            let other_placed = group.things.iter().any(Thing::placed);
            let other_located = elsewhere || other_placed || group.things.iter().any(|other| other.entities.is_some());
            let unclear = vague && if thing.all { other_placed } else { other_located };
            // Only several things have an exception.
            if thing.other && left_out.is_none() || thing.entities.is_some() && left_out.is_some() {
                return Err(Outcome::Senseless);
            }
            match self.find(thing, &search) {
                // 关卧室的灯，关窗帘: whose curtains was not said.
                Found::These(found) if unclear && found.len() > 1 => {
                    return Err(Outcome::Nothing);
                }
                Found::These(found) => ids.extend(found),
                Found::Which(entities) if lone => return Err(Outcome::Is(Understood::Which { entities })),
                Found::Nothing if clause.choice.is_some() => return Err(Outcome::Senseless),
                Found::Which(_) | Found::Nothing => return Err(Outcome::Nothing),
                Found::Senseless => return Err(Outcome::Senseless),
            }
        }
        if let Some(left_out) = left_out {
            let before = ids.len();
            ids.retain(|id| !left_out.contains(id) && !self.holds(id, left_out));
            // An exception that excepts nothing was not understood.
            if ids.len() == before || ids.is_empty() {
                return Err(Outcome::Nothing);
            }
        }
        let mut seen = std::collections::BTreeSet::new();
        ids.retain(|id| seen.insert(id.clone()));
        let wished = ids.into_iter().map(|id| self.effects(clause, &wishes, &id).map(|effects| (id, effects)));
        let wished: Option<Vec<(EntityId, Vec<Effect>)>> = wished.collect();
        wished.map(calls).ok_or(Outcome::Nothing)
    }

    /// A group with one of these in it.
    fn holds(&self, id: &EntityId, ids: &[EntityId]) -> bool {
        self.house.entity(id.as_str()).is_some_and(|entity| entity.members().any(|member| ids.contains(&member)))
    }

    fn wishes(&self, clause: &Clause<'_>) -> Vec<Wish> {
        let verb = clause.verb.unwrap_or(Verb::Set);
        let absolute = clause.absolute() || verb == Verb::Set;
        if clause.values.is_empty() {
            return vec![Wish { verb, value: None, absolute }];
        }
        clause.values.iter().map(|value| Wish { verb, value: Some(value.clone()), absolute }).collect()
    }

    fn effects(&self, clause: &Clause<'_>, wishes: &[Wish], id: &EntityId) -> Option<Vec<Effect>> {
        if let Some(named) = clause.choice {
            let choice = named.choices.iter().find(|choice| choice.of == *id)?;
            let value = Quantity::Option { service: choice.service, key: choice.key, value: choice.value.clone() };
            let verb = clause.verb.unwrap_or(Verb::Set);
            return effect(self.house, id, &Wish { verb, value: Some(value), absolute: true });
        }
        let effects: Option<Vec<Vec<Effect>>> = wishes.iter().map(|wish| effect(self.house, id, wish)).collect();
        effects.map(|effects| effects.into_iter().flatten().collect())
    }
}

/// A measure that was said is one that the thing has.
fn measure_fits(clause: &Clause<'_>, id: &EntityId) -> bool {
    let level = matches!(clause.values.as_slice(), [Quantity::Level(_)]);
    match clause.thing.measure {
        None => !(id.domain() == "climate" && level),
        Some(Measure::Temperature) => matches!(id.domain(), "climate" | "water_heater" | "number" | "input_number"),
        Some(Measure::Humidity) => id.domain() == "humidifier",
        Some(Measure::Brightness) => id.domain() == "light",
        Some(Measure::Volume) => id.domain() == "media_player",
        Some(Measure::Speed) => id.domain() == "fan" || (id.domain() == "climate" && level),
        Some(Measure::Position) => matches!(id.domain(), "cover" | "valve"),
        Some(_) => false,
    }
}

/// 吗 behind words that only tell how something is.
fn states_only(words: &Words, pieces: &[&Piece<'_>]) -> bool {
    pieces.iter().any(|piece| {
        let length = piece.to - piece.from;
        let verb = |(taken, word): (usize, &Word)| taken == length && matches!(word, Word::Verb(_));
        matches!(piece.means, Means::Word(Word::State(_))) && !words_at(words, piece.from).any(verb)
    })
}

type Pieces<'p, 'a> = Vec<&'p Piece<'a>>;

/// What is wished, and what is excepted from it; nothing where an exception has no end.
fn without_exception<'p, 'a>(words: &Words, pieces: &[&'p Piece<'a>]) -> Option<(Pieces<'p, 'a>, Pieces<'p, 'a>)> {
    let word = |piece: &Piece<'_>, wanted: &Word| matches!(piece.means, Means::Word(word) if word == wanted);
    let Some(at) = pieces.iter().position(|piece| word(piece, &Word::Except) || word(piece, &Word::ExceptFirst)) else {
        return Some((pieces.to_vec(), Vec::new()));
    };
    let after = pieces.get(at + 1..)?;
    let parted = |piece: &&Piece<'_>| words.breaks.get(piece.from) == Some(&true);
    let leads = word(pieces.get(at)?, &Word::ExceptFirst) || at == 0;
    let (length, skipped) = if leads {
        match after.iter().position(|piece| word(piece, &Word::ExceptEnd)) {
            Some(end) => (end, 1),
            None => (after.iter().position(parted)?, 0),
        }
    } else {
        (after.len(), 0)
    };
    let left_out = after.get(..length)?.to_vec();
    let rest = after.get(length + skipped..)?;
    let main: Pieces<'p, 'a> = pieces.get(..at)?.iter().chain(rest).copied().collect();
    (!left_out.is_empty()).then_some((main, left_out))
}

/// Pieces between "and", "then" and pauses.
pub(super) fn clauses<'p, 'a>(words: &Words, pieces: &[&'p Piece<'a>]) -> Vec<Pieces<'p, 'a>> {
    let mut all = vec![Vec::new()];
    for piece in pieces {
        if words.breaks.get(piece.from) == Some(&true) {
            all.push(Vec::new());
        }
        match (&piece.means, all.last_mut()) {
            (Means::Word(Word::And), _) => all.push(Vec::new()),
            (_, Some(clause)) => clause.push(*piece),
            (_, None) => {}
        }
    }
    all
}

/// Clauses with one verb each; things without a verb of their own go to the verb they belong to.
fn groups<'a>(words: &Words, pieces: &[&Piece<'a>], polite: bool) -> Option<Vec<Group<'a>>> {
    let parsed: Option<Vec<Clause<'a>>> =
        clauses(words, pieces).iter().map(|pieces| Clause::new(pieces, false)).collect();
    let parsed: Vec<Clause<'a>> = parsed?
        .into_iter()
        .filter(|clause| clause.active() || clause.turn || clause.take || !clause.thing.empty())
        .collect();
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut pending: Vec<Thing> = Vec::new();
    let (mut turn, mut take) = (false, false);
    for (at, clause) in parsed.iter().enumerate() {
        if !clause.active() {
            let next_takes = parsed.get(at + 1..)?.iter().find(|next| next.active());
            let next_takes = next_takes.is_some_and(|next| !next.verb_first());
            match groups.last_mut() {
                Some(group) if group.clause.verb_first() && pending.is_empty() && !clause.turn && !clause.take => {
                    if next_takes {
                        return None;
                    }
                    group.things.push(clause.thing.clone());
                }
                _ => {
                    turn |= clause.turn;
                    take |= clause.take;
                    if !clause.thing.empty() {
                        pending.push(clause.thing.clone());
                    }
                }
            }
            continue;
        }
        let mut clause = clause.clone();
        clause.turn |= std::mem::take(&mut turn);
        clause.take |= std::mem::take(&mut take);
        let mut things = std::mem::take(&mut pending);
        match things.as_slice() {
            [] => {}
            _ if clause.thing.empty() || !clause.verb_first() => {}
            // 客厅，开灯
            [place] if place.only_place() && !clause.thing.placed() => {
                let place = place.clone();
                clause.thing.take_place(&place);
                things.clear();
            }
            _ => return None,
        }
        if !clause.thing.empty() || things.is_empty() {
            things.push(clause.thing.clone());
        }
        if !clause.wishes(polite) || !clause.values_fit() {
            return None;
        }
        groups.push(Group { clause, things });
    }
    if !pending.is_empty() || turn || take || groups.is_empty() {
        return None;
    }
    for group in &mut groups {
        share(&mut group.things, group.clause.unsaid_kind().is_some());
    }
    Some(groups)
}

/// "The kitchen and bedroom lights", 卧室的灯和空调: what one names holds for its neighbours.
fn share(things: &mut [Thing], kind_unsaid: bool) {
    let kinded = things.iter().find(|thing| thing.kind.is_some() || thing.measure.is_some()).cloned();
    if let Some(kinded) = kinded.filter(|_| !kind_unsaid || things.len() > 1) {
        for thing in things.iter_mut().filter(|thing| thing.only_place()) {
            thing.kind = kinded.kind;
            thing.measure = kinded.measure;
            thing.all |= kinded.all;
            thing.each |= kinded.each;
        }
    }
    let mut places = things.iter().filter(|thing| thing.placed() && thing.entities.is_none());
    let Some(place) = places.next().cloned() else { return };
    let same = |other: &Thing| (&other.areas, &other.floors, other.house) == (&place.areas, &place.floors, place.house);
    if places.all(same) {
        for thing in things.iter_mut() {
            if thing.kind.is_some() && thing.entities.is_none() && !thing.placed() && !thing.all {
                thing.take_place(&place);
            }
        }
    }
}
