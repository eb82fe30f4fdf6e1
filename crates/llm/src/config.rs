//! What an operator writes about a source, and what follows from it. Start at [`Config`].
//!
//! Invariant: a [`Config`] may be wrong; a [`Settled`] cannot be: its addresses are whole, its numbers
//! have values, its key fits into a header.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use kernel::ports::Abilities;
use reqwest::Url;
use reqwest::header::HeaderValue;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::providers::{LateText, Provider};
use crate::secret::Secret;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Chat completions as OpenAI has them, and as nearly everybody else does.
    #[serde(rename = "openai")]
    OpenAi,
    Anthropic,
    Ollama,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    Low,
    Medium,
    High,
}

/// `true`, `false`, `"low"` to `"high"`, or a number of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Thinking {
    Switch(bool),
    Effort(Effort),
    Tokens(u32),
}

/// US dollars for a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Prices {
    pub prompt: f64,
    /// Prompt tokens read from a cache; the price of the prompt where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    pub completion: f64,
}

/// Seconds; what is left out follows from where the source is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_secs: Option<u64>,
    /// From the question to the first word of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_secs: Option<u64>,
    /// Silence in the middle of an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_secs: Option<u64>,
    /// A whole answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_secs: Option<u64>,
}

/// One source, as it stands in the configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Under which it is listed and chosen.
    pub name: String,
    /// Follows from `base_url` where that is a well-known short name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// An address, or a short name: `deepseek`, `qwen`, `moonshot`, `openrouter`, `openai`, `anthropic`,
    /// `ollama`, `lmstudio`, `llamacpp`.
    pub base_url: String,
    pub model: String,
    #[serde(skip_serializing)]
    pub key: Secret,
    /// Tokens of prompt and answer together. Ollama is told to make room for so many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens_max: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    pub vision: bool,
    /// Off for a model that cannot call tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// Sources with a higher one are asked first.
    pub priority: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
    pub timeouts: Timeouts,
    /// Sent with each request; their values are never shown.
    #[serde(skip_serializing)]
    pub extra_headers: BTreeMap<String, Secret>,
    /// Laid over the body of each request.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra_body: Map<String, Value>,
    /// `max_tokens` or `max_completion_tokens`, for OpenAI-compatible servers that insist on one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_limit_field: Option<String>,
    /// Whether usage is asked for while streaming; off for servers that refuse the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_usage: Option<bool>,
    /// How a text of ours in the middle or at the end of a conversation is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_text: Option<LateText>,
    /// Whether a model's reasoning is sent back with the calls it led to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub return_reasoning: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("a model source has no `name`: give it one, it is how the source is chosen")]
    NameMissing,
    #[error("two model sources are called `{0}`: rename one")]
    NameTaken(String),
    #[error("source `{0}` has no `model`: write the model's name as its provider spells it")]
    ModelMissing(String),
    #[error("source `{name}`: `{base_url}` is no http(s) address and no well-known short name")]
    BadAddress { name: String, base_url: String },
    #[error("source `{0}` has neither `base_url` nor `kind`: write one")]
    NoAddress(String),
    #[error("source `{0}` needs a `key`: make one on the provider's page")]
    KeyMissing(String),
    #[error("source `{0}`: the key (or an extra header) holds characters that no header can carry: copy it again")]
    BadKey(String),
    #[error("source `{name}`: `{field}` must be {must}")]
    OutOfRange { name: String, field: &'static str, must: &'static str },
    #[error("the embedding model in {} cannot be used: {why}; a folder of model2vec has model.safetensors, tokenizer.json and config.json", folder.display())]
    Folder { folder: std::path::PathBuf, why: String },
    #[error("source `{0}`: the TLS of this machine cannot be used: {1}")]
    Tls(String, String),
}

/// A [`Config`] with nothing left open.
#[derive(Clone, Debug)]
pub(crate) struct Settled {
    pub name: String,
    pub kind: Kind,
    pub provider: Provider,
    /// Without a slash at its end, and without what the wire format adds.
    pub base: String,
    pub secure: bool,
    /// On this machine or this network: no proxy, more patience.
    pub near: bool,
    pub config: Config,
    pub context_tokens: u64,
    pub connect: Duration,
    pub first: Duration,
    pub idle: Duration,
    pub total: Duration,
}

/// Limit: a source that accepts no connection in this time counts as unreachable.
pub const SOURCE_CONNECT: Duration = Duration::from_secs(10);
/// Limit: a provider that has not begun to answer by then is given up.
pub const SOURCE_FIRST: Duration = Duration::from_secs(90);
/// Limit: the same for a model on the own network, which may first have to load.
pub const SOURCE_FIRST_NEAR: Duration = Duration::from_secs(300);
/// Limit: an answer that falls silent for so long counts as cut.
pub const SOURCE_IDLE: Duration = Duration::from_secs(60);
/// Limit: no answer may take longer.
pub const SOURCE_TOTAL: Duration = Duration::from_secs(900);

