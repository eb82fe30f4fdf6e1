//! What a call costs over the same call on the raw websocket.
//!
//! Start at [`measure`]. The raw socket, the program and the library switch one lamp in turn. A third
//! party, subscribed to the house's own `call_service` event, tells when the house had the call: until
//! then is the program's part, judging and audit included; after it come house and verification.

use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use home::{Endpoint, Tls, Token, Wire};
use serde_json::{Value, json};

use crate::bare::Socket;
use crate::mcp::Server;
use crate::node::Library;
use crate::row::{Row, Samples};
use crate::{House, Node, Plan};

const LAMP: &str = "light.desk_lamp";
const ROUNDS: usize = 200;
/// Not measured: whatever is done once only.
const WARM_UP: usize = 10;
const EVENT_MAX: Duration = Duration::from_secs(5);
/// Between two calls, so that one's echo is not in the other's way.
const PAUSE: Duration = Duration::from_millis(5);

/// Times of one way to call.
#[derive(Default)]
struct Way {
    whole: Vec<Duration>,
    arrived: Vec<Duration>,
}

pub fn measure(plan: &Plan) -> anyhow::Result<Vec<Row>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let house = &plan.family;
    let endpoint = Endpoint::parse(&house.base_url, Tls::SystemRoots)?;
    let mut wire = runtime.block_on(Wire::open(&endpoint, &Token::new(&house.token)))?;
    let arrivals = watch_arrivals(house)?;
    let mut server = Server::start(plan, Some(house))?;
    server.call("list_entities", json!({"limit": 1}))?;
    let mut library = plan.node.as_ref().map(|node| Library::start(node, house)).transpose()?;
    let (mut raw, mut ours, mut theirs) = (Way::default(), Way::default(), Way::default());
    for round in 0..ROUNDS + WARM_UP {
        // Whoever goes first finds the lamp off, so each takes its turn at switching it on.
        let order = [round % 3, (round + 1) % 3, (round + 2) % 3];
        for (place, who) in order.into_iter().enumerate() {
            let service = if (round * 3 + place) % 2 == 0 { "turn_on" } else { "turn_off" };
            std::thread::sleep(PAUSE);
            let begun = Instant::now();
            let (way, took) = match (who, &mut library) {
                (0, _) => {
                    let fields = json!({"domain": "light", "service": service, "target": {"entity_id": LAMP}});
                    runtime.block_on(wire.command("call_service", fields))?;
                    (&mut raw, begun.elapsed())
                }
                (1, _) => {
                    let fields = json!({"domain": "light", "service": service, "entity_id": LAMP});
                    let (answer, took) = server.call("call_service", fields)?;
                    ensure!(answer["outcomes"][0]["outcome"] == "confirmed", "the call was answered {answer}");
                    (&mut ours, took)
                }
                (_, Some(library)) => (&mut theirs, library.call(service, LAMP)?),
                (_, None) => continue,
            };
            let arrived = arrivals.recv_timeout(EVENT_MAX).context("the house told of no call")?;
            if round >= WARM_UP {
                way.whole.push(took);
                way.arrived.push(arrived.saturating_duration_since(begun));
            }
        }
    }
    Ok(rows(&raw, &ours, &theirs))
}

fn rows(raw: &Way, ours: &Way, theirs: &Way) -> Vec<Row> {
    let part = "call";
    let [raw_whole, our_whole] = [raw, ours].map(|way| Samples::new(&way.whole));
    let [raw_arrived, our_arrived] = [raw, ours].map(|way| Samples::new(&way.arrived));
    let more = |ours: &Samples, raw: &Samples| ours.median() - raw.median();
    let apart = "difference of the medians; until the house has the call: judging, audit, sending";
    let mut rows = vec![
        Row::times(part, "raw websocket: until the house has the call", &raw_arrived),
        Row::times(part, "`call_service` over MCP: until the house has the call", &our_arrived),
        Row::new(part, "added before the house has the call", more(&our_arrived, &raw_arrived), "ms")
            .at_most(1.0)
            .how(apart),
        Row::times(part, "raw websocket: to the answer", &raw_whole),
        Row::times(part, "`call_service` over MCP: to the answer, state confirmed", &our_whole),
        Row::new(part, "added in all, verification included", more(&our_whole, &raw_whole), "ms")
            .how("difference of the medians"),
    ];
    if !theirs.whole.is_empty() {
        let what = format!("{}: to the answer, nothing confirmed, no MCP", Node::LIBRARY);
        rows.push(Row::times(part, what, &Samples::new(&theirs.whole)));
    }
    rows
}

/// The moments at which the house tells of calls on the lamp.
fn watch_arrivals(house: &House) -> anyhow::Result<Receiver<Instant>> {
    let (house, (moments, receiver)) = (house.clone(), sync_channel(64));
    let (ready, is_ready) = sync_channel(1);
    std::thread::spawn(move || -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let mut socket = Socket::open(&house).await?;
            socket.send("subscribe_events", json!({"event_type": "call_service"})).await?;
            socket.next().await?;
            ready.send(())?;
            loop {
                let message: Value = socket.next().await?;
                let at = Instant::now();
                if message["event"]["data"]["domain"] == "light" {
                    moments.send(at)?;
                }
            }
        })
    });
    is_ready.recv_timeout(EVENT_MAX).context("the house lets nobody watch its calls")?;
    Ok(receiver)
}
