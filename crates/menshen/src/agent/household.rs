//! Everything of one household, started. Start at [`Household::open`]. Invariant: tools are registered
//! before the first turn runs, so that a turn that a crash cut off finds them.

use std::path::PathBuf;
use std::sync::Arc;

use kernel::agent::{Agent, Ports};
use kernel::ports::{BoxFuture, Failure, LlmSource, NewInput, Schedule, Schedules};
use kernel::tools::time::{TimeDesk, time_tools};
use kernel::turn::Limits;
use mcp::Desk;
use sdk::LlmApi;
use store::search::Dictionary;
use store::{Graph, Store, StoreError};
use tokio::sync::Notify;

use super::built_in::{self, BuiltIn};
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
    pub limits: Limits,
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

/// Who owns the tools of time.
const TIME: &str = "time";

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
    /// Ready, with nothing running yet: [`Agent::run`] begins.
    pub fn open(parts: Parts) -> Result<Self, HouseholdError> {
        let Parts { desk, store, models, persona, limits } = parts;
        let dictionary = Dictionary::default();
        let graph = Arc::new(Graph::new(store.database().clone(), dictionary));
        let clock = Arc::new(LocalClock::of_this_machine());
        let zone = clock.zone().to_owned();
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
            graph,
            text: store.text(),
            clock: clock.clone(),
            surroundings: Arc::new(HouseSurroundings::new(desk.clone(), &persona)),
            undo: Arc::new(HouseUndo(desk.clone())),
            rescheduled,
        };
        let agent = Agent::new(ports, limits)?;
        register_house(&agent, &desk)?;
        let time = TimeDesk { schedules, clock, zone: Arc::new(move || zone.clone()) };
        for (def, handler) in time_tools(&time) {
            agent.tools().register(TIME, def, handler)?;
        }
        Ok(Self { agent, store, desk })
    }
}
