//! The prompt of `menshen chat`: a line is read while the conversation goes on. Start at [`Prompt::run`].
//!
//! Invariants: what comes up by itself (a timer) is shown at once, above what is being typed; a service
//! that ends does not end the prompt.

use std::path::Path;

use anyhow::{Context, Result};
use decide::gate::Language;
use kernel::agent::AgentEvent;
use rustyline::error::ReadlineError;
use rustyline::{DefaultEditor, ExternalPrinter};

use super::super::say;
use super::screen::Screen;
use super::talk::Talk;
use super::{Asked, ChatCommand};

pub struct Prompt<'a> {
    pub command: &'a ChatCommand,
    pub asked: Asked<'a>,
    pub language: Language,
}

impl Prompt<'_> {
    pub async fn run(&self, mut talk: Option<Talk>, history: &Path, screen: &mut Screen) -> Result<()> {
        let hint = say(
            self.language,
            "Say something; Ctrl-C ends an answer, Ctrl-D or /exit leaves, /help.",
            "说点什么吧；Ctrl-C 停止回答，Ctrl-D 或 /exit 退出，/help 帮助。",
        );
        eprintln!("{hint}");
        let mut editor = DefaultEditor::new().context("this terminal cannot be read")?;
        let mut printer = editor.create_external_printer().context("this terminal cannot be written")?;
        // The first time there is none.
        let _none = editor.load_history(history);
        let ended = loop {
            let (back, line) = match line(editor, &mut talk, &mut printer, screen).await {
                Ok(read) => read,
                Err(error) => break Err(error),
            };
            editor = back;
            let text = match line {
                Ok(line) => line,
                // At an empty prompt there is nothing to stop.
                Err(ReadlineError::Interrupted) => continue,
                Err(ReadlineError::Eof) => break Ok(()),
                Err(error) => break Err(error).context("this terminal cannot be read"),
            };
            match text.trim() {
                "" => continue,
                "/exit" | "/quit" | "exit" | "退出" => break Ok(()),
                "/help" | "help" | "帮助" => eprintln!("{}", help(self.language)),
                _ => {
                    let _kept = editor.add_history_entry(&text);
                    let _kept = editor.append_history(history);
                    if let Err(error) = self.said(&mut talk, &text, screen).await {
                        eprintln!("menshen: {error:#}");
                    }
                }
            }
        };
        if let Some(talk) = talk {
            talk.close().await;
        }
        ended
    }

    /// A service that has ended is joined again, or the agent started here.
    async fn said(&self, talk: &mut Option<Talk>, text: &str, screen: &mut Screen) -> Result<()> {
        let talking = match talk {
            Some(talking) => talking,
            None => {
                let opened = self.asked.open(self.command, screen).await?;
                talk.insert(opened)
            }
        };
        let said = self.command.say(talking, text, screen).await;
        if said.is_err() && matches!(talking, Talk::Joined(_)) {
            *talk = None;
        }
        said.map(drop)
    }
}

type Read = (DefaultEditor, rustyline::Result<String>);

/// One line; what happens meanwhile is printed above it.
async fn line(
    mut editor: DefaultEditor,
    talk: &mut Option<Talk>,
    printer: &mut (impl ExternalPrinter + Send),
    screen: &Screen,
) -> Result<Read> {
    let mut reading = tokio::task::spawn_blocking(move || {
        let line = editor.readline("> ");
        (editor, line)
    });
    loop {
        let Some(talking) = talk else {
            return reading.await.context("the terminal was lost");
        };
        // Either may be dropped: the line is read on elsewhere, and an event is taken or not.
        let event = tokio::select! {
            read = &mut reading => return read.context("the terminal was lost"),
            event = talking.next() => event,
        };
        match event {
            Ok(AgentEvent::TurnEnded { turn, answered, .. }) => {
                let _unseen = printer.print(screen.by_itself(&answered)?);
                talking.seen(&turn).await;
            }
            Ok(_) => {}
            Err(error) => {
                let _unseen = printer.print(format!("menshen: {error:#}\n"));
                *talk = None;
            }
        }
    }
}

fn help(language: Language) -> &'static str {
    say(
        language,
        "Speak as you would at home: \"good night\", \"turn on the kitchen lights\", \"undo\".\nCtrl-C ends an answer. /exit leaves; the conversation goes on next time (--session for another).",
        "像在家里一样说话：“晚安”、“打开厨房的灯”、“撤销”。\nCtrl-C 停止回答。/exit 退出；下次会接着聊（--session 换一个会话）。",
    )
}
