//! The local socket by which `menshen chat` joins a running `menshen serve`. Start at [`serve`] and
//! [`Joined::connect`].
//!
//! One JSON object a line. To the server: [`Request`]. From it: [`Reply`]. Invariants: the socket lies in the
//! household's folder, and answers the user whose it is and nobody else; a client that reads slowly loses
//! events, never anybody's turn.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use kernel::agent::{Agent, AgentEvent};
use kernel::ports::{NewInput, Outbox, Outgoing};
use kernel::settings::Settings;
use menshen::agent::Household;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::approvals::{self, Terminal};
use super::config::{self, Ask};
use super::listening::Listener;

/// Limit: clients of the local socket at once; a further one is told so.
pub const CLIENTS_MAX: usize = 32;
/// Limit: bytes of one line on the local socket.
pub const SOCKET_LINE_BYTES_MAX: usize = 1024 * 1024;
/// Longest wait until a client takes a line.
const WRITE_MAX: Duration = Duration::from_secs(5);
/// Longest wait for a server that is there.
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// A garage takes half a minute, and the house may answer late.
const DECIDE_MAX: Duration = Duration::from_secs(60);

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Request {
    /// The first of all: this conversation is followed from now on.
    Join(String),
    /// A message for it.
    Say(NewInput),
    /// End the turn that runs in it.
    Stop,
    /// The only one: look at the settings, or change one.
    Settings(Ask),
    /// The only one: look at what waits for a person, or decide it.
    Approvals(approvals::Ask),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reply {
    /// Joined; replies that nobody has seen yet.
    Joined(Vec<Outgoing>),
    Accepted(i64),
    Event(AgentEvent),
    Settings(Vec<Value>),
    Approvals(Vec<Value>),
    Error(String),
    /// The same, of this socket's own.
    Trouble(Trouble),
}

/// What can go wrong on the socket itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    #[error("too many programs have joined `menshen serve`: close one")]
    TooMany,
    #[error("join a conversation first")]
    JoinFirst,
    #[error("one conversation for one connection")]
    OneConversation,
    #[error("`menshen serve` speaks another version: start it again")]
    OtherVersion,
    #[error(
        "`menshen serve` has this household's folder and does not answer: look at its log, or end it and start it again"
    )]
    NoAnswer,
    #[error("no `menshen serve` answers at {0}: is it running for this household?")]
    NotThere(String),
    #[error("`menshen serve` has ended; what it had accepted is answered when it runs again")]
    Gone,
}

impl Trouble {
    pub fn in_chinese(&self) -> String {
        match self {
            Self::TooMany => "连接 `menshen serve` 的程序太多：请关闭一个".to_owned(),
            Self::JoinFirst => "请先加入一个对话".to_owned(),
            Self::OneConversation => "一个连接只能用于一个对话".to_owned(),
            Self::OtherVersion => "`menshen serve` 的版本不同：请重新启动它".to_owned(),
            Self::NoAnswer => {
                "`menshen serve` 占用着这个家的数据，却没有回应：请看它的日志，或者结束后重新启动".to_owned()
            }
            Self::NotThere(path) => format!("{path} 没有 `menshen serve` 回应：它是否正在为这个家运行？"),
            Self::Gone => "`menshen serve` 已结束；它已接受的内容会在下次运行时回答".to_owned(),
        }
    }
}

type Reading = Lines<BufReader<tokio::io::Take<OwnedReadHalf>>>;

pub fn path_in(data: &Path) -> PathBuf {
    data.join("menshen.sock")
}

/// Clients find it from now on, and wait in line until [`serve`] answers them.
pub fn listen(path: &Path) -> Result<UnixListener> {
    // The store's lock says that nobody else serves here: what lies there is left over.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("cannot replace {}", path.display()));
        }
        _ => {}
    }
    let listener = UnixListener::bind(path).with_context(|| format!("cannot listen at {}", path.display()))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Answers clients until it is dropped.
