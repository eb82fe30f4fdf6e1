//! Response data of services, as data: a forecast, a script's answer, a to-do list. Start at [`put`].
//! Invariant: texts are cleaned and the whole is capped; that something was left out is said.

use decide::text::clean;
use serde_json::{Map, Value, json};

/// Limit: characters of a response.
const RESPONSE_CHARS_MAX: usize = 16_000;
/// Of one text in it, and of one key.
const TEXT_CHARS_MAX: usize = 2_000;
const KEY_CHARS_MAX: usize = 200;
/// What any value costs beside its text.
const VALUE_CHARS: usize = 8;

/// One response stands as it is, several as a list.
pub fn put(answer: &mut Map<String, Value>, responses: &[Value]) {
    let mut copy = Copy { left: RESPONSE_CHARS_MAX, whole: true };
    let response = match responses {
        [one] => copy.value(one),
        several => copy.list(several),
    };
    answer.insert("response".into(), response);
    if !copy.whole {
        answer.insert("response_truncated".into(), json!(true));
    }
}

struct Copy {
    left: usize,
    whole: bool,
}

impl Copy {
    fn value(&mut self, value: &Value) -> Value {
        self.left = self.left.saturating_sub(VALUE_CHARS);
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => self.list(items),
            Value::Object(map) => {
                let mut kept = Map::new();
                for (key, value) in map {
                    if self.spent() {
                        break;
                    }
                    self.left = self.left.saturating_sub(key.len());
                    kept.insert(clean(key, KEY_CHARS_MAX), self.value(value));
                }
                Value::Object(kept)
            }
            scalar => scalar.clone(),
        }
    }

    fn list(&mut self, items: &[Value]) -> Value {
        let mut kept = Vec::new();
        for item in items {
            if self.spent() {
                break;
            }
            kept.push(self.value(item));
        }
        Value::Array(kept)
    }

    fn text(&mut self, text: &str) -> String {
        let max = TEXT_CHARS_MAX.min(self.left);
        let shown = clean(text, max);
        let count = shown.chars().count();
        // `clean` adds a mark where it cuts, and so comes out one longer than allowed.
        self.whole &= count <= max;
        self.left = self.left.saturating_sub(count);
        shown
    }

    fn spent(&mut self) -> bool {
        self.whole &= self.left > 0;
        self.left == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_clean_capped_and_says_when_it_was_cut() {
        let mut answer = Map::new();
        put(&mut answer, &[json!({"a\u{202e}": ["x\u{7}y", 1, null, {"t": "plain"}]})]);
        assert_eq!(Value::Object(answer), json!({"response": {"a": ["xy", 1, null, {"t": "plain"}]}}));

        let mut answer = Map::new();
        put(&mut answer, &[json!("x".repeat(3_000)), json!(vec!["some text"; 5_000])]);
        assert_eq!(answer["response_truncated"], json!(true));
        assert!(answer["response"].to_string().len() < 2 * RESPONSE_CHARS_MAX);
        assert_eq!(answer["response"][0].as_str().map(|text| text.chars().count()), Some(TEXT_CHARS_MAX + 1));
    }
}
