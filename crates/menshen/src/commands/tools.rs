//! `menshen tools`: allowed tools of foreign servers, and the word of a person when one has changed. Start at
//! [`ToolsCommand::run`]. Invariant: nothing is allowed here that the configuration does not allow.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use decide::text::clean;

use super::say;
use crate::config::{Config, Options, seen, state_folder};

/// A longer description is shown cut.
const WORDS_CHARS_MAX: usize = 4_000;

/// Tools of foreign MCP servers that you allowed: which were seen, and which changed since
#[derive(Args)]
#[command(
    after_help = "Examples:\n  menshen tools list\n  menshen tools accept notes write_note 3fa9c1d2e4b5\n\nThe code stands in the list, beside what the tool says of itself now. A tool is held to what it said of itself when it was first seen as allowed. One that says something else is not run until you accept it."
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
    Accept {
        server: String,
        tool: String,
        /// As the list shows it, for what you read there
        code: String,
    },
}

impl ToolsCommand {
    pub fn run(self, options: &Options) -> Result<ExitCode> {
        let language = Config::load(options).language;
        match self.what {
            What::Accept { server, tool, code } => {
                seen::accept(&state_folder(), &server, &tool, &code, language)?;
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
                for (server, tool, said) in rows {
                    let (server, tool) = (clean(&server, 40), clean(&tool, 80));
                    println!("{server} {tool}");
                    if said.changed() {
                        let changed = say(
                            language,
                            "changed since it was allowed, so it is not run; it says now:",
                            "允许之后有了变化，所以不再执行；现在的说明：",
                        );
                        let accept = say(language, "to allow it so:", "要这样允许：");
                        println!("  {changed}\n  {}", clean(&said.words, WORDS_CHARS_MAX));
                        println!("  {accept} menshen tools accept {server} {tool} {}", said.code());
                    }
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
