//! The seeded family's house as a picture, made from the same table as the real one. Start at
//! [`family`]. Invariant: names, rooms, classes and values are the table's; nothing is added.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::house::{Area, Entity, EntityId, EntityInfo, Floor, House, State, Units};

const TABLE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../menshen/house/house.json"));

pub fn id(text: &str) -> EntityId {
    EntityId::parse(text).unwrap_or_else(|| panic!("{text} is no id"))
}

pub fn family() -> House {
    let table: Value = serde_json::from_str(TABLE).expect("the table is JSON");
    let rows = |key: &str| table[key].as_array().cloned().unwrap_or_default();
    let mut house = House { version: "2026.11.0".into(), ..House::default() };
    house.units = Arc::new(Units { temperature: Some("°C".into()), ..Units::default() });
    house.floors = Arc::new(rows("floors").iter().map(floor).collect());
    house.areas = Arc::new(rows("rooms").iter().map(area).collect());
    for row in rows("own").iter().chain(&rows("others")).chain(&rows("macros")) {
        house.entities.insert(id(text(row, "id")), entity(row));
    }
    house.reindexed()
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_default()
}

fn texts(value: &Value) -> Vec<Arc<str>> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(Arc::from).collect()
}

fn floor(row: &Value) -> (Arc<str>, Floor) {
    let floor = Floor { name: text(row, "name").into(), aliases: texts(&row["aliases"]), level: row["level"].as_i64() };
    (text(row, "id").into(), floor)
}

fn area(row: &Value) -> (Arc<str>, Area) {
    let floor_id = row["floor"].as_str().map(Arc::from);
    let area = Area { name: text(row, "name").into(), aliases: texts(&row["aliases"]), floor_id, labels: vec![] };
    (text(row, "id").into(), area)
}

fn entity(row: &Value) -> Entity {
    let mut names: Vec<Arc<str>> = Vec::new();
    for key in ["zh", "en", "names", "name"] {
        names.extend(row[key].as_str().map(Arc::from));
    }
    names.extend(texts(&row["aliases"]));
    let info = EntityInfo {
        area_id: row["room"].as_str().map(Arc::from),
        category: row["category"].as_str().map(Arc::from),
        hidden: row["hidden"] == json!(true) || text(row, "note").starts_with("hidden"),
        names,
        ..EntityInfo::default()
    };
    let disabled = row["disabled"] == json!(true);
    let state = (!disabled).then(|| Arc::new(state(row)));
    Entity { info: Arc::new(info), state }
}

fn state(row: &Value) -> State {
    let domain = text(row, "id").split('.').next().unwrap_or_default().to_owned();
    let mut attributes = Map::new();
    let mut put = |key: &str, value: &Value| {
        if !value.is_null() {
            attributes.insert(key.to_owned(), value.clone());
        }
    };
    put("device_class", &row["class"]);
    put("hvac_modes", &row["modes"]);
    put("fan_modes", &row["fan_modes"]);
    put("source_list", &row["sources"]);
    put("options", &row["options"]);
    put("volume_level", &row["volume"]);
    put("unit_of_measurement", &row["unit"]);
    put("current_temperature", &row["current"]);
    put("temperature", &row["temperature"]);
    put("current_position", &row["position"]);
    match domain.as_str() {
        "fan" => put("preset_modes", &row["presets"]),
        "humidifier" => {
            put("available_modes", &row["presets"]);
            put("humidity", &row["humidity"]);
        }
        "light" => {
            let modes = match text(row, "light") {
                "onoff" => json!(["onoff"]),
                "brightness" => json!(["brightness"]),
                "white" => json!(["color_temp"]),
                _ => json!(["color_temp", "hs"]),
            };
            put("supported_color_modes", &modes);
        }
        _ => {}
    }
    for (id, members) in GROUPS {
        if *id == text(row, "id") {
            put("entity_id", &json!(members));
        }
    }
    if text(row, "id") == "input_select.house_mode" {
        put("options", &json!(["Home", "Away", "Night", "Open up"]));
    }
    if text(row, "id") == "climate.hvac" {
        put("hvac_modes", &json!(["off", "heat", "cool", "auto", "dry", "fan_only"]));
        put("temperature", &json!(21));
    }
    let value = match (&row["state"], &row["position"], domain.as_str()) {
        (Value::String(state), ..) => state.clone(),
        (Value::Number(number), ..) => number.to_string(),
        (_, position, "cover" | "valve") if *position == json!(0) => "closed".to_owned(),
        (_, _, "cover" | "valve") => "open".to_owned(),
        (_, _, "lock") => "locked".to_owned(),
        _ => "off".to_owned(),
    };
    State { value: value.into(), attributes, ..State::default() }
}

const GROUPS: &[(&str, &[&str])] = &[
    ("lock.all_doors", &["lock.back_door", "lock.kitchen_door"]),
    ("cover.all_gates", &["cover.driveway_gate", "cover.side_garage"]),
    (
        "light.living_room_lights",
        &["light.living_room_ceiling", "light.living_room_floor_lamp", "light.living_room_strip"],
    ),
    (
        "light.upstairs_lights",
        &["light.bedroom_main", "light.bedside_lamp", "light.kids_room_main", "light.study_main", "light.hallway"],
    ),
    ("group.entrance", &["lock.back_door", "light.bed_light"]),
    ("group.nested", &["group.entrance"]),
];

/// What a test writes for a call: `light.turn_on light.a light.b {"brightness_pct":30}`.
pub fn written(calls: &[crate::gate::Call]) -> Vec<String> {
    let one = |call: &crate::gate::Call| {
        let mut ids: Vec<String> = crate::understood::targets(call).iter().map(ToString::to_string).collect();
        ids.sort();
        let data: BTreeMap<&String, &Value> = call.data.iter().collect();
        let data = if data.is_empty() { String::new() } else { format!(" {}", json!(data)) };
        format!("{}.{} {}{data}", call.domain, call.service, ids.join(" "))
    };
    calls.iter().map(one).collect()
}
