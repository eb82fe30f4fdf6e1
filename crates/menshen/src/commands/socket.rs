//! The local socket by which `menshen chat` joins a running `menshen serve`. Start at [`serve`] and
//! [`Joined::connect`].
//!
//! One JSON object a line. To the server: [`Request`]. From it: [`Reply`]. Invariants: the socket lies in the
//! household's folder, and answers the user whose it is and nobody else; a client that reads slowly loses
//! events, never anybody's turn.

use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use kernel::agent::{Agent, AgentEvent};
use kernel::ports::{Answered, NewInput};
use kernel::settings::Settings;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::config::{self, Ask};

/// Limit: clients of the local socket at once; a further one is told so.
pub const CLIENTS_MAX: usize = 32;
/// Limit: bytes of one line on the local socket.
pub const SOCKET_LINE_BYTES_MAX: usize = 1024 * 1024;
/// Longest wait until a client takes a line.
const WRITE_MAX: Duration = Duration::from_secs(5);
/// Longest wait for a server that is there.
const CONNECT_MAX: Duration = Duration::from_secs(5);

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Request {
    /// A message; its events and its answer follow.
    Say(NewInput),
    /// End the turn of this session.
    Stop(String),
    Settings(Ask),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reply {
    Accepted(i64),
    Event(AgentEvent),
    Answered(Answered),
    Settings(Vec<Value>),
    Error(String),
}

pub fn path_in(data: &Path) -> PathBuf {
    data.join("menshen.sock")
}

/// Answers clients until it is dropped.
pub async fn serve(agent: Agent, settings: Settings, path: &Path) -> Result<()> {
    // The store's lock says that nobody else serves here: what lies there is left over.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("cannot replace {}", path.display()));
        }
        _ => {}
    }
    let listener = UnixListener::bind(path).with_context(|| format!("cannot listen at {}", path.display()))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    let mut clients = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.context("the local socket is gone")?;
        while clients.try_join_next().is_some() {}
        // Whatever rights the folder and the socket were given.
        let caller = stream.peer_cred().map(|caller| caller.uid());
        if !caller.is_ok_and(|user| user == 0 || user == rustix::process::geteuid().as_raw()) {
            continue;
        }
        if clients.len() >= CLIENTS_MAX {
            // It sees the socket closed, with the reason before it.
            let _told = write(&mut stream.into_split().1, &Reply::Error("too many clients; close one".into())).await;
            continue;
        }
        let (agent, settings) = (agent.clone(), settings.clone());
        clients.spawn(async move {
            if let Err(error) = client(agent, settings, stream).await {
                tracing::debug!("a client of the local socket left: {error:#}");
            }
        });
    }
}

async fn client(agent: Agent, settings: Settings, stream: UnixStream) -> Result<()> {
    let (reading, mut writing) = stream.into_split();
    let mut lines = lines(reading);
    while let Some(line) = lines.next_line().await? {
        match serde_json::from_str(&line) {
            Ok(Request::Say(input)) => said(&agent, input, &mut lines, &mut writing).await?,
            Ok(Request::Stop(session)) => drop(agent.stop(&session)),
            Ok(Request::Settings(ask)) => {
                let reply = match config::answer(&settings, ask).await {
                    Ok(rows) => Reply::Settings(rows),
                    Err(error) => Reply::Error(format!("{error:#}")),
                };
                write(&mut writing, &reply).await?;
            }
            Err(error) => write(&mut writing, &Reply::Error(format!("not a request: {error}"))).await?,
        }
    }
    Ok(())
}

