//! A proxy before a house that reads every message: it refuses or swallows commands by their kind, and
//! keeps when each went by. Start at [`Interceptor::before`]. Invariant: what it passes it passes
//! unchanged; whatever is no websocket goes through as bytes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use futures_util::{Sink, SinkExt, Stream, StreamExt};
use serde_json::{Value, json};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{accept_async, connect_async_with_config};

use crate::proxy::address;

/// Answers that wait for the client; more wait in the proxy.
const ANSWERS_MAX: usize = 64;

/// What becomes of one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    Pass,
    /// Answered with an error of the house's.
    Refuse,
    /// Never answered; the house does not hear of it.
    Swallow,
}

/// One command that went by, and when.
#[derive(Clone, Debug)]
pub struct Passed {
    pub at: Instant,
    pub command: Value,
}

type Rule = Arc<dyn Fn(&str) -> Pick + Send + Sync>;

pub struct Interceptor {
    pub url: String,
    passed: Arc<Mutex<Vec<Passed>>>,
    accepting: JoinHandle<()>,
}

impl Drop for Interceptor {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Interceptor {
    /// `rule` gets a command's `type`.
    ///
    /// # Panics
    /// When this machine has no free port.
    pub async fn before(base_url: &str, rule: impl Fn(&str) -> Pick + Send + Sync + 'static) -> Self {
        let house = address(base_url);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap_or_else(|error| panic!("{error}"));
        let port = listener.local_addr().unwrap_or_else(|error| panic!("{error}")).port();
        let passed: Arc<Mutex<Vec<Passed>>> = Arc::default();
        let (keeping, rule): (_, Rule) = (passed.clone(), Arc::new(rule));
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(serve(client, house.clone(), rule.clone(), keeping.clone()));
            }
        });
        Self { url: format!("http://127.0.0.1:{port}"), passed, accepting }
    }

    /// All commands of this kind that reached the house so far.
    pub fn passed(&self, kind: &str) -> Vec<Passed> {
        lock(&self.passed).iter().filter(|passed| passed.command["type"] == kind).cloned().collect()
    }
}

fn lock(passed: &Mutex<Vec<Passed>>) -> MutexGuard<'_, Vec<Passed>> {
    passed.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(mut client: TcpStream, house: String, rule: Rule, passed: Arc<Mutex<Vec<Passed>>>) {
    let mut head = [0; 18];
    let is_websocket = matches!(client.peek(&mut head).await, Ok(18) if head.starts_with(b"GET /api/websocket"));
    if !is_websocket {
        let Ok(mut server) = TcpStream::connect(house).await else { return };
        let _ended = copy_bidirectional(&mut client, &mut server).await;
        return;
    }
    // Neither side may wait to fill a packet: times are measured through here.
    let _slower = client.set_nodelay(true);
    let url = format!("ws://{house}/api/websocket");
    let Ok((server, _)) = connect_async_with_config(url, None, true).await else { return };
    let Ok(client) = accept_async(client).await else { return };
    let (to_client, from_client) = client.split();
    let (to_house, from_house) = server.split();
    let (own, answers) = mpsc::channel(ANSWERS_MAX);
    tokio::select! {
        () = commands(from_client, to_house, own, &rule, &passed) => {}
        () = answered(from_house, answers, to_client) => {}
    }
}

async fn commands(
    mut from: impl Stream<Item = Result<Message, Error>> + Unpin,
    mut to: impl Sink<Message> + Unpin,
    own: mpsc::Sender<Message>,
    rule: &Rule,
    passed: &Mutex<Vec<Passed>>,
) {
    while let Some(Ok(message)) = from.next().await {
        let Message::Text(text) = &message else { continue };
        let command: Value = serde_json::from_str(text).unwrap_or_default();
        match rule(command["type"].as_str().unwrap_or_default()) {
            Pick::Swallow => continue,
            Pick::Refuse => {
                let error = json!({ "code": "unknown_error", "message": "refused by the test" });
                let answer = json!({ "id": command["id"], "type": "result", "success": false, "error": error });
                if own.send(Message::text(answer.to_string())).await.is_err() {
                    return;
                }
            }
            Pick::Pass => {
                lock(passed).push(Passed { at: Instant::now(), command });
                if to.send(message).await.is_err() {
                    return;
                }
            }
        }
    }
}

async fn answered(
    mut from: impl Stream<Item = Result<Message, Error>> + Unpin,
    mut own: mpsc::Receiver<Message>,
    mut to: impl Sink<Message> + Unpin,
) {
    loop {
        let message = tokio::select! {
            message = from.next() => match message {
                Some(Ok(message)) => message,
                _ => return,
            },
            Some(message) = own.recv() => message,
        };
        if matches!(message, Message::Text(_)) && to.send(message).await.is_err() {
            return;
        }
    }
}
