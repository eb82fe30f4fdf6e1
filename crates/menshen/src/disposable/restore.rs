//! Which calls bring one entity back to its seeded state: a pure table. Start at [`restore`].
//!
//! Invariant: an entity that is as it was seeded gets no call.

use serde_json::{Map, Value, json};

use super::house::House;

/// One service call on one entity.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub domain: String,
    pub service: &'static str,
    pub data: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Restoring {
    /// Nothing to do.
    Settled,
    /// On its way; look again.
    Moving,
    Steps(Vec<Step>),
}

struct Pair<'a> {
    house: &'a House,
    id: &'a str,
    want: &'a Value,
    have: &'a Value,
    steps: Vec<Step>,
}

/// In which order domains go back: first what could start something, doors last.
pub fn rank(id: &str) -> u8 {
    match id.split('.').next() {
        Some("timer" | "script" | "automation") => 0,
        Some("input_boolean" | "input_select" | "input_text" | "switch") => 1,
        Some("lock" | "cover" | "valve" | "alarm_control_panel") => 3,
        _ => 2,
    }
}

/// `want` and `have` are states as Home Assistant lists them. Without patience, what seems to be on
/// its way is told again: a demo lock whose script was stopped says `locking` for ever.
pub fn restore(house: &House, id: &str, want: &Value, have: &Value, patient: bool) -> Restoring {
    let still = |state: &Value| matches!(state["state"].as_str(), None | Some("unavailable"));
    // A group goes back by its members.
    if still(want) || still(have) || want["attributes"]["entity_id"].is_array() {
        return Restoring::Settled;
    }
    let moves = ["opening", "closing", "locking", "unlocking", "arming", "returning"];
    if patient && want["state"] != have["state"] && have["state"].as_str().is_some_and(|state| moves.contains(&state)) {
        return Restoring::Moving;
    }
    let mut pair = Pair { house, id, want, have, steps: Vec::new() };
    pair.compare();
    if pair.steps.is_empty() { Restoring::Settled } else { Restoring::Steps(pair.steps) }
}

/// `25`, `25.0` and `"25.0"` are one value: the house does not keep to one form.
fn same(one: &Value, other: &Value) -> bool {
    let number = |value: &Value| value.as_f64().or_else(|| value.as_str()?.parse().ok());
    one == other || matches!((number(one), number(other)), (Some(one), Some(other)) if one == other)
}

