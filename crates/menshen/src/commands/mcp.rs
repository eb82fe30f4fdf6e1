//! `menshen mcp`: the six tools over stdio. Start at [`McpCommand::run`]. Invariant: nothing but the
//! protocol goes to standard output, and end of input ends the program.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use home::Connection;

use crate::config::{Config, Options};

/// Serve the six tools to an MCP client over standard input and output.
#[derive(Args)]
#[command(
    after_help = "Put this into your client:\n  {\"mcpServers\": {\"home\": {\"command\": \"menshen\", \"args\": [\"mcp\"],\n    \"env\": {\"HOME_ASSISTANT_URL\": \"http://homeassistant.local:8123\", \"HOME_ASSISTANT_TOKEN\": \"…\"}}}}"
)]
pub struct McpCommand {
    /// Reads only: every write is refused
    #[arg(long)]
    read_only: bool,
}

impl McpCommand {
    pub async fn run(self, options: &Options) -> Result<ExitCode> {
        let mut config = Config::load(options);
        config.policy.scope.read_only |= self.read_only;
        if let Some(error) = &config.broken {
            eprintln!("menshen: {error}; only moves toward safety pass until this is mended");
        }
        let granted: Vec<_> = config.policy.grants.keys().map(ToString::to_string).collect();
        eprintln!(
            "menshen {}: 6 tools, house {}{}",
            env!("CARGO_PKG_VERSION"),
            config.settings.url.as_deref().unwrap_or("not set (HOME_ASSISTANT_URL)"),
            if granted.is_empty() { String::new() } else { format!(", granted: {}", granted.join(", ")) },
        );
        let connection = Connection::start(config.settings.clone());
        let desk = mcp::Desk {
            connection: connection.clone(),
            policy: Arc::new(hold_macros(&config)),
            language: config.language,
            origin: decide::gate::Origin::Model,
            version: env!("CARGO_PKG_VERSION"),
            notes: config.broken.iter().cloned().collect(),
        };
        let served = mcp::serve_stdio(desk).await;
        connection.close().await;
        served?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Macros from the environment are in force only once they are pinned.
fn hold_macros(config: &Config) -> decide::gate::Policy {
    let mut policy = config.policy.clone();
    for id in config.from_environment.iter().filter(|id| crate::config::is_macro(id)) {
        if let Some(grant) = policy.grants.get_mut(id) {
            grant.body = Some(String::new());
        }
    }
    policy
}
