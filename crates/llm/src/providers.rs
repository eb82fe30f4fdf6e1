//! Well-known providers: their addresses as documented, and where they differ within one wire format.
//! Start at [`Provider`]. Invariant: whatever a provider differs in can also be set by hand in a
//! [`Config`](crate::Config), so that a new provider needs no change here.

use reqwest::Url;
use serde::{Deserialize, Serialize};

use crate::config::Kind;

/// How a text of ours is sent that stands in the middle or at the end of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LateText {
    /// As a message of role `system`.
    System,
    /// On the user's side, marked; joined to a message of the user where one stands last.
    User,
    /// With the first system message: for templates that take nothing else. It spoils the prompt cache.
    Front,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    DeepSeek,
    Qwen,
    Moonshot,
    OpenRouter,
    OpenAi,
    Anthropic,
    Ollama,
    LmStudio,
    LlamaCpp,
    /// Any other server.
    Other(Kind),
}

/// Short name, provider, documented address.
const KNOWN: &[(&str, Provider, &str)] = &[
    ("deepseek", Provider::DeepSeek, "https://api.deepseek.com/v1"),
    ("qwen", Provider::Qwen, "https://dashscope.aliyuncs.com/compatible-mode/v1"),
    ("moonshot", Provider::Moonshot, "https://api.moonshot.cn/v1"),
    ("openrouter", Provider::OpenRouter, "https://openrouter.ai/api/v1"),
    ("openai", Provider::OpenAi, "https://api.openai.com/v1"),
    ("anthropic", Provider::Anthropic, "https://api.anthropic.com"),
    ("ollama", Provider::Ollama, "http://127.0.0.1:11434"),
    ("lmstudio", Provider::LmStudio, "http://127.0.0.1:1234/v1"),
    ("llamacpp", Provider::LlamaCpp, "http://127.0.0.1:8080/v1"),
];

/// Hosts that tell a provider who is not named.
const HOSTS: &[(&str, Provider)] = &[
    ("deepseek.com", Provider::DeepSeek),
    ("aliyuncs.com", Provider::Qwen),
    ("moonshot.cn", Provider::Moonshot),
    ("moonshot.ai", Provider::Moonshot),
    ("openrouter.ai", Provider::OpenRouter),
    ("api.openai.com", Provider::OpenAi),
    ("anthropic.com", Provider::Anthropic),
];

impl Provider {
    pub fn named(short: &str) -> Option<Self> {
        KNOWN.iter().find(|(name, ..)| name.eq_ignore_ascii_case(short)).map(|(_, provider, _)| *provider)
    }

    pub fn short_names() -> impl Iterator<Item = &'static str> {
        KNOWN.iter().map(|(name, ..)| *name)
    }

    pub(crate) fn at(url: &Url, kind: Kind) -> Self {
        let host = url.host_str().unwrap_or_default();
        let of_host = HOSTS.iter().find(|(end, _)| host == *end || host.ends_with(&format!(".{end}")));
        let of_address = || KNOWN.iter().find(|(.., address)| url.as_str().trim_end_matches('/') == *address);
        let found = of_host.map(|(_, provider)| *provider).or_else(|| of_address().map(|(_, provider, _)| *provider));
        match found {
            // DeepSeek and others also speak Anthropic's format, under the same host.
            Some(provider) if provider.kind() == kind => provider,
            _ => Provider::Other(kind),
        }
    }

    pub(crate) fn address(self) -> Option<&'static str> {
        KNOWN.iter().find(|(_, provider, _)| *provider == self).map(|(.., address)| *address)
    }

    pub(crate) fn kind(self) -> Kind {
        match self {
            Provider::Anthropic => Kind::Anthropic,
            Provider::Ollama => Kind::Ollama,
            Provider::Other(kind) => kind,
            _ => Kind::OpenAi,
        }
    }

    pub(crate) fn needs_key(self) -> bool {
        !matches!(self, Provider::Ollama | Provider::LmStudio | Provider::LlamaCpp | Provider::Other(_))
    }

    /// Where nothing is configured: what the provider's smaller models take, careful for local ones.
    pub(crate) fn context_tokens(self) -> u64 {
        match self {
            Provider::Anthropic => 200_000,
            Provider::DeepSeek | Provider::Qwen | Provider::Moonshot | Provider::OpenRouter | Provider::OpenAi => {
                128_000
            }
            Provider::Other(Kind::Anthropic) => 100_000,
            Provider::Other(Kind::OpenAi) => 32_768,
            Provider::Ollama | Provider::LmStudio | Provider::LlamaCpp | Provider::Other(Kind::Ollama) => 16_384,
        }
    }

    /// Local servers run the model's own template, and many of those allow a system message in front only.
    pub(crate) fn late_text(self) -> LateText {
        match self {
            Provider::DeepSeek | Provider::Qwen | Provider::Moonshot | Provider::OpenRouter | Provider::OpenAi => {
                LateText::System
            }
            _ => LateText::User,
        }
    }

    pub(crate) fn output_limit_field(self) -> &'static str {
        if self == Provider::OpenAi { "max_completion_tokens" } else { "max_tokens" }
    }

    /// These refuse a tool result whose call comes without the reasoning that led to it.
    pub(crate) fn wants_reasoning_back(self) -> bool {
        matches!(self, Provider::DeepSeek | Provider::Moonshot | Provider::OpenRouter)
    }
}
