//! The house is edited while somebody acts on it: what runs is what was judged. Start at [`Editor`].

use std::time::{Duration, Instant};

use home::{Endpoint, Tls};
use serde_json::{Value, json};

use super::attacks::FAST;
use super::client::Mcp;
use super::events::subscribe;
use super::houses::{TestHouse, each, raw, states};
use super::watcher::Watcher;

const LOCK: &str = "lock.front_door";
const LIGHT: &str = "light.bed_light";
/// Longest wait for the house to have taken an edit.
const TAKEN_MAX: Duration = Duration::from_secs(10);
/// What an edit would let happen happens within this time.
const MOVES_MAX: Duration = Duration::from_millis(600);

/// The editor of the house's own pages: it writes a file, then the house reloads by itself.
pub struct Editor<'a> {
    house: &'a TestHouse,
    endpoint: Endpoint,
}

impl Editor<'_> {
    pub fn of(house: &TestHouse) -> Editor<'_> {
        Editor { house, endpoint: Endpoint::parse(&house.url, Tls::SystemRoots).unwrap() }
    }

    fn url(&self, kind: &str) -> String {
        self.endpoint.http_url(&format!("/api/config/{kind}/config/edited_meanwhile"))
    }

    async fn write(&self, kind: &str, body: &Value) {
        let client = self.endpoint.http_client().unwrap();
        let answer = client.post(self.url(kind)).bearer_auth(&self.house.token).json(body).send().await.unwrap();
        assert!(answer.status().is_success(), "{kind}: {}", answer.status());
    }

    /// Writes, and returns in the moment in which the house has taken it.
    pub async fn write_and_see(&self, kind: &str, body: &Value) {
        let (taken, mut seen) = tokio::sync::mpsc::unbounded_channel();
        let told = move |_: &Value| _ = taken.send(());
        let mut tasks = Vec::new();
        if kind == "script" {
            // A script has no event of its own; that its service is there again is one.
            tasks.push(subscribe(self.house, "service_registered", told).await);
        } else {
            tasks.push(subscribe(self.house, &format!("{kind}_reloaded"), told).await);
        }
        self.write(kind, body).await;
        let waited = tokio::time::timeout(TAKEN_MAX, seen.recv()).await;
        tasks.iter().for_each(tokio::task::JoinHandle::abort);
        waited.expect("the house did not reload").unwrap();
    }

    pub async fn remove(&self, kind: &str) {
        let client = self.endpoint.http_client().unwrap();
        _ = client.delete(self.url(kind)).bearer_auth(&self.house.token).send().await.unwrap();
    }
}

fn step(service: &str, entity: &str) -> Value {
    json!([{"service": service, "target": {"entity_id": entity}}])
}

fn script(service: &str, entity: &str) -> Value {
    json!({"alias": "Edited meanwhile", "sequence": step(service, entity)})
}

fn scene(lock: &str) -> Value {
    json!({"id": "edited_meanwhile", "name": "Edited meanwhile", "entities": {LOCK: {"state": lock}}})
}

fn automation(service: &str, entity: &str) -> Value {
    let trigger = json!([{"platform": "state", "entity_id": LIGHT, "to": "on"}]);
    json!({"alias": "Edited meanwhile", "trigger": trigger, "action": step(service, entity), "mode": "single"})
}

fn call(domain: &str, service: &str, entity: &str) -> Value {
    json!({"domain": domain, "service": service, "entity_id": entity})
}

/// The program knows it as it was: asked for until it allows it.
async fn allowed(mcp: &mut Mcp, tool: &str, arguments: &Value) {
    let deadline = Instant::now() + TAKEN_MAX;
    loop {
        let answer = mcp.tool(tool, arguments.clone()).await;
        if answer["ok"] == true && answer["ran"] != false {
            return;
        }
        assert!(Instant::now() < deadline, "{answer:#}");
        tokio::time::sleep(Duration::from_millis(100)).await; // until the deadline
    }
}

#[test]
fn what_was_edited_a_moment_ago_is_judged_as_it_is_now() {
    each("what_was_edited_a_moment_ago_is_judged_as_it_is_now", async |house: &TestHouse| {
        house.reset().await;
        let editor = Editor::of(house);
        let mut wire = house.wire().await;
        let mut mcp = Mcp::start_with(house, &[], FAST).await;
        let safe = [
            ("script", script("light.turn_off", LIGHT), script("lock.unlock", LOCK)),
            ("scene", scene("locked"), scene("unlocked")),
            ("automation", automation("light.turn_off", "light.kitchen_main"), automation("lock.unlock", LOCK)),
        ];
        let ways = [
            ("script", "call_service", call("script", "turn_on", "script.edited_meanwhile")),
            ("script", "call_service", json!({"domain": "script", "service": "edited_meanwhile"})),
            ("script", "call_service", call("homeassistant", "turn_on", "script.edited_meanwhile")),
            ("script", "run_macro", json!({"phrase": "edited meanwhile"})),
            ("scene", "call_service", call("scene", "turn_on", "scene.edited_meanwhile")),
            ("scene", "run_macro", json!({"phrase": "edited meanwhile"})),
            ("automation", "call_service", call("light", "turn_on", LIGHT)),
            ("automation", "call_service", call("automation", "trigger", "automation.edited_meanwhile")),
        ];
        for (kind, tool, arguments) in &ways {
            let (_, harmless, opening) = safe.iter().find(|(name, ..)| name == kind).unwrap();
            editor.write_and_see(kind, harmless).await;
            allowed(&mut mcp, tool, arguments).await;
            raw(&mut wire, "light", "turn_off", json!({"entity_id": LIGHT}), None).await.unwrap();
            let watcher = Watcher::start(house).await;
            editor.write_and_see(kind, opening).await;
            let answer = mcp.tool(tool, arguments.clone()).await;
            let deadline = MOVES_MAX; // as long as it would take to open
            tokio::time::sleep(deadline).await;
            let openings = watcher.openings();
            assert!(openings.is_empty(), "{kind} {tool} {arguments}: {openings:?}\n{answer:#}");
            assert_eq!(answer["error"], "needs_confirmation", "{kind} {tool} {arguments}: {answer:#}");
            editor.remove(kind).await;
        }
        assert_eq!(states(&mut wire).await[LOCK]["state"], "locked");
    });
}
