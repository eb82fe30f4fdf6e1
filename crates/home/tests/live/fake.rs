//! A house of a few lines that answers as it is told: for what a real one does not do on request.
//!
//! It speaks the websocket only. Start at [`FakeHouse::start`]; what it answers stands in [`Script`].

use std::sync::{Arc, Mutex};

use futures_util::{SinkExt, StreamExt};
use home::{Settings, Token};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::sync::broadcast;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_tungstenite::accept_async;
use tokio_tungstenite::tungstenite::Message;

/// What the house answers. Changed while it runs.
pub struct Script {
    pub running: bool,
    pub token_is_good: bool,
    /// Answered with `unknown_command`, as an old release does.
    pub unknown: Vec<&'static str>,
    /// Answered with `unknown_error`.
    pub broken: Vec<&'static str>,
    pub states: Value,
    pub entries: Vec<Value>,
    /// What a service call does: the change to push, and whether it is answered with an error.
    pub on_call: Option<(Value, bool)>,
    /// All commands received, in order.
    pub received: Vec<Value>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            running: true,
            token_is_good: true,
            unknown: Vec::new(),
            broken: Vec::new(),
            states: json!({ "light.a": { "s": "off", "a": { "friendly_name": "A" }, "lc": 1.0 } }),
            entries: Vec::new(),
            on_call: None,
            received: Vec::new(),
        }
    }
}

impl Script {
    pub fn count(&self, kind: &str) -> usize {
        self.received.iter().filter(|command| command["type"] == kind).count()
    }

    fn answer(&mut self, command: &Value) -> Result<Value, &'static str> {
        let kind = command["type"].as_str().unwrap_or_default();
        self.received.push(command.clone());
        if self.unknown.contains(&kind) {
            return Err("unknown_command");
        }
        if self.broken.contains(&kind) {
            return Err("unknown_error");
        }
        let entry_of = |id: &Value| {
            (id.to_string(), self.entries.iter().find(|entry| entry["entity_id"] == *id).cloned().unwrap_or_default())
        };
        Ok(match kind {
            "get_config" => {
                json!({ "state": if self.running { "RUNNING" } else { "STARTING" }, "version": "2026.11.0", "location_name": "Fake" })
            }
            "config/entity_registry/list" => json!(self.entries),
            "config/entity_registry/get_entries" => {
                let ids = command["entity_ids"].as_array().cloned().unwrap_or_default();
                Value::Object(
                    ids.iter().map(entry_of).map(|(id, entry)| (id.trim_matches('"').to_owned(), entry)).collect(),
                )
            }
            "homeassistant/expose_entity/list" => json!({ "exposed_entities": {} }),
            "get_services" => json!({ "light": { "turn_on": { "fields": {} } } }),
            "call_service" if self.on_call.as_ref().is_some_and(|(_, errs)| *errs) => return Err("unknown_error"),
            _ if kind.ends_with("/list") => json!([]),
            _ => Value::Null,
        })
    }
}

pub struct FakeHouse {
    pub url: String,
    pub script: Arc<Mutex<Script>>,
    /// Texts pushed to all sockets as they are.
    push: broadcast::Sender<String>,
    accepting: JoinHandle<()>,
}

impl Drop for FakeHouse {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl FakeHouse {
    pub async fn start(script: Script, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let url = format!("{}://localhost:{port}", if tls.is_some() { "https" } else { "http" });
        let script = Arc::new(Mutex::new(script));
        let push = broadcast::Sender::new(16);
        let (shared, pushing) = (script.clone(), push.clone());
        let accepting = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (script, pushed, tls) = (shared.clone(), pushing.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(BufReader::new(socket), script, pushed).await,
                        Some(tls) => {
                            if let Ok(socket) = tls.accept(socket).await {
                                serve(BufReader::new(socket), script, pushed).await;
                            }
                        }
                    }
                });
            }
        });
        Self { url, script, push, accepting }
    }

    pub fn settings(&self) -> Settings {
        Settings { url: Some(self.url.clone()), token: Some(Token::new("good")), ..Settings::default() }
    }

    /// Pushes a text to every socket, `ID` in it being the state subscription's id.
    pub fn push(&self, text: String) {
        let _nobody = self.push.send(text);
    }

    /// Cuts every socket.
    pub fn hang_up(&self) {
        self.push(String::new());
    }
}

/// A websocket, or one plain HTTP answer.
async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    mut socket: BufReader<S>,
    script: Arc<Mutex<Script>>,
    push: broadcast::Sender<String>,
) {
    let wants_websocket = matches!(socket.fill_buf().await, Ok(head) if head.starts_with(b"GET /api/websocket"));
    if !wants_websocket {
        let _gone = socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
        let _gone = socket.flush().await;
        return;
    }
    let Ok(mut socket) = accept_async(socket).await else { return };
    let mut pushed = push.subscribe();
    let _gone = socket.send(Message::text(r#"{"type":"auth_required","ha_version":"2026.11.0"}"#)).await;
    let _token = socket.next().await;
    let good = script.lock().unwrap().token_is_good;
    let greeting = if good {
        r#"{"type":"auth_ok","ha_version":"2026.11.0"}"#
    } else {
        r#"{"type":"auth_invalid","message":"no"}"#
    };
    let _gone = socket.send(Message::text(greeting)).await;
    if !good {
        return;
    }
    let mut states_id = 0;
    loop {
        tokio::select! {
            message = socket.next() => {
                let Some(Ok(Message::Text(text))) = message else { return };
                let command: Value = serde_json::from_str(&text).unwrap();
                for answer in answers(&script, &command, &mut states_id) {
                    if socket.send(Message::text(answer)).await.is_err() { return }
                }
            }
            text = pushed.recv() => match text {
                Ok(text) if !text.is_empty() => {
                    let text = text.replacen("ID", &states_id.to_string(), 2);
                    if socket.send(Message::text(text)).await.is_err() { return }
                }
                _ => return,
            },
        }
    }
}

fn answers(script: &Mutex<Script>, command: &Value, states_id: &mut u64) -> Vec<String> {
    let mut script = script.lock().unwrap();
    let id = command["id"].as_u64().unwrap();
    if command["type"] == "ping" {
        return vec![json!({ "id": id, "type": "pong" }).to_string()];
    }
    let answer = match script.answer(command) {
        Ok(result) => json!({ "id": id, "type": "result", "success": true, "result": result }),
        Err(code) => {
            json!({ "id": id, "type": "result", "success": false, "error": { "code": code, "message": "as told" } })
        }
    };
    let event = |body: &Value, id: u64| json!({ "id": id, "type": "event", "event": body });
    match command["type"].as_str() {
        Some("subscribe_entities") => {
            *states_id = id;
            vec![answer.to_string(), event(&json!({ "a": script.states }), id).to_string()]
        }
        // The change and the answer in one message, as a house that coalesces sends them.
        Some("call_service") => match &script.on_call {
            Some((change, _)) => vec![json!([event(change, *states_id), answer]).to_string()],
            None => vec![answer.to_string()],
        },
        _ => vec![answer.to_string()],
    }
}
