//! How soon a client has its first answer, and what the program then weighs.
//!
//! Start at [`measure`]. With the house and without one in turn, so that neither has the quieter time.

use std::time::Duration;

use serde_json::json;

use crate::mcp::Server;
use crate::node::Library;
use crate::row::{Row, Samples};
use crate::{Node, Plan};

const STARTS: usize = 60;
const STARTS_TO_READY: usize = 10;
/// By then the program has read what it reads, and freed what it needed for that.
const SETTLED: Duration = Duration::from_secs(3);

pub fn measure(plan: &Plan) -> anyhow::Result<Vec<Row>> {
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        with.push(Server::start(plan, Some(&plan.family))?.initialized);
        without.push(Server::start(plan, None)?.initialized);
    }
    let mut rows = vec![
        Row::times("start", "`menshen mcp`: start to the answer of `initialize`", &Samples::new(&with)).at_most(10.0),
        Row::times("start", "the same, no house within reach", &Samples::new(&without)).at_most(10.0),
    ];
    rows.extend(ready(plan)?);
    Ok(rows)
}

/// Start to a house that can be acted on, in turn with the library.
fn ready(plan: &Plan) -> anyhow::Result<Vec<Row>> {
    let (mut ours, mut memory) = (Vec::new(), Vec::new());
    let (mut imported, mut theirs, mut their_memory) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..STARTS_TO_READY {
        let mut server = Server::start(plan, Some(&plan.family))?;
        server.call("list_entities", json!({"limit": 1}))?;
        ours.push(server.age());
        std::thread::sleep(SETTLED);
        memory.push(server.memory()?);
        drop(server);
        if let Some(node) = &plan.node {
            let library = Library::start(node, &plan.family)?;
            imported.push(library.imported);
            theirs.push(library.ready);
            std::thread::sleep(SETTLED);
            their_memory.push(library.memory()?);
        }
    }
    let most = |memory: &[crate::mcp::Memory]| memory.iter().map(|memory| memory.now).fold(0.0, f64::max);
    let peak = memory.iter().map(|memory| memory.peak).fold(0.0, f64::max);
    let mut rows = vec![
        Row::times("start", "`menshen mcp`: start to the seeded house read, macros too", &Samples::new(&ours)),
        Row::new("memory", "`menshen mcp`: resident, seeded house loaded", most(&memory), "MB")
            .at_most(20.0)
            .how(format!("largest of {STARTS_TO_READY}; peak {peak:.1} MB")),
    ];
    if !theirs.is_empty() {
        rows.push(Row::times(
            "start",
            format!("{}: start of Node to imported", Node::LIBRARY),
            &Samples::new(&imported),
        ));
        rows.push(Row::times(
            "start",
            format!("{}: start of Node to connected", Node::LIBRARY),
            &Samples::new(&theirs),
        ));
        let how = format!("largest of {STARTS_TO_READY}");
        let what = format!("{}: resident, seeded house loaded", Node::LIBRARY);
        rows.push(Row::new("memory", what, most(&their_memory), "MB").how(how));
    }
    Ok(rows)
}
