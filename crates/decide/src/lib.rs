//! Every decision of Menshen as a pure function.
//!
//! Nothing here reads a clock, a socket, a file or the environment, and nothing here knows another
//! crate of ours: what a decision needs comes in as arguments, what it decides goes out as a value.
//! Start at [`house`] (the picture that decisions look at), then [`gate`] (may this reach the house).

pub mod commands;
pub mod gate;
pub mod house;
pub mod intents;
pub mod macros;
pub mod rank;
pub mod restore;
pub mod text;
pub mod understood;
pub mod web;
pub mod when;
