//! Who may read and write what. Start at [`Caller::may_write`]. Invariant: what is not allowed here is
//! refused; the operator alone writes keys of trust.

use std::collections::BTreeSet;

use sdk::{ConfigType, Failure};
use serde_json::Value;

use super::trust::sounds_like_trust;
use super::{CORE, Settings, forbidden, is_trust_key};

/// What a plugin was granted: `settings.core.write`, `settings.<plugin>.read`, `settings.<plugin>.write`;
/// `settings.*.read` and `settings.*.write` for every other plugin. Writing includes reading.
pub type Capabilities = BTreeSet<String>;

/// Free text that a model may set, in characters: more would be a place for instructions.
const MODEL_TEXT_CHARS_MAX: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A person by file, environment, command line or a console session.
    Operator,
    Plugin {
        name: String,
        capabilities: Capabilities,
    },
    Model,
    ApiToken,
}

impl Caller {
    /// The space that `get` and `set` mean.
    pub(super) fn own(&self) -> &str {
        match self {
            Self::Plugin { name, .. } => name,
            _ => CORE,
        }
    }

    fn granted(&self, space: &str, what: &[&str]) -> bool {
        let Self::Plugin { name, capabilities } = self else { return false };
        if space == name {
            return true;
        }
        let any = if space == CORE { CORE } else { "*" };
        what.iter()
            .any(|what| [space, any].iter().any(|space| capabilities.contains(&format!("settings.{space}.{what}"))))
    }

    /// Whether values of this space may be read at all; secrets are masked anyway.
    pub(super) fn may_read(&self, space: &str) -> Result<(), Failure> {
        if space == CORE || !matches!(self, Self::Plugin { .. }) || self.granted(space, &["read", "write"]) {
            return Ok(());
        }
        Err(forbidden(format!(
            "the settings of `{space}` are not yours: the operator can grant `settings.{space}.read`"
        )))
    }

    /// Whether a key is shown: to a model only what is defined, and neither secrets nor what sounds like one
    /// or like trust.
    pub(super) fn may_see(&self, settings: &Settings, space: &str, key: &str) -> bool {
        *self != Self::Model
            || !sounds_like_trust(key)
                && settings.read(|state| state.def(space, key).is_some() && !state.is_secret(space, key))
    }

    pub(super) fn may_write(&self, settings: &Settings, space: &str, key: &str, value: &Value) -> Result<(), Failure> {
        if *self == Self::Operator {
            return Ok(());
        }
        if is_trust_key(space, key) {
            return Err(forbidden(format!(
                "`{key}` decides whom this house trusts: only the operator changes it, in menshen.toml, the environment or the console. Nothing was changed."
            )));
        }
        match self {
            Self::Model => model_may(settings, space, key, value),
            Self::Plugin { .. } if !self.granted(space, &["write"]) => Err(forbidden(format!(
                "writing the settings of `{space}` was not granted: the operator can grant `settings.{space}.write`. Nothing was changed."
            ))),
            _ => Ok(()),
        }
    }
}

/// A model sets what is defined, is no secret and holds no sentence.
fn model_may(settings: &Settings, space: &str, key: &str, value: &Value) -> Result<(), Failure> {
    let no = |what: &str| Err(forbidden(format!("`{key}` {what}: a person can, in the console. Nothing was changed.")));
    if space != CORE {
        return no("belongs to a plugin and cannot be set from a conversation");
    }
    if settings.read(|state| state.is_secret(space, key)) {
        return no("is a secret and cannot be set from a conversation");
    }
    let free = settings.read(|state| {
        state.def(space, key).is_some_and(|def| def.kind == ConfigType::String && def.options.is_empty())
    });
    let text = value.as_str().unwrap_or_default();
    if free && (text.chars().count() > MODEL_TEXT_CHARS_MAX || decide::text::clean(text, usize::MAX / 8) != text) {
        return no("takes no long or many-lined text from a conversation");
    }
    Ok(())
}
