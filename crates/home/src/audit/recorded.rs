//! What an untrusted call leaves in the audit: codes masked, length bounded.
//!
//! Start at [`recorded`]. Invariants: no code, password or token of a caller's is kept; however big a
//! call is, its record is small, so that nobody can push older lines out of the files with a few calls.

use serde_json::{Map, Value};

/// Limit: Characters of texts and keys of one call that are recorded.
pub const RECORDED_CHARS_MAX: usize = 8_000;
/// Of one text in it.
const TEXT_CHARS_MAX: usize = 1_000;
/// What any value costs beside its text.
const VALUE_CHARS: usize = 8;
/// Stands for what is masked or left out.
const LEFT_OUT: &str = "…";

/// The value as it may be kept.
pub fn recorded(value: &Value) -> Value {
    Copy { left: RECORDED_CHARS_MAX }.value(value)
}

/// Keys whose values are secrets, however they are written.
fn secret(key: &str) -> bool {
    let key = key.to_lowercase();
    let word = |word: &str| key.split(['_', '-', ' ']).any(|part| part == word);
    ["password", "passwd", "secret", "token", "credential", "passcode"].iter().any(|part| key.contains(part))
        || word("code")
        || word("pin")
        || word("key")
        || word("usercode")
}

struct Copy {
    left: usize,
}

impl Copy {
    fn value(&mut self, value: &Value) -> Value {
        self.left = self.left.saturating_sub(VALUE_CHARS);
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => Value::Array(self.list(items)),
            Value::Object(map) => Value::Object(self.object(map)),
            scalar => scalar.clone(),
        }
    }

    fn list(&mut self, items: &[Value]) -> Vec<Value> {
        let mut kept = Vec::new();
        for item in items {
            if self.left == 0 {
                kept.push(LEFT_OUT.into());
                break;
            }
            kept.push(self.value(item));
        }
        kept
    }

    fn object(&mut self, map: &Map<String, Value>) -> Map<String, Value> {
        let mut kept = Map::new();
        for (key, value) in map {
            if self.left == 0 {
                kept.insert(LEFT_OUT.to_owned(), Value::Null);
                break;
            }
            let value = if secret(key) && !value.is_null() { LEFT_OUT.into() } else { self.value(value) };
            kept.insert(self.text(key), value);
        }
        kept
    }

    fn text(&mut self, text: &str) -> String {
        let max = TEXT_CHARS_MAX.min(self.left);
        let mut shown: String = text.chars().take(max).collect();
        self.left = self.left.saturating_sub(max.min(text.len()));
        if shown.len() < text.len() {
            shown.push_str(LEFT_OUT);
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn codes_are_masked_wherever_they_stand_and_other_words_are_kept() {
        let call = json!({
            "data": { "code": "1234", "variables": [{ "door_code": 1234, "PIN": "1234", "alarm-pin": "1234" }] },
            "data2": { "api_key": "1234", "accessToken": "1234", "usercode": "1234", "code_format": null },
            "spinning": "kept", "keyboard": "kept", "encoder": "kept",
        });
        let text = recorded(&call).to_string();
        assert!(!text.contains("1234"), "{text}");
        assert_eq!(text.matches("kept").count(), 3, "{text}");
    }

    #[test]
    fn a_call_of_any_size_leaves_a_small_record() {
        let deep = (0..100).fold(json!("x".repeat(5_000)), |inner, _| json!({ "y".repeat(5_000): [inner] }));
        for call in [
            json!({ "data": "门".repeat(1_000_000) }),
            json!({ "data": vec!["light.a"; 100_000] }),
            json!({ "data": vec![1; 100_000] }),
            json!({ "x".repeat(1_000_000): 1 }),
            deep,
        ] {
            let length = recorded(&call).to_string().len();
            assert!(length < 4 * RECORDED_CHARS_MAX, "{length}");
        }
        let small = json!({ "domain": "light", "data": { "brightness_pct": 40, "entity_id": ["light.a"] } });
        assert_eq!(recorded(&small), small);
    }
}
