//! Arguments as a model wrote them, read strictly. Start at [`Arguments::read`]. Invariant: an
//! argument that the tool does not have is an error, never silently dropped; no tool has one that
//! confirms anything.

use decide::gate::Language;
use decide::text;
use serde_json::{Map, Value};

use super::answer::{bad_request, say};

/// Limit: characters of all texts and keys in the arguments of one call.
pub const ARGUMENT_BYTES_MAX: usize = 64 * 1024;
/// Limit: values in the arguments of one call, those inside lists and objects counted.
pub const ARGUMENT_VALUES_MAX: usize = 4_000;

/// How much of a wrong argument is shown back, in characters.
const ECHO_CHARS: usize = 60;

pub struct Arguments<'a> {
    given: &'a Map<String, Value>,
    language: Language,
}

impl<'a> Arguments<'a> {
    /// Nothing, or why this is more than any tool reads. Looked at before anything else, since a call
    /// that is worked on or waits must be small.
    pub fn too_big(given: &Map<String, Value>, language: Language) -> Option<Value> {
        let mut left = (ARGUMENT_BYTES_MAX, ARGUMENT_VALUES_MAX);
        if given.iter().all(|(key, value)| take(key.len(), &mut left) && fits(value, &mut left)) {
            return None;
        }
        Some(bad_request(match language {
            Language::English => format!(
                "These arguments are too big: at most {} KiB of text and {ARGUMENT_VALUES_MAX} values go in one call. Nothing was done. Name an area, floor or label instead of many ids.",
                ARGUMENT_BYTES_MAX / 1024
            ),
            Language::Chinese => format!(
                "参数太大：一次最多 {} KiB 文本、{ARGUMENT_VALUES_MAX} 个值。没有执行任何操作。请用区域、楼层或标签代替大量 id。",
                ARGUMENT_BYTES_MAX / 1024
            ),
        }))
    }

    /// The arguments, if the tool knows each of them.
    pub fn read(given: &'a Map<String, Value>, known: &[&str], language: Language) -> Result<Self, Value> {
        match given.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(Self { given, language }),
            Some(key) => {
                let key = text::clean(key, ECHO_CHARS);
                let known = if known.is_empty() { "-".to_owned() } else { known.join(", ") };
                Err(bad_request(match language {
                    Language::English => {
                        format!("This tool has no argument \"{key}\". It has: {known}. Nothing was done.")
                    }
                    Language::Chinese => format!("这个工具没有参数“{key}”。它的参数有：{known}。没有执行任何操作。"),
                }))
            }
        }
    }

    /// What was given under this key; `null` counts as not given.
    pub fn value(&self, key: &str) -> Option<&'a Value> {
        self.given.get(key).filter(|value| !value.is_null())
    }

    /// A text, trimmed; a blank one counts as not given.
    pub fn text(&self, key: &str) -> Result<Option<&'a str>, Value> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
            Some(_) => Err(self.wrong(key, "a text", "文本")),
        }
    }

    /// A text that the tool cannot do without.
    pub fn required(&self, key: &str) -> Result<&'a str, Value> {
        self.text(key)?.ok_or_else(|| {
            bad_request(match self.language {
                Language::English => format!("\"{key}\" is missing."),
                Language::Chinese => format!("缺少“{key}”。"),
            })
        })
    }

    /// A whole number from 0 up; numbers written as text are numbers too.
    pub fn count(&self, key: &str) -> Result<Option<usize>, Value> {
        let number = match self.value(key) {
            None => return Ok(None),
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(value) => value.as_u64().and_then(|number| usize::try_from(number).ok()),
        };
        number.map(Some).ok_or_else(|| self.wrong(key, "a whole number", "整数"))
    }

    pub fn flag(&self, key: &str) -> Result<bool, Value> {
        match self.value(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(text)) if text == "true" || text == "false" => Ok(text == "true"),
            Some(_) => Err(self.wrong(key, "true or false", "true 或 false")),
        }
    }

    /// An object; a text that holds one counts, since small models send that.
    pub fn object(&self, key: &str) -> Result<Map<String, Value>, Value> {
        let found = match self.value(key) {
            None => return Ok(Map::new()),
            Some(Value::Object(map)) => Some(map.clone()),
            Some(Value::String(text)) if text.trim().is_empty() => return Ok(Map::new()),
            Some(Value::String(text)) => serde_json::from_str(text).ok(),
            Some(_) => None,
        };
        found.ok_or_else(|| self.wrong(key, "an object", "对象"))
    }

    fn wrong(&self, key: &str, english: &str, chinese: &str) -> Value {
        let what = say(self.language, english, chinese);
        bad_request(match self.language {
            Language::English => format!("\"{key}\" must be {what}. Nothing was done."),
            Language::Chinese => format!("“{key}”必须是{what}。没有执行任何操作。"),
        })
    }
}

/// Counts one value and its text off what is left; false when that is used up.
fn take(bytes: usize, (bytes_left, values_left): &mut (usize, usize)) -> bool {
    match (bytes_left.checked_sub(bytes), values_left.checked_sub(1)) {
        (Some(bytes), Some(values)) => {
            (*bytes_left, *values_left) = (bytes, values);
            true
        }
        _ => false,
    }
}

fn fits(value: &Value, left: &mut (usize, usize)) -> bool {
    match value {
        Value::String(text) => take(text.len(), left),
        Value::Array(items) => take(0, left) && items.iter().all(|item| fits(item, left)),
        Value::Object(map) => {
            take(0, left) && map.iter().all(|(key, value)| take(key.len(), left) && fits(value, left))
        }
        _ => take(0, left),
    }
}
