//! The same requests as sentences, to the built-in understanding that needs no model: how many it
//! understands is reported; what it understands it must do to the right things and to nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use decide::gate::{Language, Policy};
use home::{Connection, Settings, Token};
use mcp::{Desk, SharedPolicy};
use menshen::understand::{Answer, What, answer};
use serde_json::Value;

use super::honest::{Request, prepare, table, unmet};
use super::houses::{TestHouse, each, states};
use super::watcher::Watcher;

/// Things whose state changes by itself, or follows from what was asked.
fn moves_by_itself(id: &str) -> bool {
    let domain = id.split('.').next().unwrap_or_default();
    matches!(
        domain,
        "sensor"
            | "binary_sensor"
            | "sun"
            | "event"
            | "automation"
            | "script"
            | "scene"
            | "group"
            | "input_boolean"
            | "weather"
            | "image"
            | "update"
            | "device_tracker"
            | "person"
            | "zone"
            | "calendar"
            | "todo"
            | "camera"
            | "tts"
            | "stt"
            | "conversation"
            | "button"
    )
}

fn asked(answer: &Answer) -> bool {
    let What::Done { steps } = &answer.what else { return false };
    steps.iter().any(menshen::understand::Step::refused)
}

#[derive(Default)]
struct Count {
    understood: usize,
    right: usize,
    asked: usize,
    all: usize,
}

fn desk(house: &TestHouse) -> Desk {
    let settings =
        Settings { url: Some(house.url.clone()), token: Some(Token::new(&house.token)), ..Settings::default() };
    let policy = Policy { writes_per_minute: Some(1_000_000), ..Policy::default() };
    Desk::new(Connection::start(settings), SharedPolicy::new(policy), Language::English, "test", [].into())
}

/// Ids of everything whose state changed between two looks.
fn changed(was: &BTreeMap<String, Value>, now: &BTreeMap<String, Value>) -> BTreeSet<String> {
    let differs = |id: &&String| was.get(*id).map(|state| &state["state"]) != now.get(*id).map(|state| &state["state"]);
    now.keys().filter(differs).filter(|id| !moves_by_itself(id)).cloned().collect()
}

#[test]
fn what_is_understood_moves_the_right_things_and_nothing_else() {
    each("what_is_understood_moves_the_right_things_and_nothing_else", async |house: &TestHouse| {
        house.reset().await;
        let mut wire = house.wire().await;
        let desk = desk(house);
        desk.connection.ready(Duration::from_secs(20)).await.unwrap();
        let mut counts: BTreeMap<String, Count> = BTreeMap::new();
        let mut wrong = Vec::new();
        let mut missed = Vec::new();
        for request in table("requests.tsv").into_iter().filter(|request| !request.expect.is_empty()) {
            if request.since.as_deref().is_some_and(|since| !house.newer_than(since)) {
                continue;
            }
            for step in &request.before {
                prepare(&mut wire, step).await;
            }
            let was = states(&mut wire).await;
            let language = if request.language == "zh" { Language::Chinese } else { Language::English };
            let answered = answer(&desk, &request.says, language).await;
            let count = counts.entry(request.language.clone()).or_default();
            count.all += 1;
            let acted = matches!(&answered.what, What::Done { .. });
            count.understood += usize::from(acted);
            if !acted {
                missed.push(format!("{} {}", request.id, request.says));
                continue;
            }
            count.asked += usize::from(asked(&answered));
            let unmet = settled(&mut wire, &request, &was).await;
            let stray: Vec<String> = changed(&was, &states(&mut wire).await)
                .into_iter()
                .filter(|id| !request.expect.contains_key(id))
                .collect();
            count.right += usize::from(unmet.is_empty());
            if !stray.is_empty() || (!unmet.is_empty() && !asked(&answered)) {
                let said = serde_json::to_string(&answered).unwrap();
                wrong.push(format!(
                    "{} {}: unmet {unmet:?}, stray {stray:?}\n    {}",
                    request.id,
                    request.says,
                    said.chars().take(500).collect::<String>()
                ));
            }
        }
        for (language, count) in &counts {
            println!(
                "{} {language}: {} requests, {} understood without a model, {} of these done as said, {} asked first",
                house.version, count.all, count.understood, count.right, count.asked
            );
        }
        if std::env::var_os("MENSHEN_SHOW_MISSED").is_some() {
            println!("not understood:\n{}", missed.join("\n"));
        }
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    });
}

async fn settled(wire: &mut home::Wire, request: &Request, was: &BTreeMap<String, Value>) -> Vec<String> {
    let deadline = Instant::now() + Duration::from_secs(3);
    loop {
        let missing = unmet(wire, &request.expect, was).await;
        if missing.is_empty() || Instant::now() > deadline {
            return missing;
        }
        tokio::time::sleep(Duration::from_millis(100)).await; // until the deadline
    }
}

#[test]
fn sentences_that_would_open_open_nothing() {
    each("sentences_that_would_open_open_nothing", async |house: &TestHouse| {
        house.reset().await;
        let watcher = Watcher::start(house).await;
        let desk = desk(house);
        desk.connection.ready(Duration::from_secs(20)).await.unwrap();
        let mut said = 0;
        for request in table("openings.tsv") {
            let language = if request.language == "zh" { Language::Chinese } else { Language::English };
            answer(&desk, &request.says, language).await;
            said += 1;
            let openings = watcher.openings();
            assert!(openings.is_empty(), "{} {}: {openings:?}", request.id, request.says);
        }
        println!("{}: {said} sentences that would open, 0 openings", house.version);
    });
}
