//! All that the author of a plugin sees: implement [`Plugin`], register tools and stage handlers on
//! the [`PluginSdk`] that `start` receives.
//!
//! Start at [`Plugin`]. Names and fields are those of the PluginSDK API, so that a plugin's documents
//! stay true. Invariant: nothing here depends on any other crate of this project.

mod failure;
mod knowledge;
mod memory;
mod plugin;
mod settings;
mod stage;
mod tool;

pub use failure::{Failure, FailureKind};
pub use knowledge::{Knowledge, KnowledgeApi, LlmApi};
pub use memory::{
    Doc, DocMemoryApi, Entity, MemoryApi, PurgeCriteria, PurgeMode, Recalled, Relation, TextEvent, TextMemoryApi,
    Triple,
};
pub use plugin::{Host, Injection, InjectionKind, Plugin, PluginSdk};
pub use settings::{ConfigDef, ConfigType, SettingsApi};
pub use stage::{MemItem, Stage, StageContext, StageHandler, stage_handler};
pub use tool::{Deny, ToolCall, ToolDef, ToolHandler, ToolResult, ToolScope, tool_handler};

/// A future that a trait object can return.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
