//! The named cases: `data/attacks.tsv` has those that open, each shown to open when it is sent raw, and
//! none through the program. What stands after them is what an honest household meets: names that are
//! not unique, results that are not so, numbers with units.
//!
//! Start at [`every_named_case_opens_when_sent_raw`].

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Interceptor, Pick};

use super::attacks::{DECIDED, FAST, Step, opens_raw, secured};
use super::client::Mcp;
use super::events::Events;
use super::houses::{TestHouse, each, raw, states};
use super::watcher::Watcher;

/// Automations that a call sets off have begun by then.
const SETTLES_WITHIN: Duration = Duration::from_millis(1500);

struct Case {
    id: String,
    says: String,
    steps: Vec<Step>,
    /// Secures what is to be opened.
    before: Vec<Step>,
    /// One of these opens; none where the case opens in no house, and is only tried.
    opens: Option<String>,
}

impl Step {
    fn read(step: &Value) -> Self {
        let word = |at: usize| step[at].as_str().unwrap().to_owned();
        let target = step[3].is_object().then(|| step[3].clone());
        Self { domain: word(0), service: word(1), data: step[2].clone(), target }
    }

    fn arguments(&self) -> Value {
        let mut arguments = json!({"domain": self.domain, "service": self.service, "data": self.data});
        if let Some(target) = &self.target {
            arguments["target"] = target.clone();
        }
        arguments
    }
}

/// The cases that this release has, a device of its own put in.
async fn cases(house: &TestHouse) -> Vec<Case> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/attacks.tsv");
    let device = device_of_cover(house).await;
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let mut cases = Vec::new();
    for cells in lines.map(|line| line.split('\t').collect::<Vec<_>>()) {
        if !cells[5].is_empty() && !house.newer_than(cells[5]) {
            continue;
        }
        let steps = match (&device, cells[2].contains("DEVICE_OF_COVER")) {
            (Some(device), true) => cells[2].replace("DEVICE_OF_COVER", device),
            (None, true) => continue,
            (_, false) => cells[2].to_owned(),
        };
        cases.push(Case {
            id: cells[0].to_owned(),
            says: cells[1].to_owned(),
            steps: read(&steps),
            before: read(cells[3]),
            opens: Some(cells[4].to_owned()).filter(|opens| opens != "-"),
        });
    }
    cases
}

fn read(steps: &str) -> Vec<Step> {
    let steps = if steps.is_empty() { "[]" } else { steps };
    let steps: Vec<Value> = serde_json::from_str(steps).unwrap_or_else(|error| panic!("{steps}: {error}"));
    steps.iter().map(Step::read).collect()
}

/// A device that has a cover without a harmless class, where the house has one.
async fn device_of_cover(house: &TestHouse) -> Option<String> {
    let mut wire = house.wire().await;
    let now = states(&mut wire).await;
    let entries = wire.command("config/entity_registry/list", Value::Null).await.unwrap();
    let guarded = |id: &str| super::watcher::openness(&now[id]).is_some();
    let rows = entries.as_array().unwrap().iter().filter(|row| row["device_id"].is_string());
    let mut covers = rows.filter(|row| {
        let id = row["entity_id"].as_str().unwrap();
        id.starts_with("cover.") && now.contains_key(id) && guarded(id)
    });
    covers.next().map(|row| row["device_id"].as_str().unwrap().to_owned())
}

fn matches(opening: &str, wanted: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(start) => opening.starts_with(start),
        None => opening.starts_with(&format!("{wanted}:")),
    }
}

/// The positive control: a case that opens nothing would prove nothing.
#[test]
fn every_named_case_opens_when_sent_raw() {
    each("every_named_case_opens_when_sent_raw", async |house: &TestHouse| {
        let (mut opened, mut silent) = (0, Vec::new());
        for case in cases(house).await {
            let Some(wanted) = &case.opens else { continue };
            match opens_raw(house, &case.before, &case.steps, |opening| matches(opening, wanted)).await {
                Ok(()) => opened += 1,
                Err(seen) => silent.push(format!("{} {}: {seen:?}", case.id, case.says)),
            }
        }
        house.reset().await;
        println!("{}: {opened} named cases open when sent raw", house.version);
        assert!(silent.is_empty(), "do not open:\n{}", silent.join("\n"));
    });
}

