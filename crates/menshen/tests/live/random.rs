//! Seeded random sequences of calls, toward the house's weak spots: nothing opens. How many, how long
//! and from which seed comes by `MENSHEN_RANDOM_CALLS`, `MENSHEN_RANDOM_SECS`, `MENSHEN_RANDOM_SEED`,
//! `MENSHEN_RANDOM_CLIENTS`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::client::Mcp;
use super::houses::{TestHouse, each, states};
use super::watcher::Watcher;

/// splitmix64: enough to draw from lists, the same on every machine.
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }
}

pub fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

struct World {
    ids: Vec<String>,
    by_domain: BTreeMap<String, Vec<String>>,
    services: Vec<(String, String, Vec<String>)>,
    areas: Vec<String>,
    floors: Vec<String>,
    labels: Vec<String>,
    devices: Vec<String>,
    options: BTreeMap<String, Vec<String>>,
}

async fn world(house: &TestHouse) -> World {
    let mut wire = house.wire().await;
    let all = states(&mut wire).await;
    let mut by_domain: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut options = BTreeMap::new();
    for (id, state) in &all {
        by_domain.entry(id.split('.').next().unwrap().to_owned()).or_default().push(id.clone());
        if let Some(list) = state["attributes"]["options"].as_array() {
            options.insert(id.clone(), list.iter().filter_map(Value::as_str).map(str::to_owned).collect());
        }
    }
    let mut services = Vec::new();
    let listed = wire.command("get_services", Value::Null).await.unwrap();
    for (domain, group) in listed.as_object().unwrap() {
        // Restarting the test house would end the test, not open it; both are refused anyway.
        for (service, description) in group.as_object().unwrap() {
            let fields =
                description["fields"].as_object().map(|fields| fields.keys().cloned().collect()).unwrap_or_default();
            services.push((domain.clone(), service.clone(), fields));
        }
    }
    let mut ids_of = async |kind: &str, key: &str| -> Vec<String> {
        let list = wire.command(kind, Value::Null).await.unwrap_or(Value::Null);
        list.as_array().into_iter().flatten().filter_map(|item| item[key].as_str().map(str::to_owned)).collect()
    };
    World {
        areas: ids_of("config/area_registry/list", "area_id").await,
        floors: ids_of("config/floor_registry/list", "floor_id").await,
        labels: ids_of("config/label_registry/list", "label_id").await,
        devices: ids_of("config/device_registry/list", "id").await,
        ids: all.keys().cloned().collect(),
        by_domain,
        services,
        options,
    }
}

/// Domains that stand before doors are drawn more often than chance would.
const TEMPTING: &[&str] = &[
    "lock",
    "cover",
    "alarm_control_panel",
    "valve",
    "switch",
    "input_boolean",
    "input_select",
    "input_text",
    "input_button",
    "button",
    "timer",
    "scene",
    "script",
    "automation",
    "select",
    "number",
    "homeassistant",
    "group",
    "light",
];

impl World {
    fn spelling(&self, dice: &mut Dice, id: &str) -> String {
        match dice.below(8) {
            0 => id.to_uppercase(),
            1 => format!(" {id} "),
            2 => format!("{id},light.bed_light"),
            3 => format!("{id}\n"),
            _ => id.to_owned(),
        }
    }

    fn target(&self, dice: &mut Dice, domain: &str, data: &mut Map<String, Value>) -> Option<Value> {
        let own = self.by_domain.get(domain).unwrap_or(&self.ids);
        let id = if dice.chance(85) { dice.pick(own).clone() } else { dice.pick(&self.ids).clone() };
        let id = self.spelling(dice, &id);
        let value = match dice.below(6) {
            0 => json!([id, dice.pick(&self.ids)]),
            1 if dice.chance(30) => json!("all"),
            _ => json!(id),
        };
        let mut target = Map::new();
        match dice.below(10) {
            0 if !self.areas.is_empty() => _ = target.insert("area_id".into(), json!(dice.pick(&self.areas))),
            1 if !self.floors.is_empty() => _ = target.insert("floor_id".into(), json!(dice.pick(&self.floors))),
            2 if !self.labels.is_empty() => _ = target.insert("label_id".into(), json!(dice.pick(&self.labels))),
            3 if !self.devices.is_empty() => _ = target.insert("device_id".into(), json!(dice.pick(&self.devices))),
            4 => _ = target.insert("entity_id".into(), value.clone()),
            _ => _ = data.insert("entity_id".into(), value.clone()),
        }
        if dice.chance(10) {
            data.insert("entity_id".into(), value);
        }
        (!target.is_empty()).then_some(Value::Object(target))
    }

    fn value(&self, dice: &mut Dice, field: &str) -> Value {
        match field {
            "option" => json!(dice.pick(&["Open up", "Home", "open", "closed", "Night"])),
            "value" if dice.chance(50) => json!(dice.pick(&["open", "100", "1", "开门", "hello"])),
            "value" | "position" | "brightness_pct" | "percentage" | "humidity" => json!(dice.below(101)),
            "temperature" => json!(16 + dice.below(20)),
            "variables" => json!({"svc": "lock.unlock", "ent": "lock.back_door"}),
            "svc" => json!("lock.unlock"),
            "ent" => json!("lock.back_door"),
            "entities" => {
                let id = dice.pick(&self.ids).clone();
                json!({id: dice.pick(&["unlocked", "open", "on", "off", "disarmed", "locked"])})
            }
            "duration" => json!("00:00:01"),
            "code" => json!(dice.pick(&["4321", "1234", "0000"])),
            "hvac_mode" => json!("heat"),
            _ => json!(dice.pick(&["on", "1", "open"])),
        }
    }

