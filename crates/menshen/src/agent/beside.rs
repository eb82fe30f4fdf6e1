//! What goes on beside the turns. Start at [`promote`], [`learn_names`] and [`offer`]. Invariant: each ends with the agent,
//! and none makes a person wait.

use std::sync::Arc;
use std::time::Duration;

use home::Connection;
use kernel::agent::Agent;
use kernel::ports::Clock;
use mcp::client::Foreign;
use store::search::Dictionary;
use store::{DocumentMemory, Graph};

/// Between two looks for documents that nobody touched for long.
const PROMOTE_EVERY: Duration = Duration::from_secs(600);
/// Names of a house that the dictionary is given.
const NAMES_MAX: usize = 20_000;
const READY_EVERY: Duration = Duration::from_secs(60);
const READY_AGAIN: Duration = Duration::from_secs(5);
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

/// Puts the names of the house and of what is known into the dictionary, so that text is cut at them.
pub async fn learn_names(connection: Connection, graph: Graph, dictionary: Dictionary) {
    if let Err(failure) = graph.learn_names().await {
        tracing::warn!("names in memory could not be read: {failure}");
    }
    // A house that is away comes back some time.
    let house = loop {
        if let Ok(house) = connection.ready(READY_EVERY).await {
            break house;
        }
        tokio::time::sleep(READY_AGAIN).await;
    };
    let rooms = house.areas.values().flat_map(|area| area.aliases.iter().map(|name| &**name).chain([&*area.name]));
    let things = house.entities.values().flat_map(|entity| entity.info.names.iter().map(|name| &**name));
    dictionary.add(rooms.chain(things).take(NAMES_MAX));
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
