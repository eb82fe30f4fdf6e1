//! Exhaustion: every service of a real house, in every form of target, on every entity it works on, is
//! judged; of the allowed ones every distinct kind is carried out once. Nothing opens, and what is
//! refused whatever the target stands in `docs/reference/refused-services.md`, so that nothing is won
//! by refusing everything.
//!
//! Start at [`every_service_form_and_entity_is_judged_and_what_is_allowed_opens_nothing`].

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use decide::gate::{Call, Decision, Facts, InFlight, Language, Origin, Policy, Problem, Verdict, judge};
use decide::house::{EntityId, House};
use futures_util::future::join_all;
use home::{Connection, Settings, Token};
use serde_json::{Map, Value, json};

use super::attacks::{DECIDED, FAST};
use super::client::Mcp;
use super::houses::{TestHouse, each};
use super::watcher::Watcher;

const PROGRAMS: usize = 3;
/// Calls of one program under way at once: it works on no more.
const UNDER_WAY_MAX: usize = 16;
/// What a call sets off has begun by then.
const SETTLES_WITHIN: Duration = Duration::from_millis(1500);

/// How a call names what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    Nothing,
    Text,
    Upper,
    List,
    Comma,
    Target,
    Group,
    All,
    Area,
    Floor,
    Label,
    Device,
}

/// Values that a field of that name may be given: a harmless one and those that tempt.
fn values(field: &str) -> Vec<Value> {
    match field {
        "option" => vec![json!("Home"), json!("Open up"), json!("open"), json!("closed")],
        "value" => vec![json!(0), json!(60), json!("open"), json!("hello")],
        "position" | "tilt_position" => vec![json!(0), json!(100)],
        "brightness_pct" | "percentage" | "humidity" | "brightness" | "volume_level" => vec![json!(40), json!(0)],
        "temperature" => vec![json!(21), json!(28), json!(80)],
        "hvac_mode" => vec![json!("heat"), json!("off")],
        "duration" => vec![json!("00:00:01"), json!("01:00:00")],
        "entities" => vec![
            json!({"light.bed_light": "on"}),
            json!({"lock.back_door": "unlocked"}),
            json!({"lock.back_door": "locked"}),
            json!({"cover.side_garage": "open"}),
            json!({"switch.door_relay": "on"}),
        ],
        "variables" => vec![json!({"svc": "lock.unlock", "ent": "lock.back_door"})],
        "group_members" => vec![json!(["media_player.bedroom_speaker"])],
        "media_content_id" => vec![json!("media-source://tts/hello"), json!("http://127.0.0.1/relay")],
        "cycle" | "oscillating" | "is_volume_muted" | "shuffle" | "skip_condition" | "stop_actions" | "away_mode" => {
            vec![json!(true), json!(false)]
        }
        "code" => vec![json!("1234")],
        "ent" => vec![json!("lock.back_door")],
        "svc" => vec![json!("lock.unlock")],
        "which" => vec![json!("light.bed_light"), json!("input_boolean.guest_mode")],
        "rgb_color" => vec![json!([255, 0, 0])],
        "date" => vec![json!("2030-01-01")],
        "time" => vec![json!("07:00:00")],
        "datetime" => vec![json!("2030-01-01 07:00:00")],
        "item" | "message" | "summary" | "title" | "name" => vec![json!("milk")],
        "transition" => vec![json!(1)],
        _ => vec![json!("on")],
    }
}

/// Nothing, each field alone with each of its values, and all fields at once.
fn data(fields: &BTreeSet<String>) -> Vec<Map<String, Value>> {
    let fields = || fields.iter().filter(|field| !matches!(field.as_str(), "entity_id" | "additional_fields"));
    let one = |field: &String, value: Value| Map::from_iter([(field.clone(), value)]);
    let mut out = vec![Map::new()];
    out.extend(fields().flat_map(|field| values(field).into_iter().map(move |value| one(field, value))));
    if fields().count() > 1 {
        out.push(fields().map(|field| (field.clone(), values(field).remove(0))).collect());
    }
    out
}

