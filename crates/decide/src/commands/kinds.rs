//! Kinds of things and which entities are of a kind. Start at [`Kind::tiers`]. Invariant: tiers go
//! from the narrow meaning to the wide one; a wide one counts only where the narrow one is empty.

use serde_json::Value;

use crate::house::{Entity, EntityId};
use crate::understood::Measure;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Light,
    Curtain,
    Blind,
    Shade,
    Awning,
    Shutter,
    Window,
    Door,
    Garage,
    Gate,
    Lock,
    Cooling,
    Heating,
    Climate,
    Fan,
    Purifier,
    Television,
    Speaker,
    Player,
    Outlet,
    Switch,
    Vacuum,
    Mower,
    Humidifier,
    WaterHeater,
    Valve,
    Gas,
    Water,
    Siren,
    Alarm,
    Timer,
    Everything,
    Presence,
    Smoke,
    Leak,
}

type Test = fn(&EntityId, &Entity) -> bool;

impl Kind {
    /// Tests of the things that can be moved, narrow meaning first.
    pub fn tiers(self) -> &'static [Test] {
        match self {
            Self::Light => &[|id, _| id.domain() == "light"],
            Self::Curtain => &[|id, it| cover(id, it, &["curtain"]), soft],
            Self::Blind => &[|id, it| cover(id, it, &["blind"]), |id, it| cover(id, it, &["shade"])],
            Self::Shade => &[|id, it| cover(id, it, &["shade"]), |id, it| cover(id, it, &["blind"])],
            Self::Awning => &[|id, it| cover(id, it, &["awning"])],
            Self::Shutter => &[|id, it| cover(id, it, &["shutter"])],
            Self::Window => &[|id, it| cover(id, it, &["window"])],
            Self::Door => &[|id, it| cover(id, it, &["door"])],
            Self::Garage => &[|id, it| cover(id, it, &["garage"])],
            Self::Gate => &[|id, it| cover(id, it, &["gate"])],
            Self::Lock => &[|id, _| id.domain() == "lock"],
            Self::Cooling => &[|id, it| id.domain() == "climate" && mode(it, &["cool", "heat_cool"])],
            Self::Heating => &[
                |id, it| id.domain() == "climate" && mode(it, &["heat"]) && !mode(it, &["cool"]),
                |id, it| id.domain() == "climate" && mode(it, &["heat", "heat_cool"]),
            ],
            Self::Climate => &[|id, _| id.domain() == "climate"],
            Self::Fan => &[|id, it| id.domain() == "fan" && !purifies(it), |id, _| id.domain() == "fan"],
            Self::Purifier => &[|id, it| id.domain() == "fan" && purifies(it)],
            Self::Television => &[|id, it| player(id, it, "tv")],
            Self::Speaker => &[|id, it| player(id, it, "speaker")],
            Self::Player => &[|id, _| id.domain() == "media_player"],
            Self::Outlet => &[|id, it| id.domain() == "switch" && it.classes().any(|class| class == "outlet")],
            Self::Switch => &[|id, _| id.domain() == "switch"],
            Self::Vacuum => &[|id, _| id.domain() == "vacuum"],
            Self::Mower => &[|id, _| id.domain() == "lawn_mower"],
            Self::Humidifier => &[|id, _| id.domain() == "humidifier"],
            Self::WaterHeater => &[|id, _| id.domain() == "water_heater"],
            Self::Valve => &[|id, _| id.domain() == "valve"],
            Self::Gas => &[|id, it| valve(id, it, "gas")],
            Self::Water => &[|id, it| valve(id, it, "water")],
            Self::Siren => &[|id, _| id.domain() == "siren"],
            Self::Alarm => &[|id, _| id.domain() == "alarm_control_panel"],
            Self::Timer => &[|id, _| id.domain() == "timer"],
            // A switch without a class may be a child lock or a pump; an outlet is what people mean.
            Self::Everything => &[|id, it| {
                matches!(id.domain(), "light" | "fan" | "media_player" | "climate" | "humidifier")
                    || (id.domain() == "switch" && it.classes().any(|class| class == "outlet"))
            }],
            Self::Presence | Self::Smoke | Self::Leak => &[],
        }
    }

    /// A kind of cover: one without a class is what its name says.
    pub fn covers(self) -> bool {
        matches!(
            self,
            Self::Curtain
                | Self::Blind
                | Self::Shade
                | Self::Awning
                | Self::Shutter
                | Self::Window
                | Self::Door
                | Self::Garage
                | Self::Gate
        )
    }

    /// Sensors that show how things of this kind are.
    pub fn watched_by(self, id: &EntityId, entity: &Entity) -> bool {
        let classes: &[&str] = match self {
            Self::Window => &["window"],
            Self::Door => &["door"],
            Self::Garage => &["garage_door"],
            Self::Lock => &["lock"],
            Self::Presence => &["occupancy", "motion", "presence"],
            Self::Smoke => &["smoke", "gas", "carbon_monoxide"],
            Self::Leak => &["moisture"],
            _ => &[],
        };
        id.domain() == "binary_sensor" && entity.classes().any(|class| classes.contains(&class))
    }

    /// Is the entity of this kind in any meaning of the word?
    pub fn fits(self, id: &EntityId, entity: &Entity) -> bool {
        match self {
            // 前门的锁, the front door: a lock is called after its door.
            Self::Door => matches!(id.domain(), "lock" | "cover"),
            Self::Window | Self::Gate | Self::Garage | Self::Shutter | Self::Curtain | Self::Blind | Self::Shade => {
                id.domain() == "cover"
            }
            Self::Light => matches!(id.domain(), "light" | "switch" | "group"),
            Self::Switch | Self::Outlet => matches!(id.domain(), "switch" | "input_boolean"),
            Self::Television | Self::Speaker | Self::Player => id.domain() == "media_player",
            Self::Cooling | Self::Heating | Self::Climate => matches!(id.domain(), "climate" | "switch"),
            kind => kind.tiers().iter().any(|test| test(id, entity)) || kind.watched_by(id, entity),
        }
    }

    /// What is meant where only a measure was said.
    pub fn of_measure(measure: Measure) -> Option<Self> {
        Some(match measure {
            Measure::Temperature => Self::Climate,
            Measure::Humidity => Self::Humidifier,
            Measure::Brightness => Self::Light,
            Measure::Volume => Self::Player,
            Measure::Speed => Self::Fan,
            _ => return None,
        })
    }
}

fn cover(id: &EntityId, entity: &Entity, classes: &[&str]) -> bool {
    id.domain() == "cover" && entity.classes().any(|class| classes.contains(&class))
}

/// 窗帘 in the wide sense.
fn soft(id: &EntityId, entity: &Entity) -> bool {
    cover(id, entity, &["blind", "shade"])
}

fn player(id: &EntityId, entity: &Entity, class: &str) -> bool {
    id.domain() == "media_player" && entity.classes().any(|it| it == class)
}

fn valve(id: &EntityId, entity: &Entity, class: &str) -> bool {
    id.domain() == "valve" && entity.classes().any(|it| it == class)
}

fn mode(entity: &Entity, wanted: &[&str]) -> bool {
    let modes = entity.attribute("hvac_modes").and_then(Value::as_array);
    modes.is_some_and(|modes| modes.iter().filter_map(Value::as_str).any(|mode| wanted.contains(&mode)))
}

/// Fans that nobody calls a fan.
fn purifies(entity: &Entity) -> bool {
    const WORDS: [&str; 5] = ["purifier", "净化", "油烟", "hood", "新风"];
    entity.info.names.iter().any(|name| {
        let name = name.to_lowercase();
        WORDS.iter().any(|word| name.contains(word))
    })
}
