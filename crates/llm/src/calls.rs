//! Tool calls put together from fragments. Start at [`Fragments::add`].
//!
//! Invariant: a call comes out whole or not at all; its arguments are JSON text and never empty.

use serde_json::{Map, Value};

/// A call as far as it is known, under the name that the model wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Call {
    /// Empty where the provider gave none.
    pub id: String,
    pub name: String,
    pub arguments: String,
}

/// One fragment in the form of OpenAI's `tool_calls[]`.
#[derive(Clone, Debug, Default)]
struct Fragment<'a> {
    index: Option<u64>,
    id: &'a str,
    name: &'a str,
    arguments: String,
}

#[derive(Default)]
pub(crate) struct Fragments {
    /// With the index that the provider gave, in the order of their first fragments.
    calls: Vec<(Option<u64>, Call)>,
    /// What a provider wants back with the call of this id, and does not say what it is.
    extras: Map<String, Value>,
}

impl Fragments {
    /// Servers differ in what a fragment names: index and id (OpenAI), index alone after the first, id
    /// alone, index 0 for every call with an id of its own (Gemini), or nothing at all.
    pub fn add(&mut self, value: &Value) {
        let function = if value["function"].is_object() { &value["function"] } else { value };
        let fragment = Fragment {
            index: value["index"].as_u64(),
            id: value["id"].as_str().unwrap_or_default(),
            name: function["name"].as_str().unwrap_or_default(),
            arguments: arguments_text(&function["arguments"]),
        };
        let at = self.place(&fragment);
        let Some((_, call)) = self.calls.get_mut(at) else { return };
        if call.id.is_empty() {
            call.id = fragment.id.to_owned();
        }
        // Some servers say the name again in every fragment, a few send it in pieces before the arguments.
        if call.name.is_empty() || (call.arguments.is_empty() && call.name != fragment.name) {
            call.name.push_str(fragment.name);
        }
        call.arguments.push_str(&fragment.arguments);
        // Gemini's signatures.
        if value["extra_content"].is_object() && !call.id.is_empty() {
            self.extras.insert(call.id.clone(), value["extra_content"].clone());
        }
    }

    pub fn take_extras(&mut self) -> Map<String, Value> {
        std::mem::take(&mut self.extras)
    }

    /// Where the fragment belongs; a new place is made where it begins a call.
    fn place(&mut self, fragment: &Fragment<'_>) -> usize {
        let new_id = |call: &Call| !fragment.id.is_empty() && !call.id.is_empty() && call.id != fragment.id;
        let found = match fragment.index {
            Some(index) => self.calls.iter().rposition(|(at, call)| {
                let another = new_id(call) && !fragment.name.is_empty();
                *at == Some(index) && !another
            }),
            None if !fragment.id.is_empty() => self.calls.iter().rposition(|(_, call)| call.id == fragment.id),
            // Neither index nor id: a name begins a call, anything else goes on with the last one.
            None if fragment.name.is_empty() => self.calls.len().checked_sub(1),
            None => None,
        };
        found.unwrap_or_else(|| {
            self.calls.push((fragment.index, Call::default()));
            self.calls.len() - 1
        })
    }

    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// All calls with a name.
    pub fn take(&mut self) -> Vec<Call> {
        let calls = std::mem::take(&mut self.calls).into_iter().map(|(_, call)| call);
        calls.filter(|call| !call.name.trim().is_empty()).collect()
    }
}

/// Arguments come as text, as an object, or not at all.
pub(crate) fn arguments_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// As it goes to the kernel: no arguments are an empty object, and text within text is opened once.
pub(crate) fn finished_arguments(arguments: &str) -> String {
    let text = arguments.trim();
    if text.is_empty() || text == "null" {
        return "{}".to_owned();
    }
    match serde_json::from_str::<String>(text) {
        Ok(inner) if inner.trim().is_empty() => "{}".to_owned(),
        Ok(inner) if inner.trim_start().starts_with('{') => inner,
        _ => text.to_owned(),
    }
}

/// As it goes back to a provider: an object always, for many servers parse it and fail on anything else.
pub(crate) fn arguments_object(arguments: &str) -> Value {
    match serde_json::from_str::<Value>(arguments) {
        Ok(value @ Value::Object(_)) => value,
        _ => Value::Object(Map::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(fragments: &[Value], expected: &[(&str, &str, &str)]) {
        let mut calls = Fragments::default();
        for fragment in fragments {
            calls.add(fragment);
        }
        let found = calls.take();
        let found: Vec<_> = found.iter().map(|c| (c.id.as_str(), c.name.as_str(), c.arguments.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn fragments_of_two_interleaved_calls_find_their_places() {
        check(
            &[
                json!({"index": 0, "id": "a", "function": {"name": "one", "arguments": ""}}),
                json!({"index": 1, "id": "b", "function": {"name": "two", "arguments": ""}}),
                json!({"index": 0, "function": {"arguments": "{\"x\":"}}),
                json!({"index": 1, "function": {"arguments": "{\"y\":"}}),
                json!({"index": 0, "id": null, "function": {"arguments": "1}"}}),
                json!({"index": 1, "id": "", "function": {"name": "", "arguments": "2}"}}),
            ],
            &[("a", "one", "{\"x\":1}"), ("b", "two", "{\"y\":2}")],
        );
    }

    #[test]
    fn ids_and_indices_may_be_missing_in_every_way_that_servers_leave_them_out() {
        let named = |name: &str, arguments: &str| json!({"function": {"name": name, "arguments": arguments}});
        check(
            &[named("one", "{}"), named("two", "{\"a\""), named("", ":1}")],
            &[("", "one", "{}"), ("", "two", "{\"a\":1}")],
        );
        let id = |id: &str, name: &str, arguments: &str| json!({"id": id, "function": {"name": name, "arguments": arguments}});
        check(
            &[id("a", "one", "{"), id("b", "two", "{}"), id("a", "", "}")],
            &[("a", "one", "{}"), ("b", "two", "{}")],
        );
    }

    #[test]
    fn calls_that_all_have_index_0_are_told_apart_by_their_ids() {
        let whole = |id: &str, name: &str| json!({"index": 0, "id": id, "function": {"name": name, "arguments": "{}"}});
        check(&[whole("a", "one"), whole("b", "one")], &[("a", "one", "{}"), ("b", "one", "{}")]);
    }

    #[test]
    fn a_name_may_be_repeated_or_come_in_pieces() {
        let part = |name: &str, arguments: &str| json!({"index": 0, "id": "a", "function": {"name": name, "arguments": arguments}});
        check(&[part("get_time", "{"), part("get_time", "}")], &[("a", "get_time", "{}")]);
        check(&[part("get_", ""), part("time", ""), part("", "{}")], &[("a", "get_time", "{}")]);
    }

    #[test]
    fn arguments_may_be_an_object_or_nothing_or_text_within_text() {
        check(&[json!({"function": {"name": "one", "arguments": {"x": 1}}})], &[("", "one", "{\"x\":1}")]);
        check(&[json!({"function": {"name": "one"}})], &[("", "one", "")]);
        check(&[json!({"function": {"arguments": "{}"}})], &[]);
        for (given, finished) in
            [("", "{}"), (" null ", "{}"), ("\"\"", "{}"), ("\"{\\\"x\\\":1}\"", "{\"x\":1}"), ("{\"x\":", "{\"x\":")]
        {
            assert_eq!(finished_arguments(given), finished, "{given}");
        }
        assert_eq!(arguments_object("{\"x\":"), json!({}));
        assert_eq!(arguments_object("[1]"), json!({}));
    }
}
