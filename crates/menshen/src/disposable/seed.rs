//! Gives the house its floors, rooms, aliases, labels and what Assist may see. Start at [`seed`].
//!
//! Invariant: what the release lacks is named in the answer, never left out in silence.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use home::{HouseError, Wire};
use serde_json::{Map, Value, json};

use super::config::Release;
use super::house::{House, Other, Own};
use super::onboard::Rest;

/// Integrations that the house asks for and that are missed when their packages could not be had.
const EXPECTED: [&str; 8] =
    ["demo", "kitchen_sink", "python_script", "conversation", "mobile_app", "search", "webhook", "menshen_house"];

/// What one entity is to get.
struct Place<'a> {
    id: &'a str,
    room: Option<&'a str>,
    aliases: Vec<String>,
    labels: &'a [String],
}

struct Seeding<'a> {
    wire: &'a mut Wire,
    table: &'static House,
    /// Floors and labels, from 2024.4 on.
    floors: bool,
    own_name_in_aliases: bool,
    /// Registered entities and their devices.
    registered: BTreeMap<String, Option<String>>,
    absent: Vec<String>,
}

/// Seeds the house and tells what it made.
pub async fn seed(rest: &Rest, wire: &mut Wire) -> Result<Value> {
    let table = House::table()?;
    let release = Release::parse(wire.version());
    let mut absent = Vec::new();
    latch(rest).await?;
    let floors = release >= Release(2024, 4);
    if !floors {
        absent.extend(["floors", "labels"].map(str::to_owned));
    }
    let config = wire.command("get_config", Value::Null).await?;
    let loaded = |name: &&str| config["components"].as_array().is_some_and(|all| all.contains(&Value::from(*name)));
    absent.extend(EXPECTED.into_iter().filter(|name| !loaded(name)).map(str::to_owned));
    let registered = registry(wire).await?;
    let mut seeding = Seeding {
        wire,
        table,
        floors,
        own_name_in_aliases: release >= Release(2026, 3),
        registered,
        absent: Vec::new(),
    };
    let floor_ids = seeding.floors().await?;
    seeding.rooms(&floor_ids).await?;
    seeding.labels().await?;
    let named = seeding.entities().await?;
    let exposed = seeding.expose().await?;
    absent.append(&mut seeding.absent);
    let rooms: Vec<_> = table.rooms.iter().map(|room| &room.id).collect();
    let macros = |opens| table.macros.iter().filter(|m| m.opens == opens).map(|m| m.id.as_str()).collect::<Vec<_>>();
    Ok(json!({
        "floors": floor_ids.len(),
        "areas": rooms,
        "entitiesNamed": named,
        "entitiesExposed": exposed,
        "macrosThatOpen": macros(true),
        "macrosThatDoNot": macros(false),
        "absent": absent,
    }))
}

/// A lock that stands in front of a switch: Home Assistant's own wrapping helper.
async fn latch(rest: &Rest) -> Result<()> {
    let mut step = json!({"entity_id": "switch.shed_latch", "target_domain": "lock", "invert": false});
    if rest.flow("switch_as_x", &[step.clone()]).await.is_ok() {
        return Ok(());
    }
    // Older releases do not know the option to invert.
    if let Some(step) = step.as_object_mut() {
        step.remove("invert");
    }
    rest.flow("switch_as_x", &[step]).await
}

async fn registry(wire: &mut Wire) -> Result<BTreeMap<String, Option<String>>> {
    let list = wire.command("config/entity_registry/list", Value::Null).await?;
    let rows = list.as_array().context("the house lists no entities")?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    Ok(rows.iter().filter_map(|row| Some((text(&row["entity_id"])?, text(&row["device_id"])))).collect())
}

