//! JSON as text for a model: two spaces deep, but what fits on a line stays on it, since every blank
//! is paid for. Start at [`print`]. Invariant: parses back to the same value.

use serde_json::Value;

/// Longest value that stays on one line, in characters.
const LINE_CHARS: usize = 240;

/// Keys that a reader wants first; the rest follows in the map's own order.
const FIRST: [&str; 12] = [
    "ok",
    "refused",
    "error",
    "message",
    "ran",
    "dry_run",
    "match",
    "entity_id",
    "name",
    "connected",
    "stale",
    "count",
];

pub fn print(value: &Value) -> String {
    let mut out = String::new();
    put(value, 0, &mut out);
    out
}

fn put(value: &Value, depth: usize, out: &mut String) {
    let mut line = String::new();
    if depth > 0 && flat(value, &mut line) {
        out.push_str(&line);
        return;
    }
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.push('{');
            for (position, (key, value)) in ordered(map).enumerate() {
                start(position, depth + 1, out);
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push_str(": ");
                put(value, depth + 1, out);
            }
            end('}', depth, out);
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('[');
            for (position, item) in items.iter().enumerate() {
                start(position, depth + 1, out);
                put(item, depth + 1, out);
            }
            end(']', depth, out);
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

fn start(position: usize, depth: usize, out: &mut String) {
    out.push_str(if position == 0 { "\n" } else { ",\n" });
    (0..depth).for_each(|_| out.push_str("  "));
}

fn end(bracket: char, depth: usize, out: &mut String) {
    out.push('\n');
    (0..depth).for_each(|_| out.push_str("  "));
    out.push(bracket);
}

/// The value on one line, or `false` as soon as it is too long for one.
fn flat(value: &Value, line: &mut String) -> bool {
    match value {
        Value::Object(map) => {
            line.push('{');
            for (position, (key, value)) in ordered(map).enumerate() {
                line.push_str(if position == 0 { "" } else { ", " });
                line.push_str(&Value::from(key.as_str()).to_string());
                line.push_str(": ");
                if !flat(value, line) {
                    return false;
                }
            }
            line.push('}');
        }
        Value::Array(items) => {
            line.push('[');
            for (position, item) in items.iter().enumerate() {
                line.push_str(if position == 0 { "" } else { ", " });
                if !flat(item, line) {
                    return false;
                }
            }
            line.push(']');
        }
        scalar => line.push_str(&scalar.to_string()),
    }
    line.chars().count() <= LINE_CHARS
}

fn ordered(map: &serde_json::Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let first = FIRST.iter().filter_map(|key| map.get_key_value(*key));
    first.chain(map.iter().filter(|(key, _)| !FIRST.contains(&key.as_str())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_fits_on_a_line_stays_there_and_all_parses_back() {
        let long = "x".repeat(LINE_CHARS);
        let value =
            json!({"rooms": [{"name": "\"Bed\"", "rgb": [1, 2, 3]}], "ok": true, "none": {}, "long": [long, null]});
        let text = print(&value);
        assert_eq!(serde_json::from_str::<Value>(&text).ok(), Some(value));
        assert!(text.starts_with("{\n  \"ok\": true,\n  \"long\": [\n    \"xxx"), "{text}");
        assert!(text.contains("\"rooms\": [{\"name\": \"\\\"Bed\\\"\", \"rgb\": [1, 2, 3]}]"), "{text}");
    }
}
