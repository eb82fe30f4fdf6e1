//! The forms in which models print calls, and how each is read. Start at [`FORMS`] and [`parse`].
//!
//! Invariant: a form's opening mark is never part of ordinary prose; what may be prose (a code fence, a
//! bare brace) is handled by the caller, which asks more of it.

use serde_json::{Map, Value};

use super::values;
use crate::calls::Call;
use crate::names::Names;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Parsed {
    Calls(Vec<Call>),
    /// Good so far, and not at its end.
    Incomplete,
    Not,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub open: &'static str,
    /// Without one the form goes on to the end of the text.
    pub close: &'static [&'static str],
    /// The opening mark holds part of the call.
    pub whole: bool,
}

const fn form(open: &'static str, close: &'static [&'static str]) -> Form {
    Form { open, close, whole: false }
}

const fn whole(open: &'static str, close: &'static [&'static str]) -> Form {
    Form { open, close, whole: true }
}

pub(super) const FORMS: &[Form] = &[
    // Hermes, Qwen, GLM and many after them.
    form("<tool_call>", &["</tool_call>"]),
    form("<tool_calls>", &["</tool_calls>"]),
    form("<function_call>", &["</function_call>"]),
    // Granite, Phi.
    form("<|tool_call|>", &["<|/tool_call|>", "</tool_call>"]),
    // Llama, Qwen Coder.
    whole("<function=", &["</function>"]),
    form("<|python_tag|>", &["<|eom_id|>", "<|eot_id|>"]),
    // Anthropic's old form, and those that took it over.
    form("<function_calls>", &["</function_calls>"]),
    whole("<invoke name=", &["</invoke>"]),
    form("<minimax:tool_call>", &["</minimax:tool_call>"]),
    form("<｜DSML｜function_calls>", &["</｜DSML｜function_calls>"]),
    // Mistral.
    form("[TOOL_CALLS]", &["</s>"]),
    // DeepSeek.
    whole("<｜tool▁calls▁begin｜>", &["<｜tool▁calls▁end｜>"]),
    whole("<｜tool▁call▁begin｜>", &["<｜tool▁call▁end｜>"]),
    // Kimi.
    whole("<|tool_calls_section_begin|>", &["<|tool_calls_section_end|>"]),
    // Qwen 2.
    whole("✿FUNCTION✿", &["✿RESULT✿", "✿RETURN✿"]),
];

/// The body of a form, in whichever way it is written.
pub(super) fn parse(body: &str, names: &Names) -> Parsed {
    let json = values::calls(body, false, names);
    if matches!(json, Parsed::Calls(_)) || (json == Parsed::Incomplete && !body.trim().is_empty()) {
        return json;
    }
    let plain = body.replace("｜DSML｜", "");
    let read = if plain.contains("<｜tool▁sep｜>") {
        marked(&plain, "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>", names)
    } else if plain.contains("<|tool_call_argument_begin|>") {
        marked(&plain, "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>", names)
    } else if plain.contains("✿FUNCTION✿") {
        marked(&plain, "✿FUNCTION✿", "✿ARGS✿", "✿RESULT✿", names)
    } else if plain.contains("<function=") {
        elements(&plain, "<function=", "</function>", "<parameter=", "</parameter>", names)
    } else if plain.contains("<invoke name=") {
        elements(&plain, "<invoke name=", "</invoke>", "<parameter name=", "</parameter>", names)
    } else if plain.contains("<arg_key>") {
        keyed(&plain, names)
    } else {
        named(&plain, names)
    };
    read.filter(|calls| !calls.is_empty()).map_or(Parsed::Not, Parsed::Calls)
}

/// `begin name sep arguments end`, repeated. The arguments may stand in a code fence.
fn marked(text: &str, begin: &str, separator: &str, end: &str, names: &Names) -> Option<Vec<Call>> {
    let mut calls = Vec::new();
    for part in text.split(begin).skip(1) {
        let (head, rest) = part.split_once(separator).unwrap_or((part, ""));
        let mut name = head.trim().trim_start_matches(':').trim();
        let mut arguments = rest.split(end).next().unwrap_or_default().trim().trim_start_matches(':').trim();
        // DeepSeek's older form has the word `function` there, and the name before a fence.
        if name == "function"
            && let Some((line, fenced)) = arguments.split_once('\n')
        {
            name = line.trim();
            arguments = fenced.trim();
        }
        let arguments =
            arguments.trim_start_matches("```json").trim_start_matches("```").trim_end_matches("```").trim();
        // Kimi numbers them: `functions.name:0`.
        let name = name.rsplit_once(':').filter(|(_, n)| n.parse::<u32>().is_ok()).map_or(name, |(name, _)| name);
        calls.push(call(name, arguments, names)?);
    }
    Some(calls)
}

/// `<function=name>…</function>` with JSON or with parameter elements inside.
fn elements(
    text: &str,
    open: &str,
    close: &str,
    parameter: &str,
    parameter_close: &str,
    names: &Names,
) -> Option<Vec<Call>> {
    let mut calls = Vec::new();
    for part in text.split(open).skip(1) {
        let (name, rest) = part.split_once('>')?;
        let name = unquoted(name);
        let inside = rest.split(close).next().unwrap_or_default().trim();
        if inside.is_empty() || inside.starts_with('{') {
            calls.push(call(name, inside, names)?);
            continue;
        }
        let mut arguments = Map::new();
        for element in inside.split(parameter).skip(1) {
            let (key, value) = element.split_once('>')?;
            // DeepSeek says beside the key whether the value is text.
            let key = key.split_whitespace().next().map(unquoted).unwrap_or_default();
            let value = value.split(parameter_close).next().unwrap_or_default();
            arguments.insert(key.to_owned(), typed(value.trim_matches('\n'), name, key, names));
        }
        calls.push(call(name, &Value::Object(arguments).to_string(), names)?);
    }
    Some(calls)
}

/// GLM: the name, then `<arg_key>`, `<arg_value>` in turn.
fn keyed(text: &str, names: &Names) -> Option<Vec<Call>> {
    let (name, rest) = text.split_once("<arg_key>")?;
    let mut arguments = Map::new();
    for part in rest.split("<arg_key>") {
        let (key, value) = part.split_once("</arg_key>")?;
        let value = value.split_once("<arg_value>")?.1.split("</arg_value>").next().unwrap_or_default();
        arguments.insert(key.trim().to_owned(), typed(value, name.trim(), key.trim(), names));
    }
    call(name.trim(), &Value::Object(arguments).to_string(), names).map(|call| vec![call])
}

/// `name[ARGS]{…}`, `name{…}` or a name alone; several may follow, each after another mark of Mistral's.
fn named(text: &str, names: &Names) -> Option<Vec<Call>> {
    let parts = text.split("[TOOL_CALLS]").filter(|part| !part.trim().is_empty());
    let calls = parts.map(|part| {
        let (head, arguments) = match part.find('{') {
            Some(at) => part.split_at(at),
            None => (part, ""),
        };
        let name = head.split('[').next().unwrap_or_default().trim();
        call(name, arguments.trim(), names)
    });
    calls.collect()
}

fn call(name: &str, arguments: &str, names: &Names) -> Option<Call> {
    let tool = names.tool(name)?;
    Some(Call { id: String::new(), name: tool.name.clone(), arguments: arguments.to_owned() })
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}

/// In these forms every value is text: the tool's schema says what it should be.
fn typed(text: &str, name: &str, key: &str, names: &Names) -> Value {
    let wanted = names.tool(name).map(|tool| &tool.parameters["properties"][key]["type"]);
    let is_text = wanted.is_some_and(|kind| kind == "string");
    match serde_json::from_str(text.trim()) {
        Ok(value) if !is_text => value,
        _ => Value::String(text.to_owned()),
    }
}
