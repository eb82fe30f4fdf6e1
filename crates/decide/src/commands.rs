//! Plain household commands and questions in Chinese and English, read without any model.
//!
//! Start at [`read`]. A sentence is spelled into words (`words`), covered wholly with known words,
//! values and the house's own names (`tile`), sorted into clauses (`clause`) and looked up in the
//! house (`things`); what it does to each entity is `understood::effects`. Invariants: a sentence
//! with one word left over is not understood; a name beats a place and a kind; where several fit,
//! none is picked; nothing here is judged, that is the gate's part.

use crate::gate::Call;
use crate::house::{EntityId, House};
use crate::understood::Understood;
use crate::understood::effects::call;

mod asking;
mod clause;
mod grammar;
mod kinds;
mod lists;
mod names;
mod numbers;
mod things;
mod tile;
mod vocabulary;
mod words;

#[cfg(test)]
pub(crate) mod tests;

use grammar::Outcome;
use names::Names;
use things::Reader;
use tile::{Means, Tiling, tilings};
use vocabulary::Word;
use words::{Words, spell};

/// Longer sentences are not plain commands.
const WORDS_MAX: usize = 64;

/// What a sentence asks of this house, if all of it is understood.
pub fn read(text: &str, house: &House, in_scope: impl Fn(&EntityId) -> bool) -> Option<Understood> {
    let words = spell(text);
    if words.len() == 0 || words.len() > WORDS_MAX {
        return None;
    }
    let names = Names::new(house, &in_scope);
    let reader = Reader { house, in_scope: &in_scope };
    if let Some(pressed) = button(text, &names) {
        return Some(pressed);
    }
    let all = tilings(&words, &names);
    let mut from = 0;
    while let Some(first) = all.get(from) {
        let level: Vec<&Tiling<'_>> = all.iter().skip(from).take_while(|tiling| tiling.score == first.score).collect();
        from += level.len();
        let outcomes: Vec<(Outcome, &Tiling<'_>)> =
            level.into_iter().map(|tiling| (outcome(&reader, &words, tiling), tiling)).collect();
        let mut found: Vec<(&Understood, &Tiling<'_>)> = Vec::new();
        for (outcome, tiling) in &outcomes {
            if let Outcome::Is(understood) = outcome
                && !found.iter().any(|(known, _)| *known == understood)
            {
                found.push((understood, tiling));
            }
        }
        match found.as_slice() {
            [] if outcomes.iter().all(|(outcome, _)| *outcome == Outcome::Senseless) => {}
            [(understood, tiling)] => return Some(or_the_kind(&reader, &words, &all, understood, tiling)),
            // Two readings of equal weight, or one that cannot be done here.
            _ => return None,
        }
    }
    lists::read(text, house, &names, &in_scope)
}

/// What one tiling comes to. A name that cannot do it and is a known word or a place, too (a player
/// called Bedroom), was meant as that.
fn outcome(reader: &Reader<'_>, words: &Words, tiling: &Tiling<'_>) -> Outcome {
    let outcome = reader.evaluate(words, tiling);
    let also_else = |piece: &tile::Piece<'_>| {
        let word = || vocabulary::words_at(words, piece.from).any(|(length, _)| piece.from + length == piece.to);
        match piece.means {
            Means::Entity(named) => !named.areas.is_empty() || !named.floors.is_empty() || word(),
            _ => false,
        }
    };
    match outcome {
        Outcome::Nothing if tiling.pieces.iter().any(also_else) => Outcome::Senseless,
        outcome => outcome,
    }
}

/// A button whose name is the whole sentence: 喂猫 wishes for it.
fn button(text: &str, names: &Names) -> Option<Understood> {
    let named = names.exactly(text).filter(|named| named.areas.is_empty() && named.floors.is_empty())?;
    match named.entities.as_slice() {
        [id] if matches!(id.domain(), "button" | "input_button") && !text.contains(['?', '？']) => {
            Some(Understood::Calls(vec![call(id.domain(), "press", Default::default(), std::slice::from_ref(id))]))
        }
        _ => None,
    }
}

/// "The bedroom AC" may be the thing called AC or the kind of thing: where both are there and
/// differ, the person has to say.
fn or_the_kind(
    reader: &Reader<'_>,
    words: &Words,
    all: &[Tiling<'_>],
    best: &Understood,
    tiling: &Tiling<'_>,
) -> Understood {
    let Understood::Calls(_) = best else { return best.clone() };
    let placed = tiling.pieces.iter().any(|piece| matches!(piece.means, Means::Area(_) | Means::Floor(_)));
    let named = tiling.pieces.iter().position(|piece| matches!(piece.means, Means::Entity(_)));
    let (true, Some(named)) = (placed, named) else { return best.clone() };
    let same = |other: &&Tiling<'_>| {
        other.pieces.len() == tiling.pieces.len()
            && other.pieces.iter().zip(&tiling.pieces).enumerate().all(|(at, (a, b))| {
                let kind = matches!(a.means, Means::Word(Word::Kind(..)));
                (a.from, a.to) == (b.from, b.to)
                    && (at == named) == (kind && matches!(b.means, Means::Entity(_)))
                    && (at == named || std::mem::discriminant(&a.means) == std::mem::discriminant(&b.means))
            })
    };
    for other in all.iter().filter(same) {
        if let Outcome::Is(Understood::Calls(calls)) = reader.evaluate(words, other)
            && Understood::Calls(calls.clone()) != *best
        {
            let mut entities = best.entities();
            entities.extend(calls.iter().flat_map(|call: &Call| crate::understood::targets(call)));
            entities.sort();
            entities.dedup();
            return Understood::Which { entities };
        }
    }
    best.clone()
}
