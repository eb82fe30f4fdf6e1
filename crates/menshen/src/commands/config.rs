//! `menshen config`: settings that can be changed while the agent runs, with where each value comes from.
//! Start at [`ConfigCommand::run`]. Invariant: a secret is set and never shown.

use std::io::{BufRead, IsTerminal};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use decide::text::clean;
use kernel::settings::{CORE, Caller, Settings};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{Options as StoreOptions, Store};

use super::say;
use super::serving::{self, Place};
use super::socket::{self, Joined};
use crate::config::{Config, Options};

/// Settings: list them, see where a value comes from, change one
#[derive(Args)]
#[command(
    after_help = "Examples:\n  menshen config list budgets\n  menshen config set budgets.tool_rounds_max 20\n  menshen config unset budgets.tool_rounds_max\n  menshen config set --space qq token            (a secret is asked for, and never shown)\n\nA flag goes before the environment, the environment before menshen.toml, that before what is set here."
)]
pub struct ConfigCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// All settings whose key begins so
    List {
        #[arg(default_value = "")]
        prefix: String,
        #[command(flatten)]
        at: At,
    },
    /// One setting, and where its value comes from
    Get {
        key: String,
        #[command(flatten)]
        at: At,
    },
    /// Change a setting; without a value it is read from standard input
    Set {
        key: String,
        value: Option<String>,
        #[command(flatten)]
        at: At,
    },
    /// Take a setting away: its default holds again
    Unset {
        key: String,
        #[command(flatten)]
        at: At,
    },
}

#[derive(Args)]
struct At {
    /// core, or the name of a plugin
    #[arg(long, default_value = CORE, value_name = "NAME")]
    space: String,
    /// As JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

/// What is asked of the settings, here or of a running `menshen serve`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    List { space: String, prefix: String },
    Set { space: String, key: String, text: String },
    Unset { space: String, key: String },
}

impl ConfigCommand {
    pub async fn run(self, options: &Options) -> Result<ExitCode> {
        let (ask, at, one) = match self.what {
            What::List { prefix, at } => (Ask::List { space: at.space.clone(), prefix }, at, None),
            What::Get { key, at } => (Ask::List { space: at.space.clone(), prefix: key.clone() }, at, Some(key)),
            What::Set { key, value, at } => {
                let text = value.map_or_else(asked_for, Ok)?;
                (Ask::Set { space: at.space.clone(), key, text }, at, None)
            }
            What::Unset { key, at } => (Ask::Unset { space: at.space.clone(), key }, at, None),
        };
        let config = Config::for_house(options, &at.place.which)?;
        let rows = carried_out(&config, &at.place, ask).await?;
        let rows: Vec<Value> =
            rows.into_iter().filter(|row| one.as_ref().is_none_or(|key| row["key"] == *key)).collect();
        if let (Some(key), true) = (&one, rows.is_empty()) {
            anyhow::bail!(
                "there is no setting `{}` in `{}`: `menshen config list` shows them",
                clean(key, 80),
                at.space
            );
        }
        for row in &rows {
            if at.json {
                println!("{row}");
            } else {
                println!(
                    "{} = {}  ({})",
                    row["key"].as_str().unwrap_or_default(),
                    shown(&row["value"]),
                    row["origin"].as_str().unwrap_or_default()
                );
            }
        }
        if rows.is_empty() && !at.json {
            eprintln!("{}", say(config.language, "no settings", "没有设置"));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Object(map) if map.get("secret") == Some(&json!(true)) => {
            if map.get("set") == Some(&json!(true)) { "••••" } else { "–" }.to_owned()
        }
        Value::Null => "–".to_owned(),
        other => clean(&other.to_string(), 200),
    }
}

/// At a terminal nothing is echoed: it may be a secret.
fn asked_for() -> Result<String> {
    if std::io::stdin().is_terminal() {
        return rpassword::prompt_password("> ").context("this terminal cannot be read");
    }
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).context("standard input cannot be read")?;
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}

async fn carried_out(config: &Config, place: &Place, ask: Ask) -> Result<Vec<Value>> {
    let folder = serving::folder(place, config);
    let store = match Store::open(&folder, &StoreOptions::default()) {
        Ok(store) => store,
        Err(error) => {
            let error = anyhow::Error::from(error);
            if !serving::in_use(&error) {
                return Err(error);
            }
            return Joined::settings(&socket::path_in(&folder), ask, config.language).await;
        }
    };
    let settings = menshen::agent::settings(&store, serving::layers(config)).await?;
    answer(&settings, ask).await
}

/// The rows that were asked for, or the one that was changed.
pub async fn answer(settings: &Settings, ask: Ask) -> Result<Vec<Value>> {
    let (space, prefix, exact) = match ask {
        Ask::List { space, prefix } => (space, prefix, false),
        Ask::Set { space, key, text } => {
            let value = settings.typed(&space, &key, text);
            write(settings, &space, &key, value).await?;
            (space, key, true)
        }
        Ask::Unset { space, key } => {
            write(settings, &space, &key, Value::Null).await?;
            (space, key, true)
        }
    };
    let face = settings.for_caller(Caller::Operator);
    let keys = if space == CORE { face.list_core(&prefix).await? } else { face.list_plugin(&space, &prefix).await? };
    let row = |key: String| {
        let described = settings.describe(&space, &key);
        json!({ "key": key, "value": described.value, "origin": described.origin, "definition": described.def })
    };
    Ok(keys.into_iter().filter(|key| !exact || *key == prefix).map(row).collect())
}

async fn write(settings: &Settings, space: &str, key: &str, value: Value) -> Result<()> {
    let face = settings.for_caller(Caller::Operator);
    let written =
        if space == CORE { face.set_core(key, value).await } else { face.set_plugin(space, key, value).await };
    Ok(written?)
}
