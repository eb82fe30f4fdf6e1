//! What the program shares with its tests and with what is built on it. Start at [`agent`] and [`understand`].
//! Invariant: nothing here reads the command line or the environment.

pub mod agent;
pub mod fetch;
pub mod understand;
