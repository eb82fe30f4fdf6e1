//! One agent: sessions, turns as a state machine, stages, tools, context, budgets.
//!
//! Start at [`agent::Agent`], at [`turn::Turn`] for what a turn does next, and at [`ports`] for what the outside must
//! provide. Invariant: no socket, no file, no clock and no SQL in here; time comes by [`ports::Clock`].

pub mod agent;
pub mod context;
pub mod host;
pub mod message;
pub mod notes;
pub mod ports;
mod quiet;
pub mod receipts;
pub mod registry;
pub mod settings;
pub mod stages;
pub mod tools;
pub mod turn;
