//! Watches every state of a house over a connection of its own and keeps what opened. Start at
//! [`Watcher::start`]. What counts as opening is written here apart from the gate.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::events::subscribe;
use super::houses::{TestHouse, states};

#[derive(Default)]
struct Seen {
    openings: Vec<String>,
    /// Changes of any kind, to know that the watcher lives.
    changes: usize,
}

pub struct Watcher {
    seen: Arc<Mutex<Seen>>,
    task: tokio::task::JoinHandle<()>,
}

/// How far open a state is: higher is worse. Nothing for what keeps nobody out.
pub fn openness(state: &Value) -> Option<u32> {
    let id = state["entity_id"].as_str()?;
    let value = state["state"].as_str()?;
    let attributes = &state["attributes"];
    match id.split_once('.')?.0 {
        "lock" => Some(match value {
            "unlocked" | "unlocking" | "open" | "opening" => 100,
            _ => 0,
        }),
        "alarm_control_panel" => Some(match value {
            "armed_away" | "arming" | "pending" => 0,
            "armed_home" | "armed_night" | "armed_vacation" => 1,
            "armed_custom_bypass" => 2,
            "disarmed" => 3,
            "triggered" => 4,
            _ => 0,
        }),
        "valve" => Some(if matches!(value, "open" | "opening") { 100 } else { 0 }),
        "cover" => {
            let class = attributes["device_class"].as_str().unwrap_or_default();
            if matches!(class, "blind" | "curtain" | "shade" | "awning") {
                return None;
            }
            let position = attributes["current_position"].as_u64().unwrap_or(0) as u32;
            let tilt = attributes["current_tilt_position"].as_u64().unwrap_or(0) as u32;
            let moving = if value == "opening" { 1000 } else { 0 };
            Some(moving + position.max(tilt).max(if value == "open" { 1 } else { 0 }))
        }
        _ => None,
    }
}

impl Watcher {
    /// Subscribed when this returns. Openings are counted against the states of now.
    pub async fn start(house: &TestHouse) -> Self {
        let base: BTreeMap<String, u32> = {
            let mut wire = house.wire().await;
            states(&mut wire).await.into_iter().filter_map(|(id, state)| Some((id, openness(&state)?))).collect()
        };
        let seen = Arc::new(Mutex::new(Seen::default()));
        let shared = seen.clone();
        let notice = move |data: &Value| {
            let (new, old) = (&data["new_state"], &data["old_state"]);
            let mut seen = shared.lock().unwrap();
            seen.changes += 1;
            let Some(now) = openness(new) else { return };
            let before = openness(old).unwrap_or(0);
            let id = new["entity_id"].as_str().unwrap_or_default();
            let start = base.get(id).copied().unwrap_or(0);
            if now > before && now > start {
                seen.openings.push(format!("{id}: {} → {}", old["state"], new["state"]));
            }
        };
        let task = subscribe(house, "state_changed", notice).await;
        Self { seen, task }
    }

    /// What opened since the last time that this was asked.
    pub fn openings(&self) -> Vec<String> {
        std::mem::take(&mut self.seen.lock().unwrap().openings)
    }

    pub fn changes(&self) -> usize {
        self.seen.lock().unwrap().changes
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.task.abort();
    }
}
