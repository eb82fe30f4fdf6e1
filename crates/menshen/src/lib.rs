//! What the program shares with its tests and with what is built on it. Start at [`understand`].
//! Invariant: nothing here reads the command line or the environment.

pub mod fetch;
pub mod understand;
