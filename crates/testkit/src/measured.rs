//! The calls that were measured on real houses, `docs/dev/measured/matrix-*.json`. Start at [`rows`].

use std::path::PathBuf;

use decide::gate::Call;
use serde_json::{Map, Value};

/// One measured row: the call as written, whether it is a plain service call, what left its safe state.
pub struct Row {
    pub text: String,
    pub call: Option<Call>,
    pub moved: Vec<String>,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Reads a file of the project as JSON.
///
/// # Panics
/// When it is not there or no JSON: a test cannot go on without it.
pub fn json(path: &str) -> Value {
    let text = std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// All measured rows of a release, `2026.11.0`.
pub fn rows(version: &str) -> Vec<Row> {
    let matrix = json(&format!("docs/dev/measured/matrix-{version}.json"));
    let row = |row: &Value| {
        let text = row["call"].as_str()?.to_owned();
        let moved = row["moved"].as_object().map(|moved| moved.keys().cloned().collect()).unwrap_or_default();
        Some(Row { call: parse(&text), text, moved })
    };
    matrix["rows"].as_array().into_iter().flatten().filter_map(row).collect()
}

/// `lock.unlock {"entity_id": "x"} target={...} [note]`, or nothing where the row is no plain service call.
fn parse(row: &str) -> Option<Call> {
    let (name, mut rest) = row.split_once(' ').unwrap_or((row, ""));
    let (domain, service) = name.split_once('.')?;
    let word = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !word(domain) || !word(service) {
        return None;
    }
    let mut call = Call { domain: domain.into(), service: service.into(), ..Call::default() };
    rest = rest.trim();
    if rest.starts_with('{') {
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Map<String, Value>>();
        call.data = stream.next()?.ok()?;
        rest = rest[stream.byte_offset()..].trim();
    }
    if let Some(target) = rest.strip_prefix("target=") {
        call.target = Some(serde_json::Deserializer::from_str(target).into_iter::<Map<String, Value>>().next()?.ok()?);
    }
    Some(call)
}