impl Pair<'_> {
    fn near(&self, key: &str, step: f64) -> bool {
        let number = |state: &Value| state["attributes"][key].as_f64();
        matches!((number(self.want), number(self.have)), (Some(one), Some(other)) if (one - other).abs() < step)
    }

    fn compare(&mut self) {
        match self.domain() {
            "light" => self.light(),
            "switch" | "input_boolean" | "siren" | "automation" | "remote" => self.on_off(),
            "fan" => {
                self.on_off();
                self.attribute_if("percentage", "set_percentage", "percentage", self.wanted("on"));
            }
            "humidifier" => {
                self.on_off();
                // The service takes whole numbers only.
                if !self.near("humidity", 1.0) {
                    self.attribute("humidity", "set_humidity", "humidity");
                }
                self.attribute("mode", "set_mode", "mode");
            }
            "script" if self.wanted("off") => self.state_by("turn_off"),
            "timer" if self.wanted("idle") => self.state_by("cancel"),
            "lock" => self.lock(),
            "cover" => self.cover(),
            "valve" => self.valve(),
            "alarm_control_panel" => self.alarm(),
            "climate" => self.climate(),
            "water_heater" => {
                self.state_as("set_operation_mode", "operation_mode");
                self.attribute("temperature", "set_temperature", "temperature");
            }
            "media_player" => self.media(),
            "vacuum" => self.state_by(match self.want() {
                "cleaning" => "start",
                "paused" => "pause",
                "idle" => "stop",
                _ => "return_to_base",
            }),
            "lawn_mower" => self.state_by(match self.want() {
                "mowing" => "start_mowing",
                "paused" => "pause",
                _ => "dock",
            }),
            "select" | "input_select" => self.state_as("select_option", "option"),
            "number" | "input_number" | "text" | "input_text" | "counter" => self.state_as("set_value", "value"),
            "input_datetime" => self.state_as("set_datetime", "time"),
            _ => {}
        }
    }

    fn domain(&self) -> &str {
        self.id.split('.').next().unwrap_or_default()
    }

    fn want(&self) -> &str {
        self.want["state"].as_str().unwrap_or_default()
    }

    fn wanted(&self, state: &str) -> bool {
        self.want() == state
    }

    fn differs(&self) -> bool {
        !same(&self.want["state"], &self.have["state"])
    }

    fn attribute_differs(&self, name: &str) -> bool {
        let (want, have) = (&self.want["attributes"][name], &self.have["attributes"][name]);
        !want.is_null() && !same(want, have)
    }

    fn call(&mut self, service: &'static str, data: Value) {
        let mut body = Map::new();
        body.insert("entity_id".into(), self.id.into());
        if let Value::Object(data) = data {
            body.extend(data);
        }
        self.steps.push(Step { domain: self.domain().to_owned(), service, data: body.into() });
    }

    /// One service that leads to the wanted state.
    fn state_by(&mut self, service: &'static str) {
        if self.differs() {
            self.call(service, Value::Null);
        }
    }

    /// One service that takes the wanted state as a value.
    fn state_as(&mut self, service: &'static str, key: &str) {
        if self.differs() && !self.wanted("unknown") {
            let mut data = Map::new();
            data.insert(key.into(), self.want["state"].clone());
            self.call(service, data.into());
        }
    }

    fn attribute(&mut self, name: &str, service: &'static str, key: &str) {
        self.attribute_if(name, service, key, true);
    }

    fn attribute_if(&mut self, name: &str, service: &'static str, key: &str, condition: bool) {
        if condition && self.attribute_differs(name) {
            let mut data = Map::new();
            data.insert(key.into(), self.want["attributes"][name].clone());
            self.call(service, data.into());
        }
    }

    fn on_off(&mut self) {
        match self.want() {
            "on" => self.state_by("turn_on"),
            "off" => self.state_by("turn_off"),
            _ => {}
        }
    }

    fn light(&mut self) {
        if !self.wanted("on") {
            return self.on_off();
        }
        if self.differs() || self.attribute_differs("brightness") || self.attribute_differs("color_mode") {
            let mut data = Map::new();
            let attributes = &self.want["attributes"];
            let colour = match attributes["color_mode"].as_str() {
                Some("color_temp") => "color_temp_kelvin",
                Some("hs") => "hs_color",
                _ => "",
            };
            for name in ["brightness", colour] {
                if !attributes[name].is_null() {
                    data.insert(name.into(), attributes[name].clone());
                }
            }
            self.call("turn_on", data.into());
        }
    }

    fn code(&self) -> Value {
        self.house.code(self.id).map_or(Value::Null, |code| json!({"code": code}))
    }

    fn lock(&mut self) {
        if self.differs() {
            let service = if self.wanted("unlocked") { "unlock" } else { "lock" };
            self.call(service, self.code());
        }
    }

    fn alarm(&mut self) {
        if !self.differs() {
            return;
        }
        let service = match self.want() {
            "armed_home" => "alarm_arm_home",
            "armed_away" => "alarm_arm_away",
            "armed_night" => "alarm_arm_night",
            _ => "alarm_disarm",
        };
        self.call(service, self.code());
    }

    fn cover(&mut self) {
        let position = self.want["attributes"]["current_position"].as_i64();
        match (self.want(), position) {
            ("closed", _) => self.state_by("close_cover"),
            ("open", Some(at)) if at < 100 && self.differs_at("current_position", at) => {
                self.call("set_cover_position", json!({"position": at}))
            }
            ("open", Some(_)) if self.attribute_differs("current_position") => self.call("open_cover", Value::Null),
            ("open", _) => self.state_by("open_cover"),
            _ => {}
        }
        self.attribute("current_tilt_position", "set_cover_tilt_position", "tilt_position");
    }

    fn differs_at(&self, name: &str, want: i64) -> bool {
        self.have["attributes"][name].as_i64() != Some(want)
    }

    fn valve(&mut self) {
        match self.want() {
            "closed" => self.state_by("close_valve"),
            "open" if self.attribute_differs("current_position") => {
                self.attribute("current_position", "set_valve_position", "position")
            }
            "open" => self.state_by("open_valve"),
            _ => {}
        }
    }

    fn climate(&mut self) {
        self.state_as("set_hvac_mode", "hvac_mode");
        if self.attribute_differs("temperature") {
            self.attribute("temperature", "set_temperature", "temperature");
        } else if self.attribute_differs("target_temp_low") || self.attribute_differs("target_temp_high") {
            let attributes = &self.want["attributes"];
            let data = json!({"target_temp_low": attributes["target_temp_low"], "target_temp_high": attributes["target_temp_high"]});
            self.call("set_temperature", data);
        }
        self.attribute("fan_mode", "set_fan_mode", "fan_mode");
    }

    fn media(&mut self) {
        if self.differs() {
            let (want, off) = (self.want().to_owned(), self.have["state"] == "off");
            match want.as_str() {
                "off" => self.call("turn_off", Value::Null),
                _ if off => self.call("turn_on", Value::Null),
                "playing" => self.call("media_play", Value::Null),
                "paused" => self.call("media_pause", Value::Null),
                "idle" => self.call("media_stop", Value::Null),
                _ => {}
            }
        }
        if !self.wanted("off") && self.have["state"] != "off" {
            self.attribute("volume_level", "volume_set", "volume_level");
            self.attribute("source", "select_source", "source");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(value: &str, attributes: Value) -> Value {
        json!({"state": value, "attributes": attributes})
    }

    #[track_caller]
    fn check(id: &str, want: &Value, have: &Value, expected: &[&str]) {
        let house = House::table().unwrap();
        let steps = match restore(house, id, want, have, true) {
            Restoring::Steps(steps) => steps,
            _ => Vec::new(),
        };
        let services: Vec<String> = steps.iter().map(|step| format!("{} {}", step.service, step.data)).collect();
        assert_eq!(services, expected);
    }

    #[test]
    fn what_is_as_seeded_gets_no_call() {
        for id in ["lock.back_door", "cover.driveway_gate", "light.porch", "climate.floor_heating"] {
            let at = state("x", json!({"temperature": 20, "current_position": 0}));
            check(id, &at, &at, &[]);
        }
    }

    #[test]
    fn doors_go_back_with_their_codes() {
        let none = json!({});
        check(
            "lock.back_door",
            &state("locked", none.clone()),
            &state("unlocked", none.clone()),
            &[r#"lock {"entity_id":"lock.back_door"}"#],
        );
        check(
            "lock.safe",
            &state("locked", none.clone()),
            &state("unlocked", none.clone()),
            &[r#"lock {"code":"2580","entity_id":"lock.safe"}"#],
        );
        check(
            "alarm_control_panel.coded_alarm",
            &state("disarmed", none.clone()),
            &state("triggered", none),
            &[r#"alarm_disarm {"code":"4321","entity_id":"alarm_control_panel.coded_alarm"}"#],
        );
    }

    #[test]
    fn a_number_is_the_same_in_every_form() {
        check("number.x", &state("25", json!({})), &state("25.0", json!({})), &[]);
        check(
            "climate.x",
            &state("heat", json!({"temperature": 22})),
            &state("heat", json!({"temperature": 22.0})),
            &[],
        );
    }

    #[test]
    fn a_cover_goes_back_to_its_position() {
        let at = |value: &str, position: i64| state(value, json!({"current_position": position}));
        check(
            "cover.x",
            &at("open", 70),
            &at("open", 100),
            &[r#"set_cover_position {"entity_id":"cover.x","position":70}"#],
        );
        check("cover.x", &at("closed", 0), &at("open", 30), &[r#"close_cover {"entity_id":"cover.x"}"#]);
        check("cover.x", &at("open", 100), &at("closed", 0), &[r#"open_cover {"entity_id":"cover.x"}"#]);
    }

    #[test]
    fn what_moves_is_waited_for_and_groups_go_back_by_their_members() {
        let house = House::table().unwrap();
        let (want, have) = (state("closed", json!({})), state("closing", json!({})));
        assert_eq!(restore(house, "cover.x", &want, &have, true), Restoring::Moving);
        assert!(matches!(restore(house, "cover.x", &want, &have, false), Restoring::Steps(_)));
        let group = state("locked", json!({"entity_id": ["lock.a"]}));
        assert_eq!(restore(house, "lock.all", &group, &state("unlocked", json!({})), true), Restoring::Settled);
    }

    #[test]
    fn doors_come_last() {
        assert!(rank("input_boolean.guest_mode") < rank("lock.back_door"));
        assert!(rank("timer.kitchen") < rank("input_boolean.guest_mode"));
    }
}
