//! End to end: the real program over stdio, a real Home Assistant, read back over a second
//! connection. Houses come by `MENSHEN_HOUSES`; without one each test says that it was left out.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "live/attacks.rs"]
mod attacks;
#[path = "live/cases.rs"]
mod cases;
#[path = "live/changing.rs"]
mod changing;
#[path = "live/chat.rs"]
mod chat;
#[path = "live/client.rs"]
mod client;
#[path = "live/crash.rs"]
mod crash;
#[path = "live/events.rs"]
mod events;
#[path = "live/exhaustion.rs"]
mod exhaustion;
#[path = "live/honest.rs"]
mod honest;
#[path = "live/houses.rs"]
mod houses;
#[path = "live/process.rs"]
mod process;
#[path = "live/random.rs"]
mod random;
#[path = "live/safety.rs"]
mod safety;
#[path = "live/trouble.rs"]
mod trouble;
#[path = "live/understanding.rs"]
mod understanding;
#[path = "live/watcher.rs"]
mod watcher;
