//! Tools of the kernel itself. Start at [`register`]. Invariant: they work on ports, like everybody's.

use std::sync::Weak;

use sdk::{Failure, ToolDef, tool_handler};
use serde_json::{Value, json};

use super::{Agent, Inner};

/// Who owns the kernel's own tools.
pub const OWNER: &str = "kernel";

pub fn register(agent: &Agent) -> Result<(), Failure> {
    // Weak, or the agent would own itself and never go.
    let inner = std::sync::Arc::downgrade(&agent.0);
    read_result(agent, inner.clone())?;
    undo(agent, inner.clone())?;
    list_sources(agent, inner.clone())?;
    set_source(agent, inner)
}

fn alive(inner: &Weak<Inner>) -> Result<Agent, Failure> {
    inner.upgrade().map(Agent).ok_or_else(|| Failure::failed("the agent has ended"))
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn read_result(agent: &Agent, inner: Weak<Inner>) -> Result<(), Failure> {
    let def = ToolDef {
        name: "read_result".into(),
        description: "Read on in a tool result that was truncated.".into(),
        parameters: object(
            json!({ "call_id": { "type": "string" }, "offset": { "type": "integer", "minimum": 0 } }),
            &["call_id", "offset"],
        ),
        read_only: true,
        ..ToolDef::default()
    };
    let handler = tool_handler(move |arguments, _| {
        let agent = alive(&inner);
        async move {
            let id = arguments.get("call_id").and_then(Value::as_str).unwrap_or_default();
            let offset = arguments.get("offset").and_then(Value::as_u64).unwrap_or(0);
            let offset = usize::try_from(offset).unwrap_or(usize::MAX);
            agent?.0.tools.rest(id, offset).ok_or_else(|| {
                Failure::not_found("no such result is kept any more: call the tool again with a narrower question")
            })
        }
    });
    agent.0.tools.register(OWNER, def, handler)
}

fn undo(agent: &Agent, inner: Weak<Inner>) -> Result<(), Failure> {
    let def = ToolDef {
        name: "undo".into(),
        description: "Change back what the last turn of this conversation changed in the house (撤销). Doors and locks ask as always.".into(),
        parameters: object(json!({}), &[]),
        ..ToolDef::default()
    };
    let handler = tool_handler(move |_, scope| {
        let agent = alive(&inner);
        async move {
            let agent = agent?;
            let ports = &agent.0.ports;
            let Some((turn, changes)) = ports.turns.last_changes(&scope.session).await? else {
                let reason = if scope.language == "zh" {
                    "没有可以撤销的改动"
                } else {
                    "there is nothing that could be changed back"
                };
                return Ok(json!({ "ok": true, "undone": false, "reason": reason }));
            };
            // Marked first: a second "undo" must not run the same way back again.
            ports.turns.mark_undone(&turn).await?;
            Ok(ports.undo.undo(changes, &scope.language).await)
        }
    });
    agent.0.tools.register(OWNER, def, handler)
}

fn list_sources(agent: &Agent, inner: Weak<Inner>) -> Result<(), Failure> {
    let def = ToolDef {
        name: "llm_list_sources".into(),
        description: "The language models that can be used, and which one is.".into(),
        parameters: object(json!({}), &[]),
        read_only: true,
        ..ToolDef::default()
    };
    let handler = tool_handler(move |_, _| {
        let agent = alive(&inner);
        async move {
            let agent = agent?;
            let llm = &agent.0.ports.llm;
            Ok(json!({ "sources": llm.list_sources(), "current": llm.current_source() }))
        }
    });
    agent.0.tools.register(OWNER, def, handler)
}

fn set_source(agent: &Agent, inner: Weak<Inner>) -> Result<(), Failure> {
    let def = ToolDef {
        name: "llm_set_source".into(),
        description: "Use another language model from the next request on; only one of llm_list_sources.".into(),
        parameters: object(json!({ "name": { "type": "string" } }), &["name"]),
        ..ToolDef::default()
    };
    let handler = tool_handler(move |arguments, _| {
        let agent = alive(&inner);
        async move {
            let name = arguments.get("name").and_then(Value::as_str).unwrap_or_default();
            let agent = agent?;
            agent.0.ports.llm.set_source(name)?;
            Ok(json!({ "ok": true, "current": agent.0.ports.llm.current_source() }))
        }
    });
    agent.0.tools.register(OWNER, def, handler)
}
