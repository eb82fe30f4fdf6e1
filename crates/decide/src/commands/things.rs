//! From what was said of a thing to the entities of this house. Start at [`Reader::find`].
//! Invariants: a name beats a kind; several that fit equally are all given back to choose from; a
//! kind without a place means the whole house only where that can do no harm.

use super::clause::Thing;
use super::kinds::Kind;
use super::vocabulary::{Count, Word, words_at};
use super::words::{Words, spell};
use crate::house::{Entity, EntityId, House};
use crate::understood::effects::Verb;

/// What a sentence is read against.
pub(super) struct Reader<'a> {
    pub house: &'a House,
    pub in_scope: &'a dyn Fn(&EntityId) -> bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Found {
    These(Vec<EntityId>),
    /// These fit equally.
    Which(Vec<EntityId>),
    /// It makes sense, but not in this house or not for this thing.
    Nothing,
    /// It makes no sense: another reading of the sentence may.
    Senseless,
}

/// How a thing is looked for.
pub(super) struct Search<'a> {
    pub verb: Verb,
    /// The kind that the verb itself names (扫地).
    pub own: Option<Kind>,
    /// The kind that is meant where the thing names none.
    pub unsaid: Option<Kind>,
    /// The wish can be done to this entity.
    pub able: &'a dyn Fn(&EntityId) -> bool,
}