pub async fn serve(household: &Household, terminal: Arc<Terminal>, listener: UnixListener) -> Result<()> {
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
            let _told = write(&mut stream.into_split().1, &Reply::Trouble(Trouble::TooMany)).await;
            continue;
        }
        let (agent, outbox) = (household.agent.clone(), household.store.outbox());
        let desks = Desks { settings: household.settings.clone(), terminal: terminal.clone() };
        clients.spawn(async move {
            if let Err(error) = client(agent, outbox, desks, stream).await {
                tracing::debug!("a client of the local socket left: {error:#}");
            }
        });
    }
}

/// What a client can ask for other than a conversation.
struct Desks {
    settings: Settings,
    terminal: Arc<Terminal>,
}

/// One client to its end. Who leaves in the middle has its turn finished all the same: it was accepted.
async fn client(agent: Agent, outbox: Arc<dyn Outbox>, desks: Desks, stream: UnixStream) -> Result<()> {
    let (reading, mut writing) = stream.into_split();
    let mut lines = lines(reading);
    let session = match request(&mut lines).await? {
        Some(Request::Join(session)) => session,
        Some(Request::Settings(ask)) => {
            let rows = config::answer(&desks.settings, ask).await;
            let reply = rows.map_or_else(|error| Reply::Error(format!("{error:#}")), Reply::Settings);
            return write(&mut writing, &reply).await;
        }
        Some(Request::Approvals(ask)) => {
            let rows = desks.terminal.answer(ask).await;
            let reply = rows.map_or_else(|error| Reply::Error(format!("{error:#}")), Reply::Approvals);
            return write(&mut writing, &reply).await;
        }
        _ => return write(&mut writing, &Reply::Trouble(Trouble::JoinFirst)).await,
    };
    let mut listener = Listener::new(agent, outbox, &session);
    let unseen = listener.unseen().await?;
    let turns: Vec<String> = unseen.iter().map(|reply| reply.turn.clone()).collect();
    write(&mut writing, &Reply::Joined(unseen)).await?;
    for turn in turns {
        listener.seen(&turn).await;
    }
    loop {
        // A line that was begun stays with the reader when its branch is dropped, an event with the listener.
        tokio::select! {
            event = listener.next() => {
                let Some(event) = event else { bail!("the agent has ended") };
                let ended = matches!(event, AgentEvent::TurnEnded { .. }).then(|| turn_of(&event));
                write(&mut writing, &Reply::Event(event)).await?;
                if let Some(turn) = ended {
                    listener.seen(&turn).await;
                }
            }
            asked = request(&mut lines) => match asked? {
                None => return Ok(()),
                Some(Request::Say(input)) => {
                    let reply = match listener.put(input).await {
                        Ok(id) => Reply::Accepted(id),
                        Err(failure) => Reply::Error(failure.message),
                    };
                    write(&mut writing, &reply).await?;
                    // Sent again after it was answered: no event tells of that any more.
                    if let Reply::Accepted(id) = reply
                        && let Some(event) = listener.answered(id).await?
                    {
                        let turn = turn_of(&event);
                        write(&mut writing, &Reply::Event(event)).await?;
                        listener.seen(&turn).await;
                    }
                }
                Some(Request::Stop) => listener.stop(),
                Some(Request::Join(_) | Request::Settings(_) | Request::Approvals(_)) => write(&mut writing, &Reply::Trouble(Trouble::OneConversation)).await?,
            },
        }
    }
}

fn turn_of(event: &AgentEvent) -> String {
    match event {
        AgentEvent::TurnEnded { turn, .. } => turn.clone(),
        _ => String::new(),
    }
}

/// The next request; None when the client has left. May be dropped: a line that was begun is kept.
async fn request(lines: &mut Reading) -> Result<Option<Request>> {
    let Some(line) = lines.next_line().await? else { return Ok(None) };
    serde_json::from_str(&line).context("not a request; are both programs of one version?").map(Some)
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
    lines: Reading,
    writing: OwnedWriteHalf,
    /// Events that came while something else was waited for.
    early: VecDeque<AgentEvent>,
}

