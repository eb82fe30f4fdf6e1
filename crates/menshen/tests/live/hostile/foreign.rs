//! Foreign MCP servers on this machine, which count what reaches their tools. Start at [`Servers::start`].

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kernel::agent::Agent;
use mcp::client::{ForeignServer, Reach};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::payloads::Payload;

/// A server that answers on this machine is there within this time.
const THERE_WITHIN: Duration = Duration::from_secs(20);
/// Whose tools say what the payloads have them say.
pub const SAYING: &str = "notes";

/// Tools by server: name and description.
type Tools = BTreeMap<String, Vec<(String, String)>>;

/// Known by their tools to reach a house: not used at all, whatever anybody decides.
pub const SECOND_HANDS: [&str; 3] = ["assist", "esphome", "ha"];

pub struct Servers {
    tools: Arc<Tools>,
    port: u16,
    received: Arc<Mutex<Vec<String>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Servers {
    /// Every server that a payload calls, and one that speaks.
    pub async fn start(payloads: &[Payload]) -> Self {
        let tools = Arc::new(tools(payloads));
        let listener = TcpListener::bind((Ipv4Addr::new(127, 0, 0, 2), 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let received: Arc<Mutex<Vec<String>>> = Arc::default();
        let (known, keep) = (tools.clone(), received.clone());
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, known.clone(), keep.clone()));
            }
        });
        Self { tools, port, received, task }
    }

    /// As an operator configures them who has decided about none of their tools.
    pub fn configured(&self) -> Vec<ForeignServer> {
        let one = |name: &String| {
            let reach = Reach::Address { url: format!("http://127.0.0.2:{}/{name}", self.port), token: None };
            ForeignServer { name: name.clone(), reach }
        };
        self.tools.keys().map(one).collect()
    }

    /// Waits for the tools of those that are used, and looks that no others came.
    pub async fn there(&self, agent: &Agent) {
        let deadline = Instant::now() + THERE_WITHIN;
        for (server, tools) in self.tools.iter().filter(|(server, _)| !SECOND_HANDS.contains(&server.as_str())) {
            // What speaks of a house itself is left out, so one of them is enough.
            let there = || tools.iter().any(|(tool, _)| !agent.tools().owner(&shown(server, tool)).is_empty());
            while !there() {
                assert!(Instant::now() < deadline, "no tool of {server}");
                tokio::time::sleep(Duration::from_millis(20)).await; // until the deadline
            }
        }
    }

    /// Tools of a second hand that were offered all the same.
    pub fn offered_wrongly(&self, agent: &Agent) -> Vec<String> {
        let second = self.tools.iter().filter(|(server, _)| SECOND_HANDS.contains(&server.as_str()));
        let names = second.flat_map(|(server, tools)| tools.iter().map(|(tool, _)| shown(server, tool)));
        names.filter(|name| !agent.tools().owner(name).is_empty()).collect()
    }

    /// Calls of tools, whole.
    pub fn received(&self) -> Vec<String> {
        self.received.lock().unwrap().clone()
    }
}

/// The name under which a model is offered a tool.
pub fn shown(server: &str, tool: &str) -> String {
    format!("{}_{tool}", server.replace('_', "-"))
}

fn tools(payloads: &[Payload]) -> Tools {
    let mut tools = Tools::new();
    let later = payloads.iter().filter_map(|payload| payload.later.as_ref()).map(|later| &later.imperative);
    for imperative in payloads.iter().map(|payload| &payload.imperative).chain(later) {
        if let Some((server, tool)) = imperative.tool.split_once("__") {
            let tools = tools.entry(server.to_owned()).or_default();
            if tools.iter().all(|(known, _)| known != tool) {
                tools.push((tool.to_owned(), "Does it.".to_owned()));
            }
        }
    }
    for payload in payloads.iter().filter(|payload| payload.carrier == "mcp_tool_description") {
        tools.entry(SAYING.to_owned()).or_default().push((payload.id.clone(), payload.text.clone()));
    }
    tools
}

async fn answer(stream: TcpStream, tools: Arc<Tools>, received: Arc<Mutex<Vec<String>>>) {
    let mut stream = BufReader::new(stream);
    while let Some((head, body)) = request(&mut stream).await {
        let path = head.split(' ').nth(1).unwrap_or_default().trim_start_matches('/').to_owned();
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": path, "version": "1"},
            }),
            Some("tools/list") => {
                let tool = |(name, words): &(String, String)| json!({"name": name, "description": words, "inputSchema": {"type": "object"}});
                json!({"tools": tools.get(&path).into_iter().flatten().map(tool).collect::<Vec<_>>()})
            }
            Some("tools/call") => {
                received.lock().unwrap().push(format!("{path} {}", message["params"]));
                json!({"content": [{"type": "text", "text": "done"}]})
            }
            _ => Value::Null,
        };
        let (status, body) = match (&message["id"], head.starts_with("POST")) {
            (_, false) => ("405 Method Not Allowed", String::new()),
            (Value::Null, _) => ("202 Accepted", String::new()),
            (id, _) => ("200 OK", json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()),
        };
        let kind = if body.is_empty() { "" } else { "content-type: application/json\r\n" };
        let head = format!("HTTP/1.1 {status}\r\n{kind}content-length: {}\r\n\r\n", body.len());
        if stream.write_all(format!("{head}{body}").as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Head and body of the next request; none where there is no further one.
async fn request(stream: &mut BufReader<TcpStream>) -> Option<(String, Vec<u8>)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let small = head.to_lowercase();
    let length = small.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some((head, body))
}