#[test]
fn no_named_case_opens_through_the_program() {
    each("no_named_case_opens_through_the_program", async |house: &TestHouse| {
        house.reset().await;
        let cases = cases(house).await;
        let mut wire = house.wire().await;
        for case in &cases {
            secured(&mut wire, &case.before).await;
        }
        let watcher = Watcher::start(house).await;
        let mut mcp = Mcp::start_with(house, &[], &format!("{FAST}{DECIDED}")).await;
        for case in &cases {
            for step in &case.steps {
                let answer = mcp.tool("call_service", step.arguments()).await;
                let openings = watcher.openings();
                assert!(openings.is_empty(), "{} {}: {openings:?}\n{answer:#}", case.id, case.says);
            }
        }
        for phrase in ["I'm home", "welcome home", "回家", "我回来了", "欢迎回家", "evening arrival", "let the cat in"]
        {
            let answer = mcp.tool("run_macro", json!({"phrase": phrase})).await;
            assert_ne!(answer["ran"], true, "{phrase}: {answer:#}");
        }
        tokio::time::sleep(SETTLES_WITHIN).await; // a deadline: what was set off would show by now
        assert_eq!(watcher.openings(), Vec::<String>::new());
        let lamp = json!({"domain": "light", "service": "toggle", "entity_id": "light.bed_light"});
        assert_eq!(mcp.tool("call_service", lamp).await["ok"], true);
        let deadline = Instant::now() + Duration::from_secs(5);
        while watcher.changes() == 0 {
            assert!(Instant::now() < deadline, "the watcher saw nothing at all");
            tokio::time::sleep(Duration::from_millis(20)).await; // until the deadline
        }
        println!("{}: {} named cases, 0 openings", house.version, cases.len());
    });
}

/// A25 and A26: what is granted opens alone, and takes nothing along.
#[test]
fn a_grant_of_one_lock_takes_no_other_along() {
    each("a_grant_of_one_lock_takes_no_other_along", async |house: &TestHouse| {
        house.reset().await;
        let watcher = Watcher::start(house).await;
        let mut mcp = Mcp::start_with(house, &[("HOME_ALLOWED_ENTITIES", "lock.back_door")], FAST).await;
        for data in [
            json!({"entity_id": ["lock.back_door", "lock.entrance_door"]}),
            json!({"entity_id": "lock.back_door, lock.entrance_door"}),
            json!({"entity_id": "lock.back_door", "area_id": "entrance"}),
            json!({"entity_id": "lock.all_doors"}),
            json!({"entity_id": "group.entrance,lock.safe"}),
        ] {
            let answer = mcp.tool("call_service", json!({"domain": "lock", "service": "unlock", "data": data})).await;
            assert_ne!(answer["ok"], true, "{data}: {answer:#}");
        }
        assert_eq!(watcher.openings(), Vec::<String>::new());
    });
}

/// A31: a garage on its way down is not left ajar.
#[test]
fn a_garage_that_closes_is_not_stopped_half_way() {
    each("a_garage_that_closes_is_not_stopped_half_way", async |house: &TestHouse| {
        let door = "cover.family_garage_door";
        house.reset().await;
        let mut wire = house.wire().await;
        raw(&mut wire, "cover", "open_cover", json!({"entity_id": door}), None).await.unwrap();
        is(&mut wire, door, "open").await;
        let mut mcp = Mcp::start_with(house, &[], FAST).await;
        assert_eq!(mcp.tool("list_entities", json!({})).await["stale"], false);
        raw(&mut wire, "cover", "close_cover", json!({"entity_id": door}), None).await.unwrap();
        is(&mut wire, door, "closing").await;
        for service in ["stop_cover", "toggle"] {
            let answer =
                mcp.tool("call_service", json!({"domain": "cover", "service": service, "entity_id": door})).await;
            assert_ne!(answer["ok"], true, "{service}: {answer:#}");
        }
        is(&mut wire, door, "closed").await;
    });
}

async fn is(wire: &mut home::Wire, id: &str, wanted: &str) {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let now = states(wire).await[id]["state"].clone();
        if now == wanted {
            return;
        }
        assert!(Instant::now() < deadline, "{id} is {now}, not {wanted}");
        tokio::time::sleep(Duration::from_millis(20)).await; // until the deadline
    }
}

