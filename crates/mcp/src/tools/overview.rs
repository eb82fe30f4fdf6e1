//! `home_overview`: the whole house at a glance. Start at [`overview`]. Invariant: the answer, as
//! text, is at most [`OVERVIEW_CHARS_MAX`] long whatever the house; what is left out is counted and
//! the answer says where to look for it.

use std::collections::BTreeMap;

use decide::gate::Language;
use decide::house::Area;
use serde_json::{Map, Value, json};

use super::answer::{reading, say};
use super::arguments::Arguments;
use super::print::print;
use super::view::{View, cleaned};

mod rollup;

use rollup::Rollup;

/// Limit: 4,000 tokens of four characters each, less a margin.
pub const OVERVIEW_CHARS_MAX: usize = 15_600;

/// Ids in one list of a room, of the house, and of the standing permissions.
const ROOM_IDS_MAX: usize = 12;
const HOUSE_IDS_MAX: usize = 20;
const GRANTS_MAX: usize = 30;
const FLOORS_MAX: usize = 20;
const ALARMS_MAX: usize = 10;

/// One room: its registry entry and what is in it.
struct Room<'a> {
    id: &'a str,
    area: &'a Area,
    level: i64,
    sum: Rollup,
}

/// How much is said of each room.
#[derive(Clone, Copy, PartialEq)]
enum Detail {
    Full,
    /// What is on, and whether something is open.
    Short,
    /// Name and count: where to look.
    Index,
}

/// The tool: it takes no arguments.
pub fn home_overview(view: &View<'_>, given: &Map<String, Value>) -> Result<Value, Value> {
    Arguments::read(given, &[], view.language)?;
    Ok(overview(view))
}

/// Rooms, floors and what they come to.
pub fn overview(view: &View<'_>) -> Value {
    let (rooms, unassigned, whole) = gather(view);
    let frame = frame(view, unassigned, &whole);
    for detail in [Detail::Full, Detail::Short, Detail::Index] {
        let rooms = rooms.iter().map(|room| shape(view, room, detail)).collect();
        let answer = with_rooms(&frame, rooms, 0, view.language, detail);
        if print(&answer).chars().count() <= OVERVIEW_CHARS_MAX {
            return answer;
        }
    }
    truncated(view, &rooms, &frame)
}

/// As many rooms as fit, the fullest first.
fn truncated(view: &View<'_>, rooms: &[Room<'_>], frame: &Map<String, Value>) -> Value {
    let mut order: Vec<&Room<'_>> = rooms.iter().collect();
    order.sort_by_key(|room| std::cmp::Reverse(room.sum.entities));
    let mut kept = Vec::new();
    // Room for the frame, its brackets and the note that says what is missing.
    let mut chars = print(&Value::Object(frame.clone())).chars().count() + 700;
    for room in &order {
        let shape = shape(view, room, Detail::Index);
        chars += print(&json!([shape])).chars().count();
        if chars > OVERVIEW_CHARS_MAX {
            break;
        }
        kept.push(shape);
    }
    let left = order.len() - kept.len();
    with_rooms(frame, kept, left, view.language, Detail::Index)
}

fn gather<'a>(view: &View<'a>) -> (Vec<Room<'a>>, usize, Rollup) {
    let mut sums: BTreeMap<&str, Rollup> = BTreeMap::new();
    let mut whole = Rollup::default();
    for (id, entity) in view.visible() {
        let sum = match view.house.area_of(entity) {
            Some((area, _)) => sums.entry(area).or_default(),
            None => &mut whole,
        };
        sum.add(view, id, entity);
    }
    let unassigned = whole.entities;
    whole.take_in(sums.values());
    let limited = view.policy.scope != decide::gate::Scope::default();
    let mut rooms: Vec<Room<'a>> = (view.house.areas.iter())
        .map(|(id, area)| {
            let floor = area.floor_id.as_ref().and_then(|floor| view.house.floors.get(floor));
            let level = floor.and_then(|floor| floor.level).unwrap_or(0);
            Room { id, area, level, sum: sums.remove(&**id).unwrap_or_default() }
        })
        // With a scope set, a room that shows nothing is as if not there.
        .filter(|room| !limited || room.sum.entities > 0)
        .collect();
    rooms.sort_by(|a, b| (a.level, &a.area.name).cmp(&(b.level, &b.area.name)));
    (rooms, unassigned, whole)
}

