//! Wishes with a value: to 30 %, to 26.5 degrees, two degrees more, red, Netflix.
//!
//! Start at [`effect`]. Invariant: a value that the entity's domain has no use for gives nothing;
//! a relative wish is worked out from the state that the house shows, and only where it shows one.

use serde_json::{Map, Value, json};

use super::{Effect, Verb, Wish, colourful, dimmable, object, tunable};
use crate::house::{Entity, EntityId, House};

/// A value as it was said.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    /// A number without a unit.
    Number(f64),
    Percent(f64),
    /// Degrees of the house's own scale.
    Degrees(f64),
    Fahrenheit(f64),
    Celsius(f64),
    Kelvin(i64),
    /// A CSS colour name.
    Colour(&'static str),
    Level(Level),
    Mode(Mode),
    Seconds(i64),
    /// One of the entity's own options: service, key and value.
    Option {
        service: &'static str,
        key: &'static str,
        value: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Lowest,
    Low,
    Medium,
    High,
    Highest,
}

/// What a climate device does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Cool,
    Heat,
    Dry,
    Fan,
    Auto,
    HeatCool,
}

const BRIGHTNESS_STEP: f64 = 20.0;
const VOLUME_STEP: f64 = 0.1;
const SPEED_STEP: f64 = 20.0;
const HUMIDITY_STEP: f64 = 5.0;
/// What no thermostat of a home means, in its own scale.
const DEGREES: std::ops::RangeInclusive<f64> = -40.0..=150.0;

pub(super) fn effect(
    house: &House,
    id: &EntityId,
    entity: &Entity,
    wish: &Wish,
    value: &Quantity,
) -> Option<Vec<Effect>> {
    if let (Quantity::Option { service, key, value }, Verb::Set | Verb::On | Verb::OnOrOpen) = (value, wish.verb) {
        return Some(vec![named(id.domain(), service, json!({*key: value}))]);
    }
    if !wish.absolute && steps(wish.verb) {
        return step(house, id, entity, wish.verb, Some(value));
    }
    let sets = matches!(wish.verb, Verb::Set | Verb::Up | Verb::Down);
    let on = sets || matches!(wish.verb, Verb::On | Verb::OnOrOpen);
    match id.domain() {
        "light" if on || matches!(wish.verb, Verb::Brighter | Verb::Dimmer) => light(entity, value),
        domain @ ("cover" | "valve") if sets || opens(wish.verb) || (wish.absolute && shuts(wish.verb)) => {
            position(domain, value)
        }
        "climate" | "water_heater" if on || matches!(wish.verb, Verb::Warmer | Verb::Cooler) => {
            temperature(house, id, entity, wish.verb, value)
        }
        "humidifier" if on => {
            let humidity = percent(value)?;
            Some(vec![named("humidifier", "set_humidity", json!({"humidity": whole(humidity)}))])
        }
        "fan" if on && *value == Quantity::Mode(Mode::Auto) => {
            let modes = entity.attribute("preset_modes").and_then(Value::as_array)?;
            let auto = modes.iter().any(|mode| mode.as_str() == Some("auto"));
            auto.then(|| vec![named("fan", "set_preset_mode", json!({"preset_mode": "auto"}))])
        }
        "fan" if on || matches!(wish.verb, Verb::Faster | Verb::Slower) => {
            let speed = speed(value)?;
            Some(vec![named("fan", "set_percentage", json!({"percentage": whole(speed)}))])
        }
        "media_player" if sets || matches!(wish.verb, Verb::Louder | Verb::Quieter) => {
            let volume = speed(value)?;
            Some(vec![named("media_player", "volume_set", json!({"volume_level": volume / 100.0}))])
        }
        "number" | "input_number" if sets => {
            let (Quantity::Number(number) | Quantity::Percent(number) | Quantity::Degrees(number)) = value else {
                return None;
            };
            Some(vec![named(id.domain(), "set_value", json!({"value": whole(*number)}))])
        }
        "timer" => match (wish.verb, value) {
            (Verb::Start | Verb::Set, Quantity::Seconds(seconds)) => {
                let duration = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
                Some(vec![named("timer", "start", json!({"duration": duration}))])
            }
            _ => None,
        },
        _ => None,
    }
}

/// More or less, and not on or off.
pub(super) fn steps(verb: Verb) -> bool {
    matches!(
        verb,
        Verb::Up
            | Verb::Down
            | Verb::Brighter
            | Verb::Dimmer
            | Verb::Warmer
            | Verb::Cooler
            | Verb::Louder
            | Verb::Quieter
            | Verb::Faster
            | Verb::Slower
    )
}

