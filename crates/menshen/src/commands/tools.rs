//! `menshen tools`: allowed tools of foreign servers, and the word of a person when one has changed. Start at
//! [`ToolsCommand::run`]. Invariant: nothing is allowed here that the configuration does not allow.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};

use super::say;
use crate::config::{Config, Options, seen, state_folder};

/// Tools of foreign MCP servers that you allowed: which were seen, and which changed since
#[derive(Args)]
#[command(
    after_help = "Examples:\n  menshen tools list\n  menshen tools accept notes write_note\n\nA tool is held to what it said of itself when it was first seen as allowed. One that says something else is not run until you accept it."
)]
pub struct ToolsCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Allowed tools that were seen
    List,
    /// You looked at what it says of itself now, and allow it again
    Accept { server: String, tool: String },
}

impl ToolsCommand {
    pub fn run(self, options: &Options) -> Result<ExitCode> {
        let language = Config::load(options).language;
        match self.what {
            What::Accept { server, tool } => {
                if !seen::accept(&state_folder(), &server, &tool)? {
                    bail!(
                        "{}",
                        say(
                            language,
                            "no such tool was allowed and seen yet: `menshen tools list` shows those that were",
                            "还没有见过这个已允许的工具：`menshen tools list` 列出见过的"
                        )
                    );
                }
                println!("{}", say(language, "Allowed as it is now.", "已按现在的样子允许。"));
            }
            What::List => {
                let rows = seen::list(&state_folder())?;
                if rows.is_empty() {
                    println!(
                        "{}",
                        say(language, "No foreign tool was allowed and seen yet.", "还没有见过任何已允许的外来工具。")
                    );
                }
                for (server, tool, changed) in rows {
                    let changed = if changed {
                        say(language, "  changed since it was allowed", "  允许之后有了变化")
                    } else {
                        ""
                    };
                    println!("{server} {tool}{changed}");
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
