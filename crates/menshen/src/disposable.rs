//! `menshen home`: a disposable real Home Assistant, onboarded and seeded as a family's house.
//!
//! Start at [`HomeCommand::run`], then `up`. Invariant: onboarding, users, registry writes and raw
//! service calls live in this module tree alone, and it touches only a house that it made itself.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use decide::gate::Language;
use serde::Serialize;
use serde_json::json;

use crate::commands::say;

mod config;
mod debian;
mod engine;
mod folders;
mod house;
mod install;
mod launch;
mod machine;
mod onboard;
mod progress;
mod record;
mod reset;
mod restore;
mod run;
mod seed;
mod up;

#[cfg(test)]
mod document;

use folders::Folders;
use progress::Progress;
pub use record::Record;
pub use up::up;

/// A disposable real Home Assistant for trying and testing.
#[derive(Args)]
#[command(about = "A disposable real Home Assistant, seeded as a family's house")]
pub struct HomeCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Install (once), start, onboard and seed a house; prints where it is
    Up(UpArguments),
    /// Say whether the house runs, and what this machine could run
    Status(Which),
    /// Stop the house and remove it; only the install cache stays
    Down(Which),
    /// Put everything that moves back to how it was seeded
    Reset(Which),
}

#[derive(Args, Clone)]
pub struct Which {
    /// Name of the house; several may run side by side
    #[arg(long, default_value = "default", value_parser = folders::name)]
    pub name: String,
    /// One line of JSON on standard output
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Clone)]
pub struct UpArguments {
    #[command(flatten)]
    pub which: Which,
    /// Home Assistant release, or `newest`; without it, the newest that this machine can run as it is
    #[arg(long)]
    pub version: Option<String>,
    /// Port on 127.0.0.1; without it, a free one
    #[arg(long)]
    pub port: Option<u16>,
    /// Language that the house is set to [default: en], and in which its making is told
    // Without a default of clap's: as a word of the person's it would go before their locale.
    #[arg(long, value_parser = ["en", "zh"])]
    pub language: Option<String>,
    /// Further entities without meaning, to measure with
    #[arg(long, default_value_t = 0)]
    pub bulk: u32,
    /// Use Python even where docker or podman answers
    #[arg(long)]
    pub no_engine: bool,
}

impl Default for UpArguments {
    fn default() -> Self {
        Self {
            which: Which { name: "default".into(), json: false },
            version: None,
            port: None,
            language: None,
            bulk: 0,
            no_engine: false,
        }
    }
}

/// The disposable house of the usual name, made if it is not there, started if it does not run.
pub async fn ready(version: Option<String>, language: Language) -> Result<Record> {
    let arguments = UpArguments { version, ..UpArguments::default() };
    let folders = Folders::find()?;
    let fresh = !folders.house(&arguments.which.name).exists();
    let record = up(&folders, &arguments, &Progress::start(language)).await?;
    if fresh {
        evening(&record).await;
    }
    Ok(record)
}

/// Somebody is still reading in bed: what is tried first has something to do. A house that does not
/// take it can be tried all the same.
async fn evening(record: &Record) {
    let body = json!({"domain": "light", "service": "turn_on", "service_data": {"entity_id": "light.bed_light"}});
    if let Ok(mut wire) = record.wire().await {
        _ = wire.command("call_service", body).await;
    }
}

/// Takes that house away.
pub async fn end(language: Language) -> Result<()> {
    up::down(&Folders::find()?, &UpArguments::default().which.name, &Progress::start(language)).await.map(|_| ())
}

/// What is remembered of the house of that name, where there is one.
pub fn made(name: &str) -> Result<Record> {
    Record::read(&Folders::find()?, name)
}

impl HomeCommand {
    pub async fn run(self, language: Language) -> Result<ExitCode> {
        let folders = Folders::find()?;
        let progress = Progress::start(language);
        match self.action {
            Action::Up(arguments) => {
                let record = up(&folders, &arguments, &progress).await?;
                answer(arguments.which.json, &record.answer("up"), &record.summary(language))?;
            }
            Action::Status(which) => return status(&folders, &which, language).await,
            Action::Down(which) => {
                let was_there = up::down(&folders, &which.name, &progress).await?;
                let text = match was_there {
                    true => say(language, "the house is gone", "房屋已移除"),
                    false => say(language, "there was no such house", "没有这所房屋"),
                };
                let body = json!({"ok": true, "action": "down", "name": which.name, "wasThere": was_there});
                answer(which.json, &body, text)?;
            }
            Action::Reset(which) => {
                let record = Record::read(&folders, &which.name)?;
                let moved = reset::reset(&folders, &record).await?;
                let calls = moved.calls;
                let text = match language {
                    Language::English => format!("{calls} calls put the house back as it was seeded"),
                    Language::Chinese => format!("用了 {calls} 次调用，房屋已恢复到布置时的样子"),
                };
                let body = json!({"ok": true, "action": "reset", "name": which.name, "calls": moved.calls, "removed": moved.removed});
                answer(which.json, &body, &text)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Exit code 0 when the house runs, 3 when not.
async fn status(folders: &Folders, which: &Which, language: Language) -> Result<ExitCode> {
    let machine = machine::Machine::look().await;
    let record = Record::read(folders, &which.name).ok();
    let running = match &record {
        Some(record) => launch::alive(folders, record).await,
        None => false,
    };
    let body = json!({
        "ok": true,
        "action": "status",
        "name": which.name,
        "running": running,
        "house": record.as_ref().map(|record| record.answer("status")),
        "machine": machine.answer(),
    });
    let what = match (&record, running) {
        (Some(record), true) => record.summary(language),
        (Some(_), false) => say(
            language,
            "the house is set up but not running; `menshen home up` starts it",
            "房屋已建好但没有运行；用 `menshen home up` 启动",
        )
        .to_owned(),
        (None, _) if folders.house(&which.name).exists() => say(
            language,
            "the house is half made; `menshen home up` makes it anew, `menshen home down` removes it",
            "房屋只建了一半；`menshen home up` 重新建造，`menshen home down` 移除",
        )
        .to_owned(),
        (None, _) => {
            say(language, "no house; `menshen home up` makes one", "没有房屋；`menshen home up` 建一所").to_owned()
        }
    };
    answer(which.json, &body, &format!("{what}\n{}", machine.summary(language)))?;
    Ok(ExitCode::from(if running { 0 } else { 3 }))
}

fn answer(as_json: bool, body: &impl Serialize, text: &str) -> Result<()> {
    let line = if as_json { serde_json::to_string(body)? } else { text.to_owned() };
    writeln!(std::io::stdout(), "{line}").context("nobody reads the answer")
}
