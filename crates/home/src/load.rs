//! Reading the house: all of it after connecting, then whatever has changed.
//!
//! Start at [`all`], then [`keep_fresh`]. Invariant: a list that could not be read is never taken
//! for an empty one; the picture stays marked as not ready until it was read.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use decide::house::EntityId;
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout_at};

use crate::bodies;
use crate::changes::Noted;
use crate::error::HouseError;
use crate::link::Reply;
use crate::links::Links;
use crate::loose::Pool;
use crate::picture::{Keeper, Registries};
use crate::registry::{self, Entry};
use crate::services;

/// Limit: Bodies are read again at latest after this time.
pub const BODIES_MAX: Duration = Duration::from_secs(60);
/// While the house is starting it is asked so often whether it runs.
const STARTING_POLL: Duration = Duration::from_millis(1000);
/// Changes that come within this time are read together.
const COALESCE: Duration = Duration::from_millis(100);
/// Entities whose details are asked for in one command.
const ENTRIES_PER_COMMAND: usize = 2000;
/// Such commands that the house has at the same time; each answer is a megabyte or two.
const CHUNKS_AT_ONCE: usize = 3;

type Read<T> = Result<T, HouseError>;

/// Everything, as fast as the house writes it. Returns when the picture is complete.
pub(crate) async fn all(links: &Arc<Links>, keeper: &Arc<Keeper>) -> Read<()> {
    // First, so that what changes while a list is written is heard of.
    links.subscribe().await?;
    let states_then_macros = async {
        links.subscribe_states().await?;
        let mut published = keeper.watch();
        while !keeper.house().readiness.states {
            if published.changed().await.is_err() {
                break;
            }
        }
        // The registries tell which scenes belong to an integration.
        while !keeper.house().readiness.registries {
            if published.changed().await.is_err() {
                break;
            }
        }
        all_bodies(links, keeper).await;
        Ok(())
    };
    let rest = async {
        let (config, services, registries) = tokio::try_join!(config(links), services(links), registries(links))?;
        keeper.draw(|picture| {
            picture.config(config);
            picture.services(services);
            picture.registries(registries);
        });
        Ok(())
    };
    tokio::try_join!(states_then_macros, rest).map(drop)
}

/// Reads again what changes, until cancelled.
pub(crate) async fn keep_fresh(links: &Arc<Links>, keeper: &Arc<Keeper>) -> HouseError {
    let whole = BODIES_MAX;
    let mut whole_at = Instant::now() + whole;
    loop {
        let running = keeper.house().readiness.running;
        let poll = Instant::now() + STARTING_POLL;
        let _noted_or_time = timeout_at(if running { whole_at } else { poll }, keeper.changes.noted()).await;
        sleep(COALESCE).await;
        let (mut noted, count) = keeper.changes.take();
        noted.config |= !running;
        if Instant::now() >= whole_at {
            whole_at = Instant::now() + whole;
            (noted.all_macros, noted.exposed) = (true, true);
        }
        if let Err(error) = refresh(links, keeper, noted.clone()).await {
            // Nothing that was noted may be lost; if the socket is dead, all is read anew anyway.
            tracing::warn!(%error, "reading what changed failed; trying again");
            keeper.changes.note(|later| later.merge(noted));
            sleep(STARTING_POLL).await;
        } else {
            keeper.changes.drew(count);
        }
    }
}

async fn refresh(links: &Arc<Links>, keeper: &Arc<Keeper>, noted: Noted) -> Read<()> {
    if noted.config {
        let config = config(links).await?;
        let just_started = config.running && !keeper.house().readiness.running;
        if just_started {
            let (services, registries) = tokio::try_join!(services(links), registries(links))?;
            keeper.draw(|picture| {
                picture.services(services);
                picture.registries(registries);
            });
            all_bodies(links, keeper).await;
        }
        keeper.draw(|picture| picture.config(config));
    }
    if noted.services {
        let services = services(links).await?;
        keeper.draw(|picture| picture.services(services));
    }
    if noted.places {
        let (devices, areas, floors, labels) = tokio::try_join!(
            links.list("config/device_registry/list", Value::Null),
            links.list("config/area_registry/list", Value::Null),
            links.optional_list("config/floor_registry/list"),
            links.optional_list("config/label_registry/list"),
        )?;
        let read = places(&devices, &areas, floors.as_ref(), labels.as_ref())?;
        keeper.draw(|picture| picture.places(read.devices, read.areas, read.floors, read.labels));
    }
    if !noted.entries.is_empty() {
        let ids: Vec<_> = noted.entries.into_iter().collect();
        let read = entries(links, &ids).await?;
        keeper.draw(|picture| picture.entries(&ids, read));
    }
    if noted.exposed {
        let exposed = exposed(links).await?;
        keeper.draw(|picture| picture.exposed(exposed));
    }
    if noted.all_macros {
        all_bodies(links, keeper).await;
    } else if !noted.macros.is_empty() {
        bodies::refresh(links, keeper, noted.macros).await;
    }
    Ok(())
}

