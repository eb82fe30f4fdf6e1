//! Search by meaning: a model that embeds, for the memories. Start at [`Meaning`]. Invariant: without it,
//! or while it cannot be reached, search goes on by words.

use kernel::ports::{BoxFuture, Failure, FailureKind};
use llm::{ConfigError, EmbedClient, Embedder as _};
use store::search::Embedder;

pub struct Meaning(EmbedClient);

impl Meaning {
    pub fn new(config: &llm::Config) -> Result<Self, ConfigError> {
        Ok(Self(EmbedClient::new(config)?))
    }
}

impl Embedder for Meaning {
    fn model(&self) -> String {
        self.0.name()
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, Failure>> {
        Box::pin(async move {
            let embedded = self.0.embed(texts).await;
            embedded.map_err(|error| Failure::new(FailureKind::Unavailable, error.to_string()))
        })
    }
}
