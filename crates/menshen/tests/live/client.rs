//! `menshen mcp` as a client sees it: lines of JSON-RPC. Start at [`Mcp::start`].

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::houses::TestHouse;

const ANSWER_SECS_MAX: u64 = 60;

pub struct Mcp {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    last_id: u64,
    /// State folder of its own: audit and pins.
    pub folder: tempfile::TempDir,
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
        let mut mcp = Self { child, input, output, last_id: 0, folder };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        mcp.request("initialize", hello).await;
        mcp.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        mcp
    }

    async fn send(&mut self, message: Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    pub async fn request(&mut self, method: &str, parameters: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters})).await;
        loop {
            let line = timeout(Duration::from_secs(ANSWER_SECS_MAX), self.output.next_line()).await;
            let line = line.expect("no answer").unwrap().expect("the program ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                return message;
            }
        }
    }

    /// A tool's structured answer, or the protocol's refusal of its arguments.
    pub async fn tool(&mut self, name: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": name, "arguments": arguments})).await;
        match answer["result"]["structuredContent"].clone() {
            Value::Null => json!({"ok": false, "error": "protocol", "answer": answer}),
            structured => structured,
        }
    }

    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }
}
