//! One plain websocket, one command after the other: for onboarding, tests and benches.
//!
//! Start at [`Wire::open`]. Invariant: a command's answer is the one with its own id. A `Wire` can
//! send anything, so nothing that serves a model may hold one.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::dial::{self, Socket};
use crate::endpoint::{Endpoint, Token};
use crate::error::{Cause, ErrorCode, HouseError};

/// Longest wait for one answer.
const COMMAND_MAX: Duration = Duration::from_secs(10);

pub struct Wire {
    socket: Socket,
    version: std::sync::Arc<str>,
    last_id: u64,
}

#[derive(Deserialize)]
struct Answer {
    id: u64,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    success: bool,
    #[serde(default)]
    result: Value,
    #[serde(default)]
    error: Option<Refusal>,
}

#[derive(Deserialize)]
struct Refusal {
    #[serde(default)]
    code: Value,
    #[serde(default)]
    message: String,
}

impl Wire {
    pub async fn open(endpoint: &Endpoint, token: &Token) -> Result<Self, HouseError> {
        let (socket, version) = dial::dial(endpoint, token).await?;
        Ok(Self { socket, version, last_id: 0 })
    }

    /// Home Assistant's version, as it said at the door.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// One command and its answer. `body` holds its further fields.
    pub async fn command(&mut self, kind: &str, body: Value) -> Result<Value, HouseError> {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = match body {
            Value::Object(map) => map,
            Value::Null => Map::new(),
            other => {
                return Err(HouseError::new(ErrorCode::BadRequest, Cause::Malformed, other.to_string()));
            }
        };
        message.insert("id".into(), id.into());
        message.insert("type".into(), kind.into());
        let exchange = async {
            dial::send(&mut self.socket, Value::Object(message).to_string()).await?;
            loop {
                let text = dial::receive(&mut self.socket).await?;
                let answer: Value = serde_json::from_str(&text).map_err(|e| HouseError::bad_answer(kind, e))?;
                if answer["id"] == id && answer["type"] != "event" {
                    return serde_json::from_value::<Answer>(answer).map_err(|e| HouseError::bad_answer(kind, e));
                }
            }
        };
        let answer =
            timeout(COMMAND_MAX, exchange).await.map_err(|_| HouseError::unreachable(Cause::Timeout, kind))??;
        debug_assert_eq!(answer.id, id);
        match answer.error {
            None if answer.success || answer.kind == "pong" => Ok(answer.result),
            None => Err(HouseError::refused_by_house(kind, "")),
            Some(refusal) => {
                let code = refusal.code.as_str().map_or_else(|| refusal.code.to_string(), str::to_owned);
                Err(HouseError::refused_by_house(&code, &refusal.message))
            }
        }
    }
}
