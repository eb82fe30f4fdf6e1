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
use sdk::{ToolDef, ToolScope, tool_handler};
use serde_json::{Map, Value, json};

use super::askers::Askers;

/// Who owns the tools of the house.
pub const OWNER: &str = "house";
/// Entities of one turn that undo remembers.
const REMEMBERED_MAX: usize = 200;

/// A desk that speaks the person's language, for this conversation.
fn speaking(desk: &Desk, language: &str, session: &str) -> Desk {
    let mut desk = desk.clone();
    desk.session = session.into();
    desk.language = if language == "zh" { Language::Chinese } else { Language::English };
    desk
}

pub fn register_house(agent: &Agent, desk: &Desk, asked: &Askers) -> Result<(), Failure> {
    for tool in catalogue() {
        let def = ToolDef {
            name: tool.name.to_owned(),
            description: tool.description.to_owned(),
            parameters: Value::Object(tool.input),
            read_only: !tool.writes,
            untrusted: true,
            ..ToolDef::default()
        };
        let (desk, name, asked) = (desk.clone(), tool.name, asked.clone());
        let handler = tool_handler(move |arguments, scope| {
            let (desk, asked) = (speaking(&desk, &scope.language, &scope.session), asked.clone());
            async move {
                if name == "call_service" && foreign_words(&arguments, &scope) {
                    return Ok(asks_first(&scope.language));
                }
                let answer = call(&desk, name, &arguments).await;
                if let Some(id) = answer.pointer("/approval/id").and_then(Value::as_str) {
                    asked.remember(id, &scope);
                }
                Ok(answer)
            }
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

/// Whether a display would show words that the person did not say: a sign at the door is read by whoever
/// stands before it, and a model may have been told what to write there.
fn foreign_words(arguments: &Map<String, Value>, scope: &ToolScope) -> bool {
    let said = letters(&scope.said);
    scope.tainted && shown(arguments).iter().any(|words| !said.contains(&letters(words)))
}

/// What this call would write on displays: `text.set_value`, and a scene that gives them a state.
fn shown(arguments: &Map<String, Value>) -> Vec<String> {
    let small = |key: &str| arguments.get(key).and_then(Value::as_str).unwrap_or_default().trim().to_lowercase();
    let data = arguments.get("data");
    match (small("domain").as_str(), small("service").as_str()) {
        ("text", "set_value") => data.and_then(|data| data.get("value")).map(words).into_iter().collect(),
        ("scene", "apply") => {
            let entities = data.and_then(|data| data.get("entities")).and_then(Value::as_object);
            let signs = entities.into_iter().flatten().filter(|(id, _)| id.trim().to_lowercase().starts_with("text."));
            signs.map(|(_, state)| words(state.get("state").unwrap_or(state))).collect()
        }
        _ => vec![],
    }
}

fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Letters and digits alone: signs and case are the model's to choose.
fn letters(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn asks_first(language: &str) -> Value {
    let message = match language {
        "zh" => "显示屏上只写用户这次说过的原话，什么都没有执行：请用户说出要写的内容。",
        _ => {
            "A display is given only words that the person said in this message, and nothing was done: ask the person for the exact words."
        }
    };
    json!({ "isError": true, "ok": false, "refused": true, "error": "needs_confirmation", "message": message })
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
            let desk = speaking(&self.0, language, "");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_display_shows_what_the_person_said_and_nothing_else() {
        let asks = |said: &str, call: Value| {
            let scope = ToolScope { tainted: true, said: said.into(), ..ToolScope::default() };
            foreign_words(call.as_object().unwrap(), &scope)
        };
        let sign = |value: Value| json!({"domain": " Text ", "service": "set_value", "entity_id": "text.sign", "data": {"value": value}});
        for (said, value) in [
            ("Set the door sign to 'Back at five'", json!("back at five!")),
            ("电子门牌写上“宝宝睡觉，请勿敲门”", json!("宝宝睡觉，请勿敲门")),
            ("clear the sign", json!("")),
            ("room 7", json!(7)),
        ] {
            assert!(!asks(said, sign(value.clone())), "{value}");
        }
        for (said, value) in [
            ("Set the door sign to 'Back at five'", json!("Nobody home, back at five")),
            ("what is on the list?", json!("4711")),
            ("", json!("x")),
            ("welcome", json!({"a": "b"})),
        ] {
            assert!(asks(said, sign(value.clone())), "{value}");
        }
        let scene = |state: Value| json!({"domain": "scene", "service": "apply", "data": {"entities": {"Text.Sign": state, "light.a": "on"}}});
        assert!(asks("dinner", scene(json!("away"))) && asks("dinner", scene(json!({"state": "away"}))));
        assert!(!asks("write: away", scene(json!({"state": "away"}))));
        assert!(!asks("", json!({"domain": "light", "service": "turn_on", "data": {"value": "x"}})));
    }
}
