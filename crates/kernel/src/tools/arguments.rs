//! Definitions made short, and arguments read. Start at [`definition`] and [`Arguments`]. Invariant: all
//! that is wrong with the arguments of a call is told at once, each with the name of its field.

use decide::text::{clean, clean_lines};
use decide::when::Zone;
use sdk::{Failure, FailureKind, ToolDef, ToolHandler, ToolScope, tool_handler};
use serde_json::{Map, Value, json};

/// A tool whose parameters are these properties.
pub(super) fn definition(name: &str, description: &str, properties: Value, required: &[&str]) -> ToolDef {
    ToolDef {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        }),
        ..ToolDef::default()
    }
}

pub(super) type Tool = (ToolDef, ToolHandler);

/// A tool run by a function of its desk (what it needs), the arguments and the scope. One that writes to a
/// memory does nothing in a turn that must not be remembered.
pub(super) fn handled<D, F, R>(definition: ToolDef, desk: &D, run: F) -> Tool
where
    D: Clone + Send + Sync + 'static,
    F: Fn(D, Map<String, Value>, ToolScope) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Value, Failure>> + Send + 'static,
{
    let (desk, remembers) = (desk.clone(), definition.remembers);
    let handler = tool_handler(move |given, scope: ToolScope| {
        let running = if remembers && scope.no_memory { None } else { Some(run(desk.clone(), given, scope)) };
        async move {
            match running {
                Some(running) => running.await,
                None => Err(Failure::new(
                    FailureKind::Forbidden,
                    "nothing of this turn may be remembered: no memory was changed",
                )),
            }
        }
    });
    (definition, handler)
}

pub(super) fn is_chinese(language: &str) -> bool {
    language == "zh"
}

/// The same in the person's language.
pub(super) fn say(language: &str, english: impl Into<String>, chinese: impl Into<String>) -> String {
    if is_chinese(language) { chinese.into() } else { english.into() }
}

/// The arguments of one call, and what is wrong with them so far.
pub(super) struct Arguments {
    given: Map<String, Value>,
    wrong: Vec<String>,
}

impl Arguments {
    pub(super) fn new(given: Map<String, Value>) -> Self {
        Self { given, wrong: Vec::new() }
    }

    pub(super) fn wrong(&mut self, field: &str, what: impl std::fmt::Display) {
        self.wrong.push(format!("`{field}` {what}"));
    }

    /// Text without invisible characters, on one line; none where it is missing or empty.
    pub(super) fn line(&mut self, field: &str, chars_max: usize) -> Option<String> {
        let text = self.given.get(field)?.as_str()?;
        if text.chars().count() > chars_max {
            self.wrong(field, format!("is longer than {chars_max} characters: shorten it"));
            return None;
        }
        Some(clean(text, chars_max)).filter(|text| !text.is_empty())
    }

    /// The same where it must be there.
    pub(super) fn needed_line(&mut self, field: &str, chars_max: usize) -> String {
        let before = self.wrong.len();
        let found = self.line(field, chars_max);
        if found.is_none() && self.wrong.len() == before {
            self.wrong(field, "is missing or empty: give it");
        }
        found.unwrap_or_default()
    }

    /// Text with its line breaks, otherwise without control characters.
    pub(super) fn text(&mut self, field: &str, chars_max: usize) -> Option<String> {
        let text = self.given.get(field)?.as_str()?;
        let count = text.chars().count();
        if count > chars_max {
            self.wrong(field, format!("has {count} characters: at most {chars_max} fit, give it in parts"));
            return None;
        }
        Some(clean_lines(text, chars_max)).filter(|text| !text.trim().is_empty())
    }

    /// The same where it must be there.
    pub(super) fn needed_text(&mut self, field: &str, chars_max: usize) -> String {
        let before = self.wrong.len();
        let found = self.text(field, chars_max);
        if found.is_none() && self.wrong.len() == before {
            self.wrong(field, "is missing or empty: give it");
        }
        found.unwrap_or_default()
    }

    pub(super) fn whole(&mut self, field: &str, standard: u64, max: u64) -> u64 {
        match self.given.get(field).map(|value| value.as_u64()) {
            None => standard,
            Some(Some(number)) if number <= max => number,
            Some(_) => {
                self.wrong(field, format!("must be a whole number from 0 to {max}"));
                standard
            }
        }
    }

    pub(super) fn flag(&self, field: &str, standard: bool) -> bool {
        self.given.get(field).and_then(Value::as_bool).unwrap_or(standard)
    }

    pub(super) fn value(&self, field: &str) -> Option<&Value> {
        self.given.get(field)
    }

    /// Texts of a list, or one text with commas between.
    pub(super) fn list(&self, field: &str, count_max: usize) -> Vec<String> {
        let parts: Vec<&str> = match self.given.get(field) {
            Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(text)) => text.split([',', '，', '、']).collect(),
            _ => Vec::new(),
        };
        let parts = parts.into_iter().map(|part| clean(part, 200)).filter(|part| !part.is_empty());
        parts.take(count_max).collect()
    }

    /// The day that a field names, from its first moment to its last.
    pub(super) fn day(&mut self, field: &str, zone: &Zone) -> Option<(i64, i64)> {
        let text = self.line(field, 40)?;
        match zone.day(&text) {
            Some(day) => Some(day),
            None => {
                self.wrong(field, "is no date: write 2026-11-30");
                None
            }
        }
    }

    pub(super) fn done(self) -> Result<(), Failure> {
        if self.wrong.is_empty() {
            return Ok(());
        }
        Err(Failure::invalid(format!("{}. Nothing was done.", self.wrong.join("; "))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_wrong_is_told_at_once() {
        let mut arguments = Arguments::new(json!({"a": "", "n": -1}).as_object().unwrap().clone());
        arguments.needed_line("a", 10);
        arguments.needed_line("b", 10);
        arguments.whole("n", 5, 10);
        let failure = arguments.done().unwrap_err();
        for field in ["`a`", "`b`", "`n`"] {
            assert!(failure.message.contains(field), "{failure}");
        }
    }
}
