//! `menshen chat`: talk with the agent of your household. Start at [`ChatCommand::run`].
//!
//! Invariants: the answer goes to standard output and all else to standard error; Ctrl-C ends the turn
//! that runs and not the program.

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use decide::gate::Language;
use kernel::agent::{Agent, AgentEvent};
use kernel::ports::{Answered, NewInput, Principal};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::broadcast::error::RecvError;

use super::say;
use super::serving::{self, Serving};
use super::socket::{self, Heard, Joined};
use crate::config::Options;

mod screen;

use screen::Screen;

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

/// What came of one message.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Came {
    Done,
    /// Asked, refused, not understood, stopped.
    NotDone,
}

/// The agent: of this process, or of a `menshen serve` beside it.
enum Talk {
    Own(Box<Serving>),
    Joined(Box<Joined>),
}

impl ChatCommand {
    pub async fn run(self, options: &Options) -> Result<ExitCode> {
        let (language, data) = serving::language_and_folder(options, &self.place)?;
        let mut talk = match Serving::start(options, &self.place).await {
            Ok(serving) => Talk::Own(Box::new(serving)),
            Err(error) if serving::in_use(&error) => {
                Talk::Joined(Box::new(Joined::connect(&socket::path_in(&data)).await?))
            }
            Err(error) => return Err(error),
        };
        let mut screen = Screen::new(self.json);
        let came = if !self.message.is_empty() {
            self.say(&mut talk, &self.message.join(" "), &mut screen).await
        } else if std::io::stdin().is_terminal() {
            self.prompt(&mut talk, language, &data, &mut screen).await.map(|()| Came::Done)
        } else {
            self.lines(&mut talk, &mut screen).await
        };
        if let Talk::Own(serving) = talk {
            serving.close().await;
        }
        Ok(if came? == Came::Done { ExitCode::SUCCESS } else { ExitCode::from(2) })
    }

    /// One message to its answer.
    async fn say(&self, talk: &mut Talk, text: &str, screen: &mut Screen) -> Result<Came> {
        let principal = Principal { channel: "chat".into(), user_id: user(), group_id: String::new() };
        let input = NewInput {
            session: self.session.clone(),
            principal,
            source: "chat".into(),
            text: text.to_owned(),
            ..NewInput::default()
        };
        let mut refused = false;
        let mut see = |event: &AgentEvent, screen: &mut Screen| {
            if let AgentEvent::ToolEnded { result, .. } = event {
                refused |= !result.success;
            }
            screen.show(event)
        };
        let answered = match talk {
            Talk::Own(serving) => self.own(&serving.household.agent, input, |event| see(event, screen)).await?,
            Talk::Joined(joined) => self.joined(joined, input, |event| see(event, screen)).await?,
        };
        let (session, turn) = (answered.session.clone(), answered.turn.clone());
        screen.show(&AgentEvent::TurnEnded { session, turn, answered: Box::new(answered.clone()) })?;
        let fine = answered.ended == "answered" && !refused && !serving::not_understood(&answered.reply);
        Ok(if fine { Came::Done } else { Came::NotDone })
    }

    async fn own(
        &self,
        agent: &Agent,
        input: NewInput,
        mut see: impl FnMut(&AgentEvent) -> Result<()>,
    ) -> Result<Answered> {
        let mut events = agent.subscribe();
        let id = agent.put(input).await?;
        loop {
            // Each branch may be dropped: an event is taken or not, and a Ctrl-C is asked for anew.
            let event = tokio::select! {
                event = events.recv() => event,
                _ = tokio::signal::ctrl_c() => {
                    agent.stop(&self.session);
                    continue;
                }
            };
            match event {
                Ok(AgentEvent::TurnEnded { answered, .. }) if answered.inputs.contains(&id) => return Ok(*answered),
                Ok(event) if event.session() == self.session => see(&event)?,
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => return Ok(agent.answer(id).await?),
                Err(RecvError::Closed) => anyhow::bail!("the agent has ended"),
            }
        }
    }

    async fn joined(
        &self,
        joined: &mut Joined,
        input: NewInput,
        mut see: impl FnMut(&AgentEvent) -> Result<()>,
    ) -> Result<Answered> {
        joined.say(input).await?;
        loop {
            let heard = tokio::select! {
                heard = joined.next() => heard?,
                _ = tokio::signal::ctrl_c() => {
                    joined.stop(&self.session).await?;
                    continue;
                }
            };
            match heard {
                Heard::Event(event) => see(&event)?,
                Heard::Answered(answered) => return Ok(answered),
            }
        }
    }

    async fn lines(&self, talk: &mut Talk, screen: &mut Screen) -> Result<Came> {
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        let mut came = Came::Done;
        while let Some(line) = lines.next_line().await.context("standard input cannot be read")? {
            if !line.trim().is_empty() && self.say(talk, &line, screen).await? == Came::NotDone {
                came = Came::NotDone;
            }
        }
        Ok(came)
    }

    async fn prompt(&self, talk: &mut Talk, language: Language, data: &Path, screen: &mut Screen) -> Result<()> {
        let hint = say(
            language,
            "Say something; Ctrl-C ends an answer, Ctrl-D or /exit leaves, /help.",
            "说点什么吧；Ctrl-C 停止回答，Ctrl-D 或 /exit 退出，/help 帮助。",
        );
        eprintln!("{hint}");
        let mut editor = rustyline::DefaultEditor::new().context("this terminal cannot be read")?;
        let history = data.join("chat-history.txt");
        // The first time there is none.
        let _none = editor.load_history(&history);
        loop {
            let (back, line) = tokio::task::spawn_blocking(move || {
                let line = editor.readline("> ");
                (editor, line)
            })
            .await
            .context("the terminal was lost")?;
            editor = back;
            let text = match line {
                Ok(line) => line,
                // At an empty prompt there is nothing to stop.
                Err(rustyline::error::ReadlineError::Interrupted) => continue,
                Err(rustyline::error::ReadlineError::Eof) => break,
                Err(error) => return Err(error).context("this terminal cannot be read"),
            };
            match text.trim() {
                "" => continue,
                "/exit" | "/quit" | "exit" | "退出" => break,
                "/help" | "help" | "帮助" => eprintln!("{}", help(language)),
                _ => {
                    let _kept = editor.add_history_entry(&text);
                    let _kept = editor.append_history(&history);
                    if let Err(error) = self.say(talk, &text, screen).await {
                        eprintln!("menshen: {error:#}");
                    }
                }
            }
        }
        Ok(())
    }
}

fn help(language: Language) -> &'static str {
    say(
        language,
        "Speak as you would at home: \"good night\", \"turn on the kitchen lights\", \"undo\".\n/exit leaves; the conversation goes on next time (--session for another).",
        "像在家里一样说话：“晚安”、“打开厨房的灯”、“撤销”。\n/exit 退出；下次会接着聊（--session 换一个会话）。",
    )
}

fn user() -> String {
    std::env::var("USER").unwrap_or_default()
}
