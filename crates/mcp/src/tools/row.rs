//! One entity on one line: what it is called, how it is, and whether the gate watches it. Start at
//! [`row`]. Invariant: state and names are cleaned text; no other attribute text leaves.

use decide::house::{Entity, EntityId};
use decide::text::clean;
use serde_json::{Map, Value, json};

use super::numbers::tenths;
use super::view::{View, cleaned};

/// Longest state shown, in characters.
const STATE_CHARS: usize = 80;
/// Aliases shown beside the name.
const ALIASES_MAX: usize = 4;

/// Numeric attributes that say how a thing is, and the name they get here.
const NUMBERS: [(&str, &str, &str); 9] = [
    ("climate", "current_temperature", "current_temperature"),
    ("climate", "temperature", "temperature"),
    ("water_heater", "current_temperature", "current_temperature"),
    ("water_heater", "temperature", "temperature"),
    ("humidifier", "humidity", "humidity"),
    ("cover", "current_position", "position"),
    ("valve", "current_position", "position"),
    ("fan", "percentage", "percentage"),
    ("vacuum", "battery_level", "battery"),
];

pub fn row(view: &View<'_>, id: &EntityId, entity: &Entity) -> Value {
    let mut row = Map::new();
    row.insert("entity_id".into(), json!(id));
    row.insert("name".into(), json!(view.name(id)));
    row.insert("domain".into(), json!(id.domain()));
    row.insert("area".into(), json!(view.area(entity)));
    row.insert("device_class".into(), json!(class(entity)));
    row.insert("state".into(), json!(state(entity)));
    row.insert("guarded".into(), json!(view.guarded(id)));
    row.insert("allowed".into(), json!(view.allowed(id)));
    details(id, entity, &mut row);
    Value::Object(row)
}

/// Short form for a choice between several: enough to ask the person which one.
pub fn candidate(view: &View<'_>, id: &EntityId) -> Value {
    let mut row = Map::new();
    row.insert("entity_id".into(), json!(id));
    row.insert("name".into(), json!(view.name(id)));
    if let Some(entity) = view.house.entity(id.as_str()) {
        row.insert("area".into(), json!(view.area(entity)));
        let area = view.house.area_of(entity);
        row.insert("floor".into(), json!(area.and_then(|(_, area)| view.floor(area))));
        row.insert("state".into(), json!(state(entity)));
    }
    Value::Object(row)
}

pub fn state(entity: &Entity) -> String {
    clean(entity.value().unwrap_or("unavailable"), STATE_CHARS)
}

/// Class as the house shows it: state, else the person's, else the integration's.
fn class(entity: &Entity) -> Option<String> {
    entity.classes().next().map(|class| clean(class, STATE_CHARS))
}

fn details(id: &EntityId, entity: &Entity, row: &mut Map<String, Value>) {
    if let Some(unit) = entity.attribute("unit_of_measurement").and_then(Value::as_str) {
        row.insert("unit".into(), json!(clean(unit, 20)));
    }
    let number = |key: &str| entity.attribute(key).and_then(Value::as_f64);
    if id.domain() == "light"
        && let Some(brightness) = number("brightness")
    {
        row.insert("brightness_pct".into(), json!((brightness / 2.55).round() as i64));
    }
    if let Some(volume) = number("volume_level").filter(|_| id.domain() == "media_player") {
        row.insert("volume_pct".into(), json!((volume * 100.0).round() as i64));
    }
    for (domain, attribute, key) in NUMBERS {
        if let Some(value) = number(attribute).filter(|_| id.domain() == domain) {
            row.insert(key.into(), tenths(value));
        }
    }
    let aliases: Vec<String> = entity.info.names.iter().skip(1).take(ALIASES_MAX).map(|name| cleaned(name)).collect();
    if !aliases.is_empty() {
        row.insert("aliases".into(), json!(aliases));
    }
    if entity.info.hidden {
        row.insert("hidden".into(), json!(true));
    }
    if entity.assumed_state() {
        row.insert("assumed_state".into(), json!(true));
    }
}
