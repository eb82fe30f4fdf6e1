//! The tools over MCP: the only file that knows rmcp. Start at [`serve_stdio`]. Invariants: the list
//! of tools needs no house; a result is an error for the client exactly when its `ok` is false;
//! nothing but protocol goes to standard output.

use std::future::Future;
use std::io::Write;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};

use crate::desk::Desk;
use crate::lines::{From, bounded};
use crate::tools::answer::failed;
use crate::tools::print::print;
use crate::tools::{catalogue, catalogue::INSTRUCTIONS};

/// Why serving ended other than by the client's leaving.
#[derive(Debug)]
pub enum ServeError {
    /// The client said something that is no opening of MCP.
    Opening(String),
    /// The serving task itself broke.
    Broken(String),
}

impl std::fmt::Display for ServeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Opening(cause) => write!(
                f,
                "the client did not open an MCP session: {cause}. This command speaks MCP on standard input and output; start it from an MCP client"
            ),
            Self::Broken(cause) => write!(f, "serving MCP broke: {cause}"),
        }
    }
}

impl std::error::Error for ServeError {}

/// Serve one client on standard input and output, until it closes its end.
pub async fn serve_stdio(desk: Desk) -> Result<(), ServeError> {
    let mut line = format!("menshen {}: {} tools over stdio", desk.version, catalogue::ORDER.len());
    for note in desk.notes.iter() {
        line.push_str("; ");
        line.push_str(&decide::text::clean(note, 200));
    }
    let standing: Vec<&str> = desk.policy.grants.keys().map(|id| id.as_str()).collect();
    if !standing.is_empty() {
        line.push_str("; standing permissions: ");
        line.push_str(&standing.join(", "));
    }
    // A closed standard error is no reason not to serve.
    let _ = writeln!(std::io::stderr(), "{line}");
    let (read, write) = rmcp::transport::io::stdio_pipes();
    serve(desk, read, write).await
}

/// Serve one client on any pair of streams.
pub async fn serve<R, W>(desk: Desk, read: R, write: W) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let server = Server { tools: catalogue::catalogue().into_iter().map(described).collect(), desk };
    let (lines, passing) = bounded(read, From::Client);
    let ended = run(server, lines, write).await;
    passing.abort();
    ended
}

async fn run<W>(server: Server, read: DuplexStream, write: W) -> Result<(), ServeError>
where
    W: AsyncWrite + Send + Unpin + 'static,
{
    let running = match server.serve((read, write)).await {
        Ok(running) => running,
        // It left before it said anything: that is an end, not a failure.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::Opening(decide::text::clean(&error.to_string(), 300))),
    };
    match running.waiting().await {
        Ok(_) => Ok(()),
        Err(error) => Err(ServeError::Broken(error.to_string())),
    }
}

struct Server {
    desk: Desk,
    tools: Arc<[Tool]>,
}

fn described(tool: catalogue::Tool) -> Tool {
    let hints = ToolAnnotations::new()
        .read_only(!tool.writes)
        .destructive(tool.writes)
        .idempotent(tool.idempotent)
        .open_world(true);
    Tool::new(tool.name, tool.description, Arc::new(tool.input))
        .with_title(tool.title)
        .with_raw_output_schema(Arc::new(tool.output))
        .with_annotations(hints)
}

/// The answer as text and as structure.
fn result(answer: Value) -> CallToolResult {
    let content = vec![ContentBlock::text(print(&answer))];
    let mut result = if failed(&answer) { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = Some(answer);
    result
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let about = Implementation::new("menshen", self.desk.version).with_title("Menshen");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(about)
            .with_instructions(INSTRUCTIONS)
    }

    fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListToolsResult, ErrorData>> + Send + '_ {
        std::future::ready(Ok(ListToolsResult::with_all_items(self.tools.to_vec())))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let none = Map::new();
        let arguments = request.arguments.as_ref().unwrap_or(&none);
        match crate::tools::call(&self.desk, &request.name, arguments).await {
            Some(answer) => Ok(result(answer).into()),
            None => {
                let name = decide::text::clean(&request.name, 64);
                let known = catalogue::ORDER.join(", ");
                Err(ErrorData::invalid_params(format!("there is no tool \"{name}\"; there are: {known}"), None))
            }
        }
    }
}