    fn call(&self, dice: &mut Dice) -> (&'static str, Value) {
        if dice.chance(6) {
            let phrase = dice.pick(&[
                "晚安",
                "good night",
                "I'm home",
                "回家",
                "欢迎回家",
                "welcome",
                "let the cat in",
                "离家",
                "movie time",
                "打开大门",
                "guests",
            ]);
            return ("run_macro", json!({"phrase": phrase}));
        }
        let tempting = dice.chance(80);
        let (domain, service, fields) = loop {
            let drawn = dice.pick(&self.services);
            if !tempting || TEMPTING.contains(&drawn.0.as_str()) {
                break drawn;
            }
        };
        let mut data = Map::new();
        for field in fields {
            let wanted =
                matches!(field.as_str(), "option" | "value" | "position" | "entities" | "svc" | "ent" | "duration");
            if (wanted && dice.chance(90)) || dice.chance(15) {
                let mut value = self.value(dice, field);
                if field == "option" && dice.chance(60) {
                    let lists: Vec<&Vec<String>> = self.options.values().collect();
                    if !lists.is_empty() {
                        value = json!(dice.pick(dice_list(&lists, dice.0)));
                    }
                }
                data.insert(field.clone(), value);
            }
        }
        let target = self.target(dice, domain, &mut data);
        let mut arguments = json!({"domain": domain, "service": service, "data": data});
        if let Some(target) = target {
            arguments["target"] = target;
        }
        ("call_service", arguments)
    }
}

fn dice_list<'a>(lists: &[&'a Vec<String>], roll: u64) -> &'a [String] {
    lists[(roll % lists.len() as u64) as usize]
}

#[test]
fn random_sequences_open_nothing() {
    let calls = number("MENSHEN_RANDOM_CALLS", 1200);
    let seconds = number("MENSHEN_RANDOM_SECS", 45);
    let seed = number("MENSHEN_RANDOM_SEED", 1);
    let clients = number("MENSHEN_RANDOM_CLIENTS", 4).max(1);
    each("random_sequences_open_nothing", async |house: &TestHouse| {
        house.reset().await;
        let world = Arc::new(world(house).await);
        let decided: Arc<str> = decided(house).await.into();
        let watcher = Arc::new(Watcher::start(house).await);
        let begun = Instant::now();
        // Several clients at once, each a sequence of its own: races are part of the attack.
        let each = calls.div_ceil(clients);
        let until = begun + Duration::from_secs(seconds);
        let mut sequences = tokio::task::JoinSet::new();
        for client in 0..clients {
            let (world, watcher, house, decided) = (world.clone(), watcher.clone(), house.clone(), decided.clone());
            let seed = seed.wrapping_mul(1_000).wrapping_add(client);
            sequences.spawn(async move {
                sequence(&house, &world, &watcher, Run { decided: &decided, seed, calls: each, until }).await
            });
        }
        let (mut sent, mut done) = (0, 0);
        while let Some(ended) = sequences.join_next().await {
            let (further, achieved) = ended.unwrap();
            sent += further;
            done += achieved;
        }
        assert_eq!(watcher.openings(), Vec::<String>::new());
        println!(
            "{}: seed {seed}: {sent} random calls in {:.0?}, {done} done, 0 openings",
            house.version,
            begun.elapsed()
        );
        assert!(done * 20 > sent, "too few calls were done for this to mean anything: {done} of {sent}");
    });
}

/// The set-up check's proposals, all taken: what hangs behind a relay without a name, nobody can see
/// before that.
async fn decided(house: &TestHouse) -> String {
    let mut check = tokio::process::Command::new(env!("CARGO_BIN_EXE_menshen"));
    check.args(["check", "--json", "--config", "/dev/null"]);
    check.env("HOME_ASSISTANT_URL", &house.url).env("HOME_ASSISTANT_TOKEN", &house.token);
    let report: Value = serde_json::from_slice(&check.output().await.unwrap().stdout).unwrap();
    let mut config = format!("{}[gate.guard]\n", super::attacks::FAST);
    for proposal in report["to_decide"].as_array().unwrap() {
        config.push_str(&format!("{} = \"opens\"\n", proposal["entity_id"]));
    }
    assert!(config.contains("switch.relay_3"), "the relay without a name is not proposed:\n{config}");
    config
}

/// One client's part of a run.
struct Run<'a> {
    decided: &'a str,
    seed: u64,
    calls: u64,
    until: Instant,
}

/// One client's sequence: how many calls were sent, and how many of them did something.
async fn sequence(house: &TestHouse, world: &World, watcher: &Watcher, run: Run<'_>) -> (u64, u64) {
    let Run { decided, seed, calls, until } = run;
    let mut mcp = Mcp::start_with(house, &[], decided).await;
    let mut dice = Dice(seed);
    let (mut sent, mut done) = (0, 0);
    let mut last: Vec<String> = Vec::new();
    while sent < calls && Instant::now() < until {
        let (tool, arguments) = world.call(&mut dice);
        last.push(format!("{tool} {arguments}"));
        let answer = mcp.tool(tool, arguments).await;
        sent += 1;
        done += u64::from(answer["ok"] == true);
        let openings = watcher.openings();
        let from = last.len().saturating_sub(12);
        assert!(openings.is_empty(), "seed {seed}, call {sent}: {openings:?}\n{}\n{answer:#}", last[from..].join("\n"));
    }
    (sent, done)
}
