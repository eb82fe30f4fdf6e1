//! What a client is told: small, portable, in a fixed order, and nothing to confirm with.

use mcp::tools::catalogue::{INSTRUCTIONS, ORDER, catalogue};
use serde_json::{Value, json};

use crate::tokens;

/// The list as a client gets it, without the protocol's own frame.
fn listed() -> Vec<Value> {
    catalogue()
        .into_iter()
        .map(|tool| {
            json!({
                "name": tool.name, "title": tool.title, "description": tool.description,
                "inputSchema": tool.input, "outputSchema": tool.output,
                "annotations": {
                    "readOnlyHint": !tool.writes, "destructiveHint": tool.writes,
                    "idempotentHint": tool.idempotent, "openWorldHint": true,
                },
            })
        })
        .collect()
}

#[test]
fn the_whole_list_costs_at_most_2000_tokens() {
    let cost = tokens(&json!({"tools": listed()}).to_string());
    assert!(cost <= 2_000, "{cost} tokens");
}

#[test]
fn tools_stand_in_the_order_of_the_seed() {
    let names: Vec<&str> = catalogue().iter().map(|tool| tool.name).collect();
    assert_eq!(names, ORDER);
    assert!(names.iter().all(|name| name.len() <= 64));
}

#[test]
fn hints_are_those_of_the_reference() {
    let hints: Vec<(bool, bool)> = catalogue().iter().map(|tool| (tool.writes, tool.idempotent)).collect();
    assert_eq!(hints, [(false, false), (false, false), (false, true), (true, false), (false, true), (true, false)]);
}

#[test]
fn no_argument_of_any_tool_confirms_anything() {
    for tool in catalogue() {
        let properties = tool.input["properties"].as_object().cloned().unwrap_or_default();
        for name in properties.keys() {
            for word in ["confirm", "approve", "override", "force", "allow"] {
                assert!(!name.contains(word), "{}: {name}", tool.name);
            }
        }
    }
}

#[test]
fn input_schemas_are_closed_objects() {
    for tool in catalogue() {
        assert_eq!(tool.input["type"], json!("object"), "{}", tool.name);
        assert_eq!(tool.input["additionalProperties"], json!(false), "{}", tool.name);
        assert_eq!(tool.output["type"], json!("object"), "{}", tool.name);
    }
}

#[test]
fn schemas_use_nothing_that_a_client_may_not_know() {
    const KNOWN: [&str; 6] = ["type", "properties", "required", "additionalProperties", "description", "items"];
    fn check(tool: &str, schema: &Value) {
        let map = schema.as_object().unwrap_or_else(|| panic!("{tool}: {schema} is no object"));
        assert!(map.get("type").is_some_and(Value::is_string), "{tool}: {schema} has no single type");
        assert!(map.keys().all(|key| KNOWN.contains(&key.as_str())), "{tool}: {schema}");
        assert_eq!(map["type"] == "array", map.contains_key("items"), "{tool}: {schema}");
        for inner in map.get("properties").and_then(Value::as_object).into_iter().flat_map(|map| map.values()) {
            check(tool, inner);
        }
        if let Some(items) = map.get("items") {
            check(tool, items);
        }
    }
    for tool in catalogue() {
        check(tool.name, &Value::Object(tool.input));
        check(tool.name, &Value::Object(tool.output));
    }
}

#[test]
fn a_model_is_told_of_refusals_and_of_untrusted_names_everywhere() {
    let told = INSTRUCTIONS.to_lowercase();
    for phrase in ["refused", "no argument overrides", "untrusted data"] {
        assert!(told.contains(phrase), "{phrase}");
    }
    for tool in catalogue() {
        assert!(tool.description.contains("untrusted data"), "{}", tool.name);
    }
}
