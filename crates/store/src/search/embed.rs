//! Meaning as numbers, where the household set a source for it. Start at [`Embedder`] and [`Embedding`].
//!
//! Invariant: without it everything works; with it, texts that answer may come in a better order, and what
//! the words do not rule out may be found by its meaning.

use kernel::ports::{BoxFuture, Failure};
use rusqlite::{Connection, params};

use super::Corpus;
use crate::error::StoreError;

/// A source of embeddings. What comes back has one vector for each text, all of one length.
pub trait Embedder: Send + Sync {
    /// Vectors of another model are not comparable and are made again.
    fn model(&self) -> String;
    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, Failure>>;
}

/// A vector of length 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Embedding(Vec<f32>);

impl Embedding {
    /// None for what has no direction.
    pub fn new(mut vector: Vec<f32>) -> Option<Self> {
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        if !length.is_finite() || length <= f32::EPSILON {
            return None;
        }
        vector.iter_mut().for_each(|x| *x /= length);
        Some(Self(vector))
    }

    /// How near in meaning, -1 to 1. Vectors of different lengths have nothing in common.
    pub fn near(&self, other: &Self) -> f32 {
        if self.0.len() != other.0.len() {
            return 0.0;
        }
        self.0.iter().zip(&other.0).map(|(a, b)| a * b).sum()
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect())
    }
}

impl Corpus {
    pub fn put_embedding(
        self,
        connection: &Connection,
        id: i64,
        model: &str,
        embedding: &Embedding,
    ) -> Result<(), StoreError> {
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO search_vectors (corpus, text, model, vector) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![self.number(), id, model, embedding.bytes()])?;
        Ok(())
    }

    /// The nearest in meaning, best first. Looks at every vector: 100,000 of 256 numbers take some 6 ms.
    pub fn nearest(
        self,
        connection: &Connection,
        model: &str,
        question: &Embedding,
        most: usize,
    ) -> Result<Vec<(i64, f32)>, StoreError> {
        let mut select =
            connection.prepare_cached("SELECT text, vector FROM search_vectors WHERE corpus = ?1 AND model = ?2")?;
        let mut rows = select.query(params![self.number(), model])?;
        let mut all: Vec<(i64, f32)> = Vec::new();
        while let Some(row) = rows.next()? {
            let vector = Embedding::from_bytes(row.get_ref(1)?.as_blob().unwrap_or_default());
            all.push((row.get(0)?, question.near(&vector)));
        }
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all.truncate(most);
        Ok(all)
    }

    /// Texts that have no vector of this model yet.
    pub fn without_embedding(
        self,
        connection: &Connection,
        model: &str,
        most: usize,
    ) -> Result<Vec<(i64, String)>, StoreError> {
        let Some((table, text)) = self.embedded_column() else { return Ok(Vec::new()) };
        let alive = if self == Self::Facts { "AND owner.forgotten IS NULL" } else { "" };
        let sql = format!(
            "SELECT owner.id, owner.{text} FROM {table} AS owner
             LEFT JOIN search_vectors AS made ON made.corpus = ?1 AND made.text = owner.id AND made.model = ?2
             WHERE made.text IS NULL {alive} LIMIT ?3"
        );
        let mut select = connection.prepare_cached(&sql)?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = select.query_map(params![self.number(), model, most], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Table and column of its texts. What was said stands in no table and is found by words alone.
    fn embedded_column(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Facts => Some(("memory_facts", "text")),
            Self::DocumentParts => Some(("memory_document_parts", "content")),
            Self::KnowledgeParts => Some(("knowledge_parts", "content")),
            Self::TextLines => None,
        }
    }

    /// Whether this is (still) the text of this id.
    pub(super) fn has(self, connection: &Connection, id: i64, text: &str) -> Result<bool, StoreError> {
        let Some((table, column)) = self.embedded_column() else { return Ok(false) };
        let sql = format!("SELECT 1 FROM {table} WHERE id = ?1 AND {column} = ?2");
        Ok(connection.prepare_cached(&sql)?.exists(params![id, text])?)
    }
}
