//! Model Context Protocol: six tools in front of a house, and the gate between; and foreign servers.
//!
//! Start at [`serve_stdio`] and, for the tools without a protocol, at [`tools::call`]; for the tools of
//! others at [`client::Foreign`]. Invariant: only [`server`] and [`client`] know rmcp; the tools are
//! functions of a house and could be served by anything.

pub mod client;
mod desk;
mod lines;
mod pace;
mod server;
pub mod tools;

pub use desk::{Desk, READY_WAIT, SharedPolicy};
pub use server::{ServeError, serve, serve_stdio};
