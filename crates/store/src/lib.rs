//! Everything a household keeps. Start at [`Database`].
//!
//! Invariant: SQL stands in this crate only.

mod aggregates;
pub mod database;
mod error;
mod graph;
pub mod search;

pub use database::{Database, Folder, Options};
pub use error::StoreError;
pub use graph::Graph;
