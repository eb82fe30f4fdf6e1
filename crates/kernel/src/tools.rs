//! The tools that the program brings along, as functions of ports. Start at any of the sets.
//!
//! Invariant: what stands in a memory, a document or a message is given back as data, on one line or with
//! its line breaks, without control and bidirectional characters, with where it is from.

mod arguments;
pub mod documents;
pub mod due;
pub mod knowledge;
pub mod memory;
pub mod settings_tools;
pub mod time;

#[cfg(test)]
pub(crate) mod fakes;
