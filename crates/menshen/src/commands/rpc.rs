//! `menshen rpc`: the household's agent as `pi --mode rpc` is. Start at [`RpcCommand::run`]. Invariant:
//! standard output carries the protocol and nothing else.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use kernel::ports::{Brain, Principal};
use tokio::signal::unix::{SignalKind, signal};

use super::serving::{Place, Serving};
use crate::config::Options;

/// The channel of those who talk by this command.
const CHANNEL: &str = "rpc";

/// Your household's agent on standard input and output, in the protocol of `pi --mode rpc`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  echo '{\"id\":1,\"type\":\"prompt\",\"message\":\"good night\"}' | menshen rpc\n\nOne JSON object a line. Which commands there are: docs/reference/pi.md. What was accepted and not answered at the end of the input is gone on with at the next start."
)]
pub struct RpcCommand {
    /// The conversation to go on with
    #[arg(long, default_value = "main", value_name = "NAME")]
    session: String,
    #[command(flatten)]
    place: Place,
}

impl RpcCommand {
    pub async fn run(self, options: &Options) -> Result<ExitCode> {
        let mut terminate = signal(SignalKind::terminate()).context("signals cannot be heard")?;
        let serving = Serving::start(options, &self.place, false).await?;
        let principal = Principal { channel: CHANNEL.into(), ..Principal::default() };
        let caller =
            pi::rpc::Caller { principal, session: self.session, run: format!("rpc-{}", super::serving::run()) };
        let served = pi::rpc::serve(serving.brain.clone(), caller, tokio::io::stdin(), tokio::io::stdout());
        let served = tokio::select! {
            served = served => served,
            _ = terminate.recv() => Ok(()),
        };
        serving.brain.close().await;
        serving.close().await;
        served.context("standard input or output broke off")?;
        // A read of standard input that never comes back would hold the program.
        std::process::exit(0)
    }
}
