//! `menshen mcp`: the six tools over stdio. Start at [`McpCommand::run`]. Invariant: nothing but the
//! protocol goes to standard output, and end of input ends the program.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use home::Connection;

use super::granted::Granted;
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
        let house = config.settings.url.as_deref().map(home::without_secrets);
        let house = house.unwrap_or_else(|| "not set (HOME_ASSISTANT_URL)".to_owned());
        let notes = [format!("house {house}")].into_iter().chain(config.broken.clone()).collect();
        let connection = Connection::start(config.settings.clone());
        let granted = Granted::new(&config, &connection);
        let policy = granted.policy.clone();
        let desk = mcp::Desk::new(connection.clone(), policy, config.language, env!("CARGO_PKG_VERSION"), notes);
        let served = mcp::serve_stdio(desk).await;
        drop(granted);
        connection.close().await;
        served?;
        Ok(ExitCode::SUCCESS)
    }
}
