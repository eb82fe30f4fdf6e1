//! `menshen mcp` as a client sees it: lines of JSON-RPC. Start at [`Mcp::start`].

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::houses::TestHouse;

const ANSWER_SECS_MAX: u64 = 60;

pub struct Mcp {
    _child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    last_id: u64,
    /// Answers that came while another was waited for.
    early: BTreeMap<u64, Value>,
    /// State folder of its own: audit and pins.
    _folder: tempfile::TempDir,
}

impl Mcp {
    pub async fn start(house: &TestHouse) -> Self {
        Self::start_with(house, &[], "").await
    }

    /// With further environment and a configuration file.
    pub async fn start_with(house: &TestHouse, environment: &[(&str, &str)], configuration: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("menshen.toml");
        std::fs::write(&config, configuration).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_menshen"));
        command.arg("mcp").arg("--config").arg(&config).env_clear();
        command.env("HOME_ASSISTANT_URL", &house.url).env("HOME_ASSISTANT_TOKEN", &house.token);
        command.env("XDG_STATE_HOME", folder.path()).env("HOME", folder.path());
        command.envs(environment.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut mcp = Self { _child: child, input, output, last_id: 0, early: BTreeMap::new(), _folder: folder };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        mcp.request("initialize", hello).await;
        mcp.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        mcp
    }

    async fn send(&mut self, message: Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    pub async fn request(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.post(method, parameters).await;
        self.answer(id).await
    }

    /// Sends a request and does not wait.
    pub async fn post(&mut self, method: &str, parameters: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters})).await;
        id
    }

    /// The answer to what was posted, whatever comes before it.
    pub async fn answer(&mut self, id: u64) -> Value {
        loop {
            if let Some(message) = self.early.remove(&id) {
                return message;
            }
            let (id, message) = self.receive().await;
            self.early.insert(id, message);
        }
    }

    /// The next answer that comes in.
    async fn receive(&mut self) -> (u64, Value) {
        loop {
            let line = timeout(Duration::from_secs(ANSWER_SECS_MAX), self.output.next_line()).await;
            let line = line.expect("no answer").unwrap().expect("the program ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if let Some(id) = message["id"].as_u64() {
                return (id, message);
            }
        }
    }

    /// A tool's structured answer, or the protocol's refusal of its arguments.
    pub async fn tool(&mut self, name: &str, arguments: Value) -> Value {
        let id = self.post_tool(name, arguments).await;
        self.told(id).await
    }

    /// A tool call that is not waited for; [`Mcp::told`] gives its answer.
    pub async fn post_tool(&mut self, name: &str, arguments: Value) -> u64 {
        self.post("tools/call", json!({"name": name, "arguments": arguments})).await
    }

    pub async fn told(&mut self, id: u64) -> Value {
        structured(self.answer(id).await)
    }

    /// Whichever posted tool call ends next.
    pub async fn told_next(&mut self) -> (u64, Value) {
        let (id, message) = self.receive().await;
        (id, structured(message))
    }
}

fn structured(answer: Value) -> Value {
    match answer["result"]["structuredContent"].clone() {
        Value::Null => json!({"ok": false, "error": "protocol", "answer": answer}),
        structured => structured,
    }
}
