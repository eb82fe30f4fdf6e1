//! `menshen mcp` as a client starts it: a child process, JSON lines on its pipes.
//!
//! Start at [`Server::start`]. Invariant: a time runs from the write of a request to the read of the
//! whole answer, and nothing is parsed in between.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::{House, Plan};

pub struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last_id: u64,
    begun: Instant,
    /// From the start of the process to the answer of `initialize`.
    pub initialized: Duration,
}

impl Server {
    /// Starts it and opens the session. Without a house, its address is one where nobody listens.
    pub fn start(plan: &Plan, house: Option<&House>) -> anyhow::Result<Self> {
        let mut command = Command::new(&plan.menshen);
        command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.env("HOME_ASSISTANT_URL", house.map_or("http://127.0.0.1:9", |house| &house.base_url));
        command.env("HOME_ASSISTANT_TOKEN", house.map_or("none", |house| &house.token));
        command.env("XDG_STATE_HOME", &plan.folder);
        command.env("MENSHEN_CONFIG", format!("{}/menshen.toml", plan.folder));
        let begun = Instant::now();
        let mut child = command.spawn().with_context(|| format!("starting {}", plan.menshen))?;
        let input = child.stdin.take().context("no standard input")?;
        let output = BufReader::with_capacity(1 << 20, child.stdout.take().context("no standard output")?);
        let mut server = Self { child, input, output, last_id: 0, begun, initialized: Duration::ZERO };
        let opening = json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "measure", "version": "1"}
        });
        let (answer, _) = server.request("initialize", opening)?;
        server.initialized = begun.elapsed();
        ensure!(answer["result"]["serverInfo"]["name"] == "menshen", "`initialize` answered {answer}");
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(server)
    }

    /// Since the process was started.
    pub fn age(&self) -> Duration {
        self.begun.elapsed()
    }

    /// A tool's answer and how long it took.
    pub fn call(&mut self, tool: &str, arguments: Value) -> anyhow::Result<(Value, Duration)> {
        let (mut answer, took) = self.request("tools/call", json!({"name": tool, "arguments": arguments}))?;
        ensure!(answer["result"]["isError"] != true, "{tool} answered {}", answer["result"]["structuredContent"]);
        Ok((answer["result"]["structuredContent"].take(), took))
    }

    fn request(&mut self, method: &str, params: Value) -> anyhow::Result<(Value, Duration)> {
        self.last_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        let mut line = String::new();
        let asked = Instant::now();
        self.send(&request)?;
        self.output.read_line(&mut line)?;
        let took = asked.elapsed();
        let answer: Value = serde_json::from_str(&line).with_context(|| format!("{method} answered {line:?}"))?;
        ensure!(answer["id"] == self.last_id, "{method} answered {answer}");
        Ok((answer, took))
    }

    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        self.input.write_all(format!("{message}\n").as_bytes())?;
        Ok(self.input.flush()?)
    }

    pub fn memory(&self) -> anyhow::Result<Memory> {
        Memory::of(self.child.id())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _already_gone = self.child.kill();
        let _already_gone = self.child.wait();
    }
}

/// Resident memory in MB (of 1,000,000 bytes), now and at most so far.
pub struct Memory {
    pub now: f64,
    pub peak: f64,
}

impl Memory {
    pub fn of(process: u32) -> anyhow::Result<Self> {
        let path = format!("/proc/{process}/status");
        let text = std::fs::read_to_string(&path).with_context(|| format!("reading {path}"))?;
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            let kib = line.and_then(|line| line.trim_matches([':', '\t', ' ', 'k', 'B']).parse::<f64>().ok());
            kib.map(|kib| kib * 1024.0 / 1e6).with_context(|| format!("{path} has no {name}"))
        };
        Ok(Self { now: field("VmRSS")?, peak: field("VmHWM")? })
    }
}
