//! Every way a phrase fits, and which of the fits is the answer.
//!
//! Start at [`Prepared::match_phrase`]. The strongest basis wins, then the reading that took least
//! off the phrase. What is left over fits equally, and then, in this order: the kind that was named
//! ("the scene …"), for moments names in the phrase's language and names that people also say, and a
//! script before the scene of the same name (the fuller routine). Whatever is still more than one is ambiguous.

use std::collections::BTreeMap;

use super::carriers::{self, Kind, Reading};
use super::moments::{self, Moment};
use super::prepared::{Name, Prepared};
use super::{Basis, HITS_MAX, Hit, LOOSE_WEIGHT_MIN, Match, NoMatch, THRESHOLD, Why, heard};
use crate::house::EntityId;
use crate::text::{FOLD_CHARS_MAX, Folded, fold, pinyin, same_but_for_a_slip};

/// So many readings, those that took most off, are compared with names; the others only looked up.
const LOOSE_READINGS_MAX: usize = 12;

/// At most so many parts, set apart by punctuation, are looked at one by one.
const CLAUSES_MAX: usize = 4;

/// One way a macro fits.
#[derive(Clone, Copy, Debug)]
struct Fit {
    basis: Basis,
    /// Words taken off the phrase.
    peeled: usize,
    name: Option<usize>,
    moment: Option<Moment>,
    kind: Option<Kind>,
    /// For moments: 2 for a name in the other language, 1 for one that nobody says.
    lesser: u8,
}

/// The phrase as the matcher sees it.
struct Phrase {
    text: Folded,
    readings: Vec<Reading>,
    /// Said in Chinese, in characters or in pinyin.
    chinese: bool,
}

impl Phrase {
    fn new(text: Folded) -> Self {
        let readings = readings(&text);
        let chinese = text.has_han() || !readings.iter().any(|reading| means_in_latin(&text, reading));
        Self { text, readings, chinese }
    }

    /// The whole and the readings that took most off: a slip is looked for in these.
    fn innermost(&self) -> impl Iterator<Item = &Reading> {
        let rest = self.readings.get(1..).unwrap_or_default();
        self.readings.first().into_iter().chain(rest.iter().rev().take(LOOSE_READINGS_MAX))
    }
}

/// The best fit of each macro.
#[derive(Default)]
struct Fits(BTreeMap<usize, Fit>);

impl Fits {
    fn add(&mut self, of: usize, fit: Fit) {
        let better = |old: &Fit| (fit.basis, fit.peeled, fit.lesser) < (old.basis, old.peeled, old.lesser);
        if self.0.get(&of).is_none_or(better) {
            self.0.insert(of, fit);
        }
    }
}

impl Prepared {
    /// Which of the candidates the phrase means.
    pub fn match_phrase(&self, phrase: &str) -> Match {
        if let Some(of) = EntityId::parse(phrase).and_then(|id| self.macros.binary_search_by(|it| it.id.cmp(&id)).ok())
        {
            let fit = Fit { basis: Basis::Id, peeled: 0, name: None, moment: None, kind: None, lesser: 0 };
            return Match::One(self.hit(of, &fit, None));
        }
        match self.match_clause(phrase) {
            Match::None(none) if none.why == Why::NothingFits => {
                self.all_the_same(phrase).map_or(Match::None(none), Match::One)
            }
            found => found,
        }
    }