impl Reader<'_> {
    pub fn find(&self, thing: &Thing, search: &Search<'_>) -> Found {
        if [&thing.areas, &thing.floors].into_iter().flatten().any(|places| places.len() != 1) {
            return Found::Nothing;
        }
        match &thing.entities {
            Some(ids) => self.by_name(thing, ids, search),
            None => self.by_kind(thing, search),
        }
    }

    fn by_name(&self, thing: &Thing, ids: &[EntityId], search: &Search<'_>) -> Found {
        if thing.all || thing.other {
            return Found::Senseless;
        }
        let fits = |id: &&EntityId| {
            let Some(entity) = self.house.entity(id.as_str()) else { return false };
            (self.in_place(thing, entity) || (thing.house && !thing.outside))
                && thing.kind.is_none_or(|(kind, _)| kind.fits(id, entity))
        };
        let fitting: Vec<&EntityId> = ids.iter().filter(fits).filter(|id| !told_only(id)).collect();
        if fitting.is_empty() {
            return Found::Senseless;
        }
        let able: Vec<EntityId> = fitting.into_iter().filter(|id| (search.able)(id)).cloned().collect();
        let shown: Vec<EntityId> = able.iter().filter(|id| self.shown(id)).cloned().collect();
        let able = if shown.is_empty() { able } else { shown };
        match able.len() {
            0 => Found::Nothing,
            1 => Found::These(able),
            _ => Found::Which(able),
        }
    }

    fn by_kind(&self, thing: &Thing, search: &Search<'_>) -> Found {
        let said = thing.kind.or_else(|| search.unsaid.map(|kind| (kind, Count::One)));
        let Some((kind, count)) = said else { return Found::Senseless };
        if search.own.is_some_and(|own| !related(own, kind)) {
            return Found::Senseless;
        }
        let set = self.of_kind(kind, thing, search);
        let every = thing.all || thing.each || thing.other || (thing.house && !thing.outside);
        if kind == Kind::Everything && !(every || thing.placed() || thing.kind.is_some()) {
            return Found::Senseless;
        }
        if kind == Kind::Everything && !matches!(search.verb, Verb::Off | Verb::OffOrClose) {
            return Found::Nothing;
        }
        if set.is_empty() {
            return Found::Nothing;
        }
        if set.len() == 1 || every {
            return Found::These(set);
        }
        if thing.placed() {
            if let (true, Some(one)) = (kind != Kind::Light && count != Count::Many, self.called_so(kind, &set)) {
                return Found::These(vec![one]);
            }
            // "The kitchen light" is what people say of all that is light there.
            let all = kind == Kind::Light || (count != Count::One && !opening(kind, search.verb));
            return if all { Found::These(set) } else { Found::Which(set) };
        }
        let busy = self.busy(kind, search.verb, &set);
        if let [one] = busy.as_slice() {
            return Found::These(vec![one.clone()]);
        }
        if let Some(one) = self.called_just(kind, &set) {
            return Found::These(vec![one]);
        }
        let everywhere = count != Count::One && harmless_everywhere(search.verb);
        if everywhere {
            return Found::These(set);
        }
        Found::Which(if busy.is_empty() { set } else { busy })
    }

    /// The one that is called by its place and kind and nothing else: 客厅的空调 is 客厅空调, though
    /// another device there cools, too.
    fn called_so(&self, kind: Kind, set: &[EntityId]) -> Option<EntityId> {
        let called = |id: &&EntityId| {
            let Some(entity) = self.house.entity(id.as_str()) else { return false };
            let Some((_, area)) = self.house.area_of(entity) else { return false };
            let mut places = std::iter::once(&area.name).chain(&area.aliases).map(|name| spell(name).words);
            let names: Vec<Words> = entity.info.names.iter().map(|name| spell(name)).collect();
            places.any(|place| names.iter().any(|name| name.has_at(0, &place) && kind_from(kind, name, place.len())))
        };
        let mut all = set.iter().filter(called);
        match (all.next(), all.next()) {
            (Some(one), None) => Some(one.clone()),
            _ => None,
        }
    }

    /// The one whose name is the word for the kind: the lawn is mowed by "Lawn mower".
    fn called_just(&self, kind: Kind, set: &[EntityId]) -> Option<EntityId> {
        let called = |id: &&EntityId| {
            let names = self.house.entity(id.as_str()).map(|entity| &entity.info.names);
            names.into_iter().flatten().any(|name| kind_from(kind, &spell(name), 0))
        };
        let mut all = set.iter().filter(called);
        match (all.next(), all.next()) {
            (Some(one), None) => Some(one.clone()),
            _ => None,
        }
    }

    /// Entities of a kind in a place that the wish can be done to.
    fn of_kind(&self, kind: Kind, thing: &Thing, search: &Search<'_>) -> Vec<EntityId> {
        let everywhere = thing.house && thing.areas.is_none() && thing.floors.is_none() && !thing.outside;
        let there = |entity: &Entity| everywhere || self.in_place(thing, entity);
        // 锁门: what is locked about a door is its lock.
        let kind = match (kind, search.verb) {
            (Kind::Door, Verb::Lock | Verb::Unlock) => Kind::Lock,
            (kind, _) => kind,
        };
        for test in kind.tiers() {
            let pool = self.house.entities.iter().filter(|(id, entity)| {
                (test(id, entity) || by_its_name(kind, id, entity))
                    && self.listed(id, entity)
                    && there(entity)
                    && (search.able)(id)
            });
            let set: Vec<EntityId> = pool.map(|(id, _)| id.clone()).collect();
            if !set.is_empty() {
                return self.without_groups(set);
            }
        }
        Vec::new()
    }

    /// Is it in all the places that were said? With none said, everything is.
    pub fn in_place(&self, thing: &Thing, entity: &Entity) -> bool {
        let area = self.house.area_of(entity);
        let in_area = thing.areas.as_ref().is_none_or(|ids| area.is_some_and(|(id, _)| ids.contains(id)));
        let floor = area.and_then(|(_, area)| area.floor_id.as_ref());
        let on_floor = thing.floors.as_ref().is_none_or(|ids| floor.is_some_and(|id| ids.contains(id)));
        in_area && on_floor && (!thing.outside || outdoors(entity, area.map(|(_, area)| area)))
    }

    /// What a kind or a place stands for: neither hidden nor a setting nor out of scope.
    pub fn listed(&self, id: &EntityId, entity: &Entity) -> bool {
        entity.state.is_some() && !entity.info.hidden && entity.info.category.is_none() && (self.in_scope)(id)
    }

    fn shown(&self, id: &EntityId) -> bool {
        self.house.entity(id.as_str()).is_some_and(|entity| !entity.info.hidden)
    }

    /// A group says nothing where all its members are there, too; toggled twice, they stay as they were.
    fn without_groups(&self, set: Vec<EntityId>) -> Vec<EntityId> {
        let covered = |id: &EntityId| {
            let members: Vec<EntityId> =
                self.house.entity(id.as_str()).map(|entity| entity.members().collect()).unwrap_or_default();
            !members.is_empty() && members.iter().all(|member| member != id && set.contains(member))
        };
        set.iter().filter(|id| !covered(id)).cloned().collect()
    }

    /// The ones that a wish without a place can be about: what plays, what shines.
    fn busy(&self, kind: Kind, verb: Verb, set: &[EntityId]) -> Vec<EntityId> {
        let state = match (kind, verb) {
            (Kind::Player, Verb::Play) => "paused",
            (Kind::Player, _) => "playing",
            (Kind::Light, Verb::Brighter | Verb::Dimmer) => "on",
            _ => return Vec::new(),
        };
        let is = |id: &&EntityId| self.house.entity(id.as_str()).and_then(Entity::value) == Some(state);
        set.iter().filter(is).cloned().collect()
    }
}

