//! Questions. Start at [`Reader::question`]. Invariant: a question never becomes a wish; one that
//! is not wholly understood is none.

use super::clause::{Clause, Thing};
use super::grammar::{Outcome, clauses};
use super::kinds::Kind;
use super::things::{Reader, by_its_name};
use super::tile::{Means, Piece};
use super::vocabulary::Word;
use super::words::Words;
use crate::house::{Entity, EntityId};
use crate::understood::effects::Verb;
use crate::understood::{Ask, Condition, Measure, Question, Understood};

impl Reader<'_> {
    pub(super) fn question(&self, words: &Words, pieces: &[&Piece<'_>]) -> Outcome {
        let parsed: Option<Vec<Clause<'_>>> =
            clauses(words, pieces).iter().map(|pieces| Clause::new(pieces, true)).collect();
        let Some(parsed) = parsed else { return Outcome::Senseless };
        let mut condition: Option<Condition> = None;
        let mut things: Vec<Thing> = Vec::new();
        for clause in parsed {
            if clause.sets || clause.turn || clause.take || !clause.values.is_empty() || clause.choice.is_some() {
                return Outcome::Senseless;
            }
            let said = match (clause.condition, clause.verb) {
                (Some(_), Some(_)) => return Outcome::Senseless,
                (Some(condition), None) => Some(condition),
                (None, Some(verb)) => match as_condition(verb) {
                    Some(condition) => Some(condition),
                    None => return Outcome::Senseless,
                },
                (None, None) => None,
            };
            if said.is_some() && condition.is_some() {
                return Outcome::Senseless;
            }
            condition = condition.or(said);
            if !clause.thing.empty() {
                things.push(clause.thing);
            }
        }
        let Some(ask) = ask(pieces, &things, condition) else { return Outcome::Senseless };
        let mut entities: Vec<EntityId> = Vec::new();
        for thing in &things {
            entities.extend(self.asked(thing, &ask));
        }
        entities.sort();
        entities.dedup();
        if entities.is_empty() {
            return Outcome::Senseless;
        }
        Outcome::Is(Understood::Question(Question { entities, ask }))
    }

    /// The entities that a question is about.
    fn asked(&self, thing: &Thing, ask: &Ask) -> Vec<EntityId> {
        let fits = |id: &EntityId, entity: &Entity| match ask {
            Ask::Is(condition) | Ask::Which(condition) | Ask::Count(condition) => applies(condition, id, entity),
            Ask::Measure(measure) => measured(*measure, id, entity),
            Ask::State => !matches!(id.domain(), "scene" | "script" | "automation"),
        };
        if let Some(ids) = &thing.entities {
            let called = ids.iter().filter_map(|id| Some((id, self.house.entity(id.as_str())?)));
            let of_kind = |id: &EntityId, entity: &Entity| {
                thing.kind.is_none_or(|(kind, _)| kind.fits(id, entity)) && self.in_place(thing, entity)
            };
            return called
                .filter(|(id, entity)| fits(id, entity) && of_kind(id, entity))
                .map(|(id, _)| id.clone())
                .collect();
        }
        let everywhere = thing.house && thing.areas.is_none() && thing.floors.is_none();
        let there: Vec<(&EntityId, &Entity)> = (self.house.entities.iter())
            .filter(|(id, entity)| self.listed(id, entity) && (everywhere || self.in_place(thing, entity)))
            .filter(|(id, entity)| fits(id, entity))
            .collect();
        match (thing.kind, ask) {
            (Some((kind, _)), _) => {
                let kind = match (kind, ask) {
                    (Kind::Door, Ask::Is(c) | Ask::Which(c) | Ask::Count(c))
                        if matches!(c, Condition::Locked | Condition::Unlocked) =>
                    {
                        Kind::Lock
                    }
                    (kind, _) => kind,
                };
                of_kind(kind, &there)
            }
            (None, Ask::Measure(measure)) => best_measured(*measure, &there),
            // 哪些还开着 of a place, or of the whole house, asks about too much.
            (None, _) => Vec::new(),
        }
    }
}

fn of_kind(kind: Kind, there: &[(&EntityId, &Entity)]) -> Vec<EntityId> {
    let by = |test: &dyn Fn(&EntityId, &Entity) -> bool| -> Vec<EntityId> {
        there.iter().filter(|(id, entity)| test(id, entity)).map(|(id, _)| (*id).clone()).collect()
    };
    let watched = by(&|id, entity| kind.watched_by(id, entity));
    let own = kind
        .tiers()
        .iter()
        .map(|test| by(&|id, entity| test(id, entity) || by_its_name(kind, id, entity)))
        .find(|set| !set.is_empty())
        .unwrap_or_default();
    own.into_iter().chain(watched).collect()
}

