//! A call as the gate wants it: names into ids, numbers into the house's units. Start at
//! [`prepare`]. Invariants: of what was asked only an area beside a name is dropped, since the
//! name was looked for in it; what cannot be understood here goes on to the gate as it came, which
//! refuses it by name.

use decide::gate::{Call, Language};
use decide::house::EntityId;
use decide::text::clean;
use serde_json::{Map, Value, json};
use unicode_normalization::UnicodeNormalization;

use super::values;
use crate::tools::answer::bad_request;
use crate::tools::arguments::Arguments;
use crate::tools::fold::fold;
use crate::tools::names::{CANDIDATES_MAX, COMMAS, Found, Place, find};
use crate::tools::row::candidate;
use crate::tools::view::View;

pub const ARGUMENTS: [&str; 5] = ["domain", "service", "entity_id", "data", "target"];

/// Target keys that name places, in data as in target.
const PLACES: [&str; 4] = ["area_id", "floor_id", "label_id", "device_id"];

pub fn prepare(view: &View<'_>, given: &Map<String, Value>) -> Result<Call, Value> {
    let arguments = Arguments::read(given, &ARGUMENTS, view.language)?;
    let domain = arguments.required("domain")?.to_lowercase();
    let service = arguments.required("service")?.to_lowercase();
    // `light.turn_on` as the service is common, and clear.
    let service = service.strip_prefix(&format!("{domain}.")).unwrap_or(&service).to_owned();
    let mut data = arguments.object("data")?;
    let mut target = arguments.object("target")?;
    let ids = [arguments.value("entity_id").cloned(), target.remove("entity_id"), data.remove("entity_id")];
    let mut resolved = Resolved::default();
    for key in PLACES {
        for value in [target.remove(key), data.remove(key)].into_iter().flatten() {
            resolved.place(view, key, value)?;
        }
    }
    // A name beside an area is meant in that area; ids beside an area are meant with it.
    let narrowed = ids.iter().flatten().all(|value| only_names(view, value)) && ids.iter().any(Option::is_some);
    let areas = if narrowed { resolved.areas(view) } else { Vec::new() };
    for value in ids.into_iter().flatten() {
        resolved.add(view, Place { domain: &domain, areas: &areas }, value)?;
    }
    if !areas.is_empty() {
        resolved.target.remove("area_id");
        resolved.target.remove("floor_id");
    }
    values::convert(view, &domain, &service, &mut data)?;
    target.extend(resolved.target);
    let target = (!target.is_empty()).then_some(target);
    Ok(Call { domain, service, data, target })
}

/// Limit: names in one call that are looked up; ids are not looked up and do not count.
pub const NAMES_MAX: usize = 100;

/// Target keys, each with all that was given for it in whatever place.
#[derive(Default)]
struct Resolved {
    target: Map<String, Value>,
    /// Names that were looked up so far.
    names: usize,
}