/// The rest of a name is a word for this kind.
fn kind_from(kind: Kind, name: &Words, at: usize) -> bool {
    words_at(name, at)
        .any(|(length, word)| at + length == name.len() && matches!(word, Word::Kind(said, _) if *said == kind))
}

/// A cover that no class tells apart: its name ends with the word for the kind.
pub(super) fn by_its_name(kind: Kind, id: &EntityId, entity: &Entity) -> bool {
    kind.covers() && id.domain() == "cover" && entity.classes().next().is_none() && {
        let ends = |name: &Words| (0..name.len()).any(|at| kind_from(kind, name, at));
        entity.info.names.iter().any(|name| ends(&spell(name)))
    }
}

/// Read, never moved.
fn told_only(id: &EntityId) -> bool {
    matches!(
        id.domain(),
        "sensor"
            | "binary_sensor"
            | "event"
            | "person"
            | "zone"
            | "sun"
            | "weather"
            | "calendar"
            | "device_tracker"
            | "update"
            | "image"
            | "camera"
            | "todo"
            | "stt"
            | "tts"
            | "conversation"
    )
}

/// Said of a whole house, these are safe or at least what everybody means.
fn harmless_everywhere(verb: Verb) -> bool {
    matches!(
        verb,
        Verb::Off | Verb::OffOrClose | Verb::Close | Verb::Lock | Verb::Stop | Verb::Pause | Verb::Mute | Verb::Dock
    )
}

/// Several locks or doors are not opened by one word for a kind.
fn opening(kind: Kind, verb: Verb) -> bool {
    matches!(kind, Kind::Lock | Kind::Door | Kind::Gate | Kind::Garage)
        && matches!(verb, Verb::Open | Verb::OnOrOpen | Verb::Unlock)
}

/// The verb's own kind and the said one go together.
fn related(unsaid: Kind, said: Kind) -> bool {
    let climate = |kind| matches!(kind, Kind::Climate | Kind::Cooling | Kind::Heating | Kind::WaterHeater);
    let player = |kind| matches!(kind, Kind::Player | Kind::Television | Kind::Speaker);
    let robot = |kind| matches!(kind, Kind::Vacuum | Kind::Mower);
    let blows = |kind| matches!(kind, Kind::Fan | Kind::Purifier | Kind::Cooling | Kind::Climate);
    unsaid == said
        || (climate(unsaid) && climate(said))
        || (player(unsaid) && player(said))
        || (robot(unsaid) && robot(said))
        || (blows(unsaid) && blows(said))
}

fn outdoors(entity: &Entity, area: Option<&crate::house::Area>) -> bool {
    const WORDS: [&str; 5] = ["outdoor", "outside", "室外", "户外", "屋外"];
    let names = entity.info.names.iter().chain(area.map(|area| &area.name));
    names.into_iter().any(|name| {
        let name = name.to_lowercase();
        WORDS.iter().any(|word| name.contains(word))
    })
}
