//! What a judgment costs, in this process, on a house of 5,000 entities with 200 automations.
//!
//! Start at [`measure`]. Invariant: each sample is many whole judgments of one call, nothing kept
//! from one to the next.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use decide::gate::{Call, Facts, InFlight, Origin, Policy, Verdict, judge};
use decide::house::{Body, Entity, EntityId, EntityInfo, House, State};
use serde_json::{Value, json};

use crate::row::Row;

const ENTITIES: usize = 5000;
const ROOMS: usize = 100;
const AUTOMATIONS: usize = 200;
const SAMPLES: usize = 200;

struct Case<'a> {
    house: &'a House,
    what: &'static str,
    service: (&'static str, &'static str),
    entity_id: Value,
    verdict: Verdict,
    /// Judgments in one sample.
    times: u32,
    limit_us: Option<f64>,
}

pub fn measure() -> anyhow::Result<Vec<Row>> {
    let house = &with_automations(testkit::generated(ENTITIES, ROOMS))?;
    let one = |what, service, id: &str, verdict| Case {
        house,
        what,
        service,
        entity_id: json!(id),
        verdict,
        times: 100,
        limit_us: Some(5.0),
    };
    let all = |what, service, house| Case {
        house,
        what,
        service,
        entity_id: json!("all"),
        verdict: Verdict::Allow,
        times: 1,
        limit_us: Some(2000.0),
    };
    let lights = &only_lights();
    let cases = [
        one("`light.turn_on` of one light", ("light", "turn_on"), "light.device_808", Verdict::Allow),
        one("the same, of one that sets off an automation", ("light", "turn_on"), "light.device_0", Verdict::Allow),
        one("`lock.unlock` of one lock", ("lock", "unlock"), "lock.device_806", Verdict::Ask),
        one("`cover.open_cover` of one window", ("cover", "open_cover"), "cover.device_805", Verdict::Ask),
        all("`light.turn_off` of `all` (625 lights)", ("light", "turn_off"), house),
        Case {
            limit_us: None,
            ..all("the same in a house of 5,000 lights and nothing else", ("light", "turn_off"), lights)
        },
        all("`cover.close_cover` of `all` (1,250 covers)", ("cover", "close_cover"), house),
        Case {
            house,
            what: "`homeassistant.turn_off` of 5,200 entities, each by its id",
            service: ("homeassistant", "turn_off"),
            entity_id: house.entities.keys().map(|id| id.as_str()).collect(),
            verdict: Verdict::Allow,
            times: 1,
            limit_us: None,
        },
    ];
    cases.iter().map(row).collect()
}

fn row(case: &Case<'_>) -> anyhow::Result<Row> {
    let (policy, in_flight) = (Policy::default(), InFlight::default());
    let facts = Facts { house: case.house, policy: &policy, in_flight: &in_flight, now: 1_800_000_000 };
    let (domain, service) = case.service;
    let mut call = Call { domain: domain.into(), service: service.into(), ..Call::default() };
    call.data.insert("entity_id".into(), case.entity_id.clone());
    let verdict = judge(&facts, Origin::Model, &call).map(|decision| decision.verdict);
    ensure!(verdict == Ok(case.verdict), "{} was judged {verdict:?}", case.what);
    let mut times: Vec<Duration> = (0..SAMPLES)
        .map(|_| {
            let begun = Instant::now();
            for _ in 0..case.times {
                drop(black_box(judge(black_box(&facts), Origin::Model, black_box(&call))));
            }
            begun.elapsed() / case.times
        })
        .collect();
    times.sort();
    let microseconds = |time: Duration| time.as_secs_f64() * 1e6;
    let median = microseconds(times[SAMPLES / 2]);
    let how = format!("median of {SAMPLES}; 90 % below {:.2} µs", microseconds(times[SAMPLES * 9 / 10]));
    Ok(Row { limit: case.limit_us, ..Row::new("judge", case.what, median, "µs").how(how) })
}

fn only_lights() -> House {
    let mut builder = testkit::HouseBuilder::new();
    for number in 0..ENTITIES {
        builder = builder.plain(&format!("light.device_{number}"), &format!("Light {number} 灯{number}"), "on");
    }
    builder.build()
}

/// A hundred lights and a hundred switches each set off an automation that moves a light.
fn with_automations(mut house: House) -> anyhow::Result<House> {
    let mut bodies = (*house.bodies).clone();
    for number in 0..AUTOMATIONS {
        let (domain, trigger) = if number % 2 == 0 { ("light", number * 4) } else { ("switch", (number - 1) * 4 + 1) };
        let body = json!({
            "id": number.to_string(), "alias": format!("Automation {number}"),
            "triggers": [{"trigger": "state", "entity_id": format!("{domain}.device_{trigger}"), "to": "on"}],
            "conditions": [],
            "actions": [{"action": "light.turn_off", "target": {"entity_id": format!("light.device_{}", 1600 + number * 8)}}],
        });
        let id = EntityId::parse(&format!("automation.number_{number}")).context("no id")?;
        let state = State { value: "on".into(), ..State::default() };
        let entity = Entity { info: Arc::new(EntityInfo::default()), state: Some(Arc::new(state)) };
        bodies.automations.insert(id.clone(), Body::Config(Arc::new(body)));
        house.entities.insert(id, entity);
    }
    house.bodies = Arc::new(bodies);
    Ok(house.reindexed())
}
