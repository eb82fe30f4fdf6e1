//! What is shown of a turn. Start at [`Screen::show`]. Invariant: the answer stands on standard output
//! once, whole; what nobody asked for just now is apart from it; colour only on a terminal, never needed to
//! understand.

use std::io::{IsTerminal, Write};

use anyhow::{Context, Result};
use decide::text::clean;
use kernel::agent::AgentEvent;
use kernel::ports::{Answered, Outgoing};
use serde_json::Value;

/// Letters of a tool's arguments or result on one line.
const CARD_CHARS_MAX: usize = 160;
/// A tool's name comes from a model.
const NAME_CHARS_MAX: usize = 64;

pub struct Screen {
    json: bool,
    colour: bool,
    /// Text of the answer as it came so far, on a terminal.
    live: bool,
    shown: String,
    /// A conversation rather than one question: other answers of it stand among them.
    talks: bool,
}

impl Screen {
    pub fn new(json: bool, talks: bool) -> Self {
        let live = std::io::stdout().is_terminal();
        let colour =
            std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { json, colour, live, shown: String::new(), talks }
    }

    pub fn show(&mut self, event: &AgentEvent) -> Result<()> {
        if self.json {
            return put(&format!("{}\n", serde_json::to_string(event)?));
        }
        match event {
            AgentEvent::TextDelta { text, .. } if self.live => {
                let text = clean_lines(text);
                self.shown.push_str(&text);
                put(&text)
            }
            AgentEvent::TextRetracted { .. } if !self.shown.is_empty() => {
                self.shown.clear();
                put("\n")?;
                self.aside("…")
            }
            AgentEvent::ToolStarted { call, .. } => {
                self.end_of_line()?;
                let arguments = Value::Object(call.arguments.clone()).to_string();
                self.aside(&format!("⚙ {} {}", clean(&call.name, NAME_CHARS_MAX), clean(&arguments, CARD_CHARS_MAX)))
            }
            AgentEvent::ToolEnded { result, .. } => {
                let mark = if result.success { "✓" } else { "✗" };
                self.aside(&format!("{mark} {}", clean(&in_short(&result.result), CARD_CHARS_MAX)))
            }
            AgentEvent::Problem { owner, message, .. } => {
                self.aside(&format!("! {}: {}", clean(owner, NAME_CHARS_MAX), clean(message, 400)))
            }
            AgentEvent::Postponed { message, .. } => {
                self.end_of_line()?;
                self.aside(&format!("! {message}"))
            }
            AgentEvent::TurnEnded { answered, .. } => self.ended(&answered.reply),
            _ => Ok(()),
        }
    }

    /// The answer of another turn that came before this one's.
    pub fn between(&self, answered: &Answered) -> Result<()> {
        if self.talks { put(&self.by_itself(answered)?) } else { self.aside(&clean_lines(&answered.reply)) }
    }

    /// A reply that nobody has seen, from before.
    pub fn missed(&self, reply: &Outgoing) -> Result<()> {
        let text = clean_lines(&reply.reply);
        match (self.json, self.talks) {
            (true, true) => put(&format!("{}\n", serde_json::json!({ "type": "missed", "reply": reply }))),
            (false, true) => put(&format!("{text}\n")),
            _ => self.aside(&text),
        }
    }

    /// What nobody asked for just now, as lines of its own.
    pub fn by_itself(&self, answered: &Answered) -> Result<String> {
        if self.json {
            let (session, turn) = (answered.session.clone(), answered.turn.clone());
            let event = AgentEvent::TurnEnded { session, turn, answered: Box::new(answered.clone()) };
            return Ok(format!("{}\n", serde_json::to_string(&event)?));
        }
        Ok(format!("{}\n", clean_lines(&answered.reply)))
    }

    /// What was not shown as it came; corrections and accounts of our own come at the end.
    fn ended(&mut self, reply: &str) -> Result<()> {
        let reply = clean_lines(reply);
        let shown = std::mem::take(&mut self.shown);
        let rest = match reply.strip_prefix(shown.as_str()) {
            Some(rest) => rest.to_owned(),
            None => format!("\n{reply}"),
        };
        put(&format!("{rest}\n"))
    }

    fn end_of_line(&mut self) -> Result<()> {
        if std::mem::take(&mut self.shown).is_empty() { Ok(()) } else { put("\n") }
    }

    fn aside(&self, text: &str) -> Result<()> {
        if self.colour {
            eprintln!("\x1b[2m{text}\x1b[0m")
        } else {
            eprintln!("{text}")
        }
        Ok(())
    }
}

/// The part of a result that a person wants to see.
fn in_short(result: &Value) -> String {
    let text = |key: &str| result.get(key).and_then(Value::as_str).map(str::to_owned);
    if result.get("ran") == Some(&Value::Bool(true))
        && let Some(name) = result.pointer("/match/name").and_then(Value::as_str)
    {
        return name.to_owned();
    }
    let outcomes = result.get("outcomes").and_then(Value::as_array).map(|outcomes| {
        let one = |outcome: &Value| {
            format!(
                "{} {}",
                outcome["name"].as_str().unwrap_or_default(),
                outcome["state"].as_str().unwrap_or_else(|| outcome["outcome"].as_str().unwrap_or_default())
            )
        };
        outcomes.iter().map(one).collect::<Vec<_>>().join(", ")
    });
    let outcomes = outcomes.filter(|text| !text.is_empty());
    text("message")
        .or(outcomes)
        .or_else(|| text("error"))
        .or_else(|| text("note"))
        .unwrap_or_else(|| result.to_string())
}

/// A model's text on a terminal: line breaks stay, control characters do not.
fn clean_lines(text: &str) -> String {
    let kept = |letter: &char| *letter == '\n' || *letter == '\t' || !decide::text::invisible(*letter);
    text.chars().filter(kept).collect()
}

fn put(text: &str) -> Result<()> {
    let mut out = std::io::stdout();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("nobody reads the answer")
}
