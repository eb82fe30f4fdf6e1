//! The house as the kernel's tools: the six of [`mcp::tools`], with what undo needs. Start at
//! [`register_house`].
//!
//! Invariant: every write goes through the same tool functions as over MCP, and so through the gate.

use decide::gate::Language;
use decide::house::{EntityId, House};
use decide::restore::{calls_back, entity_of, remembered};
use kernel::agent::Agent;
use kernel::ports::{BoxFuture, Failure, Undo};
use kernel::registry::UNDO;
use mcp::Desk;
use mcp::tools::catalogue::catalogue;
use sdk::{ToolDef, tool_handler};
use serde_json::{Map, Value, json};

/// Who owns the tools of the house.
pub const OWNER: &str = "house";
/// Entities of one turn that undo remembers.
const REMEMBERED_MAX: usize = 200;

/// A desk that speaks the person's language.
fn speaking(desk: &Desk, language: &str) -> Desk {
    let mut desk = desk.clone();
    desk.language = if language == "zh" { Language::Chinese } else { Language::English };
    desk
}

pub fn register_house(agent: &Agent, desk: &Desk) -> Result<(), Failure> {
    for tool in catalogue() {
        let def = ToolDef {
            name: tool.name.to_owned(),
            description: tool.description.to_owned(),
            parameters: Value::Object(tool.input),
            read_only: !tool.writes,
            untrusted: true,
            ..ToolDef::default()
        };
        let (desk, name) = (desk.clone(), tool.name);
        let handler = tool_handler(move |arguments, scope| {
            let desk = speaking(&desk, &scope.language);
            async move { Ok(call(&desk, name, &arguments).await) }
        });
        agent.tools().register(OWNER, def, handler)?;
    }
    Ok(())
}

async fn call(desk: &Desk, name: &str, arguments: &Map<String, Value>) -> Value {
    // The immutable picture from before, and for a macro what it reaches.
    let before = desk.connection.house();
    let reached = match name {
        "run_macro" => reached(&mcp::tools::macros::preview_macro(desk, &only_phrase(arguments)).await),
        _ => vec![],
    };
    let Some(mut answer) = mcp::tools::call(desk, name, arguments).await else {
        return json!({ "isError": true, "error": "no such tool" });
    };
    if answer.get("ok") == Some(&json!(false)) {
        // The kernel's own mark, beside the tools'.
        answer["isError"] = json!(true);
    }
    let moved = match name {
        "call_service" => outcomes(&answer),
        "run_macro" if answer.get("ran") == Some(&json!(true)) => reached,
        _ => vec![],
    };
    let kept = kept(&before, &moved);
    if !kept.is_empty() {
        answer[UNDO] = json!(kept);
    }
    answer
}

fn only_phrase(arguments: &Map<String, Value>) -> Map<String, Value> {
    arguments.iter().filter(|(name, _)| *name == "phrase").map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn ids(rows: Option<&Value>) -> Vec<EntityId> {
    let rows = rows.and_then(Value::as_array);
    let id = |row: &Value| EntityId::parse(row.get("entity_id")?.as_str()?);
    rows.into_iter().flatten().filter_map(id).collect()
}

fn reached(preview: &Value) -> Vec<EntityId> {
    ids(preview.get("would"))
}

fn outcomes(answer: &Value) -> Vec<EntityId> {
    ids(answer.get("outcomes"))
}

fn kept(before: &House, moved: &[EntityId]) -> Vec<Value> {
    let state = |id: &EntityId| remembered(id, before.entity(id.as_str())?);
    moved.iter().take(REMEMBERED_MAX).filter_map(state).collect()
}

/// Puts a house back as it was.
pub struct HouseUndo(pub Desk);

impl Undo for HouseUndo {
    fn undo<'a>(&'a self, changes: Value, language: &'a str) -> BoxFuture<'a, Value> {
        Box::pin(async move {
            let desk = speaking(&self.0, language);
            let house = desk.connection.house();
            // The newest change first; of one thing the oldest state is the one from before the turn.
            let states: Vec<&Value> =
                changes.as_array().into_iter().flatten().filter_map(Value::as_array).flatten().collect();
            let mut seen: Vec<EntityId> = vec![];
            let mut answers = vec![];
            for before in states {
                let Some(id) = entity_of(before).filter(|id| !seen.contains(id)) else { continue };
                for call in calls_back(before, house.entity(id.as_str())) {
                    let Value::Object(arguments) = json!(call) else { continue };
                    answers.extend(mcp::tools::call(&desk, "call_service", &arguments).await);
                }
                seen.push(id);
            }
            told(&answers, language == "zh")
        })
    }
}

fn told(answers: &[Value], zh: bool) -> Value {
    let outcomes: Vec<&Value> = answers.iter().filter_map(|answer| answer["outcomes"].as_array()).flatten().collect();
    let failed: Vec<&str> =
        answers.iter().filter(|answer| answer["ok"] == false).filter_map(|answer| answer["message"].as_str()).collect();
    let mut result = json!({ "ok": failed.is_empty(), "undone": !outcomes.is_empty(), "outcomes": outcomes });
    if answers.is_empty() {
        result["reason"] =
            json!(if zh { "一切都和之前一样，无需撤销" } else { "everything is as it was already" });
    }
    if !failed.is_empty() {
        result["isError"] = json!(true);
        result["message"] = json!(failed.join(" "));
    }
    result
}
