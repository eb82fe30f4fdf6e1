//! `list_entities`: what can be addressed, filtered and in pages. Start at [`list_entities`].
//! Invariant: `count` is the number of all matches, whatever the page.

use decide::house::{Entity, EntityId};
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
    area: Option<String>,
    floor: Option<String>,
    label: Option<String>,
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
        area: folded("area")?,
        floor: folded("floor")?,
        label: folded("label")?,
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
            && self.area.as_ref().is_none_or(|area| self.in_area(entity, area))
            && self.floor.as_ref().is_none_or(|floor| self.on_floor(entity, floor))
            && self.label.as_ref().is_none_or(|label| self.labelled(entity, label))
            && self.query.as_ref().is_none_or(|query| self.called(query, id, entity))
    }

    fn in_area(&self, entity: &Entity, wanted: &str) -> bool {
        self.view.house.area_of(entity).is_some_and(|(id, area)| {
            fold(id) == wanted || fold(&area.name) == wanted || area.aliases.iter().any(|alias| fold(alias) == wanted)
        })
    }

    fn on_floor(&self, entity: &Entity, wanted: &str) -> bool {
        let area = self.view.house.area_of(entity).map(|(_, area)| area);
        area.and_then(|area| area.floor_id.as_ref()).is_some_and(|id| {
            let floor = self.view.house.floors.get(id);
            fold(id) == wanted
                || floor.is_some_and(|floor| {
                    fold(&floor.name) == wanted || floor.aliases.iter().any(|alias| fold(alias) == wanted)
                })
        })
    }

    fn labelled(&self, entity: &Entity, wanted: &str) -> bool {
        self.view.house.labels_of(entity).any(|id| {
            fold(id) == wanted || self.view.house.labels.get(id).is_some_and(|label| fold(&label.name) == wanted)
        })
    }

    fn called(&self, query: &Query, id: &EntityId, entity: &Entity) -> bool {
        query.within_id(id) || entity.info.names.iter().any(|name| query.within(name))
    }

    /// Why nothing was found, where the house has no such area or floor at all.
    fn unknown(&self) -> Option<&'static str> {
        let house = self.view.house;
        let area = |wanted: &String| {
            house.areas.iter().any(|(id, area)| {
                fold(id) == *wanted
                    || fold(&area.name) == *wanted
                    || area.aliases.iter().any(|alias| fold(alias) == *wanted)
            })
        };
        self.area.as_ref().filter(|wanted| !area(wanted)).map(|_| {
            say(
                self.view.language,
                "This house has no such area. home_overview lists the areas; query searches names.",
                "这个家没有这个区域。home_overview 会列出区域；query 可以搜索名称。",
            )
        })
    }
}
