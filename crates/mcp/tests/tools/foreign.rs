//! A server that somebody else wrote, from npm, over both transports. Without it the test says so.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use mcp::client::{Asked, Class, Foreign, ForeignServer, HouseMarks, Reach, Status};
use sdk::{Failure, FailureKind, ToolScope};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(60);

/// The server's program; none where it is not installed, which is counted as left out.
fn everything(test: &str) -> Option<PathBuf> {
    let clients = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../xtask/clients");
    let program = clients.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    if program.exists() {
        return program.canonicalize().ok();
    }
    // Past the harness, which keeps what a passing test prints to itself.
    let line = format!("left out: {test}: `npm ci` in xtask/clients makes the server\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
    None
}

fn start(reach: Reach) -> Foreign {
    let server = ForeignServer { name: "everything".to_owned(), reach };
    let house = HouseMarks { addresses: Arc::new(|| vec!["http://home.example:8123".to_owned()]) };
    let allowed =
        ["echo", "get-sum", "get-env", "get-tiny-image", "trigger-long-running-operation", "get-structured-content"];
    let classes = move |asked: &Asked<'_>| if allowed.contains(&asked.tool) { Class::Allow } else { Class::Ask };
    Foreign::start(server, house, Arc::new(classes))
}

async fn until(foreign: &Foreign, what: impl Fn(&Status) -> bool) -> Status {
    let mut status = foreign.status();
    let found = tokio::time::timeout(PATIENCE, status.wait_for(|status| what(status))).await;
    found.unwrap_or_else(|_| panic!("{:?}", *foreign.status().borrow())).unwrap().clone()
}

async fn call(foreign: &Foreign, name: &str, arguments: Value) -> Result<Value, Failure> {
    let tools = foreign.tools();
    let (_, handler) = tools.iter().find(|(definition, _)| definition.name == name).unwrap();
    handler(super::arguments(arguments), ToolScope { language: "zh".into(), ..ToolScope::default() }).await
}

/// What holds over either transport.
async fn works(foreign: &Foreign) {
    let status = until(foreign, |status| status.connected).await;
    assert!(status.tools.len() >= 8 && status.second_hand.is_none(), "{status:?}");
    let echoed = call(foreign, "everything_echo", json!({"message": "门神"})).await.unwrap();
    assert!(echoed["content"].as_str().unwrap().contains("门神"), "{echoed}");
    let sum = call(foreign, "everything_get-sum", json!({"a": 2, "b": 40})).await.unwrap();
    assert!(sum["content"].as_str().unwrap().contains("42"), "{sum}");
    let image = call(foreign, "everything_get-tiny-image", json!({})).await.unwrap().to_string();
    assert!(image.contains("[image image/png") && image.len() < 2000, "{image}");
    let wrong = call(foreign, "everything_get-sum", json!({"a": "two"})).await;
    assert!(wrong.is_err() || wrong.as_ref().is_ok_and(|answer| answer["isError"] == json!(true)), "{wrong:?}");
    let unclassed = status.tools.iter().find(|tool| tool.foreign == "get-annotated-message").unwrap();
    let asked = call(foreign, &unclassed.name, json!({"messageType": "error"})).await.unwrap_err();
    assert_eq!(asked.kind, FailureKind::Forbidden);
    assert!(asked.message.contains("mcp.servers.everything.tools.get-annotated-message"), "{asked}");
}

#[tokio::test]
async fn a_server_of_others_works_over_standard_input_and_learns_nothing_of_ours() {
    let Some(program) = everything("foreign server over stdio") else { return };
    let foreign = start(Reach::Program {
        program: "node".to_owned(),
        arguments: vec![program.display().to_string(), "stdio".to_owned()],
        environment: BTreeMap::from([("GIVEN".to_owned(), "by the operator".to_owned())]),
        folder: None,
    });
    works(&foreign).await;
    let environment = call(&foreign, "everything_get-env", json!({})).await.unwrap().to_string();
    assert!(environment.contains("by the operator"), "{environment}");
    // Set by what runs this test, and ours.
    assert!(std::env::var("CARGO_MANIFEST_DIR").is_ok() && !environment.contains("CARGO"), "{environment}");
    let operation = call(&foreign, "everything_trigger-long-running-operation", json!({"duration": 600, "steps": 2}));
    assert!(tokio::time::timeout(Duration::from_millis(300), operation).await.is_err());
    // It still answers after a call was given up.
    assert!(call(&foreign, "everything_echo", json!({"message": "again"})).await.is_ok());
    foreign.stop().await;
}

/// Killed at the end of the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn a_server_of_others_works_over_http_and_comes_back_after_a_restart() {
    let Some(program) = everything("foreign server over http") else { return };
    // It takes no port of the system's choice.
    let port = 20_000 + std::process::id() % 10_000;
    let serve = || {
        let mut node = Command::new("node");
        node.arg(&program).arg("streamableHttp").env("PORT", port.to_string());
        Server(node.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    };
    let server = serve();
    let foreign = start(Reach::Address { url: format!("http://127.0.0.1:{port}/mcp"), token: None });
    works(&foreign).await;
    drop(server);
    let _again = serve();
    let deadline = tokio::time::Instant::now() + PATIENCE;
    // The first calls may find the old session gone.
    while call(&foreign, "everything_echo", json!({"message": "again"})).await.is_err() {
        assert!(tokio::time::Instant::now() < deadline, "{:?}", *foreign.status().borrow());
        tokio::time::sleep(Duration::from_millis(200)).await; // until the deadline
    }
    foreign.stop().await;
}
