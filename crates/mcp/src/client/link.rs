//! The connection to a foreign server: opened, listed, kept up. Start at [`keep_up`]. Invariants: every step
//! has a deadline; between two attempts there is a pause that grows; what the server announces faster than
//! once in a while is taken together.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use decide::text::clean;
use rmcp::model::{ClientConfig, Implementation, PaginatedRequestParams, Tool};
use rmcp::service::{NotificationContext, Peer, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ServiceExt};
use sha2::{Digest, Sha256};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::child::Child;
use super::{
    Classes, FOREIGN_RETRY_MAX, FOREIGN_TOOLS_MAX, ForeignServer, HouseMarks, OPEN_MAX, Reach, Status, ToolStatus,
    child, naming, second_hand,
};
use crate::lines::{From, LINE_BYTES_MAX, bounded};

const LIST_MAX: Duration = Duration::from_secs(15);
/// A list has no more pages than this.
const PAGES_MAX: usize = 20;
/// What a tool says of itself is shown to a person up to here.
const SAID_CHARS_MAX: usize = 4_000;
/// Announcements of a new list are taken together for so long.
const RELIST_PAUSE: Duration = Duration::from_millis(500);
const RETRY_FIRST: Duration = Duration::from_secs(1);
/// A connection that held so long was a good one: the next pause is short again.
const STEADY: Duration = Duration::from_secs(60);

/// A tool as it is offered.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Listed {
    pub(super) foreign: String,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) parameters: serde_json::Value,
    pub(super) digest: String,
    pub(super) said: String,
    pub(super) left_out: Option<String>,
}

/// What the tools and the task that keeps the connection up both see.
pub(super) struct Shared {
    pub(super) server: Arc<ForeignServer>,
    pub(super) house: HouseMarks,
    pub(super) classes: Classes,
    /// A call went wrong: whether the connection still holds is looked at.
    pub(super) doubt: Notify,
    now: RwLock<Now>,
}

#[derive(Clone, Default)]
pub(super) struct Now {
    /// Kept while the server is away: it comes back, and a model's list of tools stays the same.
    pub(super) tools: Arc<[Listed]>,
    pub(super) peer: Option<Peer<RoleClient>>,
    pub(super) second_hand: Option<String>,
    pub(super) error: Option<String>,
}

impl Shared {
    pub(super) fn new(server: Arc<ForeignServer>, house: HouseMarks, classes: Classes) -> Self {
        Self { server, house, classes, doubt: Notify::new(), now: RwLock::default() }
    }

