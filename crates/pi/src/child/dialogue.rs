//! What is said between us and one pi, without the process. Start at [`Dialogue::submit`], and at
//! [`Dialogue::heard`] for what comes back.
//!
//! Invariants: one prompt is on its way at a time, the next goes after its response; each request is answered,
//! by pi or by its deadline; what we write is always an object; a run is told to be settled once, in either
//! dialect.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use kernel::ports::{BrainEvent, Disposition, Ended, Outcome, Progress, Prompt, StreamingBehavior, Submitted};
use sdk::{Failure, FailureKind};
use serde_json::{Map, Value, json};
use tokio::sync::{broadcast, oneshot, watch};
use tokio::time::Instant;

use super::dialogs::{DialogPolicy, Dialogs};
use super::jobs::{self, Job, Jobs};
use super::version::Abilities;
use crate::records::{not_supported, object, ok, refused};

mod answers;
mod events;

/// Limit: prompts of one conversation on their way to a pi child; a further one is refused.
pub const PI_PROMPTS_WAITING_MAX: usize = 64;
/// Limit: a command that pi does not answer by then fails.
pub const PI_COMMAND_MAX: Duration = Duration::from_secs(30);
/// Limit: the same for `bash`, `compact` and `export_html`, which take their time; a `bash` is ended then.
pub const PI_LONG_COMMAND_MAX: Duration = Duration::from_secs(600);
/// Limit: a prompt that pi has not accepted by then fails; a slash command may ask a person first.
pub const PI_PROMPT_MAX: Duration = Duration::from_secs(120);
/// What pi began is seen by then, or looked for.
const LOOK: Duration = Duration::from_secs(5);

pub type PromptReply = oneshot::Sender<Result<Submitted, Failure>>;
pub type CommandReply = oneshot::Sender<Result<Map<String, Value>, Failure>>;

/// A prompt that is not accepted yet.
pub struct Sending {
    pub prompt: Prompt,
    pub reply: PromptReply,
    /// Of the files that must be in force for it.
    pub context: [u8; 32],
    pub give_up: Instant,
}

/// What a response is for.
enum Purpose {
    Prompt(Box<Sending>),
    Command {
        id: Option<Value>,
        reply: CommandReply,
    },
    /// The first answer of a new process.
    Ready,
    /// Which commands extensions have.
    Commands,
    /// Which conversation it is now.
    Session,
    /// Whether all is done, where pi does not say so.
    Barrier,
    /// Whether what was accepted ever began.
    Look,
    /// The queue before an abort.
    Cleared,
    Abort {
        id: Option<Value>,
        reply: CommandReply,
    },
    BashEnded,
}

struct Pending {
    purpose: Purpose,
    kind: String,
    deadline: Instant,
    /// Somebody had all stopped since: what it asks a person is answered with no.
    aborted: bool,
}

/// Why the process must be another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// Files of the system prompt changed, and nothing is going on.
    Context,
    /// It kept prompts that were taken back.
    Ghosts,
    /// It does not stop, or does not answer at all.
    Stuck,
}

pub struct Dialogue {
    session: String,
    events: broadcast::Sender<BrainEvent>,
    abilities: Abilities,
    /// To be written, in this order.
    pub out: Vec<Value>,
    pending: HashMap<String, Pending>,
    number: u64,
    lane: VecDeque<Sending>,
    jobs: Jobs,
    dialogs: Dialogs,
    run: Run,
    ready: bool,
    /// What a command takes back or ends is not crossed by a new prompt.
    held: bool,
    cleared: Value,
    extension_commands: Vec<String>,
    pub restart: Option<Restart>,
    /// pi's name for the conversation, where it keeps it in a file.
    pub kept_as: Option<String>,
    /// Of the files in force.
    pub context: Option<[u8; 32]>,
}

/// From `agent_start` to being settled.
#[derive(Default)]
struct Run {
    open: bool,
    /// `agent_end` came after the last `agent_start`.
    ended: bool,
    /// The request whose answer says that it is over, unless something begins before.
    barrier: Option<String>,
}

impl Dialogue {
    pub fn new(session: String, events: broadcast::Sender<BrainEvent>, policy: DialogPolicy) -> Self {
        Self {
            session,
            events,
            abilities: Abilities::of(None),
            out: Vec::new(),
            pending: HashMap::new(),
            number: 0,
            lane: VecDeque::new(),
            jobs: Jobs::default(),
            dialogs: Dialogs::new(policy),
            run: Run::default(),
            ready: false,
            held: false,
            cleared: Value::Null,
            extension_commands: Vec::new(),
            restart: None,
            kept_as: None,
            context: None,
        }
    }

    /// A new process is there.
    pub fn begin(&mut self, abilities: Abilities, context: [u8; 32], now: Instant, ready_max: Duration) {
        self.abilities = abilities;
        self.context = Some(context);
        self.restart = None;
        self.send("get_state", object(json!({})), Purpose::Ready, now + ready_max);
    }

    pub fn ready(&self) -> bool {
        self.ready
    }