fn opens(verb: Verb) -> bool {
    matches!(verb, Verb::Open | Verb::OnOrOpen)
}

fn shuts(verb: Verb) -> bool {
    matches!(verb, Verb::Close | Verb::OffOrClose)
}

fn light(entity: &Entity, value: &Quantity) -> Option<Vec<Effect>> {
    let data = match value {
        Quantity::Colour(name) => colourful(entity).then(|| json!({"color_name": name}))?,
        Quantity::Kelvin(kelvin) => {
            let bound = |key: &str| entity.attribute(key).and_then(Value::as_i64);
            let kelvin = (*kelvin).max(bound("min_color_temp_kelvin").unwrap_or(*kelvin));
            let kelvin = kelvin.min(bound("max_color_temp_kelvin").unwrap_or(kelvin));
            tunable(entity).then(|| json!({"color_temp_kelvin": kelvin}))?
        }
        Quantity::Level(level) => {
            let percent = match level {
                Level::Lowest => 1,
                Level::Low => 20,
                Level::Medium => 50,
                Level::High => 80,
                Level::Highest => 100,
            };
            dimmable(entity).then(|| json!({"brightness_pct": percent}))?
        }
        value => {
            let percent = percent(value)?;
            dimmable(entity).then(|| json!({"brightness_pct": whole(percent)}))?
        }
    };
    Some(vec![named("light", "turn_on", data)])
}

fn position(domain: &str, value: &Quantity) -> Option<Vec<Effect>> {
    let percent = match value {
        Quantity::Level(Level::Highest) => 100.0,
        Quantity::Level(Level::Lowest) => 0.0,
        Quantity::Level(_) => return None,
        value => percent(value)?,
    };
    Some(vec![named(domain, &format!("set_{domain}_position"), json!({"position": whole(percent)}))])
}

fn temperature(house: &House, id: &EntityId, entity: &Entity, verb: Verb, value: &Quantity) -> Option<Vec<Effect>> {
    let domain = id.domain();
    if let Quantity::Mode(mode) = value {
        return hvac_mode(domain, entity, *mode);
    }
    if let (Quantity::Level(level), "climate") = (value, domain) {
        return fan_mode(entity, *level);
    }
    let degrees = in_house(house, value)?;
    if !DEGREES.contains(&degrees) {
        return None;
    }
    let set = named(domain, "set_temperature", json!({"temperature": whole(degrees)}));
    // 开到26度 asks for both; a device that runs already keeps its mode.
    let wakes = matches!(verb, Verb::On | Verb::OnOrOpen) && entity.value() == Some("off");
    Some(if wakes { vec![named(domain, "turn_on", json!({})), set] } else { vec![set] })
}

fn hvac_mode(domain: &str, entity: &Entity, mode: Mode) -> Option<Vec<Effect>> {
    let known = entity.attribute("hvac_modes").and_then(Value::as_array);
    let offered = |mode: &str| known.is_none_or(|modes| modes.iter().any(|known| known.as_str() == Some(mode)));
    let mode = match mode {
        Mode::Cool => "cool",
        Mode::Heat => "heat",
        Mode::Dry => "dry",
        Mode::Fan => "fan_only",
        Mode::HeatCool => "heat_cool",
        Mode::Auto if !offered("auto") => "heat_cool",
        Mode::Auto => "auto",
    };
    (domain == "climate" && offered(mode)).then(|| vec![named("climate", "set_hvac_mode", json!({"hvac_mode": mode}))])
}

fn fan_mode(entity: &Entity, level: Level) -> Option<Vec<Effect>> {
    let modes: Vec<&str> =
        entity.attribute("fan_modes").and_then(Value::as_array)?.iter().filter_map(Value::as_str).collect();
    let mode = match level {
        Level::Low => "low",
        Level::Medium => "medium",
        Level::High => "high",
        Level::Lowest | Level::Highest => return None,
    };
    modes.contains(&mode).then(|| vec![named("climate", "set_fan_mode", json!({"fan_mode": mode}))])
}