    pub(super) fn now(&self) -> Now {
        self.now.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change(&self, tell: &watch::Sender<Status>, change: impl FnOnce(&mut Now)) {
        let status = {
            let mut now = self.now.write().unwrap_or_else(PoisonError::into_inner);
            change(&mut now);
            let tool = |listed: &Listed| ToolStatus {
                foreign: listed.foreign.clone(),
                name: listed.name.clone(),
                left_out: listed.left_out.clone(),
            };
            Status {
                connected: now.peer.is_some(),
                second_hand: now.second_hand.clone(),
                error: now.error.clone(),
                tools: now.tools.iter().map(tool).collect(),
            }
        };
        tell.send_if_modified(|before| {
            let changed = *before != status;
            *before = status;
            changed
        });
    }
}

/// Why a connection ended.
enum End {
    /// It reaches a house: for good.
    SecondHand(String),
    /// It may come back.
    Gone(String),
}

/// Runs until it is aborted, or until the server turns out to reach a house.
pub(super) async fn keep_up(shared: Arc<Shared>, tell: watch::Sender<Status>) {
    let mut pause = RETRY_FIRST;
    loop {
        let began = Instant::now();
        let end = match second_hand::configured(&shared.server, &shared.house) {
            Some(why) => End::SecondHand(why),
            None => session(&shared, &tell).await,
        };
        match end {
            End::SecondHand(why) => {
                tracing::warn!(server = shared.server.name, why, "a foreign server is not used");
                shared.change(&tell, |now| *now = Now { second_hand: Some(why), ..Now::default() });
                return;
            }
            End::Gone(why) => {
                tracing::info!(server = shared.server.name, why, "a foreign server is away");
                shared.change(&tell, |now| (now.peer, now.error) = (None, Some(why)));
            }
        }
        pause = if began.elapsed() >= STEADY { RETRY_FIRST } else { pause };
        sleep(pause).await;
        pause = (pause * 2).min(FOREIGN_RETRY_MAX);
    }
}

/// One connection, from its opening to its end.
async fn session(shared: &Shared, tell: &watch::Sender<Status>) -> End {
    let changed = Arc::new(Notify::new());
    let mut opened = match timeout(OPEN_MAX, open(&shared.server, changed.clone())).await {
        Ok(Ok(opened)) => opened,
        Ok(Err(why)) => return End::Gone(why),
        Err(_) => return End::Gone(format!("it did not answer within {} s", OPEN_MAX.as_secs())),
    };
    if let Some(why) = introduced(&opened.running, &shared.house) {
        return End::SecondHand(why);
    }
    let peer = opened.running.peer().clone();
    loop {
        match list(&peer, shared).await {
            Ok(tools) => shared.change(tell, |now| {
                *now = Now { tools, peer: Some(peer.clone()), second_hand: None, error: None };
            }),
            Err(end) => return end,
        }
        // Each may be dropped at any point: what was announced is kept.
        tokio::select! {
            () = changed.notified() => sleep(RELIST_PAUSE).await,
            // Over HTTP a server that forgot the session shows it only when it is asked.
            () = shared.doubt.notified() => sleep(RELIST_PAUSE).await,
            () = closed(&peer) => {
                let said = match &mut opened.child {
                    Some(child) => child.last_words().await,
                    None => String::new(),
                };
                let said = if said.is_empty() { String::new() } else { format!("; it said: {said}") };
                return End::Gone(format!("the connection ended{said}"));
            }
        }
    }
}

/// Ready when the transport is closed.
async fn closed(peer: &Peer<RoleClient>) {
    while !peer.is_transport_closed() {
        sleep(Duration::from_millis(200)).await;
    }
}

/// An open connection with all that must live as long as it.
struct Opened {
    running: RunningService<RoleClient, Ears>,
    child: Option<Child>,
    _reading: Option<Aborted>,
}

/// A task that ends with its owner.
struct Aborted(JoinHandle<()>);

impl Drop for Aborted {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn open(server: &ForeignServer, changed: Arc<Notify>) -> Result<Opened, String> {
    let ears = Ears { changed };
    match &server.reach {
        #[cfg(test)]
        Reach::Streams(next) => {
            let (read, write) = tokio::io::split(next());
            let (lines, reading) = bounded(read, From::Server);
            let reading = Some(Aborted(reading));
            let running = ears.serve((lines, write)).await.map_err(|error| clean(&error.to_string(), 300))?;
            Ok(Opened { running, child: None, _reading: reading })
        }
        Reach::Program { .. } => {
            let (mut child, output, input) = child::start(&server.reach)?;
            let (lines, reading) = bounded(output, From::Server);
            let reading = Some(Aborted(reading));
            match ears.serve((lines, input)).await {
                Ok(running) => Ok(Opened { running, child: Some(child), _reading: reading }),
                Err(error) => {
                    let said = child.last_words().await;
                    let said = if said.is_empty() { clean(&error.to_string(), 300) } else { said };
                    Err(format!("it does not speak MCP: {said}"))
                }
            }
        }
        Reach::Address { url, token } => {
            let refused = |error: home::HouseError| clean(&error.to_string(), 300);
            let client = origin(url).and_then(|origin| {
                home::Endpoint::parse(&origin, home::Tls::SystemRoots)
                    .and_then(|it| it.stream_client())
                    .map_err(refused)
            })?;
            let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                .max_sse_event_size(LINE_BYTES_MAX)
                .max_json_response_size(LINE_BYTES_MAX);
            if let Some(token) = token {
                config = config.auth_header(token.reveal());
            }
            let transport = StreamableHttpClientTransport::with_client(client, config);
            match ears.serve(transport).await {
                Ok(running) => Ok(Opened { running, child: None, _reading: None }),
                Err(error) => Err(format!("it does not speak MCP: {}", clean(&error.to_string(), 300))),
            }
        }
    }
}

/// Scheme, host and port of an address.
fn origin(url: &str) -> Result<String, String> {
    let (scheme, rest) = url.split_once("://").ok_or("its address has no http:// or https:// before it")?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    Ok(format!("{scheme}://{host}"))
}

fn introduced(running: &RunningService<RoleClient, Ears>, house: &HouseMarks) -> Option<String> {
    let info = running.peer().peer_info()?;
    let about = info.server_info.as_ref();
    let name = about.map(|about| about.name.clone()).unwrap_or_default();
    let title = about.and_then(|about| about.title.clone()).unwrap_or_default();
    second_hand::introduced(&name, &title, info.instructions.as_deref().unwrap_or_default(), house)
}

async fn list(peer: &Peer<RoleClient>, shared: &Shared) -> Result<Arc<[Listed]>, End> {
    let tools = match timeout(LIST_MAX, pages(peer)).await {
        Ok(Ok(tools)) => tools,
        Ok(Err(why)) => return Err(End::Gone(why)),
        Err(_) => return Err(End::Gone(format!("it did not list its tools within {} s", LIST_MAX.as_secs()))),
    };
    if let Some(why) = tools.iter().find_map(|tool| second_hand::tool_name(&tool.name)) {
        return Err(End::SecondHand(why));
    }
    let names: Vec<String> = tools.iter().map(|tool| tool.name.to_string()).collect();
    let names = naming::names(&shared.server.name, &names);
    Ok(tools.iter().zip(names).map(|(tool, name)| listed(tool, name, shared)).collect())
}

async fn pages(peer: &Peer<RoleClient>) -> Result<Vec<Tool>, String> {
    let mut tools = Vec::new();
    let mut cursor = None;
    for _ in 0..PAGES_MAX {
        let page = PaginatedRequestParams::default().with_cursor(cursor.take());
        let page = peer.list_tools(Some(page)).await.map_err(|error| clean(&error.to_string(), 300))?;
        tools.extend(page.tools);
        cursor = page.next_cursor;
        if cursor.is_none() || tools.len() >= FOREIGN_TOOLS_MAX {
            break;
        }
    }
    tools.truncate(FOREIGN_TOOLS_MAX);
    Ok(tools)
}

fn listed(tool: &Tool, name: String, shared: &Shared) -> Listed {
    let words = tool.description.as_deref().unwrap_or_default();
    let parameters = naming::parameters(&tool.input_schema);
    let left_out = match &parameters {
        None => Some("the schema of its arguments is too big or no object's".to_owned()),
        Some(parameters) => second_hand::tool_words(words, parameters, &shared.house),
    };
    Listed {
        foreign: tool.name.to_string(),
        name,
        description: naming::description(&shared.server.name, words),
        parameters: parameters.unwrap_or_default(),
        digest: digest(tool),
        said: clean(&serde_json::to_string(tool).unwrap_or_default(), SAID_CHARS_MAX),
        left_out,
    }
}

/// Of the tool as the server gave it, before anything was taken out of it.
fn digest(tool: &Tool) -> String {
    let said = serde_json::to_vec(tool).unwrap_or_default();
    Sha256::digest(said).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Our side of the conversation: it hears that a list changed, and offers nothing.
struct Ears {
    changed: Arc<Notify>,
}

impl ClientHandler for Ears {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        info.client_info = Implementation::new("menshen", env!("CARGO_PKG_VERSION"));
        info
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}
