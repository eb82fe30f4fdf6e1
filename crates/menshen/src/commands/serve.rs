//! `menshen serve`: the agent running for good. Start at [`ServeCommand::run`]. Invariant: what it accepted
//! is answered, over a stop and a crash too.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Args;
use decide::gate::Language;

use super::approvals::Terminal;
use super::say;
use super::serving::{Place, Serving};
use super::socket;
use crate::config::Options;

/// Run your household's agent for good: schedules, memory, conversations; `menshen chat` joins it.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  menshen serve\n  MENSHEN_LOG=info menshen serve\n\nCtrl-C or SIGTERM ends it; what was accepted and not answered is gone on with at the next start."
)]
pub struct ServeCommand {
    #[command(flatten)]
    place: Place,
}

impl ServeCommand {
    pub async fn run(self, options: &Options) -> Result<ExitCode> {
        let serving = Serving::start(options, &self.place, true).await?;
        let path = socket::path_in(&serving.data);
        let listener = socket::listen(&path, serving.language)?;
        let folder = serving.data.display();
        let english = format!("Serving the household in {folder}; `menshen chat` joins it. Ctrl-C ends.");
        let chinese = format!("正在运行，家庭数据在 {folder}；用 `menshen chat` 加入对话。Ctrl-C 结束。");
        eprintln!("{}", say(serving.language, &english, &chinese));
        let nobody = say(serving.language, "nobody could be asked", "没有人可以询问");
        let approvals = serving.household.desk.approvals().context(nobody)?.clone();
        let terminal = Arc::new(Terminal::new(approvals, &serving.data, serving.language, None));
        let ended = tokio::select! {
            ended = socket::serve(&serving, terminal, listener) => ended,
            ended = asked_to_end(serving.language) => ended,
        };
        serving.close().await;
        // Left lying it would only be in the way; the next start replaces it.
        let _gone = std::fs::remove_file(&path);
        ended?;
        Ok(ExitCode::SUCCESS)
    }
}

async fn asked_to_end(language: Language) -> Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let deaf = say(language, "signals cannot be heard", "无法接收信号");
    let mut terminate = signal(SignalKind::terminate()).context(deaf)?;
    tokio::select! {
        ended = tokio::signal::ctrl_c() => ended.context(deaf),
        _ = terminate.recv() => Ok(()),
    }
}
