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

use anyhow::{Context, Result, anyhow, bail};
use decide::gate::Language;
use kernel::agent::{Agent, AgentEvent};
use kernel::ports::{NewInput, Outbox, Outgoing};
use kernel::settings::Settings;
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
use super::serving::Serving;

mod words;

pub use words::{Word, refused};
use words::{not_listening, not_reached};

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
}

type Reading = Lines<BufReader<tokio::io::Take<OwnedReadHalf>>>;

pub fn path_in(data: &Path) -> PathBuf {
    data.join("menshen.sock")
}

/// Clients find it from now on, and wait in line until [`serve`] answers them.
pub fn listen(path: &Path, language: Language) -> Result<UnixListener> {
    // The store's lock says that nobody else serves here: what lies there is left over.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).with_context(|| not_listening(language, path));
        }
        _ => {}
    }
    let listener = UnixListener::bind(path).with_context(|| not_listening(language, path))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Answers clients until it is dropped.
pub async fn serve(serving: &Serving, terminal: Arc<Terminal>, listener: UnixListener) -> Result<()> {
    let (household, language) = (&serving.household, serving.language);
    let mut clients = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.context(Word::SocketGone.to(language))?;
        while clients.try_join_next().is_some() {}
        // Whatever rights the folder and the socket were given.
        let caller = stream.peer_cred().map(|caller| caller.uid());
        if !caller.is_ok_and(|user| user == 0 || user == rustix::process::geteuid().as_raw()) {
            continue;
        }
        if clients.len() >= CLIENTS_MAX {
            // It sees the socket closed, with the reason before it.
            let told = Reply::Error(Word::TooManyClients.to(language).into());
            let _told = write(&mut stream.into_split().1, &told, language).await;
            continue;
        }
        let (agent, outbox) = (household.agent.clone(), household.store.outbox());
        let desks = Desks { settings: household.settings.clone(), terminal: terminal.clone(), language };
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
    /// Of the household: who connects reads the same configuration.
    language: Language,
}

