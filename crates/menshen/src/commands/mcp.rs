//! `menshen mcp`: the six tools over stdio. Start at [`McpCommand::run`]. Invariant: nothing but the
//! protocol goes to standard output, and end of input ends the program.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use home::Connection;

use crate::config::{Config, Options, pin, state_folder};

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
        let policy = mcp::SharedPolicy::new(hold_macros(&config));
        let desk =
            mcp::Desk::new(connection.clone(), policy.clone(), config.language, env!("CARGO_PKG_VERSION"), notes);
        let pinning = tokio::spawn(pin_when_ready(connection.clone(), policy, config));
        let served = mcp::serve_stdio(desk).await;
        pinning.abort();
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

async fn pin_when_ready(connection: Connection, shared: mcp::SharedPolicy, config: Config) {
    if !config.from_environment.iter().any(crate::config::is_macro) {
        return;
    }
    // A house that is away comes back some time; its grants wait for it.
    let house = loop {
        if let Ok(house) = connection.ready(Duration::from_secs(60)).await {
            break house;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    };
    let mut policy = (*shared.get()).clone();
    match pin(&house, &mut policy, &config.from_environment, &state_folder()) {
        Ok(unread) => {
            shared.set(policy);
            for id in unread {
                eprintln!(
                    "menshen: {id} stays closed: it cannot be read with this token, so the permission cannot be held to what it does; set HOME_ASSISTANT_READING_TOKEN, an administrator's"
                );
            }
        }
        Err(error) => eprintln!("menshen: {error:#}; the granted macros stay closed"),
    }
}
