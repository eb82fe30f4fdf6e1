//! Arguments of a call: read leniently where only the spelling is off, held strictly to the schema. Start
//! at [`checked`]. Invariant: an error says which field, what is wrong and what is wanted, so that a model
//! can mend it.

use jsonschema::Validator;
use serde_json::{Map, Value, json};

/// What could not be read as an object stands under this name.
pub const UNREADABLE: &str = "_unreadable_arguments";
/// Most errors told at once.
const ERRORS_MAX: usize = 8;

/// The arguments as the model wrote them. Empty text is no arguments; JSON in a JSON string is read.
pub fn parsed(text: &str) -> Map<String, Value> {
    let trimmed = text.trim();
    if trimmed.is_empty() || trimmed == "null" {
        return Map::new();
    }
    match serde_json::from_str(trimmed) {
        Ok(Value::Object(map)) => map,
        Ok(Value::String(inner)) => match serde_json::from_str(&inner) {
            Ok(Value::Object(map)) => map,
            _ => unreadable(text, "a text, not an object"),
        },
        Ok(_) => unreadable(text, "not an object"),
        Err(error) => unreadable(text, &error.to_string()),
    }
}

fn unreadable(text: &str, why: &str) -> Map<String, Value> {
    let start: String = text.chars().take(200).collect();
    let mut map = Map::new();
    map.insert(UNREADABLE.to_owned(), json!({ "why": why, "starts": start, "bytes": text.len() }));
    map
}

pub fn checked(schema: &Validator, arguments: &Map<String, Value>) -> Result<(), Value> {
    if let Some(found) = arguments.get(UNREADABLE) {
        return Err(json!({
            "isError": true, "code": "bad_arguments", "error": "the arguments are no JSON object", "found": found,
            "hint": "send one complete JSON object",
        }));
    }
    let instance = Value::Object(arguments.clone());
    let errors: Vec<Value> = schema
        .iter_errors(&instance)
        .take(ERRORS_MAX)
        .map(|error| {
            let message: String = error.to_string().chars().take(300).collect();
            json!({ "field": error.instance_path().to_string(), "reason": message })
        })
        .collect();
    if errors.is_empty() {
        return Ok(());
    }
    Err(json!({
        "isError": true, "code": "bad_arguments", "error": "the arguments do not fit the tool's parameters; nothing was done",
        "errors": errors, "hint": "mend the named fields and call again",
    }))
}
