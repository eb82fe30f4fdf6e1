//! Long results: cut for the model, the rest kept for a while. Start at [`Rests::bounded`]. Invariant: a
//! cut is always said, with how to read on; what is kept is bounded, and is read in its own session only.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

/// Limit: characters of one tool result that go to the model; `read_result` reads on.
pub const RESULT_CHARS_MAX: usize = 16_000;
/// Limit: long results that are kept whole for `read_result`; older ones are forgotten.
pub const RESULTS_KEPT_MAX: usize = 32;
/// Limit: characters of one result that are kept for `read_result`.
pub const KEPT_CHARS_MAX: usize = 2_000_000;

/// Providers number their calls anew in each session.
struct Kept {
    session: String,
    call_id: String,
    text: String,
}

impl Kept {
    fn is(&self, session: &str, call_id: &str) -> bool {
        self.session == session && self.call_id == call_id
    }
}

#[derive(Default)]
pub struct Rests {
    kept: Mutex<VecDeque<Kept>>,
}

impl Rests {
    /// The result itself, or its beginning with a note.
    pub fn bounded(&self, session: &str, call_id: &str, result: Value) -> Value {
        let text = match &result {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let count = text.chars().count();
        if count <= RESULT_CHARS_MAX {
            return result;
        }
        let start: String = text.chars().take(RESULT_CHARS_MAX).collect();
        let kept: String = text.chars().take(KEPT_CHARS_MAX).collect();
        let mut all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|other| !other.is(session, call_id));
        all.push_back(Kept { session: session.to_owned(), call_id: call_id.to_owned(), text: kept });
        while all.len() > RESULTS_KEPT_MAX {
            all.pop_front();
        }
        let mut cut = json!({
            "text": start, "truncated": true, "chars": count, "call_id": call_id, "next_offset": RESULT_CHARS_MAX,
            "hint": "read_result with this call_id and offset reads on",
        });
        if result.get("isError") == Some(&Value::Bool(true)) {
            cut["isError"] = json!(true);
        }
        cut
    }

    pub fn read(&self, session: &str, call_id: &str, offset: usize) -> Option<Value> {
        let all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Kept { text, .. } = all.iter().find(|kept| kept.is(session, call_id))?;
        let part: String = text.chars().skip(offset).take(RESULT_CHARS_MAX - 500).collect();
        let next = offset + part.chars().count();
        let more = text.chars().nth(next).is_some();
        Some(json!({ "text": part, "next_offset": if more { json!(next) } else { Value::Null } }))
    }
}
