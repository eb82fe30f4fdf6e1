//! The same requests as sentences, to the built-in understanding that needs no model: how many it
//! understands is reported; what it understands it must do to the right things and to nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use decide::gate::{Call, Facts, InFlight, Language, Origin, Policy, judge};
use decide::house::EntityId;
use decide::text::fold;
use home::{Connection, Settings, Token};
use mcp::{Desk, SharedPolicy};
use menshen::understand::{Answer, What, answer};
use serde_json::Value;

use super::honest::{Request, prepare, table, unmet, write_page};
use super::houses::{TestHouse, each, states};
use super::watcher::Watcher;

/// Things whose state changes by itself, or follows from what was asked.
fn moves_by_itself(id: &str) -> bool {
    // Shows the state of the back door's lock, by a template that nobody can see.
    if id == "switch.door_relay" {
        return true;
    }
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
            | "geo_location"
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

/// What the table's own calls reach on this house, and what moves along with it: groups and members,
/// wrappers and sources, what its name or its automations tie to it.
fn meant(desk: &Desk, request: &Request) -> BTreeSet<String> {
    let (house, policy, in_flight) = (desk.connection.house(), desk.policy(), InFlight::default());
    let facts = Facts { house: &house, policy: &policy, in_flight: &in_flight, now: 0 };
    let mut meant: BTreeSet<EntityId> = request.expect.keys().filter_map(|id| EntityId::parse(id)).collect();
    for call in &request.calls {
        let Ok(call) = serde_json::from_value::<Call>(merged(&call["arguments"])) else { continue };
        if let Ok(decision) = judge(&facts, Origin::Person, &call) {
            let plan = decision.plan;
            meant.extend(plan.sends.into_iter().flat_map(|send| send.entities).chain(plan.done).chain(plan.ignored));
        }
    }
    let mut along = BTreeSet::new();
    for id in &meant {
        along.extend(house.index.contained_in.get(id).into_iter().flatten().cloned());
        if let Some(entity) = house.entity(id.as_str()) {
            along.extend(entity.members().chain(entity.info.wraps.iter().cloned()));
        }
    }
    meant.into_iter().chain(along).map(|id| id.to_string()).collect()
}

/// Whether the sentence itself names this thing, its room or floor, or the whole house: then moving
/// it is no mistake of the reader's, even where the table's author thought of fewer.
fn spoken(desk: &Desk, id: &str, says: &str) -> bool {
    let house = desk.connection.house();
    let Some(entity) = house.entity(id) else { return false };
    let says = fold(says);
    let said = |name: &str| {
        let name = fold(name);
        !name.is_empty() && says.find(&name).is_some()
    };
    let area = house.area_of(entity).map(|(_, area)| area);
    let floor = area.and_then(|area| house.floors.get(area.floor_id.as_ref()?));
    let places = area.into_iter().flat_map(|area| area.aliases.iter().chain([&area.name]));
    let places = places.chain(floor.into_iter().flat_map(|floor| floor.aliases.iter().chain([&floor.name])));
    ["所有", "全部", "全屋", "全关", "全给我", "all", "every", "everything"].iter().any(|word| said(word))
        || entity.info.names.iter().chain(places).any(|name| said(name))
}

fn acted_on(answer: &Answer) -> Vec<String> {
    let What::Done { steps } = &answer.what else { return Vec::new() };
    steps.iter().flat_map(|step| &step.moved).map(|moved| moved.entity_id.to_string()).collect()
}

/// A tool's arguments as a call: `entity_id` beside `data` belongs into it.
fn merged(arguments: &Value) -> Value {
    let mut call = arguments.clone();
    if call["data"].is_null() {
        call["data"] = serde_json::json!({});
    }
    if let Some(id) = arguments.get("entity_id") {
        call["data"]["entity_id"] = id.clone();
    }
    call
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
        let mut rows = Vec::new();
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
                rows.push(vec![request.id, request.language, request.says, "–".to_owned(), String::new()]);
                continue;
            }
            count.asked += usize::from(asked(&answered));
            let unmet = settled(&mut wire, &request, &was).await;
            let meant = meant(&desk, &request);
            let strayed =
                |id: &String| request.kind != "macro" && !meant.contains(id) && !spoken(&desk, id, &request.says);
            let stray: Vec<String> = changed(&was, &states(&mut wire).await).into_iter().filter(strayed).collect();
            count.right += usize::from(unmet.is_empty());
            let reader = answered.by.map(|by| format!("{by:?}").to_lowercase()).unwrap_or_default();
            let came = match (asked(&answered), unmet.is_empty()) {
                (true, _) => "asked first".to_owned(),
                (false, true) => "as said".to_owned(),
                (false, false) => unmet.join("; "),
            };
            rows.push(vec![request.id.clone(), request.language.clone(), request.says.clone(), reader, came]);
            // A shade of colour or a step of brightness is the speaker's and the writer's taste.
            let state_unmet = unmet.iter().any(|unmet| unmet.contains(" state: "));
            let other_of_that_name = acted_on(&answered).iter().all(|id| spoken(&desk, id, &request.says));
            if !stray.is_empty() || (state_unmet && !asked(&answered) && !other_of_that_name) {
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
        let understood: usize = counts.values().map(|count| count.understood).sum();
        let head = format!(
            "# The same requests as sentences, without a language model, on Home Assistant {}\n\n{understood} of {} understood; wrong targets {}. Written by the test `what_is_understood_moves_the_right_things_and_nothing_else`; `–` is not understood, and nothing moved.",
            house.version,
            rows.len(),
            wrong.len()
        );
        write_page("understood-requests", house, &head, &["id", "language", "says", "read by", "came out"], &rows);
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