/// One client to its end. Who leaves in the middle has its turn finished all the same: it was accepted.
async fn client(agent: Agent, outbox: Arc<dyn Outbox>, desks: Desks, stream: UnixStream) -> Result<()> {
    let (reading, mut writing) = stream.into_split();
    let (mut lines, language) = (lines(reading), desks.language);
    let session = match request(&mut lines, language).await? {
        Some(Request::Join(session)) => session,
        Some(Request::Settings(ask)) => {
            let rows = config::answer(&desks.settings, ask).await;
            let reply = rows.map_or_else(|error| Reply::Error(format!("{error:#}")), Reply::Settings);
            return write(&mut writing, &reply, language).await;
        }
        Some(Request::Approvals(ask)) => {
            let rows = desks.terminal.answer(ask).await;
            let reply = rows.map_or_else(|error| Reply::Error(format!("{error:#}")), Reply::Approvals);
            return write(&mut writing, &reply, language).await;
        }
        _ => return write(&mut writing, &Reply::Error(Word::JoinFirst.to(language).into()), language).await,
    };
    let mut listener = Listener::new(agent, outbox, &session);
    let unseen = listener.unseen().await?;
    let turns: Vec<String> = unseen.iter().map(|reply| reply.turn.clone()).collect();
    write(&mut writing, &Reply::Joined(unseen), language).await?;
    for turn in turns {
        listener.seen(&turn).await;
    }
    loop {
        // A line that was begun stays with the reader when its branch is dropped, an event with the listener.
        tokio::select! {
            event = listener.next() => {
                let Some(event) = event else { bail!("{}", Word::AgentEnded.to(language)) };
                let ended = matches!(event, AgentEvent::TurnEnded { .. }).then(|| turn_of(&event));
                write(&mut writing, &Reply::Event(event), language).await?;
                if let Some(turn) = ended {
                    listener.seen(&turn).await;
                }
            }
            asked = request(&mut lines, language) => match asked? {
                None => return Ok(()),
                Some(Request::Say(input)) => {
                    let reply = match listener.put(input).await {
                        Ok(id) => Reply::Accepted(id),
                        Err(failure) => Reply::Error(refused(language, &failure)),
                    };
                    write(&mut writing, &reply, language).await?;
                    // Sent again after it was answered: no event tells of that any more.
                    if let Reply::Accepted(id) = reply
                        && let Some(event) = listener.answered(id).await?
                    {
                        let turn = turn_of(&event);
                        write(&mut writing, &Reply::Event(event), language).await?;
                        listener.seen(&turn).await;
                    }
                }
                Some(Request::Stop) => listener.stop(),
                Some(Request::Join(_) | Request::Settings(_) | Request::Approvals(_)) => {
                    write(&mut writing, &Reply::Error(Word::OneConversation.to(language).into()), language).await?;
                }
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
async fn request(lines: &mut Reading, language: Language) -> Result<Option<Request>> {
    let Some(line) = lines.next_line().await? else { return Ok(None) };
    serde_json::from_str(&line).context(Word::NoRequest.to(language)).map(Some)
}

async fn write<T: Serialize>(writing: &mut OwnedWriteHalf, value: &T, language: Language) -> Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    timeout(WRITE_MAX, writing.write_all(&line)).await.context(Word::OtherEndSilent.to(language))??;
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
    language: Language,
}

impl Joined {
    /// With the replies that nobody has seen yet.
    pub async fn connect(path: &Path, session: &str, language: Language) -> Result<(Self, Vec<Outgoing>)> {
        let (joined, reply) = Self::asked(path, &Request::Join(session.to_owned()), CONNECT_MAX, language).await?;
        match reply {
            Reply::Joined(unseen) => Ok((joined, unseen)),
            _ => bail!("{}", Word::OtherVersion.to(language)),
        }
    }

    /// The settings of a running agent, looked at or changed.
    pub async fn settings(path: &Path, ask: Ask, language: Language) -> Result<Vec<Value>> {
        match Self::asked(path, &Request::Settings(ask), CONNECT_MAX, language).await?.1 {
            Reply::Settings(rows) => Ok(rows),
            _ => bail!("{}", Word::OtherVersion.to(language)),
        }
    }

    /// What waits for a person at a running agent, or what came of deciding it. Carrying it out takes its time.
    pub async fn approvals(path: &Path, ask: approvals::Ask, language: Language) -> Result<Vec<Value>> {
        match Self::asked(path, &Request::Approvals(ask), DECIDE_MAX, language).await?.1 {
            Reply::Approvals(rows) => Ok(rows),
            _ => bail!("{}", Word::OtherVersion.to(language)),
        }
    }

    /// The first request of a connection, and the answer to it.
    async fn asked(path: &Path, request: &Request, patience: Duration, language: Language) -> Result<(Self, Reply)> {
        let connected = timeout(CONNECT_MAX, UnixStream::connect(path)).await;
        let stream = connected.context(Word::NoAnswer.to(language))?.with_context(|| not_reached(language, path))?;
        let (reading, writing) = stream.into_split();
        let mut joined = Self { lines: lines(reading), writing, early: VecDeque::new(), language };
        // One that is told that there is no room finds the socket closed already, and the reason in it.
        let written = write(&mut joined.writing, request, language).await;
        match timeout(patience, joined.reply()).await.context(Word::NoAnswer.to(language))? {
            Ok(Reply::Error(message)) => bail!("{message}"),
            Ok(reply) => Ok((joined, reply)),
            Err(error) => Err(written.err().unwrap_or(error)),
        }
    }

    /// Accepted when this returns its id.
    pub async fn put(&mut self, input: NewInput) -> Result<i64> {
        write(&mut self.writing, &Request::Say(input), self.language).await.map_err(|_| self.gone())?;
        loop {
            match self.reply().await? {
                Reply::Accepted(id) => return Ok(id),
                Reply::Event(event) => self.early.push_back(event),
                Reply::Error(message) => bail!("{message}"),
                Reply::Joined(_) | Reply::Settings(_) | Reply::Approvals(_) => {}
            }
        }
    }

    pub async fn stop(&mut self) -> Result<()> {
        write(&mut self.writing, &Request::Stop, self.language).await
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
                Reply::Accepted(_) | Reply::Joined(_) | Reply::Settings(_) | Reply::Approvals(_) => {}
            }
        }
    }

    async fn reply(&mut self) -> Result<Reply> {
        let line = self.lines.next_line().await.ok().flatten().ok_or_else(|| self.gone())?;
        serde_json::from_str(&line).context(Word::OtherVersion.to(self.language))
    }

    fn gone(&self) -> anyhow::Error {
        anyhow!("{}", Word::ServiceEnded.to(self.language))
    }
}