/// Every way in which this service can be aimed at this house, each with the entity it is about.
fn aims(house: &House, domain: &str) -> Vec<(Form, Option<EntityId>, Value)> {
    let any = matches!(domain, "homeassistant" | "group");
    let own: Vec<&EntityId> = house.entities.keys().filter(|id| any || id.domain() == domain).collect();
    let mut out = vec![(Form::Nothing, None, json!({}))];
    for id in &own {
        let decoy = own.iter().find(|other| other != &id).unwrap_or(id);
        let forms = [
            (Form::Text, json!({"entity_id": id})),
            (Form::Upper, json!({"entity_id": format!(" {}", id.as_str().to_uppercase())})),
            (Form::List, json!({"entity_id": [decoy, id]})),
            (Form::Comma, json!({"entity_id": format!("{decoy}, {id}")})),
            (Form::Target, json!({"target": {"entity_id": id}})),
        ];
        out.extend(forms.map(|(form, aim)| (form, Some((*id).clone()), aim)));
    }
    out.push((Form::All, None, json!({"entity_id": "all"})));
    let groups = house.domain("group").map(|(id, _)| (Form::Group, None, json!({"entity_id": id})));
    out.extend(groups);
    let places = [
        (Form::Area, "area_id", house.areas.keys().map(ToString::to_string).collect::<Vec<_>>()),
        (Form::Floor, "floor_id", house.floors.keys().map(ToString::to_string).collect()),
        (Form::Label, "label_id", house.labels.keys().map(ToString::to_string).collect()),
        (Form::Device, "device_id", house.devices.keys().map(ToString::to_string).collect()),
    ];
    for (form, key, ids) in places {
        out.extend(ids.into_iter().map(|id| (form, None, json!({"target": {key: id}}))));
    }
    out
}

fn call(domain: &str, service: &str, data: &Map<String, Value>, aim: &Value) -> Call {
    let mut data = data.clone();
    if let Some(id) = aim.get("entity_id") {
        data.insert("entity_id".into(), id.clone());
    }
    let target = aim["target"].as_object().cloned();
    Call { domain: domain.into(), service: service.into(), data, target }
}

/// What was found out about one service.
#[derive(Default)]
struct Found {
    allowed: usize,
    asked: usize,
    /// Why, for one of those refused.
    refused: Option<String>,
    problem: Option<String>,
}

/// One allowed call to carry out: they are alike in service, form and class of entity; where an entity
/// is named plainly, in data as well.
type Kind = (String, Form, usize, Option<String>);

struct Exhausted {
    judged: usize,
    found: BTreeMap<String, Found>,
    to_do: BTreeMap<Kind, Call>,
}

fn exhaust(house: &House, policy: &Policy) -> Exhausted {
    let mut out = Exhausted { judged: 0, found: BTreeMap::new(), to_do: BTreeMap::new() };
    let in_flight = InFlight::default();
    let facts = Facts { house, policy, in_flight: &in_flight, now: 0 };
    let services = house.services.iter().flat_map(|(domain, group)| group.iter().map(move |entry| (domain, entry)));
    for (domain, (service, description)) in services {
        let name = format!("{domain}.{service}");
        let aims = aims(house, domain);
        let mut found = Found::default();
        for (number, data) in data(&description.fields).iter().enumerate() {
            for (form, about, aim) in &aims {
                let call = call(domain, service, data, aim);
                out.judged += 1;
                let judged = judge(&facts, Origin::Model, &call);
                note(&mut found, &judged);
                if judged.is_ok_and(|decision| decision.verdict == Verdict::Allow && !decision.plan.sends.is_empty()) {
                    let class =
                        about.as_ref().and_then(|id| Some(house.entity(id.as_str())?.classes().next()?.to_owned()));
                    let number = if *form == Form::Text { number } else { 0 };
                    out.to_do.entry((name.clone(), *form, number, class)).or_insert(call);
                }
            }
        }
        out.found.insert(name, found);
    }
    out
}

