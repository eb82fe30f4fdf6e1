//! Everything a household keeps. Start at [`Store::open`]; each port is a file of its own.
//!
//! Invariant: SQL stands in this crate only.

mod aggregates;
pub mod backup;
pub mod database;
pub mod documents;
mod error;
pub mod export;
pub mod graph;
pub mod import;
pub mod inbox;
pub mod knowledge;
pub mod outbox;
mod rows;
pub mod schedules;
pub mod search;
pub mod settings;
mod store;
pub mod text;
pub mod turns;

pub use backup::{BackupOptions, BackupReport, KeyInBackup};
pub use database::{Access, Database, Folder};
pub use error::StoreError;
pub use export::ExportReport;

pub use documents::DocumentMemory;
pub use graph::Graph;
pub use import::{ImportReport, import};
pub use knowledge::KnowledgeFolder;
pub use store::{Options, Store};
