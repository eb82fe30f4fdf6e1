//! Meaning as numbers, from a model server. Start at [`Embedder`] and [`EmbedClient`].
//!
//! Invariants: one vector a text, in the texts' order, all of one length and finite; each request has a
//! deadline and a bounded batch.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kernel::ports::{BoxFuture, SourceError, SourceErrorKind as Kind};
use model2vec_rs::model::StaticModel;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::config::{Config, ConfigError};
use crate::fault::Fault;
use crate::source::{Shared, Source};

/// Limit: more texts are sent in several requests, one after the other.
pub const EMBED_BATCH_MAX: usize = 32;
/// Limit: a batch that is not embedded by then has failed.
pub const EMBED_WAIT: Duration = Duration::from_secs(60);

pub trait Embedder: Send + Sync {
    /// Model and source: vectors of different ones do not compare.
    fn name(&self) -> String;
    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, SourceError>>;
}

/// `/v1/embeddings` of an OpenAI-compatible server, or Ollama's `/api/embed`.
#[derive(Clone)]
pub struct EmbedClient {
    shared: Arc<Shared>,
    ollama: bool,
}

impl EmbedClient {
    /// From the configuration of a source whose model embeds.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        let source = Source::new(config)?;
        let shared = source.shared().clone();
        match shared.settled.kind {
            crate::Kind::Anthropic => {
                let must = "`openai` or `ollama` for embeddings: Anthropic offers none";
                Err(ConfigError::OutOfRange { name: shared.settled.name.clone(), field: "kind", must })
            }
            kind => Ok(Self { shared, ollama: kind == crate::Kind::Ollama }),
        }
    }

    async fn batch(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Fault> {
        let settled = &self.shared.settled;
        let deadline = Instant::now() + EMBED_WAIT;
        let body = json!({"model": settled.config.model, "input": texts});
        let path = if self.ollama { "/api/embed" } else { "/embeddings" };
        let answer = self.shared.http.post(&format!("{}{path}", settled.base), &body, deadline).await?;
        let vectors = if self.ollama { of_ollama(&answer) } else { of_openai(&answer, texts.len()) };
        vectors
            .filter(|vectors| vectors.len() == texts.len())
            .ok_or_else(|| Fault::protocol(format!("the server did not give {} embeddings of one length", texts.len())))
    }
}

impl Embedder for EmbedClient {
    fn name(&self) -> String {
        crate::answer::maker(&self.shared.settled)
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, SourceError>> {
        Box::pin(async move {
            let mut all: Vec<Vec<f32>> = Vec::with_capacity(texts.len());
            for batch in texts.chunks(EMBED_BATCH_MAX) {
                let vectors = self.batch(batch).await.map_err(|fault| self.shared.error(fault, "en"))?;
                all.extend(vectors);
            }
            if all.iter().any(|vector| vector.len() != all[0].len()) {
                let fault = Fault::new(Kind::Protocol, "the embeddings differ in length");
                return Err(self.shared.error(fault, "en"));
            }
            Ok(all)
        })
    }
}

/// Static embeddings (model2vec) from a folder with `model.safetensors`, `tokenizer.json` and `config.json`.
pub struct EmbedFolder {
    name: String,
    model: StaticModel,
}

impl EmbedFolder {
    /// Reads the model, which takes a moment.
    pub fn open(folder: &Path) -> Result<Self, ConfigError> {
        let model = StaticModel::from_pretrained(folder, None, None, None)
            .map_err(|error| ConfigError::Folder { folder: folder.to_owned(), why: format!("{error:#}") })?;
        Ok(Self { name: format!("folder {} of {}", folder.display(), model.dim()), model })
    }
}

impl Embedder for EmbedFolder {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, SourceError>> {
        let (model, texts) = (self.model.clone(), texts.to_vec());
        Box::pin(async move {
            let embedded = tokio::task::spawn_blocking(move || model.encode(&texts)).await;
            embedded.map_err(|error| SourceError {
                kind: Kind::Protocol,
                source_name: self.name.clone(),
                message: format!("the model of this folder broke on a text: {error}"),
                retry_after: None,
            })
        })
    }
}

/// Servers may answer in any order; the index says which is which.
fn of_openai(answer: &Value, count: usize) -> Option<Vec<Vec<f32>>> {
    let mut vectors = vec![Vec::new(); count];
    for (at, entry) in answer["data"].as_array()?.iter().enumerate() {
        let index = entry["index"].as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or(at);
        *vectors.get_mut(index)? = vector(&entry["embedding"])?;
    }
    vectors.iter().all(|vector| !vector.is_empty()).then_some(vectors)
}

fn of_ollama(answer: &Value) -> Option<Vec<Vec<f32>>> {
    answer["embeddings"].as_array()?.iter().map(vector).collect()
}

fn vector(value: &Value) -> Option<Vec<f32>> {
    let numbers = value.as_array().filter(|numbers| !numbers.is_empty())?;
    let finite = |number: &Value| number.as_f64().map(|number| number as f32).filter(|number| number.is_finite());
    numbers.iter().map(finite).collect()
}

#[cfg(test)]
mod tests {
    use testkit::static_model;

    use super::*;

    #[tokio::test]
    async fn a_folder_embeds_without_any_server() {
        let folder = static_model(&[("bedtime", [1.0, 0.0]), ("sleep", [0.9, 0.1]), ("supper", [0.0, 1.0])]);
        let model = EmbedFolder::open(folder.path()).unwrap();
        let texts = ["Bedtime".to_owned(), "sleep".to_owned(), "supper".to_owned(), "zzz".to_owned()];
        let vectors = model.embed(&texts).await.unwrap();
        let near = |a: usize, b: usize| vectors[a].iter().zip(&vectors[b]).map(|(x, y)| x * y).sum::<f32>();
        assert_eq!(vectors.len(), 4);
        assert!(near(0, 1) > 0.9 && near(0, 2) < 0.1, "{vectors:?}");
        assert!(vectors[3].iter().all(|number| number.is_finite()));
    }

    #[test]
    fn a_folder_that_is_no_model_says_what_it_must_have() {
        let empty = tempfile::tempdir().unwrap();
        let said = EmbedFolder::open(empty.path()).err().unwrap().to_string();
        assert!(said.contains("tokenizer.json") && said.contains("model.safetensors"), "{said}");
        let broken = static_model(&[("a", [1.0, 0.0])]);
        std::fs::write(broken.path().join("model.safetensors"), b"x").unwrap();
        assert!(EmbedFolder::open(broken.path()).is_err());
    }
}