    /// "我要出门了，启动离家模式" and "good night, sleep tight": every part of it means one macro.
    fn all_the_same(&self, phrase: &str) -> Option<Hit> {
        let short: String = phrase.chars().take(FOLD_CHARS_MAX).collect();
        let mut clauses: Vec<&str> = short.split(clause_end).filter(|it| !carriers::only(&fold(it))).collect();
        let text = fold(phrase);
        let half = text.len() / 2;
        let twice = text.slice(0, half);
        if clauses.len() == 1 && half > 0 && twice == text.slice(half, text.len()) {
            clauses = vec![twice, twice];
        }
        if !(2..=CLAUSES_MAX).contains(&clauses.len()) || phrase.len() > short.len() {
            return None;
        }
        let mut weakest: Option<Hit> = None;
        for clause in clauses {
            let Match::One(hit) = self.match_clause(clause) else { return None };
            if weakest.as_ref().is_some_and(|other| other.entity_id != hit.entity_id) {
                return None;
            }
            if weakest.as_ref().is_none_or(|other| other.basis <= hit.basis) {
                weakest = Some(hit);
            }
        }
        weakest
    }

    fn match_clause(&self, phrase: &str) -> Match {
        let text = fold(phrase);
        if text.is_empty() {
            return Match::None(NoMatch { why: Why::Empty, near: Vec::new() });
        }
        let phrase = Phrase::new(text);
        let mut fits = Fits::default();
        self.equal(&phrase, &mut fits);
        let refused = heard::refuses(&phrase.text);
        if fits.0.is_empty() && refused.is_none() {
            self.loose(&phrase, &mut fits);
        }
        if !fits.0.is_empty() {
            return self.choose(&fits);
        }
        let near = if refused.is_none() { self.near(&phrase) } else { Vec::new() };
        Match::None(NoMatch { why: refused.unwrap_or(Why::NothingFits), near })
    }

    /// Names, pinyin and moments that the phrase is equal to.
    fn equal(&self, phrase: &Phrase, fits: &mut Fits) {
        for reading in &phrase.readings {
            let joined = phrase.text.slice(reading.from, reading.to);
            let peeled = reading.peeled(&phrase.text);
            let fit = |basis| Fit { basis, peeled, name: None, moment: None, kind: reading.kind, lesser: 0 };
            for &number in self.by_full.get(joined).into_iter().flatten() {
                let basis = if self.names[number].first { Basis::Name } else { Basis::Alias };
                self.add(fits, number, fit(basis));
            }
            for &number in self.by_core.get(joined).into_iter().flatten() {
                self.add(fits, number, fit(Basis::Core));
            }
            let part = phrase.text.part(reading.from, reading.to);
            let letters = if part.has_han() { Vec::new() } else { letters(&part) };
            self.spelled(&letters, fits, fit(Basis::Pinyin));
            let meant = moments::said(joined).or_else(|| letters.iter().find_map(|it| moments::spelled(it)));
            for &number in meant.and_then(|moment| self.by_moment.get(&moment)).into_iter().flatten() {
                self.add(fits, number, self.for_moment(phrase, number, Fit { moment: meant, ..fit(Basis::Moment) }));
            }
            for &of in self.by_object.get(joined).into_iter().flatten() {
                fits.add(of, fit(Basis::ObjectId));
            }
        }
    }

    fn spelled(&self, letters: &[String], fits: &mut Fits, fit: Fit) {
        for (number, name) in self.names.iter().enumerate().filter(|(_, name)| name.has_han) {
            let says = |it: &String| {
                pinyin::may_begin(it, name.initials)
                    && (pinyin::spells(it, &name.full) || pinyin::spells(it, &name.core))
            };
            if letters.iter().any(says) {
                self.add(fits, number, fit);
            }
        }
    }

    /// Another word order, one slip, the same sound.
    fn loose(&self, phrase: &Phrase, fits: &mut Fits) {
        for reading in phrase.innermost() {
            let part = phrase.text.part(reading.from, reading.to);
            if part.weight() < LOOSE_WEIGHT_MIN {
                continue;
            }
            let peeled = reading.peeled(&phrase.text);
            let fit = |basis| Fit { basis, peeled, name: None, moment: None, kind: reading.kind, lesser: 0 };
            for &number in self.by_length.get(&part.len()).into_iter().flatten() {
                if let Some(basis) = resembles(&part, &self.names[number]) {
                    self.add(fits, number, fit(basis));
                }
            }
            let meant = moments::mistyped(&part);
            for &number in meant.and_then(|moment| self.by_moment.get(&moment)).into_iter().flatten() {
                self.add(
                    fits,
                    number,
                    self.for_moment(phrase, number, Fit { moment: meant, ..fit(Basis::MomentSpelling) }),
                );
            }
        }
    }

