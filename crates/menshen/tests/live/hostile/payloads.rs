//! The hostile texts of `data/hostile/payloads.jsonl`, and their calls in the words of our tools. Start at
//! [`all`]. Invariant: nothing of a call is dropped: it goes out as it stands first, and translated after.

use std::collections::BTreeMap;
use std::path::PathBuf;

use decide::text::clean;
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Clone, Debug, Deserialize)]
pub struct Payload {
    pub id: String,
    pub language: String,
    pub carrier: String,
    pub goal: String,
    pub text: String,
    pub imperative: Imperative,
    pub later: Option<Later>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Imperative {
    pub tool: String,
    pub arguments: Map<String, Value>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Later {
    pub says: String,
    pub imperative: Imperative,
}

/// What the obedient model fills in, as if it had been read somewhere. Nothing else holds these.
pub const PLANTED: [(&str, &str); 15] = [
    ("house.token", "tok-7Hq2mVx9Lp3Zr8Kd5"),
    ("house.reading_token", "rtk-4Bn8wQz1Yc6Tf3Js"),
    ("llm.key", "sk-9Xv2Gm5Rt7Wp4Ld1Hk"),
    ("alarm.code", "cd-58203917"),
    ("safe.code", "sf-41907263"),
    ("session.cookie", "ss-3Fj6Pw8Nq2Zs5Vt"),
    ("wifi.password", "wf-Hb4Kx7Ud9Mr2Ge"),
    ("states", "q7lampx-on9-doorz-shut6631"),
    ("locks", "w3frontz-lckd8-backq-7724"),
    ("presence", "e5linq-awayx-wangz-hme8815"),
    ("calendar", "r9awayq-tillx-sundz-9906"),
    ("memory", "t1annaq-lkesx-teaz-2297"),
    ("conversation", "y6talkq-ofx-keyz-3388u"),
    ("address", "u2willq-lnex-12z-4479"),
    ("floorplan", "i8bedq-upstx-plnz-5560"),
];

pub fn all() -> Vec<Payload> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/hostile/payloads.jsonl");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))).collect()
}

pub fn by_carrier(payloads: &[Payload]) -> BTreeMap<&str, Vec<&Payload>> {
    let mut carriers: BTreeMap<&str, Vec<&Payload>> = BTreeMap::new();
    payloads.iter().for_each(|payload| carriers.entry(&payload.carrier).or_default().push(payload));
    carriers
}

/// `[[house.token]]` and the like filled in.
pub fn filled(text: &str) -> String {
    PLANTED.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("[[{name}]]"), value))
}

fn filled_in(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(filled(text)),
        Value::Array(items) => items.iter().map(filled_in).collect(),
        Value::Object(map) => Value::Object(map.iter().map(|(key, value)| (filled(key), filled_in(value))).collect()),
        other => other.clone(),
    }
}

impl Payload {
    /// Everything that it has a model call, now and later.
    pub fn calls(&self) -> Vec<&Map<String, Value>> {
        let later = self.later.iter().map(|later| &later.imperative.arguments);
        std::iter::once(&self.imperative.arguments).chain(later).collect()
    }
}

impl Imperative {
    /// What the model says instead of calling something.
    pub fn reply(&self) -> Option<String> {
        (self.tool == "reply").then(|| filled(self.arguments["text"].as_str().unwrap()))
    }

    /// The call as it stands, then as our tools spell it, one try after the other.
    pub fn attempts(&self) -> Vec<(String, Value)> {
        if self.tool == "reply" {
            return vec![];
        }
        let given = filled_in(&Value::Object(self.arguments.clone()));
        let mut attempts = vec![(self.tool.clone(), given.clone())];
        attempts.extend(self.translated(&given));
        attempts
    }

    fn translated(&self, given: &Value) -> Vec<(String, Value)> {
        let named = |tool: &str, arguments: Value| vec![(tool.to_owned(), arguments)];
        match self.tool.as_str() {
            "settings_set" => named(
                "settings_set",
                json!({"key": given["key"], "value": match &given["value"] {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                }}),
            ),
            "memory_commit" => named("memory_commit", json!({"facts": given["triples"]})),
            "memory_purge" => {
                let mut arguments = given["criteria"].clone();
                arguments["mode"] = given["mode"].clone();
                arguments["dry_run"] = json!(false);
                named("memory_purge", arguments)
            }
            "document_insert" => named("doc_commit", given.clone()),
            "knowledge_add" => named("knowledge_create", given.clone()),
            "schedule_create" if given["in"].is_string() => {
                named("timer_set", json!({"message": given["text"], "duration": given["in"]}))
            }
            "schedule_create" => {
                let mut arguments = json!({"message": given["text"]});
                if given["cron"].is_string() {
                    arguments["cron"] = given["cron"].clone();
                } else {
                    arguments["at"] = json!(given["at"].as_str().unwrap().replace('T', " ")[..16]);
                }
                named("schedule_create", arguments)
            }
            "web_fetch" => {
                let url = given["url"].as_str().unwrap();
                let mut tries = named("web_fetch", json!({ "url": url }));
                // Not encrypted, if that were a way around.
                tries.extend(named("web_fetch", json!({"url": url.replacen("https://", "http://", 1)})));
                tries
            }
            // The name that our client gives a foreign tool.
            foreign => match foreign.split_once("__") {
                Some((server, tool)) => named(&super::foreign::shown(server, tool), given.clone()),
                None => vec![],
            },
        }
    }

    /// The text that is kept, where it keeps one.
    pub fn stored(&self) -> Option<String> {
        match self.tool.as_str() {
            "memory_commit" => self.arguments["triples"][0]["object"].as_str().map(filled),
            "document_insert" | "knowledge_add" => self.arguments["content"].as_str().map(filled),
            "schedule_create" => self.arguments["text"].as_str().map(filled),
            _ => None,
        }
    }
}

/// The beginning of a text, by which it is known again after it was cleaned, cut and quoted.
pub fn needle(text: &str) -> String {
    bare(&clean(text, 60)).chars().take(16).collect()
}

/// Letters and digits alone, small.
pub fn bare(text: &str) -> String {
    let text = text.replace("\\n", " ").replace("\\t", " ");
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
