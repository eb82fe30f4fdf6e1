//! Which state shows that a service did what was asked. A pure table.
//!
//! Start at [`Expected::of`]. Invariant: `Met` is said only of a state that the entity really has;
//! for what has no such state the answer is `Accepted` and never a guess.

use std::time::Duration;

use decide::house::{Entity, EntityId};
use serde_json::{Map, Value};

/// Limit: Wait for most things.
const PATIENCE: Duration = Duration::from_secs(2);
/// Limit: Wait for what moves a body: lock, cover, valve, alarm.
const TRAVEL: Duration = Duration::from_secs(30);

/// What will show it.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// All of these hold.
    All(Vec<Check>),
    /// No state shows it.
    Accepted,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Check {
    /// The state is one of these.
    Is(Vec<String>),
    /// The state is none of these, and not unavailable or unknown.
    IsNot(Vec<String>),
    /// The state is a number within the tolerance.
    StateNear(f64, f64),
    /// The attribute is this.
    Attribute(&'static str, Value),
    /// The attribute is a number (or list of numbers) within the tolerance.
    Near(&'static str, Vec<f64>, f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Met,
    /// On its way: opening, arming.
    Moving,
    Not,
}

/// How long to wait for an entity of this domain.
pub fn patience(domain: &str, data: &Map<String, Value>) -> Duration {
    let base = match domain {
        "lock" | "cover" | "valve" | "alarm_control_panel" => TRAVEL,
        _ => PATIENCE,
    };
    let transition = data.get("transition").and_then(Value::as_f64).unwrap_or(0.0);
    base + Duration::try_from_secs_f64(transition).unwrap_or_default().min(TRAVEL)
}

fn is(states: &[&str]) -> Check {
    Check::Is(states.iter().map(|state| (*state).to_owned()).collect())
}

fn is_not(states: &[&str]) -> Check {
    Check::IsNot(states.iter().map(|state| (*state).to_owned()).collect())
}

impl Expected {
    /// What this service, called with these data, should make of this entity.
    pub fn of(id: &EntityId, service: &str, data: &Map<String, Value>, before: Option<&Entity>) -> Self {
        let checks = match service {
            "turn_on" => turned_on(id.domain(), data, before),
            "turn_off" => turned_off(id.domain()),
            "toggle" => toggled(id.domain(), before),
            _ => specific(id.domain(), service, data, before),
        };
        checks.map_or(Self::Accepted, Self::All)
    }

    pub fn progress(&self, entity: Option<&Entity>) -> Progress {
        let (Self::All(checks), Some(entity)) = (self, entity) else { return Progress::Not };
        if checks.iter().all(|check| check.holds(entity)) {
            return Progress::Met;
        }
        match entity.value() {
            Some(
                "opening" | "closing" | "locking" | "unlocking" | "arming" | "pending" | "disarming" | "returning",
            ) => Progress::Moving,
            _ => Progress::Not,
        }
    }
}

impl Check {
    fn holds(&self, entity: &Entity) -> bool {
        let Some(value) = entity.value() else { return false };
        match self {
            Self::Is(states) => states.iter().any(|state| state == value),
            Self::IsNot(states) => {
                !matches!(value, "unavailable" | "unknown") && states.iter().all(|state| state != value)
            }
            Self::StateNear(number, tolerance) => {
                value.parse::<f64>().is_ok_and(|value| (value - number).abs() <= *tolerance)
            }
            Self::Attribute(key, expected) => entity.attribute(key) == Some(expected),
            Self::Near(key, numbers, tolerance) => near(entity.attribute(key), numbers, *tolerance),
        }
    }
}

fn near(value: Option<&Value>, numbers: &[f64], tolerance: f64) -> bool {
    let close = |value: &Value, number: f64| value.as_f64().is_some_and(|value| (value - number).abs() <= tolerance);
    match (value, numbers) {
        (Some(Value::Array(list)), _) => {
            list.len() == numbers.len() && list.iter().zip(numbers).all(|(value, number)| close(value, *number))
        }
        (Some(value), [number]) => close(value, *number),
        _ => false,
    }
}

/// Numbers that Home Assistant accepts as text too.
fn number(data: &Map<String, Value>, key: &str) -> Option<f64> {
    match data.get(key)? {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn text<'a>(data: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    data.get(key)?.as_str()
}

type Checks = Option<Vec<Check>>;

/// Domains whose state says on or off.
fn has_on_off(domain: &str) -> bool {
    matches!(
        domain,
        "light" | "switch" | "fan" | "input_boolean" | "siren" | "humidifier" | "remote" | "automation" | "group"
    )
}

fn turned_on(domain: &str, data: &Map<String, Value>, before: Option<&Entity>) -> Checks {
    let mut checks = match domain {
        _ if has_on_off(domain) => vec![is(&["on"])],
        "media_player" => vec![is_not(&["off", "standby"])],
        "climate" | "water_heater" => vec![is_not(&["off"])],
        _ => return None,
    };
    if domain == "light" {
        if number(data, "brightness_pct").or(number(data, "brightness")) == Some(0.0) {
            return Some(vec![is(&["off"])]);
        }
        checks.extend(light_checks(data));
    }
    if domain == "fan" {
        checks.extend(fan_checks(data, before));
    }
    Some(checks)
}

fn light_checks(data: &Map<String, Value>) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Some(percent) = number(data, "brightness_pct") {
        checks.push(Check::Near("brightness", vec![percent * 2.55], 2.55));
    } else if let Some(brightness) = number(data, "brightness") {
        checks.push(Check::Near("brightness", vec![brightness], 2.55));
    }
    if let Some(kelvin) = number(data, "color_temp_kelvin").or(number(data, "kelvin")) {
        // Lamps count in mired; one step is up to 100 K at the cold end.
        checks.push(Check::Near("color_temp_kelvin", vec![kelvin], kelvin * 0.02));
    }
    if let Some(colour) = data.get("rgb_color").and_then(Value::as_array) {
        let numbers = colour.iter().filter_map(Value::as_f64).collect();
        checks.push(Check::Near("rgb_color", numbers, 12.0));
    }
    if let Some(effect) = data.get("effect") {
        checks.push(Check::Attribute("effect", effect.clone()));
    }
    checks
}

fn fan_checks(data: &Map<String, Value>, before: Option<&Entity>) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Some(percent) = number(data, "percentage") {
        // A fan has few speeds and takes one beside what was asked.
        let step = before.and_then(|entity| entity.attribute("percentage_step")?.as_f64()).unwrap_or(1.0);
        checks.push(Check::Near("percentage", vec![percent], step));
    }
    if let Some(mode) = data.get("preset_mode") {
        checks.push(Check::Attribute("preset_mode", mode.clone()));
    }
    checks
}

fn turned_off(domain: &str) -> Checks {
    match domain {
        _ if has_on_off(domain) => Some(vec![is(&["off"])]),
        "media_player" => Some(vec![is(&["off", "standby"])]),
        "climate" | "water_heater" => Some(vec![is(&["off"])]),
        "script" => Some(vec![is(&["off"])]),
        _ => None,
    }
}

fn toggled(domain: &str, before: Option<&Entity>) -> Checks {
    let before = before.and_then(Entity::value)?;
    match domain {
        _ if has_on_off(domain) => Some(vec![is(&[if before == "on" { "off" } else { "on" }])]),
        "media_player" | "climate" if before == "off" || before == "standby" => Some(vec![is_not(&["off", "standby"])]),
        "media_player" | "climate" => Some(vec![is(&["off", "standby"])]),
        "cover" | "valve" => match before {
            "open" => Some(vec![is(&["closed"])]),
            "closed" => Some(vec![is(&["open"])]),
            _ => Some(vec![is_not(&[before])]),
        },
        _ => None,
    }
}

fn specific(domain: &str, service: &str, data: &Map<String, Value>, before: Option<&Entity>) -> Checks {
    match domain {
        "lock" => match service {
            "lock" => Some(vec![is(&["locked"])]),
            "unlock" => Some(vec![is(&["unlocked", "open"])]),
            "open" => Some(vec![is(&["open", "unlocked"])]),
            _ => None,
        },
        "cover" | "valve" => travel(service, data),
        "alarm_control_panel" => alarm(service),
        "climate" | "water_heater" | "humidifier" => climate(service, data),
        "media_player" => media(service, data),
        "fan" => match service {
            "set_percentage" if number(data, "percentage") == Some(0.0) => Some(vec![is(&["off"])]),
            "set_percentage" | "set_preset_mode" => Some(fan_checks(data, before)),
            "oscillate" => attribute(data, "oscillating", "oscillating"),
            "set_direction" => attribute(data, "direction", "direction"),
            _ => None,
        },
        "input_number" | "number" if service == "set_value" => {
            number(data, "value").map(|value| vec![Check::StateNear(value, 1e-3 + value.abs() * 1e-6)])
        }
        "input_text" | "text" if service == "set_value" => text(data, "value").map(|value| vec![is(&[value])]),
        "input_select" | "select" => select(service, data, before),
        "timer" => match service {
            "start" => Some(vec![is(&["active"])]),
            "pause" => Some(vec![is(&["paused"])]),
            "cancel" | "finish" => Some(vec![is(&["idle"])]),
            _ => None,
        },
        "vacuum" => match service {
            "start" => Some(vec![is(&["cleaning"])]),
            "pause" => Some(vec![is(&["paused", "idle"])]),
            "stop" => Some(vec![is_not(&["cleaning"])]),
            "return_to_base" => Some(vec![is(&["returning", "docked"])]),
            _ => None,
        },
        "lawn_mower" => match service {
            "start_mowing" => Some(vec![is(&["mowing"])]),
            "pause" => Some(vec![is(&["paused"])]),
            "dock" => Some(vec![is(&["docked", "returning"])]),
            _ => None,
        },
        _ => None,
    }
}

fn attribute(data: &Map<String, Value>, key: &str, name: &'static str) -> Checks {
    data.get(key).map(|value| vec![Check::Attribute(name, value.clone())])
}

fn near_attribute(data: &Map<String, Value>, key: &str, name: &'static str, tolerance: f64) -> Checks {
    number(data, key).map(|value| vec![Check::Near(name, vec![value], tolerance)])
}

fn travel(service: &str, data: &Map<String, Value>) -> Checks {
    match service {
        "open_cover" | "open_valve" => Some(vec![is(&["open"])]),
        "close_cover" | "close_valve" => Some(vec![is(&["closed"])]),
        "stop_cover" | "stop_valve" => Some(vec![is_not(&["opening", "closing"])]),
        "set_cover_position" | "set_valve_position" => near_attribute(data, "position", "current_position", 3.0),
        "set_cover_tilt_position" => near_attribute(data, "tilt_position", "current_tilt_position", 3.0),
        "open_cover_tilt" => Some(vec![Check::Near("current_tilt_position", vec![100.0], 3.0)]),
        "close_cover_tilt" => Some(vec![Check::Near("current_tilt_position", vec![0.0], 3.0)]),
        _ => None,
    }
}

fn alarm(service: &str) -> Checks {
    let state = match service {
        "alarm_disarm" => "disarmed",
        "alarm_arm_home" => "armed_home",
        "alarm_arm_away" => "armed_away",
        "alarm_arm_night" => "armed_night",
        "alarm_arm_vacation" => "armed_vacation",
        "alarm_arm_custom_bypass" => "armed_custom_bypass",
        "alarm_trigger" => return Some(vec![is(&["triggered", "pending"])]),
        _ => return None,
    };
    Some(vec![is(&[state])])
}

fn climate(service: &str, data: &Map<String, Value>) -> Checks {
    match service {
        "set_temperature" => {
            let mut checks = Vec::new();
            for key in ["temperature", "target_temp_low", "target_temp_high"] {
                checks.extend(number(data, key).map(|value| Check::Near(key, vec![value], 0.5)));
            }
            checks.extend(text(data, "hvac_mode").map(|mode| is(&[mode])));
            (!checks.is_empty()).then_some(checks)
        }
        "set_hvac_mode" => text(data, "hvac_mode").map(|mode| vec![is(&[mode])]),
        "set_operation_mode" => text(data, "operation_mode").map(|mode| vec![is(&[mode])]),
        "set_humidity" => near_attribute(data, "humidity", "humidity", 1.0),
        "set_preset_mode" => attribute(data, "preset_mode", "preset_mode"),
        "set_fan_mode" => attribute(data, "fan_mode", "fan_mode"),
        "set_swing_mode" => attribute(data, "swing_mode", "swing_mode"),
        "set_mode" => attribute(data, "mode", "mode"),
        _ => None,
    }
}

fn media(service: &str, data: &Map<String, Value>) -> Checks {
    match service {
        "volume_set" => near_attribute(data, "volume_level", "volume_level", 0.02),
        "volume_mute" => attribute(data, "is_volume_muted", "is_volume_muted"),
        "media_play" => Some(vec![is(&["playing", "buffering"])]),
        "media_pause" => Some(vec![is(&["paused", "idle"])]),
        "media_stop" => Some(vec![is_not(&["playing", "buffering"])]),
        "select_source" => attribute(data, "source", "source"),
        "select_sound_mode" => attribute(data, "sound_mode", "sound_mode"),
        "shuffle_set" => attribute(data, "shuffle", "shuffle"),
        "repeat_set" => attribute(data, "repeat", "repeat"),
        _ => None,
    }
}

fn select(service: &str, data: &Map<String, Value>, before: Option<&Entity>) -> Checks {
    let options: Vec<&str> = before
        .and_then(|entity| entity.attribute("options")?.as_array())
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    match service {
        "select_option" => text(data, "option").map(|option| vec![is(&[option])]),
        "select_first" => options.first().map(|option| vec![is(&[option])]),
        "select_last" => options.last().map(|option| vec![is(&[option])]),
        "select_next" | "select_previous" if options.len() > 1 => {
            before.and_then(Entity::value).map(|value| vec![is_not(&[value])])
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use decide::house::State;
    use serde_json::json;
    use std::sync::Arc;

    fn entity(value: &str, attributes: Value) -> Entity {
        let attributes = attributes.as_object().cloned().unwrap();
        let state = State { value: value.into(), attributes, ..State::default() };
        Entity { state: Some(Arc::new(state)), ..Entity::default() }
    }

    #[track_caller]
    fn check(id: &str, service: &str, data: Value, before: &Entity, after: &Entity, progress: Progress) {
        let id = EntityId::parse(id).unwrap();
        let expected = Expected::of(&id, service, data.as_object().unwrap(), Some(before));
        assert_eq!(expected.progress(Some(after)), progress, "{expected:?}");
    }

    #[test]
    fn a_light_is_confirmed_by_its_brightness_within_one_percent() {
        let off = entity("off", json!({}));
        let lit = |brightness: u8| entity("on", json!({ "brightness": brightness }));
        check("light.a", "turn_on", json!({}), &off, &lit(3), Progress::Met);
        check("light.a", "turn_on", json!({"brightness_pct": 50}), &off, &lit(128), Progress::Met);
        check("light.a", "turn_on", json!({"brightness_pct": 50}), &off, &lit(140), Progress::Not);
        check("light.a", "turn_on", json!({"brightness_pct": 0}), &lit(9), &off, Progress::Met);
        check("light.a", "turn_on", json!({}), &off, &entity("unavailable", json!({})), Progress::Not);
    }

    #[test]
    fn a_lock_a_cover_and_an_alarm_are_moving_before_they_are_there() {
        let any = entity("unknown", json!({}));
        check("lock.a", "lock", json!({}), &any, &entity("locking", json!({})), Progress::Moving);
        check("lock.a", "lock", json!({}), &any, &entity("jammed", json!({})), Progress::Not);
        check("lock.a", "open", json!({}), &any, &entity("unlocked", json!({})), Progress::Met);
        check("cover.a", "close_cover", json!({}), &any, &entity("closing", json!({})), Progress::Moving);
        check(
            "cover.a",
            "set_cover_position",
            json!({"position": 40}),
            &any,
            &entity("open", json!({"current_position": 41})),
            Progress::Met,
        );
        check(
            "alarm_control_panel.a",
            "alarm_arm_away",
            json!({}),
            &any,
            &entity("arming", json!({})),
            Progress::Moving,
        );
        check(
            "alarm_control_panel.a",
            "alarm_arm_away",
            json!({}),
            &any,
            &entity("armed_home", json!({})),
            Progress::Not,
        );
    }

    #[test]
    fn a_toggle_is_confirmed_by_the_other_state() {
        let (on, off) = (entity("on", json!({})), entity("off", json!({})));
        check("switch.a", "toggle", json!({}), &on, &off, Progress::Met);
        check("switch.a", "toggle", json!({}), &on, &on, Progress::Not);
        check("cover.a", "toggle", json!({}), &entity("open", json!({})), &entity("closed", json!({})), Progress::Met);
    }

    #[test]
    fn numbers_options_and_modes_are_compared_with_what_was_asked() {
        let any = entity("x", json!({"options": ["a", "b"]}));
        check("input_number.a", "set_value", json!({"value": "21"}), &any, &entity("21.0", json!({})), Progress::Met);
        check("select.a", "select_option", json!({"option": "b"}), &any, &entity("b", json!({})), Progress::Met);
        check("select.a", "select_last", json!({}), &any, &entity("a", json!({})), Progress::Not);
        check(
            "climate.a",
            "set_temperature",
            json!({"temperature": 21, "hvac_mode": "heat"}),
            &any,
            &entity("heat", json!({"temperature": 21.2})),
            Progress::Met,
        );
        check(
            "climate.a",
            "set_temperature",
            json!({"temperature": 21}),
            &any,
            &entity("heat", json!({"temperature": 18})),
            Progress::Not,
        );
        check(
            "media_player.a",
            "volume_set",
            json!({"volume_level": 0.3}),
            &any,
            &entity("playing", json!({"volume_level": 0.31})),
            Progress::Met,
        );
    }

    #[test]
    fn what_has_no_state_is_accepted_and_never_met() {
        for (id, service) in
            [("scene.a", "turn_on"), ("script.a", "turn_on"), ("button.a", "press"), ("notify.a", "send_message")]
        {
            let expected = Expected::of(&EntityId::parse(id).unwrap(), service, &Map::new(), None);
            assert_eq!(expected, Expected::Accepted);
            assert_eq!(expected.progress(Some(&entity("on", json!({})))), Progress::Not);
        }
    }
}
