//! Everything of one household, started. Start at [`Household::open`]. Invariant: tools are registered
//! before the first turn runs, so that a turn that a crash cut off finds them.

use std::path::PathBuf;
use std::sync::Arc;

use kernel::agent::{Agent, Ports};
use kernel::ports::{BoxFuture, Failure, LlmSource, NewInput, Schedule, Schedules};
use kernel::settings::{Layers, Settings};
use kernel::tools::memory::{MemoryDesk, memory_tools};
use kernel::tools::settings_tools::settings_tools;
use kernel::tools::time::{TimeDesk, time_tools};
use kernel::turn::Limits;
use mcp::Desk;
use sdk::{ConfigDef, ConfigType, LlmApi, ToolDef, ToolHandler};
use serde_json::{Value, json};
use store::search::{Dictionary, Embedder};
use store::{Graph, Store, StoreError};
use tokio::sync::Notify;
use tokio::sync::broadcast::error::RecvError;

use super::built_in::{self, BuiltIn};
use crate::fetch::{Names, Web, web_tools};

use super::{HouseSurroundings, HouseUndo, LocalClock, register_house};

/// The language models: one that asks, and how it is switched.
pub type Models = (Arc<dyn LlmSource>, Arc<dyn LlmApi>);

pub struct Parts {
    pub desk: Desk,
    pub store: Store,
    /// None: only what needs no model.
    pub models: Option<Models>,
    /// Search by meaning besides words.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// The household's AGENTS.md.
    pub persona: PathBuf,
    /// What flags, environment and file say; the rest is in the store.
    pub layers: Layers,
    /// Hosts that may be read in every turn: `example.org`, `*.example.org`.
    pub hosts: Vec<String>,
    /// Addresses of the house, which are never read as web pages.
    pub house_addresses: Vec<String>,
    /// Where names of the web are looked up.
    pub names: Arc<dyn Names>,
}

#[derive(Debug, thiserror::Error)]
pub enum HouseholdError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Kernel(#[from] Failure),
}

pub struct Household {
    pub agent: Agent,
    pub store: Store,
    pub desk: Desk,
    pub settings: Settings,
}

/// The built-in source, when there is no other.
struct Only;

impl LlmApi for Only {
    fn list_sources(&self) -> Vec<String> {
        vec![built_in::NAME.to_owned()]
    }

    fn set_source(&self, name: &str) -> Result<(), Failure> {
        if name == built_in::NAME { Ok(()) } else { Err(Failure::not_found(format!("there is no source `{name}`"))) }
    }

    fn current_source(&self) -> String {
        built_in::NAME.to_owned()
    }
}

/// Schedules that wake the agent when they change.
struct Announced(Arc<dyn Schedules>, Arc<Notify>);

impl Schedules for Announced {
    fn add(&self, schedule: Schedule) -> BoxFuture<'_, Result<(), Failure>> {
        Box::pin(async move {
            self.0.add(schedule).await?;
            self.1.notify_one();
            Ok(())
        })
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<Schedule>, Failure>> {
        self.0.list()
    }

    fn cancel<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<bool, Failure>> {
        self.0.cancel(id)
    }

    fn fire<'a>(
        &'a self,
        id: &'a str,
        due_at_ms: i64,
        next_at_ms: Option<i64>,
        input: NewInput,
    ) -> BoxFuture<'a, Result<Option<i64>, Failure>> {
        self.0.fire(id, due_at_ms, next_at_ms, input)
    }
}

