//! A conversation's history as pi's session entries. Start at [`entries`]. Invariant: the same message keeps
//! its id while what stands before it changes.

use std::collections::HashMap;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// One after the other, each the child of the one before.
pub fn entries(messages: &[Value]) -> Vec<Value> {
    let mut seen: HashMap<String, u32> = HashMap::new();
    let mut parent = Value::Null;
    let mut entries = Vec::new();
    for message in messages {
        let text = message.to_string();
        let nth = seen.entry(text.clone()).or_default();
        *nth += 1;
        let digest = Sha256::digest(format!("{nth} {text}"));
        let id: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        entries.push(json!({ "type": "message", "id": id, "parentId": parent, "message": message }));
        parent = id.into();
    }
    entries
}

/// Those after this one; None where there is no such entry.
pub fn since(mut entries: Vec<Value>, id: &str) -> Option<Vec<Value>> {
    let at = entries.iter().position(|entry| entry["id"] == id)?;
    Some(entries.split_off(at + 1))
}

pub fn leaf(entries: &[Value]) -> Value {
    entries.last().map_or(Value::Null, |entry| entry["id"].clone())
}

/// The same as a tree, which has one branch.
pub fn tree(entries: Vec<Value>) -> Value {
    let mut below: Vec<Value> = Vec::new();
    for entry in entries.into_iter().rev() {
        below = vec![json!({ "entry": entry, "children": below })];
    }
    below.into()
}
