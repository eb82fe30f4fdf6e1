//! The kernel's agent as a [`Brain`]. Start at [`KernelBrain::new`]; [`telling`] makes pi's events, `commands`
//! answers pi's commands.
//!
//! Invariants: a prompt is in the kernel's inbox, under its job's id, when `submit` returns, so that the same
//! id finds the same answer over a restart; what the kernel says of an input is heard after the input is
//! known here.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernel::agent::{Agent, AgentEvent};
use kernel::ports::{
    Answered, Brain, BrainEvent, BrainStatus, Disposition, Ended, NewInput, Outbox, Outcome, Progress, Prompt,
    StreamingBehavior, Submitted,
};
use sdk::{BoxFuture, Failure, FailureKind, InjectionKind};
use serde_json::{Map, Value, json};
use tokio::sync::{broadcast, watch};
use tokio::task::JoinHandle;

use crate::records;
use telling::{Around, Telling};

mod commands;
mod entries;
mod telling;

/// Limit: events that a slow listener may lag behind; then it misses some, and is told so.
pub const BRAIN_EVENTS_MAX: usize = 4096;
/// Replies that are looked through at once for those that a job has taken.
const REPLIES_MAX: usize = 1000;
/// As pi says it.
const BUSY: &str =
    "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message.";

pub struct KernelBrain {
    shared: Arc<Shared>,
    following: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    agent: Agent,
    outbox: Arc<dyn Outbox>,
    events: broadcast::Sender<BrainEvent>,
    state: Mutex<State>,
    /// Held while an input is on its way into the inbox: what is told of it waits until it is known.
    putting: tokio::sync::Mutex<()>,
    /// Grows with each turn that ended.
    turns_ended: watch::Sender<u64>,
    closed: AtomicBool,
}

#[derive(Default)]
struct State {
    /// Accepted here and not ended, by the input's id.
    jobs: BTreeMap<i64, Job>,
    conversations: HashMap<String, Conversation>,
}

#[derive(Default)]
struct Conversation {
    telling: Telling,
    /// What the turn that runs answers.
    inputs: Vec<i64>,
    name: Option<String>,
    spent: kernel::ports::Usage,
}

struct Job {
    id: String,
    session: String,
    text: String,
    steers: bool,
    /// It was accepted while something else went on.
    queued: bool,
    begun: bool,
    progress: watch::Sender<Progress>,
}

impl KernelBrain {
    /// Hears the agent from now on: make it before [`Agent::run`], so that nothing of what goes on there is
    /// missed. Replies to its prompts are taken out of the outbox.
    pub fn new(agent: Agent, outbox: Arc<dyn Outbox>) -> Self {
        let heard = agent.subscribe();
        let shared = Arc::new(Shared {
            agent,
            outbox,
            events: broadcast::channel(BRAIN_EVENTS_MAX).0,
            state: Mutex::default(),
            putting: tokio::sync::Mutex::default(),
            turns_ended: watch::channel(0).0,
            closed: AtomicBool::new(false),
        });
        let following = tokio::spawn(follow(shared.clone(), heard));
        Self { shared, following: Mutex::new(Some(following)) }
    }
}

async fn follow(shared: Arc<Shared>, mut heard: broadcast::Receiver<AgentEvent>) {
    loop {
        match heard.recv().await {
            Ok(event) => shared.heard(event).await,
            Err(broadcast::error::RecvError::Lagged(_)) => shared.catch_up().await,
            Err(broadcast::error::RecvError::Closed) => return,
        }
    }
}

impl Brain for KernelBrain {
    fn submit(&self, prompt: Prompt) -> BoxFuture<'_, Result<Submitted, Failure>> {
        Box::pin(self.shared.submit(prompt, false))
    }

    fn resume(&self, prompt: Prompt) -> BoxFuture<'_, Result<Submitted, Failure>> {
        Box::pin(self.shared.submit(prompt, true))
    }

    fn command<'a>(
        &'a self,
        session: &'a str,
        command: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Map<String, Value>, Failure>> {
        Box::pin(async move {
            let mut response = self.shared.command(named(session), &command).await?;
            if let Some(id) = command.get("id") {
                response.insert("id".into(), id.clone());
            }
            Ok(response)
        })
    }

    fn status(&self) -> BrainStatus {
        let open = !self.shared.closed.load(Ordering::SeqCst);
        BrainStatus {
            agent: "kernel",
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            running: open,
            ready: open,
            pid: Some(std::process::id()),
            error: None,
        }
    }

    fn events(&self) -> broadcast::Receiver<BrainEvent> {
        self.shared.events.subscribe()
    }

    /// The agent is its owner's to close, before or after.
    fn close(&self) -> BoxFuture<'_, ()> {
        self.shared.closed.store(true, Ordering::SeqCst);
        let following = self.following.lock().unwrap_or_else(PoisonError::into_inner).take();
        Box::pin(async move {
            if let Some(following) = following {
                following.abort();
                let _cancelled = following.await;
            }
        })
    }
}

