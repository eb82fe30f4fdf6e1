//! One live websocket: commands go out, answers find their way back by id, events reach a listener.
//!
//! Start at [`Link::open`]. One task owns the socket, the pending answers and the pulse; handles
//! only send it messages. Invariant: every command gets exactly one answer, and when the socket dies
//! its answer says whether the command had already been written.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use crate::dial::{self, Socket, Traffic};
use crate::endpoint::{Endpoint, Token};
use crate::error::{Cause, HouseError};
use crate::loose::Loose;

/// Limit: Time between two pings.
pub const PING: Duration = Duration::from_secs(5);
/// Limit: A ping unanswered for so long, with not one byte read meanwhile, means that the house is gone.
pub const PONG_MAX: Duration = Duration::from_secs(4);
/// Limit: Commands that may wait for the socket; more wait in their callers.
const OUTGOING_MAX: usize = 256;
/// Limit: Default longest wait for an answer.
pub const COMMAND_MAX: Duration = Duration::from_secs(10);

/// The JSON of one answer, still inside the frame it came in.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    frame: Utf8Bytes,
    range: Range<usize>,
}

impl Reply {
    pub fn json(&self) -> &str {
        self.frame.as_str().get(self.range.clone()).unwrap_or("null")
    }

    pub fn value<T: DeserializeOwned>(&self, what: &str) -> Result<T, HouseError> {
        serde_json::from_str(self.json()).map_err(|error| HouseError::bad_answer(what, error))
    }
}

/// Why there is no good answer.
#[derive(Clone, Debug)]
pub(crate) enum Missed {
    /// Never written: the house does not know of it.
    NotSent(HouseError),
    /// Written, and the answer is lost: it may have happened.
    Unknown(HouseError),
    /// The house answered with an error. That says little about what moved.
    House { code: String, error: HouseError },
}

impl Missed {
    pub fn error(self) -> HouseError {
        match self {
            Self::NotSent(error) | Self::Unknown(error) | Self::House { error, .. } => error,
        }
    }
}

pub(crate) type Answer = Result<Reply, Missed>;
/// Gets the tag that was given at subscription, and the event's JSON. Must not block.
pub(crate) type Listener<T> = Box<dyn FnMut(T, &str) + Send>;

struct Outgoing<T> {
    /// An object without its id, `{"type":"ping"}`.
    body: String,
    answer: oneshot::Sender<Answer>,
    tag: Option<T>,
}

/// Handle on one socket. Dropping the last one ends the task.
pub(crate) struct Link<T> {
    outgoing: mpsc::Sender<Outgoing<T>>,
    closed: watch::Receiver<Option<HouseError>>,
    version: Arc<str>,
    task: JoinHandle<()>,
}

impl<T> Drop for Link<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl<T: Copy + Send + 'static> Link<T> {
    pub async fn open(endpoint: &Endpoint, token: &Token, listener: Listener<T>) -> Result<Self, HouseError> {
        let (socket, version) = dial::dial(endpoint, token).await?;
        let traffic = socket.get_ref().traffic();
        let (outgoing, incoming) = mpsc::channel(OUTGOING_MAX);
        let (closing, closed) = watch::channel(None);
        let pump = Pump {
            socket,
            traffic,
            incoming,
            listener,
            pending: HashMap::new(),
            tags: HashMap::new(),
            last_id: 1,
            ping: None,
        };
        let task = tokio::spawn(async move {
            let error = pump.run().await;
            closing.send_replace(Some(error));
        });
        Ok(Self { outgoing, closed, version, task })
    }

    pub fn version(&self) -> &Arc<str> {
        &self.version
    }

    /// Waits until the socket is dead and says why.
    pub async fn closed(&self) -> HouseError {
        let mut closed = self.closed.clone();
        match closed.wait_for(Option::is_some).await {
            Ok(error) => error.clone().unwrap_or_else(lost),
            Err(_) => lost(),
        }
    }

    /// Queues one command. The answer comes by the receiver, or `Unknown` when the socket dies.
    pub async fn send(&self, body: String, tag: Option<T>) -> Result<oneshot::Receiver<Answer>, Missed> {
        let (answer, receiver) = oneshot::channel();
        match timeout(PONG_MAX, self.outgoing.send(Outgoing { body, answer, tag })).await {
            Ok(Ok(())) => Ok(receiver),
            Ok(Err(_)) => Err(Missed::NotSent(self.closed.borrow().clone().unwrap_or_else(lost))),
            Err(_) => Err(Missed::NotSent(HouseError::unreachable(Cause::Timeout, "the queue to the house is full"))),
        }
    }

    pub async fn ask(&self, body: String, tag: Option<T>, deadline: Duration) -> Answer {
        let receiver = self.send(body, tag).await?;
        match timeout(deadline, receiver).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(Missed::Unknown(lost())),
            Err(_) => Err(Missed::Unknown(HouseError::unreachable(Cause::Timeout, "no answer to a command"))),
        }
    }

    pub async fn command(&self, kind: &str, fields: Value) -> Result<Reply, HouseError> {
        let deadline = COMMAND_MAX;
        self.ask(body(kind, fields), None, deadline).await.map_err(Missed::error)
    }
}

