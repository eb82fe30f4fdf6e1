//! A plugin and what it is handed. Start at [`Plugin`].
//!
//! Invariant: everything a plugin does through its [`PluginSdk`] is done in its own name, which it
//! cannot change; when it stops, all that it registered leaves with it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    DocMemoryApi, Failure, KnowledgeApi, LlmApi, MemoryApi, SettingsApi, Stage, StageHandler, TextMemoryApi, ToolDef,
    ToolHandler,
};

pub trait Plugin: Send + Sync {
    /// The name under which it is registered.
    fn name(&self) -> &str;
    /// Register tools, stage handlers and settings here.
    fn start(&mut self, sdk: PluginSdk) -> Result<(), Failure>;
    /// Close what was opened.
    fn stop(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InjectionKind {
    /// Waits its turn.
    #[default]
    Text,
    /// Goes first, and joins or pre-empts a turn under way.
    Interrupt,
    /// Waits its turn and is not remembered.
    NoMemory,
}

/// A message that a plugin puts in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Injection {
    pub kind: InjectionKind,
    /// Who puts it in: the plugin.
    pub source: String,
    /// The conversation it belongs to, and where the answer goes.
    pub channel: String,
    pub text: String,
    pub user_id: String,
    pub group_id: String,
}

/// What the kernel offers to plugins; each call names the plugin that makes it.
pub trait Host: Send + Sync {
    fn register_tool(&self, plugin: &str, def: ToolDef, handler: ToolHandler) -> Result<(), Failure>;
    fn register_stage(
        &self,
        plugin: &str,
        stage: Stage,
        own_tools_only: bool,
        handler: StageHandler,
    ) -> Result<(), Failure>;
    /// Returns when the message is safely kept.
    fn inject(&self, injection: Injection) -> crate::BoxFuture<'_, Result<(), Failure>>;
    fn settings(&self, plugin: &str) -> Arc<dyn SettingsApi>;
    fn memory(&self, plugin: &str) -> Arc<dyn MemoryApi>;
    fn text_memory(&self, plugin: &str) -> Arc<dyn TextMemoryApi>;
    fn doc_memory(&self, plugin: &str) -> Arc<dyn DocMemoryApi>;
    fn knowledge(&self, plugin: &str) -> Arc<dyn KnowledgeApi>;
    fn llm(&self, plugin: &str) -> Arc<dyn LlmApi>;
}

/// A plugin's own door to the kernel.
#[derive(Clone)]
pub struct PluginSdk {
    plugin: Arc<str>,
    host: Arc<dyn Host>,
}

impl PluginSdk {
    pub fn new(plugin: &str, host: Arc<dyn Host>) -> Self {
        Self { plugin: plugin.into(), host }
    }

    pub fn name(&self) -> &str {
        &self.plugin
    }

    pub fn register_tool(&self, name: &str, def: ToolDef, handler: ToolHandler) -> Result<(), Failure> {
        let def = ToolDef { name: name.to_owned(), plugin: self.plugin.to_string(), ..def };
        self.host.register_tool(&self.plugin, def, handler)
    }

    pub fn register_stage(&self, stage: Stage, handler: StageHandler) -> Result<(), Failure> {
        self.host.register_stage(&self.plugin, stage, false, handler)
    }

    /// In `before_toolcall` and `after_toolcall` only for this plugin's own tools; elsewhere the same as
    /// [`PluginSdk::register_stage`].
    pub fn register_stage_own_tools(&self, stage: Stage, handler: StageHandler) -> Result<(), Failure> {
        self.host.register_stage(&self.plugin, stage, true, handler)
    }

    pub async fn inject_text(&self, source: &str, channel: &str, text: &str) -> Result<(), Failure> {
        self.inject(InjectionKind::Text, source, channel, text).await
    }

    pub async fn inject_interrupt_text(&self, source: &str, channel: &str, text: &str) -> Result<(), Failure> {
        self.inject(InjectionKind::Interrupt, source, channel, text).await
    }

    pub async fn inject_text_no_memory(&self, source: &str, channel: &str, text: &str) -> Result<(), Failure> {
        self.inject(InjectionKind::NoMemory, source, channel, text).await
    }

    async fn inject(&self, kind: InjectionKind, source: &str, channel: &str, text: &str) -> Result<(), Failure> {
        let owned = |text: &str| text.to_owned();
        let injection = Injection {
            kind,
            source: owned(source),
            channel: owned(channel),
            text: owned(text),
            ..Injection::default()
        };
        self.host.inject(injection).await
    }

    pub fn settings(&self) -> Arc<dyn SettingsApi> {
        self.host.settings(&self.plugin)
    }

    pub fn memory(&self) -> Arc<dyn MemoryApi> {
        self.host.memory(&self.plugin)
    }

    pub fn text_memory(&self) -> Arc<dyn TextMemoryApi> {
        self.host.text_memory(&self.plugin)
    }

    pub fn doc_memory(&self) -> Arc<dyn DocMemoryApi> {
        self.host.doc_memory(&self.plugin)
    }

    pub fn knowledge(&self) -> Arc<dyn KnowledgeApi> {
        self.host.knowledge(&self.plugin)
    }

    pub fn llm(&self) -> Arc<dyn LlmApi> {
        self.host.llm(&self.plugin)
    }
}
