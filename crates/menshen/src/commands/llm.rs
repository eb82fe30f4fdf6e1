//! `menshen llm`: which language models are set up, and what they can do. Start at [`LlmCommand::run`].
//! Invariant: a key is never shown.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use decide::gate::Language;
use decide::text::clean;
use llm::{Found, Source};
use serde_json::json;

use super::say;
use crate::config::{Config, Options};

/// Language models: list them, ask one what it can do
#[derive(Args)]
#[command(
    after_help = "A model is set up in menshen.toml:\n\n  [[llm.sources]]\n  name = \"deepseek\"\n  base_url = \"deepseek\"        (or qwen, moonshot, openrouter, openai, anthropic, ollama, lmstudio, llamacpp, or an address)\n  model = \"deepseek-chat\"\n  key = \"sk-…\"                 (or MENSHEN_LLM_KEY in the environment)\n\nSeveral are tried by `priority`; the built-in source, which needs no key, comes last.\nEvery key is in docs/reference/configuration.md."
)]
pub struct LlmCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// The models that are set up, in the order in which they are asked
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Ask a model a few small questions: streaming, tools, vision, context size (a paid one is paid for them)
    #[command(after_help = "Exit codes: 0 usable, 3 it answers but cannot run a house, 1 error.")]
    Check {
        /// Its name; without it, each
        name: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

impl LlmCommand {
    pub async fn run(self, options: &Options) -> Result<ExitCode> {
        let config = Config::load(options);
        if let Some(broken) = &config.broken {
            bail!("{broken}");
        }
        match self.what {
            What::List { json } => list(&config, json),
            What::Check { name, json } => check(&config, name.as_deref(), json).await,
        }
    }
}

fn ordered(config: &Config) -> Vec<&llm::Config> {
    let mut sources: Vec<&llm::Config> = config.sources.iter().collect();
    sources.sort_by_key(|source| std::cmp::Reverse(source.priority));
    sources
}

fn list(config: &Config, as_json: bool) -> Result<ExitCode> {
    let sources = ordered(config);
    if as_json {
        println!("{}", json!({ "sources": sources, "built_in": "built-in" }));
        return Ok(ExitCode::SUCCESS);
    }
    for source in &sources {
        println!("{}  {}  {}", clean(&source.name, 60), clean(&source.model, 80), clean(&source.base_url, 120));
    }
    let none = say(config.language, "No model is set up; ", "还没有配置模型；");
    let text = say(
        config.language,
        "built-in: your macros, plain commands and Home Assistant's recogniser. `menshen llm --help` shows how to set one up.",
        "built-in：家里的场景、日常指令和 Home Assistant 的识别器。`menshen llm --help` 说明如何配置。",
    );
    println!("{}{text}", if sources.is_empty() { none } else { "" });
    Ok(ExitCode::SUCCESS)
}

fn missing(config: &Config, name: &str) -> String {
    let path = config.path.display();
    match config.language {
        Language::English => {
            format!("there is no model source `{name}` in {path}: `menshen llm list` names those there are")
        }
        Language::Chinese => format!("{path} 中没有模型源 `{name}`：用 `menshen llm list` 查看有哪些"),
    }
}

fn none(config: &Config) -> String {
    let path = config.path.display();
    match config.language {
        Language::English => format!("no model is set up in {path}: `menshen llm --help` shows how"),
        Language::Chinese => format!("{path} 中还没有配置模型：`menshen llm --help` 说明如何配置"),
    }
}

async fn check(config: &Config, name: Option<&str>, as_json: bool) -> Result<ExitCode> {
    let chosen: Vec<&llm::Config> =
        ordered(config).into_iter().filter(|source| name.is_none_or(|name| source.name == name)).collect();
    if chosen.is_empty() {
        match name {
            Some(name) => bail!(missing(config, &clean(name, 60))),
            None => bail!(none(config)),
        }
    }
    let mut usable = true;
    for source in chosen {
        let report = llm::check(&Source::new(source)?).await;
        usable &= report.is_usable();
        if as_json {
            println!("{}", serde_json::to_string(&report)?);
            continue;
        }
        println!("{}  {}  {}", clean(&report.name, 60), clean(&report.model, 80), clean(&report.address, 120));
        for finding in &report.findings {
            let mark = match finding.found {
                Found::Yes => "✓",
                Found::No => "✗",
                Found::Unknown => "?",
            };
            let text = match config.language {
                Language::English => &finding.en,
                Language::Chinese => &finding.zh,
            };
            println!("  {mark} {}", clean(text, 400));
        }
    }
    Ok(if usable { ExitCode::SUCCESS } else { ExitCode::from(3) })
}