fn lost() -> HouseError {
    HouseError::unreachable(Cause::Lost, "the house closed it")
}

/// A command as text, still without its id.
pub(crate) fn body(kind: &str, fields: Value) -> String {
    let mut map = if let Value::Object(map) = fields { map } else { serde_json::Map::new() };
    map.insert("type".into(), kind.into());
    Value::Object(map).to_string()
}

struct Pump<T> {
    socket: Socket,
    traffic: Traffic,
    incoming: mpsc::Receiver<Outgoing<T>>,
    listener: Listener<T>,
    pending: HashMap<u64, oneshot::Sender<Answer>>,
    tags: HashMap<u64, T>,
    last_id: u64,
    ping: Option<Ping>,
}

/// A ping under way.
struct Ping {
    id: u64,
    until: Instant,
    /// Bytes read when it was sent.
    bytes: u64,
}

/// One message of the house, its payload not yet parsed.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    id: u64,
    #[serde(rename = "type", borrow, default)]
    kind: Loose<'a>,
    #[serde(default)]
    success: bool,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    event: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<Refusal<'a>>,
}

#[derive(Deserialize)]
struct Refusal<'a> {
    #[serde(borrow, default)]
    code: Loose<'a>,
    #[serde(borrow, default)]
    message: Loose<'a>,
}

