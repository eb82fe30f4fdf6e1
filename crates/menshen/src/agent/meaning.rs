//! Meaning for the search of memory, from the source that the configuration names. Start at [`meaning`].
//! Invariant: without one, search is by words, and nothing else changes.

use std::path::Path;
use std::sync::Arc;

use kernel::ports::{BoxFuture, Failure, FailureKind};
use llm::{Config, ConfigError, EmbedClient, EmbedFolder};
use store::search::{Embedder, Meaning};

/// How near a text must be to answer by its meaning alone, where nobody says: models differ, and a wrong answer
/// is worse than none.
const NEAR_MIN: f32 = 0.75;

struct Adapted(Arc<dyn llm::Embedder>);

impl Embedder for Adapted {
    fn model(&self) -> String {
        self.0.name()
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, Failure>> {
        Box::pin(async move {
            self.0.embed(texts).await.map_err(|error| Failure::new(FailureKind::Unavailable, error.to_string()))
        })
    }
}

/// From a folder, or from a server.
pub fn meaning(folder: Option<&Path>, server: &Config, near_min: Option<f32>) -> Result<Meaning, ConfigError> {
    let embedder: Arc<dyn llm::Embedder> = match folder {
        Some(folder) => Arc::new(EmbedFolder::open(folder)?),
        None => Arc::new(EmbedClient::new(server)?),
    };
    Ok(Meaning::new(Arc::new(Adapted(embedder)), near_min.unwrap_or(NEAR_MIN)))
}

#[cfg(test)]
mod tests {
    use kernel::ports::{Fact, GraphMemory, RecallQuery};
    use sdk::Triple;
    use store::{Graph, Options, Store};
    use testkit::static_model;

    use super::*;

    #[tokio::test]
    async fn a_model_in_a_folder_finds_what_no_word_finds() {
        let model = static_model(&[("bedtime", [1.0, 0.0]), ("slumber", [1.0, 0.0]), ("supper", [0.0, 1.0])]);
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), &Options::default()).unwrap();
        let meaning = meaning(Some(model.path()), &Config::default(), None).unwrap();
        let graph = Graph::new(store.database().clone(), store.dictionary().clone()).with_meaning(meaning.clone());
        let fact = |relation: &str, object: &str| Fact {
            triple: Triple { subject: "kids".into(), relation: relation.into(), object: object.into() },
            text: format!("{relation} {object}"),
            ..Fact::default()
        };
        graph.commit(&[fact("bedtime", "half past eight"), fact("supper", "soup")]).await.unwrap();
        assert_eq!(meaning.catch_up(store.database()).await.unwrap(), 2);
        let query = RecallQuery { words: vec!["slumber".into()], ..RecallQuery::default() };
        let found = graph.recall(query).await.unwrap().facts;
        assert_eq!(found.iter().map(|fact| &*fact.relation.target_name).collect::<Vec<_>>(), ["half past eight"]);
    }

    #[test]
    fn what_is_no_source_of_meaning_is_an_error_that_says_what_to_write() {
        let wrong = meaning(Some(Path::new("/nowhere")), &Config::default(), None).err().unwrap().to_string();
        assert!(wrong.contains("/nowhere") && wrong.contains("tokenizer.json"), "{wrong}");
        let server = Config {
            name: "embeddings".into(),
            base_url: "anthropic".into(),
            model: "m".into(),
            key: llm::Secret::new("k"),
            ..Config::default()
        };
        assert!(meaning(None, &server, None).err().unwrap().to_string().contains("Anthropic offers none"));
    }
}
