//! The `menshen` program: command line, configuration, wiring. Nothing is decided here.

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

mod commands;
mod config;
mod disposable;

/// A house that a language model can run and cannot be talked into opening.
#[derive(Parser)]
#[command(
    name = "menshen",
    version,
    after_help = "Start with `menshen setup` for your own house.\nSettings: menshen.toml and the environment; every key is in docs/reference/configuration.md."
)]
struct Arguments {
    #[command(flatten)]
    options: config::Options,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Try(commands::try_::TryCommand),
    Mcp(commands::mcp::McpCommand),
    Setup(commands::setup::SetupCommand),
    Check(commands::check::CheckCommand),
    Gate(commands::gate::GateCommand),
    Audit(commands::audit::AuditCommand),
    Home(disposable::HomeCommand),
    /// Print a completion script for your shell
    Completions {
        shell: clap_complete::Shell,
    },
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    let Arguments { options, command } = Arguments::parse();
    let done = match command {
        Command::Try(command) => command.run(&options).await,
        Command::Mcp(command) => command.run(&options).await,
        Command::Setup(command) => command.run(&options).await,
        Command::Check(command) => command.run(&options).await,
        Command::Gate(command) => command.run(&options).await,
        Command::Audit(command) => command.run(&options),
        Command::Home(command) => command.run().await,
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Arguments::command(), "menshen", &mut std::io::stdout());
            Ok(ExitCode::SUCCESS)
        }
    };
    done.unwrap_or_else(|error| {
        eprintln!("menshen: {error:#}");
        ExitCode::FAILURE
    })
}
