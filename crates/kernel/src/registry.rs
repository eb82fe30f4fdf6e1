//! Tools by name, with their owners. Start at [`Tools::call`].
//!
//! Invariants: a handler only runs with arguments that fit its schema, within a deadline that cancels it,
//! and cannot take the turn down; a result is bounded, and its rest can be read; all that an owner
//! registered leaves with it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use sdk::{Failure, FailureKind, ToolCall, ToolDef, ToolHandler, ToolResult, ToolScope};
use serde_json::{Value, json};

use crate::message::CallRequest;
use crate::quiet::within;
use crate::stages::AbortOnDrop;

mod arguments;
mod rest;

pub use arguments::parsed;
pub use rest::{RESULT_CHARS_MAX, Rests};

/// Limit: longest time of one tool call, where its definition says nothing else.
pub const TOOL_MAX: Duration = Duration::from_secs(60);
/// Limit: tools of all owners together.
pub const TOOLS_MAX: usize = 512;

/// Under this name a result says how it is changed back; the kernel keeps it for `undo`.
pub const UNDO: &str = "_undo";

struct Tool {
    def: ToolDef,
    handler: ToolHandler,
    schema: jsonschema::Validator,
}

#[derive(Default)]
pub struct Tools {
    /// By name, so that models are shown them in a fixed order.
    tools: ArcSwap<ByName>,
    /// What a model is told of all of them, and of which.
    told: ArcSwapOption<(Weak<ByName>, Arc<[ToolDef]>)>,
    rests: Rests,
}

type ByName = BTreeMap<String, Arc<Tool>>;

impl Tools {
    pub fn register(&self, owner: &str, def: ToolDef, handler: ToolHandler) -> Result<(), Failure> {
        let name = def.name.clone();
        check_name(&name)?;
        let parameters = if def.parameters.is_null() { json!({ "type": "object" }) } else { def.parameters.clone() };
        let schema = jsonschema::validator_for(&parameters).map_err(|error| {
            Failure::invalid(format!("the parameters of tool `{name}` are no JSON Schema: {error}"))
        })?;
        let tool = Arc::new(Tool { def: ToolDef { plugin: owner.to_owned(), parameters, ..def }, handler, schema });
        let mut refused = None;
        self.tools.rcu(|tools| {
            let mut tools = BTreeMap::clone(tools);
            refused = match tools.get(&name) {
                Some(other) => Some(Failure::new(
                    FailureKind::Duplicate,
                    format!(
                        "there is a tool `{name}` already, of `{}`: begin the name with the plugin's",
                        other.def.plugin
                    ),
                )),
                None if tools.len() >= TOOLS_MAX => {
                    Some(Failure::new(FailureKind::Full, format!("there are {TOOLS_MAX} tools already")))
                }
                None => {
                    tools.insert(name.clone(), tool.clone());
                    None
                }
            };
            tools
        });
        refused.map_or(Ok(()), Err)
    }

    pub fn remove(&self, owner: &str) {
        self.tools.rcu(|tools| {
            let kept = tools.iter().filter(|(_, tool)| tool.def.plugin != owner);
            kept.map(|(name, tool)| (name.clone(), tool.clone())).collect::<BTreeMap<_, _>>()
        });
    }

    /// What a model is told of all tools.
    pub fn defs(&self) -> Arc<[ToolDef]> {
        let tools = self.tools.load_full();
        if let Some((of, told)) = self.told.load().as_deref()
            && std::ptr::eq(of.as_ptr(), Arc::as_ptr(&tools))
        {
            return told.clone();
        }
        let told: Arc<[ToolDef]> = tools.values().map(|tool| tool.def.clone()).collect();
        // Weak: a plugin that left stays for no longer because of this.
        self.told.store(Some(Arc::new((Arc::downgrade(&tools), told.clone()))));
        told
    }

    pub fn read_only(&self) -> BTreeSet<String> {
        self.tools.load().values().filter(|tool| tool.def.read_only).map(|tool| tool.def.name.clone()).collect()
    }

    /// The plugin of a tool.
    pub fn owner(&self, name: &str) -> String {
        self.tools.load().get(name).map(|tool| tool.def.plugin.clone()).unwrap_or_default()
    }

