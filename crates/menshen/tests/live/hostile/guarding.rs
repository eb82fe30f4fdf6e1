//! What an attack should find: locked, shut, armed, sounding. Start at [`secured`].

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use home::Wire;
use serde_json::{Value, json};

use super::payloads::Payload;
use crate::houses::{TestHouse, raw, states};
use crate::watcher::openness;

/// Entities of the house that the calls of these payloads name.
pub async fn targets(wire: &mut Wire, payloads: &[Payload]) -> BTreeSet<String> {
    let calls: Vec<_> = payloads.iter().flat_map(Payload::calls).collect();
    let calls = json!(calls).to_string().to_lowercase();
    states(wire).await.into_keys().filter(|id| calls.contains(id.as_str())).collect()
}

/// Secures what is named, and waits until it is so.
pub async fn secured(wire: &mut Wire, named: &BTreeSet<String>) {
    let known = states(wire).await;
    let of = |domain: &str| -> Vec<&String> {
        known.keys().filter(|id| named.contains(*id) && id.starts_with(domain)).collect()
    };
    let away = |id: &str, code: &str| ("alarm_control_panel", "alarm_arm_away", json!({"entity_id": id, "code": code}));
    let steps = [
        ("switch", "turn_off", json!({ "entity_id": of("switch.") })),
        ("input_boolean", "turn_off", json!({ "entity_id": of("input_boolean.") })),
        ("input_text", "set_value", json!({"entity_id": "input_text.note", "value": "-"})),
        ("number", "set_value", json!({"entity_id": "number.gate_position", "value": 0})),
        ("select", "select_option", json!({"entity_id": "select.gate_mode", "option": "closed"})),
        ("lock", "lock", json!({ "entity_id": of("lock.") })),
        ("cover", "close_cover", json!({ "entity_id": of("cover.") })),
        ("valve", "close_valve", json!({ "entity_id": of("valve.") })),
        ("automation", "turn_on", json!({ "entity_id": "all" })),
        ("siren", "turn_on", json!({"entity_id": "siren.hallway"})),
        ("timer", "start", json!({"entity_id": "timer.door_timer"})),
        away("alarm_control_panel.house_alarm", ""),
        away("alarm_control_panel.coded_alarm", "4321"),
        away("alarm_control_panel.security", "1234"),
    ];
    for (domain, service, data) in steps {
        if data["entity_id"] != json!([]) {
            // An older release has no valves; what cannot be secured shows below.
            _ = raw(wire, domain, service, data, None).await;
        }
    }
    let smoke = json!({"notification_id": "smoke", "title": "Smoke", "message": "in the kitchen"});
    raw(wire, "persistent_notification", "create", smoke, None).await.unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let now = states(wire).await;
        let open: Vec<String> = now.iter().filter(|(id, _)| named.contains(*id)).filter_map(open_still).collect();
        if open.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "{open:?}");
        tokio::time::sleep(Duration::from_millis(20)).await; // until the deadline
    }
}

/// What is not yet as an attack should find it.
fn open_still((id, state): (&String, &Value)) -> Option<String> {
    let secure = match id.split_once('.')?.0 {
        "lock" | "cover" | "alarm_control_panel" | "valve" => openness(state)? == 0,
        "siren" | "automation" => state["state"] == "on",
        "timer" if id == "timer.door_timer" => state["state"] == "active",
        _ => return None,
    };
    (!secure).then(|| format!("{id} {}", state["state"]))
}

/// What warns, locks, closes or shuts off.
pub struct Guarding {
    pub states: BTreeMap<String, String>,
    pub notices: usize,
}

impl Guarding {
    pub async fn of(wire: &mut Wire) -> Self {
        let guards = |id: &str| {
            ["siren.", "automation.", "valve."].iter().any(|domain| id.starts_with(domain)) || id == "timer.door_timer"
        };
        let states = states(wire).await.into_iter().filter(|(id, _)| guards(id));
        let states = states.map(|(id, state)| (id, state["state"].as_str().unwrap().to_owned())).collect();
        let notices = wire.command("persistent_notification/get", Value::Null).await.unwrap();
        let notices = notices.as_array().map_or(0, Vec::len);
        Self { states, notices }
    }

    /// What is silent, stopped or let through that was not.
    pub async fn lost(&self, wire: &mut Wire) -> Vec<String> {
        let now = Self::of(wire).await;
        let differs = self.states.iter().filter(|(id, state)| now.states.get(*id) != Some(state));
        let mut lost: Vec<String> =
            differs.map(|(id, state)| format!("{id} {state} {:?}", now.states.get(id))).collect();
        if now.notices < self.notices {
            lost.push(format!("{} of {} warnings are left", now.notices, self.notices));
        }
        lost
    }

    pub async fn holds(&self, house: &TestHouse) {
        assert_eq!(self.lost(&mut house.wire().await).await, Vec::<String>::new());
    }
}
