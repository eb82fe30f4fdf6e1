//! Documents as they lie in the tables. Start at [`insert`] and [`find`]. Invariant: a document that is
//! taken has no part in the index, every other one has all of them there.

use std::collections::HashMap;

use decide::text::clean;
use kernel::ports::{DocumentHit, Failure};
use rusqlite::{Connection, OptionalExtension, params};
use sdk::Doc;
use serde_json::{Map, Value};

use super::TITLE_CHARS_MAX;
use super::parts::parts;
use crate::StoreError;
use crate::graph::new_undo;
use crate::search::{Corpus, Dictionary, Meant, Source, Strictness, Text};

/// The name under which it is kept.
pub(super) fn insert(
    connection: &Connection,
    dictionary: &Dictionary,
    doc: &Doc,
    now_ms: i64,
) -> Result<String, StoreError> {
    let name = match doc.id.trim() {
        "" => format!("doc-{}", &new_undo(connection)?[..16]),
        given => given.to_owned(),
    };
    let title = clean(&doc.title, TITLE_CHARS_MAX);
    if let Some((id, taken)) = known(connection, &name)? {
        if !taken {
            take_parts_out(connection, dictionary, id)?;
        }
        connection.execute("DELETE FROM memory_document_parts WHERE document = ?1", [id])?;
        connection.execute("DELETE FROM memory_documents WHERE id = ?1", [id])?;
    }
    let mut insert = connection.prepare_cached(
        "INSERT INTO memory_documents (name, title, content, inserted_at_ms, touched_at_ms) VALUES (?1, ?2, ?3, ?4, ?4)",
    )?;
    let id = insert.insert(params![name, title, doc.content, now_ms])?;
    let mut part =
        connection.prepare_cached("INSERT INTO memory_document_parts (document, content) VALUES (?1, ?2)")?;
    let all = parts(&doc.content);
    for content in if all.is_empty() { vec![""] } else { all } {
        part.execute(params![id, content])?;
    }
    put_parts(connection, dictionary, id)?;
    Ok(name)
}

fn known(connection: &Connection, name: &str) -> Result<Option<(i64, bool)>, StoreError> {
    let mut select = connection.prepare_cached("SELECT id, taken IS NOT NULL FROM memory_documents WHERE name = ?1")?;
    Ok(select.query_row([name], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

/// Parts of a document with the text they are searched by.
fn texts(connection: &Connection, dictionary: &Dictionary, document: i64) -> Result<Vec<(i64, Text)>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT part.id, document.title, part.content FROM memory_document_parts AS part
         JOIN memory_documents AS document ON document.id = part.document WHERE document.id = ?1",
    )?;
    let rows =
        select.query_map([document], |row| Ok((row.get(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?)))?;
    rows.map(|row| {
        let (id, title, content) = row?;
        Ok((id, Text::new(dictionary, &searchable(&title, &content))))
    })
    .collect()
}

/// What was not taken out is put into the index anew, as after an import.
pub(crate) fn index_again(connection: &Connection, dictionary: &Dictionary) -> Result<(), StoreError> {
    let mut select = connection.prepare(
        "SELECT part.id, document.title, part.content FROM memory_document_parts AS part
         JOIN memory_documents AS document ON document.id = part.document
         WHERE document.taken IS NULL ORDER BY part.id",
    )?;
    let texts = select.query_map([], |row| {
        let text = |at| row.get_ref(at)?.as_str().map_err(rusqlite::Error::from);
        Ok((row.get(0)?, Text::new(dictionary, &searchable(text(1)?, text(2)?))))
    })?;
    Corpus::DocumentParts.make_again(connection, texts.map(|text| Ok(text?)))
}

fn searchable(title: &str, content: &str) -> String {
    format!("{title}。{content}")
}

fn put_parts(connection: &Connection, dictionary: &Dictionary, document: i64) -> Result<(), StoreError> {
    let texts = texts(connection, dictionary, document)?;
    Corpus::DocumentParts.put_all(connection, texts.iter().map(|(id, text)| (*id, text)))
}

fn take_parts_out(connection: &Connection, dictionary: &Dictionary, document: i64) -> Result<(), StoreError> {
    for (id, text) in texts(connection, dictionary, document)? {
        Corpus::DocumentParts.take_out(connection, id, &text)?;
    }
    Ok(())
}

/// Documents that answer, best first, each once, with its score.
pub(super) fn find(
    connection: &Connection,
    dictionary: &Dictionary,
    (question, meant): (&str, Option<&Meant>),
    most: usize,
) -> Result<Vec<(i64, f64)>, StoreError> {
    let asked = Corpus::DocumentParts.ask(connection, dictionary, question, meant)?;
    let mut owners = HashMap::new();
    let found = Corpus::DocumentParts.find(connection, dictionary, &asked, Strictness::Passage, |ids| {
        let mut select = connection.prepare_cached(
            "SELECT part.document, document.title, part.content, document.touched_at_ms
             FROM memory_document_parts AS part JOIN memory_documents AS document ON document.id = part.document
             WHERE part.id = ?1 AND document.taken IS NULL",
        )?;
        let mut sources = Vec::new();
        for &id in ids {
            let mut rows = select.query([id])?;
            let Some(row) = rows.next()? else { continue };
            owners.insert(id, row.get::<_, i64>(0)?);
            sources.push(Source { id, head: row.get(1)?, body: row.get(2)?, at_ms: row.get(3)?, ..Source::default() });
        }
        Ok(sources)
    })?;
    let mut best: Vec<(i64, f64)> = Vec::new();
    for hit in found {
        if let Some(&document) = owners.get(&hit.id)
            && !best.iter().any(|&(known, _)| known == document)
        {
            best.push((document, hit.score));
        }
    }
    best.truncate(most);
    Ok(best)
}

fn whole(connection: &Connection, id: i64, score: f64) -> Result<Option<Doc>, StoreError> {
    let mut select = connection
        .prepare_cached("SELECT name, title, content FROM memory_documents WHERE id = ?1 AND taken IS NULL")?;
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Doc { id: row.get(0)?, title: row.get(1)?, content: row.get(2)?, score: Some(score) })
    };
    Ok(select.query_row([id], read).optional()?)
}