/// One message to its answer; a stop may come in between.
async fn said(
    agent: &Agent,
    input: NewInput,
    lines: &mut Lines<BufReader<tokio::io::Take<OwnedReadHalf>>>,
    writing: &mut OwnedWriteHalf,
) -> Result<()> {
    let session = if input.session.is_empty() { "main".to_owned() } else { input.session.clone() };
    let mut events = agent.subscribe();
    let id = match agent.put(input).await {
        Ok(id) => id,
        Err(failure) => return write(writing, &Reply::Error(failure.message)).await,
    };
    write(writing, &Reply::Accepted(id)).await?;
    loop {
        // A line that was begun stays with the reader when its branch is dropped.
        tokio::select! {
            event = events.recv() => match event {
                Ok(AgentEvent::TurnEnded { answered, .. }) if answered.inputs.contains(&id) => {
                    return write(writing, &Reply::Answered(*answered)).await;
                }
                Ok(event) if event.session() == session => write(writing, &Reply::Event(event)).await?,
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => {
                    let answered = agent.answer(id).await?;
                    return write(writing, &Reply::Answered(answered)).await;
                }
                Err(RecvError::Closed) => bail!("the agent has ended"),
            },
            line = lines.next_line() => match line?.as_deref().map(serde_json::from_str) {
                // Who leaves in the middle has its turn finished all the same: it was accepted.
                None => bail!("the client left"),
                Some(Ok(Request::Stop(session))) => drop(agent.stop(&session)),
                Some(_) => write(writing, &Reply::Error("one message at a time".into())).await?,
            },
        }
    }
}

async fn write<T: Serialize>(writing: &mut OwnedWriteHalf, value: &T) -> Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    timeout(WRITE_MAX, writing.write_all(&line)).await.context("the other end does not read")??;
    Ok(())
}

fn lines<R: AsyncRead + Unpin>(reading: R) -> Lines<BufReader<tokio::io::Take<R>>> {
    // A limit over the life of one connection; a client that talks more connects again.
    BufReader::new(reading.take(64 * SOCKET_LINE_BYTES_MAX as u64)).lines()
}

/// A running `menshen serve`, joined.
pub struct Joined {
    lines: Lines<BufReader<tokio::io::Take<OwnedReadHalf>>>,
    writing: OwnedWriteHalf,
}

/// What comes from a joined agent.
pub enum Heard {
    Event(AgentEvent),
    Answered(Answered),
}

impl Joined {
    pub async fn connect(path: &Path) -> Result<Self> {
        let connected = timeout(CONNECT_MAX, UnixStream::connect(path)).await;
        let stream = connected.context("it does not answer")?.with_context(|| {
            format!("another process has this household's folder, and does not answer at {}", path.display())
        })?;
        let (reading, writing) = stream.into_split();
        Ok(Self { lines: lines(reading), writing })
    }

    pub async fn say(&mut self, input: NewInput) -> Result<()> {
        write(&mut self.writing, &Request::Say(input)).await
    }

    pub async fn stop(&mut self, session: &str) -> Result<()> {
        write(&mut self.writing, &Request::Stop(session.to_owned())).await
    }

    pub async fn settings(&mut self, ask: Ask) -> Result<Vec<Value>> {
        write(&mut self.writing, &Request::Settings(ask)).await?;
        let line = self.lines.next_line().await?.ok_or_else(|| anyhow!("`menshen serve` has ended"))?;
        match serde_json::from_str(&line)? {
            Reply::Settings(rows) => Ok(rows),
            Reply::Error(message) => bail!("{message}"),
            _ => bail!("`menshen serve` answered something else: is it another version?"),
        }
    }

    /// The next event of the message that was said. May be dropped: a line that was begun is kept.
    pub async fn next(&mut self) -> Result<Heard> {
        loop {
            let line = self.lines.next_line().await?.ok_or_else(|| anyhow!("`menshen serve` has ended"))?;
            match serde_json::from_str(&line)? {
                Reply::Accepted(_) | Reply::Settings(_) => {}
                Reply::Event(event) => return Ok(Heard::Event(event)),
                Reply::Answered(answered) => return Ok(Heard::Answered(answered)),
                Reply::Error(message) => bail!("{message}"),
            }
        }
    }
}
