//! Keys that decide whom this house trusts. Start at [`is_trust_key`]. Invariant: no model, tool, plugin
//! or API token writes one, whatever it was granted.

use super::CORE;

/// Patterns over keys of the core; `*` stands for any text. A leading `core.` does not count.
pub const TRUST_KEYS: &[&str] = &[
    "gate*",
    "guard*",
    "grant*",
    "approv*",
    "auth*",
    "network*",
    "server*",
    "house*",
    "mcp*",
    "plugin*",
    "shell*",
    "bash*",
    "webhook*",
    "audit*",
    "budget*",
    "limits*",
    // What a model is told to be.
    "persona*",
    "*prompt*",
    // Where data goes, and with which right.
    "llm.sources.*.base_url",
    "*url",
    "*address",
    "*host",
    "*hosts",
    "*.key",
    "*_key",
    "*.token",
    "*_token",
    "*password*",
    "*secret*",
    "*header*",
    "*proxy*",
    "*command*",
    "*path",
    "*dir",
];

/// Whether a key decides whom to trust. Spelling tricks do not help: keys that differ in more than case
/// from what is allowed are refused before.
pub fn is_trust_key(space: &str, key: &str) -> bool {
    space == CORE && sounds_like_trust(key)
}

/// The same by the name alone: what a model is not shown of a plugin's settings either.
pub(super) fn sounds_like_trust(key: &str) -> bool {
    let key = key.trim().to_ascii_lowercase();
    let mut key = key.as_str();
    while let Some(rest) = key.strip_prefix("core.") {
        key = rest;
    }
    TRUST_KEYS.iter().any(|pattern| fits(pattern, key))
}

/// Whether a text fits a pattern in which `*` stands for any text, none included.
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, expected) in [
            ("gate*", "gate.mode", true),
            ("gate*", "gate", true),
            ("gate*", "a.gate", false),
            ("*prompt*", "agent.system_prompt", true),
            ("a.*.b", "a.x.b", true),
            ("a.*.b", "a.x.y.b", true),
            ("a.*.b", "a.b", false),
            ("ab*ba", "aba", false),
            ("*.key", "key", false),
            ("x", "x", true),
            ("x", "xy", false),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn what_decides_whom_to_trust_is_known_as_such() {
        for key in [
            "gate.mode",
            "core.gate.mode",
            "core.core.gate.mode",
            "GATE.mode",
            "guards",
            "grants",
            "approvers.list",
            "auth.tokens",
            "network.bind",
            "llm.sources.openai.base_url",
            "llm.sources.openai.key",
            "llm.sources.openai.api_key",
            "llm.embeddings.base_url",
            "mcp.servers.files.command",
            "plugins.enabled",
            "shell.enabled",
            "webhook.url",
            "house.url",
            "house.token",
            "agent.system_prompt",
            "persona.file",
        ] {
            assert!(is_trust_key(CORE, key), "{key}");
        }
        for key in ["language", "llm.sources.openai.model", "llm.source", "memory.recall_depth", "chat.colour"] {
            assert!(!is_trust_key(CORE, key), "{key}");
        }
        assert!(!is_trust_key("weather", "gate.mode"));
    }
}