/// All but the rooms.
fn frame(view: &View<'_>, unassigned: usize, whole: &Rollup) -> Map<String, Value> {
    let mut answer = reading(view.house, view.language);
    answer.insert("ha_version".into(), json!(cleaned(&view.house.version)));
    let grants: Vec<_> = view.policy.grants.keys().filter(|id| view.reaches(id)).take(GRANTS_MAX).collect();
    answer.insert("standing_allowances".into(), json!(grants));
    let mut floors: Vec<_> = view.house.floors.iter().collect();
    floors.sort_by_key(|(_, floor)| floor.level.unwrap_or(0));
    let floors: Vec<Value> = (floors.into_iter().take(FLOORS_MAX))
        .map(|(id, floor)| json!({"id": id, "name": cleaned(&floor.name), "level": floor.level}))
        .collect();
    answer.insert("floors".into(), json!(floors));
    answer.insert("security".into(), whole.security.shape(HOUSE_IDS_MAX));
    let alarms: Vec<Value> = (view.visible())
        .filter(|(id, _)| id.domain() == "alarm_control_panel")
        .take(ALARMS_MAX)
        .map(|(id, entity)| {
            json!({"entity_id": id, "name": view.name(id), "state": cleaned(entity.value().unwrap_or("unavailable"))})
        })
        .collect();
    answer.insert("alarms".into(), json!(alarms));
    answer.insert("unassigned".into(), json!(unassigned));
    answer.insert("total_entities".into(), json!(whole.entities));
    answer
}

fn shape(view: &View<'_>, room: &Room<'_>, detail: Detail) -> Value {
    let mut shape = Map::new();
    shape.insert("name".into(), json!(cleaned(&room.area.name)));
    shape.insert("area_id".into(), json!(room.id));
    shape.insert("floor".into(), json!(view.floor(room.area)));
    shape.insert("entities".into(), json!(room.sum.entities));
    let secure = room.sum.security.secure();
    match detail {
        Detail::Full => {
            shape.insert("lighting".into(), room.sum.light.shape());
            shape.insert("climate".into(), room.sum.climate.shape(view));
            shape.insert("security".into(), room.sum.security.shape(ROOM_IDS_MAX));
        }
        Detail::Short => {
            if room.sum.light.total > 0 {
                shape.insert("lighting".into(), json!({"total": room.sum.light.total, "on": room.sum.light.on}));
            }
            if !secure {
                shape.insert("secure".into(), json!(false));
            }
        }
        Detail::Index if !secure => {
            shape.remove("floor");
            shape.insert("secure".into(), json!(false));
        }
        Detail::Index => {
            shape.remove("floor");
        }
    }
    Value::Object(shape)
}

fn with_rooms(frame: &Map<String, Value>, rooms: Vec<Value>, left: usize, language: Language, detail: Detail) -> Value {
    let mut answer = frame.clone();
    answer.insert("rooms".into(), Value::Array(rooms));
    if left > 0 {
        answer.insert("rooms_truncated".into(), json!(left));
    }
    if detail != Detail::Full {
        let note = say(
            language,
            "This house is large: rooms are shown as an index. Use list_entities with area, floor, domain or query to look inside.",
            "这座房子很大，这里只列出房间索引。要看细节，请用 list_entities 加上 area、floor、domain 或 query。",
        );
        answer.insert("note".into(), json!(note));
    }
    Value::Object(answer)
}