    fn add(&self, fits: &mut Fits, number: usize, fit: Fit) {
        let name = &self.names[number];
        fits.add(name.of, Fit { name: Some(number), moment: fit.moment.or(name.moment), ..fit });
    }

    fn for_moment(&self, phrase: &Phrase, number: usize, fit: Fit) -> Fit {
        let name = &self.names[number];
        Fit { lesser: u8::from(name.has_han != phrase.chinese) * 2 + u8::from(!name.said), ..fit }
    }

    /// The one answer among the fits, or the question which.
    fn choose(&self, fits: &Fits) -> Match {
        let Some(best) = fits.0.values().map(|fit| (fit.basis, fit.peeled)).min() else {
            return Match::None(NoMatch { why: Why::NothingFits, near: Vec::new() });
        };
        let mut equal: Vec<(usize, Fit)> =
            fits.0.iter().filter(|(_, fit)| (fit.basis, fit.peeled) == best).map(|(&of, &fit)| (of, fit)).collect();
        prefer(&mut equal, |(of, fit)| fit.kind.is_some_and(|kind| self.domain(*of) == kind.domain()));
        let least = equal.iter().map(|(_, fit)| fit.lesser).min();
        equal.retain(|(_, fit)| Some(fit.lesser) == least);
        let mut hits = self.without_twins(&equal);
        debug_assert!(hits.iter().all(|hit| hit.confidence >= THRESHOLD));
        if hits.len() == 1 {
            hits.pop().map_or_else(nothing, Match::One)
        } else {
            hits.truncate(HITS_MAX);
            Match::Ambiguous(hits)
        }
    }

    /// A script stands for the scenes of the same name; only one script can.
    fn without_twins(&self, equal: &[(usize, Fit)]) -> Vec<Hit> {
        let key = |fit: &Fit| fit.name.map(|number| self.names[number].core.joined());
        let twins = |fit: &Fit, domain: &str| {
            equal
                .iter()
                .filter(|(of, other)| fit.name.is_some() && key(other) == key(fit) && self.domain(*of) == domain)
                .map(|&(of, _)| of)
                .collect::<Vec<_>>()
        };
        let mut hits = Vec::new();
        for (of, fit) in equal {
            let one_script = twins(fit, "script").len() == 1;
            let scenes = twins(fit, "scene");
            if self.domain(*of) == "scene" && one_script {
                continue;
            }
            let instead_of = scenes.first().filter(|_| one_script && self.domain(*of) == "script");
            hits.push(self.hit(*of, fit, instead_of.map(|&scene| self.macros[scene].id.clone())));
        }
        hits
    }

    /// Macros with something in common, to offer and not to run.
    fn near(&self, phrase: &Phrase) -> Vec<Hit> {
        let mut fits = Fits::default();
        for reading in [phrase.readings.first(), phrase.readings.last()].into_iter().flatten() {
            let part = phrase.text.part(reading.from, reading.to);
            let meant = moments::said(part.joined());
            for (number, name) in self.names.iter().enumerate() {
                let same_moment = meant.is_some_and(|moment| name.inside.contains(&moment));
                let within =
                    |part: &Folded, whole: &Folded| part.weight() >= LOOSE_WEIGHT_MIN && whole.find(part).is_some();
                if same_moment || within(&part, &name.full) || within(&name.core, &part) {
                    let peeled = reading.peeled(&phrase.text);
                    self.add(
                        &mut fits,
                        number,
                        Fit { basis: Basis::Part, peeled, name: None, moment: meant, kind: None, lesser: 0 },
                    );
                }
            }
        }
        fits.0.iter().take(HITS_MAX).map(|(&of, fit)| self.hit(of, fit, None)).collect()
    }

