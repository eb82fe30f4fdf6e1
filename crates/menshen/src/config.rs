//! What the operator configured: `menshen.toml`, under the environment, under flags. Start at
//! [`Config::load`].
//!
//! Invariant: a file that cannot be read weakens nothing: the policy is then marked broken, and
//! only moves toward safety pass.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use clap::Args;
use decide::gate::{Language, Policy};
use decide::house::EntityId;
use home::{Tls, Token};
use kernel::turn::Limits;
use serde::Deserialize;

mod edit;
mod foreign;
mod pins;
pub mod seen;

pub use edit::{Change, change, text};
pub use pins::{is_macro, known, pin};

/// Where the house is and how to speak, shared by all commands that talk to it.
#[derive(Args, Clone, Debug, Default)]
pub struct Options {
    /// Configuration file [default: menshen.toml in the configuration folder]
    #[arg(long, global = true, env = "MENSHEN_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Address of Home Assistant, http://homeassistant.local:8123
    #[arg(long, global = true, env = "HOME_ASSISTANT_URL", value_name = "URL")]
    pub url: Option<String>,
    /// en or zh [default: from the locale]
    #[arg(long, global = true, env = "MENSHEN_LANGUAGE", value_name = "LANGUAGE", value_parser = known_language)]
    pub language: Option<String>,
}

impl Options {
    /// A variable that is set to nothing says nothing.
    pub fn set(self) -> Self {
        let text = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        let config = self.config.filter(|path| !path.as_os_str().is_empty());
        Self { config, url: text(self.url), language: text(self.language) }
    }
}

/// `zh`, `en_GB.UTF-8` and the like; a language that nobody would speak is an error, not English.
fn known_language(text: &str) -> std::result::Result<String, String> {
    let small = text.trim().to_lowercase();
    let known = small.is_empty() || small.starts_with("en") || small.starts_with("zh");
    if known { Ok(small) } else { Err("there are en and zh".to_owned()) }
}

/// To look at a disposable house instead of the one that is configured.
#[derive(Args, Clone, Debug, Default)]
pub struct Disposable {
    /// The disposable house of `menshen home up` instead of your own, as `menshen try` judges it
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "default")]
    pub disposable: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct File {
    language: Option<String>,
    house: House,
    gate: Policy,
    /// Codes for locks and alarms, added at execution only.
    codes: BTreeMap<EntityId, String>,
    audit: Audit,
    llm: Llm,
    embeddings: Option<Embeddings>,
    budgets: Budgets,
    agent: Agent,
    mcp: foreign::Foreign,
    web: Web,
}

/// Only those that stand in the file: the others can be set while the program runs.
#[derive(Deserialize, Default)]
#[serde(try_from = "toml::Table")]
struct Budgets(toml::Table);

impl TryFrom<toml::Table> for Budgets {
    type Error = toml::de::Error;

