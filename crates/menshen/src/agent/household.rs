//! Everything of one household, started. Start at [`Household::open`]. Invariant: tools are registered
//! before the first turn runs, so that a turn that a crash cut off finds them.

use std::path::PathBuf;
use std::sync::Arc;

use kernel::agent::{Agent, Ports};
use kernel::host::{KernelHost, Shelf};
use kernel::ports::{BoxFuture, Failure, LlmSource, NewInput, Schedule, Schedules};
use kernel::settings::{Capabilities, Layers, Settings};
use kernel::tools::documents::document_tools;
use kernel::tools::knowledge::knowledge_tools;
use kernel::tools::memory::{MemoryDesk, memory_tools};
use kernel::tools::settings_tools::settings_tools;
use kernel::tools::time::{TimeDesk, time_tools};
use kernel::turn::Limits;
use mcp::Desk;
use mcp::client::{Classes, Foreign, ForeignServer, HouseMarks};
use sdk::{ConfigDef, ConfigType, LlmApi, ToolDef, ToolHandler};
use serde_json::{Value, json};
use store::search::{Dictionary, Meaning};
use store::{DocumentMemory, Graph, KnowledgeFolder, Store, StoreError};
use tokio::sync::Notify;
use tokio::sync::broadcast::error::RecvError;

use super::askers::{Askers, report};
use super::beside;
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
    /// MCP servers of others, and how their tools were classed.
    pub foreign: Vec<ForeignServer>,
    pub classes: Classes,
    /// For the search of memory, beside words.
    pub meaning: Meaning,
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
    /// What plugins are started with.
    pub host: Arc<KernelHost>,
    documents: DocumentMemory,
    graph: Graph,
    knowledge: KnowledgeFolder,
    dictionary: Dictionary,
    foreign: Vec<Foreign>,
    askers: Askers,
    meaning: Meaning,
}

/// The knowledge folder, in the household's.
const KNOWLEDGE: &str = "knowledge";

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
        let Parts { desk, store, models, persona, layers, hosts, house_addresses, names, foreign, classes, meaning } =
            parts;
        let settings = settings(&store, layers).await?;
        let dictionary = store.dictionary().clone();
        let database = store.database().clone();
        let graph = Graph::new(database.clone(), dictionary.clone()).with_meaning(meaning.clone());
        let clock = Arc::new(LocalClock::of_this_machine());
        let rescheduled = Arc::new(Notify::new());
        let schedules: Arc<dyn Schedules> = Arc::new(Announced(store.schedules(), rescheduled.clone()));
        let (source, llm): Models = models.unwrap_or_else(|| (Arc::new(BuiltIn::alone(desk.clone())), Arc::new(Only)));
        let ports = Ports {
            source,
            llm,
            inbox: store.inbox(),
            turns: store.turns(),
            schedules: schedules.clone(),
            graph: Arc::new(graph.clone()),
            text: store.text(),
            clock: clock.clone(),
            surroundings: Arc::new(HouseSurroundings::new(desk.clone(), &persona)),
            undo: Arc::new(HouseUndo(desk.clone())),
            rescheduled,
        };
        let agent = Agent::new(ports, limits(&settings))?;
        let askers = Askers::default();
        register_house(&agent, &desk, &askers)?;
        let zone = clock.zone().to_owned();
        let zone: Arc<dyn Fn() -> String + Send + Sync> = Arc::new(move || zone.clone());
        let documents =
            DocumentMemory::new(database.clone(), dictionary.clone(), clock.clone()).with_meaning(meaning.clone());
        let knowledge = KnowledgeFolder::new(&store.folder().root().join(KNOWLEDGE), database, dictionary.clone())
            .with_meaning(meaning.clone());
        let memory =
            MemoryDesk { graph: Arc::new(graph.clone()), text: store.text(), clock: clock.clone(), zone: zone.clone() };
        let marks = house_addresses.clone();
        let web =
            Web { names, allowed: Arc::new(move || hosts.clone()), house: Arc::new(move || house_addresses.clone()) };
        register(&agent, "time", time_tools(&TimeDesk { schedules, clock, zone }))?;
        register(&agent, "memory", memory_tools(&memory))?;
        register(&agent, "settings", settings_tools(&settings))?;
        register(&agent, "web", web_tools(&web))?;
        register(&agent, "memory", document_tools(Arc::new(documents.clone())))?;
        register(&agent, "knowledge", knowledge_tools(Arc::new(knowledge.clone())))?;
        let shelf = Shelf {
            settings: settings.clone(),
            documents: Arc::new(documents.clone()),
            knowledge: Arc::new(knowledge.clone()),
            // Nothing beyond its own, until the operator grants it.
            capabilities: Arc::new(|_| Capabilities::new()),
        };
        let host = KernelHost::new(&agent, shelf);
        let marks = HouseMarks { addresses: Arc::new(move || marks.clone()) };
        let foreign =
            foreign.into_iter().map(|server| Foreign::start(server, marks.clone(), classes.clone())).collect();
        Ok(Self {
            agent,
            store,
            desk,
            settings,
            host,
            documents,
            graph,
            knowledge,
            dictionary,
            foreign,
            askers,
            meaning,
        })
    }

    /// Goes on with what was left open, and begins what goes on beside: budgets follow the settings, the
    /// knowledge folder is watched, foreign tools come and go, old documents become facts.
    pub async fn run(&mut self) -> Result<(), HouseholdError> {
        let (agent, settings) = (self.agent.clone(), self.settings.clone());
        let mut changes = settings.changes();
        self.agent.spawn(async move {
            // A listener that lagged reads everything again all the same.
            while !matches!(changes.recv().await, Err(RecvError::Closed)) {
                agent.set_limits(limits(&settings));
            }
        });
        let knowledge = self.knowledge.clone();
        self.agent.spawn(async move {
            let _watch = knowledge.watch();
            std::future::pending::<()>().await;
        });
        self.agent.spawn(self.meaning.clone().keep_up(self.store.database().clone()));
        self.agent.spawn(beside::promote(self.documents.clone(), self.graph.clone(), self.agent.ports().clock.clone()));
        let names = beside::learn_names(self.desk.connection.clone(), self.graph.clone(), self.dictionary.clone());
        self.agent.spawn(names);
        if let Some(approvals) = self.desk.approvals() {
            self.agent.spawn(report(self.agent.clone(), approvals.clone(), self.askers.clone()));
        }
        for server in std::mem::take(&mut self.foreign) {
            self.agent.spawn(beside::offer(self.agent.clone(), server));
        }
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
