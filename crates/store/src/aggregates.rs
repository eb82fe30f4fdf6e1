//! What of the file belongs to the household, table by table: the list that export and import go
//! through. Start at [`AGGREGATES`].
//!
//! Invariant: a table that cannot be made again from others stands here, parents before children. What
//! can (an index for searches) has to be made again by its owner when a store is opened without it, as
//! after an import.

/// One table, as it goes out and comes in again: column by column, under their names.
pub(crate) struct Aggregate {
    /// What a line of an export calls it.
    pub(crate) name: &'static str,
    pub(crate) table: &'static str,
    /// Columns that stay at home: secrets, and what a trigger or index makes again.
    pub(crate) left_out: &'static [&'static str],
    /// Rows for which this holds stay at home; empty where all go.
    pub(crate) unless: &'static str,
}

const fn whole(name: &'static str, table: &'static str) -> Aggregate {
    Aggregate { name, table, left_out: &[], unless: "" }
}

pub(crate) const AGGREGATES: &[Aggregate] = &[
    whole("turn", "turns"),
    whole("turn_event", "turn_events"),
    whole("input", "inputs"),
    whole("message", "messages"),
    whole("reply", "outbox"),
    whole("schedule", "schedules"),
    Aggregate { name: "setting", table: "settings", left_out: &["sealed", "key_id"], unless: "sealed IS NOT NULL" },
    whole("event", "events"),
];

/// Files and folders of the data folder that are the household's own, besides the text of what was said.
pub(crate) const FILES: &[&str] = &["AGENTS.md", "knowledge"];