/// More or less of what the entity has, by so much where that was said.
pub(super) fn step(
    house: &House,
    id: &EntityId,
    entity: &Entity,
    verb: Verb,
    by: Option<&Quantity>,
) -> Option<Vec<Effect>> {
    let up = matches!(verb, Verb::Up | Verb::Brighter | Verb::Warmer | Verb::Louder | Verb::Faster);
    let sign = if up { 1.0 } else { -1.0 };
    let general = matches!(verb, Verb::Up | Verb::Down);
    let percent_by = |standard: f64| by.map_or(Some(standard), percent).map(|by| by * sign);
    let number = |key: &str| entity.attribute(key).and_then(Value::as_f64);
    match id.domain() {
        "light" if general || matches!(verb, Verb::Brighter | Verb::Dimmer) => {
            let by = percent_by(BRIGHTNESS_STEP)?;
            dimmable(entity).then(|| vec![named("light", "turn_on", json!({"brightness_step_pct": whole(by)}))])
        }
        "media_player" if general || matches!(verb, Verb::Louder | Verb::Quieter) => {
            let by = percent_by(VOLUME_STEP * 100.0)? / 100.0;
            Some(vec![match number("volume_level") {
                Some(volume) => {
                    let volume = ((volume + by).clamp(0.0, 1.0) * 1000.0).round() / 1000.0;
                    named("media_player", "volume_set", json!({"volume_level": volume}))
                }
                None if by > 0.0 => named("media_player", "volume_up", json!({})),
                None => named("media_player", "volume_down", json!({})),
            }])
        }
        domain @ ("climate" | "water_heater") if general || matches!(verb, Verb::Warmer | Verb::Cooler) => {
            let by = match by {
                None => 1.0,
                Some(Quantity::Number(by) | Quantity::Degrees(by)) => *by,
                Some(Quantity::Celsius(by)) if scale(house) == Some('C') => *by,
                Some(Quantity::Fahrenheit(by)) if scale(house) == Some('F') => *by,
                Some(_) => return None,
            };
            let target = number("temperature")? + by * sign;
            Some(vec![named(domain, "set_temperature", json!({"temperature": whole(target)}))])
        }
        "fan" if general || matches!(verb, Verb::Faster | Verb::Slower) => {
            let speed = (number("percentage").unwrap_or(0.0) + percent_by(SPEED_STEP)?).clamp(0.0, 100.0);
            Some(vec![named("fan", "set_percentage", json!({"percentage": whole(speed)}))])
        }
        "humidifier" if general => {
            let humidity = (number("humidity")? + percent_by(HUMIDITY_STEP)?).clamp(0.0, 100.0);
            Some(vec![named("humidifier", "set_humidity", json!({"humidity": whole(humidity)}))])
        }
        // For an awning nobody knows which way is up.
        "cover" if general && !entity.classes().any(|class| class == "awning") => match by {
            None if up => Some(vec![named("cover", "open_cover", json!({}))]),
            None => Some(vec![named("cover", "close_cover", json!({}))]),
            Some(by) => {
                let position = (number("current_position")? + percent(by)? * sign).clamp(0.0, 100.0);
                Some(vec![named("cover", "set_cover_position", json!({"position": whole(position)}))])
            }
        },
        _ => None,
    }
}

/// A value in percent: said so, or a bare number.
fn percent(value: &Quantity) -> Option<f64> {
    match value {
        Quantity::Percent(number) | Quantity::Number(number) if (0.0..=100.0).contains(number) => Some(*number),
        _ => None,
    }
}

fn speed(value: &Quantity) -> Option<f64> {
    match value {
        Quantity::Level(Level::Lowest) => Some(1.0),
        Quantity::Level(Level::Low) => Some(33.0),
        Quantity::Level(Level::Medium) => Some(66.0),
        Quantity::Level(Level::High | Level::Highest) => Some(100.0),
        value => percent(value),
    }
}

fn scale(house: &House) -> Option<char> {
    house.units.temperature.as_deref().and_then(|unit| unit.chars().last()).filter(|unit| matches!(unit, 'C' | 'F'))
}

/// A temperature in the house's own scale.
fn in_house(house: &House, value: &Quantity) -> Option<f64> {
    let tenth = |number: f64| (number * 10.0).round() / 10.0;
    Some(match (value, scale(house)) {
        (Quantity::Number(number) | Quantity::Degrees(number), _) => *number,
        (Quantity::Celsius(number), Some('F')) => tenth(number * 1.8 + 32.0),
        (Quantity::Fahrenheit(number), Some('C') | None) => tenth((number - 32.0) / 1.8),
        (Quantity::Celsius(number) | Quantity::Fahrenheit(number), _) => *number,
        _ => return None,
    })
}

/// A number without a fraction as one, as people and Home Assistant write it.
#[allow(clippy::cast_possible_truncation)]
fn whole(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 1e9 { json!(number as i64) } else { json!(number) }
}

fn named(domain: &str, service: &str, data: Value) -> Effect {
    let data: Map<String, Value> = object(data);
    (domain.to_owned(), service.to_owned(), data)
}
