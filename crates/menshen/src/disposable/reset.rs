//! Puts everything that moves back to how it was seeded, quickly, so that tests start alike.
//!
//! Start at [`reset`]. Invariant: it returns only when the house is as it was, or says what is not.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use home::Wire;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::folders::{Folders, write_private};
use super::house::House;
use super::onboard::Rest;
use super::record::Record;
use super::restore::{Restoring, Step, rank, restore};

/// The demo's slowest cover takes about 15 s from end to end.
const RESET_SECS_MAX: u64 = 60;
const SETTLE_SECS_MAX: u64 = 30;
/// What says that it is on its way, and says nothing new for so long, is told again. The demo's
/// locks take 2 s; its covers say something every second.
const PATIENCE: Duration = Duration::from_secs(3);
const LOOK_EVERY: Duration = Duration::from_millis(100);

type States = BTreeMap<String, Value>;

#[derive(Debug, Default)]
pub struct Moved {
    pub calls: usize,
    /// Entities without registration that the seeded house does not have: faked states, new groups.
    pub removed: Vec<String>,
}

/// Remembers the states of a freshly seeded house, once nothing moves any more.
pub async fn remember(folders: &Folders, name: &str, wire: &mut Wire) -> Result<()> {
    let begun = Instant::now();
    let mut last = states(wire).await?;
    loop {
        sleep(Duration::from_millis(300)).await;
        let now = states(wire).await?;
        if same(&last, &now) || begun.elapsed() > Duration::from_secs(SETTLE_SECS_MAX) {
            return write_private(&folders.house(name).join("seeded.json"), &serde_json::to_string(&now)?);
        }
        last = now;
    }
}

fn same(before: &States, after: &States) -> bool {
    let value =
        |states: &States| states.iter().map(|(id, state)| (id.clone(), state["state"].clone())).collect::<Vec<_>>();
    value(before) == value(after)
}

/// Longest wait for what may not go back at all.
const CLEANER_SECS_MAX: u64 = 8;

fn cleaner(id: &str) -> bool {
    matches!(id.split('.').next(), Some("vacuum" | "lawn_mower"))
}

pub async fn reset(folders: &Folders, record: &Record) -> Result<Moved> {
    let path = folders.house(&record.name).join("seeded.json");
    let text = fs::read_to_string(&path)
        .with_context(|| format!("{} is missing: take the house down and up", path.display()))?;
    let seeded: States = serde_json::from_str(&text)?;
    let rest = Rest::open(record.base_url(), record.token.clone())?;
    let mut wire = record.wire().await.context("the house does not answer; is it up?")?;
    let mut moved = Moved { removed: remove_strangers(&rest, &mut wire, &seeded).await?, ..Moved::default() };
    let begun = Instant::now();
    let mut heard = BTreeMap::new();
    loop {
        let now = states(&mut wire).await?;
        let (steps, moving) = missing(&seeded, &now, &mut heard)?;
        if steps.is_empty() && moving.is_empty() {
            return Ok(moved);
        }
        let ids = steps.iter().map(|(id, _)| id.as_str()).chain(moving).collect::<BTreeSet<_>>();
        // Some of the demo's cleaners can be started and never stopped; no test looks at them.
        if begun.elapsed() > Duration::from_secs(CLEANER_SECS_MAX) && ids.iter().all(|id| cleaner(id)) {
            tracing::warn!(left = ?ids, "these cannot be put back");
            return Ok(moved);
        }
        if begun.elapsed() > Duration::from_secs(RESET_SECS_MAX) {
            bail!(
                "these did not go back within {RESET_SECS_MAX} s: {}",
                ids.into_iter().collect::<Vec<_>>().join(", ")
            );
        }
        for (_, step) in &steps {
            let body = json!({"domain": step.domain, "service": step.service, "service_data": step.data});
            // An error does not mean that nothing moved; the next look tells.
            if let Err(error) = wire.command("call_service", body).await {
                tracing::debug!(%error, service = step.service, "a call of the reset failed");
            }
        }
        moved.calls += steps.len();
        sleep(LOOK_EVERY).await;
    }
}

/// When an entity last said something new, by what it said.
type Heard = BTreeMap<String, (Value, Instant)>;
type Missing<'a> = (Vec<(String, Step)>, Vec<&'a str>);

/// What is still to do, doors last, and what is on its way.
fn missing<'a>(seeded: &'a States, now: &States, heard: &mut Heard) -> Result<Missing<'a>> {
    let house = House::table()?;
    let (mut steps, mut moving) = (Vec::new(), Vec::new());
    for (id, want) in seeded {
        let Some(have) = now.get(id) else { continue };
        let said = &have["last_updated"];
        let last = heard.entry(id.clone()).or_insert_with(|| (said.clone(), Instant::now()));
        if last.0 != *said {
            *last = (said.clone(), Instant::now());
        }
        match restore(house, id, want, have, last.1.elapsed() < PATIENCE) {
            Restoring::Settled => {}
            Restoring::Moving => moving.push(id.as_str()),
            Restoring::Steps(some) => steps.extend(some.into_iter().map(|step| (id.clone(), step))),
        }
    }
    steps.sort_by_key(|(id, _)| rank(id));
    Ok((steps, moving))
}

async fn remove_strangers(rest: &Rest, wire: &mut Wire, seeded: &States) -> Result<Vec<String>> {
    let list = wire.command("config/entity_registry/list", Value::Null).await?;
    let registered: BTreeSet<&str> =
        list.as_array().into_iter().flatten().filter_map(|row| row["entity_id"].as_str()).collect();
    let now = states(wire).await?;
    let strangers: Vec<String> =
        now.into_keys().filter(|id| !seeded.contains_key(id) && !registered.contains(id.as_str())).collect();
    for id in &strangers {
        // The demo's storms come and go by themselves: what has gone meanwhile is removed too.
        if let Err(error) = rest.send(Method::DELETE, &format!("/api/states/{id}"), None).await
            && states(wire).await?.contains_key(id)
        {
            return Err(error);
        }
    }
    Ok(strangers)
}

async fn states(wire: &mut Wire) -> Result<States> {
    let list = wire.command("get_states", Value::Null).await?;
    let Value::Array(list) = list else { bail!("the house lists no states") };
    let keyed = list.into_iter().filter_map(|state| Some((state["entity_id"].as_str()?.to_owned(), state)));
    Ok(keyed.collect())
}