impl Config {
    pub(crate) fn settle(&self) -> Result<Settled, ConfigError> {
        let name = self.name.trim().to_owned();
        if name.is_empty() {
            return Err(ConfigError::NameMissing);
        }
        if self.model.trim().is_empty() {
            return Err(ConfigError::ModelMissing(name));
        }
        let (url, kind) = self.address(&name)?;
        let provider = Provider::at(&url, kind);
        if self.key.is_empty() && provider.needs_key() && self.extra_headers.is_empty() {
            return Err(ConfigError::KeyMissing(name));
        }
        self.check_headers(&name)?;
        self.check_numbers(&name)?;
        let near = is_near(&url);
        if url.scheme() == "http" && !near && !self.key.is_empty() {
            tracing::warn!(source = name, "the key of this source goes over the net unencrypted: use https");
        }
        let seconds =
            |set: Option<u64>, default: Duration| set.map_or(default, |secs| Duration::from_secs(secs.max(1)));
        let times = self.timeouts;
        Ok(Settled {
            kind,
            provider,
            base: base_of(&url, kind),
            secure: url.scheme() == "https",
            near,
            context_tokens: self.context_tokens.unwrap_or(provider.context_tokens()),
            connect: seconds(times.connect_secs, SOURCE_CONNECT),
            first: seconds(times.first_secs, if near { SOURCE_FIRST_NEAR } else { SOURCE_FIRST }),
            idle: seconds(times.idle_secs, if near { 2 * SOURCE_IDLE } else { SOURCE_IDLE }),
            total: seconds(times.total_secs, SOURCE_TOTAL),
            config: self.clone(),
            name,
        })
    }

    fn address(&self, name: &str) -> Result<(Url, Kind), ConfigError> {
        let written = self.base_url.trim();
        let known = Provider::named(written).or(match (written.is_empty(), self.kind) {
            (true, Some(Kind::OpenAi)) => Some(Provider::OpenAi),
            (true, Some(Kind::Anthropic)) => Some(Provider::Anthropic),
            (true, Some(Kind::Ollama)) => Some(Provider::Ollama),
            _ => None,
        });
        if known.is_none() && written.is_empty() {
            return Err(ConfigError::NoAddress(name.to_owned()));
        }
        let text = known.and_then(Provider::address).unwrap_or(written);
        let bad = || ConfigError::BadAddress { name: name.to_owned(), base_url: without_user(text) };
        let url = Url::parse(text).map_err(|_| bad())?;
        let plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) || !plain {
            return Err(bad());
        }
        let kind = self.kind.or(known.map(Provider::kind)).unwrap_or(Kind::OpenAi);
        Ok((url, kind))
    }

    fn check_headers(&self, name: &str) -> Result<(), ConfigError> {
        let fits = |text: &str| HeaderValue::from_str(text).is_ok();
        let named = |text: &str| reqwest::header::HeaderName::try_from(text).is_ok();
        let extra = self.extra_headers.iter().all(|(header, value)| named(header) && fits(value.reveal()));
        if fits(self.key.reveal()) && extra { Ok(()) } else { Err(ConfigError::BadKey(name.to_owned())) }
    }

    fn check_numbers(&self, name: &str) -> Result<(), ConfigError> {
        let wrong = |field, must| Err(ConfigError::OutOfRange { name: name.to_owned(), field, must });
        if self.temperature.is_some_and(|value| !(0.0..=2.0).contains(&value)) {
            return wrong("temperature", "from 0 to 2");
        }
        if self.context_tokens.is_some_and(|tokens| tokens < 1024) {
            return wrong("context_tokens", "at least 1024");
        }
        if self.output_tokens_max == Some(0) {
            return wrong("output_tokens_max", "at least 1");
        }
        let prices = self.prices.unwrap_or_default();
        let all = [prices.prompt, prices.cached.unwrap_or_default(), prices.completion];
        if all.iter().any(|price| !price.is_finite() || *price < 0.0) {
            return wrong("prices", "0 or more");
        }
        match self.output_limit_field.as_deref() {
            None | Some("max_tokens" | "max_completion_tokens") => Ok(()),
            Some(_) => wrong("output_limit_field", "`max_tokens` or `max_completion_tokens`"),
        }
    }
}

impl Settled {
    pub fn abilities(&self) -> Abilities {
        Abilities {
            context_tokens: self.context_tokens,
            tools: self.config.tools.unwrap_or(true),
            vision: self.config.vision,
            streaming: true,
        }
    }

    /// The smaller of what the request and the configuration allow.
    pub fn output_tokens(&self, asked: Option<u32>) -> Option<u32> {
        match (asked, self.config.output_tokens_max) {
            (Some(asked), Some(set)) => Some(asked.min(set)),
            (asked, set) => asked.or(set),
        }
    }

    pub fn late_text(&self) -> LateText {
        self.config.late_text.unwrap_or(self.provider.late_text())
    }

    pub fn returns_reasoning(&self) -> bool {
        self.config.return_reasoning.unwrap_or(self.provider.wants_reasoning_back())
    }
}