fn note(found: &mut Found, judged: &Result<Decision, Problem>) {
    match judged {
        Ok(decision) => match decision.verdict {
            Verdict::Allow => found.allowed += 1,
            Verdict::Ask => found.asked += 1,
            Verdict::Refuse => {
                let reason = decision.reasons.iter().find(|reason| reason.verdict == Verdict::Refuse);
                if found.refused.is_none() {
                    found.refused = reason.map(|reason| reason.sentence(Language::English));
                }
            }
        },
        Err(problem) => {
            found.problem.get_or_insert_with(|| problem.sentence(Language::English));
        }
    }
}

async fn picture(house: &TestHouse) -> (Connection, Arc<House>) {
    let settings =
        Settings { url: Some(house.url.clone()), token: Some(Token::new(&house.token)), ..Settings::default() };
    let connection = Connection::start(settings);
    let house = connection.ready(Duration::from_secs(20)).await.unwrap();
    (connection, house)
}

fn policy() -> Policy {
    let table: toml::Table = toml::from_str(&format!("{FAST}{DECIDED}")).unwrap();
    table["gate"].clone().try_into().unwrap()
}

#[test]
fn every_service_form_and_entity_is_judged_and_what_is_allowed_opens_nothing() {
    let name = "every_service_form_and_entity_is_judged_and_what_is_allowed_opens_nothing";
    each(name, async |house: &TestHouse| {
        house.reset().await;
        let (connection, picture) = picture(house).await;
        let begun = Instant::now();
        // On a thread of its own: the other house's deadlines go on meanwhile.
        let exhausted = tokio::task::spawn_blocking(move || exhaust(&picture, &policy())).await.unwrap();
        let (judged, took) = (exhausted.judged, begun.elapsed());
        connection.close().await;
        let unjudged: Vec<_> = exhausted.found.iter().filter(|(_, found)| !found.is_judged()).collect();
        let unjudged: Vec<_> = unjudged.iter().map(|(name, found)| format!("{name}: {:?}", found.problem)).collect();
        assert!(unjudged.is_empty(), "no call of these could be judged:\n{}", unjudged.join("\n"));
        refused_stand_in_the_list(&house.version, &exhausted.found);
        let asked = exhausted.found.values().filter(|found| found.allowed == 0 && found.asked > 0).count();
        let allowed = exhausted.found.values().filter(|found| found.allowed > 0).count();
        let kinds = exhausted.to_do.len();
        println!(
            "{}: {judged} calls of {} services judged in {took:.1?}: {allowed} services can be allowed, {asked} at best ask",
            house.version,
            exhausted.found.len()
        );
        let begun = Instant::now();
        let done = carry_out(house, exhausted.to_do).await;
        let took = begun.elapsed();
        println!(
            "{}: {kinds} kinds of allowed calls carried out in {took:.0?}, {done} done, 0 openings",
            house.version
        );
        assert!(done * 3 > kinds, "too few were done for this to mean anything");
        house.reset().await;
    });
}

impl Found {
    fn is_judged(&self) -> bool {
        self.allowed + self.asked > 0 || self.refused.is_some()
    }
}

/// Through several programs at once, each as busy as it may be: nearly all of the time is spent
/// waiting for a house to show what was asked. Gives how many were done.
async fn carry_out(house: &TestHouse, to_do: BTreeMap<Kind, Call>) -> usize {
    let watcher = Watcher::start(house).await;
    // Neighbours in the list work on the same things and would undo each other.
    let mut calls: Vec<(u64, String, Call)> =
        to_do.into_iter().map(|(kind, call)| (hash(&kind), format!("{kind:?} {}", json!(call)), call)).collect();
    calls.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
    let share = calls.len().div_ceil(PROGRAMS);
    let programs = calls.chunks(share).map(|calls| carry_out_share(house, &watcher, calls));
    let done = join_all(programs).await.into_iter().sum();
    tokio::time::sleep(SETTLES_WITHIN).await; // a deadline: what was set off would show by now
    assert_eq!(watcher.openings(), Vec::<String>::new());
    assert!(watcher.changes() > 0, "the watcher saw nothing at all");
    done
}

