//! What the agent knows before anybody speaks: AGENTS.md, an index of the house, its state. Start at
//! [`HouseSurroundings`]. Invariant: nothing here waits for the house; what is not known is not told.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use decide::gate::Language;
use kernel::ports::Surroundings;
use mcp::Desk;
use mcp::tools::overview::overview;
use serde_json::Value;

/// Limit: characters of the index of the house in front of a model; of a larger house it names rooms only.
pub const INDEX_CHARS_MAX: usize = 4_000;
/// Limit: bytes of AGENTS.md that are read.
pub const PERSONA_BYTES_MAX: u64 = 256 * 1024;

pub struct HouseSurroundings {
    desk: Desk,
    persona: PathBuf,
    read: Mutex<(Option<(SystemTime, u64)>, Arc<str>)>,
}

impl HouseSurroundings {
    /// `persona`: the household's AGENTS.md, which need not be there.
    pub fn new(desk: Desk, persona: &Path) -> Self {
        Self { desk, persona: persona.to_owned(), read: Mutex::new((None, "".into())) }
    }
}

impl Surroundings for HouseSurroundings {
    /// Read again when the file has changed, so that an edit is in force at the next turn.
    fn persona(&self) -> Arc<str> {
        let stamp = std::fs::metadata(&self.persona).and_then(|data| Ok((data.modified()?, data.len()))).ok();
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.0 != stamp {
            let small = stamp.is_some_and(|(_, bytes)| bytes <= PERSONA_BYTES_MAX);
            let text = if small { std::fs::read(&self.persona).unwrap_or_default() } else { vec![] };
            *read = (stamp, String::from_utf8_lossy(&text).into());
        }
        read.1.clone()
    }

    fn house(&self, language: &str) -> String {
        let house = self.desk.connection.house();
        if !house.readiness.states {
            return String::new();
        }
        let mut desk = self.desk.settled();
        desk.language = if language == "zh" { Language::Chinese } else { Language::English };
        let overview = overview(&desk.view(&house));
        let mut lines = Vec::new();
        for room in overview["rooms"].as_array().into_iter().flatten() {
            lines.push(room_line(room));
        }
        let text = lines.join("\n");
        if text.chars().count() <= INDEX_CHARS_MAX {
            return text;
        }
        let names: Vec<&str> = overview["rooms"].as_array().into_iter().flatten().filter_map(|room| room["name"].as_str()).collect();
        names.join(", ").chars().take(INDEX_CHARS_MAX).collect()
    }

    fn state(&self, language: &str) -> String {
        let readiness = &self.desk.connection.house().readiness;
        let zh = language == "zh";
        match (readiness.connected, readiness.states) {
            (true, true) => String::new(),
            (_, true) if zh => "连不上 Home Assistant，下面的状态是旧的".to_owned(),
            (_, true) => "Home Assistant cannot be reached; all states are old".to_owned(),
            _ if zh => "连不上 Home Assistant，不知道任何状态".to_owned(),
            _ => "Home Assistant cannot be reached; no state is known".to_owned(),
        }
    }
}

/// A room with the counts of what is in it: names of things come by list_entities.
fn room_line(room: &Value) -> String {
    let name = room["name"].as_str().unwrap_or_default();
    let id = room["area_id"].as_str().or_else(|| room["id"].as_str()).unwrap_or_default();
    let domains = room.get("domains").or_else(|| room.get("counts")).and_then(Value::as_object);
    let counts: Vec<String> = domains.into_iter().flatten().map(|(domain, count)| format!("{domain} {count}")).collect();
    match (id.is_empty(), counts.is_empty()) {
        (true, true) => format!("- {name}"),
        (false, true) => format!("- {name} ({id})"),
        _ => format!("- {name} ({id}): {}", counts.join(", ")),
    }
}
