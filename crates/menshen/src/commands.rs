//! The commands, one module each. Start at the one that is asked for.

pub mod approvals;
pub mod audit;
pub mod chat;
pub mod check;
pub mod config;
pub mod gate;
pub mod granted;
pub mod keep;
pub mod listening;
pub mod llm;
pub mod mcp;
pub mod rpc;
pub mod serve;
pub mod serving;
pub mod setup;
pub mod socket;
pub mod tools;
pub mod try_;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow};
use decide::gate::{Facts, InFlight, Language, Policy};
use decide::house::House;
use home::Connection;

use crate::config::Config;

/// How long a command waits for the house before it gives up.
const READY_SECS: u64 = 20;

/// A connection with everything read, or the reason in the person's language.
pub async fn connect(config: &Config) -> Result<(Connection, Arc<House>)> {
    let connection = Connection::start(config.settings.clone());
    match connection.ready(Duration::from_secs(READY_SECS)).await {
        Ok(house) => Ok((connection, house)),
        Err(error) => {
            // Without its file there may be no address: the file is then what is wrong.
            let first = config.broken.as_ref().map(|broken| format!("{broken}; ")).unwrap_or_default();
            Err(anyhow!("{first}{}", error.message(config.language)))
        }
    }
}

/// The gate's facts outside of a conversation: nothing is under way.
pub fn facts<'a>(house: &'a House, policy: &'a Policy, in_flight: &'a InFlight) -> Facts<'a> {
    Facts { house, policy, in_flight, now: jiff::Timestamp::now().as_second() }
}

/// One text in the person's language.
pub fn say<'a>(language: Language, english: &'a str, chinese: &'a str) -> &'a str {
    match language {
        Language::English => english,
        Language::Chinese => chinese,
    }
}
