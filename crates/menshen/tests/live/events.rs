//! Events of a house as a connection of its own sees them. Start at [`Events::of`]. Invariant: what
//! happens after `of` has returned is seen.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::houses::TestHouse;

/// Runs for every event of that type until the task is aborted.
pub async fn subscribe(
    house: &TestHouse,
    kind: &str,
    mut seen: impl FnMut(&Value) + Send + 'static,
) -> tokio::task::JoinHandle<()> {
    let url = house.url.replacen("http", "ws", 1) + "/api/websocket";
    let (mut socket, _) = tokio_tungstenite::connect_async(url).await.unwrap();
    let next = async |socket: &mut tokio_tungstenite::WebSocketStream<_>| -> Value {
        match socket.next().await.unwrap().unwrap() {
            Message::Text(text) => serde_json::from_str(&text).unwrap(),
            other => panic!("{other:?}"),
        }
    };
    next(&mut socket).await;
    socket.send(Message::text(json!({"type": "auth", "access_token": house.token}).to_string())).await.unwrap();
    assert_eq!(next(&mut socket).await["type"], "auth_ok");
    let command = json!({"id": 1, "type": "subscribe_events", "event_type": kind});
    socket.send(Message::text(command.to_string())).await.unwrap();
    assert_eq!(next(&mut socket).await["success"], true);
    tokio::spawn(async move {
        while let Some(Ok(message)) = socket.next().await {
            let Message::Text(text) = message else { continue };
            if let Ok(event) = serde_json::from_str::<Value>(&text) {
                seen(&event["event"]["data"]);
            }
        }
    })
}

/// Service calls that the house has carried out, each with the time it was seen.
pub struct Events {
    seen: Arc<Mutex<Vec<(Instant, Value)>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Events {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Events {
    pub async fn calls(house: &TestHouse) -> Self {
        let seen: Arc<Mutex<Vec<(Instant, Value)>>> = Arc::default();
        let keeping = seen.clone();
        let keep = move |data: &Value| keeping.lock().unwrap().push((Instant::now(), data.clone()));
        Self { task: subscribe(house, "call_service", keep).await, seen }
    }

    /// What was called, oldest first.
    pub fn all(&self) -> Vec<Value> {
        self.seen.lock().unwrap().iter().map(|(_, data)| data.clone()).collect()
    }

    /// When this service was called on this entity, each time.
    pub fn of(&self, service: &str, entity: &str) -> Vec<Instant> {
        let names = |data: &Value| match &data["service_data"]["entity_id"] {
            Value::String(id) => id == entity,
            Value::Array(ids) => ids.iter().any(|id| id == entity),
            _ => false,
        };
        let seen = self.seen.lock().unwrap();
        let hits = seen.iter().filter(|(_, data)| data["service"] == service && names(data));
        hits.map(|(at, _)| *at).collect()
    }

    /// Waits for the first one after `since`.
    pub async fn first(&self, service: &str, entity: &str, since: Instant, at_most: Duration) -> Option<Instant> {
        let deadline = Instant::now() + at_most;
        loop {
            let hit = self.of(service, entity).into_iter().find(|at| *at >= since);
            if hit.is_some() || Instant::now() > deadline {
                return hit;
            }
            tokio::time::sleep(Duration::from_micros(200)).await; // until the deadline
        }
    }
}
