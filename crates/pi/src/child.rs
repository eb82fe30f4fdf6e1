//! A child `pi --mode rpc` as a [`Brain`], one process a conversation. Start at [`PiChild::start`];
//! [`keeper`] keeps the process alive, [`dialogue`] knows what is said, [`jobs`] whose answer is whose.
//!
//! Invariants: a prompt that pi accepted ends with one outcome of its own, at once when pi dies; pi gets
//! nothing of our environment; when it is closed, nothing of what it started is left.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kernel::ports::{Brain, BrainEvent, BrainStatus, Disposition, Progress, Prompt, Submitted};
use sdk::{BoxFuture, Failure, FailureKind};
use serde_json::{Map, Value};
use tokio::sync::{broadcast, oneshot, watch};
use tokio::time::Instant;

mod arguments;
mod context_files;
mod dialogs;
mod dialogue;
mod jobs;
mod keeper;
mod kept;
mod process;
mod version;

pub use arguments::split_arguments;
pub use dialogs::DialogPolicy;
use dialogue::Sending;
use keeper::{Keeper, Request};
use kept::Kept;

/// Limit: conversations with a pi of their own at once; the one idle longest gives its place to a further one.
pub const PI_CHILDREN_MAX: usize = 4;
/// Limit: events that a slow listener may lag behind; then it misses some, and is told so.
pub const PI_EVENTS_MAX: usize = 4096;
/// Jobs whose outcome can be asked for again.
const JOBS_KNOWN: usize = 1000;
/// How long a prompt waits for a pi that is being started.
const SUBMIT_WAIT: Duration = Duration::from_secs(20);
/// What pi gets of our environment without being named.
const PASSED: [&str; 8] = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TERM", "TMPDIR", "PI_CODING_AGENT_DIR"];
/// Ours, also where somebody names them.
const NEVER: [&str; 3] = ["menshen_", "home_assistant_", "pi_http_"];

/// How pi is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// `PI_BIN`
    pub bin: PathBuf,
    /// `PI_ARGS`, in words: [`split_arguments`].
    pub arguments: Vec<String>,
    /// `PI_CWD`: where its tools work and its AGENTS.md is.
    pub cwd: PathBuf,
    /// All that it gets: [`Options::environment`].
    pub environment: Vec<(String, String)>,
    pub dialogs: DialogPolicy,
    /// Where is noted which conversation is which of pi's, so that it goes on over our own restart.
    pub sessions: Option<PathBuf>,
    /// A pi that does not answer by then is started anew.
    pub ready_max: Duration,
    /// After a crash; doubled each time, up to [`Options::backoff_max`].
    pub backoff: Duration,
    pub backoff_max: Duration,
    /// One that lived so long is well: the next crash counts as the first.
    pub stable: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            bin: "pi".into(),
            arguments: Vec::new(),
            cwd: ".".into(),
            environment: Self::environment(&[]),
            dialogs: DialogPolicy::default(),
            sessions: None,
            ready_max: Duration::from_secs(30),
            backoff: Duration::from_secs(1),
            backoff_max: Duration::from_secs(30),
            stable: Duration::from_secs(60),
        }
    }
}

impl Options {
    /// Of our environment what pi needs, and the variables that are named, such as the keys of providers.
    /// Our own tokens never, also where they are named.
    pub fn environment(named: &[String]) -> Vec<(String, String)> {
        let wanted = PASSED.iter().map(|name| (*name).to_owned()).chain(named.iter().cloned());
        let ours = |name: &String| NEVER.iter().any(|own| name.to_ascii_lowercase().starts_with(own));
        wanted.filter(|name| !ours(name)).filter_map(|name| Some((name.clone(), std::env::var(name).ok()?))).collect()
    }
}

pub struct PiChild {
    options: Arc<Options>,
    events: broadcast::Sender<BrainEvent>,
    state: Mutex<State>,
    kept: Arc<Kept>,
}

#[derive(Default)]
struct State {
    keepers: BTreeMap<String, Keeper>,
    known: HashMap<String, watch::Receiver<Progress>>,
    /// Oldest first.
    order: VecDeque<String>,
    closed: bool,
}