impl Household {
    /// Ready, with nothing running yet: [`Household::run`] begins.
    pub async fn open(parts: Parts) -> Result<Self, HouseholdError> {
        let Parts { desk, store, models, embedder, persona, layers, hosts, house_addresses, names } = parts;
        let settings = settings(&store, layers).await?;
        let graph = Graph::new(store.database().clone(), Dictionary::default());
        let graph = Arc::new(match embedder {
            Some(embedder) => graph.with_embedder(embedder),
            None => graph,
        });
        let clock = Arc::new(LocalClock::of_this_machine());
        let rescheduled = Arc::new(Notify::new());
        let schedules: Arc<dyn Schedules> = Arc::new(Announced(store.schedules(), rescheduled.clone()));
        let (source, llm): Models =
            models.unwrap_or_else(|| (Arc::new(BuiltIn::new(desk.clone(), true)), Arc::new(Only)));
        let ports = Ports {
            source,
            llm,
            inbox: store.inbox(),
            turns: store.turns(),
            schedules: schedules.clone(),
            graph: graph.clone(),
            text: store.text(),
            clock: clock.clone(),
            surroundings: Arc::new(HouseSurroundings::new(desk.clone(), &persona)),
            undo: Arc::new(HouseUndo(desk.clone())),
            rescheduled,
        };
        let agent = Agent::new(ports, limits(&settings))?;
        register_house(&agent, &desk)?;
        let zone = clock.zone().to_owned();
        let zone: Arc<dyn Fn() -> String + Send + Sync> = Arc::new(move || zone.clone());
        let memory = MemoryDesk { graph, text: store.text(), clock: clock.clone(), zone: zone.clone() };
        let web =
            Web { names, allowed: Arc::new(move || hosts.clone()), house: Arc::new(move || house_addresses.clone()) };
        register(&agent, "time", time_tools(&TimeDesk { schedules, clock, zone }))?;
        register(&agent, "memory", memory_tools(&memory))?;
        register(&agent, "settings", settings_tools(&settings))?;
        register(&agent, "web", web_tools(&web))?;
        Ok(Self { agent, store, desk, settings })
    }

    /// Goes on with what was left open; budgets follow the settings from now on.
    pub async fn run(&self) -> Result<(), HouseholdError> {
        let (agent, settings) = (self.agent.clone(), self.settings.clone());
        let mut changes = settings.changes();
        self.agent.spawn(async move {
            // A listener that lagged reads everything again all the same.
            while !matches!(changes.recv().await, Err(RecvError::Closed)) {
                agent.set_limits(limits(&settings));
            }
        });
        Ok(self.agent.run().await?)
    }
}

/// The settings of a household, without an agent.
pub async fn settings(store: &Store, layers: Layers) -> Result<Settings, HouseholdError> {
    let settings = Settings::open(store.settings(), layers, definitions()).await?;
    match settings.problems().into_iter().next() {
        Some(problem) => Err(Failure::invalid(problem).into()),
        None => Ok(settings),
    }
}

fn register(agent: &Agent, owner: &str, tools: Vec<(ToolDef, ToolHandler)>) -> Result<(), Failure> {
    tools.into_iter().try_for_each(|(def, handler)| agent.tools().register(owner, def, handler))
}

/// The budgets as settings, with what each is and its default.
fn definitions() -> Vec<ConfigDef> {
    let standard = serde_json::to_value(Limits::default()).unwrap_or_default();
    let budget = |(key, value): (&String, &Value)| ConfigDef {
        key: format!("budgets.{key}"),
        default: Some(value.clone()),
        kind: ConfigType::Number,
        display_name: key.replace('_', " "),
        category: "budgets".into(),
        min: Some(0.0),
        step: Some(1.0),
        ..ConfigDef::default()
    };
    standard.as_object().into_iter().flatten().map(budget).collect()
}

fn limits(settings: &Settings) -> Limits {
    let mut limits = serde_json::to_value(Limits::default()).unwrap_or_default();
    for (key, value) in limits.as_object_mut().into_iter().flatten() {
        // A number may stand as 12.0; a limit is whole.
        if let Some(set) = settings.core(&format!("budgets.{key}")).as_f64() {
            *value = json!(set.max(0.0) as u64);
        }
    }
    serde_json::from_value(limits).unwrap_or_default()
}
