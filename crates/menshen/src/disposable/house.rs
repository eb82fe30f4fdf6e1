//! The seeded family's house as a table: `house/house.json`. Start at [`House::table`].
//!
//! Invariant: the custom component, the seeding, the reset and `docs/dev/house.md` all read this
//! one table, so they cannot disagree.

use std::sync::OnceLock;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Map, Value};

pub const TEXT: &str = include_str!("../../house/house.json");

#[derive(Deserialize)]
pub struct House {
    pub floors: Vec<Floor>,
    pub rooms: Vec<Room>,
    pub labels: Vec<Label>,
    /// Entities of our own component.
    pub own: Vec<Own>,
    /// Entities of the demo, of packages and helpers that are given a room or deserve a word.
    pub others: Vec<Other>,
    pub macros: Vec<Macro>,
    #[cfg_attr(not(test), expect(dead_code, reason = "read by the documentation"))]
    pub automations: Vec<Automation>,
}

#[derive(Deserialize)]
pub struct Floor {
    pub id: String,
    /// Home Assistant makes the id from the first name; it is renamed after that.
    pub made_as: String,
    pub name: String,
    pub aliases: Vec<String>,
    pub level: i64,
}

#[derive(Deserialize)]
pub struct Room {
    pub id: String,
    pub name: String,
    pub aliases: Vec<String>,
    pub floor: Option<String>,
}

#[derive(Deserialize)]
pub struct Label {
    pub id: String,
    pub name: String,
}

#[derive(Deserialize)]
pub struct Own {
    pub id: String,
    zh: Option<String>,
    en: Option<String>,
    shown: String,
    #[serde(default)]
    aliases: Vec<String>,
    pub room: Option<String>,
    pub code: Option<String>,
    #[serde(default)]
    pub hidden: bool,
    #[serde(default)]
    pub disabled: bool,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

#[derive(Deserialize)]
#[cfg_attr(not(test), expect(dead_code, reason = "names and notes are read by the documentation"))]
pub struct Other {
    pub id: String,
    pub from: String,
    pub names: String,
    #[serde(default)]
    pub aliases: Vec<String>,
    pub room: Option<String>,
    #[serde(default)]
    pub labels: Vec<String>,
    pub note: Option<String>,
}

#[derive(Deserialize)]
#[cfg_attr(not(test), expect(dead_code, reason = "what it does is read by the documentation"))]
pub struct Macro {
    pub id: String,
    pub name: String,
    pub does: String,
    pub opens: bool,
}

#[derive(Deserialize)]
#[cfg_attr(not(test), expect(dead_code, reason = "read by the documentation"))]
pub struct Automation {
    pub id: String,
    pub trigger: String,
    pub does: String,
    pub opens: bool,
}

impl House {
    pub fn table() -> Result<&'static Self> {
        static TABLE: OnceLock<House> = OnceLock::new();
        if let Some(table) = TABLE.get() {
            return Ok(table);
        }
        let table = serde_json::from_str(TEXT).context("house.json of this program is broken")?;
        Ok(TABLE.get_or_init(|| table))
    }

    /// Codes of locks and alarms, which the reset needs to put them back.
    pub fn code(&self, id: &str) -> Option<&str> {
        match id {
            "alarm_control_panel.security" => Some("1234"),
            "alarm_control_panel.coded_alarm" => Some("4321"),
            _ => self.own.iter().find(|own| own.id == id)?.code.as_deref(),
        }
    }
}

impl Own {
    /// The name that the house shows.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by the documentation"))]
    pub fn name(&self) -> &str {
        let (shown, other) = if self.shown == "zh" { (&self.zh, &self.en) } else { (&self.en, &self.zh) };
        shown.as_deref().or(other.as_deref()).unwrap_or(&self.id)
    }

    /// The name in the other language, then further ones.
    pub fn aliases(&self) -> Vec<String> {
        let other = if self.shown == "zh" { &self.en } else { &self.zh };
        other.iter().chain(&self.aliases).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_row_names_a_room_that_exists_and_no_id_stands_twice() {
        let table = House::table().unwrap();
        let rooms: BTreeSet<&str> = table.rooms.iter().map(|room| room.id.as_str()).collect();
        let mut seen = BTreeSet::new();
        let own = table.own.iter().map(|own| (&own.id, &own.room));
        for (id, room) in own.chain(table.others.iter().map(|other| (&other.id, &other.room))) {
            assert!(seen.insert(id), "{id} stands twice");
            assert!(decide::house::EntityId::parse(id).is_some_and(|parsed| parsed.as_str() == id), "{id} is no id");
            if let Some(room) = room {
                assert!(rooms.contains(room.as_str()), "{id}: no room {room}");
            }
        }
    }

    #[test]
    fn an_area_gets_its_id_from_the_name_it_is_made_with() {
        for room in &House::table().unwrap().rooms {
            assert!(room.id.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{}", room.id);
        }
    }
}
