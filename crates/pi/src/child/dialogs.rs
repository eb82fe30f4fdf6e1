//! Dialogs that an extension of pi opens and somebody must answer. Start at [`Dialogs::opened`]. Invariant:
//! each is answered once: by a person, by the policy when its time is over, or cancelled.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::Instant;

/// Limit: dialogs open at once; a further one is cancelled.
pub const PI_DIALOGS_MAX: usize = 32;

/// What becomes of a dialog that nobody answers.
#[derive(Clone, Debug)]
pub struct DialogPolicy {
    /// Zero cancels each at once.
    pub expiry: Duration,
}

impl Default for DialogPolicy {
    fn default() -> Self {
        Self { expiry: Duration::from_secs(60) }
    }
}

pub struct Dialogs {
    policy: DialogPolicy,
    open: Vec<Dialog>,
}

struct Dialog {
    id: String,
    record: Value,
    expires: Instant,
}

impl Dialogs {
    pub fn new(policy: DialogPolicy) -> Self {
        Self { policy, open: Vec::new() }
    }

    /// Takes a request in. Messages and status texts need no answer and are none.
    pub fn opened(&mut self, record: &Value, now: Instant) {
        let dialog = matches!(record["method"].as_str(), Some("select" | "confirm" | "input" | "editor"));
        let (true, Some(id)) = (dialog, record["id"].as_str()) else { return };
        // pi gives up by itself after its own time.
        let own = record["timeout"].as_u64().map_or(Duration::MAX, Duration::from_millis);
        let room = self.open.len() < PI_DIALOGS_MAX;
        let time = if room { self.policy.expiry.min(own) } else { Duration::ZERO };
        self.open.push(Dialog { id: id.to_owned(), record: record.clone(), expires: now + time });
    }

    pub fn next_expiry(&self) -> Option<Instant> {
        self.open.iter().map(|dialog| dialog.expires).min()
    }

    /// What goes to pi, and what is told, for those whose time is over.
    pub fn expired(&mut self, now: Instant) -> Vec<(Value, Value)> {
        let over = self.open.extract_if(.., |dialog| dialog.expires <= now);
        over.map(|dialog| cancelled(&dialog.id, "expired")).collect()
    }

    pub fn cancel_all(&mut self, why: &str) -> Vec<(Value, Value)> {
        self.open.drain(..).map(|dialog| cancelled(&dialog.id, why)).collect()
    }

    /// A person's answer: what goes to pi and what is told, or why it is not one.
    pub fn answered(&mut self, command: &Map<String, Value>) -> Result<(Value, Value), String> {
        let id = command.get("id").and_then(Value::as_str).unwrap_or_default();
        let Some(at) = self.open.iter().position(|dialog| dialog.id == id) else {
            return Err(format!("no dialog `{id}` is open: it was answered, has expired, or never was"));
        };
        let method = self.open[at].record["method"].as_str().unwrap_or_default();
        let mut answer = json!({ "type": "extension_ui_response", "id": id });
        match (command.get("cancelled"), command.get("confirmed"), command.get("value")) {
            (Some(Value::Bool(true)), ..) => answer["cancelled"] = true.into(),
            (_, Some(Value::Bool(confirmed)), _) if method == "confirm" => answer["confirmed"] = (*confirmed).into(),
            (_, _, Some(Value::String(value))) if method != "confirm" => {
                let options = self.open[at].record["options"].as_array();
                if options.is_some_and(|options| !options.iter().any(|option| option == value)) {
                    return Err("`value` is none of the dialog's options".to_owned());
                }
                answer["value"] = value.as_str().into();
            }
            _ if method == "confirm" => return Err("give `confirmed` (true or false), or `cancelled`: true".to_owned()),
            _ => return Err("give `value` (string), or `cancelled`: true".to_owned()),
        }
        self.open.remove(at);
        Ok((answer, closed(id, "answered")))
    }

    pub fn list(&self, now: Instant) -> Value {
        let dialog = |dialog: &Dialog| {
            let mut record = dialog.record.clone();
            let left = dialog.expires.saturating_duration_since(now);
            record["expiresInMs"] = u64::try_from(left.as_millis()).unwrap_or(u64::MAX).into();
            record
        };
        self.open.iter().map(dialog).collect()
    }
}

fn cancelled(id: &str, why: &str) -> (Value, Value) {
    (json!({ "type": "extension_ui_response", "id": id, "cancelled": true }), closed(id, why))
}

/// Ours, for those who show the dialog.
fn closed(id: &str, why: &str) -> Value {
    json!({ "type": "extension_ui_closed", "id": id, "reason": why })
}