/// Sensors first; things that show the value beside other matters where no sensor does.
fn best_measured(measure: Measure, there: &[(&EntityId, &Entity)]) -> Vec<EntityId> {
    let sensors: Vec<EntityId> =
        there.iter().filter(|(id, _)| id.domain() == "sensor").map(|(id, _)| (*id).clone()).collect();
    if !sensors.is_empty() {
        return sensors;
    }
    let Some(kind) = Kind::of_measure(measure) else { return Vec::new() };
    of_kind(kind, there)
}

/// What is asked, from the asking words and what was asked about.
fn ask(pieces: &[&Piece<'_>], things: &[Thing], condition: Option<Condition>) -> Option<Ask> {
    let has = |wanted: &Word| pieces.iter().any(|piece| matches!(piece.means, Means::Word(word) if word == wanted));
    let mut measures: Vec<Measure> = things.iter().filter_map(|thing| thing.measure).collect();
    measures.dedup();
    if things.is_empty() || measures.len() > 1 {
        return None;
    }
    if let [measure] = measures.as_slice() {
        return condition.is_none().then_some(Ask::Measure(*measure));
    }
    let sensed = || {
        let by_sensor = |thing: &Thing| matches!(thing.kind, Some((Kind::Presence | Kind::Smoke | Kind::Leak, _)));
        things.iter().all(by_sensor).then_some(Condition::Detected)
    };
    let Some(condition) = condition.or_else(sensed) else {
        let named = things.iter().all(|thing| thing.entities.is_some() || thing.kind.is_some());
        return (has(&Word::AskWhat) && !has(&Word::AskIs) && named).then_some(Ask::State);
    };
    Some(if has(&Word::AskCount) {
        Ask::Count(condition)
    } else if has(&Word::AskWhich) {
        Ask::Which(condition)
    } else {
        Ask::Is(condition)
    })
}

fn as_condition(verb: Verb) -> Option<Condition> {
    Some(match verb {
        Verb::On => Condition::On,
        Verb::Off => Condition::Off,
        Verb::OnOrOpen => Condition::OnOrOpen,
        Verb::OffOrClose => Condition::OffOrClosed,
        Verb::Open => Condition::Open,
        Verb::Close => Condition::Closed,
        Verb::Lock => Condition::Locked,
        Verb::Unlock => Condition::Unlocked,
        Verb::Play => Condition::Playing,
        _ => return None,
    })
}

/// Can a thing be so or not so at all?
fn applies(condition: &Condition, id: &EntityId, entity: &Entity) -> bool {
    let domain = id.domain();
    let switches = matches!(
        domain,
        "light"
            | "switch"
            | "fan"
            | "climate"
            | "media_player"
            | "humidifier"
            | "input_boolean"
            | "vacuum"
            | "group"
            | "lawn_mower"
            | "siren"
            | "water_heater"
            | "automation"
            | "remote"
    );
    let door = || entity.classes().any(|class| matches!(class, "door" | "window" | "garage_door" | "opening"));
    let opens = matches!(domain, "cover" | "valve") || (domain == "binary_sensor" && door());
    match condition {
        Condition::On | Condition::Off => switches,
        Condition::Open | Condition::Closed => opens,
        Condition::OnOrOpen | Condition::OffOrClosed => switches || opens || domain == "lock",
        Condition::Locked | Condition::Unlocked => domain == "lock",
        Condition::Playing => domain == "media_player",
        Condition::Detected => domain == "binary_sensor",
        Condition::Unavailable | Condition::State(_) => true,
    }
}

fn measured(measure: Measure, id: &EntityId, entity: &Entity) -> bool {
    if id.domain() == "sensor" {
        return measure.class().is_some_and(|class| entity.classes().any(|it| it == class));
    }
    if matches!(id.domain(), "number" | "input_number") {
        return measure.class().is_some_and(|class| entity.classes().any(|it| it == class));
    }
    match measure {
        Measure::Temperature => matches!(id.domain(), "climate" | "water_heater"),
        Measure::Humidity => matches!(id.domain(), "humidifier" | "climate"),
        Measure::Brightness => id.domain() == "light",
        Measure::Volume => id.domain() == "media_player",
        Measure::Position => matches!(id.domain(), "cover" | "valve"),
        Measure::Speed => id.domain() == "fan",
        Measure::Battery => id.domain() == "vacuum",
        _ => false,
    }
}
