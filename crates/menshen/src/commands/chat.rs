//! `menshen chat`: talk with the agent of your household. Start at [`ChatCommand::run`].
//!
//! Invariants: the answer goes to standard output and all else to standard error; Ctrl-C ends the turn
//! that runs and not the program.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use decide::gate::Language;
use kernel::agent::AgentEvent;
use kernel::ports::{NewInput, Principal};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::broadcast::error::RecvError;

use super::say;
use super::serving::{self, Serving};
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

impl ChatCommand {
    pub async fn run(self, options: &Options) -> Result<ExitCode> {
        let serving = Serving::start(options, &self.place).await?;
        let mut screen = Screen::new(self.json);
        let terminal = std::io::stdin().is_terminal();
        let came = if !self.message.is_empty() {
            self.say(&serving, &self.message.join(" "), &mut screen).await?
        } else if terminal {
            self.prompt(&serving, &mut screen).await?;
            Came::Done
        } else {
            self.lines(&serving, &mut screen).await?
        };
        serving.close().await;
        Ok(if came == Came::Done { ExitCode::SUCCESS } else { ExitCode::from(2) })
    }

    /// One message to its answer.
    async fn say(&self, serving: &Serving, text: &str, screen: &mut Screen) -> Result<Came> {
        let agent = &serving.household.agent;
        let mut events = agent.subscribe();
        let principal = Principal { channel: "chat".into(), user_id: user(), group_id: String::new() };
        let input = NewInput {
            session: self.session.clone(),
            principal,
            source: "chat".into(),
            text: text.to_owned(),
            ..NewInput::default()
        };
        let id = agent.put(input).await?;
        let mut refused = false;
        loop {
            // Each branch may be dropped: an event is taken or not, and a Ctrl-C is asked for anew.
            let event = tokio::select! {
                event = events.recv() => event,
                _ = tokio::signal::ctrl_c() => {
                    agent.stop(&self.session);
                    continue;
                }
            };
            let event = match event {
                Ok(event) if event.session() == self.session => event,
                Ok(_) => continue,
                Err(RecvError::Lagged(_)) => {
                    let answered = agent.answer(id).await?;
                    let (session, turn) = (answered.session.clone(), answered.turn.clone());
                    AgentEvent::TurnEnded { session, turn, answered: Box::new(answered) }
                }
                Err(RecvError::Closed) => anyhow::bail!("the agent has ended"),
            };
            if let AgentEvent::ToolEnded { result, .. } = &event {
                refused |= !result.success;
            }
            screen.show(&event)?;
            if let AgentEvent::TurnEnded { answered, .. } = &event
                && answered.inputs.contains(&id)
            {
                let fine = answered.ended == "answered" && !refused && !serving::not_understood(&answered.reply);
                return Ok(if fine { Came::Done } else { Came::NotDone });
            }
        }
    }

    async fn lines(&self, serving: &Serving, screen: &mut Screen) -> Result<Came> {
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        let mut came = Came::Done;
        while let Some(line) = lines.next_line().await.context("standard input cannot be read")? {
            if !line.trim().is_empty() && self.say(serving, &line, screen).await? == Came::NotDone {
                came = Came::NotDone;
            }
        }
        Ok(came)
    }

    async fn prompt(&self, serving: &Serving, screen: &mut Screen) -> Result<()> {
        let hint = say(
            serving.language,
            "Say something; Ctrl-C ends an answer, Ctrl-D or /exit leaves, /help.",
            "说点什么吧；Ctrl-C 停止回答，Ctrl-D 或 /exit 退出，/help 帮助。",
        );
        eprintln!("{hint}");
        let mut editor = rustyline::DefaultEditor::new().context("this terminal cannot be read")?;
        let history = serving.data.join("chat-history.txt");
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
                "/help" | "help" | "帮助" => eprintln!("{}", help(serving.language)),
                _ => {
                    let _kept = editor.add_history_entry(&text);
                    let _kept = editor.append_history(&history);
                    if let Err(error) = self.say(serving, &text, screen).await {
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
