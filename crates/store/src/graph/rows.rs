//! Facts and entities as they lie in the tables. Start at [`Row`]. Invariant: names are compared by
//! [`key`] only, so that width, case and script make no second entity.

use decide::text::comparable;
use kernel::ports::RecalledFact;
use rusqlite::{Connection, params};
use sdk::{Entity, Relation};
use serde_json::{Map, Value};

use crate::StoreError;
use crate::search::{Corpus, Dictionary, Source, Text, spell_name};

/// So many names are read into the dictionary.
const NAMES_MAX: i64 = 20_000;

/// What a name or a relation is compared by.
pub(super) fn key(name: &str) -> String {
    comparable(name).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A fact with the names of its ends.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub id: i64,
    pub source: i64,
    pub target: i64,
    pub source_name: String,
    pub target_name: String,
    pub relation: String,
    pub text: String,
    pub told_at_ms: i64,
    pub told_by: String,
    /// The newest that says otherwise.
    pub superseded_by: Option<i64>,
}

impl Row {
    /// What the fact is searched by.
    fn searchable(&self) -> String {
        searchable(&self.source_name, &self.relation, &self.target_name, &self.text)
    }

    pub(super) fn cut(&self, dictionary: &Dictionary) -> Text {
        Text::new(dictionary, &self.searchable())
    }

    pub(super) fn as_source(&self) -> Source {
        Source {
            id: self.id,
            head: format!("{}。{}", self.source_name, self.relation),
            tail: self.target_name.clone(),
            body: self.text.clone(),
            at_ms: self.told_at_ms,
        }
    }

    pub(super) fn recalled(self, score: f64) -> RecalledFact {
        RecalledFact {
            id: self.id,
            relation: Relation {
                source_name: self.source_name,
                target_name: self.target_name,
                relation_type: self.relation,
                told_at: self.told_at_ms.div_euclid(1000),
                told_by: self.told_by,
                superseded: self.superseded_by.is_some(),
                score,
            },
            text: self.text,
        }
    }
}

pub(super) fn searchable(subject: &str, relation: &str, object: &str, text: &str) -> String {
    format!("{subject}。{relation}。{object}。{text}")
}

/// Which facts: those told in a span of time, forgotten or not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub from_ms: Option<i64>,
    pub to_ms: Option<i64>,
}

impl Span {
    pub(super) fn holds(&self, at_ms: i64) -> bool {
        self.from_ms.is_none_or(|from| from <= at_ms) && self.to_ms.is_none_or(|to| at_ms <= to)
    }

    pub(super) fn is_whole(&self) -> bool {
        self.from_ms.is_none() && self.to_ms.is_none()
    }
}

/// A fact that is not forgotten, without what may have superseded it.
pub(super) fn bare(connection: &Connection, id: i64) -> Result<Option<Row>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT fact.id, fact.source, fact.target, a.name, b.name, fact.relation, fact.text, fact.told_at_ms,
             fact.told_by, NULL
         FROM memory_facts AS fact
         JOIN memory_entities AS a ON a.id = fact.source JOIN memory_entities AS b ON b.id = fact.target
         WHERE fact.id = ?1 AND fact.forgotten IS NULL",
    )?;
    let mut rows = select.query([id])?;
    rows.next()?.map(read).transpose()
}

/// A fact that is not forgotten. It is superseded where one that is told later, though inside the span,
/// says otherwise of something of which there is only one at a time.
pub(super) fn alive(connection: &Connection, id: i64, span: Span) -> Result<Option<Row>, StoreError> {
    let Some(row) = bare(connection, id)? else { return Ok(None) };
    Ok(Some(Row { superseded_by: superseded_by(connection, id, span)?, ..row }))
}

/// The newest that says otherwise.
pub(super) fn superseded_by(connection: &Connection, id: i64, span: Span) -> Result<Option<i64>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT newer.id FROM memory_facts AS fact
         JOIN memory_facts AS newer ON newer.source = fact.source AND newer.relation_key = fact.relation_key
         WHERE fact.id = ?1 AND newer.told_at_ms > fact.told_at_ms AND newer.told_at_ms <= ?2
             AND newer.target <> fact.target AND newer.single = 1 AND newer.forgotten IS NULL
         ORDER BY newer.told_at_ms DESC LIMIT 1",
    )?;
    let mut rows = select.query(params![id, span.to_ms.unwrap_or(i64::MAX)])?;
    Ok(rows.next()?.map(|row| row.get(0)).transpose()?)
}

/// A fact, forgotten or not.
pub(super) fn any(connection: &Connection, id: i64) -> Result<Option<Row>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT fact.id, fact.source, fact.target, a.name, b.name, fact.relation, fact.text, fact.told_at_ms,
             fact.told_by, NULL
         FROM memory_facts AS fact
         JOIN memory_entities AS a ON a.id = fact.source JOIN memory_entities AS b ON b.id = fact.target
         WHERE fact.id = ?1",
    )?;
    let mut rows = select.query([id])?;
    rows.next()?.map(read).transpose()
}

