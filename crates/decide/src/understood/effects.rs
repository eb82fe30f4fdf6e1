//! What a wish does to one entity: verb, value and entity become service and data.
//!
//! Start at [`effect`]; [`calls`] puts equal ones together. Both readers of sentences (ours and
//! Home Assistant's) end here, so that "open" means the same physical thing in both. Invariant: a
//! wish that does not fit the entity's domain gives nothing, never something else.

use serde_json::{Map, Value, json};

use crate::gate::Call;
use crate::house::{Entity, EntityId, House};

mod values;

pub use values::{Level, Mode, Quantity};

/// What is wished for, before it is known of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// Switch on: "turn on".
    On,
    Off,
    /// Open or switch on, as Chinese 打开 says: what it does depends on the thing.
    OnOrOpen,
    OffOrClose,
    Open,
    Close,
    Lock,
    Unlock,
    Toggle,
    Stop,
    Pause,
    Play,
    Next,
    Previous,
    Mute,
    Unmute,
    /// Set to a value.
    Set,
    /// More of what the thing has: volume, warmth, light, speed, height.
    Up,
    Down,
    Brighter,
    Dimmer,
    Warmer,
    Cooler,
    Louder,
    Quieter,
    Faster,
    Slower,
    Start,
    Dock,
    Find,
    ArmHome,
    ArmAway,
    ArmNight,
    ArmVacation,
    Disarm,
    Press,
    /// Run a scene or script.
    Activate,
    Cancel,
}

/// A whole wish for one entity.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    pub verb: Verb,
    pub value: Option<Quantity>,
    /// The value says where to, not by how much.
    pub absolute: bool,
}

/// Service and data that fulfil a wish.
pub type Effect = (String, String, Map<String, Value>);

/// What the wish does to this entity, or nothing where it makes no sense for it.
pub fn effect(house: &House, id: &EntityId, wish: &Wish) -> Option<Vec<Effect>> {
    let entity = house.entity(id.as_str())?;
    let domain = id.domain();
    if let Some(value) = &wish.value {
        return values::effect(house, id, entity, wish, value);
    }
    let one = |domain: &str, service: &str| Some(vec![(domain.to_owned(), service.to_owned(), Map::new())]);
    match wish.verb {
        Verb::On | Verb::OnOrOpen | Verb::Open => match (on(domain, wish.verb, id, house), domain) {
            (Some(service), "group") => one("homeassistant", service),
            (Some(service), _) => one(domain, service),
            (None, _) => None,
        },
        Verb::Off | Verb::OffOrClose | Verb::Close => match (off(domain, wish.verb, id, house), domain) {
            (Some(service), "group") => one("homeassistant", service),
            (Some(service), _) => one(domain, service),
            (None, _) => None,
        },
        verb if values::steps(verb) => values::step(house, id, entity, verb, None),
        Verb::Mute | Verb::Unmute if domain == "media_player" => {
            let data = json!({"is_volume_muted": wish.verb == Verb::Mute});
            Some(vec![(domain.to_owned(), "volume_mute".to_owned(), object(data))])
        }
        Verb::Toggle if domain == "group" => one("homeassistant", "toggle"),
        verb => one(domain, plain(domain, verb)?),
    }
}

/// Equal effects on several entities as one call each, in order.
pub fn calls(wished: impl IntoIterator<Item = (EntityId, Vec<Effect>)>) -> Vec<Call> {
    let mut calls: Vec<(Effect, Vec<EntityId>)> = Vec::new();
    for (id, effects) in wished {
        for effect in effects {
            match calls.iter_mut().find(|(known, _)| *known == effect) {
                Some((_, ids)) if ids.contains(&id) => {}
                Some((_, ids)) => ids.push(id.clone()),
                None => calls.push((effect, vec![id.clone()])),
            }
        }
    }
    calls.into_iter().map(|((domain, service, data), ids)| call(domain, service, data, &ids)).collect()
}

pub fn call(domain: impl Into<String>, service: impl Into<String>, data: Map<String, Value>, ids: &[EntityId]) -> Call {
    let target = object(json!({"entity_id": ids}));
    Call { domain: domain.into(), service: service.into(), data, target: Some(target) }
}

fn on(domain: &str, verb: Verb, id: &EntityId, house: &House) -> Option<&'static str> {
    let opens = verb != Verb::On;
    let switches = verb != Verb::Open;
    Some(match domain {
        "cover" if opens => "open_cover",
        "lock" if opens => "unlock",
        "valve" => "open_valve",
        "vacuum" if switches => "start",
        "lawn_mower" if switches => "start_mowing",
        "button" | "input_button" if switches => "press",
        "light" | "switch" | "fan" | "media_player" | "climate" | "humidifier" | "input_boolean" | "siren"
        | "remote" | "water_heater" | "scene" | "script" | "automation"
            if switches =>
        {
            "turn_on"
        }
        "group" if switches && comfortable(house, id) => "turn_on",
        _ => return None,
    })
}

