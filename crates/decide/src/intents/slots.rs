//! The slots of a recognised sentence, and the entities they mean. Start at [`Slots::targets`].
//! Invariant: a slot that is there narrows; one that cannot be read makes the whole reply none.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::called;
use crate::house::{Entity, EntityId, House};
use crate::text::fold;

pub(super) struct Slots<'a> {
    pub intent: &'a str,
    slots: &'a Map<String, Value>,
    details: Option<&'a Map<String, Value>>,
    targets: Vec<EntityId>,
}

#[derive(Debug, PartialEq)]
pub(super) enum Targets {
    These(Vec<EntityId>),
    Which(Vec<EntityId>),
}

impl<'a> Slots<'a> {
    pub fn new(reply: &'a Value) -> Option<Self> {
        let intent = reply.pointer("/intent/name")?.as_str()?;
        let slots = reply.get("slots")?.as_object()?;
        let unmatched = reply.get("unmatched_slots").and_then(Value::as_object);
        if unmatched.is_some_and(|unmatched| !unmatched.is_empty()) {
            return None;
        }
        let listed = reply.get("targets").and_then(Value::as_object);
        let mut targets = Vec::new();
        for (id, _) in listed.into_iter().flatten() {
            targets.push(EntityId::parse(id)?);
        }
        Some(Self { intent, slots, details: reply.get("details").and_then(Value::as_object), targets })
    }

    /// A slot's value as text: the resolved one where there is one.
    pub fn text(&self, key: &str) -> Option<&'a str> {
        self.value(key)?.as_str().map(str::trim).filter(|text| !text.is_empty())
    }

    /// A slot's value as a number, written as one or as text.
    pub fn number(&self, key: &str) -> Option<f64> {
        match self.value(key)? {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().trim_end_matches(['%', '°', ' ']).parse().ok(),
            _ => None,
        }
    }

    pub fn has(&self, key: &str) -> bool {
        self.slots.contains_key(key)
    }

    /// Every slot is one of these.
    pub fn only(&self, keys: &[&str]) -> bool {
        self.slots.keys().all(|key| keys.contains(&key.as_str()))
    }

    fn value(&self, key: &str) -> Option<&'a Value> {
        let resolved = self.details.and_then(|details| details.get(key)?.get("value"));
        resolved.or_else(|| self.slots.get(key))
    }

    /// The domains or classes that a slot lists.
    fn listed(&self, key: &str) -> Option<BTreeSet<&'a str>> {
        Some(match self.value(key)? {
            Value::Array(values) => values.iter().filter_map(Value::as_str).collect(),
            Value::String(text) => BTreeSet::from([text.as_str()]),
            _ => BTreeSet::new(),
        })
    }

    /// The entities that are meant, where the wish can be done to them.
    pub fn targets(&self, house: &House, able: &dyn Fn(&EntityId) -> bool) -> Option<Targets> {
        if !self.targets.is_empty() {
            return self.known(house).map(Targets::These);
        }
        let areas = self.places("area", house.areas.iter().map(|(id, area)| (id, &area.name, &area.aliases)))?;
        let floors = self.places("floor", house.floors.iter().map(|(id, floor)| (id, &floor.name, &floor.aliases)))?;
        let domains = self.listed("domain");
        let classes = self.listed("device_class");
        let name = self.text("name").filter(|name| *name != "all");
        if name.is_none() && areas.is_none() && floors.is_none() && domains.is_none() {
            return self.only_one(house, able);
        }
        let fits = |(id, entity): &(&EntityId, &Entity)| {
            let area = house.area_of(entity);
            let floor = area.and_then(|(_, area)| area.floor_id.as_ref());
            entity.state.is_some()
                && name.is_none_or(|name| called(entity, name))
                && (name.is_some() || (!entity.info.hidden && entity.info.category.is_none()))
                && areas.as_ref().is_none_or(|ids| area.is_some_and(|(id, _)| ids.contains(id)))
                && floors.as_ref().is_none_or(|ids| floor.is_some_and(|id| ids.contains(id)))
                && domains.as_ref().is_none_or(|domains| domains.contains(id.domain()))
                && classes.as_ref().is_none_or(|classes| entity.classes().any(|class| classes.contains(class)))
        };
        let found: Vec<EntityId> =
            house.entities.iter().filter(fits).filter(|(id, _)| able(id)).map(|(id, _)| id.clone()).collect();
        match (found.len(), name) {
            (0, _) => None,
            (1, _) | (_, None) => Some(Targets::These(found)),
            (_, Some(_)) => Some(Targets::Which(found)),
        }
    }

    /// What Home Assistant listed. It lists by exposure and name; an id that we do not have is news.
    fn known(&self, house: &House) -> Option<Vec<EntityId>> {
        let known = self.targets.iter().all(|id| house.entity(id.as_str()).is_some());
        known.then(|| self.targets.clone())
    }

    /// With nothing said about where: the only thing there is that can do it.
    fn only_one(&self, house: &House, able: &dyn Fn(&EntityId) -> bool) -> Option<Targets> {
        let domain = match self.intent {
            "HassClimateSetTemperature" | "HassClimateGetTemperature" => "climate",
            "HassGetWeather" => "weather",
            intent if intent.starts_with("HassMedia") || intent.starts_with("HassSetVolume") => "media_player",
            intent if intent.starts_with("HassVacuum") => "vacuum",
            intent if intent.starts_with("HassLawnMower") => "lawn_mower",
            intent if intent.starts_with("HassHumidifier") => "humidifier",
            _ => return None,
        };
        let shown = |(id, entity): &(&EntityId, &Entity)| entity.state.is_some() && !entity.info.hidden && able(id);
        let all: Vec<EntityId> = house.domain(domain).filter(shown).map(|(id, _)| id.clone()).collect();
        match all.len() {
            0 => None,
            1 => Some(Targets::These(all)),
            _ => Some(Targets::Which(all)),
        }
    }

    /// The ids of a named place: none said, some found, or the reply cannot be read.
    #[allow(clippy::option_option)]
    fn places<'h>(
        &self,
        key: &str,
        all: impl Iterator<Item = (&'h Arc<str>, &'h Arc<str>, &'h Vec<Arc<str>>)>,
    ) -> Option<Option<BTreeSet<Arc<str>>>> {
        if !self.has(key) {
            return Some(None);
        }
        let said = self.text(key)?;
        let wanted = fold(said);
        let same = |name: &str| fold(name).joined() == wanted.joined();
        let ids: BTreeSet<Arc<str>> = all
            .filter(|(id, name, aliases)| &***id == said || same(name) || aliases.iter().any(|alias| same(alias)))
            .map(|(id, ..)| id.clone())
            .collect();
        (ids.len() == 1).then_some(Some(ids))
    }
}