/// People paste what their provider's page shows, down to the endpoint.
fn base_of(url: &Url, kind: Kind) -> String {
    let mut base = url.as_str().trim_end_matches('/').to_owned();
    let tails: &[&str] = match kind {
        Kind::OpenAi => &["/chat/completions", "/completions", "/models"],
        Kind::Anthropic => &["/messages", "/v1"],
        Kind::Ollama => &["/chat", "/api", "/v1"],
    };
    for tail in tails {
        if let Some(short) = base.strip_suffix(tail) {
            base = short.trim_end_matches('/').to_owned();
        }
    }
    let bare = Url::parse(&base).is_ok_and(|url| url.path().trim_matches('/').is_empty());
    if kind == Kind::OpenAi && bare { format!("{base}/v1") } else { base }
}

fn is_near(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        Ok(IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
        Err(_) => {
            !host.contains('.') || [".local", ".lan", ".home.arpa", ".internal"].iter().any(|end| host.ends_with(end))
        }
    }
}

fn without_user(text: &str) -> String {
    let plain = text.split(['?', '#']).next().unwrap_or_default();
    plain.rsplit_once('@').map_or(plain, |(_, host)| host).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(base_url: &str, kind: Option<Kind>) -> Config {
        Config {
            name: "a".into(),
            model: "m".into(),
            key: Secret::new("k"),
            base_url: base_url.into(),
            kind,
            ..Config::default()
        }
    }

    #[track_caller]
    fn check(base_url: &str, kind: Option<Kind>, base: &str, settled_kind: Kind) {
        let settled = config(base_url, kind).settle().expect(base_url);
        assert_eq!((settled.base.as_str(), settled.kind), (base, settled_kind), "{base_url}");
    }

    #[test]
    fn an_address_may_be_a_short_name_a_bare_host_or_the_whole_endpoint() {
        check("deepseek", None, "https://api.deepseek.com/v1", Kind::OpenAi);
        check("qwen", None, "https://dashscope.aliyuncs.com/compatible-mode/v1", Kind::OpenAi);
        check("anthropic", None, "https://api.anthropic.com", Kind::Anthropic);
        check("ollama", None, "http://127.0.0.1:11434", Kind::Ollama);
        check("", Some(Kind::Anthropic), "https://api.anthropic.com", Kind::Anthropic);
        check("http://box:8000", None, "http://box:8000/v1", Kind::OpenAi);
        check("http://box:8000/v1/chat/completions", None, "http://box:8000/v1", Kind::OpenAi);
        check("https://gateway/api/paas/v4/", None, "https://gateway/api/paas/v4", Kind::OpenAi);
        check(
            "https://gateway/anthropic/v1/messages",
            Some(Kind::Anthropic),
            "https://gateway/anthropic",
            Kind::Anthropic,
        );
        check("http://box:11434/v1", Some(Kind::Ollama), "http://box:11434", Kind::Ollama);
    }

    #[test]
    fn what_cannot_be_a_source_is_told_with_its_cure() {
        let wrong = |change: fn(&mut Config)| {
            let mut config = config("openai", None);
            change(&mut config);
            config.settle().expect_err("it is wrong").to_string()
        };
        assert!(wrong(|c| c.name.clear()).contains("name"));
        assert!(wrong(|c| c.model.clear()).contains("model"));
        assert!(wrong(|c| c.key = Secret::default()).contains("key"));
        assert!(wrong(|c| c.key = Secret::new("a\nb")).contains("header"));
        assert!(wrong(|c| c.base_url = "ftp://x".into()).contains("ftp://x"));
        assert!(wrong(|c| c.temperature = Some(7.0)).contains("0 to 2"));
        let shown = wrong(|c| c.base_url = "https://user:hunter2@host?key=hunter2".into());
        assert!(!shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn a_key_is_printed_by_nothing() {
        let config = Config { key: Secret::new("sk-hidden"), ..config("openai", None) };
        let written = serde_json::to_string(&config).expect("serializes");
        let settled = config.settle().expect("right");
        for shown in [format!("{config:?}"), written, format!("{settled:?}"), config.key.to_string()] {
            assert!(!shown.contains("hidden"), "{shown}");
        }
    }

    #[test]
    fn a_source_is_read_from_toml() {
        let text = r#"
            name = "local"
            base_url = "ollama"
            model = "qwen3:4b"
            thinking = "low"
            prices = { prompt = 0.5, completion = 2 }
            timeouts = { first_secs = 600 }
            extra_body = { keep_alive = "1h" }
        "#;
        let settled = toml::from_str::<Config>(text).expect("reads").settle().expect("right");
        assert_eq!(settled.config.thinking, Some(Thinking::Effort(Effort::Low)));
        assert_eq!(settled.first, Duration::from_secs(600));
        assert!(settled.near);
        assert!(toml::from_str::<Config>("nmae = 'x'").is_err());
    }

    #[test]
    fn local_addresses_are_near_and_others_are_not() {
        let near = |text: &str| is_near(&Url::parse(text).expect(text));
        for text in [
            "http://127.0.0.1",
            "http://192.168.1.9:1",
            "http://[::1]",
            "http://box",
            "http://nas.local",
            "http://10.1.2.3",
        ] {
            assert!(near(text), "{text}");
        }
        for text in ["https://api.openai.com", "http://8.8.8.8", "http://[2001:db8::1]"] {
            assert!(!near(text), "{text}");
        }
    }
}