impl Resolved {
    fn push(&mut self, key: &str, value: Value) {
        match self.target.get_mut(key) {
            None => {
                self.target.insert(key.to_owned(), json!([value]));
            }
            Some(Value::Array(values)) => {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            Some(_) => {}
        }
    }

    /// The areas that were named, those of floors too.
    fn areas(&self, view: &View<'_>) -> Vec<String> {
        let texts =
            |key| self.target.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let on_floors = texts("floor_id").filter_map(|floor| view.house.index.by_floor.get(floor)).flatten();
        texts("area_id").map(str::to_owned).chain(on_floors.map(ToString::to_string)).collect()
    }

    fn add(&mut self, view: &View<'_>, place: Place<'_>, value: Value) -> Result<(), Value> {
        match value {
            Value::String(text) if as_it_is(view, &text) => self.push("entity_id", json!(text)),
            Value::String(text) => {
                self.count_names(view, 1 + text.matches(COMMAS).count())?;
                for (said, found) in find(view, place, &text) {
                    match found {
                        Found::Entities(ids) => ids.iter().for_each(|id| self.push("entity_id", json!(id))),
                        Found::Area(id) => self.push("area_id", json!(id)),
                        Found::Floor(id) => self.push("floor_id", json!(id)),
                        Found::Several(ids) => return Err(ambiguous(view, &said, &ids)),
                        Found::Nothing(_) if id_like(&said) => self.push("entity_id", json!(said)),
                        Found::Nothing(ids) => return Err(not_found(view, &said, &ids)),
                    }
                }
            }
            Value::Array(values) => {
                for value in values {
                    self.add(view, place, value)?;
                }
            }
            other => self.push("entity_id", other),
        }
        Ok(())
    }

    /// Ids of places, or their names.
    fn place(&mut self, view: &View<'_>, key: &str, value: Value) -> Result<(), Value> {
        match value {
            Value::Array(values) => return values.into_iter().try_for_each(|value| self.place(view, key, value)),
            Value::String(text) => {
                let house = view.house;
                let known = match key {
                    "area_id" => house.areas.contains_key(&*text),
                    "floor_id" => house.floors.contains_key(&*text),
                    "label_id" => house.labels.contains_key(&*text),
                    _ => true, // devices have no names here
                };
                self.count_names(view, usize::from(!known))?;
                self.push(key, json!(place_id(view, key, &text).unwrap_or(text)));
            }
            other => self.push(key, other),
        }
        Ok(())
    }

    /// Looking up a name reads the whole house, so a call has only so many.
    fn count_names(&mut self, view: &View<'_>, more: usize) -> Result<(), Value> {
        self.names += more;
        if self.names <= NAMES_MAX {
            return Ok(());
        }
        Err(bad_request(match view.language {
            Language::English => format!(
                "These are too many names: at most {NAMES_MAX} in one call. Nothing was done. Use ids from list_entities, or name an area, floor or label."
            ),
            Language::Chinese => format!(
                "名称太多：一次最多 {NAMES_MAX} 个。没有执行任何操作。请使用 list_entities 给出的 id，或指定区域、楼层、标签。"
            ),
        }))
    }
}

/// The id of the one place of this name.
fn place_id(view: &View<'_>, key: &str, text: &str) -> Option<String> {
    let wanted = fold(text);
    let called = |name: &str| !wanted.is_empty() && fold(name) == wanted;
    let house = view.house;
    let found: Vec<String> = match key {
        "area_id" if !house.areas.contains_key(text) => (house.areas.iter())
            .filter(|(_, area)| called(&area.name) || area.aliases.iter().any(|alias| called(alias)))
            .map(|(id, _)| id.to_string())
            .collect(),
        "floor_id" if !house.floors.contains_key(text) => (house.floors.iter())
            .filter(|(_, floor)| called(&floor.name) || floor.aliases.iter().any(|alias| called(alias)))
            .map(|(id, _)| id.to_string())
            .collect(),
        "label_id" if !house.labels.contains_key(text) => {
            house.labels.iter().filter(|(_, label)| called(&label.name)).map(|(id, _)| id.to_string()).collect()
        }
        _ => return None,
    };
    match <[String; 1]>::try_from(found) {
        Ok([id]) => Some(id),
        Err(_) => None,
    }
}

/// Ids, keywords and templates go to the gate as they came.
fn as_it_is(view: &View<'_>, text: &str) -> bool {
    let word = text.trim();
    let keyword = word.eq_ignore_ascii_case("all") || word.eq_ignore_ascii_case("none") || word.is_empty();
    let known = |part: &str| EntityId::parse(part).is_some_and(|id| view.house.entity(id.as_str()).is_some());
    keyword || word.contains("{{") || word.contains("{%") || word.split(',').all(known)
}

/// Nothing but names: no id, no keyword, nothing for the gate to refuse.
fn only_names(view: &View<'_>, value: &Value) -> bool {
    match value {
        Value::String(text) => !as_it_is(view, text) && !text.split(',').any(id_like),
        Value::Array(values) => !values.is_empty() && values.iter().all(|value| only_names(view, value)),
        _ => false,
    }
}

/// Meant as an id, in whatever spelling: the gate names what is wrong with it.
fn id_like(text: &str) -> bool {
    let plain: String = text.nfkc().collect();
    let hexadecimal = plain.len() == 32 && plain.bytes().all(|b| b.is_ascii_hexdigit());
    hexadecimal || EntityId::parse(&plain).is_some()
}

fn ambiguous(view: &View<'_>, said: &str, ids: &[EntityId]) -> Value {
    let said = clean(said, 60);
    let count = ids.len();
    let message = match view.language {
        Language::English => {
            format!(
                "{count} things fit \"{said}\". Nothing was done. Ask the person which one, then use its entity_id."
            )
        }
        Language::Chinese => {
            format!("有 {count} 个设备符合“{said}”。没有执行任何操作。请问清楚是哪一个，再用它的 entity_id。")
        }
    };
    let candidates: Vec<Value> = ids.iter().take(CANDIDATES_MAX).map(|id| candidate(view, id)).collect();
    json!({"ok": false, "error": "ambiguous", "message": message, "count": count, "candidates": candidates})
}

fn not_found(view: &View<'_>, said: &str, nearest: &[EntityId]) -> Value {
    let said = clean(said, 60);
    let message = match view.language {
        Language::English => {
            format!("Nothing here is called \"{said}\". Nothing was done. list_entities shows names and ids.")
        }
        Language::Chinese => {
            format!("没有叫“{said}”的设备。没有执行任何操作。用 list_entities 查看名称和 id。")
        }
    };
    let nearest: Vec<Value> = nearest.iter().map(|id| candidate(view, id)).collect();
    json!({"ok": false, "error": "not_found", "message": message, "nearest": nearest})
}