impl PiChild {
    /// Begins to start pi; [`Brain::status`] says how that goes.
    pub fn start(options: Options) -> Self {
        let kept = Arc::new(Kept::load(options.sessions.clone()));
        let events = broadcast::channel(PI_EVENTS_MAX).0;
        let child = Self { options: Arc::new(options), events, state: Mutex::default(), kept };
        let keeper = child.keeper("main");
        child.state().keepers.insert("main".into(), keeper);
        child
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keeper(&self, session: &str) -> Keeper {
        Keeper::start(self.options.clone(), session.to_owned(), self.events.clone(), self.kept.clone())
    }

    /// Hands it to the pi of its conversation, which is started where there is none.
    async fn ask(&self, session: &str, request: Request) -> Result<(), Failure> {
        let session = if session.is_empty() { "main" } else { session };
        let leaving = {
            let mut state = self.state();
            if state.closed {
                return Err(Failure::new(FailureKind::Unavailable, "the agent is shutting down; send it again later"));
            }
            if state.keepers.contains_key(session) { None } else { self.make_room(&mut state, session)? }
        };
        if let Some(keeper) = leaving {
            keeper.close().await;
        }
        let mut state = self.state();
        let keeper = state.keepers.entry(session.to_owned()).or_insert_with(|| self.keeper(session));
        keeper.send(request)
    }

    /// The one that gives its place, where all are taken.
    fn make_room(&self, state: &mut State, session: &str) -> Result<Option<Keeper>, Failure> {
        if arguments::names_a_session(&self.options.arguments)
            && !self.options.arguments.iter().any(|word| word == "--no-session")
        {
            let why =
                format!("the arguments of pi (PI_ARGS) name one conversation, so there is no `{session}` beside it");
            return Err(Failure::invalid(why));
        }
        if state.keepers.len() < PI_CHILDREN_MAX {
            return Ok(None);
        }
        let idle = state.keepers.iter().filter(|(name, keeper)| *name != "main" && keeper.idle());
        let Some(name) = idle.min_by_key(|(_, keeper)| keeper.used()).map(|(name, _)| name.clone()) else {
            let why = format!("{PI_CHILDREN_MAX} conversations with pi are busy; wait for one of them");
            return Err(Failure::new(FailureKind::Full, why));
        };
        Ok(state.keepers.remove(&name))
    }

    fn known(&self, job: &str) -> Option<Submitted> {
        let progress = self.state().known.get(job)?.clone();
        let disposition = match *progress.borrow() {
            Progress::Queued => Disposition::Queued,
            Progress::Running => Disposition::Started,
            Progress::Ended(_) => Disposition::Handled,
        };
        Some(Submitted { disposition, progress })
    }

    fn know(&self, job: &str, progress: &watch::Receiver<Progress>) {
        if job.is_empty() {
            return;
        }
        let mut state = self.state();
        state.known.insert(job.to_owned(), progress.clone());
        state.order.push_back(job.to_owned());
        while state.order.len() > JOBS_KNOWN {
            if let Some(oldest) = state.order.pop_front() {
                state.known.remove(&oldest);
            }
        }
    }

    async fn submitted(&self, prompt: Prompt) -> Result<Submitted, Failure> {
        if prompt.text.trim().is_empty() {
            return Err(Failure::invalid("the message is empty"));
        }
        if let Some(known) = self.known(&prompt.job) {
            return Ok(known);
        }
        let options = self.options.clone();
        let looked = tokio::task::spawn_blocking(move || options.context()).await;
        let context = looked.map_err(|error| Failure::failed(format!("AGENTS.md could not be looked at: {error}")))?;
        let (reply, answer) = oneshot::channel();
        let (session, job) = (prompt.session.clone(), prompt.job.clone());
        let sending = Sending { prompt, reply, context, give_up: Instant::now() + SUBMIT_WAIT };
        self.ask(&session, Request::Submit(Box::new(sending))).await?;
        let submitted = answer.await.map_err(|_| gone())??;
        self.know(&job, &submitted.progress);
        Ok(submitted)
    }
}

impl Options {
    fn context(&self) -> [u8; 32] {
        let cwd = std::path::absolute(&self.cwd).unwrap_or_else(|_| self.cwd.clone());
        context_files::digest(&cwd, context_files::own_folder(&self.environment).as_deref())
    }
}

fn gone() -> Failure {
    Failure::new(FailureKind::Unavailable, "pi is being ended; send it again later")
}

impl Brain for PiChild {
    fn submit(&self, prompt: Prompt) -> BoxFuture<'_, Result<Submitted, Failure>> {
        Box::pin(self.submitted(prompt))
    }

    fn resume(&self, prompt: Prompt) -> BoxFuture<'_, Result<Submitted, Failure>> {
        Box::pin(async move {
            if let Some(known) = self.known(&prompt.job) {
                return Ok(known);
            }
            let why =
                "the program ended while pi was at it; whether it was done is not known, look before asking again";
            let (told, progress) = watch::channel(Progress::Ended(jobs::lost(why)));
            drop(told);
            Ok(Submitted { disposition: Disposition::Handled, progress })
        })
    }

    fn command<'a>(
        &'a self,
        session: &'a str,
        command: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Map<String, Value>, Failure>> {
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            self.ask(session, Request::Command(command, reply)).await?;
            answer.await.map_err(|_| gone())?
        })
    }

    /// Of the conversation `main`.
    fn status(&self) -> BrainStatus {
        let state = self.state();
        match state.keepers.get("main") {
            Some(keeper) => keeper.status(),
            None => BrainStatus { agent: "pi", error: Some("it is closed".into()), ..BrainStatus::default() },
        }
    }

    fn events(&self) -> broadcast::Receiver<BrainEvent> {
        self.events.subscribe()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        let keepers = {
            let mut state = self.state();
            state.closed = true;
            std::mem::take(&mut state.keepers)
        };
        Box::pin(async move {
            for keeper in keepers.into_values() {
                keeper.close().await;
            }
        })
    }
}
