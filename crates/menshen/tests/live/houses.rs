//! The houses to test on, one test at a time on each. Start at [`each`].

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::LazyLock;

use futures_util::FutureExt;
use futures_util::future::join_all;
use home::{Endpoint, Tls, Token, Wire};
use serde_json::{Value, json};
use tokio::sync::Mutex;

static ONE_AT_A_TIME: LazyLock<Mutex<()>> = LazyLock::new(Mutex::default);

#[derive(Clone, Debug)]
pub struct TestHouse {
    pub url: String,
    pub token: String,
    pub version: String,
    pub name: String,
}

/// Runs the test on every house, on all at the same time; without a house it is counted as left out.
pub fn each<F: AsyncFn(&TestHouse)>(name: &str, test: F) {
    let list = std::env::var("MENSHEN_HOUSES").unwrap_or_default();
    let houses: Vec<TestHouse> = list.split(':').filter(|file| !file.is_empty()).map(read).collect();
    if houses.is_empty() {
        println!("left out: {name}: no house");
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let _guard = ONE_AT_A_TIME.lock().await;
        let tests = houses.iter().map(|house| AssertUnwindSafe(test(house)).catch_unwind());
        let ended = join_all(tests).await;
        let failed: Vec<&str> =
            houses.iter().zip(&ended).filter(|(_, end)| end.is_err()).map(|(house, _)| &*house.version).collect();
        assert!(failed.is_empty(), "{name} failed on {}", failed.join(" and "));
    });
}

fn read(file: &str) -> TestHouse {
    let json: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let text = |key: &str| json[key].as_str().unwrap_or_default().to_owned();
    TestHouse { url: text("baseUrl"), token: text("token"), version: text("haVersion"), name: text("name") }
}

impl TestHouse {
    /// A second connection, apart from the program under test.
    pub async fn wire(&self) -> Wire {
        Wire::open(&Endpoint::parse(&self.url, Tls::SystemRoots).unwrap(), &Token::new(&self.token)).await.unwrap()
    }

    /// Everything that moves back to where the seed put it, alarms armed away.
    pub async fn reset(&self) {
        let output = tokio::process::Command::new(env!("CARGO_BIN_EXE_menshen"))
            .args(["home", "reset", "--name", &self.name, "--json"])
            .output()
            .await
            .unwrap();
        assert!(output.status.success(), "reset: {}", String::from_utf8_lossy(&output.stderr));
    }

    pub fn newer_than(&self, version: &str) -> bool {
        let parts = |text: &str| text.split('.').filter_map(|part| part.parse::<u32>().ok()).collect::<Vec<_>>();
        parts(&self.version) >= parts(version)
    }
}

/// One service call, raw.
pub async fn raw(
    wire: &mut Wire,
    domain: &str,
    service: &str,
    data: Value,
    target: Option<Value>,
) -> Result<Value, String> {
    let mut body = json!({"domain": domain, "service": service, "service_data": data});
    if let Some(target) = target {
        body["target"] = target;
    }
    wire.command("call_service", body).await.map_err(|error| format!("{error:?}"))
}

/// All states, by id.
pub async fn states(wire: &mut Wire) -> BTreeMap<String, Value> {
    let list = wire.command("get_states", Value::Null).await.unwrap();
    list.as_array()
        .unwrap()
        .iter()
        .map(|state| (state["entity_id"].as_str().unwrap().to_owned(), state.clone()))
        .collect()
}