    /// Nothing is being done, waits, or is on its way.
    pub fn idle(&self) -> bool {
        self.quiet() && self.lane.is_empty()
    }

    /// The same, but for prompts that wait until another process is there.
    fn quiet(&self) -> bool {
        !self.run.open && self.jobs.is_empty() && self.pending.is_empty()
    }

    /// Why the process is to be another, as soon as nothing is lost by it.
    pub fn restarts(&self) -> Option<Restart> {
        self.restart.filter(|why| match why {
            Restart::Stuck => true,
            // Somebody had all stopped: a command that still runs is ended too.
            Restart::Ghosts => !self.run.open && self.jobs.is_empty(),
            Restart::Context => self.quiet(),
        })
    }

    pub fn submit(&mut self, sending: Sending, now: Instant) {
        if self.lane.len() >= PI_PROMPTS_WAITING_MAX {
            let full = Failure::new(FailureKind::Full, "too many prompts are on their way to pi; send it again later");
            let _nobody_waits = sending.reply.send(Err(full));
            return;
        }
        self.lane.push_back(sending);
        self.pump(now);
    }

    /// Sends the next prompt, if none is on its way.
    fn pump(&mut self, now: Instant) {
        let on_its_way = self.pending.values().any(|pending| matches!(pending.purpose, Purpose::Prompt(_)));
        if !self.ready || self.held || on_its_way || self.restart.is_some() {
            return;
        }
        let Some(next) = self.lane.front() else { return };
        // What takes its time is not ended for it: then the changed files come into force a prompt later.
        let long = self.pending.values().any(|pending| takes_time(&pending.kind));
        if !self.run.open && self.jobs.is_empty() && !long && self.context != Some(next.context) {
            self.restart = Some(Restart::Context);
            return;
        }
        let Some(sending) = self.lane.pop_front() else { return };
        let prompt = &sending.prompt;
        let mut record = object(json!({ "message": prompt.text }));
        if !prompt.images.is_empty() {
            record.insert("images".into(), prompt.images.clone().into());
        }
        match prompt.behavior {
            Some(StreamingBehavior::Steer) => record.insert("streamingBehavior".into(), "steer".into()),
            Some(StreamingBehavior::FollowUp) => record.insert("streamingBehavior".into(), "followUp".into()),
            None => None,
        };
        self.send("prompt", record, Purpose::Prompt(Box::new(sending)), now + PI_PROMPT_MAX);
    }

    fn send(&mut self, kind: &str, mut record: Map<String, Value>, purpose: Purpose, deadline: Instant) -> String {
        self.number += 1;
        let id = format!("m{}", self.number);
        record.insert("id".into(), id.as_str().into());
        record.insert("type".into(), kind.into());
        self.out.push(Value::Object(record));
        self.pending.insert(id.clone(), Pending { purpose, kind: kind.to_owned(), deadline, aborted: false });
        id
    }

    /// Any command but prompts.
    pub fn command(&mut self, mut command: Map<String, Value>, reply: CommandReply, now: Instant) {
        let kind = command.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = command.remove("id");
        let own = match kind.as_str() {
            "" => Some(refused("", "Unknown command: undefined")),
            "prompt" | "steer" | "follow_up" => Some(refused(&kind, "a prompt is submitted, not passed as a command")),
            "extension_ui_response" => {
                if let Some(id) = &id {
                    command.insert("id".into(), id.clone());
                }
                Some(match self.dialogs.answered(&command) {
                    Ok(closed) => {
                        self.closed(vec![closed]);
                        ok(&kind, Value::Null)
                    }
                    Err(error) => refused(&kind, error),
                })
            }
            "get_dialogs" => Some(ok(&kind, json!({ "dialogs": self.dialogs.list(now) }))),
            "clear_queue" if !self.abilities.clears_queue => {
                Some(not_supported(&kind, "this pi is older than 0.84.4; `abort` takes back what waits"))
            }
            _ => None,
        };
        if let Some(mut response) = own {
            response.extend(id.map(|id| ("id".to_owned(), id)));
            let _nobody_waits = reply.send(Ok(response));
            return;
        }
        if kind == "abort" {
            return self.abort(id, reply, now);
        }
        let deadline = now + if takes_time(&kind) { PI_LONG_COMMAND_MAX } else { PI_COMMAND_MAX };
        self.send(&kind, command, Purpose::Command { id, reply }, deadline);
    }

    /// Dialogs first, or it would wait for them; then the queue, or it would run later.
    fn abort(&mut self, id: Option<Value>, reply: CommandReply, now: Instant) {
        let closed = self.dialogs.cancel_all("aborted");
        self.closed(closed);
        self.pending.values_mut().for_each(|pending| pending.aborted = true);
        for sending in self.lane.drain(..) {
            let aborted = Failure::new(FailureKind::Unavailable, "somebody had all stopped before pi took it");
            let _nobody_waits = sending.reply.send(Err(aborted));
        }
        if self.run.open || !self.jobs.is_empty() {
            self.jobs.abort();
        }
        self.held = true;
        self.cleared = Value::Null;
        let deadline = now + PI_COMMAND_MAX;
        if self.abilities.clears_queue {
            self.send("clear_queue", object(json!({})), Purpose::Cleared, deadline);
        }
        self.send("abort", object(json!({})), Purpose::Abort { id, reply }, deadline);
    }

