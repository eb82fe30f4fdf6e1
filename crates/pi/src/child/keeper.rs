//! Keeps the pi of one conversation alive. Start at [`Keeper::start`] and [`Work::run`].
//!
//! Invariants: there is at most one process; one that ended is started again, later each time and soon again
//! after it was well; whoever waits for it is answered before it is cleared away.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use kernel::ports::{BrainEvent, BrainStatus};
use sdk::{Failure, FailureKind};
use serde_json::{Map, Value};
use tokio::sync::{broadcast, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::Options;
use super::dialogue::{CommandReply, Dialogue, Restart, Sending};
use super::kept::Kept;
use super::process::Process;
use super::version::{Abilities, Version, probe};
use super::{arguments, gone};
use crate::lines::Line;

/// Limit: requests to the pi of one conversation that nobody has looked at yet; a further one is refused.
pub const PI_REQUESTS_MAX: usize = 256;

pub enum Request {
    Submit(Box<Sending>),
    Command(Map<String, Value>, CommandReply),
}

pub struct Keeper {
    requests: mpsc::Sender<Request>,
    stop: watch::Sender<bool>,
    status: watch::Receiver<BrainStatus>,
    idle: Arc<AtomicBool>,
    used: AtomicU64,
    born: Instant,
    task: JoinHandle<()>,
}

impl Keeper {
    pub fn start(
        options: Arc<Options>,
        session: String,
        events: broadcast::Sender<BrainEvent>,
        kept: Arc<Kept>,
    ) -> Self {
        let (requests, asked) = mpsc::channel(PI_REQUESTS_MAX);
        let (stop, stopped) = watch::channel(false);
        let (told, status) = watch::channel(BrainStatus { agent: "pi", ..BrainStatus::default() });
        let idle = Arc::new(AtomicBool::new(true));
        let work = Work {
            dialogue: Dialogue::new(session.clone(), events, options.dialogs.clone()),
            session,
            kept,
            status: told,
            idle: idle.clone(),
            waiting: Vec::new(),
            process: None,
            resumes: false,
            version: None,
            ready_at: None,
            backoff: options.backoff,
            start_at: Some(Instant::now()),
            probing: None,
            context: [0; 32],
            options,
        };
        let task = tokio::spawn(work.run(asked, stopped));
        Self { requests, stop, status, idle, used: AtomicU64::new(0), born: Instant::now(), task }
    }

    pub fn send(&self, request: Request) -> Result<(), Failure> {
        let used = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.used.store(used, Ordering::Relaxed);
        self.requests.try_send(request).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => {
                Failure::new(FailureKind::Full, "too many requests to pi at once; send it again later")
            }
            mpsc::error::TrySendError::Closed(_) => gone(),
        })
    }

    pub fn status(&self) -> BrainStatus {
        self.status.borrow().clone()
    }

    pub fn idle(&self) -> bool {
        self.idle.load(Ordering::Relaxed)
    }

    /// When it was asked for something, to compare.
    pub fn used(&self) -> Instant {
        self.born + Duration::from_millis(self.used.load(Ordering::Relaxed))
    }

    pub async fn close(self) {
        let _gone_already = self.stop.send(true);
        let _joined = self.task.await;
    }
}

/// The files in force, and which pi it is.
type Looked = ([u8; 32], Result<Option<Version>, String>);

struct Work {
    options: Arc<Options>,
    session: String,
    kept: Arc<Kept>,
    status: watch::Sender<BrainStatus>,
    idle: Arc<AtomicBool>,
    dialogue: Dialogue,
    /// Commands for a pi that is being started.
    waiting: Vec<(Map<String, Value>, CommandReply)>,
    process: Option<Process>,
    /// The process was asked to go on with a conversation of before.
    resumes: bool,
    version: Option<Version>,
    ready_at: Option<Instant>,
    backoff: Duration,
    /// When to start it; none while it runs or is looked at.
    start_at: Option<Instant>,
    probing: Option<JoinHandle<Looked>>,
    context: [u8; 32],
}

