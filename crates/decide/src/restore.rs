//! How a thing is put back as it was. Start at [`remembered`] and [`calls_back`].
//!
//! Invariant: what comes out is calls like any other, which the gate judges; what cannot be put back
//! gives none.

use serde_json::{Map, Value, json};

use crate::gate::Call;
use crate::house::{Entity, EntityId};

/// Attributes that are put back, by domain.
fn attributes(domain: &str) -> &'static [&'static str] {
    match domain {
        "light" => &["brightness", "color_mode", "color_temp_kelvin", "hs_color", "rgb_color", "effect"],
        "cover" | "valve" => &["current_position", "current_tilt_position"],
        "fan" => &["percentage", "preset_mode", "oscillating", "direction"],
        "climate" => &["temperature", "target_temp_low", "target_temp_high", "fan_mode", "preset_mode", "swing_mode"],
        "water_heater" => &["temperature", "operation_mode"],
        "humidifier" => &["humidity", "mode"],
        "media_player" => &["volume_level", "is_volume_muted", "source"],
        _ => &[],
    }
}

/// State and attributes, as far as they can be put back; nothing for what has no state.
pub fn remembered(id: &EntityId, entity: &Entity) -> Option<Value> {
    let state = entity.value()?;
    if matches!(state, "unavailable" | "unknown") {
        return None;
    }
    let kept: Map<String, Value> = attributes(id.domain())
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), entity.attribute(name).filter(|value| !value.is_null())?.clone())))
        .collect();
    Some(json!({ "entity_id": id, "state": state, "attributes": kept }))
}

/// The entity of a remembered state.
pub fn entity_of(before: &Value) -> Option<EntityId> {
    EntityId::parse(before.get("entity_id")?.as_str()?)
}

/// Calls that lead from the present state to the remembered one; none where it is so already, or where
/// nobody can lead there.
pub fn calls_back(before: &Value, now: Option<&Entity>) -> Vec<Call> {
    let Some(id) = entity_of(before) else { return vec![] };
    if now.and_then(|entity| remembered(&id, entity)).as_ref() == Some(before) {
        return vec![];
    }
    let state = before.get("state").and_then(Value::as_str).unwrap_or_default();
    let was = Was { id: &id, state, attributes: before.get("attributes").and_then(Value::as_object) };
    match id.domain() {
        "light" => was.light(),
        "switch" | "input_boolean" | "siren" | "automation" | "remote" => was.on_off(),
        "fan" => was.fan(),
        "lock" => was.one_of(&[("locked", "lock"), ("unlocked", "unlock"), ("open", "open")]),
        "cover" => was.moved("open_cover", "close_cover", "set_cover_position"),
        "valve" => was.moved("open_valve", "close_valve", "set_valve_position"),
        "climate" => was.climate(),
        "water_heater" => was.with(&[("set_temperature", "temperature", "temperature")]),
        "humidifier" => was.humidifier(),
        "media_player" => was.media_player(),
        "input_number" | "number" => {
            was.value("set_value", "value", state.parse::<f64>().ok().map(|number| json!(number)))
        }
        "input_select" | "select" => was.value("select_option", "option", Some(json!(state))),
        "input_text" | "text" => was.value("set_value", "value", Some(json!(state))),
        "vacuum" => {
            was.one_of(&[("docked", "return_to_base"), ("idle", "stop"), ("paused", "pause"), ("cleaning", "start")])
        }
        "lawn_mower" => was.one_of(&[("docked", "dock"), ("paused", "pause"), ("mowing", "start_mowing")]),
        "alarm_control_panel" => was.one_of(&[
            ("disarmed", "alarm_disarm"),
            ("armed_home", "alarm_arm_home"),
            ("armed_away", "alarm_arm_away"),
            ("armed_night", "alarm_arm_night"),
            ("armed_vacation", "alarm_arm_vacation"),
        ]),
        _ => vec![],
    }
}

struct Was<'a> {
    id: &'a EntityId,
    state: &'a str,
    attributes: Option<&'a Map<String, Value>>,
}

