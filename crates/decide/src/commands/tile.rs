//! Every way to cover a sentence wholly with known words and names. Start at [`tilings`].
//! Invariant: in each tiling every word of the sentence belongs to exactly one piece; a sentence
//! with one unknown word has none.

use super::names::{Named, Names};
use super::numbers::value_at;
use super::vocabulary::{Word, words_at};
use super::words::Words;
use crate::understood::effects::Quantity;

/// At most so many tilings of one sentence are looked at.
const TILINGS_MAX: usize = 3000;

/// One piece of a sentence.
#[derive(Clone, Debug)]
pub(super) struct Piece<'a> {
    pub from: usize,
    pub to: usize,
    pub means: Means<'a>,
}

#[derive(Clone, Debug)]
pub(super) enum Means<'a> {
    Word(&'a Word),
    Value(Quantity),
    /// The entities of this name.
    Entity(&'a Named),
    Area(&'a Named),
    Floor(&'a Named),
    Choice(&'a Named),
}

pub(super) struct Tiling<'a> {
    pub pieces: Vec<Piece<'a>>,
    /// Higher is better: long names and phrases before short ones, names before kinds.
    pub score: usize,
}

/// All tilings, best first.
pub(super) fn tilings<'a>(words: &'a Words, names: &'a Names) -> Vec<Tiling<'a>> {
    let mut starting: Vec<Vec<Piece<'a>>> = (0..words.len()).map(|at| pieces_at(words, names, at)).collect();
    // What cannot be continued to the end is dropped first, so that the walk meets no dead ends.
    let mut reaches = vec![false; words.len() + 1];
    if let Some(end) = reaches.last_mut() {
        *end = true;
    }
    for at in (0..words.len()).rev() {
        let Some(pieces) = starting.get_mut(at) else { continue };
        pieces.retain(|piece| reaches.get(piece.to) == Some(&true));
        pieces.sort_by_key(|piece| std::cmp::Reverse(worth(piece)));
        let any = !pieces.is_empty();
        if let Some(reach) = reaches.get_mut(at) {
            *reach = any;
        }
    }
    let mut all = Vec::new();
    walk(&starting, 0, &mut Vec::new(), &mut all);
    all.sort_by_key(|tiling| std::cmp::Reverse(tiling.score));
    all
}

fn walk<'a>(starting: &[Vec<Piece<'a>>], at: usize, path: &mut Vec<Piece<'a>>, all: &mut Vec<Tiling<'a>>) {
    if all.len() >= TILINGS_MAX {
        return;
    }
    let Some(pieces) = starting.get(at) else {
        all.push(Tiling { score: path.iter().map(worth).sum(), pieces: path.clone() });
        return;
    };
    for piece in pieces {
        path.push(piece.clone());
        walk(starting, piece.to, path, all);
        path.pop();
    }
}

fn pieces_at<'a>(words: &'a Words, names: &'a Names, at: usize) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let mut push = |length: usize, means: Means<'a>| pieces.push(Piece { from: at, to: at + length, means });
    for (length, named) in names.at(words, at) {
        if !named.entities.is_empty() {
            push(length, Means::Entity(named));
        }
        if !named.areas.is_empty() {
            push(length, Means::Area(named));
        }
        if !named.floors.is_empty() {
            push(length, Means::Floor(named));
        }
        if !named.choices.is_empty() {
            push(length, Means::Choice(named));
        }
    }
    if let Some((length, value)) = value_at(words, at) {
        push(length, Means::Value(value));
    }
    for (length, word) in words_at(words, at) {
        push(length, Means::Word(word));
    }
    pieces
}

/// Squares make one long piece worth more than the same words in several.
fn worth(piece: &Piece<'_>) -> usize {
    let length = piece.to - piece.from;
    let rank = match piece.means {
        Means::Entity(_) => 3,
        Means::Area(_) | Means::Floor(_) => 2,
        Means::Choice(_) | Means::Value(_) => 1,
        Means::Word(_) => 0,
    };
    length * length * 10 + rank
}