impl Work {
    async fn run(mut self, mut asked: mpsc::Receiver<Request>, mut stopped: watch::Receiver<bool>) {
        loop {
            let times = [self.dialogue.next_time(), self.start_at];
            let next = times.into_iter().flatten().min();
            // Each may be dropped: a request, a line and a moment are taken or not.
            tokio::select! {
                biased;
                _ = stopped.changed() => break,
                line = line(&mut self.process) => match line {
                    Some(line) => self.heard(line),
                    None => self.ended().await,
                },
                probed = probed(&mut self.probing) => self.probed(probed),
                request = asked.recv() => match request {
                    Some(request) => self.asked(request),
                    None => break,
                },
                () = until(next) => self.time(),
            }
            self.after().await;
        }
        asked.close();
        self.dialogue.close("the agent is shutting down; send it again later");
        self.waiting.drain(..).for_each(|(_, reply)| drop(reply.send(Err(gone()))));
        if let Some(probing) = self.probing.take() {
            probing.abort();
        }
        if let Some(process) = self.process.take() {
            process.end().await;
        }
    }

    fn asked(&mut self, request: Request) {
        let now = Instant::now();
        match request {
            Request::Submit(sending) => self.dialogue.submit(*sending, now),
            Request::Command(command, reply) if self.takes_commands() => self.dialogue.command(command, reply, now),
            Request::Command(command, reply) => {
                let error = self.status.borrow().error.clone();
                match error {
                    None if self.waiting.len() < PI_REQUESTS_MAX => self.waiting.push((command, reply)),
                    error => {
                        let why = error.unwrap_or_else(|| "pi is being started; send it again later".into());
                        let _nobody_waits = reply.send(Err(Failure::new(FailureKind::Unavailable, why)));
                    }
                }
            }
        }
    }

    /// While it waits to be started anew nothing further is asked, or it would wait for ever.
    fn takes_commands(&self) -> bool {
        self.dialogue.ready() && self.dialogue.restart.is_none()
    }

    fn heard(&mut self, line: Line) {
        match line {
            Line::Record(record @ Value::Object(_)) => self.dialogue.heard(record, Instant::now()),
            Line::Record(other) => tracing::warn!(target: "pi", "a record that is no object: {other}"),
            Line::Broken(error) => tracing::warn!(target: "pi", "a line that is not JSON: {error}"),
            Line::TooLong => tracing::warn!(target: "pi", "a record was too long and is left out"),
        }
    }

    fn time(&mut self) {
        let now = Instant::now();
        let error = self.status.borrow().error.clone();
        self.dialogue.time(now, error.as_deref());
        if self.start_at.is_some_and(|at| at <= now) {
            self.start_at = None;
            let options = self.options.clone();
            self.probing = Some(tokio::spawn(async move {
                let looking = options.clone();
                // Looked at before pi reads them: what changes meanwhile is seen with the next prompt.
                let context = tokio::task::spawn_blocking(move || looking.context()).await.unwrap_or_default();
                (context, probe(&options).await)
            }));
        }
    }

    /// pi said which it is: it is started.
    fn probed(&mut self, (context, version): Looked) {
        self.probing = None;
        self.context = context;
        let version = match version {
            Ok(version) => version,
            Err(error) => return self.failed(error),
        };
        self.version = version;
        let mut words = self.options.arguments.clone();
        let kept = self.kept.of(&self.session).filter(|_| !arguments::names_a_session(&words));
        self.resumes = kept.is_some();
        words.extend(kept.into_iter().flat_map(|name| ["--session".to_owned(), name]));
        let mark = format!("{:016x}", RandomState::new().hash_one(&self.session));
        match Process::start(&self.options, &words, mark) {
            Ok(process) => {
                self.process = Some(process);
                let now = Instant::now();
                self.dialogue.begin(Abilities::of(version), context, now, self.options.ready_max);
            }
            Err(error) => self.failed(error),
        }
    }

