//! The server over memory, spoken to as clients of each revision of the protocol do.

use std::sync::Arc;
use std::time::Duration;

use decide::gate::Language;
use home::{Connection, Settings};
use mcp::{Desk, serve};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

const PATIENCE: Duration = Duration::from_secs(15);

/// A client that writes lines and reads lines.
struct Client {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: Option<WriteHalf<DuplexStream>>,
    served: JoinHandle<Result<(), mcp::ServeError>>,
    next: u64,
}

/// A desk without a house: what a start without any configuration is.
fn desk() -> Desk {
    Desk::new(
        Connection::start(Settings::default()),
        mcp::SharedPolicy::default(),
        Language::English,
        "0.1.0",
        Arc::from([]),
    )
}

impl Client {
    fn start() -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(theirs);
        let served = tokio::spawn(serve(desk(), read, write));
        let (read, write) = tokio::io::split(ours);
        Self { lines: BufReader::new(read).lines(), write: Some(write), served, next: 0 }
    }

    async fn send(&mut self, message: Value) {
        let write = self.write.as_mut().unwrap();
        write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn request(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await.unwrap().unwrap().unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], json!(id), "{answer}");
        answer
    }

    /// Open a session as the revisions up to 2025-11-25 do.
    async fn open(&mut self, revision: &str) -> Value {
        let about = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": about});
        let answer = self.request("initialize", params).await;
        self.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        answer["result"].clone()
    }

    async fn leave(mut self) {
        let mut write = self.write.take().unwrap();
        write.shutdown().await.unwrap();
        drop(write);
        drop(self.lines);
        tokio::time::timeout(PATIENCE, self.served).await.unwrap().unwrap().unwrap();
    }
}

/// What every request of the newest revision carries.
fn meta(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

fn names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn every_revision_with_a_handshake_is_answered_in_kind_and_lists_the_six_tools() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::start();
        let opened = client.open(revision).await;
        assert_eq!(opened["protocolVersion"], revision);
        assert_eq!(opened["serverInfo"]["name"], "menshen");
        assert_eq!(opened["serverInfo"]["title"], "Menshen");
        assert_eq!(opened["serverInfo"]["version"], "0.1.0");
        assert!(opened["instructions"].as_str().unwrap().contains("untrusted data"));
        let list = client.request("tools/list", json!({})).await["result"].clone();
        assert_eq!(names(&list), mcp::tools::catalogue::ORDER, "{revision}");
        assert!(list.get("resultType").is_none(), "{revision}");
        client.leave().await;
    }
}

#[tokio::test]
async fn the_newest_revision_works_without_a_handshake() {
    let mut client = Client::start();
    let found = client.request("server/discover", meta(json!({}))).await["result"].clone();
    let versions = found["supportedVersions"].to_string();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        assert!(versions.contains(revision), "{found}");
    }
    let list = client.request("tools/list", meta(json!({}))).await["result"].clone();
    assert_eq!(names(&list), mcp::tools::catalogue::ORDER);
    assert_eq!(list["resultType"], "complete");
    let called = client.request("tools/call", meta(json!({"name": "home_overview", "arguments": {}}))).await;
    assert_eq!(called["result"]["resultType"], "complete", "{called}");
    client.leave().await;
}

#[tokio::test]
async fn the_list_as_sent_costs_at_most_2000_tokens() {
    let mut client = Client::start();
    client.open("2025-11-25").await;
    let list = client.request("tools/list", json!({})).await["result"].to_string();
    let cost = crate::tokens(&list);
    assert!(cost <= 2_000, "{cost} tokens");
    client.leave().await;
}

#[tokio::test]
async fn without_an_address_every_tool_says_so_as_an_error_with_structure() {
    let mut client = Client::start();
    client.open("2025-06-18").await;
    for (name, arguments) in [
        ("home_overview", json!({})),
        ("list_entities", json!({})),
        ("list_macros", json!({})),
        ("call_service", json!({"domain": "light", "service": "turn_on", "entity_id": "light.a"})),
        ("preview_macro", json!({"phrase": "晚安"})),
        ("run_macro", json!({"phrase": "good night"})),
    ] {
        let answer =
            client.request("tools/call", json!({"name": name, "arguments": arguments})).await["result"].clone();
        assert_eq!(answer["isError"], json!(true), "{name}: {answer}");
        assert_eq!(answer["structuredContent"]["ok"], json!(false), "{name}");
        assert_eq!(answer["structuredContent"]["error"], "bad_url", "{name}: {answer}");
        let text: Value = serde_json::from_str(answer["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, answer["structuredContent"], "{name}");
    }
    client.leave().await;
}

#[tokio::test]
async fn unknown_tools_and_arguments_are_told_apart() {
    let mut client = Client::start();
    client.open("2025-11-25").await;
    let answer = client.request("tools/call", json!({"name": "unlock_all", "arguments": {}})).await;
    assert_eq!(answer["error"]["code"], json!(-32602));
    let arguments = json!({"phrase": "good night", "confirm_run": true});
    let answer =
        client.request("tools/call", json!({"name": "run_macro", "arguments": arguments})).await["result"].clone();
    assert_eq!(answer["isError"], json!(true));
    assert_eq!(answer["structuredContent"]["error"], "bad_request");
    assert!(answer["structuredContent"]["message"].as_str().unwrap().contains("confirm_run"));
    client.leave().await;
}

#[tokio::test]
async fn a_client_that_leaves_ends_the_server_even_before_it_said_a_word() {
    Client::start().leave().await;
    let mut client = Client::start();
    client.open("2025-03-26").await;
    client.leave().await;
}
