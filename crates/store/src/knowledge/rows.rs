//! Knowledge files as they lie in the tables: an index that can be made again from the folder. Start at
//! [`replace`]. Invariant: the parts of a file are those of one moment.

use std::collections::HashMap;

use kernel::ports::{Failure, KnowledgePart};
use rusqlite::{Connection, OptionalExtension, params};

use super::chunks::Chunk;
use super::files::{Seen, Stamp};
use crate::StoreError;
use crate::search::{Corpus, Dictionary, Meant, Source, Strictness, Text};

pub(super) fn files(connection: &Connection) -> Result<HashMap<String, Stamp>, StoreError> {
    let mut select = connection.prepare_cached("SELECT name, bytes, changed_at_ms FROM knowledge_files")?;
    let rows =
        select.query_map([], |row| Ok((row.get(0)?, Stamp { bytes: row.get(1)?, changed_at_ms: row.get(2)? })))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Files that could not be read have no parts.
pub(super) fn forget_failed(connection: &Connection) -> Result<(), StoreError> {
    connection.execute("DELETE FROM knowledge_files WHERE problem IS NOT NULL", [])?;
    Ok(())
}

pub(super) fn names(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut select = connection.prepare_cached("SELECT name FROM knowledge_files ORDER BY name")?;
    let rows = select.query_map([], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn searchable(dictionary: &Dictionary, name: &str, place: &str, content: &str) -> Text {
    Text::new(dictionary, &format!("{name}。{place}。{content}"))
}

pub(super) fn replace(
    connection: &Connection,
    dictionary: &Dictionary,
    file: &Seen,
    chunks: &[Chunk],
    problem: Option<&str>,
) -> Result<(), StoreError> {
    forget(connection, dictionary, std::slice::from_ref(&file.name))?;
    let mut insert = connection
        .prepare_cached("INSERT INTO knowledge_files (name, bytes, changed_at_ms, problem) VALUES (?1, ?2, ?3, ?4)")?;
    let id = insert.insert(params![file.name, file.seen.bytes, file.seen.changed_at_ms, problem])?;
    let mut part =
        connection.prepare_cached("INSERT INTO knowledge_parts (file, place, content) VALUES (?1, ?2, ?3)")?;
    let mut texts = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        let part = part.insert(params![id, chunk.place, chunk.content])?;
        texts.push((part, searchable(dictionary, &file.name, &chunk.place, &chunk.content)));
    }
    Corpus::KnowledgeParts.put_all(connection, texts.iter().map(|(id, text)| (*id, text)))
}

pub(super) fn forget(connection: &Connection, dictionary: &Dictionary, names: &[String]) -> Result<(), StoreError> {
    for name in names {
        let mut select = connection.prepare_cached(
            "SELECT part.id, part.place, part.content FROM knowledge_parts AS part
             JOIN knowledge_files AS file ON file.id = part.file WHERE file.name = ?1",
        )?;
        let parts = select
            .query_map([name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<Result<Vec<(i64, String, String)>, _>>()?;
        for (id, place, content) in parts {
            Corpus::KnowledgeParts.take_out(connection, id, &searchable(dictionary, name, &place, &content))?;
        }
        connection.execute("DELETE FROM knowledge_files WHERE name = ?1", [name])?;
    }
    Ok(())
}

pub(super) fn find(
    connection: &Connection,
    dictionary: &Dictionary,
    (question, meant): (&str, Option<&Meant>),
    most: usize,
) -> Result<Vec<KnowledgePart>, StoreError> {
    let asked = Corpus::KnowledgeParts.ask(connection, dictionary, question, meant)?;
    let mut parts: HashMap<i64, KnowledgePart> = HashMap::new();
    let found = Corpus::KnowledgeParts.find(connection, dictionary, &asked, Strictness::Passage, |ids| {
        let mut select = connection.prepare_cached(
            "SELECT file.name, part.place, part.content, file.changed_at_ms FROM knowledge_parts AS part
             JOIN knowledge_files AS file ON file.id = part.file WHERE part.id = ?1",
        )?;
        let mut sources = Vec::new();
        for &id in ids {
            let mut rows = select.query([id])?;
            let Some(row) = rows.next()? else { continue };
            let part = KnowledgePart { name: row.get(0)?, place: row.get(1)?, content: row.get(2)?, score: 0.0 };
            let head = format!("{}。{}", part.name, part.place);
            sources.push(Source { id, head, body: part.content.clone(), at_ms: row.get(3)?, ..Source::default() });
            parts.insert(id, part);
        }
        Ok(sources)
    })?;
    let answer =
        |hit: &crate::search::Found| parts.remove(&hit.id).map(|part| KnowledgePart { score: hit.score, ..part });
    Ok(found.iter().take(most).filter_map(answer).collect())
}

/// The whole text of a file, as it was indexed.
pub(super) fn text(connection: &Connection, name: &str) -> Result<String, StoreError> {
    let mut select = connection.prepare_cached("SELECT id, problem FROM knowledge_files WHERE name = ?1")?;
    let file: Option<(i64, Option<String>)> =
        select.query_row([name], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((id, problem)) = file else {
        return Err(Failure::not_found(format!("there is no knowledge file {name}: list shows the names")).into());
    };
    if let Some(problem) = problem {
        return Err(Failure::failed(format!("{name} cannot be read: {problem}")).into());
    }
    let mut select = connection.prepare_cached("SELECT content FROM knowledge_parts WHERE file = ?1 ORDER BY id")?;
    let parts = select.query_map([id], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    // Pages and paragraphs that were cut apart stay apart.
    let mut text = String::new();
    for part in parts {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&part);
    }
    Ok(text)
}