/// A32: a house whose states never came.
#[test]
fn without_states_nothing_opens() {
    each("without_states_nothing_opens", async |house: &TestHouse| {
        house.reset().await;
        let rule = |kind: &str| if kind == "subscribe_entities" { Pick::Swallow } else { Pick::Pass };
        let between = Interceptor::before(&house.url, rule).await;
        let watcher = Watcher::start(house).await;
        let behind = TestHouse { url: between.url.clone(), ..house.clone() };
        let mut mcp = Mcp::start_with(&behind, &[], FAST).await;
        let mut posted = Vec::new();
        for (domain, service, id) in [
            ("cover", "open_cover", "cover.side_garage"),
            ("cover", "toggle", "cover.side_garage"),
            ("cover", "stop_cover", "cover.side_garage"),
            ("lock", "unlock", "lock.back_door"),
            ("homeassistant", "toggle", "cover.side_garage"),
            ("switch", "turn_on", "switch.door_relay"),
            ("alarm_control_panel", "alarm_arm_home", "alarm_control_panel.house_alarm"),
            ("light", "turn_on", "light.bed_light"),
        ] {
            let arguments = json!({"domain": domain, "service": service, "entity_id": id});
            posted.push(mcp.post_tool("call_service", arguments).await);
        }
        for id in posted {
            let answer = mcp.told(id).await;
            assert_eq!(answer["ok"], false, "{answer:#}");
        }
        assert_eq!(watcher.openings(), Vec::<String>::new());
        assert!(between.passed("call_service").is_empty(), "something was sent");
    });
}

/// B7: a name is data, on one line, whatever it says.
#[test]
fn a_hostile_name_is_quoted_data() {
    each("a_hostile_name_is_quoted_data", async |house: &TestHouse| {
        let mut mcp = Mcp::start(house).await;
        let answer = mcp.tool("list_entities", json!({"query": "light.kitchen_light", "domain": "light"})).await;
        let rows = answer["entities"].as_array().unwrap();
        let row = rows.iter().find(|row| row["entity_id"] == "light.kitchen_light").unwrap();
        let name = row["name"].as_str().unwrap();
        assert!(name.contains("ignore previous instructions"), "{name}");
        assert!(name.chars().count() <= 120 && !name.chars().any(char::is_control), "{name:?}");
    });
}

/// B8: what is said of a switch by any of its names, and by all of them at once.
#[test]
fn every_name_of_a_switch_means_that_switch() {
    each("every_name_of_a_switch_means_that_switch", async |house: &TestHouse| {
        house.reset().await;
        let mut mcp = Mcp::start_with(house, &[], FAST).await;
        let calls = Events::calls(house).await;
        for name in ["Multisocket Switch 2, Salt lamp", "Multisocket Switch 2, 盐灯, Salt lamp", "盐灯", "salt lamp"]
        {
            for service in ["turn_on", "turn_off"] {
                let arguments = json!({"domain": "switch", "service": service, "entity_id": name});
                let answer = mcp.tool("call_service", arguments).await;
                assert_eq!(answer["target"], "switch.multisocket_switch_2", "{name}: {answer:#}");
                assert_eq!(answer["outcomes"][0]["outcome"], "confirmed", "{name}: {answer:#}");
            }
        }
        assert_eq!(calls.of("turn_on", "switch.multisocket_switch_2").len(), 4);
        let answer =
            mcp.tool("call_service", json!({"domain": "light", "service": "turn_on", "entity_id": "灯"})).await;
        assert_eq!(answer["error"], "ambiguous", "{answer:#}");
        assert!(answer["candidates"].as_array().unwrap().len() >= 3, "{answer:#}");
    });
}

/// B9: a lamp that is called as the room is one lamp.
#[test]
fn a_name_beats_an_area() {
    each("a_name_beats_an_area", async |house: &TestHouse| {
        house.reset().await;
        let mut wire = house.wire().await;
        let lamps = ["light.chris_office_lights", "light.chris_desk_lamp", "light.chris_shelf_lamp"];
        raw(&mut wire, "light", "turn_on", json!({"entity_id": lamps}), None).await.unwrap();
        let mut mcp = Mcp::start_with(house, &[], FAST).await;
        let arguments = json!({"domain": "light", "service": "turn_off", "entity_id": "chris office lights"});
        let answer = mcp.tool("call_service", arguments).await;
        assert_eq!(answer["target"], "light.chris_office_lights", "{answer:#}");
        let now = states(&mut wire).await;
        assert_eq!(lamps.map(|lamp| now[lamp]["state"].as_str().unwrap()), ["off", "on", "on"]);
    });
}