async fn all_bodies(links: &Arc<Links>, keeper: &Arc<Keeper>) {
    let house = keeper.house();
    let known = house.bodies.scripts.keys().chain(house.bodies.scenes.keys()).chain(house.bodies.automations.keys());
    let present =
        ["script", "scene", "automation"].into_iter().flat_map(|domain| house.domain(domain).map(|(id, _)| id));
    let ids: BTreeSet<EntityId> = known.chain(present).cloned().collect();
    bodies::refresh(links, keeper, ids).await;
    keeper.draw(|picture| picture.house().readiness.bodies = true);
}

async fn config(links: &Links) -> Read<services::HouseConfig> {
    let reply = links.list("get_config", Value::Null).await?;
    let mut config = services::config(reply.json()).map_err(|error| HouseError::bad_answer("get_config", error))?;
    config.hosts.insert(links.endpoint.host().trim_end_matches('.').to_lowercase());
    Ok(config)
}

async fn services(links: &Links) -> Read<services::Services> {
    let reply = links.list("get_services", Value::Null).await?;
    services::services(reply.json()).map_err(|error| HouseError::bad_answer("get_services", error))
}

async fn exposed(links: &Links) -> Read<std::collections::BTreeMap<EntityId, bool>> {
    let what = "homeassistant/expose_entity/list";
    match links.optional_list(what).await? {
        Some(reply) => registry::exposed(reply.json()).map_err(|error| HouseError::bad_answer(what, error)),
        None => Ok(Default::default()),
    }
}

async fn registries(links: &Arc<Links>) -> Read<Registries> {
    let (entries, devices, areas, floors, labels, exposed) = tokio::try_join!(
        all_entries(links),
        links.list("config/device_registry/list", Value::Null),
        links.list("config/area_registry/list", Value::Null),
        links.optional_list("config/floor_registry/list"),
        links.optional_list("config/label_registry/list"),
        exposed(links),
    )?;
    Ok(Registries { entries, exposed, ..places(&devices, &areas, floors.as_ref(), labels.as_ref())? })
}

fn places(devices: &Reply, areas: &Reply, floors: Option<&Reply>, labels: Option<&Reply>) -> Read<Registries> {
    let bad = |what: &'static str| move |error| HouseError::bad_answer(what, error);
    let mut pool = Pool::default();
    Ok(Registries {
        devices: registry::devices(devices.json(), &mut pool).map_err(bad("devices"))?,
        areas: registry::areas(areas.json(), &mut pool).map_err(bad("areas"))?,
        floors: registry::floors(floors.map_or("[]", Reply::json), &mut pool).map_err(bad("floors"))?,
        labels: registry::labels(labels.map_or("[]", Reply::json), &mut pool).map_err(bad("labels"))?,
        ..Registries::default()
    })
}

/// The list has neither aliases nor classes, so the details of each are asked for as well.
async fn all_entries(links: &Arc<Links>) -> Read<std::collections::BTreeMap<EntityId, Entry>> {
    let what = "config/entity_registry/list";
    let reply = links.list(what, Value::Null).await?;
    let ids = registry::ids(reply.json()).map_err(|error| HouseError::bad_answer(what, error))?;
    drop(reply);
    Ok(entries(links, &ids).await?.into_iter().collect())
}

async fn entries(links: &Arc<Links>, ids: &[EntityId]) -> Read<Vec<(EntityId, Entry)>> {
    let what = "config/entity_registry/get_entries";
    let mut read = Vec::with_capacity(ids.len());
    let mut pool = Pool::default();
    // The house writes the next while this one is read.
    let chunks: Vec<Value> = ids.chunks(ENTRIES_PER_COMMAND).map(|chunk| json!({ "entity_ids": chunk })).collect();
    let mut replies = futures_util::stream::iter(chunks)
        .map(|chunk| {
            let links = links.clone();
            async move { links.list(what, chunk).await }
        })
        .buffered(CHUNKS_AT_ONCE);
    while let Some(reply) = replies.next().await {
        let reply = reply?;
        read.extend(registry::extended(reply.json(), &mut pool).map_err(|error| HouseError::bad_answer(what, error))?);
    }
    Ok(read)
}
