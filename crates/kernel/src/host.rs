//! The kernel as plugins see it. Start at [`KernelHost`].
//!
//! Invariants: everything is done in the name of the plugin that asks; the host owns no agent, so that a
//! plugin that keeps its door does not keep the agent alive; nothing is remembered in a turn that says so.

use std::sync::{Arc, Weak};

use sdk::{
    BoxFuture, Doc, DocMemoryApi, Entity, Failure, FailureKind, Host, Injection, Knowledge, KnowledgeApi, LlmApi,
    MemoryApi, Plugin, PluginSdk, PurgeCriteria, PurgeMode, Relation, SettingsApi, Stage, StageHandler, TextEvent,
    TextMemoryApi, ToolDef, ToolHandler, Triple,
};
use serde_json::{Map, Value};

use crate::agent::{Agent, Inner};
use crate::ports::{Clock, Documents, Fact, GraphMemory, KnowledgeBase, NewInput, Principal, RecallQuery, TextMemory};
use crate::quiet::remembering;
use crate::settings::{Caller, Capabilities, Settings};

/// Facts that `recall` gives back at most.
const RECALLED_MAX: usize = 100;

/// What plugins reach besides tools and stages.
#[derive(Clone)]
pub struct Shelf {
    pub settings: Settings,
    pub documents: Arc<dyn Documents>,
    pub knowledge: Arc<dyn KnowledgeBase>,
    /// What the operator granted a plugin.
    pub capabilities: Arc<dyn Fn(&str) -> Capabilities + Send + Sync>,
}

pub struct KernelHost {
    agent: Weak<Inner>,
    shelf: Shelf,
    graph: Arc<dyn GraphMemory>,
    text: Arc<dyn TextMemory>,
    clock: Arc<dyn Clock>,
    llm: Arc<dyn LlmApi>,
}

impl KernelHost {
    pub fn new(agent: &Agent, shelf: Shelf) -> Arc<Self> {
        let ports = agent.ports();
        Arc::new(Self {
            agent: Arc::downgrade(&agent.0),
            shelf,
            graph: ports.graph.clone(),
            text: ports.text.clone(),
            clock: ports.clock.clone(),
            llm: ports.llm.clone(),
        })
    }

    /// Starts a plugin that is built in. One that fails to start leaves nothing behind.
    pub fn start(self: &Arc<Self>, plugin: &mut dyn Plugin) -> Result<(), Failure> {
        let name = plugin.name().to_owned();
        let started = plugin.start(PluginSdk::new(&name, self.clone()));
        if started.is_err() {
            self.remove(&name);
        }
        started
    }

    /// Stops a plugin; everything that it registered leaves, whether it stops well or not.
    pub fn stop(&self, plugin: &mut dyn Plugin) -> Result<(), Failure> {
        let name = plugin.name().to_owned();
        let stopped = plugin.stop();
        self.remove(&name);
        stopped
    }

    fn remove(&self, name: &str) {
        if let Ok(agent) = self.agent() {
            agent.remove_owner(name);
        }
        self.shelf.settings.forget_plugin(name);
    }

    fn agent(&self) -> Result<Agent, Failure> {
        let gone = || Failure::new(FailureKind::Unavailable, "the agent has ended");
        self.agent.upgrade().map(Agent).ok_or_else(gone)
    }
}

impl Host for KernelHost {
    fn register_tool(&self, plugin: &str, def: ToolDef, handler: ToolHandler) -> Result<(), Failure> {
        self.agent()?.tools().register(plugin, def, handler)
    }

    fn register_stage(
        &self,
        plugin: &str,
        stage: Stage,
        own_tools_only: bool,
        handler: StageHandler,
    ) -> Result<(), Failure> {
        if self.agent()?.stages().register(plugin, stage, own_tools_only, handler) {
            return Ok(());
        }
        Err(Failure::new(FailureKind::Full, "there are too many stage handlers already"))
    }

