//! From a question to texts, best first. Start at [`Corpus::find`].
//!
//! The rarest things asked for bring the candidates, so a question with a common word in it costs no more
//! than one without. Invariant: at most [`POSTINGS_MAX`] entries are weighed and [`CANDIDATES_MAX`] texts
//! are compared.

use std::collections::{HashMap, HashSet};

use decide::rank::{Fit, Need, Places, SPELLED, Told, concepts, fit, fuse, needs, says_nothing, weigh};
use decide::text::{comparable, is_unspaced};
use rusqlite::{Connection, params};

use super::cut::characters;
use super::index::{inside, spelled};
use super::{Corpus, Dictionary, Meant, Text};
use crate::error::StoreError;

/// So many entries of the index one search reads whole.
const POSTINGS_MAX: u64 = 6_000;
/// What is rare is met by no more, nor what is common beside it: more than that was counted.
const BESIDE_MAX: u32 = 12_000;
/// Where nobody counted, so many of the newest.
const NEWEST_BESIDE_MAX: u32 = 6_000;
/// So many texts are compared with the question.
const CANDIDATES_MAX: usize = 80;
/// Passages are long: so many of them are compared.
const PASSAGES_MAX: usize = 40;
/// Chosen from so many, where only some will do.
const PICKED_FROM_MAX: usize = 1_600;
/// What scores less than this share of the best is no answer beside it.
const BEHIND_MAX: f64 = 0.5;
/// Words this rare are also looked for one character after the other.
const RECUT_MAX: u64 = 100;
/// Where everything asked for is common, so many of the newest texts are looked at.
const NEWEST_MAX: u32 = 400;

/// In which order the index gives texts. Backwards costs it twice as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Any,
    NewestBeside,
    Newest,
}

/// One of the things asked for, ready to be looked up.
struct Sought {
    weight: f64,
    /// So many entries of the index it has, at most.
    postings: u64,
    expression: String,
    order: Order,
}

/// A question, read.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    pub text: Text,
    pub needs: Vec<Need>,
    /// Texts that are near in meaning, the nearest first, where there is a source of meaning.
    pub near: Vec<(i64, f32)>,
}

/// A text that may answer, as its owner knows it.
#[derive(Clone, Debug, Default)]
pub struct Source {
    pub id: i64,
    /// What it is about: subject and relation, or title and heading.
    pub head: String,
    /// The object of a fact.
    pub tail: String,
    pub body: String,
    pub at_ms: i64,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    pub id: i64,
    /// 0 to 1.
    pub score: f64,
    pub fit: Fit,
}

/// When something may stand as an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// Short facts, many of them alike.
    Fact,
    /// Facts of a span of time that the question names: most others are left out already.
    Span,
    /// Passages of longer texts.
    Passage,
}

impl Strictness {
    /// So many texts are brought.
    fn candidates(self) -> usize {
        match self {
            Self::Fact => CANDIDATES_MAX,
            Self::Span => PICKED_FROM_MAX,
            Self::Passage => PASSAGES_MAX,
        }
    }
}

