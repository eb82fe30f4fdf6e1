//! A house of 50,000 entities: time to ready beside a bare client, memory, the first looks.
//!
//! Start at [`measure`]. The bare client, the program and the library connect in turn.

use std::time::Duration;

use serde_json::{Value, json};

use crate::bare;
use crate::mcp::{Memory, Server};
use crate::node::Library;
use crate::row::{Row, Samples};
use crate::{House, Node, Plan};

const ROUNDS: usize = 5;
const LOOKS: usize = 20;
/// By then what was needed for reading has been freed.
const SETTLED: Duration = Duration::from_secs(5);

#[derive(Default)]
struct Seen {
    bare: Vec<Duration>,
    ours: Vec<Duration>,
    theirs: Vec<Duration>,
    memory: Vec<Memory>,
    their_memory: Vec<Memory>,
    overview: Vec<Duration>,
    search: Vec<Duration>,
    miss: Vec<Duration>,
    entities: u64,
}

pub fn measure(plan: &Plan, house: &House) -> anyhow::Result<Vec<Row>> {
    let mut seen = Seen::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // Whoever is first has the house write its lists for the first time.
    runtime.block_on(bare::ready(house))?;
    for _ in 0..ROUNDS {
        seen.bare.push(runtime.block_on(bare::ready(house))?);
        ours(plan, house, &mut seen)?;
        if let Some(node) = &plan.node {
            let library = Library::start(node, house)?;
            seen.theirs.push(library.ready);
            std::thread::sleep(SETTLED);
            seen.their_memory.push(library.memory()?);
        }
    }
    Ok(rows(&seen))
}

fn ours(plan: &Plan, house: &House, seen: &mut Seen) -> anyhow::Result<()> {
    let mut server = Server::start(plan, Some(house))?;
    let (answer, _) = server.call("list_entities", json!({"limit": 1}))?;
    seen.ours.push(server.age());
    seen.entities = answer["count"].as_u64().unwrap_or_default();
    std::thread::sleep(SETTLED);
    seen.memory.push(server.memory()?);
    let mut look = |tool: &str, arguments: Value, into: &mut Vec<Duration>| {
        for _ in 0..LOOKS {
            into.push(server.call(tool, arguments.clone())?.1);
        }
        anyhow::Ok(())
    };
    look("home_overview", json!({}), &mut seen.overview)?;
    look("list_entities", json!({"query": "Device light 7"}), &mut seen.search)?;
    look("list_entities", json!({"query": "chu fang deng"}), &mut seen.miss)
}

fn rows(seen: &Seen) -> Vec<Row> {
    let part = "50,000 entities";
    let (bare, ours) = (Samples::new(&seen.bare), Samples::new(&seen.ours));
    let most = |memory: &[Memory]| memory.iter().map(|memory| memory.now).fold(0.0, f64::max);
    let peak = |memory: &[Memory]| memory.iter().map(|memory| memory.peak).fold(0.0, f64::max);
    let largest = |memory: &[Memory]| format!("largest of {}; peak {:.0} MB", memory.len(), peak(memory));
    let shown = format!("`list_entities` searched by a name (of {} shown)", seen.entities);
    let mut rows = vec![
        Row::times(part, "bare client: the same commands, parsed and kept", &bare),
        Row::times(part, "`menshen mcp`: start to ready", &ours),
        Row::new(part, "the one over the other", ours.median() / bare.median(), "×").at_most(1.5),
        Row::new(part, "`menshen mcp`: resident", most(&seen.memory), "MB").at_most(250.0).how(largest(&seen.memory)),
        Row::times(part, "`home_overview`", &Samples::new(&seen.overview)).at_most(50.0),
        Row::times(part, shown, &Samples::new(&seen.search)).at_most(50.0),
        Row::times(part, "`list_entities` searched in pinyin", &Samples::new(&seen.miss)).at_most(50.0),
    ];
    if !seen.theirs.is_empty() {
        let what = format!("{}: start of Node to connected", Node::LIBRARY);
        rows.push(Row::times(part, what, &Samples::new(&seen.theirs)).how("it reads no details, services or macros"));
        let what = format!("{}: resident", Node::LIBRARY);
        rows.push(Row::new(part, what, most(&seen.their_memory), "MB").how(largest(&seen.their_memory)));
    }
    rows
}