impl Was<'_> {
    fn attribute(&self, name: &str) -> Option<Value> {
        self.attributes?.get(name).cloned()
    }

    fn call(&self, service: &str, more: &[(&str, Value)]) -> Call {
        let mut data = Map::new();
        data.insert("entity_id".to_owned(), json!(self.id));
        data.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        Call { domain: self.id.domain().to_owned(), service: service.to_owned(), data, target: None }
    }

    /// The named attributes under the names that the service has for them.
    fn with(&self, sets: &[(&str, &str, &str)]) -> Vec<Call> {
        let set = |(service, attribute, field): &(&str, &str, &str)| {
            Some(self.call(service, &[(field, self.attribute(attribute)?)]))
        };
        sets.iter().filter_map(set).collect()
    }

    fn value(&self, service: &str, field: &str, value: Option<Value>) -> Vec<Call> {
        value.map(|value| self.call(service, &[(field, value)])).into_iter().collect()
    }

    fn one_of(&self, services: &[(&str, &str)]) -> Vec<Call> {
        let found = services.iter().find(|(state, _)| *state == self.state);
        found.map(|(_, service)| self.call(service, &[])).into_iter().collect()
    }

    fn on_off(&self) -> Vec<Call> {
        self.one_of(&[("on", "turn_on"), ("off", "turn_off")])
    }

    fn light(&self) -> Vec<Call> {
        if self.state != "on" {
            return self.on_off();
        }
        let mut more = vec![];
        if let Some(brightness) = self.attribute("brightness") {
            more.push(("brightness", brightness));
        }
        let mode = self.attribute("color_mode");
        let colour = match mode.as_ref().and_then(Value::as_str) {
            Some("color_temp") => ["color_temp_kelvin"].as_slice(),
            Some("hs") => &["hs_color"],
            Some("xy" | "rgb" | "rgbw" | "rgbww") => &["rgb_color", "hs_color"],
            _ => &[],
        };
        if let Some((name, value)) = colour.iter().find_map(|name| Some((*name, self.attribute(name)?))) {
            more.push((name, value));
        }
        vec![self.call("turn_on", &more)]
    }

    fn fan(&self) -> Vec<Call> {
        if self.state != "on" {
            return self.on_off();
        }
        let more = self.attribute("percentage").map(|percentage| ("percentage", percentage));
        let mut calls = vec![self.call("turn_on", more.as_slice())];
        calls.extend(
            self.with(&[("oscillate", "oscillating", "oscillating"), ("set_direction", "direction", "direction")]),
        );
        calls
    }

    fn moved(&self, open: &str, close: &str, position: &str) -> Vec<Call> {
        match (self.attribute("current_position").and_then(|value| value.as_i64()), self.state) {
            (Some(at), _) if (1..100).contains(&at) => vec![self.call(position, &[("position", json!(at))])],
            (_, "open") => vec![self.call(open, &[])],
            (_, "closed") => vec![self.call(close, &[])],
            _ => vec![],
        }
    }

    fn climate(&self) -> Vec<Call> {
        let mut calls = vec![self.call("set_hvac_mode", &[("hvac_mode", json!(self.state))])];
        match (self.attribute("target_temp_low"), self.attribute("target_temp_high"), self.attribute("temperature")) {
            (Some(low), Some(high), _) => {
                calls.push(self.call("set_temperature", &[("target_temp_low", low), ("target_temp_high", high)]));
            }
            (_, _, Some(temperature)) => calls.push(self.call("set_temperature", &[("temperature", temperature)])),
            _ => {}
        }
        calls.extend(self.with(&[
            ("set_fan_mode", "fan_mode", "fan_mode"),
            ("set_swing_mode", "swing_mode", "swing_mode"),
            ("set_preset_mode", "preset_mode", "preset_mode"),
        ]));
        calls
    }

    fn humidifier(&self) -> Vec<Call> {
        let mut calls = self.on_off();
        if self.state == "on" {
            calls.extend(self.with(&[("set_humidity", "humidity", "humidity"), ("set_mode", "mode", "mode")]));
        }
        calls
    }

    fn media_player(&self) -> Vec<Call> {
        let mut calls = match self.state {
            "playing" => vec![self.call("media_play", &[])],
            "paused" => vec![self.call("media_pause", &[])],
            _ => self.one_of(&[("off", "turn_off"), ("on", "turn_on"), ("idle", "media_stop")]),
        };
        if self.state != "off" {
            calls.extend(self.with(&[
                ("select_source", "source", "source"),
                ("volume_set", "volume_level", "volume_level"),
                ("volume_mute", "is_volume_muted", "is_volume_muted"),
            ]));
        }
        calls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(entity: &str, state: &str, attributes: Value, expected: &[(&str, Value)]) {
        let before = json!({ "entity_id": entity, "state": state, "attributes": attributes });
        let calls: Vec<(String, Value)> = calls_back(&before, None)
            .into_iter()
            .map(|call| {
                let mut data = call.data;
                assert_eq!(data.remove("entity_id"), Some(json!(entity)));
                (format!("{}.{}", call.domain, call.service), Value::Object(data))
            })
            .collect();
        let expected: Vec<(String, Value)> =
            expected.iter().map(|(name, data)| ((*name).to_owned(), data.clone())).collect();
        assert_eq!(calls, expected);
    }

    #[test]
    fn each_kind_of_thing_goes_back_to_how_it_was() {
        check("light.a", "off", json!({}), &[("light.turn_off", json!({}))]);
        check(
            "light.a",
            "on",
            json!({"brightness": 77, "color_mode": "color_temp", "color_temp_kelvin": 2700, "hs_color": [1, 2]}),
            &[("light.turn_on", json!({"brightness": 77, "color_temp_kelvin": 2700}))],
        );
        check(
            "light.a",
            "on",
            json!({"brightness": 5, "color_mode": "hs", "hs_color": [30, 90]}),
            &[("light.turn_on", json!({"brightness": 5, "hs_color": [30, 90]}))],
        );
        check("switch.a", "on", json!({}), &[("switch.turn_on", json!({}))]);
        check("lock.a", "locked", json!({}), &[("lock.lock", json!({}))]);
        check("lock.a", "unlocked", json!({}), &[("lock.unlock", json!({}))]);
        check(
            "cover.a",
            "open",
            json!({"current_position": 40}),
            &[("cover.set_cover_position", json!({"position": 40}))],
        );
        check("cover.a", "open", json!({"current_position": 100}), &[("cover.open_cover", json!({}))]);
        check("cover.a", "closed", json!({}), &[("cover.close_cover", json!({}))]);
        check(
            "climate.a",
            "cool",
            json!({"temperature": 26, "fan_mode": "low"}),
            &[
                ("climate.set_hvac_mode", json!({"hvac_mode": "cool"})),
                ("climate.set_temperature", json!({"temperature": 26})),
                ("climate.set_fan_mode", json!({"fan_mode": "low"})),
            ],
        );
        check("input_number.a", "3.5", json!({}), &[("input_number.set_value", json!({"value": 3.5}))]);
        check("select.a", "eco", json!({}), &[("select.select_option", json!({"option": "eco"}))]);
        check(
            "media_player.a",
            "paused",
            json!({"volume_level": 0.2}),
            &[("media_player.media_pause", json!({})), ("media_player.volume_set", json!({"volume_level": 0.2}))],
        );
        check("alarm_control_panel.a", "disarmed", json!({}), &[("alarm_control_panel.alarm_disarm", json!({}))]);
    }

    #[test]
    fn what_nobody_can_put_back_gives_no_call() {
        for (entity, state) in
            [("sensor.a", "3"), ("cover.a", "opening"), ("lock.a", "jammed"), ("scene.a", "x"), ("no id", "on")]
        {
            check_none(entity, state);
        }
    }

    fn check_none(entity: &str, state: &str) {
        let before = json!({ "entity_id": entity, "state": state, "attributes": {} });
        assert!(calls_back(&before, None).is_empty(), "{entity}");
    }
}
