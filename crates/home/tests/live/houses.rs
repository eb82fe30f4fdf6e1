//! Which real houses there are to test against: `MENSHEN_HOUSES` lists JSON files, colon separated.

use std::io::Write;
use std::time::{Duration, Instant};

use decide::gate::{Decision, Origin, Permit, Plan, Send, Verdict};
use decide::house::{EntityId, House};
use home::{Connection, Endpoint, Outcome, Receipt, Settings, Tls, Token, Wire};
use serde_json::{Value, json};
use tokio::sync::{Mutex, MutexGuard};

pub struct RealHouse {
    pub base_url: String,
    pub token: Token,
    pub version: String,
}

/// Longest wait for something that a house does at once.
pub const SOON: Duration = Duration::from_secs(10);

/// Held by every test that changes something.
static MOVING: Mutex<()> = Mutex::const_new(());

pub async fn moving() -> MutexGuard<'static, ()> {
    MOVING.lock().await
}

/// All houses that were named; where there are none, says so and gives nothing.
pub fn each_house(test: &str) -> Vec<RealHouse> {
    let files = std::env::var("MENSHEN_HOUSES").unwrap_or_default();
    let houses: Vec<_> = files.split(':').filter(|path| !path.is_empty()).map(read).collect();
    if houses.is_empty() {
        // Not by a macro of print: those are swallowed when a test passes.
        let _nobody_reads = writeln!(std::io::stderr(), "left out: {test}: no house");
    }
    houses
}

fn read(path: &str) -> RealHouse {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let file: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
    let field = |name: &str| file[name].as_str().unwrap_or_else(|| panic!("{path} lacks {name}")).to_owned();
    RealHouse { base_url: field("baseUrl"), token: Token::new(&field("token")), version: field("version") }
}

impl RealHouse {
    pub fn endpoint(&self) -> Endpoint {
        Endpoint::parse(&self.base_url, Tls::SystemRoots).unwrap_or_else(|error| panic!("{error}"))
    }

    pub fn settings(&self) -> Settings {
        Settings { url: Some(self.base_url.clone()), token: Some(self.token.clone()), ..Settings::default() }
    }

    /// The second connection: what it sees does not come from the code under test.
    pub async fn wire(&self) -> Wire {
        Wire::open(&self.endpoint(), &self.token).await.unwrap_or_else(|error| panic!("{error}"))
    }

    pub async fn connect(&self) -> Connection {
        let connection = Connection::start(self.settings());
        connection.ready(SOON * 2).await.unwrap_or_else(|error| panic!("{}: {error}", self.version));
        connection
    }

    /// One REST call with the administrator's token.
    pub async fn rest(&self, method: &str, path: &str, body: Value) -> Value {
        let client = self.endpoint().http_client().unwrap_or_else(|error| panic!("{error}"));
        let url = self.endpoint().http_url(path);
        let request = match method {
            "GET" => client.get(url),
            "DELETE" => client.delete(url),
            _ => client.post(url).json(&body),
        };
        let response = request.bearer_auth(self.token.reveal()).send().await;
        let response = response.unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        let status = response.status();
        let answer: Value = response.json().await.unwrap_or_default();
        assert!(status.is_success(), "{method} {path}: {status} {answer}");
        answer
    }
}

pub fn id(text: &str) -> EntityId {
    EntityId::parse(text).unwrap_or_else(|| panic!("{text} is no id"))
}

/// The state as the second connection sees it.
pub async fn state(wire: &mut Wire, entity: &str) -> (String, Value) {
    let states = wire.command("get_states", json!({})).await.unwrap_or_else(|error| panic!("{error}"));
    let found = states.as_array().into_iter().flatten().find(|state| state["entity_id"] == entity);
    let found = found.unwrap_or_else(|| panic!("{entity} is not there"));
    (found["state"].as_str().unwrap_or_default().to_owned(), found["attributes"].clone())
}

pub async fn call(wire: &mut Wire, service: &str, entity: &str, data: Value) {
    let (domain, service) = service.split_once('.').unwrap_or_else(|| panic!("{service} is no service"));
    let body = json!({ "domain": domain, "service": service, "target": { "entity_id": entity }, "service_data": data });
    wire.command("call_service", body).await.unwrap_or_else(|error| panic!("{domain}.{service}: {error}"));
}

/// Polls until the house is as wanted.
pub async fn until(connection: &Connection, what: &str, wanted: impl Fn(&House) -> bool) {
    let deadline = Instant::now() + SOON;
    while !wanted(&connection.house()) {
        assert!(Instant::now() < deadline, "never came true: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await; // until the deadline
    }
}

pub fn a_send(service: &str, entities: &[&str], data: Value) -> Send {
    let (domain, service) = service.split_once('.').unwrap_or_else(|| panic!("{service} is no service"));
    Send {
        domain: domain.to_owned(),
        service: service.to_owned(),
        entities: entities.iter().map(|text| id(text)).collect(),
        data: data.as_object().cloned().unwrap_or_default(),
        toward_safety: false,
    }
}

/// A permit for exactly this, as the gate would give it for an Allow.
pub fn permit(sends: Vec<Send>) -> Permit {
    let plan = Plan { sends, ..Plan::default() };
    let decision = Decision { verdict: Verdict::Allow, risk: None, targets: vec![], reasons: vec![], plan };
    decision.permit(Origin::Person).unwrap_or_else(|decision| panic!("{decision:?}"))
}

pub async fn execute(connection: &Connection, service: &str, entities: &[&str], data: Value) -> Receipt {
    // What another test changed a moment ago is read first, as every caller does.
    connection.settled(SOON).await.unwrap();
    connection.execute(permit(vec![a_send(service, entities, data)])).await
}

#[track_caller]
pub fn only(receipt: &Receipt) -> &Outcome {
    assert_eq!(receipt.outcomes.len(), 1, "{receipt:?}");
    &receipt.outcomes[0]
}