fn named(session: &str) -> &str {
    if session.is_empty() { "main" } else { session }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn submit(&self, mut prompt: Prompt, again: bool) -> Result<Submitted, Failure> {
        if self.closed.load(Ordering::SeqCst) {
            return Err(Failure::new(FailureKind::Unavailable, "the agent is shutting down; send it again later"));
        }
        if !prompt.images.is_empty() {
            return Err(Failure::invalid(
                "this agent does not take images: leave `images` out, or run the service with `--agent pi`",
            ));
        }
        prompt.session = named(&prompt.session).to_owned();
        let _known_first = self.putting.lock().await;
        if let Some(known) = self.known(&prompt.job) {
            return Ok(known);
        }
        let queued = self.busy(&prompt.session);
        if queued && !again && prompt.behavior.is_none() {
            return Err(Failure::invalid(BUSY));
        }
        let input = self.agent.put(input(&prompt)).await?;
        // Accepted and answered in an earlier life of this process.
        if let Some(answered) = self.agent.ports().inbox.answer_of(input).await? {
            let (told, progress) = watch::channel(Progress::Ended(outcome(&answered)));
            drop(told);
            return Ok(Submitted { disposition: Disposition::Handled, progress });
        }
        Ok(self.registered(input, prompt, queued))
    }

    fn known(&self, job: &str) -> Option<Submitted> {
        let state = self.state();
        let known = state.jobs.values().find(|known| !job.is_empty() && known.id == job)?;
        let disposition = if known.begun { Disposition::Started } else { Disposition::Queued };
        Some(Submitted { disposition, progress: known.progress.subscribe() })
    }

    /// Something is being done in this conversation, or waits.
    fn busy(&self, session: &str) -> bool {
        let state = self.state();
        state.conversations.get(session).is_some_and(|conversation| conversation.telling.running())
            || state.jobs.values().any(|job| job.session == session)
    }

    fn registered(&self, input: i64, prompt: Prompt, queued: bool) -> Submitted {
        let mut state = self.state();
        let session = prompt.session.clone();
        // Of a turn that goes on from an earlier life of this process.
        let begun = state.conversations.get(&session).is_some_and(|known| known.inputs.contains(&input));
        let (told, progress) = watch::channel(if begun { Progress::Running } else { Progress::Queued });
        let steers = prompt.behavior == Some(StreamingBehavior::Steer);
        let queued = queued && !begun;
        let (id, text) = (prompt.job, prompt.text);
        state.jobs.insert(input, Job { id, session: session.clone(), text, steers, queued, begun, progress: told });
        if queued {
            let record = state.queue(&session);
            self.tell(&session, None, vec![record]);
        }
        let disposition = if queued { Disposition::Queued } else { Disposition::Started };
        Submitted { disposition, progress }
    }

    fn tell(&self, session: &str, job: Option<String>, records: Vec<Value>) {
        for record in records {
            let event = BrainEvent { session: session.to_owned(), job: job.clone(), record: Arc::new(record) };
            // Nobody may be listening, and that is fine.
            let _heard = self.events.send(event);
        }
    }

    async fn heard(&self, event: AgentEvent) {
        // An input whose turn this is may be on its way in: it is known first.
        if matches!(event, AgentEvent::TurnStarted { .. } | AgentEvent::TurnEnded { .. }) {
            drop(self.putting.lock().await);
        }
        let now_ms = self.agent.ports().clock.now_ms();
        let model = self.model();
        let ended = self.state().heard(self, &event, now_ms, &model);
        if let AgentEvent::TurnEnded { answered, .. } = &event {
            self.turns_ended.send_modify(|count| *count += 1);
            if ended {
                self.delivered(&answered.turn).await;
            }
        }
    }

    /// Whoever asked has it: it need not be delivered by another road.
    async fn delivered(&self, turn: &str) {
        let Ok(all) = self.outbox.undelivered(REPLIES_MAX).await else { return };
        for reply in all.iter().filter(|reply| reply.turn == turn) {
            // What cannot be taken out is delivered once more, which is better than not at all.
            let _twice = self.outbox.delivered(reply.id).await;
        }
    }

    /// Events were missed: the store knows what ended.
    async fn catch_up(&self) {
        let open: Vec<i64> = self.state().jobs.keys().copied().collect();
        for input in open {
            if let Ok(Some(answered)) = self.agent.ports().inbox.answer_of(input).await {
                let (session, turn) = (answered.session.clone(), answered.turn.clone());
                self.heard(AgentEvent::TurnEnded { session, turn, answered: Box::new(answered) }).await;
            }
        }
    }

    fn model(&self) -> String {
        let ports = self.agent.ports();
        let current = ports.llm.current_source();
        if current.is_empty() { ports.source.name() } else { current }
    }
}

