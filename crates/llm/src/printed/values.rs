//! A call that a model wrote as JSON. Start at [`calls`]. Invariant: every name in it is a tool of the
//! request, or nothing of it is a call.

use serde_json::{Map, Value};

use super::forms::Parsed;
use crate::calls::{Call, arguments_text};
use crate::names::Names;

const NAME_KEYS: &[&str] = &["name", "tool", "tool_name", "function", "action"];
const ARGUMENT_KEYS: &[&str] = &["arguments", "parameters", "args", "input", "tool_input", "action_input"];

/// One JSON value after the other, with nothing but commas and semicolons between. `bare` asks for
/// arguments: outside any mark of a call, a name alone proves nothing.
pub(super) fn calls(text: &str, bare: bool, names: &Names) -> Parsed {
    let mut rest = text.trim();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => match of_value(&value, bare, names) {
                Some(calls) => found.extend(calls),
                None => return Parsed::Not,
            },
            Some(Err(error)) if error.is_eof() => return Parsed::Incomplete,
            _ => return Parsed::Not,
        }
        rest = rest[values.byte_offset()..].trim_start_matches(|c: char| c.is_whitespace() || c == ',' || c == ';');
    }
    if found.is_empty() { Parsed::Not } else { Parsed::Calls(found) }
}

fn of_value(value: &Value, bare: bool, names: &Names) -> Option<Vec<Call>> {
    match value {
        Value::Array(list) if !list.is_empty() => {
            let calls: Option<Vec<Vec<Call>>> = list.iter().map(|value| of_value(value, bare, names)).collect();
            calls.map(|calls| calls.into_iter().flatten().collect())
        }
        Value::Object(object) => match object.get("tool_calls") {
            Some(list @ Value::Array(_)) => of_value(list, bare, names),
            _ => of_object(object, bare, names).map(|call| vec![call]),
        },
        _ => None,
    }
}

fn of_object(object: &Map<String, Value>, bare: bool, names: &Names) -> Option<Call> {
    let inner = match object.get("function") {
        Some(Value::Object(function)) => function,
        _ => object,
    };
    let name = NAME_KEYS.iter().find_map(|key| inner.get(*key).and_then(Value::as_str))?;
    let arguments = ARGUMENT_KEYS.iter().find_map(|key| inner.get(*key));
    let arguments = match arguments {
        Some(value @ (Value::Object(_) | Value::String(_) | Value::Null)) => arguments_text(value),
        Some(_) => return None,
        None if bare => return None,
        None => String::new(),
    };
    let tool = names.tool(name)?;
    let id = object.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    Some(Call { id, name: tool.name.clone(), arguments })
}

/// A call inside a mark of one whose JSON is broken: the name where it can be read, and the arguments as
/// far as they go. The kernel tells the model what is wrong with them.
pub(super) fn broken(text: &str, names: &Names) -> Option<Call> {
    let name = after_key(text, "name")?.strip_prefix('"')?.split('"').next()?;
    let tool = names.tool(name)?;
    let rest = ARGUMENT_KEYS.iter().find_map(|key| after_key(text, key)).unwrap_or_default().trim();
    let first = serde_json::Deserializer::from_str(rest).into_iter::<Value>().next();
    let arguments = match first {
        Some(Ok(value @ Value::Object(_))) => value.to_string(),
        _ => rest.to_owned(),
    };
    Some(Call { id: String::new(), name: tool.name.clone(), arguments })
}

fn after_key<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let quoted = format!("\"{key}\"");
    let rest = &text[text.find(&quoted)? + quoted.len()..];
    rest.trim_start().strip_prefix(':').map(str::trim_start)
}