    fn try_from(table: toml::Table) -> std::result::Result<Self, toml::de::Error> {
        let _checked: Limits = table.clone().try_into()?;
        Ok(Self(table))
    }
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Web {
    hosts: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Llm {
    /// Tried in the order of their priority.
    sources: Vec<llm::Config>,
}

/// Where meaning comes from, for the search of memory: a server, or a folder with a model.
#[derive(Clone, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub struct Embeddings {
    /// `openai` or `ollama`, where the address alone does not say.
    pub kind: Option<llm::Kind>,
    pub base_url: String,
    pub model: String,
    pub key: llm::Secret,
    pub folder: Option<PathBuf>,
    /// How near a text must be to answer by its meaning alone.
    pub near_min: Option<f32>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Agent {
    data: Option<PathBuf>,
    persona: Option<PathBuf>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct House {
    url: Option<String>,
    token: Option<String>,
    reading_token: Option<String>,
    ca_file: Option<PathBuf>,
    insecure: bool,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Audit {
    path: Option<PathBuf>,
}

/// Everything that was configured, ready to use.
pub struct Config {
    pub path: PathBuf,
    pub language: Language,
    pub settings: home::Settings,
    pub policy: Policy,
    /// Macros granted without the hash of a body, by `HOME_ALLOWED_ENTITIES` or by hand in the file.
    pub unpinned: Vec<EntityId>,
    /// Why the file could not be used, in plain words.
    pub broken: Option<String>,
    /// Language models, as they stand in the file.
    pub sources: Vec<llm::Config>,
    pub embeddings: Option<Embeddings>,
    /// MCP servers of others.
    pub foreign: foreign::Foreign,
    /// As they stand in the file.
    pub budgets: toml::Table,
    /// Hosts that may be read in every turn.
    pub hosts: Vec<String>,
    /// Folder of the household.
    pub data: Option<PathBuf>,
    /// The household's AGENTS.md, where it is not in that folder.
    pub persona: Option<PathBuf>,
}

impl Config {
    /// To use the file. One that was named must be there: a name written wrongly would leave every
    /// decision of its operator out.
    pub fn load(options: &Options) -> Self {
        let path = options.config.clone().unwrap_or_else(default_path);
        let read = match options.config {
            Some(_) if matches!(path.try_exists(), Ok(false)) => Err(anyhow!(
                "there is no configuration file {}; `menshen setup` and `menshen gate set` write one",
                path.display()
            )),
            _ => read(&path),
        };
        Self::of(options, path, read)
    }

    /// To write the file: it may be new.
    pub fn load_or_new(options: &Options) -> Self {
        let path = options.config.clone().unwrap_or_else(default_path);
        let read = read(&path);
        Self::of(options, path, read)
    }

    /// As `load`; where a disposable house is asked for, its address and token, and none of the
    /// decisions that were made for a house of one's own.
    pub fn for_house(options: &Options, which: &Disposable) -> Result<Self> {
        let config = Self::load(options);
        let Some(name) = &which.disposable else { return Ok(config) };
        let settings = crate::disposable::made(name)?.settings();
        Ok(Self { settings, policy: Policy::default(), unpinned: vec![], broken: None, ..config })
    }

    fn of(options: &Options, path: PathBuf, read: Result<File>) -> Self {
        let (file, broken) = match read {
            Ok(file) => (file, None),
            Err(error) => (File::default(), Some(format!("{error:#}"))),
        };
        let mut policy = file.gate;
        policy.broken = broken.is_some();
        allowed(&mut policy);
        let bare = policy.grants.iter().filter(|(id, grant)| is_macro(id) && grant.body.is_none());
        let unpinned = bare.map(|(id, _)| id.clone()).collect();
        let house = file.house;
        let tls = match (
            house.insecure || flag("HOME_ASSISTANT_INSECURE"),
            variable("HOME_ASSISTANT_CA_FILE").map(PathBuf::from).or(house.ca_file),
        ) {
            (true, _) => Tls::Insecure,
            (false, Some(file)) => Tls::CaFile(file),
            (false, None) => Tls::SystemRoots,
        };
        let settings = home::Settings {
            url: options.url.clone().or(house.url),
            token: variable("HOME_ASSISTANT_TOKEN").or(house.token).map(|token| Token::new(&token)),
            reading_token: variable("HOME_ASSISTANT_READING_TOKEN")
                .or(house.reading_token)
                .map(|token| Token::new(&token)),
            tls,
            audit_path: Some(file.audit.path.unwrap_or_else(|| state_folder().join("audit.jsonl"))),
            codes: file.codes.into_iter().map(|(id, code)| (id, Token::new(&code))).collect(),
        };
        let language = language(options.language.as_deref().or(file.language.as_deref()));
        let (sources, budgets, hosts) = (with_key(file.llm.sources), file.budgets.0, file.web.hosts);
        let Agent { data, persona } = file.agent;
        let (foreign, embeddings) = (file.mcp, file.embeddings);
        Self {
            path,
            language,
            settings,
            policy,
            unpinned,
            broken,
            sources,
            embeddings,
            foreign,
            budgets,
            hosts,
            data,
            persona,
        }
    }
}

fn read(path: &Path) -> Result<File> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(File::default()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    toml::from_str(&text).map_err(|error| edit::not_understood(path, &text, error.message(), error.span()))
}

/// Standing grants of the seed's variable: comma separated, per entity.
fn allowed(policy: &mut Policy) {
    let text = variable("HOME_ALLOWED_ENTITIES").unwrap_or_default();
    for id in text.split(',').filter_map(EntityId::parse) {
        policy.grants.entry(id).or_default();
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

fn flag(name: &str) -> bool {
    variable(name).is_some_and(|value| matches!(value.to_lowercase().as_str(), "1" | "true" | "yes" | "on"))
}

/// The language that was asked for, else the locale's.
pub fn language(asked: Option<&str>) -> Language {
    let locale = || ["LC_ALL", "LC_MESSAGES", "LANG"].iter().find_map(|name| variable(name));
    let text = asked.map(str::to_owned).or_else(locale).unwrap_or_default().to_lowercase();
    if text.starts_with("zh") { Language::Chinese } else { Language::English }
}

fn folder(variable_name: &str, fallback: &str) -> PathBuf {
    let home = || PathBuf::from(variable("HOME").unwrap_or_else(|| ".".to_owned())).join(fallback);
    variable(variable_name).map(PathBuf::from).unwrap_or_else(home).join("menshen")
}

/// `~/.config/menshen/menshen.toml`.
pub fn default_path() -> PathBuf {
    folder("XDG_CONFIG_HOME", ".config").join("menshen.toml")
}

/// A source without a key gets the one of the environment.
fn with_key(mut sources: Vec<llm::Config>) -> Vec<llm::Config> {
    if let Some(key) = variable("MENSHEN_LLM_KEY") {
        for source in sources.iter_mut().filter(|source| source.key.is_empty()) {
            source.key = llm::Secret::new(&key);
        }
    }
    sources
}

/// `~/.local/share/menshen`: what a household keeps.
pub fn data_folder() -> PathBuf {
    folder("XDG_DATA_HOME", ".local/share")
}

/// `~/.local/state/menshen`: audit and pins.
pub fn state_folder() -> PathBuf {
    folder("XDG_STATE_HOME", ".local/state")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(path: &Path) -> Options {
        Options { config: Some(path.to_owned()), ..Options::default() }
    }

    #[test]
    fn a_file_that_was_named_and_is_not_there_weakens_nothing_and_can_be_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("menshen.toml");
        let config = Config::load(&named(&path));
        assert!(config.policy.broken && config.broken.unwrap().contains("menshen.toml"));
        assert!(!Config::load_or_new(&named(&path)).policy.broken);
        std::fs::write(&path, "").unwrap();
        assert!(!Config::load(&named(&path)).policy.broken);
    }

    #[test]
    fn a_macro_granted_by_hand_without_a_hash_is_to_be_pinned() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("menshen.toml");
        let grants = "[gate.grants]\n\"script.bare\" = {}\n\"scene.pinned\" = { body = \"x\" }\n\"lock.office\" = {}\n";
        std::fs::write(&path, grants).unwrap();
        let config = Config::load(&named(&path));
        assert_eq!(config.unpinned.iter().map(EntityId::as_str).collect::<Vec<_>>(), ["script.bare"]);
    }

    #[test]
    fn a_variable_that_is_set_to_nothing_says_nothing() {
        let empty = Options { config: Some("".into()), url: Some(" ".to_owned()), language: Some(String::new()) };
        let set = empty.set();
        assert!(set.config.is_none() && set.url.is_none() && set.language.is_none());
    }

    #[test]
    fn a_language_that_nobody_would_speak_is_an_error() {
        for known in ["en", "zh", "zh_CN.UTF-8", "EN", ""] {
            assert!(known_language(known).is_ok(), "{known}");
        }
        assert!(known_language("fr").is_err());
    }

    #[test]
    fn a_value_of_the_wrong_kind_is_told_without_the_value() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("menshen.toml");
        for text in [
            "[codes]\n\"lock.front\" = 48151623\n",
            "[codes]\n\"no id\" = \"48151623\"\n",
            "codes = \"48151623\"\n",
            "house = \"48151623\"\n",
            "[house]\ntoken = 48151623\n",
            "[house]\ninsecure = \"48151623\"\n",
            "[house]\ntokn = \"48151623\"\n",
            "[house.token]\nx = \"48151623\"\n",
        ] {
            std::fs::write(&path, text).unwrap();
            let error = format!("{:#}", read(&path).err().unwrap());
            assert!(!error.contains("48151623") && error.contains("line "), "{text}: {error}");
        }
    }
}