impl Joined {
    /// With the replies that nobody has seen yet.
    pub async fn connect(path: &Path, session: &str) -> Result<(Self, Vec<Outgoing>)> {
        let mut joined = Self::open(path).await?;
        write(&mut joined.writing, &Request::Join(session.to_owned())).await?;
        match timeout(CONNECT_MAX, joined.reply()).await.map_err(|_| Trouble::NoAnswer)?? {
            Reply::Joined(unseen) => Ok((joined, unseen)),
            Reply::Error(message) => bail!("{message}"),
            Reply::Trouble(trouble) => bail!(trouble),
            _ => bail!(Trouble::OtherVersion),
        }
    }

    /// The settings of a running agent, looked at or changed.
    pub async fn settings(path: &Path, ask: Ask) -> Result<Vec<Value>> {
        let mut joined = Self::open(path).await?;
        write(&mut joined.writing, &Request::Settings(ask)).await?;
        match timeout(CONNECT_MAX, joined.reply()).await.map_err(|_| Trouble::NoAnswer)?? {
            Reply::Settings(rows) => Ok(rows),
            Reply::Error(message) => bail!("{message}"),
            Reply::Trouble(trouble) => bail!(trouble),
            _ => bail!(Trouble::OtherVersion),
        }
    }

    /// What waits for a person at a running agent, or what came of deciding it. Carrying it out takes its time.
    pub async fn approvals(path: &Path, ask: approvals::Ask) -> Result<Vec<Value>> {
        let mut joined = Self::open(path).await?;
        write(&mut joined.writing, &Request::Approvals(ask)).await?;
        match timeout(DECIDE_MAX, joined.reply()).await.map_err(|_| Trouble::NoAnswer)?? {
            Reply::Approvals(rows) => Ok(rows),
            Reply::Error(message) => bail!("{message}"),
            Reply::Trouble(trouble) => bail!(trouble),
            _ => bail!(Trouble::OtherVersion),
        }
    }

    async fn open(path: &Path) -> Result<Self> {
        let connected = timeout(CONNECT_MAX, UnixStream::connect(path)).await;
        let stream =
            connected.map_err(|_| Trouble::NoAnswer)?.map_err(|_| Trouble::NotThere(path.display().to_string()))?;
        let (reading, writing) = stream.into_split();
        Ok(Self { lines: lines(reading), writing, early: VecDeque::new() })
    }

    /// Accepted when this returns its id.
    pub async fn put(&mut self, input: NewInput) -> Result<i64> {
        write(&mut self.writing, &Request::Say(input)).await.map_err(|_| gone())?;
        loop {
            match self.reply().await? {
                Reply::Accepted(id) => return Ok(id),
                Reply::Event(event) => self.early.push_back(event),
                Reply::Error(message) => bail!("{message}"),
                Reply::Trouble(trouble) => bail!(trouble),
                Reply::Joined(_) | Reply::Settings(_) | Reply::Approvals(_) => {}
            }
        }
    }

    pub async fn stop(&mut self) -> Result<()> {
        write(&mut self.writing, &Request::Stop).await
    }

    /// The next event. May be dropped: a line that was begun is kept.
    pub async fn next(&mut self) -> Result<AgentEvent> {
        loop {
            if let Some(event) = self.early.pop_front() {
                return Ok(event);
            }
            match self.reply().await? {
                Reply::Event(event) => return Ok(event),
                Reply::Error(message) => bail!("{message}"),
                Reply::Trouble(trouble) => bail!(trouble),
                Reply::Accepted(_) | Reply::Joined(_) | Reply::Settings(_) | Reply::Approvals(_) => {}
            }
        }
    }

    async fn reply(&mut self) -> Result<Reply> {
        let line = self.lines.next_line().await.ok().flatten().ok_or_else(gone)?;
        serde_json::from_str(&line).map_err(|_| Trouble::OtherVersion.into())
    }
}

fn gone() -> anyhow::Error {
    Trouble::Gone.into()
}