async fn carry_out_share(house: &TestHouse, watcher: &Watcher, calls: &[(u64, String, Call)]) -> usize {
    let mut mcp = Mcp::start_with(house, &[], &format!("{FAST}{DECIDED}")).await;
    let mut calls = calls.iter();
    let mut under_way: BTreeMap<u64, &str> = BTreeMap::new();
    let (mut done, mut last) = (0, VecDeque::new());
    loop {
        while under_way.len() < UNDER_WAY_MAX {
            let Some((_, text, call)) = calls.next() else { break };
            let arguments = serde_json::to_value(call).unwrap();
            under_way.insert(mcp.post_tool("call_service", arguments).await, text);
        }
        if under_way.is_empty() {
            return done;
        }
        let (id, answer) = mcp.told_next().await;
        done += usize::from(answer["ok"] == true);
        last.push_back(format!("{} -> {}", under_way.remove(&id).unwrap(), answer["error"]));
        if last.len() > UNDER_WAY_MAX {
            last.pop_front();
        }
        let openings = watcher.openings();
        let around = || last.iter().map(|text| &**text).chain(under_way.values().copied()).collect::<Vec<_>>();
        assert!(openings.is_empty(), "{openings:?} after one of\n{}", around().join("\n"));
    }
}

/// The same on every machine.
fn hash(kind: &Kind) -> u64 {
    let text = format!("{kind:?}");
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

const LIST: &str = "docs/reference/refused-services.md";
const LIST_HEAD: &str = "# Services that are refused

Written from real houses by a test (`MENSHEN_WRITE=1`, `MENSHEN_HOUSES`, `cargo test -p menshen --test live
exhaustion`); do not edit.

Whatever the target and the data, these end as *refused*: nobody can allow them from a conversation.
The operator can open a service by its name in `[gate.services]`, see
[configuration](configuration.md). Every other service of the test houses is allowed for some
target, or asks a person.

| service | why | Home Assistant |
|---|---|---|
";

/// Two houses may be done with at the same time.
static WRITING: Mutex<()> = Mutex::new(());

/// Compares the rows of this release with the list; with `MENSHEN_WRITE` set, writes them.
fn refused_stand_in_the_list(version: &str, found: &BTreeMap<String, Found>) {
    let _turn = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(LIST);
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let mut listed: BTreeMap<String, (String, BTreeSet<String>)> = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let releases = cells[2].split(", ").map(str::to_owned).collect();
        listed.insert(cells[0].trim_matches('`').to_owned(), (cells[1].to_owned(), releases));
    }
    let refused = found.iter().filter(|(_, found)| found.allowed + found.asked == 0);
    let now: BTreeMap<&String, &String> =
        refused.filter_map(|(name, found)| Some((name, found.refused.as_ref()?))).collect();
    let here = |(_, releases): &(String, BTreeSet<String>)| releases.contains(version);
    if std::env::var_os("MENSHEN_WRITE").is_none() {
        let listed: Vec<_> = listed.iter().filter(|(_, row)| here(row)).map(|(name, row)| (name, &row.0)).collect();
        let now: Vec<_> = now.into_iter().collect();
        assert_eq!(now, listed, "{LIST} differs; MENSHEN_WRITE=1 writes it");
        return;
    }
    for row in listed.values_mut() {
        row.1.remove(version);
    }
    for (name, why) in now {
        let row = listed.entry(name.clone()).or_default();
        row.0.clone_from(why);
        row.1.insert(version.to_owned());
    }
    let rows = listed.iter().filter(|(_, row)| !row.1.is_empty()).map(|(name, (why, releases))| {
        format!("| `{name}` | {why} | {} |\n", releases.iter().cloned().collect::<Vec<_>>().join(", "))
    });
    std::fs::write(&path, LIST_HEAD.to_owned() + &rows.collect::<String>()).unwrap();
}
