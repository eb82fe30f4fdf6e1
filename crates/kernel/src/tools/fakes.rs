//! Ports kept in memory, for tests. Start at any of them. Invariant: each does what its port promises.

mod memory;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

use sdk::{BoxFuture, Failure, ToolDef, ToolHandler, ToolScope};
use serde_json::{Value, json};

use crate::ports::{Clock, NewInput, Schedule, Schedules, SettingsStore, StoredSetting};

pub(crate) use memory::{FakeDocuments, FakeGraph, FakeKnowledge, FakeText};

pub(super) fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    Box::pin(std::future::ready(value))
}

/// Calls a tool of a set by name.
pub(super) async fn call(
    tools: &[(ToolDef, ToolHandler)],
    name: &str,
    arguments: Value,
    scope: &ToolScope,
) -> Result<Value, Failure> {
    let (definition, handler) = tools.iter().find(|(definition, _)| definition.name == name).unwrap();
    if let Err(error) = jsonschema::validate(&definition.parameters, &arguments) {
        panic!("{name}: {error}");
    }
    handler(arguments.as_object().unwrap().clone(), scope.clone()).await
}

/// What every provider takes: an object, no references, no alternatives, a type and few words everywhere.
#[track_caller]
pub(super) fn assert_portable(tools: &[(ToolDef, ToolHandler)]) {
    for (definition, _) in tools {
        let name = &definition.name;
        assert!(definition.description.chars().count() <= 200, "{name} is described at length");
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{name}");
        let text = definition.parameters.to_string();
        for word in ["$ref", "anyOf", "oneOf", "allOf", "\"not\""] {
            assert!(!text.contains(word), "{name} has {word}");
        }
        assert_eq!(definition.parameters["type"], json!("object"), "{name}");
        for (field, property) in definition.parameters["properties"].as_object().unwrap() {
            assert!(property["type"].is_string(), "{name}.{field} has no type");
        }
        for field in definition.parameters["required"].as_array().unwrap() {
            assert!(definition.parameters["properties"][field.as_str().unwrap()].is_object(), "{name} needs {field}");
        }
    }
}

pub(super) struct FakeClock(pub AtomicI64);

impl Clock for FakeClock {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    fn written(&self, at_ms: i64) -> String {
        decide::when::Zone::utc().written(at_ms)
    }
}

#[derive(Default)]
pub(super) struct FakeSchedules(pub Mutex<Vec<Schedule>>);

impl Schedules for FakeSchedules {
    fn add(&self, schedule: Schedule) -> BoxFuture<'_, Result<(), Failure>> {
        let mut all = self.0.lock().unwrap();
        all.retain(|other| other.id != schedule.id);
        all.push(schedule);
        all.sort_by_key(|schedule| schedule.next_at_ms);
        ready(Ok(()))
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<Schedule>, Failure>> {
        ready(Ok(self.0.lock().unwrap().clone()))
    }

    fn cancel<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<bool, Failure>> {
        let mut all = self.0.lock().unwrap();
        let before = all.len();
        all.retain(|schedule| schedule.id != id);
        ready(Ok(all.len() < before))
    }

    fn fire<'a>(
        &'a self,
        id: &'a str,
        due_at_ms: i64,
        next_at_ms: Option<i64>,
        _input: NewInput,
    ) -> BoxFuture<'a, Result<Option<i64>, Failure>> {
        let mut all = self.0.lock().unwrap();
        let Some(at) = all.iter().position(|schedule| schedule.id == id && schedule.next_at_ms == due_at_ms) else {
            return ready(Ok(None));
        };
        match next_at_ms {
            Some(next) => all[at].next_at_ms = next,
            None => {
                all.remove(at);
            }
        }
        ready(Ok(Some(1)))
    }
}

/// What is stored, and whether storing fails.
#[derive(Default)]
pub(crate) struct FakeSettingsStore(
    pub(crate) Mutex<BTreeMap<(String, String), (Value, bool)>>,
    pub(crate) std::sync::atomic::AtomicBool,
);

impl SettingsStore for FakeSettingsStore {
    fn load(&self) -> BoxFuture<'_, Result<Vec<StoredSetting>, Failure>> {
        let all = self.0.lock().unwrap();
        let stored = all.iter().map(|((space, key), (value, secret))| StoredSetting {
            space: space.clone(),
            key: key.clone(),
            value: value.clone(),
            secret: *secret,
        });
        ready(Ok(stored.collect()))
    }

    fn put(&self, setting: StoredSetting) -> BoxFuture<'_, Result<(), Failure>> {
        if self.1.load(Ordering::Relaxed) {
            return ready(Err(Failure::failed("the disk is full")));
        }
        self.0.lock().unwrap().insert((setting.space, setting.key), (setting.value, setting.secret));
        ready(Ok(()))
    }

    fn remove<'a>(&'a self, space: &'a str, key: &'a str) -> BoxFuture<'a, Result<bool, Failure>> {
        ready(Ok(self.0.lock().unwrap().remove(&(space.to_owned(), key.to_owned())).is_some()))
    }
}
