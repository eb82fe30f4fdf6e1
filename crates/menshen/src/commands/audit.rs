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
                if checked.torn > 0 {
                    let words = say(
                        config.language,
                        "torn by a crash, each told by the line after it",
                        "条因崩溃而残缺，均由下一条说明",
                    );
                    println!("{} {words}", checked.torn);
                }
                if checked.unfinished {
                    println!(
                        "{}",
                        say(
                            config.language,
                            "the last line has no end: a crash or a full disk; the next entry will say so",
                            "最后一行不完整：崩溃或磁盘已满；下一条记录会说明",
                        )
                    );
                }
            }
            Action::Show { file, last } => {
                let path = file.map_or_else(configured, Ok)?;
                let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
                let text = String::from_utf8_lossy(&bytes);
                let lines: Vec<&str> = text.lines().collect();
                lines[lines.len().saturating_sub(last)..].iter().for_each(|line| println!("{}", harmless(line)));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A line as a terminal may show it: a model wrote parts of it, and JSON leaves some characters as
/// they are that move the cursor or turn the text around. They are shown by their numbers, as JSON
/// has them, so that the line stays the same JSON.
pub fn harmless(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    for character in line.chars() {
        // What `clean` would take out of a text.
        if character != ' ' && decide::text::clean(&format!("x{character}x"), 8).chars().count() < 3 {
            let mut units = [0; 2];
            shown.extend(character.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_model_wrote_reaches_no_terminal_as_a_command() {
        let line = serde_json::json!({"a": "x\u{9b}31m\u{202e}y\u{1b}[2J\u{e0041} 门 a b"}).to_string();
        let shown = harmless(&line);
        assert!(shown.chars().all(|c| !c.is_control() && c != '\u{202e}' && c != '\u{e0041}'), "{shown}");
        assert!(shown.contains("门 a b"), "{shown}");
        let (before, after): (serde_json::Value, serde_json::Value) =
            (serde_json::from_str(&line).unwrap(), serde_json::from_str(&shown).unwrap());
        assert_eq!(before, after);
    }
}
