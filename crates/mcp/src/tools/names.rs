//! Which entities a text means when it is no id. Start at [`find`]. Invariants: a name beats an
//! area; where several fit, none is chosen; nothing found here skips the gate.

use std::collections::BTreeSet;

use decide::house::{Entity, EntityId};

use super::fold::{Query, fold};
use super::view::View;

/// How many to offer when several fit, and when none does.
pub const CANDIDATES_MAX: usize = 10;
const NEAREST_MAX: usize = 5;

/// Separators between names in one text.
pub const COMMAS: [char; 5] = [',', '，', '、', ';', '；'];

#[derive(Debug, PartialEq)]
pub enum Found {
    Entities(Vec<EntityId>),
    Area(String),
    Floor(String),
    /// Several fit: the person has to say which.
    Several(Vec<EntityId>),
    /// None fits; these are nearest.
    Nothing(Vec<EntityId>),
}

/// Where a name is looked for.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// Of the service, which is that of the entities it moves.
    pub domain: &'a str,
    /// Only in these areas; empty for the whole house.
    pub areas: &'a [String],
}

/// What a text means there.
pub fn find(view: &View<'_>, place: Place<'_>, text: &str) -> Vec<(String, Found)> {
    let whole = one(view, place, text);
    let parts: Vec<&str> = text.split(COMMAS).map(str::trim).filter(|part| !part.is_empty()).collect();
    if parts.len() < 2 || !matches!(whole, Found::Nothing(_)) {
        return vec![(text.to_owned(), whole)];
    }
    if let Some(id) = same_entity(view, place, &parts) {
        return vec![(text.to_owned(), Found::Entities(vec![id]))];
    }
    parts.into_iter().map(|part| (part.to_owned(), one(view, place, part))).collect()
}

/// Several names of one entity in one text, as models send them back: that entity.
fn same_entity(view: &View<'_>, place: Place<'_>, parts: &[&str]) -> Option<EntityId> {
    let folded: Vec<String> = parts.iter().map(|part| fold(part)).collect();
    let mut found = pool(view, place).into_iter().filter(|(id, entity)| {
        folded.iter().all(|part| fold(id.as_str()) == *part || names(entity).any(|name| fold(name) == *part))
    });
    let (id, _) = found.next()?;
    found.next().is_none().then(|| id.clone())
}

fn one(view: &View<'_>, place: Place<'_>, text: &str) -> Found {
    let said = Query::new(text);
    if said.joined().is_empty() {
        return Found::Nothing(vec![]);
    }
    let pool = pool(view, place);
    if let Some(found) = chosen(ids(&pool, |entity| names(entity).any(|name| said.is(name)))) {
        return found;
    }
    if let Some(found) = chosen(ids(&pool, |entity| with_area(view, entity, &said))) {
        return found;
    }
    if let Some(found) = called(view, &said).filter(|_| place.areas.is_empty()) {
        return found;
    }
    if let Some(found) = chosen(ids(&pool, |entity| names(entity).any(|name| said.means(name)))) {
        return found;
    }
    let words: Vec<String> = said.words().map(singular).collect();
    chosen(ids(&pool, |entity| fits(view, entity, &words)))
        .unwrap_or_else(|| Found::Nothing(near(view, place.domain, text)))
}

/// What comes nearest to a text that is no name here: of this domain, else of any, else whatever the
/// domain has.
pub fn near(view: &View<'_>, domain: &str, text: &str) -> Vec<EntityId> {
    let said = Query::new(text);
    let own = pool(view, Place { domain, areas: &[] });
    let found = nearest(&own, &said);
    if !found.is_empty() {
        return found;
    }
    let found = nearest(&view.visible().collect::<Vec<_>>(), &said);
    if !found.is_empty() || own.first().is_none_or(|(id, _)| id.domain() != domain) {
        return found;
    }
    own.into_iter().take(NEAREST_MAX).map(|(id, _)| id.clone()).collect()
}

/// The one, or all that fit; nothing where none does.
fn chosen(found: Vec<EntityId>) -> Option<Found> {
    match found.len() {
        0 => None,
        1 => Some(Found::Entities(found)),
        _ => Some(Found::Several(found)),
    }
}

/// The name with its area before or behind it.
fn with_area(view: &View<'_>, entity: &Entity, said: &Query) -> bool {
    area_names(view, entity).any(|area| {
        let area = fold(area);
        let said = said.joined();
        let rests = [said.strip_prefix(&area), said.strip_suffix(&area)];
        rests.into_iter().flatten().any(|rest| names(entity).any(|name| fold(name) == rest.trim()))
    })
}

/// Entities that a service of this domain moves; all, where the domain has no entities of its own.
/// Hidden ones stand back while others are there.
fn pool<'a>(view: &View<'a>, place: Place<'_>) -> Vec<(&'a EntityId, &'a Entity)> {
    let here = |entity: &Entity| {
        let area = view.house.area_of(entity).map(|(id, _)| id);
        place.areas.is_empty() || area.is_some_and(|id| place.areas.iter().any(|area| **area == **id))
    };
    let shown = |(id, entity): &(&EntityId, &Entity)| !entity.info.hidden && view.shows(id, entity) && here(entity);
    let own: Vec<_> = view.house.domain(place.domain).filter(shown).collect();
    if own.is_empty() { view.visible().filter(shown).collect() } else { own }
}