    fn inject(&self, injection: Injection) -> BoxFuture<'_, Result<(), Failure>> {
        Box::pin(async move {
            let agent = self.agent()?;
            // A channel has its own conversation; without one it is the main one.
            let session = if injection.channel.is_empty() { "main".to_owned() } else { injection.channel.clone() };
            let Injection { kind, source, channel, text, user_id, group_id } = injection;
            let principal = Principal { channel, user_id, group_id };
            agent.put(NewInput { session, kind, principal, source, text, ..NewInput::default() }).await?;
            Ok(())
        })
    }

    fn settings(&self, plugin: &str) -> Arc<dyn SettingsApi> {
        let capabilities = (self.shelf.capabilities)(plugin);
        self.shelf.settings.for_caller(Caller::Plugin { name: plugin.to_owned(), capabilities })
    }

    fn memory(&self, plugin: &str) -> Arc<dyn MemoryApi> {
        Arc::new(GraphFace { graph: self.graph.clone(), clock: self.clock.clone(), plugin: plugin.to_owned() })
    }

    fn text_memory(&self, _plugin: &str) -> Arc<dyn TextMemoryApi> {
        Arc::new(TextFace(self.text.clone()))
    }

    fn doc_memory(&self, _plugin: &str) -> Arc<dyn DocMemoryApi> {
        Arc::new(DocumentsFace(self.shelf.documents.clone()))
    }

    fn knowledge(&self, _plugin: &str) -> Arc<dyn KnowledgeApi> {
        Arc::new(KnowledgeFace(self.shelf.knowledge.clone()))
    }

    fn llm(&self, _plugin: &str) -> Arc<dyn LlmApi> {
        self.llm.clone()
    }
}

struct GraphFace {
    graph: Arc<dyn GraphMemory>,
    clock: Arc<dyn Clock>,
    plugin: String,
}

impl MemoryApi for GraphFace {
    fn recall<'a>(
        &'a self,
        query: &'a [String],
        depth: u32,
    ) -> BoxFuture<'a, Result<(Vec<Entity>, Vec<Relation>), Failure>> {
        Box::pin(async move {
            let query = RecallQuery { words: query.to_vec(), depth, count_max: RECALLED_MAX, ..RecallQuery::default() };
            let recall = self.graph.recall(query).await?;
            Ok((recall.entities, recall.facts.into_iter().map(|fact| fact.relation).collect()))
        })
    }

    fn commit<'a>(&'a self, triples: &'a [Triple]) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            remembering()?;
            let told_at_ms = self.clock.now_ms();
            let fact = |triple: &Triple| Fact {
                triple: triple.clone(),
                told_at_ms,
                told_by: self.plugin.clone(),
                ..Fact::default()
            };
            let facts: Vec<Fact> = triples.iter().map(fact).collect();
            self.graph.commit(&facts).await.map(drop)
        })
    }

    fn introspect(&self) -> BoxFuture<'_, Result<Map<String, Value>, Failure>> {
        self.graph.introspect()
    }

    fn merge_entities<'a>(&'a self, source: &'a str, target: &'a str) -> BoxFuture<'a, Result<u64, Failure>> {
        Box::pin(async move {
            remembering()?;
            self.graph.merge_entities(source, target).await
        })
    }

    fn purge<'a>(&'a self, criteria: &'a PurgeCriteria, mode: PurgeMode) -> BoxFuture<'a, Result<u64, Failure>> {
        Box::pin(async move { Ok(self.graph.purge(criteria, mode, false).await?.count) })
    }
}

struct TextFace(Arc<dyn TextMemory>);

impl TextMemoryApi for TextFace {
    fn append(&self, event: TextEvent) -> BoxFuture<'_, Result<(), Failure>> {
        Box::pin(async move {
            remembering()?;
            self.0.append(event).await
        })
    }
}

struct DocumentsFace(Arc<dyn Documents>);

impl DocMemoryApi for DocumentsFace {
    /// Looks, and takes nothing out: that is what `doc_query` does.
    fn query<'a>(&'a self, text: &'a str, top_k: usize) -> BoxFuture<'a, Result<Vec<Doc>, Failure>> {
        Box::pin(async move {
            let hits = self.0.query(text, top_k, false).await?;
            Ok(hits.into_iter().map(|hit| hit.doc).collect())
        })
    }

    fn insert(&self, doc: Doc) -> BoxFuture<'_, Result<String, Failure>> {
        Box::pin(async move {
            remembering()?;
            self.0.insert(doc).await
        })
    }

    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move { self.0.remove(id).await.map(drop) })
    }

    fn stats(&self) -> BoxFuture<'_, Result<Map<String, Value>, Failure>> {
        self.0.stats()
    }
}

struct KnowledgeFace(Arc<dyn KnowledgeBase>);

impl KnowledgeApi for KnowledgeFace {
    fn search<'a>(&'a self, query: &'a str, top_k: usize) -> BoxFuture<'a, Result<Vec<Knowledge>, Failure>> {
        Box::pin(async move {
            let parts = self.0.search(query, top_k).await?;
            let shown = parts.into_iter().map(|part| Knowledge {
                name: part.name,
                content: part.content,
                place: part.place,
                score: Some(part.score),
            });
            Ok(shown.collect())
        })
    }

    fn add<'a>(&'a self, name: &'a str, content: &'a str) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            remembering()?;
            self.0.add(name, content).await
        })
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<String>, Failure>> {
        self.0.list()
    }
}
