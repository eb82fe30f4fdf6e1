//! The `menshen` program: command line, configuration, wiring. Nothing is decided here.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use clap::{CommandFactory, Parser, Subcommand};
use decide::gate::Language;
use menshen::agent::HouseholdError;
use store::StoreError;

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
    Chat(commands::chat::ChatCommand),
    Serve(commands::serve::ServeCommand),
    Llm(commands::llm::LlmCommand),
    Approvals(commands::approvals::ApprovalsCommand),
    Config(commands::config::ConfigCommand),
    Tools(commands::tools::ToolsCommand),
    Mcp(commands::mcp::McpCommand),
    Rpc(commands::rpc::RpcCommand),
    Setup(commands::setup::SetupCommand),
    Check(commands::check::CheckCommand),
    Gate(commands::gate::GateCommand),
    Audit(commands::audit::AuditCommand),
    Backup(commands::keep::BackupCommand),
    Export(commands::keep::ExportCommand),
    Import(commands::keep::ImportCommand),
    Home(disposable::HomeCommand),
    /// Print a completion script for your shell
    Completions {
        shell: clap_complete::Shell,
    },
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    let Arguments { options, command } = Arguments::parse();
    let options = options.set();
    // A command tells its errors itself; a server that runs for months has only its log.
    log(if matches!(command, Command::Mcp(_) | Command::Serve(_) | Command::Rpc(_)) { "warn" } else { "error" });
    let done = match command {
        Command::Try(command) => command.run(&options).await,
        Command::Chat(command) => command.run(&options).await,
        Command::Serve(command) => command.run(&options).await,
        Command::Approvals(command) => command.run(&options).await,
        Command::Config(command) => command.run(&options).await,
        Command::Llm(command) => command.run(&options).await,
        Command::Backup(command) => command.run(&options).await,
        Command::Export(command) => command.run(&options).await,
        Command::Import(command) => command.run(&options).await,
        Command::Tools(command) => command.run(&options),
        Command::Mcp(command) => command.run(&options).await,
        Command::Rpc(command) => command.run(&options).await,
        Command::Setup(command) => command.run(&options).await,
        Command::Check(command) => command.run(&options).await,
        Command::Gate(command) => command.run(&options).await,
        Command::Audit(command) => command.run(&options),
        Command::Home(command) => command.run(config::Config::load(&options).language).await,
        Command::Completions { shell } => completions(shell),
    };
    done.unwrap_or_else(|error| {
        eprintln!("menshen: {}", told(&error, config::Config::load(&options).language));
        ExitCode::FAILURE
    })
}

/// An error as the person reads it. Those of the store know Chinese; what comes from a configuration is in
/// the language of its command already.
fn told(error: &anyhow::Error, language: Language) -> String {
    match (language, error.downcast_ref::<StoreError>(), error.downcast_ref::<HouseholdError>()) {
        (Language::Chinese, Some(error), _) | (Language::Chinese, _, Some(HouseholdError::Store(error))) => {
            error.in_chinese()
        }
        _ => format!("{error:#}"),
    }
}

/// Written whole first: what makes the script knows no error but a panic.
fn completions(shell: clap_complete::Shell) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "menshen", &mut script);
    std::io::stdout().write_all(&script).context("nobody reads the script")?;
    Ok(ExitCode::SUCCESS)
}

/// Logs go to standard error, where no protocol is spoken: of this level, or what `MENSHEN_LOG` asks for.
fn log(level: &str) {
    let filter = std::env::var("MENSHEN_LOG").unwrap_or_else(|_| level.to_owned());
    let plain = std::env::var_os("NO_COLOR").is_some() || !std::io::IsTerminal::is_terminal(&std::io::stderr());
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(filter))
        .with_writer(std::io::stderr)
        .with_ansi(!plain)
        .init();
}