    /// Calls as a model wrote them, with their owners. Arguments that cannot be read stand as they came
    /// under [`arguments::UNREADABLE`], and are answered as an error when they are called.
    pub fn calls(&self, requests: &[CallRequest]) -> Vec<ToolCall> {
        let call = |request: &CallRequest| ToolCall {
            id: request.id.clone(),
            name: request.name.clone(),
            plugin: self.owner(&request.name),
            arguments: parsed(&request.arguments),
            deny: None,
        };
        requests.iter().map(call).collect()
    }

    /// Runs one call to its end; with what it changed, where it says so under [`UNDO`]. Dropping the future
    /// stops the handler.
    pub async fn call(&self, call: &ToolCall, scope: ToolScope) -> (ToolResult, Value) {
        let found = self.tools.load().get(&call.name).cloned();
        let session = scope.session.clone();
        let done = match found {
            Some(tool) => self.run(&tool, call, scope).await,
            None => Err(self.unknown(&call.name)),
        };
        let (success, result) = match done {
            Ok(value) => (value.get("isError") != Some(&Value::Bool(true)), value),
            Err(value) => (false, value),
        };
        let (result, undo) = without_undo(result);
        let result = self.rests.bounded(&session, &call.id, result);
        let (call_id, name, plugin) = (call.id.clone(), call.name.clone(), call.plugin.clone());
        (ToolResult { call_id, name, plugin, success, result }, undo)
    }

    async fn run(&self, tool: &Tool, call: &ToolCall, scope: ToolScope) -> Result<Value, Value> {
        let given = arguments::fitted(&tool.def.parameters, &call.arguments);
        arguments::checked(&tool.schema, &given)?;
        if tool.def.remembers && scope.no_memory {
            return Err(
                json!({ "isError": true, "code": "no_memory", "error": "nothing of this conversation may be remembered; tell the person" }),
            );
        }
        let deadline = match tool.def.deadline_ms {
            0 => TOOL_MAX,
            set => Duration::from_millis(set),
        };
        let quiet = scope.no_memory;
        let task = tokio::spawn(within(quiet, (tool.handler)(given, scope)));
        let guard = AbortOnDrop(task.abort_handle());
        let ended = tokio::time::timeout(deadline, task).await;
        drop(guard);
        match ended {
            Ok(Ok(Ok(value))) => Ok(value),
            Ok(Ok(Err(failure))) => Err(json!({ "isError": true, "code": failure.kind, "error": failure.message })),
            Ok(Err(_)) => Err(
                json!({ "isError": true, "code": "panicked", "error": format!("the tool `{}` of `{}` failed inside; another call will not help", call.name, tool.def.plugin) }),
            ),
            Err(_) => Err(
                json!({ "isError": true, "code": "timeout", "outcome": if tool.def.read_only { "nothing_changed" } else { "outcome_unknown" }, "error": format!("no result within {} s; it was stopped", deadline.as_secs_f32()) }),
            ),
        }
    }

    /// The text of a long result of this session from this character on.
    pub fn rest(&self, session: &str, call_id: &str, offset: usize) -> Option<Value> {
        self.rests.read(session, call_id, offset)
    }

    fn unknown(&self, name: &str) -> Value {
        let tools = self.tools.load();
        let near: Vec<&String> =
            tools.keys().filter(|known| known.contains(name) || name.contains(known.as_str())).collect();
        json!({ "isError": true, "code": "no_such_tool", "error": format!("there is no tool `{name}`"), "near": near })
    }
}

/// A model need not see how a thing is changed back.
fn without_undo(mut result: Value) -> (Value, Value) {
    let undo = result.as_object_mut().and_then(|map| map.remove(UNDO)).unwrap_or_default();
    (result, undo)
}

/// All three protocols take these letters and this length.
fn check_name(name: &str) -> Result<(), Failure> {
    let fine = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    if name.is_empty() || name.len() > 64 || !name.chars().all(fine) {
        return Err(Failure::invalid(format!("a tool's name is 1 to 64 of a-z, A-Z, 0-9, _ and -: `{name}` is not")));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