pub(super) fn touch(
    connection: &Connection,
    found: Vec<(i64, f64)>,
    now_ms: i64,
) -> Result<Vec<DocumentHit>, StoreError> {
    let mut hits = Vec::new();
    for (id, score) in found {
        connection
            .prepare_cached("UPDATE memory_documents SET touched_at_ms = max(touched_at_ms, ?1) WHERE id = ?2")?
            .execute([now_ms, id])?;
        hits.extend(whole(connection, id, score)?.map(|doc| DocumentHit { doc, undo: None }));
    }
    Ok(hits)
}

/// Gives back whole what is taken out. What somebody else took meanwhile is left out.
pub(super) fn consume(
    connection: &Connection,
    dictionary: &Dictionary,
    found: Vec<(i64, f64)>,
) -> Result<Vec<DocumentHit>, StoreError> {
    let mut hits = Vec::new();
    for (id, score) in found {
        if let Some(doc) = whole(connection, id, score)? {
            let undo = take(connection, dictionary, id)?;
            hits.push(DocumentHit { doc, undo: Some(undo) });
        }
    }
    Ok(hits)
}

fn take(connection: &Connection, dictionary: &Dictionary, id: i64) -> Result<String, StoreError> {
    let undo = new_undo(connection)?;
    take_parts_out(connection, dictionary, id)?;
    connection.prepare_cached("UPDATE memory_documents SET taken = ?1 WHERE id = ?2")?.execute(params![undo, id])?;
    Ok(undo)
}

pub(super) fn remove(
    connection: &Connection,
    dictionary: &Dictionary,
    name: &str,
) -> Result<Option<String>, StoreError> {
    match known(connection, name)? {
        Some((id, false)) => Ok(Some(take(connection, dictionary, id)?)),
        _ => Ok(None),
    }
}

/// How many documents came back.
pub(super) fn restore(connection: &Connection, dictionary: &Dictionary, undo: &str) -> Result<u64, StoreError> {
    let mut select = connection.prepare_cached("SELECT id FROM memory_documents WHERE taken = ?1")?;
    let ids = select.query_map([undo], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    if ids.is_empty() {
        let gone = "nothing can be brought back under this name: it was restored already, or inserted anew";
        return Err(Failure::not_found(gone).into());
    }
    for &id in &ids {
        connection.execute("UPDATE memory_documents SET taken = NULL WHERE id = ?1", [id])?;
        put_parts(connection, dictionary, id)?;
    }
    Ok(u64::try_from(ids.len()).unwrap_or(u64::MAX))
}

pub(super) fn stats(connection: &Connection) -> Result<Map<String, Value>, StoreError> {
    let one = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let mut told = Map::new();
    told.insert("documents".into(), one("SELECT count(*) FROM memory_documents WHERE taken IS NULL")?.into());
    told.insert("taken_out".into(), one("SELECT count(*) FROM memory_documents WHERE taken IS NOT NULL")?.into());
    told.insert(
        "promoted".into(),
        one("SELECT count(*) FROM memory_documents WHERE promoted_at_ms IS NOT NULL")?.into(),
    );
    told.insert("parts".into(), Corpus::DocumentParts.texts(connection)?.into());
    told.insert(
        "bytes".into(),
        one("SELECT coalesce(sum(length(CAST(content AS BLOB))), 0) FROM memory_documents WHERE taken IS NULL")?.into(),
    );
    Ok(told)
}