fn off(domain: &str, verb: Verb, id: &EntityId, house: &House) -> Option<&'static str> {
    let closes = verb != Verb::Off;
    let switches = verb != Verb::Close;
    Some(match domain {
        "cover" if closes => "close_cover",
        // 关门 of a thing that is only a lock: there is nothing else to close about it.
        "lock" if verb == Verb::OffOrClose => "lock",
        "valve" => "close_valve",
        "vacuum" if switches => "return_to_base",
        "lawn_mower" if switches => "dock",
        "light" | "switch" | "fan" | "media_player" | "climate" | "humidifier" | "input_boolean" | "siren"
        | "remote" | "water_heater" | "script" | "automation"
            if switches =>
        {
            "turn_off"
        }
        "group" if switches && comfortable(house, id) => "turn_off",
        _ => return None,
    })
}

/// An old-style group in which "on" can mean only one thing.
fn comfortable(house: &House, id: &EntityId) -> bool {
    let members = house.entity(id.as_str()).map(|entity| entity.members().collect::<Vec<_>>()).unwrap_or_default();
    !members.is_empty()
        && members.iter().all(|id| matches!(id.domain(), "light" | "switch" | "fan" | "media_player" | "input_boolean"))
}

/// Wishes that are one service of the domain.
fn plain(domain: &str, verb: Verb) -> Option<&'static str> {
    Some(match (domain, verb) {
        ("lock", Verb::Lock) => "lock",
        ("lock", Verb::Unlock) => "unlock",
        ("cover" | "valve" | "light" | "switch" | "fan" | "media_player" | "climate" | "humidifier", Verb::Toggle)
        | ("input_boolean" | "siren", Verb::Toggle) => "toggle",
        ("cover", Verb::Stop) => "stop_cover",
        ("valve", Verb::Stop) => "stop_valve",
        ("vacuum", Verb::Stop) => "stop",
        ("media_player", Verb::Stop) => "media_stop",
        ("media_player", Verb::Pause) => "media_pause",
        ("vacuum" | "lawn_mower" | "timer", Verb::Pause) => "pause",
        ("media_player", Verb::Play) => "media_play",
        ("media_player", Verb::Next) => "media_next_track",
        ("media_player", Verb::Previous) => "media_previous_track",
        ("vacuum" | "timer", Verb::Start) => "start",
        ("valve", Verb::Start) => "open_valve",
        ("lawn_mower", Verb::Start) => "start_mowing",
        ("script" | "scene" | "switch" | "fan" | "climate" | "humidifier", Verb::Start) => "turn_on",
        ("vacuum", Verb::Dock) => "return_to_base",
        ("lawn_mower", Verb::Dock) => "dock",
        ("vacuum", Verb::Find) => "locate",
        ("timer", Verb::Cancel | Verb::Stop) => "cancel",
        ("script", Verb::Stop | Verb::Cancel) => "turn_off",
        ("fan" | "switch" | "climate" | "humidifier" | "siren", Verb::Stop) => "turn_off",
        ("alarm_control_panel", Verb::ArmHome) => "alarm_arm_home",
        ("alarm_control_panel", Verb::ArmAway) => "alarm_arm_away",
        ("alarm_control_panel", Verb::ArmNight) => "alarm_arm_night",
        ("alarm_control_panel", Verb::ArmVacation) => "alarm_arm_vacation",
        ("alarm_control_panel", Verb::Disarm) => "alarm_disarm",
        ("button" | "input_button", Verb::Press | Verb::Activate) => "press",
        ("script" | "scene", Verb::Activate) => "turn_on",
        _ => return None,
    })
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// A light that can be dimmed, as far as the house says.
pub fn dimmable(entity: &Entity) -> bool {
    let modes = entity.attribute("supported_color_modes").and_then(Value::as_array);
    modes.is_none_or(|modes| modes.iter().any(|mode| !matches!(mode.as_str(), Some("onoff"))))
}

/// A light that takes colours, as far as the house says.
pub fn colourful(entity: &Entity) -> bool {
    let modes = entity.attribute("supported_color_modes").and_then(Value::as_array);
    let takes = |mode: &Value| matches!(mode.as_str(), Some("hs" | "rgb" | "rgbw" | "rgbww" | "xy"));
    modes.is_none_or(|modes| modes.iter().any(takes))
}

/// A light that takes a colour temperature; a colourful one shows it, too.
pub fn tunable(entity: &Entity) -> bool {
    let modes = entity.attribute("supported_color_modes").and_then(Value::as_array);
    modes.is_none_or(|modes| modes.iter().any(|mode| mode.as_str() == Some("color_temp"))) || colourful(entity)
}
