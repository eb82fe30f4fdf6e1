//! The least that could be called a client: one websocket, every message parsed into a `Value`,
//! nothing kept in order, nothing judged. What the program adds is measured against it.
//!
//! Start at [`ready`]. Invariant: it issues the commands that the program issues when it connects.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use crate::House;

pub struct Socket {
    stream: WebSocketStream<TcpStream>,
    last_id: u64,
}

impl Socket {
    pub async fn open(house: &House) -> anyhow::Result<Self> {
        let address = house.base_url.strip_prefix("http://").context("the house is not on plain http")?;
        let tcp = TcpStream::connect(address).await?;
        tcp.set_nodelay(true)?;
        let any_size = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let url = format!("ws://{address}/api/websocket");
        let (stream, _) = client_async_with_config(url, tcp, Some(any_size)).await?;
        let mut socket = Self { stream, last_id: 0 };
        socket.next().await?;
        let login = json!({"type": "auth", "access_token": house.token}).to_string();
        socket.stream.send(Message::text(login)).await?;
        let answer = socket.next().await?;
        ensure!(answer["type"] == "auth_ok", "the house answered {answer}");
        Ok(socket)
    }

    /// Sends a command and gives its id.
    pub async fn send(&mut self, kind: &str, mut fields: Value) -> anyhow::Result<u64> {
        self.last_id += 1;
        fields["id"] = self.last_id.into();
        fields["type"] = kind.into();
        self.stream.send(Message::text(fields.to_string())).await?;
        Ok(self.last_id)
    }

    /// The next message, parsed.
    pub async fn next(&mut self) -> anyhow::Result<Value> {
        loop {
            match self.stream.next().await.context("the house closed the socket")?? {
                Message::Text(text) => return Ok(serde_json::from_str(&text)?),
                _ => continue,
            }
        }
    }
}

/// As the program asks for details: so many entities in one command.
const ENTRIES_PER_COMMAND: usize = 2000;
const EVENTS: [&str; 12] = [
    "entity_registry_updated",
    "device_registry_updated",
    "area_registry_updated",
    "floor_registry_updated",
    "label_registry_updated",
    "core_config_updated",
    "homeassistant_started",
    "service_registered",
    "service_removed",
    "automation_reloaded",
    "scene_reloaded",
    "component_loaded",
];
const LISTS: [&str; 8] = [
    "get_config",
    "get_services",
    "config/entity_registry/list",
    "config/device_registry/list",
    "config/area_registry/list",
    "config/floor_registry/list",
    "config/label_registry/list",
    "homeassistant/expose_entity/list",
];

/// From the first packet until all that the program reads has been read.
pub async fn ready(house: &House) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    let mut socket = Socket::open(house).await?;
    socket.send("supported_features", json!({"features": {"coalesce_messages": 1}})).await?;
    let mut reading = Reading { pending: BTreeMap::new(), states: 0, kept: Vec::new(), chunks: Vec::new() };
    reading.states = reading.ask(&mut socket, "subscribe_entities", json!({})).await?;
    for list in LISTS {
        reading.ask(&mut socket, list, json!({})).await?;
    }
    for event in EVENTS {
        reading.ask(&mut socket, "subscribe_events", json!({"event_type": event})).await?;
    }
    while !reading.pending.is_empty() || reading.states != 0 {
        let message = socket.next().await?;
        match message {
            Value::Array(messages) => {
                for message in messages {
                    reading.take(&mut socket, message).await?;
                }
            }
            message => reading.take(&mut socket, message).await?,
        }
    }
    Ok(begun.elapsed())
}

struct Reading {
    /// Commands without an answer, and what they are.
    pending: BTreeMap<u64, String>,
    /// The id of the subscription to states until its first event is there, then 0.
    states: u64,
    /// Parsed answers, as a client has to keep them somehow.
    kept: Vec<Value>,
    /// Ids whose details are still to be asked for.
    chunks: Vec<Vec<String>>,
}

impl Reading {
    async fn ask(&mut self, socket: &mut Socket, kind: &str, fields: Value) -> anyhow::Result<u64> {
        let id = socket.send(kind, fields).await?;
        self.pending.insert(id, kind.to_owned());
        Ok(id)
    }

    async fn take(&mut self, socket: &mut Socket, mut message: Value) -> anyhow::Result<()> {
        let id = message["id"].as_u64().unwrap_or(0);
        if message["type"] == "event" {
            if id == self.states {
                self.states = 0;
                let ids: Vec<&String> =
                    message["event"]["a"].as_object().into_iter().flat_map(|all| all.keys()).collect();
                let bodies = ids.iter().filter(|id| id.starts_with("script.") || id.starts_with("automation."));
                for id in bodies {
                    let domain = id.split('.').next().unwrap_or_default();
                    self.ask(socket, &format!("{domain}/config"), json!({"entity_id": id})).await?;
                }
                self.kept.push(message);
            }
            return Ok(());
        }
        let Some(kind) = self.pending.remove(&id) else { return Ok(()) };
        let result = message["result"].take();
        if kind == "config/entity_registry/list" {
            let ids: Vec<String> = (result.as_array().into_iter().flatten())
                .filter_map(|entry| entry["entity_id"].as_str().map(str::to_owned))
                .collect();
            self.chunks = ids.chunks(ENTRIES_PER_COMMAND).map(<[String]>::to_vec).collect();
        }
        if kind.starts_with("config/entity_registry/")
            && let Some(chunk) = self.chunks.pop()
        {
            self.ask(socket, "config/entity_registry/get_entries", json!({"entity_ids": chunk})).await?;
        }
        self.kept.push(result);
        Ok(())
    }
}
