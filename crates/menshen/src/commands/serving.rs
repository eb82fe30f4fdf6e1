//! One household's agent, started from the configuration: what `chat` and `serve` share. Start at
//! [`Serving::start`]. Invariant: a store that another process holds is not opened a second time.

use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use decide::gate::Language;
use home::{Approvals, Connection};
use kernel::ports::{Brain, Clock, LlmSource};
use kernel::settings::{CORE, Layers};
use llm::{Pace, Source, Sources};
use mcp::Desk;
use menshen::agent::{BuiltIn, Household, LocalClock, Parts, meaning};
use menshen::fetch::SystemNames;
use pi::KernelBrain;
use store::search::Meaning;
use store::{Options as StoreOptions, Store, StoreError};

use super::granted::Granted;
use crate::config::{Config, Disposable, Options, data_folder, state_folder};

/// A house that is there answers within this time; without it the agent starts all the same.
const HOUSE_WAIT: Duration = Duration::from_secs(8);

/// Whose household, and where it is kept.
#[derive(Args, Clone, Debug, Default)]
pub struct Place {
    #[command(flatten)]
    pub which: Disposable,
    /// Folder of the household: memory, conversations, AGENTS.md [default: ~/.local/share/menshen/household]
    #[arg(long, env = "MENSHEN_DATA", value_name = "FOLDER")]
    pub data: Option<PathBuf>,
}

pub struct Serving {
    pub household: Household,
    /// The same agent in pi's words.
    pub brain: Arc<KernelBrain>,
    pub language: Language,
    pub data: PathBuf,
    connection: Connection,
    /// Held: its end ends the pinning.
    _granted: Granted,
}

impl Serving {
    /// `asks`: somebody may say yes while it runs; without, what asks is refused.
    pub async fn start(options: &Options, place: &Place, asks: bool) -> Result<Self> {
        let config = Config::for_house(options, &place.which)?;
        if let Some(broken) = &config.broken {
            bail!("{broken}");
        }
        let data = folder(place, &config);
        let store = Store::open(&data, &StoreOptions::default())?;
        let connection = Connection::start(config.settings.clone());
        // Without a house the agent still talks, and says why it can do nothing there. What is there for good
        // does not wait for it: each tool does, when it needs it.
        let (there, language) = (connection.clone(), config.language);
        let away = async move {
            if let Err(error) = there.ready(HOUSE_WAIT).await {
                eprintln!("menshen: {}", error.message(language));
            }
        };
        if asks {
            drop(tokio::spawn(away))
        } else {
            away.await
        }
        let granted = Granted::new(&config, &connection);
        let desk = Desk::new(
            connection.clone(),
            granted.policy.clone(),
            config.language,
            env!("CARGO_PKG_VERSION"),
            Arc::default(),
        );
        let desk = match asks {
            true => desk.asking(&Approvals::new(connection.audit().clone(), run())),
            false => desk,
        };
        let models = models(&config, &desk)?;
        let persona = config.persona.clone().unwrap_or_else(|| data.join("AGENTS.md"));
        let mut household = Household::open(Parts {
            desk,
            store,
            models,
            persona,
            layers: layers(&config),
            hosts: config.hosts.clone(),
            house_addresses: config.settings.url.clone().into_iter().collect(),
            names: Arc::new(SystemNames),
            foreign: config.foreign.servers(),
            classes: config.foreign.classes(&state_folder()),
            meaning: meaning_of(&config)?,
        })
        .await?;
        // Before anything runs, so that it hears all of it.
        let brain = Arc::new(KernelBrain::new(household.agent.clone(), household.store.outbox()));
        household.run().await.context("what the last run left open cannot be read")?;
        Ok(Self { household, brain, language: config.language, data, connection, _granted: granted })
    }

    /// Ends in order: what is written is on the disk.
    pub async fn close(self) {
        self.brain.close().await;
        self.household.agent.close().await;
        self.connection.close().await;
    }
}

/// Of this start of the program, unlike any other's.
pub fn run() -> String {
    format!("{:08x}", RandomState::new().hash_one(std::process::id()) >> 32)
}

/// The person's language, and the household's folder.
pub fn language_and_folder(options: &Options, place: &Place) -> Result<(Language, PathBuf)> {
    let config = Config::for_house(options, &place.which)?;
    Ok((config.language, folder(place, &config)))
}

/// Another process has this household's store.
pub fn in_use(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(StoreError::InUse { .. }))
}

/// What the file says of settings that can also be set while the program runs.
pub fn layers(config: &Config) -> Layers {
    let budget = |(key, value): (&String, &toml::Value)| {
        let number = value.as_integer()?;
        Some(((CORE.to_owned(), format!("budgets.{key}")), number.into()))
    };
    Layers { file: config.budgets.iter().filter_map(budget).collect(), ..Layers::default() }
}

pub fn folder(place: &Place, config: &Config) -> PathBuf {
    let own = || match &place.which.disposable {
        Some(name) => data_folder().join(format!("try-{name}")),
        None => config.data.clone().unwrap_or_else(|| data_folder().join("household")),
    };
    place.data.clone().unwrap_or_else(own)
}

/// Where the file names a source of meaning.
fn meaning_of(config: &Config) -> Result<Meaning> {
    let Some(asked) = config.embeddings.clone() else { return Ok(Meaning::default()) };
    let server = llm::Config {
        name: "embeddings".into(),
        kind: asked.kind,
        base_url: asked.base_url,
        model: asked.model,
        key: asked.key,
        ..llm::Config::default()
    };
    Ok(meaning(asked.folder.as_deref(), &server, asked.near_min)?)
}

/// The configured models in the order of their priority, and the built-in source after them.
fn models(config: &Config, desk: &Desk) -> Result<Option<menshen::agent::Models>> {
    if config.sources.is_empty() {
        return Ok(None);
    }
    let mut configured = config.sources.clone();
    configured.sort_by_key(|source| std::cmp::Reverse(source.priority));
    let mut sources: Vec<Arc<dyn LlmSource>> = Vec::new();
    for source in &configured {
        sources.push(Arc::new(Source::new(source)?));
    }
    let all = Arc::new(Sources::new(Vec::new(), pace()));
    // Weak, or the sources would own themselves.
    let (weak, first) = (Arc::downgrade(&all), configured.first().map(|source| source.name.clone()));
    let failing = move || {
        let status = weak.upgrade()?.status();
        let named = status.iter().find(|status| first.as_ref() == Some(&status.name) && status.last_error.is_some());
        named.or_else(|| status.iter().find(|status| status.last_error.is_some()))?.last_error.clone()
    };
    sources.push(Arc::new(BuiltIn::behind(desk.clone(), Arc::new(failing))));
    all.replace(sources);
    Ok(Some((all.clone(), all)))
}

fn pace() -> Pace {
    let clock = LocalClock::new("UTC");
    let now_ms = Arc::new(move || clock.now_ms());
    // Enough chance to spread households over half a second.
    let chance = || (RandomState::new().hash_one(0) >> 11) as f64 / (1_u64 << 53) as f64;
    Pace { now_ms, chance: Arc::new(chance) }
}
