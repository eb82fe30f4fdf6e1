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
    whole("entity", "memory_entities"),
    whole("fact", "memory_facts"),
    whole("document", "memory_documents"),
    whole("document_part", "memory_document_parts"),
];

/// Files and folders of the data folder that are the household's own, besides the text of what was said.
pub(crate) const FILES: &[&str] = &["AGENTS.md", "knowledge"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::{Access, Database};

    /// Made again from the tables above, or from the files of the knowledge and the text folder.
    const MADE_AGAIN: &[&str] = &["knowledge_files", "knowledge_parts", "text_lines", "search_", "sqlite_"];

    #[tokio::test]
    async fn every_table_is_exported_or_can_be_made_again() {
        let folder = tempfile::TempDir::new().unwrap();
        let database = Database::open(folder.path(), Access::Full).unwrap();
        let tables = database.read(|connection| {
            let mut statement = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
            let found = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
            Ok(found)
        });
        for table in tables.await.unwrap() {
            let exported = AGGREGATES.iter().any(|aggregate| aggregate.table == table);
            let again = MADE_AGAIN.iter().any(|name| table.starts_with(name)) || table.contains("_words");
            assert!(exported != again, "{table}: exported {exported}, made again {again}");
        }
    }
}