impl Corpus {
    /// Reads a question against what this corpus has: how rare each thing is, and how else it is written.
    pub fn ask(
        self,
        connection: &Connection,
        dictionary: &Dictionary,
        question: &str,
        meant: Option<&Meant>,
    ) -> Result<Asked, StoreError> {
        let text = Text::new(dictionary, question);
        let mut needs = needs(&text.words);
        join_spellings(connection, &mut needs)?;
        let capitals = capitals(question);
        for need in &mut needs {
            if need.word.len() >= 3 && need.word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
                need.others.extend(spelled(connection, &need.word)?.into_iter().map(|word| (word, SPELLED)));
            }
            need.name = !need.asks
                && !need.exact
                && !need.attribute
                && (capitals.contains(&need.word) || is_name(connection, need)?);
            need.count = self.count(connection, &need.word)?;
            self.keep_known(connection, need)?;
        }
        weigh(&mut needs, self.texts(connection)?);
        let near = meant.map(|meant| self.meant(connection, meant)).transpose()?.unwrap_or_default();
        Ok(Asked { text, needs, near })
    }

    /// Of the other words that would do, those that are told at all; they count too.
    fn keep_known(self, connection: &Connection, need: &mut Need) -> Result<(), StoreError> {
        let mut known = Vec::new();
        for (other, how) in std::mem::take(&mut need.others) {
            let least = self.least(connection, &other)?;
            if least > 0 {
                need.count += least;
                known.push((other, how));
            }
        }
        need.others = known;
        Ok(())
    }

    /// In how many texts a phrase stands at most.
    fn least(self, connection: &Connection, phrase: &str) -> Result<u64, StoreError> {
        let counts = phrase.split(' ').map(|word| self.count(connection, word));
        Ok(counts.collect::<Result<Vec<_>, _>>()?.into_iter().min().unwrap_or_default())
    }

    /// Ids of texts that may answer, those first that have most of what is asked for.
    ///
    /// What is rare is read whole. What is common is only looked for beside that, or, where all is common,
    /// among the newest texts.
    pub fn candidates(self, connection: &Connection, asked: &Asked, most: usize) -> Result<Vec<i64>, StoreError> {
        let mut needs: Vec<&Need> = asked.needs.iter().collect();
        // Question words bring nobody, unless there is nothing else.
        if needs.iter().any(|need| !need.asks) {
            needs.retain(|need| !need.asks);
        }
        let mut sought = needs.into_iter().map(|need| self.seek(connection, need)).collect::<Result<Vec<_>, _>>()?;
        sought.sort_by_key(|one| one.postings);
        let mut room = POSTINGS_MAX;
        let mut weights: HashMap<i64, f64> = HashMap::new();
        let (mut rare, mut common) = (Vec::new(), Vec::new());
        for one in sought {
            if one.postings > room {
                common.push(one);
                continue;
            }
            room -= one.postings;
            self.matching(connection, &one.expression, one.order, one.weight, &mut weights)?;
            rare.push(one);
        }
        let all = |these: &[Sought]| these.iter().map(|one| format!("({})", one.expression)).collect::<Vec<_>>();
        if weights.is_empty() {
            if common.len() > 1 {
                self.matching(connection, &all(&common).join(" AND "), Order::Newest, 1.0, &mut weights)?;
            }
            for one in common {
                self.matching(connection, &one.expression, Order::Newest, one.weight, &mut weights)?;
            }
        } else if weights.len() > most.min(CANDIDATES_MAX) {
            // With fewer, all of them are compared, whatever else they have.
            let beside = all(&rare).join(" OR ");
            for one in common {
                let both = format!("({beside}) AND ({})", one.expression);
                self.matching(connection, &both, Order::Any, one.weight, &mut weights)?;
            }
        }
        let mut found: Vec<(i64, f64)> = weights.into_iter().collect();
        found.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        found.truncate(most);
        Ok(found.into_iter().map(|(id, _)| id).collect())
    }

    /// What finds a need, as FTS5 writes it, and how much of the index that reads.
    fn seek(self, connection: &Connection, need: &Need) -> Result<Sought, StoreError> {
        let uncut = need.count == 0;
        let mut sought =
            Sought { weight: need.weight, postings: need.count, expression: String::new(), order: Order::Any };
        if need.word.contains(' ') {
            // A phrase is in no more texts than the rarest of its words; only those are counted.
            sought.postings += self.least(connection, &need.word)?;
        }
        let words = std::iter::once(need.word.as_str()).chain(need.others.iter().map(|(other, _)| other.as_str()));
        let mut each = Vec::new();
        for word in words {
            if word.starts_with(is_unspaced) && word.chars().nth(1).is_none() {
                sought.postings += self.count(connection, &inside(word))?;
            }
            each.push(one(word, uncut));
        }
        let unspaced = need.word.starts_with(is_unspaced) && need.word.chars().nth(1).is_some();
        if need.count <= RECUT_MAX && unspaced {
            // A name that came into the dictionary later was cut otherwise before.
            each.push(format!("characters : \"{}\"", characters(&need.word).join(" ")));
            // In how many texts, nobody counted.
            sought.order = Order::NewestBeside;
        }
        sought.expression = each.join(" OR ");
        Ok(sought)
    }

    /// Gives the texts that fit an expression its weight.
    fn matching(
        self,
        connection: &Connection,
        expression: &str,
        order: Order,
        weight: f64,
        weights: &mut HashMap<i64, f64>,
    ) -> Result<(), StoreError> {
        let (order, most) = match order {
            Order::Any => ("", BESIDE_MAX),
            Order::NewestBeside => ("ORDER BY rowid DESC", NEWEST_BESIDE_MAX),
            Order::Newest => ("ORDER BY rowid DESC", NEWEST_MAX),
        };
        let sql = format!("SELECT rowid FROM {0} WHERE {0} MATCH ?1 {order} LIMIT ?2", self.table());
        let mut select = connection.prepare_cached(&sql)?;
        let mut rows = select.query(params![expression, most])?;
        while let Some(row) = rows.next()? {
            *weights.entry(row.get(0)?).or_default() += weight;
        }
        Ok(())
    }

    /// Texts that answer, best first. `sources` gives the texts of the ids that still are there; where the
    /// question names a span of time, it leaves many out, and more ids are brought.
    pub fn find(
        self,
        connection: &Connection,
        dictionary: &Dictionary,
        asked: &Asked,
        strictness: Strictness,
        sources: impl FnOnce(&[i64]) -> Result<Vec<Source>, StoreError>,
    ) -> Result<Vec<Found>, StoreError> {
        if strictness == Strictness::Fact && asked.needs.iter().any(|need| need.name && need.count == 0) {
            // Nobody was ever told of somebody of this name.
            return Ok(Vec::new());
        }
        let mut ids = self.candidates(connection, asked, strictness.candidates())?;
        let by_words = ids.len();
        ids.extend(asked.near.iter().map(|(id, _)| *id).filter(|id| !ids[..by_words].contains(id)).collect::<Vec<_>>());
        let all = sources(&ids)?;
        let (near, mut sources): (Vec<Source>, Vec<Source>) =
            all.into_iter().partition(|source| asked.near.iter().any(|(id, _)| *id == source.id));
        sources.truncate(CANDIDATES_MAX);
        sources.extend(near);
        Ok(order(dictionary, asked, &sources, strictness))
    }
}

