//! Keys, values and definitions, checked. Start at [`value`]. Invariant: the message of a refusal names
//! the key and what would be right, and never shows the value of a secret.

use sdk::{ConfigDef, ConfigType, Failure};
use serde_json::{Value, json};

use super::{CORE, SETTING_BYTES_MAX};

const KEY_CHARS_MAX: usize = 128;

pub(super) fn masked(set: bool) -> Value {
    json!({"secret": true, "set": set})
}

/// A key as it may be stored: parts of ASCII letters, digits, `_` and `-` with dots between; in the core lower case.
pub(super) fn key(space: &str, key: &str) -> Result<(), Failure> {
    let letter = |c: char| {
        c.is_ascii_lowercase()
            || c.is_ascii_digit()
            || matches!(c, '_' | '-')
            || (space != CORE && c.is_ascii_uppercase())
    };
    let part = |part: &str| !part.is_empty() && part.chars().all(letter);
    if key.len() <= KEY_CHARS_MAX && key.split('.').all(part) {
        return Ok(());
    }
    Err(Failure::invalid(format!(
        "\"{}\" is no key: use lower-case letters, digits, _ and -, with dots between, at most {KEY_CHARS_MAX}",
        decide::text::clean(key, 60)
    )))
}

/// A value as a definition allows it.
pub(super) fn value(def: &ConfigDef, key: &str, value: &Value) -> Result<(), Failure> {
    let wrong = |what: String| Err(Failure::invalid(format!("`{key}` {what}. Nothing was changed.")));
    match (def.kind, value) {
        (ConfigType::String, Value::String(text)) => {
            if def.required && text.trim().is_empty() {
                return wrong("must not be empty".to_owned());
            }
        }
        (ConfigType::Boolean, Value::Bool(_)) => {}
        (ConfigType::Number, Value::Number(number)) => {
            if let Some(what) = number.as_f64().and_then(|number| out_of_range(def, number)) {
                return wrong(what);
            }
        }
        (kind, _) => return wrong(format!("must be a {}", named(kind))),
    }
    let text = plain(value);
    if !def.options.is_empty() && !def.options.contains(&text) {
        return wrong(format!("must be one of: {}", def.options.join(", ")));
    }
    Ok(())
}

fn out_of_range(def: &ConfigDef, number: f64) -> Option<String> {
    if let Some(min) = def.min.filter(|min| number < *min) {
        return Some(format!("must be at least {min}"));
    }
    if let Some(max) = def.max.filter(|max| number > *max) {
        return Some(format!("must be at most {max}"));
    }
    let step = def.step?;
    let from = def.min.unwrap_or(0.0);
    let steps = (number - from) / step;
    // What a decimal step leaves over in binary.
    ((steps - steps.round()).abs() > 1e-6).then(|| format!("must go in steps of {step} from {from}"))
}

fn named(kind: ConfigType) -> &'static str {
    match kind {
        ConfigType::String => "string",
        ConfigType::Number => "number",
        ConfigType::Boolean => "boolean",
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

pub(super) fn size(key: &str, value: &Value) -> Result<(), Failure> {
    let bytes = value.to_string().len();
    if bytes <= SETTING_BYTES_MAX {
        return Ok(());
    }
    Err(Failure::invalid(format!(
        "`{key}` has {bytes} bytes: at most {SETTING_BYTES_MAX} fit, keep more in a document. Nothing was changed."
    )))
}

/// Text of a flag or the environment as its definition means it.
pub(super) fn read(def: Option<&ConfigDef>, value: &Value) -> Value {
    let (Some(def), Value::String(text)) = (def, value) else { return value.clone() };
    let text = text.trim();
    let typed = match def.kind {
        ConfigType::String => None,
        ConfigType::Number => {
            text.parse::<i64>().ok().map(Value::from).or_else(|| text.parse::<f64>().ok().map(Value::from))
        }
        ConfigType::Boolean => match text.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Some(Value::Bool(true)),
            "false" | "0" | "no" | "off" => Some(Value::Bool(false)),
            _ => None,
        },
    };
    typed.unwrap_or_else(|| value.clone())
}

/// A definition that can be held.
pub(super) fn definition(space: &str, def: &ConfigDef) -> Result<(), Failure> {
    // Any one part may be open, in the core only.
    let plain_key = if space == CORE { def.key.replace(".*", ".x") } else { def.key.clone() };
    key(space, &plain_key)?;
    let wrong = |what: &str| Err(Failure::invalid(format!("the definition of `{}` {what}", def.key)));
    if let (Some(min), Some(max)) = (def.min, def.max)
        && min > max
    {
        return wrong("has a min above its max");
    }
    if def.step.is_some_and(|step| step.is_nan() || step <= 0.0) {
        return wrong("has a step that is not above zero");
    }
    let range = def.min.is_some() || def.max.is_some() || def.step.is_some();
    if range && def.kind != ConfigType::Number {
        return wrong("has min, max or step, which only numbers have");
    }
    match &def.default {
        Some(_) if def.secret => wrong("has a default for a secret, which everybody would know"),
        Some(default) if value(def, &def.key, default).is_err() => wrong("has a default that it does not allow itself"),
        _ => Ok(()),
    }
}
