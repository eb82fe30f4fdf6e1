//! One conversation: its turns one after the other. Start at [`Session::run`]. Invariant: whatever comes
//! in is answered in the order in which it came, interrupts before the rest.

use std::collections::VecDeque;
use std::time::Duration;

use sdk::InjectionKind;
use tokio::sync::{mpsc, oneshot};

use super::keeping::{Whose, not_written};
use super::{Agent, IDLE};
use crate::ports::Input;
use crate::turn::{Effect, Event, Turn};

pub(super) enum Command {
    Input(Box<Input>),
    /// A turn that a crash cut off.
    Resume(Box<Turn>),
    Stop,
    /// This input is taken back, if it waits; the answer says whether it did.
    Withdraw(i64, oneshot::Sender<Option<Box<Input>>>),
}

pub(super) struct Session {
    pub agent: Agent,
    pub name: String,
    pub commands: mpsc::Receiver<Command>,
    /// Turns that a crash cut off.
    pub cut_off: VecDeque<Box<Turn>>,
    /// What came in during a turn and waits for its own.
    pub waiting: VecDeque<Box<Input>>,
    /// Steps of the turn that runs which could not be written down yet.
    pub unwritten: VecDeque<serde_json::Value>,
    /// How many messages the history had when this turn read it, and their tokens.
    pub history: Option<(usize, u64)>,
}

impl Session {
    pub fn new(agent: Agent, name: String, commands: mpsc::Receiver<Command>) -> Self {
        let (cut_off, waiting, unwritten, history) = Default::default();
        Self { agent, name, commands, cut_off, waiting, unwritten, history }
    }

    pub async fn run(mut self) {
        loop {
            self.take_all();
            if let Some(turn) = self.cut_off.pop_front() {
                self.resume(*turn).await;
                continue;
            }
            let next = self.waiting.iter().position(|input| input.new.kind == InjectionKind::Interrupt);
            if let Some(input) = next.and_then(|at| self.waiting.remove(at)).or_else(|| self.waiting.pop_front()) {
                self.begin(*input).await;
                continue;
            }
            let idle = if self.agent.crowded() { Duration::ZERO } else { IDLE };
            match tokio::time::timeout(idle, self.commands.recv()).await {
                Ok(Some(command)) => self.take(command),
                Ok(None) => return,
                Err(_) if self.agent.leave(&self.name, &self.commands) => return,
                Err(_) => {}
            }
        }
    }

    /// All that came in so far, in its order.
    fn take_all(&mut self) {
        while let Ok(command) = self.commands.try_recv() {
            self.take(command);
        }
        self.agent.later(&self.name).into_iter().for_each(|command| self.take(command));
    }

    pub fn take(&mut self, command: Command) {
        match command {
            Command::Withdraw(id, told) => {
                let at = self.waiting.iter().position(|input| input.id == id);
                let input = at.and_then(|at| self.waiting.remove(at));
                // Nobody waits for the answer any more: it is not taken back.
                if let Err(Some(input)) = told.send(input) {
                    self.waiting.push_front(input);
                }
            }
            Command::Input(input) => self.waiting.push_back(input),
            Command::Resume(turn) => self.cut_off.push_back(turn),
            // Nothing runs that could be stopped.
            Command::Stop => {}
        }
    }

    async fn resume(&mut self, mut turn: Turn) {
        self.unwritten.clear();
        self.history = None;
        // Written down as well: after the next crash the turn must be told as it went on.
        let effects = self.claimed(&mut turn, Event::Resumed).await;
        self.turn(turn, effects).await;
    }

    async fn begin(&mut self, input: Input) {
        self.unwritten.clear();
        self.history = None;
        let inner = self.agent.0.clone();
        let now = inner.ports.clock.now_ms();
        let day = 24 * 3600 * 1000;
        // A budget that cannot be read is not a reason to fall silent: the turn's own limits hold.
        let (day_tokens, day_cost_usd_micros) = inner.ports.turns.spent_since(now - day).await.unwrap_or_default();
        let event = Event::Began {
            turn: format!("t{}", input.id),
            language: language(&input.new.text).to_owned(),
            input: Box::new(input),
            limits: **inner.limits.load(),
            day_tokens,
            day_cost_usd_micros,
        };
        let mut turn = Turn::default();
        let effects = self.claimed(&mut turn, event).await;
        self.turn(turn, effects).await;
    }

    /// A turn that begins or goes on is written down before it does anything, however long that takes: one that
    /// ends the program is counted, and one that nobody can write down spends nothing and moves nothing.
    async fn claimed(&mut self, turn: &mut Turn, event: Event) -> Vec<Effect> {
        let whose = match &event {
            Event::Began { turn, input, language, .. } => {
                Whose { turn: turn.clone(), inputs: vec![input.id], chinese: language == "zh" }
            }
            _ => Whose { turn: turn.id.clone(), inputs: turn.inputs.clone(), chinese: turn.chinese() },
        };
        let (log, session) = (self.agent.0.ports.turns.clone(), self.name.clone());
        let value = serde_json::to_value(&event).unwrap_or_default();
        // Going on is counted for good; a beginning that a power cut takes away is made again.
        let sync = event == Event::Resumed;
        let kept = self
            .until_kept(&whose, || {
                let (log, turn, session, value) = (log.clone(), whose.turn.clone(), session.clone(), value.clone());
                async move { log.append(&turn, &session, value, sync).await }
            })
            .await;
        if let Err(failure) = kept {
            self.unwritten.push_back(value);
            self.problem(turn, "store", None, not_written(whose.chinese, &failure));
        }
        turn.apply(event, self.agent.0.ports.clock.now_ms())
    }
}

/// Chinese where there is a Chinese character in it.
pub(crate) fn language(text: &str) -> &'static str {
    if text.chars().any(|letter| matches!(letter as u32, 0x3400..=0x9FFF | 0xF900..=0xFAFF)) { "zh" } else { "en" }
}
