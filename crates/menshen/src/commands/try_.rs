//! `menshen try`: type a sentence, see what was understood, what moved, what was refused and why.
//! Start at [`TryCommand::run`]. Invariant: without an address given it makes or uses a disposable
//! house, never the one that is configured.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use decide::gate::{Language, Origin};
use decide::house::{EntityId, House};
use home::{Connection, Settings};
use mcp::Desk;
use tokio::io::{AsyncBufReadExt, BufReader};

use super::granted::Granted;
use super::say;
use crate::config::{Config, Options};
use crate::disposable;
use menshen::understand::{self, Answer};

mod examples;
mod paper;

use paper::Paper;

/// Type 晚安, "turn on the kitchen lights", 解锁前门 and see what happens; no key, no account.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  menshen try\n  menshen try \"晚安\" \"unlock the front door\"\n  echo 关闭所有的灯 | menshen try --json\n  menshen try --url http://homeassistant.local:8123     (your own house; HOME_ASSISTANT_TOKEN)\n\nExit codes with sentences given: 0 all done or answered, 3 something was refused, not understood or not done, 1 error."
)]
pub struct TryCommand {
    /// Sentences; without any, a prompt
    sentences: Vec<String>,
    /// One line of JSON for each sentence
    #[arg(long)]
    json: bool,
    /// Do not say at the end that the disposable house stays up
    #[arg(long, conflicts_with = "down")]
    keep: bool,
    /// Take the disposable house down at the end
    #[arg(long)]
    down: bool,
    /// Release of the disposable house
    #[arg(long, value_name = "RELEASE")]
    release: Option<String>,
}

/// The house that is tried, and whether it is a disposable one.
struct Place {
    settings: Settings,
    disposable: bool,
    notes: Vec<String>,
}

impl TryCommand {
    pub async fn run(self, options: &Options) -> Result<ExitCode> {
        let config = Config::load(options);
        let place = match &options.url {
            Some(_) => own(&config),
            None => self.made(config.language).await?,
        };
        let connection = Connection::start(place.settings.clone());
        // Nobody allowed anything in a disposable house.
        let granted = (!place.disposable).then(|| Granted::new(&config, &connection));
        let policy = granted.as_ref().map_or_else(mcp::SharedPolicy::default, |granted| granted.policy.clone());
        let mut desk =
            Desk::new(connection.clone(), policy, config.language, env!("CARGO_PKG_VERSION"), place.notes.into());
        desk.origin = Origin::Person;
        let house = match connection.ready(std::time::Duration::from_secs(super::READY_SECS)).await {
            Ok(house) => house,
            Err(error) => bail!("{}", error.message(config.language)),
        };
        let paper = Paper::new(self.json, place.disposable);
        if !place.disposable && !self.json && !self.sentences.is_empty() {
            eprintln!("{}", say(config.language, "This moves YOUR OWN house.", "这会动你自己的家。"));
        }
        let all_well = if self.sentences.is_empty() {
            self.converse(&desk, &house, &paper).await?
        } else {
            self.each(&desk, &paper).await?
        };
        connection.close().await;
        if place.disposable {
            self.leave(config.language).await?;
        }
        let scripted = !self.sentences.is_empty() || !std::io::stdin().is_terminal();
        Ok(if all_well || !scripted { ExitCode::SUCCESS } else { ExitCode::from(3) })
    }

    /// The disposable house, made if it is not there.
    async fn made(&self, language: Language) -> Result<Place> {
        let settings = disposable::ready(self.release.clone(), language).await?.settings();
        Ok(Place { settings, disposable: true, notes: vec![] })
    }

    async fn each(&self, desk: &Desk, paper: &Paper) -> Result<bool> {
        let mut all_well = true;
        for sentence in &self.sentences {
            paper.said(sentence)?;
            all_well &= answered(desk, sentence, paper).await?.ok;
        }
        Ok(all_well)
    }

    async fn converse(&self, desk: &Desk, house: &House, paper: &Paper) -> Result<bool> {
        if !self.json {
            paper.greet(desk, house)?;
        }
        if std::io::stdin().is_terminal() { prompt(desk, house, paper).await } else { lines(desk, paper).await }
    }

