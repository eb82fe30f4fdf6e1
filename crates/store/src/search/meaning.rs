//! Search by meaning, beside the search by words. Start at [`Meaning`].
//!
//! Invariants: nobody waits long for it, and without it everything is found by words as before; a text is
//! embedded once for a model, beside what people do; what words rule out (somebody else's) is not brought in by
//! its meaning, and what is not near enough is not near at all.

use std::sync::Arc;
use std::time::Duration;

use kernel::agent::RECALL_MAX;
use rusqlite::Connection;
use tokio::time::timeout;

use super::{Corpus, Embedder, Embedding};
use crate::{Database, StoreError};

/// Limit: a question is searched by words alone where it is not embedded by then.
pub const MEANING_WAIT: Duration = Duration::from_millis(800);
// Later, and what the words find would come too late as well.
const _: () = assert!(MEANING_WAIT.as_millis() < RECALL_MAX.as_millis());
/// Texts embedded in one request, and their length in characters.
const TOGETHER: usize = 32;
const TEXT_CHARS_MAX: usize = 2_000;
/// Between two looks for texts that are new, and after a failure.
const LOOK: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_secs(60);
/// So many of the nearest texts are looked at.
const NEAREST_MAX: usize = 20;
/// Corpora whose texts are embedded.
const EMBEDDED: [Corpus; 3] = [Corpus::Facts, Corpus::DocumentParts, Corpus::KnowledgeParts];

/// A handle; the default knows words only.
#[derive(Clone, Default)]
pub struct Meaning(Option<Source>);

#[derive(Clone)]
struct Source {
    embedder: Arc<dyn Embedder>,
    near_min: f32,
}

/// A question by its meaning.
#[derive(Clone, Debug)]
pub struct Meant {
    model: String,
    embedding: Embedding,
    near_min: f32,
}

impl Meaning {
    /// `near_min`: how near (-1 to 1, as the model measures) a text must be to answer by its meaning alone.
    pub fn new(embedder: Arc<dyn Embedder>, near_min: f32) -> Self {
        Self(Some(Source { embedder, near_min }))
    }

    /// None where there is no source, or where it does not answer in time.
    pub async fn of(&self, question: &str) -> Option<Meant> {
        let source = self.0.as_ref().filter(|_| !question.trim().is_empty())?;
        let texts = [question.chars().take(TEXT_CHARS_MAX).collect()];
        let vectors = match timeout(MEANING_WAIT, source.embedder.embed(&texts)).await {
            Ok(Ok(vectors)) => vectors,
            Ok(Err(failure)) => {
                tracing::warn!("searched by words alone: {failure}");
                return None;
            }
            Err(_) => {
                tracing::warn!("searched by words alone: no embedding within {} ms", MEANING_WAIT.as_millis());
                return None;
            }
        };
        let embedding = Embedding::new(vectors.into_iter().next()?)?;
        Some(Meant { model: source.embedder.model(), embedding, near_min: source.near_min })
    }

    /// Embeds what has no vector of this model yet, for as long as it is polled; gone on with at the next start.
    pub async fn keep_up(self, database: Database) {
        let Some(source) = self.0 else { return };
        loop {
            let pause = match step(&source, &database).await {
                Ok(0) => LOOK,
                Ok(_) => Duration::ZERO,
                Err(why) => {
                    tracing::warn!("texts are not embedded: {why}; tried again in {} s", AGAIN.as_secs());
                    AGAIN
                }
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// Everything that can be embedded now is; how many texts that were.
    pub async fn catch_up(&self, database: &Database) -> Result<usize, String> {
        let Some(source) = &self.0 else { return Ok(0) };
        let mut all = 0;
        loop {
            match step(source, database).await? {
                0 => return Ok(all),
                some => all += some,
            }
        }
    }
}

/// One batch of each corpus. A corpus that fails keeps none of the others from its turn.
async fn step(source: &Source, database: &Database) -> Result<usize, String> {
    let model = source.embedder.model();
    let (mut done, mut failed) = (0, None);
    for corpus in EMBEDDED {
        let wanted = model.clone();
        let look = move |connection: &Connection| corpus.without_embedding(connection, &wanted, TOGETHER);
        let texts = database.read(look).await.map_err(|error: StoreError| error.to_string())?;
        let (made, why) = embedded(source, texts).await;
        failed = failed.or(why);
        done += made.len();
        let model = model.clone();
        let keep = move |connection: &Connection| {
            made.into_iter().try_for_each(|(id, text, vector)| {
                // What has no direction is kept as such, or it would be asked for without end.
                let embedding = Embedding::new(vector).unwrap_or_default();
                // It may have gone meanwhile, and another text may have come under its id.
                if corpus.has(connection, id, &text)? {
                    corpus.put_embedding(connection, id, &model, &embedding)?;
                }
                Ok(())
            })
        };
        database.write_relaxed(keep).await.map_err(|error: StoreError| error.to_string())?;
    }
    failed.filter(|_| done == 0).map_or(Ok(done), Err)
}

type Made = (i64, String, Vec<f32>);

/// As many of these as can be, and why not the others. One text that the source does not take keeps no other one
/// from being found; two in a row say that the source is away.
async fn embedded(source: &Source, texts: Vec<(i64, String)>) -> (Vec<Made>, Option<String>) {
    let short = |text: &String| text.chars().take(TEXT_CHARS_MAX).collect::<String>();
    if texts.is_empty() {
        return (vec![], None);
    }
    let all: Vec<String> = texts.iter().map(|(_, text)| short(text)).collect();
    let mut why = match asked(source, &all).await {
        Ok(vectors) => {
            return (texts.into_iter().zip(vectors).map(|((id, text), vector)| (id, text, vector)).collect(), None);
        }
        Err(why) => why,
    };
    let (mut made, mut in_a_row) = (vec![], 0);
    for (id, text) in texts {
        match asked(source, &[short(&text)]).await {
            Ok(vectors) => {
                in_a_row = 0;
                made.extend(vectors.into_iter().map(|vector| (id, text.clone(), vector)));
            }
            Err(error) => {
                (why, in_a_row) = (error, in_a_row + 1);
                if in_a_row == 2 {
                    break;
                }
            }
        }
    }
    (made, Some(why))
}

/// One vector a text.
async fn asked(source: &Source, texts: &[String]) -> Result<Vec<Vec<f32>>, String> {
    let vectors = source.embedder.embed(texts).await.map_err(|failure| failure.to_string())?;
    if vectors.len() != texts.len() {
        return Err("the source gave another number of embeddings than texts".into());
    }
    Ok(vectors)
}

impl Corpus {
    /// Texts near enough to answer by their meaning, the nearest first.
    pub(super) fn meant(self, connection: &Connection, meant: &Meant) -> Result<Vec<(i64, f32)>, StoreError> {
        let mut near = self.nearest(connection, &meant.model, &meant.embedding, NEAREST_MAX)?;
        near.retain(|(_, near)| *near >= meant.near_min);
        Ok(near)
    }
}

#[cfg(test)]
mod tests;