impl State {
    /// Whether a job of ours ended by it.
    fn heard(&mut self, shared: &Shared, event: &AgentEvent, now_ms: i64, model: &str) -> bool {
        let session = event.session().to_owned();
        let mut records = Vec::new();
        match event {
            AgentEvent::TurnStarted { inputs, .. } => {
                self.conversations.entry(session.clone()).or_default().inputs.clone_from(inputs);
                records.extend(self.begun(&session, inputs));
            }
            AgentEvent::Interrupted { text, .. } => {
                let joins = |job: &&Job| job.session == session && !job.begun && job.steers && job.text == *text;
                let found = self.jobs.iter().find(|(_, job)| joins(job)).map(|(input, _)| *input);
                records.extend(found.and_then(|input| self.begun(&session, &[input])));
            }
            AgentEvent::MessageEnded { usage, .. } => {
                let spent = &mut self.conversations.entry(session.clone()).or_default().spent;
                spent.prompt_tokens += usage.prompt_tokens;
                spent.completion_tokens += usage.completion_tokens;
                spent.cached_tokens += usage.cached_tokens;
                spent.reasoning_tokens += usage.reasoning_tokens;
                spent.cost_usd_micros += usage.cost_usd_micros;
            }
            _ => {}
        }
        let ended = match event {
            AgentEvent::TurnEnded { answered, .. } => self.answered(answered),
            _ => Vec::new(),
        };
        let job = self.job(&session).or_else(|| ended.first().map(|job| job.id.clone()));
        let waits = self.jobs.values().any(|job| job.session == session);
        let around = Around { now_ms, model, waits };
        records.extend(self.conversations.entry(session.clone()).or_default().telling.heard(event, &around));
        shared.tell(&session, job, records);
        if let AgentEvent::TurnEnded { answered, .. } = event {
            ended.iter().for_each(|job| drop(job.progress.send(Progress::Ended(outcome(answered)))));
        }
        !ended.is_empty()
    }

    /// These are being answered; the queue without them, where one waited there.
    fn begun(&mut self, session: &str, inputs: &[i64]) -> Option<Value> {
        let mut waited = false;
        for input in inputs {
            if let Some(job) = self.jobs.get_mut(input)
                && !job.begun
            {
                waited |= job.queued;
                job.begun = true;
                let _nobody_waits = job.progress.send(Progress::Running);
            }
        }
        waited.then(|| self.queue(session))
    }

    /// Those that this answers, taken out. An interrupt that came too late for its turn waits again.
    fn answered(&mut self, answered: &Answered) -> Vec<Job> {
        if let Some(conversation) = self.conversations.get_mut(&answered.session) {
            conversation.inputs.clear();
        }
        let ended = answered.inputs.iter().filter_map(|input| self.jobs.remove(input)).collect();
        for job in self.jobs.values_mut().filter(|job| job.session == answered.session) {
            job.begun = false;
        }
        ended
    }

    /// Whose turn runs in this conversation.
    fn job(&self, session: &str) -> Option<String> {
        let inputs = &self.conversations.get(session)?.inputs;
        inputs.iter().find_map(|input| self.jobs.get(input)).map(|job| job.id.clone()).filter(|id| !id.is_empty())
    }

    fn waiting(&self, session: &str) -> impl Iterator<Item = (&i64, &Job)> {
        self.jobs.iter().filter(move |(_, job)| job.session == session && job.queued && !job.begun)
    }

    fn queue(&self, session: &str) -> Value {
        let texts = |steers: bool| -> Vec<&str> {
            self.waiting(session).filter(|(_, job)| job.steers == steers).map(|(_, job)| job.text.as_str()).collect()
        };
        json!({ "type": "queue_update", "steering": texts(true), "followUp": texts(false) })
    }
}

fn input(prompt: &Prompt) -> NewInput {
    let steers = prompt.behavior == Some(StreamingBehavior::Steer);
    NewInput {
        session: prompt.session.clone(),
        kind: if steers { InjectionKind::Interrupt } else { InjectionKind::Text },
        principal: prompt.principal.clone(),
        source: prompt.principal.channel.clone(),
        text: prompt.text.clone(),
        client_id: (!prompt.job.is_empty()).then(|| prompt.job.clone()),
        at_ms: 0,
    }
}

fn outcome(answered: &Answered) -> Outcome {
    let usage = match serde_json::from_value::<kernel::ports::Usage>(answered.usage.clone()) {
        Ok(usage) => records::usage(&usage),
        Err(_) => Value::Null,
    };
    let answer = (!answered.reply.is_empty()).then(|| answered.reply.clone());
    let (ended, error) = match answered.ended.as_str() {
        "answered" | "by_stage" => (Ended::Done, None),
        "stopped" => (Ended::Aborted, Some("somebody stopped it".to_owned())),
        "withdrawn" => (Ended::Aborted, Some("somebody took it back before its turn came".to_owned())),
        _ => (Ended::Failed, answer.clone()),
    };
    Outcome { ended, answer, error, usage }
}