/// `Chen Wei` is one name: two words that only together spell a known one become one.
fn join_spellings(connection: &Connection, needs: &mut Vec<Need>) -> Result<(), StoreError> {
    let mut at = 0;
    while at + 1 < needs.len() {
        let (first, second) = (&needs[at].word, &needs[at + 1].word);
        let letters = |word: &String| word.bytes().all(|byte| byte.is_ascii_alphabetic());
        if letters(first) && letters(second) {
            let words = spelled(connection, &format!("{first}{second}"))?;
            if !words.is_empty() {
                let joined = format!("{first} {second}");
                let others = words.into_iter().map(|word| (word, SPELLED)).collect();
                needs[at] = Need { word: joined, others, name: true, ..Need::default() };
                needs.remove(at + 1);
            }
        }
        at += 1;
    }
    Ok(())
}

/// Words written with a capital inside a sentence: names, in the languages that do so.
fn capitals(question: &str) -> HashSet<String> {
    let words =
        question.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’'))).filter(|word| !word.is_empty());
    let inside = words.skip(1).filter(|word| word.starts_with(|c: char| c.is_uppercase()) && word.len() > 1);
    inside
        .map(|word| decide::rank::stem(&comparable(word)).replace('\'', ""))
        .filter(|word| !says_nothing(word) && concepts().of(word).is_empty())
        .collect()
}

