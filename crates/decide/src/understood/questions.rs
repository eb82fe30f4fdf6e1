//! Questions about the house and the facts that answer them, from the picture alone.
//!
//! Start at [`Question::facts`]. Invariant: a fact says what the house shows now; what is
//! unavailable is told as unavailable, never left out.

use serde::Serialize;
use serde_json::Value;

use crate::house::{Entity, EntityId, House};
use crate::text::clean;

/// Longest state told, in characters.
const STATE_CHARS_MAX: usize = 80;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Question {
    /// In the order of their ids.
    pub entities: Vec<EntityId>,
    pub ask: Ask,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// How is it?
    State,
    /// Is it so?
    Is(Condition),
    /// Which of them are so?
    Which(Condition),
    /// How many of them are so?
    Count(Condition),
    /// How warm, how bright, how loud is it?
    Measure(Measure),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    On,
    Off,
    Open,
    Closed,
    /// 开着: on or open, as the thing is.
    OnOrOpen,
    OffOrClosed,
    Locked,
    Unlocked,
    Playing,
    Unavailable,
    /// Motion, smoke, water, somebody: the sensor says yes.
    Detected,
    /// A raw state, as Home Assistant's recogniser names it.
    State(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    Temperature,
    Humidity,
    Brightness,
    Volume,
    Position,
    Speed,
    Battery,
    Power,
    CarbonDioxide,
    Particles,
}

impl Measure {
    /// The device class of sensors that measure it.
    pub fn class(self) -> Option<&'static str> {
        Some(match self {
            Self::Temperature => "temperature",
            Self::Humidity => "humidity",
            Self::Battery => "battery",
            Self::Power => "power",
            Self::CarbonDioxide => "carbon_dioxide",
            Self::Particles => "pm25",
            Self::Brightness => "illuminance",
            Self::Volume | Self::Position | Self::Speed => return None,
        })
    }

    /// The value that an entity shows of it, in percent where it is a share.
    pub fn of(self, id: &EntityId, entity: &Entity) -> Option<f64> {
        let number = |key: &str| entity.attribute(key).and_then(Value::as_f64);
        if matches!(id.domain(), "sensor" | "number" | "input_number") {
            return entity.value().and_then(|value| value.parse().ok());
        }
        match self {
            Self::Temperature => number("current_temperature").or_else(|| number("temperature")),
            Self::Humidity => number("current_humidity").or_else(|| number("humidity")),
            Self::Brightness => number("brightness").map(|brightness| (brightness / 2.55).round()),
            Self::Volume => number("volume_level").map(|volume| (volume * 100.0).round()),
            Self::Position => number("current_position"),
            Self::Speed => number("percentage"),
            Self::Battery => number("battery_level"),
            Self::Power | Self::CarbonDioxide | Self::Particles => None,
        }
    }
}

/// What the house shows of one entity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fact {
    pub entity_id: EntityId,
    /// Cleaned.
    pub state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Whether it is as asked, where something was asked that can be so or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fits: Option<bool>,
}

impl Question {
    pub fn facts(&self, house: &House) -> Vec<Fact> {
        self.entities.iter().filter_map(|id| self.fact(house, id)).collect()
    }

    fn fact(&self, house: &House, id: &EntityId) -> Option<Fact> {
        let entity = house.entity(id.as_str())?;
        let state = clean(entity.value().unwrap_or("unavailable"), STATE_CHARS_MAX);
        let (value, fits) = match &self.ask {
            Ask::State => (None, None),
            Ask::Is(condition) | Ask::Which(condition) | Ask::Count(condition) => {
                (None, Some(condition.holds(id, entity)))
            }
            Ask::Measure(measure) => (measure.of(id, entity), None),
        };
        Some(Fact { entity_id: id.clone(), state, value, unit: self.unit(house, id, entity), fits })
    }

    fn unit(&self, house: &House, id: &EntityId, entity: &Entity) -> Option<String> {
        if let Some(unit) = entity.attribute("unit_of_measurement").and_then(Value::as_str) {
            return Some(clean(unit, STATE_CHARS_MAX));
        }
        match &self.ask {
            Ask::Measure(Measure::Temperature) if id.domain() != "sensor" => {
                house.units.temperature.as_deref().map(|unit| clean(unit, STATE_CHARS_MAX))
            }
            Ask::Measure(Measure::Humidity | Measure::Brightness | Measure::Volume | Measure::Position)
            | Ask::Measure(Measure::Speed | Measure::Battery) => Some("%".to_owned()),
            _ => None,
        }
    }
}

impl Condition {
    /// Is the entity so? Unavailable and unknown are never so.
    pub fn holds(&self, id: &EntityId, entity: &Entity) -> bool {
        let Some(state) = entity.value() else { return *self == Self::Unavailable };
        let domain = id.domain();
        let open = || match domain {
            "cover" | "valve" => matches!(state, "open" | "opening" | "closing"),
            "lock" => matches!(state, "open" | "opening"),
            "binary_sensor" => state == "on",
            _ => false,
        };
        let closed = || match domain {
            "cover" | "valve" => state == "closed",
            "binary_sensor" => state == "off",
            _ => false,
        };
        let resting = matches!(state, "off" | "unavailable" | "unknown");
        let on = || match domain {
            "climate" | "media_player" | "water_heater" => !(resting || state == "standby"),
            "vacuum" | "lawn_mower" => matches!(state, "cleaning" | "mowing" | "returning"),
            _ => state == "on",
        };
        let off = || match domain {
            "vacuum" | "lawn_mower" => matches!(state, "docked" | "idle" | "paused"),
            "media_player" => matches!(state, "off" | "standby"),
            _ => state == "off",
        };
        match self {
            Self::On => on(),
            Self::Off => off(),
            Self::Open => open(),
            Self::Closed => closed(),
            Self::OnOrOpen if domain == "lock" => matches!(state, "unlocked" | "open"),
            Self::OffOrClosed if domain == "lock" => state == "locked",
            Self::OnOrOpen => on() || open(),
            Self::OffOrClosed => off() || closed(),
            Self::Locked => state == "locked",
            Self::Unlocked => matches!(state, "unlocked" | "open" | "opening" | "unlocking"),
            Self::Playing => state == "playing",
            Self::Unavailable => state == "unavailable",
            Self::Detected => state == "on",
            Self::State(wanted) => state == wanted,
        }
    }
}