fn ids(pool: &[(&EntityId, &Entity)], fits: impl Fn(&Entity) -> bool) -> Vec<EntityId> {
    pool.iter().filter(|(_, entity)| fits(entity)).map(|(id, _)| (*id).clone()).collect()
}

fn names(entity: &Entity) -> impl Iterator<Item = &str> {
    entity.info.names.iter().map(|name| &**name)
}

fn area_names<'a>(view: &View<'a>, entity: &'a Entity) -> impl Iterator<Item = &'a str> {
    let area = view.house.area_of(entity).map(|(_, area)| area);
    area.into_iter().flat_map(|area| std::iter::once(&*area.name).chain(area.aliases.iter().map(|alias| &**alias)))
}

/// The area or floor of this name, if there is one.
fn called(view: &View<'_>, said: &Query) -> Option<Found> {
    let house = view.house;
    let named = |id: &str, name: &str, aliases: &[std::sync::Arc<str>]| {
        said.is(id) || said.means(name) || aliases.iter().any(|alias| said.means(alias))
    };
    if let Some((id, _)) = house.areas.iter().find(|(id, area)| named(id, &area.name, &area.aliases)) {
        return Some(Found::Area(id.to_string()));
    }
    let floor = house.floors.iter().find(|(id, floor)| named(id, &floor.name, &floor.aliases));
    floor.map(|(id, _)| Found::Floor(id.to_string()))
}

/// All that was said stands in one of the names, with the area's help; at least a word in the name itself.
fn fits(view: &View<'_>, entity: &Entity, said: &[String]) -> bool {
    let area: BTreeSet<String> = area_names(view, entity).flat_map(stems).collect();
    names(entity).any(|name| {
        let name = stems(name);
        said.iter().any(|word| name.contains(word))
            && said.iter().all(|word| name.contains(word) || area.contains(word))
    })
}

fn stems(text: &str) -> BTreeSet<String> {
    decide::text::fold(text).words().map(singular).collect()
}

/// English plurals do not tell names apart.
fn singular(word: &str) -> String {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && stem.is_ascii() && !stem.ends_with('s') => stem.to_owned(),
        _ => word.to_owned(),
    }
}

/// The names that come closest to what was said.
fn nearest(pool: &[(&EntityId, &Entity)], said: &Query) -> Vec<EntityId> {
    let score = |entity: &Entity| names(entity).map(|name| said.score(name)).fold(0.0, f64::max);
    let mut scored: Vec<(f64, &EntityId)> = pool.iter().map(|(id, entity)| (score(entity), *id)).collect();
    scored.retain(|(score, _)| *score >= decide::text::NAME_SCORE_MIN);
    scored.sort_by(|(a, id_a), (b, id_b)| b.total_cmp(a).then_with(|| id_a.cmp(id_b)));
    scored.into_iter().take(NEAREST_MAX).map(|(_, id)| id.clone()).collect()
}

#[cfg(test)]
mod tests {
    use decide::gate::{Language, Policy};
    use decide::house::House;

    use super::*;

    fn entities(texts: &[&str]) -> Found {
        Found::Entities(texts.iter().filter_map(|text| EntityId::parse(text)).collect())
    }

    #[track_caller]
    fn check(house: &House, domain: &str, text: &str, expected: &[Found]) {
        let policy = Policy::default();
        let view = View { house, policy: &policy, language: Language::English, now: 0 };
        let found: Vec<Found> =
            find(&view, Place { domain, areas: &[] }, text).into_iter().map(|(_, found)| found).collect();
        assert_eq!(found, expected, "{domain} {text:?}");
    }

    #[test]
    fn names_in_any_spelling_find_their_one_entity() {
        let house = testkit::family().build();
        for text in
            ["Multisocket Switch 2, Salt lamp", "盐灯", "salt lamp", "SALT  LAMP", "Ｓalt lamp", "yan deng", "鹽燈"]
        {
            check(&house, "switch", text, &[entities(&["switch.salt"])]);
        }
        check(&house, "light", "厨房灯", &[entities(&["light.kitchen"])]);
        check(&house, "light", "kitchen light", &[entities(&["light.kitchen"])]);
        check(&house, "light", "Living Room Sofa Lamp", &[entities(&["light.sofa"])]);
        check(&house, "light", "客厅sofa lamp", &[entities(&["light.sofa"])]);
        check(&house, "lock", "前门", &[entities(&["lock.front_door"])]);
        check(&house, "light", "Sofa Lamp, 吊灯", &[entities(&["light.sofa"]), entities(&["light.ceiling"])]);
    }

    #[test]
    fn a_name_beats_an_area_and_an_area_stands_for_what_is_in_it() {
        let house = testkit::family().build();
        check(&house, "light", "chris office lights", &[entities(&["light.chris_office"])]);
        check(&house, "light", "chris office", &[Found::Area("chris_office".into())]);
        check(&house, "light", "客厅", &[Found::Area("living".into())]);
        check(&house, "light", "二楼", &[Found::Floor("first".into())]);
    }

    #[test]
    fn where_several_fit_none_is_chosen() {
        let house = testkit::family().build();
        let several = ["light.bedside_left", "light.bedside_right"];
        let several = several.iter().filter_map(|id| EntityId::parse(id)).collect();
        check(&house, "light", "床头灯", &[Found::Several(several)]);
    }
}
