//! What goes on beside the turns. Start at [`promote`] and [`offer`]. Invariant: each ends with the agent,
//! and none makes a person wait.

use std::sync::Arc;
use std::time::Duration;

use kernel::agent::Agent;
use kernel::ports::Clock;
use mcp::client::Foreign;
use store::{DocumentMemory, Graph};

/// Between two looks for documents that nobody touched for long.
const PROMOTE_EVERY: Duration = Duration::from_secs(600);
/// Documents at one look.
const PROMOTED_AT_ONCE: usize = 5;

/// Documents that nobody asks for any more become facts, a few at a time.
pub async fn promote(documents: DocumentMemory, graph: Graph, clock: Arc<dyn Clock>) {
    loop {
        tokio::time::sleep(PROMOTE_EVERY).await;
        if let Err(failure) = documents.promote_some(&graph, clock.now_ms(), PROMOTED_AT_ONCE).await {
            tracing::warn!("old documents could not be taken into the graph: {failure}");
        }
    }
}

/// Offers a foreign server's tools, and takes back those that it has no more.
pub async fn offer(agent: Agent, server: Foreign) {
    let owner = format!("mcp.{}", server.name());
    let mut status = server.status();
    loop {
        status.borrow_and_update();
        agent.tools().remove(&owner);
        for (def, handler) in server.tools() {
            if let Err(failure) = agent.tools().register(&owner, def, handler) {
                tracing::warn!("a tool of {owner} is not offered: {failure}");
            }
        }
        if status.changed().await.is_err() {
            return;
        }
    }
}