fn read(row: &rusqlite::Row<'_>) -> Result<Row, StoreError> {
    Ok(Row {
        id: row.get(0)?,
        source: row.get(1)?,
        target: row.get(2)?,
        source_name: row.get(3)?,
        target_name: row.get(4)?,
        relation: row.get(5)?,
        text: row.get(6)?,
        told_at_ms: row.get(7)?,
        told_by: row.get(8)?,
        superseded_by: row.get(9)?,
    })
}

pub(super) fn entity(connection: &Connection, name: &str) -> Result<Option<i64>, StoreError> {
    let mut select = connection.prepare_cached("SELECT id FROM memory_entities WHERE key = ?1")?;
    let mut rows = select.query([key(name)])?;
    Ok(rows.next()?.map(|row| row.get(0)).transpose()?)
}

pub(super) fn entity_row(connection: &Connection, id: i64) -> Result<Option<Entity>, StoreError> {
    let mut select = connection.prepare_cached("SELECT name, kind, mentions FROM memory_entities WHERE id = ?1")?;
    let mut rows = select.query([id])?;
    let read = |row: &rusqlite::Row<'_>| -> Result<Entity, rusqlite::Error> {
        Ok(Entity { name: row.get(0)?, kind: row.get(1)?, mention_count: row.get(2)? })
    };
    Ok(rows.next()?.map(read).transpose()?)
}

/// The best known names go into the dictionary.
pub(super) fn names(connection: &Connection, dictionary: &Dictionary) -> Result<(), StoreError> {
    let mut select = connection.prepare("SELECT name FROM memory_entities ORDER BY mentions DESC LIMIT ?1")?;
    let names = select.query_map([NAMES_MAX], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    dictionary.add(names.iter().map(String::as_str));
    Ok(())
}

/// What is known is put into the index anew, as after an import.
pub(crate) fn index_again(connection: &Connection, dictionary: &Dictionary) -> Result<(), StoreError> {
    names(connection, dictionary)?;
    let mut select = connection.prepare(
        "SELECT fact.id, a.name, fact.relation, b.name, fact.text FROM memory_facts AS fact
         JOIN memory_entities AS a ON a.id = fact.source JOIN memory_entities AS b ON b.id = fact.target
         WHERE fact.forgotten IS NULL ORDER BY fact.id",
    )?;
    let texts = select.query_map([], |row| {
        let text = |at| row.get_ref(at)?.as_str().map_err(rusqlite::Error::from);
        let searchable = searchable(text(1)?, text(2)?, text(3)?, text(4)?);
        Ok((row.get(0)?, Text::new(dictionary, &searchable)))
    })?;
    Corpus::Facts.make_again(connection, texts.map(|text| Ok(text?)))?;
    let mut single = connection.prepare("SELECT key FROM memory_entities WHERE length(key) = 1")?;
    let keys = single.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    keys.iter().try_for_each(|key| spell_name(connection, key))
}

/// How much is known, and of what kind.
pub(super) fn introspect(connection: &Connection) -> Result<Map<String, Value>, StoreError> {
    let one = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let mut told = Map::new();
    told.insert("entities".into(), one("SELECT count(*) FROM memory_entities")?.into());
    told.insert("relations".into(), one("SELECT count(*) FROM memory_facts WHERE forgotten IS NULL")?.into());
    told.insert("forgotten".into(), one("SELECT count(*) FROM memory_facts WHERE forgotten IS NOT NULL")?.into());
    told.insert("relation_types".into(), pairs(connection, "SELECT min(relation), count(*) AS n FROM memory_facts WHERE forgotten IS NULL GROUP BY relation_key ORDER BY n DESC LIMIT 20")?);
    told.insert(
        "top_entities".into(),
        pairs(connection, "SELECT name, mentions FROM memory_entities ORDER BY mentions DESC LIMIT 20")?,
    );
    let newest: Option<i64> =
        connection
            .query_row("SELECT max(told_at_ms) FROM memory_facts WHERE forgotten IS NULL", [], |row| row.get(0))?;
    told.insert("newest_told_at".into(), newest.map(|ms| ms.div_euclid(1000)).into());
    Ok(told)
}

fn pairs(connection: &Connection, sql: &str) -> Result<Value, StoreError> {
    let mut select = connection.prepare(sql)?;
    let rows = select.query_map([], |row| {
        Ok(serde_json::json!({ "name": row.get::<_, String>(0)?, "count": row.get::<_, i64>(1)? }))
    })?;
    Ok(Value::Array(rows.collect::<Result<_, _>>()?))
}
