//! Small houses for the gate's tests, written as JSON. Start at [`Small`].

use std::collections::BTreeSet;

use decide::gate::{Call, Decision, Facts, InFlight, Origin, Policy, Problem, Verdict, judge};
use decide::house::{EntityId, House};
use serde_json::{Map, Value, json};

/// A house under construction, with the policy that holds in it.
#[derive(Clone)]
pub struct Small {
    pub json: Value,
    pub policy: Policy,
    pub in_flight: InFlight,
}

pub fn id(text: &str) -> EntityId {
    EntityId::parse(text).unwrap_or_else(|| panic!("{text} is no id"))
}

impl Small {
    /// A lock, an alarm, a garage door, lamps, helpers; nothing that connects them.
    pub fn new() -> Self {
        let ready = json!({ "connected": true, "running": true, "states": true, "registries": true, "bodies": true });
        let json = json!({
            "version": "2026.11.0", "readiness": ready, "units": { "temperature": "°C" },
            "entities": {}, "devices": {}, "areas": {}, "floors": {}, "labels": {},
            "bodies": { "scripts": {}, "scenes": {}, "automations": {}, "related": {} },
        });
        Self { json, policy: Policy::default(), in_flight: InFlight::default() }
            .with("lock.front", "locked", json!({}))
            .with("alarm_control_panel.house", "armed_away", json!({}))
            .with("cover.garage", "closed", json!({ "device_class": "garage" }))
            .with("cover.blind", "open", json!({ "device_class": "blind" }))
            .with("light.lamp", "off", json!({}))
            .with("light.desk", "on", json!({}))
            .with("switch.pump", "off", json!({}))
            .with("fan.ceiling", "on", json!({}))
            .with("media_player.tv", "on", json!({}))
            .with("input_boolean.guests", "off", json!({}))
            .with("input_select.mode", "Home", json!({ "options": ["Home", "Away"] }))
            .with("input_number.level", "20.0", json!({}))
            .with("input_text.note", "", json!({}))
            .with("timer.kitchen", "idle", json!({}))
    }

    pub fn with(mut self, id: &str, state: &str, attributes: Value) -> Self {
        let entity = json!({ "info": {}, "state": { "value": state, "attributes": attributes } });
        self.json["entities"][id] = entity;
        self
    }

    /// Sets one field of what the registry says.
    pub fn info(mut self, id: &str, key: &str, value: Value) -> Self {
        self.json["entities"][id]["info"][key] = value;
        self
    }

    pub fn set(mut self, pointer: &str, value: Value) -> Self {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        self.json.pointer_mut(parent).unwrap()[key] = value;
        self
    }

    pub fn policy(mut self, change: impl FnOnce(&mut Policy)) -> Self {
        change(&mut self.policy);
        self
    }

    pub fn script(self, name: &str, sequence: Value) -> Self {
        let mut small = self.with(&format!("script.{name}"), "off", json!({}));
        small.json["bodies"]["scripts"][format!("script.{name}")] = json!({ "config": { "sequence": sequence } });
        small
    }

    pub fn scene(self, name: &str, entities: Value) -> Self {
        let members: Vec<String> = entities.as_object().unwrap().keys().cloned().collect();
        let mut small = self.with(&format!("scene.{name}"), "unknown", json!({ "entity_id": members }));
        small.json["bodies"]["scenes"][format!("scene.{name}")] = json!({ "config": { "entities": entities } });
        small
    }

    pub fn automation(self, name: &str, triggers: Value, actions: Value) -> Self {
        let mut small = self.with(&format!("automation.{name}"), "on", json!({}));
        let config = json!({ "triggers": triggers, "actions": actions });
        small.json["bodies"]["automations"][format!("automation.{name}")] = json!({ "config": config });
        small
    }

    /// An automation that unlocks the front door.
    pub fn opener(self, triggers: Value) -> Self {
        self.automation("opener", triggers, json!([unlock()]))
    }

    pub fn house(&self) -> House {
        House::from_json(self.json.clone()).unwrap()
    }

    pub fn judge(&self, call: &Call) -> Result<Decision, Problem> {
        let house = self.house();
        let facts = Facts { house: &house, policy: &self.policy, in_flight: &self.in_flight, now: 0 };
        judge(&facts, Origin::Model, call)
    }

    pub fn decision(&self, name: &str, data: Value) -> Decision {
        self.judge(&call(name, data.clone())).unwrap_or_else(|problem| panic!("{name} {data}: {problem:?}"))
    }

    /// The verdict and the codes of its reasons, `ask opens`, or the kind of problem that it is.
    pub fn outcome(&self, call: &Call) -> String {
        match self.judge(call) {
            Ok(decision) => {
                let codes: BTreeSet<String> = decision.reasons.iter().map(|reason| word(&reason.code)).collect();
                let words = std::iter::once(word(&decision.verdict)).chain(codes);
                words.collect::<Vec<_>>().join(" ")
            }
            Err(problem) => word(&serde_json::to_value(problem).unwrap()["problem"]),
        }
    }

    /// Verdict and codes of a call are these.
    #[track_caller]
    pub fn gives(&self, name: &str, data: Value, expected: &str) -> &Self {
        assert_eq!(self.outcome(&call(name, data.clone())), expected, "{name} {data}");
        self
    }

    #[track_caller]
    pub fn check(&self, name: &str, data: Value, expected: Verdict) -> &Self {
        match self.judge(&call(name, data.clone())) {
            Ok(decision) => {
                assert_eq!(decision.verdict, expected, "{name} {data}: {:#?}", decision.reasons);
            }
            Err(problem) => panic!("{name} {data}: {problem:?}"),
        }
        self
    }

    #[track_caller]
    pub fn allows(&self, name: &str, data: Value) -> &Self {
        self.check(name, data, Verdict::Allow)
    }

    #[track_caller]
    pub fn asks(&self, name: &str, data: Value) -> &Self {
        self.check(name, data, Verdict::Ask)
    }

    #[track_caller]
    pub fn refuses(&self, name: &str, data: Value) -> &Self {
        self.check(name, data, Verdict::Refuse)
    }

    /// Neither allowed nor a thing that a person could be asked.
    #[track_caller]
    pub fn stops(&self, name: &str, data: Value) -> &Self {
        if let Ok(decision) = self.judge(&call(name, data.clone())) {
            assert_eq!(decision.verdict, Verdict::Refuse, "{name} {data}");
        }
        self
    }
}

/// A name of ours as it is written in an answer.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).unwrap().as_str().unwrap_or_default().to_owned()
}

pub fn call(name: &str, data: Value) -> Call {
    let (domain, service) = name.split_once('.').unwrap();
    let data: Map<String, Value> = data.as_object().cloned().unwrap();
    Call { domain: domain.into(), service: service.into(), data, target: None }
}

pub fn unlock() -> Value {
    json!({ "action": "lock.unlock", "target": { "entity_id": "lock.front" } })
}

pub fn on(entity: &str) -> Value {
    json!({ "entity_id": entity })
}
