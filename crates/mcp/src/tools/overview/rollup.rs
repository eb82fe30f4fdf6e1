//! What a room, or the whole house, comes to: light, climate, security. Start at [`Rollup::add`].
//! Invariant: what is jammed, moving, unavailable or unknown is never counted as secure.

use decide::gate::CoverClass;
use decide::house::{Entity, EntityId};
use serde_json::{Value, json};

use crate::tools::numbers::{Scale, tenths};
use crate::tools::view::View;

#[derive(Default)]
pub struct Rollup {
    pub entities: usize,
    pub light: Light,
    pub climate: Climate,
    pub security: Security,
}

#[derive(Default)]
pub struct Light {
    pub total: usize,
    pub on: usize,
    brightness: f64,
    rgb: [f64; 3],
    coloured: usize,
}

#[derive(Default)]
pub struct Climate {
    sum: f64,
    sources: usize,
}

#[derive(Default)]
pub struct Security {
    pub locks: usize,
    pub openings: usize,
    pub unlocked: Vec<EntityId>,
    pub open: Vec<EntityId>,
    /// Neither surely open nor surely closed.
    pub uncertain: Vec<EntityId>,
}

impl Rollup {
    pub fn add(&mut self, view: &View<'_>, id: &EntityId, entity: &Entity) {
        self.entities += 1;
        match id.domain() {
            "light" => self.light.add(entity),
            "lock" => self.security.lock(id, entity),
            "cover" if opens_the_house(view, id, entity) => self.security.cover(id, entity),
            "binary_sensor" if entity.classes().any(|c| matches!(c, "door" | "window" | "garage_door" | "opening")) => {
                self.security.sensor(id, entity);
            }
            "climate" => self.climate.add(view, entity, "current_temperature"),
            "sensor" if entity.info.category.is_none() && entity.classes().any(|class| class == "temperature") => {
                self.climate.add(view, entity, "");
            }
            _ => {}
        }
    }
}

impl Rollup {
    /// What a house comes to is what its rooms come to; for light and climate nobody asks.
    pub fn take_in<'a>(&mut self, rooms: impl Iterator<Item = &'a Self>) {
        for room in rooms {
            self.entities += room.entities;
            self.security.take_in(&room.security);
        }
        self.security.sort();
    }
}

/// A cover that, open, leaves the house open: by the person's class, else its own, none included.
fn opens_the_house(view: &View<'_>, id: &EntityId, entity: &Entity) -> bool {
    let floor = || view.house.area_of(entity).and_then(|(_, area)| area.floor_id.as_deref());
    let comfort = || {
        floor().is_some_and(|id| {
            let name = view.house.floors.get(id).map_or("", |floor| &*floor.name);
            view.policy.comfort_floors.iter().any(|comfort| comfort == id || comfort == name)
        })
    };
    match view.policy.covers.get(id) {
        Some(CoverClass::Door | CoverClass::Garage | CoverClass::Gate | CoverClass::Window) => true,
        Some(CoverClass::Shutter) => !comfort(),
        Some(_) => false,
        None if entity.classes().any(|class| matches!(class, "garage" | "gate" | "door" | "window")) => true,
        None => (entity.classes().next().is_none() || entity.classes().any(|class| class == "shutter")) && !comfort(),
    }
}

impl Light {
    fn add(&mut self, entity: &Entity) {
        self.total += 1;
        if entity.value() != Some("on") {
            return;
        }
        self.on += 1;
        // A light without a brightness has but one: full.
        self.brightness += entity.attribute("brightness").and_then(Value::as_f64).unwrap_or(255.0) / 255.0;
        let parts = entity.attribute("rgb_color").and_then(Value::as_array);
        if let Some([red, green, blue]) = parts.map(Vec::as_slice) {
            for (sum, part) in self.rgb.iter_mut().zip([red, green, blue]) {
                *sum += part.as_f64().unwrap_or(0.0);
            }
            self.coloured += 1;
        }
    }

