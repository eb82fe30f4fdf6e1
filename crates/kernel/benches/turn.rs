//! What the kernel itself costs for one turn: ten plugins on all seven stages, a model that answers at
//! once, a store in memory.
//!
//! `cargo bench -p kernel --bench turn`. It prints the median and fails above a millisecond. Invariant:
//! storage, source and house are not in these times.

// The kernel has no clock; what measures it has.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::disallowed_methods)]

// The world of the kernel's own tests names the kernel's modules as its crate's.
use kernel::{agent, message, ports, turn};

#[allow(dead_code)]
#[path = "../src/agent/tests/world.rs"]
mod world;

use std::time::{Duration, Instant};

use sdk::{Stage, StageContext, stage_handler, tool_handler};
use serde_json::json;
use world::{Say, World};

const TURNS: usize = 400;
const PLUGINS: usize = 10;
const LIMIT: Duration = Duration::from_millis(1);

fn plugin(world: &World, name: &str) {
    for stage in Stage::ALL {
        let own = name.to_owned();
        let handler = stage_handler(move |context: &mut StageContext| {
            context.extra.insert(own.clone(), json!(context.phase.name()));
            Ok(())
        });
        assert!(world.agent.stages().register(name, stage, false, handler));
    }
}

async fn measured(label: &str, with_tool: bool) -> Duration {
    let mut says = Vec::new();
    for _ in 0..TURNS {
        if with_tool {
            says.push(Say::Calls(vec![("look", json!({"room": "kitchen"}))]));
        }
        says.push(Say::Text("The kitchen is warm."));
    }
    let world = World::saying(&says).await;
    let handler = tool_handler(|_, _| std::future::ready(Ok(json!({"celsius": 21}))));
    let def = sdk::ToolDef { name: "look".into(), read_only: true, ..sdk::ToolDef::default() };
    world.agent.tools().register("house", def, handler).unwrap();
    (0..PLUGINS).for_each(|number| plugin(&world, &format!("plugin{number}")));
    let mut times = Vec::with_capacity(TURNS);
    for number in 0..TURNS {
        // A session each, so that the length of a conversation is not in the time.
        let begun = Instant::now();
        let id = world.put(&format!("s{number}"), sdk::InjectionKind::Text, "How warm is it?").await;
        world.agent.answer(id).await.unwrap();
        times.push(begun.elapsed());
    }
    times.sort();
    let (median, most) = (times[TURNS / 2], times[TURNS * 9 / 10]);
    println!("{label}: median {median:?}, 90 % below {most:?}, {TURNS} turns, {PLUGINS} plugins on all stages");
    median
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let slowest = runtime.block_on(async {
        let plain = measured("a turn", false).await;
        plain.max(measured("a turn with one tool call", true).await)
    });
    assert!(slowest <= LIMIT, "{slowest:?} is more than {LIMIT:?}");
}
