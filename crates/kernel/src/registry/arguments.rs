//! Arguments of a call: read leniently where only the spelling is off, held strictly to the schema. Start
//! at [`fitted`] and [`checked`]. Invariant: an error says which field, what is wrong and what is wanted, so that a model
//! can mend it.

use jsonschema::Validator;
use serde_json::{Map, Value, json};

/// What could not be read as an object stands under this name.
pub const UNREADABLE: &str = "_unreadable_arguments";
/// Most errors told at once.
const ERRORS_MAX: usize = 8;
/// Letters of a wrong value that stand in an error; a longer one is not repeated.
const VALUE_CHARS_MAX: usize = 120;

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

/// Spellings that can only mean one thing: a list of texts where a text is wanted, a number or an object
/// that was written as a text. All else stays as it is, for [`checked`] to judge.
pub fn fitted(parameters: &Value, arguments: &Map<String, Value>) -> Map<String, Value> {
    let wanted = |name: &str| parameters.pointer(&format!("/properties/{name}/type")).and_then(Value::as_str);
    let fit = |(name, value): (&String, &Value)| {
        let fitting = wanted(name).and_then(|wanted| read_as(wanted, value));
        (name.clone(), fitting.unwrap_or_else(|| value.clone()))
    };
    arguments.iter().map(fit).collect()
}

fn read_as(wanted: &str, value: &Value) -> Option<Value> {
    match (wanted, value) {
        ("string", Value::Array(list)) => {
            let texts: Vec<&str> = list.iter().map(Value::as_str).collect::<Option<_>>()?;
            // A comma in one of them would make two of it.
            let plain = !texts.is_empty() && texts.iter().all(|text| !text.contains([',', '，']));
            plain.then(|| json!(texts.join(",")))
        }
        ("integer" | "number" | "boolean" | "object" | "array", Value::String(text)) => {
            let read: Value = serde_json::from_str(text.trim()).ok()?;
            let fits = match wanted {
                "integer" => read.is_i64() || read.is_u64(),
                "number" => read.is_number(),
                "boolean" => read.is_boolean(),
                "object" => read.is_object(),
                _ => read.is_array(),
            };
            fits.then_some(read)
        }
        _ => None,
    }
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
            // The reason stands behind the value, which may be long.
            let short = error.instance().to_string().len() <= VALUE_CHARS_MAX;
            let text = if short { error.to_string() } else { error.masked().to_string() };
            let message: String = text.chars().take(300).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_that_can_only_mean_one_thing_are_read() {
        let parameters = json!({"properties": {
            "id": {"type": "string"}, "count": {"type": "integer"}, "data": {"type": "object"},
            "list": {"type": "array"}, "on": {"type": "boolean"}, "any": {},
        }});
        for (given, wanted) in [
            (json!({"id": ["a", "b"]}), json!({"id": "a,b"})),
            (json!({"id": ["a, b", "c"]}), json!({"id": ["a, b", "c"]})),
            (json!({"id": []}), json!({"id": []})),
            (json!({"id": 3}), json!({"id": 3})),
            (json!({"count": "5", "on": "true"}), json!({"count": 5, "on": true})),
            (json!({"count": "5.5"}), json!({"count": "5.5"})),
            (json!({"count": "five"}), json!({"count": "five"})),
            (json!({"data": "{\"a\": 1}", "list": "[1]"}), json!({"data": {"a": 1}, "list": [1]})),
            (json!({"data": "[1]", "any": "5", "other": "5"}), json!({"data": "[1]", "any": "5", "other": "5"})),
        ] {
            assert_eq!(Value::Object(fitted(&parameters, given.as_object().unwrap())), wanted, "{given}");
        }
    }

    #[test]
    fn a_long_wrong_value_does_not_hide_the_reason() {
        let schema = jsonschema::validator_for(&json!({"properties": {"id": {"type": "string"}}})).unwrap();
        let long = json!({"id": vec!["a, b"; 5000]});
        let told = checked(&schema, long.as_object().unwrap()).unwrap_err().to_string();
        assert!(told.contains("is not of type") && told.len() < 500, "{told}");
    }
}