    pub fn shape(&self) -> Value {
        let brightness = if self.on == 0 { 0.0 } else { self.brightness / self.on as f64 };
        let rgb = (self.coloured > 0).then(|| self.rgb.map(|sum| (sum / self.coloured as f64).round() as u8));
        json!({"total": self.total, "on": self.on, "brightness": (brightness * 1000.0).round() / 1000.0, "rgb": rgb})
    }
}

impl Climate {
    fn add(&mut self, view: &View<'_>, entity: &Entity, attribute: &str) {
        let house = view.house.units.temperature.as_deref().and_then(Scale::parse);
        let (degrees, own) = if attribute.is_empty() {
            let unit = entity.attribute("unit_of_measurement").and_then(Value::as_str);
            (entity.value().and_then(|value| value.parse().ok()), unit.and_then(Scale::parse).or(house))
        } else {
            (entity.attribute(attribute).and_then(Value::as_f64), house)
        };
        if let Some(degrees) = degrees.filter(|degrees: &f64| degrees.is_finite()) {
            self.sum += match (own, house) {
                (Some(own), Some(house)) => own.convert(degrees, house),
                _ => degrees,
            };
            self.sources += 1;
        }
    }

    pub fn shape(&self, view: &View<'_>) -> Value {
        match self.sources {
            0 => Value::Null,
            sources => json!({
                "temperature": tenths(self.sum / sources as f64),
                "sources": sources,
                "unit": view.house.units.temperature,
            }),
        }
    }
}

impl Security {
    fn lock(&mut self, id: &EntityId, entity: &Entity) {
        self.locks += 1;
        match entity.value() {
            Some("locked") => {}
            Some("unlocked" | "unlocking" | "open" | "opening") => self.unlocked.push(id.clone()),
            _ => self.uncertain.push(id.clone()),
        }
    }

    fn cover(&mut self, id: &EntityId, entity: &Entity) {
        self.openings += 1;
        match entity.value() {
            Some("closed") => {}
            Some("open" | "opening" | "closing") => self.open.push(id.clone()),
            _ => self.uncertain.push(id.clone()),
        }
    }

    fn sensor(&mut self, id: &EntityId, entity: &Entity) {
        self.openings += 1;
        match entity.value() {
            Some("off") => {}
            Some("on") => self.open.push(id.clone()),
            _ => self.uncertain.push(id.clone()),
        }
    }

    fn take_in(&mut self, room: &Self) {
        self.locks += room.locks;
        self.openings += room.openings;
        let lists = [&mut self.unlocked, &mut self.open, &mut self.uncertain];
        for (ids, more) in lists.into_iter().zip([&room.unlocked, &room.open, &room.uncertain]) {
            ids.extend_from_slice(more);
        }
    }

    fn sort(&mut self) {
        [&mut self.unlocked, &mut self.open, &mut self.uncertain].into_iter().for_each(|ids| ids.sort());
    }

    pub fn secure(&self) -> bool {
        self.unlocked.is_empty() && self.open.is_empty() && self.uncertain.is_empty()
    }

    /// Nothing where there is nothing to secure; at most `ids_max` ids a list.
    pub fn shape(&self, ids_max: usize) -> Value {
        if self.locks + self.openings == 0 {
            return Value::Null;
        }
        let mut shape = json!({
            "locks": self.locks,
            "unlocked": capped(&self.unlocked, ids_max),
            "openings": self.openings,
            "open": capped(&self.open, ids_max),
            "secure": self.secure(),
        });
        if !self.uncertain.is_empty() {
            shape["uncertain"] = json!(capped(&self.uncertain, ids_max));
        }
        let left = [&self.unlocked, &self.open, &self.uncertain].map(|ids| ids.len().saturating_sub(ids_max));
        if left.iter().sum::<usize>() > 0 {
            shape["ids_left_out"] = json!(left.iter().sum::<usize>());
        }
        shape
    }
}

fn capped(ids: &[EntityId], max: usize) -> &[EntityId] {
    &ids[..ids.len().min(max)]
}
