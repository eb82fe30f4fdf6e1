//! `menshen audit`: read the append-only record and check its chain. Start at [`AuditCommand::run`].

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};

use super::say;
use crate::config::{Config, Options};

/// What was asked of the house, what was judged, what happened.
#[derive(Args)]
pub struct AuditCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Check that no line was changed, added or taken away
    Verify { file: Option<PathBuf> },
    /// Print the last entries
    Show {
        file: Option<PathBuf>,
        /// How many
        #[arg(long, default_value_t = 20)]
        last: usize,
    },
}

impl AuditCommand {
    pub fn run(self, options: &Options) -> Result<ExitCode> {
        let config = Config::load(options);
        let configured = || config.settings.audit_path.clone().context("no audit file is configured");
        match self.action {
            Action::Verify { file } => {
                let path = file.map_or_else(configured, Ok)?;
                let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
                let checked = home::audit::verify(&bytes, None);
                if !checked.flaws.is_empty() {
                    println!("{}: {}", path.display(), serde_json::to_string(&checked)?);
                    return Ok(ExitCode::from(3));
                }
                let words = say(config.language, "entries, chain whole", "条记录，链条完整");
                println!("{}: {} {words}", path.display(), checked.lines);
            }
            Action::Show { file, last } => {
                let path = file.map_or_else(configured, Ok)?;
                let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
                let lines: Vec<&str> = text.lines().collect();
                lines[lines.len().saturating_sub(last)..].iter().for_each(|line| println!("{line}"));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