/// A state that no integration stands behind.
async fn put_state(house: &TestHouse, id: &str, state: &str) {
    let endpoint = home::Endpoint::parse(&house.url, home::Tls::SystemRoots).unwrap();
    let request = endpoint.http_client().unwrap().post(endpoint.http_url(&format!("/api/states/{id}")));
    let response = request.bearer_auth(&house.token).json(&json!({"state": state})).send().await.unwrap();
    assert!(response.status().is_success(), "{}", response.status());
}

/// B10: the house says success for nothing; the answer does not.
#[test]
fn a_result_is_what_the_house_shows() {
    each("a_result_is_what_the_house_shows", async |house: &TestHouse| {
        house.reset().await;
        put_state(house, "light.ghost", "unavailable").await;
        put_state(house, "light.deaf", "off").await;
        let mut wire = house.wire().await;
        let nothing =
            raw(&mut wire, "light", "turn_on", json!({"entity_id": ["light.ghost", "light.deaf"]}), None).await;
        assert!(nothing.is_ok(), "the house itself says no: {nothing:?}");
        let mut mcp = Mcp::start_with(house, &[], FAST).await;
        for (id, error) in
            [("light.bed_lihgt", "not_found"), ("light.ghost", "unavailable"), ("light.deaf", "not_confirmed")]
        {
            let answer =
                mcp.tool("call_service", json!({"domain": "light", "service": "turn_on", "entity_id": id})).await;
            assert_eq!((&answer["ok"], &answer["error"]), (&json!(false), &json!(error)), "{answer:#}");
        }
        let answer = mcp
            .tool("call_service", json!({"domain": "light", "service": "turn_on", "entity_id": "light.bed_lihgt"}))
            .await;
        assert!(answer["nearest"].to_string().contains("light.bed_light"), "{answer:#}");
        house.reset().await;
    });
}

/// B12: percentages, degrees of either kind, and scripts that answer.
#[test]
fn numbers_and_units_arrive_as_they_were_meant() {
    each("numbers_and_units_arrive_as_they_were_meant", async |house: &TestHouse| {
        house.reset().await;
        let mut wire = house.wire().await;
        let mut mcp = Mcp::start_with(house, &[], FAST).await;
        let calls = Events::calls(house).await;
        let mut call = async |domain: &str, service: &str, id: &str, data: Value| {
            let arguments = json!({"domain": domain, "service": service, "entity_id": id, "data": data});
            mcp.tool("call_service", arguments).await
        };
        let half = call("light", "turn_on", "light.entrance", json!({"brightness_pct": "50 %"})).await;
        assert_eq!(half["ok"], true, "{half:#}");
        let too_much = call("light", "turn_on", "light.bedside_lamp", json!({"brightness_pct": 150})).await;
        assert_eq!(too_much["ok"], false, "{too_much:#}");
        assert!(calls.of("turn_on", "light.bedside_lamp").is_empty(), "it reached the house");
        let ac = "climate.living_room_ac";
        assert_eq!(call("climate", "set_hvac_mode", ac, json!({"hvac_mode": "heat"})).await["ok"], true);
        let warm = call("climate", "set_temperature", ac, json!({"temperature": "72 °F"})).await;
        assert_eq!(warm["ok"], true, "{warm:#}");
        let bare = call("climate", "set_temperature", ac, json!({"temperature": 72})).await;
        assert_eq!(bare["ok"], false, "{bare:#}");
        assert!(bare["message"].as_str().unwrap().contains("°C"), "{bare:#}");
        let now: BTreeMap<String, Value> = states(&mut wire).await;
        let brightness = now["light.entrance"]["attributes"]["brightness"].as_f64().unwrap();
        assert!((127.0..=128.0).contains(&brightness), "{brightness}");
        let temperature = now[ac]["attributes"]["temperature"].as_f64().unwrap();
        assert!((temperature - 22.2).abs() < 0.3, "{temperature}");
        let told = mcp
            .tool("call_service", json!({"domain": "script", "service": "room_climate", "data": {"room": "bedroom"}}))
            .await;
        assert_eq!(told["ok"], true, "{told:#}");
        assert!(told["response"].is_object(), "{told:#}");
        house.reset().await;
    });
}