impl<T: Copy + Send + 'static> Pump<T> {
    /// Runs until the socket dies; then answers all that still waits.
    async fn run(mut self) -> HouseError {
        let error = self.pump().await;
        for (_, answer) in self.pending.drain() {
            let _gone = answer.send(Err(Missed::Unknown(error.clone())));
        }
        self.incoming.close();
        while let Ok(outgoing) = self.incoming.try_recv() {
            let _gone = outgoing.answer.send(Err(Missed::NotSent(error.clone())));
        }
        error
    }

    async fn pump(&mut self) -> HouseError {
        // Must be the first command; old releases that do not know it answer with an error.
        let hello = r#"{"id":1,"type":"supported_features","features":{"coalesce_messages":1}}"#;
        if let Err(error) = self.write(hello.into()).await {
            return error;
        }
        let mut idle_until = Instant::now() + PING;
        loop {
            let wake_at = self.ping.as_ref().map_or(idle_until, |ping| ping.until);
            // Every branch is safe to cancel: reading and receiving keep what they have, and
            // writing happens in the arm, not in the awaited expression.
            tokio::select! {
                frame = self.socket.next() => match frame {
                    Some(Ok(Message::Text(text))) => {
                        if let Err(error) = self.take(&text) {
                            return error;
                        }
                    }
                    Some(Ok(Message::Close(_))) | None => return lost(),
                    Some(Ok(_)) => {}
                    Some(Err(error)) => return HouseError::unreachable(Cause::Lost, error.to_string()),
                },
                outgoing = self.incoming.recv() => match outgoing {
                    Some(outgoing) => if let Err(error) = self.command(outgoing).await {
                        return error;
                    },
                    None => return lost(),
                },
                () = sleep_until(wake_at) => {
                    if let Err(error) = self.pulse().await {
                        return error;
                    }
                    idle_until = Instant::now() + PING;
                }
            }
        }
    }

    /// Sends a ping, or judges the one under way, whose time is over.
    async fn pulse(&mut self) -> Result<(), HouseError> {
        let bytes = self.traffic.bytes();
        let until = Instant::now() + PONG_MAX;
        if let Some(ping) = &mut self.ping {
            if ping.bytes == bytes {
                return Err(HouseError::unreachable(Cause::Timeout, "no answer to a ping"));
            }
            // A long message may be on its way: bytes are a sign of life as well.
            (ping.bytes, ping.until) = (bytes, until);
            return Ok(());
        }
        self.pending.retain(|_, answer| !answer.is_closed());
        self.last_id += 1;
        self.ping = Some(Ping { id: self.last_id, until, bytes });
        self.write(format!(r#"{{"id":{},"type":"ping"}}"#, self.last_id)).await
    }

    async fn command(&mut self, outgoing: Outgoing<T>) -> Result<(), HouseError> {
        if outgoing.answer.is_closed() {
            return Ok(()); // nobody waits any more: better not to act late
        }
        self.last_id += 1;
        let id = self.last_id;
        if let Some(tag) = outgoing.tag {
            self.tags.insert(id, tag);
        }
        self.pending.insert(id, outgoing.answer);
        self.write(format!(r#"{{"id":{id},{}"#, outgoing.body.get(1..).unwrap_or("}"))).await
    }

    async fn write(&mut self, text: String) -> Result<(), HouseError> {
        let deadline = PONG_MAX;
        match timeout(deadline, self.socket.send(Message::text(text))).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(HouseError::unreachable(Cause::Lost, error.to_string())),
            Err(_) => Err(HouseError::unreachable(Cause::Timeout, "the house reads nothing")),
        }
    }

    fn take(&mut self, frame: &Utf8Bytes) -> Result<(), HouseError> {
        let bad = |error| HouseError::bad_answer("a message", error);
        if frame.trim_start().starts_with('[') {
            let envelopes: Vec<Envelope<'_>> = serde_json::from_str(frame).map_err(bad)?;
            envelopes.into_iter().for_each(|envelope| self.deliver(frame, envelope));
        } else {
            self.deliver(frame, serde_json::from_str(frame).map_err(bad)?);
        }
        Ok(())
    }

    fn deliver(&mut self, frame: &Utf8Bytes, envelope: Envelope<'_>) {
        match envelope.kind.text().as_deref() {
            Some("event") => {
                if let (Some(tag), Some(event)) = (self.tags.get(&envelope.id), envelope.event) {
                    (self.listener)(*tag, event.get());
                }
            }
            Some("result") => {
                let Some(waiting) = self.pending.remove(&envelope.id) else { return };
                let answer = if envelope.success {
                    Ok(Reply { frame: frame.clone(), range: range_in(frame, envelope.result) })
                } else {
                    Err(refusal(envelope.error))
                };
                let _gone = waiting.send(answer);
            }
            Some("pong") if self.ping.as_ref().is_some_and(|ping| ping.id == envelope.id) => self.ping = None,
            _ => {}
        }
    }
}

/// Where the payload lies in its frame.
fn range_in(frame: &str, payload: Option<&RawValue>) -> Range<usize> {
    let Some(payload) = payload.map(RawValue::get) else { return usize::MAX..usize::MAX };
    let start = payload.as_ptr() as usize - frame.as_ptr() as usize;
    start..start + payload.len()
}

fn refusal(refusal: Option<Refusal<'_>>) -> Missed {
    let text = |loose: Option<&Loose<'_>>| loose.and_then(Loose::text).unwrap_or_default().into_owned();
    let code = text(refusal.as_ref().map(|refusal| &refusal.code));
    let message = text(refusal.as_ref().map(|refusal| &refusal.message));
    Missed::House { error: HouseError::refused_by_house(&code, &message), code }
}
