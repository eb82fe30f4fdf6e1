//! One conversation: its turns one after the other. Start at [`Session::run`]. Invariant: whatever comes
//! in is answered in the order in which it came, interrupts before the rest.

use std::collections::VecDeque;

use sdk::InjectionKind;
use tokio::sync::mpsc;

use super::{Agent, IDLE};
use crate::ports::Input;
use crate::turn::{Effect, Event, Turn};

pub(super) enum Command {
    Input(Box<Input>),
    /// A turn that a crash cut off.
    Resume(Box<Turn>),
    Stop,
}

pub(super) struct Session {
    pub agent: Agent,
    pub name: String,
    pub commands: mpsc::Receiver<Command>,
    /// What came in during a turn and waits for its own.
    pub waiting: VecDeque<Box<Input>>,
}

impl Session {
    pub fn new(agent: Agent, name: String, commands: mpsc::Receiver<Command>) -> Self {
        Self { agent, name, commands, waiting: VecDeque::new() }
    }

    pub async fn run(mut self) {
        loop {
            let next = self.waiting.iter().position(|input| input.new.kind == InjectionKind::Interrupt);
            if let Some(input) = next.and_then(|at| self.waiting.remove(at)).or_else(|| self.waiting.pop_front()) {
                self.begin(*input).await;
                continue;
            }
            match tokio::time::timeout(IDLE, self.commands.recv()).await {
                Ok(Some(Command::Input(input))) => self.waiting.push_back(input),
                Ok(Some(Command::Resume(mut turn))) => {
                    let effects = turn.resume();
                    self.turn(*turn, effects).await;
                }
                // Nothing runs that could be stopped.
                Ok(Some(Command::Stop)) => {}
                Ok(None) => return,
                Err(_) if self.agent.leave(&self.name, &self.commands) => return,
                Err(_) => {}
            }
        }
    }

    async fn begin(&mut self, input: Input) {
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
        let effects: Vec<Effect> = self.happened(&mut turn, event, false).await;
        self.turn(turn, effects).await;
    }
}

/// Chinese where there is a Chinese character in it.
pub(crate) fn language(text: &str) -> &'static str {
    if text.chars().any(|letter| matches!(letter as u32, 0x3400..=0x9FFF | 0xF900..=0xFAFF)) { "zh" } else { "en" }
}