    async fn leave(&self, language: Language) -> Result<()> {
        if self.down {
            return disposable::end(language).await;
        }
        if !self.keep && !self.json {
            let text = say(
                language,
                "The house stays up, the next `menshen try` starts at once; `menshen home down` takes it away.",
                "房子继续运行，下次 `menshen try` 立即可用；用 `menshen home down` 移除。",
            );
            eprintln!("{text}");
        }
        Ok(())
    }
}

fn own(config: &Config) -> Place {
    Place { settings: config.settings.clone(), disposable: false, notes: config.broken.iter().cloned().collect() }
}

async fn answered(desk: &Desk, sentence: &str, paper: &Paper) -> Result<Answer> {
    let answer = understand::answer(desk, sentence, language_of(sentence, desk.language)).await;
    let house = desk.connection.house();
    let language = language_of(sentence, desk.language);
    paper.answer(&answer, language, &|id| name_in(language, desk, &house, id))?;
    Ok(answer)
}

/// The name of a thing in this language, else the one it is shown by; none where it has none.
fn name_in(language: Language, desk: &Desk, house: &House, id: &EntityId) -> Option<String> {
    let view = desk.view(house);
    let entity = house.entity(id.as_str()).filter(|entity| view.shows(id, entity))?;
    let shown = view.name(id);
    let mut names = std::iter::once(shown.as_str()).chain(entity.info.names.iter().map(|name| &**name));
    let name = names.find(|name| language_of(name, Language::English) == language).unwrap_or(&shown);
    Some(decide::text::clean(name, decide::text::NAME_CHARS_MAX)).filter(|name| name != id.as_str())
}

/// The language of a sentence: Chinese as soon as there is a Chinese character in it.
fn language_of(sentence: &str, otherwise: Language) -> Language {
    let han = |c: char| matches!(c as u32, 0x3400..=0x4DBF | 0x4E00..=0x9FFF);
    match sentence {
        text if text.chars().any(han) => Language::Chinese,
        text if text.chars().any(|c| c.is_ascii_alphabetic()) => Language::English,
        _ => otherwise,
    }
}

/// At a terminal: history and editing; `exit`, Ctrl-C and Ctrl-D leave.
async fn prompt(desk: &Desk, house: &House, paper: &Paper) -> Result<bool> {
    let mut editor = rustyline::DefaultEditor::new().context("this terminal cannot be read")?;
    loop {
        // Reading blocks, so it has a thread of its own and gives the editor back.
        let (back, line) = tokio::task::spawn_blocking(move || {
            let line = editor.readline("> ");
            (editor, line)
        })
        .await
        .context("the terminal was lost")?;
        editor = back;
        let sentence = match line {
            Ok(line) => line,
            Err(rustyline::error::ReadlineError::Interrupted | rustyline::error::ReadlineError::Eof) => {
                return Ok(true);
            }
            Err(error) => return Err(error).context("this terminal cannot be read"),
        };
        if sentence.trim().is_empty() {
            continue;
        }
        let _kept = editor.add_history_entry(&sentence);
        match sentence.trim().to_lowercase().as_str() {
            "exit" | "quit" | "退出" => return Ok(true),
            "help" | "?" | "？" | "帮助" if !paper.json => {
                paper.greet(desk, house)?;
                continue;
            }
            _ => {}
        }
        answered(desk, &sentence, paper).await?;
    }
}

/// A sentence a line from a file or a pipe.
async fn lines(desk: &Desk, paper: &Paper) -> Result<bool> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut all_well = true;
    loop {
        let line = tokio::select! {
            line = lines.next_line() => line.context("standard input cannot be read")?,
            _ = tokio::signal::ctrl_c() => None,
        };
        let Some(sentence) = line else { return Ok(all_well) };
        if sentence.trim().is_empty() {
            continue;
        }
        paper.said(&sentence)?;
        all_well &= answered(desk, &sentence, paper).await?.ok;
    }
}

/// Standard output, or why nobody reads it.
fn put(text: &str) -> Result<()> {
    writeln!(std::io::stdout(), "{text}").context("nobody reads the answer")
}
