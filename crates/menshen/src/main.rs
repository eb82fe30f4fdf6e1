//! The `menshen` program: command line, configuration, wiring. Nothing is decided here.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod disposable;

#[derive(Parser)]
#[command(
    name = "menshen",
    version,
    about = "A house that a language model can run and cannot be talked into opening."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Home(disposable::HomeCommand),
}

#[tokio::main]
async fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Home(command) => command.run().await,
    };
    done.unwrap_or_else(|error| {
        eprintln!("menshen: {error:#}");
        ExitCode::FAILURE
    })
}