    /// It could not be started, and is tried again.
    fn failed(&mut self, error: String) {
        tracing::warn!(target: "pi", "{error}");
        self.start_at = Some(Instant::now() + self.backoff);
        let wait = self.backoff.as_secs_f32();
        self.backoff = (self.backoff * 2).min(self.options.backoff_max);
        self.tell(Some(format!("{error}; tried again in {wait} s")));
        self.waiting.drain(..).for_each(|(_, reply)| {
            drop(reply.send(Err(Failure::new(FailureKind::Unavailable, error.clone()))));
        });
    }

    /// It ended by itself.
    async fn ended(&mut self) {
        let Some(process) = self.process.take() else { return };
        let was_ready = self.dialogue.ready();
        self.dialogue.gone("pi ended in the middle", false);
        let how = process.end().await;
        if self.ready_at.take().is_some_and(|at| at.elapsed() >= self.options.stable) {
            self.backoff = self.options.backoff;
        }
        if !was_ready && std::mem::take(&mut self.resumes) {
            tracing::warn!(target: "pi", "the conversation of before cannot be gone on with ({how}); a new one begins");
            self.kept.set(&self.session, None);
            self.start_at = Some(Instant::now());
            return;
        }
        let log = "the log has what it said (target `pi`)";
        self.failed(format!("pi ended ({how}); {log}"));
    }

    /// Ends it so that another begins: nobody waits for it, or it is stuck.
    async fn again(&mut self, why: Restart) {
        let Some(process) = self.process.take() else { return };
        tracing::info!(target: "pi", "it is started anew: {why:?}");
        self.dialogue.gone("pi did not answer and was started anew", false);
        process.end().await;
        self.ready_at = None;
        match why {
            Restart::Stuck => self.failed("pi did not answer and was ended".to_owned()),
            Restart::Context | Restart::Ghosts => {
                self.start_at = Some(Instant::now());
                self.tell(None);
            }
        }
    }

    /// What was decided is written, told and done.
    async fn after(&mut self) {
        let now = Instant::now();
        if self.takes_commands() {
            for (command, reply) in std::mem::take(&mut self.waiting) {
                self.dialogue.command(command, reply, now);
            }
            if self.ready_at.is_none() {
                self.ready_at = Some(now);
                self.resumes = false;
                // The lane moves only now.
                self.dialogue.time(now, None);
            }
            self.kept.set(&self.session, self.dialogue.kept_as.as_deref());
        }
        let mut unread = false;
        for record in std::mem::take(&mut self.dialogue.out) {
            unread |= self.process.as_ref().is_some_and(|process| !process.send(record));
        }
        if unread {
            self.dialogue.restart = Some(Restart::Stuck);
        }
        if let Some(why) = self.dialogue.restarts() {
            self.again(why).await;
        }
        self.idle.store(self.dialogue.idle(), Ordering::Relaxed);
        if self.process.is_some() {
            self.tell(None);
        }
    }

    fn tell(&self, error: Option<String>) {
        let status = BrainStatus {
            agent: "pi",
            version: self.version.map(|version| version.to_string()),
            running: self.process.is_some(),
            ready: self.process.is_some() && self.dialogue.ready(),
            pid: self.process.as_ref().and_then(Process::pid),
            error,
        };
        self.status.send_if_modified(|known| {
            let changed = *known != status;
            *known = status;
            changed
        });
    }
}

async fn line(process: &mut Option<Process>) -> Option<Line> {
    match process {
        Some(process) => process.next().await,
        None => std::future::pending().await,
    }
}

async fn probed(probing: &mut Option<JoinHandle<Looked>>) -> Looked {
    match probing {
        Some(task) => task.await.unwrap_or_else(|error| ([0; 32], Err(format!("pi could not be looked at: {error}")))),
        None => std::future::pending().await,
    }
}

async fn until(next: Option<Instant>) {
    match next {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