/// Is somebody or something of the household called so?
fn is_name(connection: &Connection, need: &Need) -> Result<bool, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT 1 FROM memory_entities AS entity JOIN memory_facts AS fact ON fact.source = entity.id
         WHERE entity.key = ?1 AND fact.forgotten IS NULL LIMIT 1 OFFSET 2",
    )?;
    if select.exists([&need.word])? {
        return Ok(true);
    }
    for (other, _) in need.others.iter().filter(|&&(_, how)| how == SPELLED) {
        if select.exists([other])? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Compares texts with a question, best first. None where the best of them is no answer; those that are
/// far behind it stay out.
fn order(dictionary: &Dictionary, asked: &Asked, sources: &[Source], strictness: Strictness) -> Vec<Found> {
    let mut heads = Places::default();
    let mut found: Vec<(Found, i64)> = sources
        .iter()
        .map(|source| {
            let told = told(dictionary, source);
            heads |= told.heads(&asked.needs);
            let fit = fit(&asked.needs, &told);
            (Found { id: source.id, score: fit.score(), fit }, source.at_ms)
        })
        .collect();
    let near = near_in_meaning(asked, &found);
    found.retain(|(found, _)| match strictness {
        Strictness::Fact => !found.fit.is_beside(),
        Strictness::Span => true,
        Strictness::Passage => found.fit.is_passage(),
    });
    found.sort_by(|(a, at), (b, bt)| b.score.total_cmp(&a.score).then(bt.cmp(at)).then(b.id.cmp(&a.id)));
    let Some((best, _)) = found.first().filter(|(best, _)| match strictness {
        Strictness::Fact => best.fit.is_answer(heads),
        Strictness::Span => best.fit.is_of_span(),
        Strictness::Passage => true,
    }) else {
        return near;
    };
    let least = best.score * BEHIND_MAX;
    let by_words: Vec<Found> =
        found.into_iter().map(|(found, _)| found).take_while(|found| found.score >= least).collect();
    if near.is_empty() { by_words } else { fused(&by_words, &near) }
}

/// What is near in meaning, the nearest first, but for what its words rule out.
fn near_in_meaning(asked: &Asked, found: &[(Found, i64)]) -> Vec<Found> {
    let fits = |found: &Found| found.fit.missing_name == 0.0 && !found.fit.exact_missing;
    let of = |&(id, near): &(i64, f32)| {
        let (found, _) = found.iter().find(|(found, _)| found.id == id && fits(found))?;
        Some(Found { score: f64::from(near).clamp(0.0, 1.0), ..*found })
    };
    asked.near.iter().filter_map(of).collect()
}

/// Both orders made one; a score never rises from one to the next.
fn fused(by_words: &[Found], near: &[Found]) -> Vec<Found> {
    let ids = |list: &[Found]| list.iter().map(|found| found.id).collect::<Vec<i64>>();
    let order = fuse(&[&ids(by_words), &ids(near)]);
    let mut most = 1.0_f64;
    let mut all = Vec::with_capacity(order.len());
    for (id, _) in order {
        let of = |list: &[Found]| list.iter().find(|found| found.id == id).copied();
        let (word, meaning) = (of(by_words), of(near));
        let Some(found) = word.or(meaning) else { continue };
        most = most.min(found.score.max(meaning.map_or(0.0, |meaning| meaning.score)));
        all.push(Found { score: most, ..found });
    }
    all
}

/// How well one text answers.
pub fn compare(dictionary: &Dictionary, asked: &Asked, source: &Source) -> Fit {
    fit(&asked.needs, &told(dictionary, source))
}

fn told(dictionary: &Dictionary, source: &Source) -> Told {
    let head = Text::new(dictionary, &source.head);
    let tail = Text::new(dictionary, &source.tail);
    let body = Text::new(dictionary, &source.body);
    let plain = format!("{}\n{}\n{}", head.plain, tail.plain, body.plain);
    Told::new(&head.words, &tail.words, &body.words, plain)
}

/// Words hold letters, digits and `_` only; a phrase has blanks. A word that nothing was cut into is
/// looked for by its characters, and so is a single one.
fn one(word: &str, uncut: bool) -> String {
    let characters = characters(word);
    if characters.len() == 1 && !word.contains(' ') && word.is_ascii() {
        return format!("words : \"{word}\"");
    }
    if characters.len() == 1 || uncut || word.contains(' ') {
        return format!("characters : \"{}\"", characters.join(" "));
    }
    format!("words : \"{word}\"")
}