impl Seeding<'_> {
    async fn floors(&mut self) -> Result<BTreeMap<&'static str, String>> {
        let mut ids = BTreeMap::new();
        if !self.floors {
            return Ok(ids);
        }
        for floor in &self.table.floors {
            let made = self
                .wire
                .command("config/floor_registry/create", json!({"name": floor.made_as, "level": floor.level}))
                .await?;
            let id = made["floor_id"].as_str().context("a floor got no id")?.to_owned();
            let body = json!({"floor_id": id, "name": floor.name, "aliases": floor.aliases});
            self.wire.command("config/floor_registry/update", body).await?;
            ids.insert(floor.id.as_str(), id);
        }
        Ok(ids)
    }

    async fn rooms(&mut self, floors: &BTreeMap<&str, String>) -> Result<()> {
        let list = self.wire.command("config/area_registry/list", Value::Null).await?;
        let there: BTreeSet<&str> =
            list.as_array().into_iter().flatten().filter_map(|area| area["area_id"].as_str()).collect();
        for room in &self.table.rooms {
            if !there.contains(room.id.as_str()) {
                // The id comes from the first name, so that it is the same whatever the room is called.
                self.wire.command("config/area_registry/create", json!({"name": room.id.replace('_', " ")})).await?;
            }
            let mut body = json!({"area_id": room.id, "name": room.name, "aliases": room.aliases});
            if let Some(floor) = room.floor.as_deref().and_then(|floor| floors.get(floor)) {
                body["floor_id"] = floor.as_str().into();
            }
            self.wire
                .command("config/area_registry/update", body)
                .await
                .with_context(|| format!("room {}", room.id))?;
        }
        Ok(())
    }

    async fn labels(&mut self) -> Result<()> {
        if self.floors {
            for label in &self.table.labels {
                let made = self.wire.command("config/label_registry/create", json!({"name": label.name})).await?;
                ensure!(made["label_id"] == label.id.as_str(), "label {} got the id {}", label.name, made["label_id"]);
            }
        }
        Ok(())
    }

    async fn entities(&mut self) -> Result<u32> {
        let own = self.table.own.iter().map(Place::own);
        let others = self.table.others.iter().map(Place::other);
        let mut named = 0;
        for place in own.chain(others) {
            if self.registered.contains_key(place.id) {
                self.place(&place).await.with_context(|| format!("entity {}", place.id))?;
                named += 1;
            } else if place.room.is_some() || !place.aliases.is_empty() {
                self.absent.push(place.id.to_owned());
            }
        }
        Ok(named)
    }

    async fn place(&mut self, place: &Place<'_>) -> Result<()> {
        let mut body = Map::new();
        body.insert("entity_id".into(), place.id.into());
        if !place.aliases.is_empty() {
            // Newer releases count the entity's own name among its aliases, as an empty one, and
            // Assist no longer hears it when a list without it is set.
            let own_name = self.own_name_in_aliases.then_some(Value::Null);
            let aliases = own_name.into_iter().chain(place.aliases.iter().map(|alias| alias.as_str().into()));
            body.insert("aliases".into(), aliases.collect());
        }
        if self.floors && !place.labels.is_empty() {
            body.insert("labels".into(), json!(place.labels));
        }
        if body.len() > 1 {
            self.wire.command("config/entity_registry/update", body.into()).await?;
        }
        if let Some(room) = place.room {
            self.put_into(place.id, room).await?;
        }
        Ok(())
    }

    /// Newer releases keep the area of a device's main entity on the device.
    async fn put_into(&mut self, id: &str, room: &str) -> Result<(), HouseError> {
        let body = json!({"entity_id": id, "area_id": room});
        let Err(error) = self.wire.command("config/entity_registry/update", body).await else {
            return Ok(());
        };
        let Some(Some(device)) = self.registered.get(id) else {
            return Err(error);
        };
        let body = json!({"device_id": device, "area_id": room});
        self.wire.command("config/device_registry/update", body).await.map(drop)
    }

    /// What a family lets its assistant see: things and macros, not the helpers behind them. Locks
    /// too, so that asking to unlock one is understood; the gate is what holds it.
    async fn expose(&mut self) -> Result<usize> {
        let own =
            self.table.own.iter().filter(|own| !own.hidden && !own.disabled && !own.rest.contains_key("category"));
        let others = self.table.others.iter().filter(|other| {
            !matches!(other.id.split('.').next(), Some("group" | "button" | "select" | "number" | "timer" | "counter"))
                && !other.id.starts_with("input_")
        });
        let ids: Vec<&str> = own
            .map(|own| own.id.as_str())
            .chain(others.map(|other| other.id.as_str()))
            .chain(self.table.macros.iter().map(|each| each.id.as_str()))
            .collect();
        let body = json!({"assistants": ["conversation"], "entity_ids": ids, "should_expose": true});
        self.wire.command("homeassistant/expose_entity", body).await?;
        Ok(ids.len())
    }
}

impl<'a> Place<'a> {
    fn own(own: &'a Own) -> Self {
        Self { id: &own.id, room: own.room.as_deref(), aliases: own.aliases(), labels: &[] }
    }

    fn other(other: &'a Other) -> Self {
        Self { id: &other.id, room: other.room.as_deref(), aliases: other.aliases.clone(), labels: &other.labels }
    }
}
