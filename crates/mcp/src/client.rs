//! Tools of foreign MCP servers. Start at [`Foreign`].
//!
//! Invariants: what a server says of itself and its tools is data; a server that reaches a house is not
//! used ([`second_hand`]); of the rest each tool does nothing until a person classed it; a child has a clean
//! environment and ends, with all it started, when its [`Foreign`] does.

mod child;
mod link;
mod naming;
mod result;
mod second_hand;
#[cfg(test)]
mod tests;
mod tools;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use home::Token;
use sdk::{ToolDef, ToolHandler};
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub use second_hand::HouseMarks;

use link::Shared;

/// Limit: from the start of a server to its first answer.
pub const OPEN_MAX: Duration = Duration::from_secs(30);
/// Limit: one call of a foreign tool.
pub const FOREIGN_CALL_MAX: Duration = Duration::from_secs(60);
/// Limit: tools of one foreign server.
pub const FOREIGN_TOOLS_MAX: usize = 100;
/// Limit: characters of what a foreign tool gives back.
pub const FOREIGN_CHARS_MAX: usize = 100_000;
/// Limit: a foreign server that went away is looked for at least so often.
pub const FOREIGN_RETRY_MAX: Duration = Duration::from_secs(60);

/// A server as the operator configured it.
#[derive(Clone)]
pub struct ForeignServer {
    /// Stands before the names of its tools.
    pub name: String,
    pub reach: Reach,
}

#[derive(Clone)]
pub enum Reach {
    /// A program that speaks on its standard input and output. It gets this environment, a path, a home and a
    /// language, and nothing else of ours.
    Program { program: String, arguments: Vec<String>, environment: BTreeMap<String, String>, folder: Option<PathBuf> },
    /// Streamable HTTP.
    Address { url: String, token: Option<Token> },
    /// A scripted end, a new one for each connection.
    #[cfg(test)]
    Streams(Arc<dyn Fn() -> tokio::io::DuplexStream + Send + Sync>),
}

/// What a person decided about a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    Allow,
    /// Nobody decided: a call is answered with how to decide.
    #[default]
    Ask,
    Refuse,
    /// It was allowed, and says something else of itself since: a person looks again.
    Changed,
}

impl Class {
    /// As it stands in `mcp.servers.<server>.tools.<tool>`; what is not understood asks.
    pub fn parse(text: &str) -> Self {
        match text.trim() {
            "allow" => Self::Allow,
            "refuse" => Self::Refuse,
            _ => Self::Ask,
        }
    }
}

/// How a tool was classed; asked at every call, so that a change holds at once.
pub type Classes = Arc<dyn Fn(&Asked<'_>) -> Class + Send + Sync>;

/// Which tool is asked about.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub server: &'a str,
    /// As the server calls it.
    pub tool: &'a str,
    /// Of all that the server says of it now: name, words, schemas, hints.
    pub digest: &'a str,
    /// The same as a person may read it, cut where it is long.
    pub said: &'a str,
}

/// What is known of a server now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    pub connected: bool,
    /// Why its tools are not used, where it reaches a house.
    pub second_hand: Option<String>,
    /// Why it cannot be reached.
    pub error: Option<String>,
    pub tools: Vec<ToolStatus>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolStatus {
    /// As the server calls it: the name by which it is classed.
    pub foreign: String,
    /// As a model sees it.
    pub name: String,
    /// Why it is not offered, whatever it was classed.
    pub left_out: Option<String>,
}

/// One foreign server, kept up until this is dropped.
pub struct Foreign {
    server: Arc<ForeignServer>,
    shared: Arc<Shared>,
    status: watch::Receiver<Status>,
    running: JoinHandle<()>,
}

impl Foreign {
    /// Returns at once; the server comes up beside, and its tools with it.
    pub fn start(server: ForeignServer, house: HouseMarks, classes: Classes) -> Self {
        let server = Arc::new(server);
        let (tell, status) = watch::channel(Status::default());
        let shared = Arc::new(Shared::new(server.clone(), house, classes));
        let running = tokio::spawn(link::keep_up(shared.clone(), tell));
        Self { server, shared, status, running }
    }

    pub fn name(&self) -> &str {
        &self.server.name
    }

    /// What is offered to a model now: tools that a person allowed or has yet to class.
    pub fn tools(&self) -> Vec<(ToolDef, ToolHandler)> {
        tools::offered(&self.shared)
    }

    /// Changes when tools come, go or change, and when the server does.
    pub fn status(&self) -> watch::Receiver<Status> {
        self.status.clone()
    }

    /// Ends the server and waits for it.
    pub async fn stop(mut self) {
        self.running.abort();
        // It was aborted: that is the only way in which it ends.
        let _ = (&mut self.running).await;
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        self.running.abort();
    }
}
