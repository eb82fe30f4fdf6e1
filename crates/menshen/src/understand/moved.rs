//! What moved, entity by entity, from the house's pictures before and after. Start at
//! [`of_outcomes`] (calls) and [`settled`] (macros). Invariant: what is told is what the house
//! showed, never what was wished.

use std::time::Duration;

use decide::house::{Entity, EntityId, House};
use decide::text::clean;
use mcp::Desk;
use serde::Serialize;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

/// Longest wait for a macro's things to stop moving.
const SETTLE: Duration = Duration::from_secs(3);
/// With no change for so long, they have.
const QUIET: Duration = Duration::from_millis(400);
const STATE_CHARS_MAX: usize = 60;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Moved {
    pub entity_id: EntityId,
    pub name: String,
    pub before: String,
    pub after: String,
    /// As the tools name outcomes; for what a macro reaches, `moved` or `as_it_was`.
    pub outcome: String,
}

/// The outcomes of a tool's answer, with values beside the states.
pub fn of_outcomes(desk: &Desk, before: &House, answer: &Value) -> Vec<Moved> {
    let after = desk.connection.house();
    let outcomes = answer.get("outcomes").and_then(Value::as_array);
    let one = |outcome: &Value| {
        let id = EntityId::parse(outcome.get("entity_id")?.as_str()?)?;
        let kind = outcome.get("outcome").and_then(Value::as_str).unwrap_or_default().to_owned();
        Some(moved(desk, &id, before, &after, kind))
    };
    outcomes.into_iter().flatten().filter_map(one).collect()
}

/// The entities that a preview names.
pub fn reached(preview: &Value) -> Vec<EntityId> {
    let lines = preview.get("would").and_then(Value::as_array);
    let mut ids: Vec<EntityId> = Vec::new();
    for line in lines.into_iter().flatten() {
        let id = line.get("entity_id").and_then(Value::as_str).and_then(EntityId::parse);
        if let Some(id) = id.filter(|id| !ids.contains(id)) {
            ids.push(id);
        }
    }
    ids
}

/// What a macro moved, what it reaches and left as it was, once the house is quiet.
pub async fn settled(desk: &Desk, before: &House, reached: &[EntityId]) -> Vec<Moved> {
    let mut changes = desk.connection.changes();
    let until = Instant::now() + SETTLE;
    while let Ok(Ok(())) = timeout_at(until.min(Instant::now() + QUIET), changes.changed()).await {}
    let after = desk.connection.house();
    // What moved beyond what could be read of the macro (all lights of a room) is told, too.
    let known = |id: &EntityId| reached.contains(id);
    let also = after.entities.iter().filter(|(id, entity)| {
        moves(id) && !known(id) && before.entity(id.as_str()).is_some_and(|it| it.value() != entity.value())
    });
    let also: Vec<EntityId> = also.map(|(id, _)| id.clone()).collect();
    let one = |id: &EntityId| {
        let mut moved = moved(desk, id, before, &after, "as_it_was".to_owned());
        if moved.before != moved.after {
            moved.outcome = "moved".to_owned();
        }
        moved
    };
    reached.iter().filter(|id| after.entity(id.as_str()).is_some()).chain(&also).map(one).collect()
}

/// A thing that a macro can move, and that does not move by itself.
fn moves(id: &EntityId) -> bool {
    matches!(
        id.domain(),
        "light"
            | "switch"
            | "lock"
            | "cover"
            | "valve"
            | "climate"
            | "fan"
            | "media_player"
            | "vacuum"
            | "lawn_mower"
            | "humidifier"
            | "water_heater"
            | "siren"
            | "alarm_control_panel"
            | "input_boolean"
            | "input_select"
            | "input_number"
            | "select"
            | "number"
            | "timer"
    )
}

fn moved(desk: &Desk, id: &EntityId, before: &House, after: &House, outcome: String) -> Moved {
    let state = |house: &House| house.entity(id.as_str()).map_or_else(String::new, |entity| state(id, entity));
    let name = desk.view(after).name(id);
    Moved { entity_id: id.clone(), name, before: state(before), after: state(after), outcome }
}

/// A state with the value that people look at: `on 30 %`, `open 50 %`, `cool 26 °`.
pub fn state(id: &EntityId, entity: &Entity) -> String {
    let value = clean(entity.value().unwrap_or("unavailable"), STATE_CHARS_MAX);
    let number = |key: &str| entity.attribute(key).and_then(Value::as_f64);
    let text = |key: &str| entity.attribute(key).and_then(Value::as_str).map(|text| clean(text, STATE_CHARS_MAX));
    let more = match id.domain() {
        "light" => number("brightness").map(|brightness| format!("{:.0} %", brightness / 2.55)),
        "cover" | "valve" => number("current_position").map(|position| format!("{position:.0} %")),
        "fan" => number("percentage").map(|percentage| format!("{percentage:.0} %")),
        "climate" | "water_heater" => number("temperature").map(|temperature| format!("{temperature} °")),
        "humidifier" => number("humidity").map(|humidity| format!("{humidity} %")),
        "media_player" => number("volume_level").map(|volume| format!("{:.0} %", volume * 100.0)),
        _ => None,
    };
    let colour = || {
        let colour = entity.attribute("rgb_color")?.as_array()?.iter().map(Value::to_string).collect::<Vec<_>>();
        Some(format!("rgb {}", colour.join(",")))
    };
    let also = match (id.domain(), text("color_mode").as_deref()) {
        ("light", Some("color_temp")) => number("color_temp_kelvin").map(|kelvin| format!("{kelvin:.0} K")),
        ("light", Some("hs" | "xy" | "rgb" | "rgbw" | "rgbww")) => colour(),
        ("fan", _) => text("preset_mode"),
        ("media_player", _) => text("source"),
        _ => None,
    };
    [Some(value), more, also].into_iter().flatten().collect::<Vec<_>>().join(" ")
}
