//! `list_entities`: what can be addressed, filtered and in pages. Start at [`list_entities`].
//! Invariant: `count` is the number of all matches, whatever the page.

use std::collections::BTreeSet;
use std::sync::Arc;

use decide::house::{Area, Entity, EntityId, House};
use serde_json::{Map, Value, json};

use super::answer::{reading, say};
use super::arguments::Arguments;
use super::fold::{Query, fold};
use super::row::row;
use super::view::View;

/// Entities on a page, unless asked for otherwise.
const PAGE: usize = 50;
/// Limit: entities on a page.
const PAGE_MAX: usize = 200;

pub const ARGUMENTS: [&str; 9] =
    ["domain", "area", "floor", "label", "query", "state", "include_hidden", "limit", "offset"];

struct Filter<'a> {
    domain: Option<String>,
    areas: Option<BTreeSet<&'a str>>,
    floors: Option<BTreeSet<&'a str>>,
    labels: Option<BTreeSet<&'a str>>,
    state: Option<String>,
    query: Option<Query>,
    hidden: bool,
    view: &'a View<'a>,
}

pub fn list_entities(view: &View<'_>, given: &Map<String, Value>) -> Result<Value, Value> {
    let arguments = Arguments::read(given, &ARGUMENTS, view.language)?;
    let folded = |key| Ok::<_, Value>(arguments.text(key)?.map(fold));
    let filter = Filter {
        domain: arguments.text("domain")?.map(str::to_lowercase),
        areas: folded("area")?.map(|wanted| areas(view.house, &wanted)),
        floors: folded("floor")?.map(|wanted| floors(view.house, &wanted)),
        labels: folded("label")?.map(|wanted| labels(view.house, &wanted)),
        state: arguments.text("state")?.map(str::to_lowercase),
        query: arguments.text("query")?.map(Query::new),
        hidden: arguments.flag("include_hidden")?,
        view,
    };
    let limit = arguments.count("limit")?.unwrap_or(PAGE).clamp(1, PAGE_MAX);
    let offset = arguments.count("offset")?.unwrap_or(0);
    let mut count = 0;
    let mut page = Vec::new();
    for (id, entity) in view.all().filter(|(id, entity)| filter.takes(id, entity)) {
        if count >= offset && page.len() < limit {
            page.push(row(view, id, entity));
        }
        count += 1;
    }
    let next = offset + page.len();
    let mut answer = reading(view.house, view.language);
    answer.insert("count".into(), json!(count));
    answer.insert("truncated".into(), json!(next < count));
    if next < count {
        answer.insert("next_offset".into(), json!(next));
    }
    answer.insert("entities".into(), Value::Array(page));
    if count == 0
        && let Some(note) = filter.unknown()
    {
        answer.insert("note".into(), json!(note));
    }
    Ok(Value::Object(answer))
}

impl Filter<'_> {
    /// The cheap tests first: a house may have fifty thousand.
    fn takes(&self, id: &EntityId, entity: &Entity) -> bool {
        (self.hidden || !entity.info.hidden)
            && self.domain.as_ref().is_none_or(|domain| id.domain() == domain)
            && self.state.as_ref().is_none_or(|state| entity.value().unwrap_or("unavailable").to_lowercase() == *state)
            && self.areas.as_ref().is_none_or(|areas| self.in_area(entity, areas))
            && self.floors.as_ref().is_none_or(|floors| self.on_floor(entity, floors))
            && self.labels.as_ref().is_none_or(|labels| self.labelled(entity, labels))
            && self.query.as_ref().is_none_or(|query| self.called(query, id, entity))
    }

    fn in_area(&self, entity: &Entity, areas: &BTreeSet<&str>) -> bool {
        self.view.house.area_of(entity).is_some_and(|(id, _)| areas.contains(&**id))
    }

    fn on_floor(&self, entity: &Entity, floors: &BTreeSet<&str>) -> bool {
        let area = self.view.house.area_of(entity).map(|(_, area)| area);
        area.and_then(|area| area.floor_id.as_deref()).is_some_and(|id| floors.contains(id))
    }

    fn labelled(&self, entity: &Entity, labels: &BTreeSet<&str>) -> bool {
        self.view.house.labels_of(entity).any(|id| labels.contains(&**id))
    }

    fn called(&self, query: &Query, id: &EntityId, entity: &Entity) -> bool {
        query.within_id(id) || entity.info.names.iter().any(|name| query.within(name))
    }

    /// Why nothing was found, where the house has no such area or floor at all.
    fn unknown(&self) -> Option<&'static str> {
        self.areas.as_ref().filter(|areas| areas.is_empty()).map(|_| {
            say(
                self.view.language,
                "This house has no such area. home_overview lists the areas; query searches names.",
                "这个家没有这个区域。home_overview 会列出区域；query 可以搜索名称。",
            )
        })
    }
}

/// Ids of the areas of this name.
fn areas<'a>(house: &'a House, wanted: &str) -> BTreeSet<&'a str> {
    let called = |id: &str, area: &Area| named(wanted, id, &area.name, &area.aliases);
    house.areas.iter().filter(|(id, area)| called(id, area)).map(|(id, _)| &**id).collect()
}

/// Ids of the floors of this name.
fn floors<'a>(house: &'a House, wanted: &str) -> BTreeSet<&'a str> {
    let called = |id: &str| match house.floors.get(id) {
        Some(floor) => named(wanted, id, &floor.name, &floor.aliases),
        None => named(wanted, id, "", &[]),
    };
    house.index.by_floor.keys().map(|id| &**id).filter(|id| called(id)).collect()
}

/// Ids of the labels of this name.
fn labels<'a>(house: &'a House, wanted: &str) -> BTreeSet<&'a str> {
    let called = |id: &str| named(wanted, id, house.labels.get(id).map_or("", |label| &label.name), &[]);
    house.index.by_label.keys().map(|id| &**id).filter(|id| called(id)).collect()
}

fn named(wanted: &str, id: &str, name: &str, aliases: &[Arc<str>]) -> bool {
    fold(id) == wanted || fold(name) == wanted || aliases.iter().any(|alias| fold(alias) == wanted)
}