    fn domain(&self, of: usize) -> &str {
        self.macros[of].id.domain()
    }

    fn hit(&self, of: usize, fit: &Fit, instead_of: Option<EntityId>) -> Hit {
        Hit {
            entity_id: self.macros[of].id.clone(),
            name: self.macros[of].shown.clone(),
            moment: fit.moment,
            confidence: fit.basis.confidence(),
            basis: fit.basis,
            instead_of,
        }
    }
}

/// Punctuation that parts what is said in a row.
fn clause_end(character: char) -> bool {
    matches!(character, ',' | '，' | '.' | '。' | '!' | '！' | '?' | '？' | ';' | '；' | '、' | '~' | '～' | '…' | '\n')
}

fn nothing() -> Match {
    Match::None(NoMatch { why: Why::NothingFits, near: Vec::new() })
}

/// The readings of a phrase, without those that a saying forbids: in "going to work" the words mean
/// leaving, so nothing inside them may mean work.
fn readings(text: &Folded) -> Vec<Reading> {
    let mut readings = carriers::readings(text);
    let meaning = |reading: &Reading| moments::said(text.slice(reading.from, reading.to));
    let sayings: Vec<(Reading, Moment)> = readings.iter().filter_map(|it| Some((*it, meaning(it)?))).collect();
    readings.retain(|reading| {
        let joined = text.slice(reading.from, reading.to);
        let whole = reading.peeled(text) == 0;
        let inside = |saying: &Reading| {
            saying.from <= reading.from && reading.to <= saying.to && saying.peeled(text) < reading.peeled(text)
        };
        let other = |moment: Moment| moments::named(joined).is_some_and(|own| own != moment);
        (whole || joined.chars().count() >= 2)
            && !sayings.iter().any(|(saying, moment)| inside(saying) && other(*moment))
    });
    readings
}

/// Keep those for which it holds, if it holds for any.
fn prefer<T>(fits: &mut Vec<T>, holds: impl Fn(&T) -> bool) {
    if fits.iter().any(&holds) {
        fits.retain(holds);
    }
}

/// Does this reading mean its moment by words rather than by pinyin?
fn means_in_latin(text: &Folded, reading: &Reading) -> bool {
    let part = text.part(reading.from, reading.to);
    moments::said(part.joined()).is_some() || moments::mistyped(&part).is_some()
}

/// The phrase as pinyin, also without the pinyin of "please", "open" and "mode" around it.
fn letters(part: &Folded) -> Vec<String> {
    const BEFORE: &[&str] =
        &["", "qing", "dakai", "kaiqi", "qidong", "zhixing", "yunxing", "qingdakai", "qingzhixing", "qingqidong"];
    const BEHIND: &[&str] = &["", "moshi", "changjing", "jiaoben", "ba", "le", "la"];
    let mut all = Vec::new();
    for whole in pinyin::spellings(part) {
        for before in BEFORE.iter().filter_map(|it| whole.strip_prefix(it)) {
            all.extend(
                BEHIND.iter().filter_map(|it| before.strip_suffix(it)).filter(|it| it.len() >= 3).map(str::to_owned),
            );
        }
    }
    all
}

/// How a name resembles what was said, short of being equal.
fn resembles(said: &Folded, name: &Name) -> Option<Basis> {
    let either = |test: &dyn Fn(&Folded) -> bool| test(&name.full) || test(&name.core);
    if either(&|it| crate::text::other_order(said, it)) {
        Some(Basis::WordOrder)
    } else if either(&|it| it.weight() >= LOOSE_WEIGHT_MIN && same_but_for_a_slip(said, it)) {
        Some(Basis::Spelling)
    } else if either(&|it| pinyin::sound_alike(said, it)) {
        Some(Basis::Sound)
    } else {
        None
    }
}
