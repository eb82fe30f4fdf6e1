//! `menshen chat`: talk with the agent of your household. Start at [`ChatCommand::run`].
//!
//! Invariants: the answer goes to standard output and all else to standard error; Ctrl-C ends the turn
//! that runs and not the program.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use kernel::agent::AgentEvent;
use kernel::ports::{NewInput, Principal};
use menshen::agent::not_done;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::listening::CHANNEL;
use super::serving;
use crate::config::Options;

mod came;
mod prompt;
mod screen;
mod talk;

use came::{Calls, Came};
use prompt::Prompt;
use screen::Screen;
use talk::Talk;

/// Talk with your household's agent: it remembers, sets timers, and runs the house through the gate.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  menshen chat\n  menshen chat \"晚安\"\n  menshen chat --session kitchen \"turn on the lights\"\n  menshen chat --disposable \"good night\"     (a house that is made for trying)\n\nCtrl-C ends the answer that is being given; Ctrl-D leaves. Without a language model it understands your macros and plain commands.\nExit codes with a message given: 0 done, 2 something was asked, refused or not done, 1 error."
)]
pub struct ChatCommand {
    /// What to say; without it, a prompt
    message: Vec<String>,
    /// The conversation to go on with
    #[arg(long, default_value = "main", value_name = "NAME")]
    session: String,
    /// One line of JSON for each event
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: serving::Place,
}

/// Where it was asked to talk.
#[derive(Clone, Copy)]
struct Asked<'a> {
    options: &'a Options,
}

impl Asked<'_> {
    /// The conversation, with what nobody has seen of it shown first.
    async fn open(self, command: &ChatCommand, screen: &mut Screen) -> Result<Talk> {
        let (talk, unseen) = Talk::open(self.options, &command.place, &command.session).await?;
        for reply in unseen {
            screen.missed(&reply)?;
            talk.seen(&reply.turn).await;
        }
        Ok(talk)
    }
}

impl ChatCommand {
    pub async fn run(self, options: &Options) -> Result<ExitCode> {
        let (language, data) = serving::language_and_folder(options, &self.place)?;
        let asked = Asked { options };
        let mut screen = Screen::new(self.json, self.message.is_empty());
        let mut talk = asked.open(&self, &mut screen).await?;
        if self.message.is_empty() && std::io::stdin().is_terminal() {
            let prompt = Prompt { command: &self, asked, language };
            prompt.run(Some(talk), &data.join("chat-history.txt"), &mut screen).await?;
            return Ok(ExitCode::SUCCESS);
        }
        let came = if self.message.is_empty() {
            self.lines(&mut talk, &mut screen).await
        } else {
            self.say(&mut talk, &self.message.join(" "), &mut screen).await
        };
        talk.close().await;
        Ok(if came? == Came::Done { ExitCode::SUCCESS } else { ExitCode::from(2) })
    }

    /// One message to its answer.
    async fn say(&self, talk: &mut Talk, text: &str, screen: &mut Screen) -> Result<Came> {
        let principal = Principal { channel: CHANNEL.into(), user_id: user(), group_id: String::new() };
        let input = NewInput { principal, source: CHANNEL.into(), text: text.to_owned(), ..NewInput::default() };
        // Listened to from here on, so that none is lost between two events, and none from before counts.
        let mut interrupts = interrupts()?;
        let id = talk.put(input).await?;
        // Another turn of this conversation may come first: a timer, or what a crash cut off.
        let mut mine = None;
        let mut calls = Calls::default();
        loop {
            // Either may be dropped: an event is taken or not, and so is a Ctrl-C.
            let event = tokio::select! {
                event = talk.next() => event?,
                _ = interrupts.recv() => {
                    talk.stop().await?;
                    continue;
                }
            };
            match &event {
                AgentEvent::TurnStarted { turn, inputs, .. } if inputs.contains(&id) => mine = Some(turn.clone()),
                AgentEvent::ToolEnded { turn, result, .. } if mine.as_ref() == Some(turn) => calls.note(result),
                AgentEvent::TurnEnded { turn, answered, .. } if answered.inputs.contains(&id) => {
                    screen.show(&event)?;
                    talk.seen(turn).await;
                    return Ok(calls.came(answered.ended == "answered" && !not_done(&answered.reply)));
                }
                AgentEvent::TurnEnded { turn, answered, .. } => {
                    screen.between(answered)?;
                    talk.seen(turn).await;
                    continue;
                }
                // The answer comes by itself some time, at the prompt or when somebody talks here again.
                AgentEvent::Postponed { inputs, .. } if inputs.contains(&id) => {
                    screen.show(&event)?;
                    return Ok(Came::NotDone);
                }
                _ => {}
            }
            if mine.as_deref() == Some(event.turn()) {
                screen.show(&event)?;
            }
        }
    }

    async fn lines(&self, talk: &mut Talk, screen: &mut Screen) -> Result<Came> {
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        let mut came = Came::Done;
        let mut interrupts = interrupts()?;
        loop {
            // Between two messages there is no turn to end: it ends the program.
            let line = tokio::select! {
                line = lines.next_line() => line.context("standard input cannot be read")?,
                event = talk.next() => {
                    if let AgentEvent::TurnEnded { turn, answered, .. } = event? {
                        screen.between(&answered)?;
                        talk.seen(&turn).await;
                    }
                    continue;
                }
                _ = interrupts.recv() => return Ok(Came::NotDone),
            };
            let Some(line) = line else { return Ok(came) };
            if !line.trim().is_empty() {
                if self.say(talk, &line, screen).await? == Came::NotDone {
                    came = Came::NotDone;
                }
                // Those that ended a turn are used up.
                interrupts = self::interrupts()?;
            }
        }
    }
}

fn interrupts() -> Result<Signal> {
    signal(SignalKind::interrupt()).context("Ctrl-C cannot be heard")
}

fn user() -> String {
    std::env::var("USER").unwrap_or_default()
}