    fn closed(&mut self, closed: Vec<(Value, Value)>) {
        for (answer, told) in closed {
            self.out.push(answer);
            self.tell(told);
        }
    }

    fn tell(&mut self, record: Value) {
        let job = self.jobs.current().filter(|id| !id.is_empty()).map(str::to_owned);
        let event = BrainEvent { session: self.session.clone(), job, record: Arc::new(record) };
        // Nobody may be listening, and that is fine.
        let _heard = self.events.send(event);
    }

    /// The next moment at which something is over.
    pub fn next_time(&self) -> Option<Instant> {
        let deadlines = self.pending.values().map(|pending| pending.deadline);
        let lane = self.lane.iter().map(|sending| sending.give_up);
        let looks = self.jobs.next_look();
        deadlines.chain(lane).chain(looks).chain(self.dialogs.next_expiry()).min()
    }

    pub fn time(&mut self, now: Instant, error: Option<&str>) {
        let closed = self.dialogs.expired(now);
        self.closed(closed);
        // The oldest is in front and gives up first.
        while let Some(sending) = self.lane.pop_front_if(|sending| sending.give_up <= now) {
            let why = error.unwrap_or("pi does not take prompts just now");
            let _nobody_waits = sending.reply.send(Err(Failure::new(FailureKind::Unavailable, why)));
        }
        if self.jobs.looked_at(now, now + LOOK) && self.ready {
            self.send("get_state", object(json!({})), Purpose::Look, now + PI_COMMAND_MAX);
        }
        let over: Vec<String> =
            self.pending.iter().filter(|(_, pending)| pending.deadline <= now).map(|(id, _)| id.clone()).collect();
        for id in over {
            if let Some(pending) = self.pending.remove(&id) {
                self.timed_out(pending, now);
            }
        }
        self.pump(now);
    }

    fn timed_out(&mut self, pending: Pending, now: Instant) {
        let failure = |what: &str| {
            Failure::new(FailureKind::Timeout, format!("pi did not answer `{}` in time; {what}", pending.kind))
        };
        match pending.purpose {
            Purpose::Prompt(sending) => {
                let _nobody_waits = sending.reply.send(Err(failure("whether it took it is not known")));
            }
            Purpose::Command { reply, .. } => {
                if pending.kind == "bash" {
                    self.send("abort_bash", object(json!({})), Purpose::BashEnded, now + PI_COMMAND_MAX);
                }
                let _nobody_waits = reply.send(Err(failure("try again")));
            }
            Purpose::Abort { reply, .. } => {
                self.held = false;
                self.restart = Some(Restart::Stuck);
                let _nobody_waits = reply.send(Err(failure("it is started anew")));
            }
            Purpose::Ready | Purpose::Barrier | Purpose::Look => self.restart = Some(Restart::Stuck),
            Purpose::Commands | Purpose::Session | Purpose::Cleared | Purpose::BashEnded => {}
        }
    }

    /// The process is gone: whoever waits for it hears so at once.
    pub fn gone(&mut self, why: &str, by_us: bool) {
        let closed = self.dialogs.cancel_all("pi ended");
        closed.into_iter().for_each(|(_, told)| self.tell(told));
        for (_, pending) in self.pending.drain() {
            let failure =
                || Failure::new(FailureKind::Unavailable, format!("{why}; nothing more is known, send it again"));
            match pending.purpose {
                Purpose::Prompt(sending) => drop(sending.reply.send(Err(failure()))),
                Purpose::Command { reply, .. } | Purpose::Abort { reply, .. } => drop(reply.send(Err(failure()))),
                _ => {}
            }
        }
        let outcome = if by_us { Outcome { ended: Ended::Aborted, ..jobs::lost(why) } } else { jobs::lost(why) };
        self.jobs.drop_all(&outcome);
        if std::mem::take(&mut self.run).open {
            self.tell(json!({ "type": "agent_settled", "aborted": true, "reason": why }));
        }
        (self.ready, self.held) = (false, false);
        self.out.clear();
    }

    /// Nobody will be there any more.
    pub fn close(&mut self, why: &str) {
        self.gone(why, false);
        for sending in self.lane.drain(..) {
            let _nobody_waits = sending.reply.send(Err(Failure::new(FailureKind::Unavailable, why)));
        }
    }
}

fn takes_time(kind: &str) -> bool {
    matches!(kind, "bash" | "compact" | "export_html")
}

fn submitted(disposition: Disposition) -> (Submitted, watch::Sender<Progress>) {
    let (told, progress) = watch::channel(Progress::Queued);
    (Submitted { disposition, progress }, told)
}

#[cfg(test)]
mod tests;
