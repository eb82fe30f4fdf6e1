//! Tools that are called rightly, wrongly and too long.

use super::*;

fn scope() -> ToolScope {
    ToolScope::default()
}

fn call(name: &str, arguments: Value) -> ToolCall {
    let arguments = arguments.as_object().unwrap().clone();
    ToolCall { id: "c1".into(), name: name.into(), arguments, ..ToolCall::default() }
}

fn tools_with(def: ToolDef, handler: ToolHandler) -> Tools {
    let tools = Tools::default();
    tools.register("weather", def, handler).unwrap();
    tools
}

fn city() -> ToolDef {
    ToolDef {
        name: "weather_query".into(),
        parameters: json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}}, "required": ["city"], "additionalProperties": false}),
        ..ToolDef::default()
    }
}

fn echo() -> ToolHandler {
    sdk::tool_handler(|arguments, _| async move { Ok(Value::Object(arguments)) })
}

#[tokio::test]
async fn arguments_that_do_not_fit_never_reach_the_handler_and_name_the_field() {
    let handler = sdk::tool_handler(|_, _| async { panic!("must not run") });
    let tools = tools_with(city(), handler);
    for (arguments, field) in [
        (json!({}), "city"),
        (json!({"city": 3}), "/city"),
        (json!({"city": "Bonn", "days": 0}), "/days"),
        (json!({"city": "Bonn", "extra": 1}), "extra"),
    ] {
        let result = tools.call(&call("weather_query", arguments), scope()).await.0;
        assert!(!result.success);
        assert_eq!(result.result["code"], "bad_arguments");
        assert!(result.result["errors"].to_string().contains(field), "{}", result.result);
    }
}

#[tokio::test]
async fn broken_json_is_an_error_that_a_model_can_mend() {
    let tools = tools_with(city(), echo());
    for text in ["{\"city\": \"Bo", "[1]", "hello", "\"x\""] {
        let request = CallRequest { id: "c1".into(), name: "weather_query".into(), arguments: text.into() };
        let calls = tools.calls(&[request]);
        let result = tools.call(&calls[0], scope()).await.0;
        assert_eq!(result.result["code"], "bad_arguments", "{text}");
    }
    for text in ["{\"city\":\"Bonn\"}", " \"{\\\"city\\\":\\\"Bonn\\\"}\" "] {
        let request = CallRequest { id: "c1".into(), name: "weather_query".into(), arguments: text.into() };
        let result = tools.call(&tools.calls(&[request])[0], scope()).await.0;
        assert_eq!((result.success, result.result), (true, json!({"city": "Bonn"})), "{text}");
    }
}

#[tokio::test]
async fn is_error_in_a_result_is_an_error() {
    let handler = sdk::tool_handler(|_, _| async { Ok(json!({"isError": true, "content": "no such city"})) });
    let result = tools_with(city(), handler).call(&call("weather_query", json!({"city": "x"})), scope()).await.0;
    assert!(!result.success);
    assert_eq!(result.result["content"], "no such city");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_hangs_is_cancelled_at_its_deadline() {
    struct Told(Arc<std::sync::atomic::AtomicBool>);
    impl Drop for Told {
        fn drop(&mut self) {
            self.0.store(true, std::sync::atomic::Ordering::SeqCst);
        }
    }
    let dropped = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let told = dropped.clone();
    let handler = sdk::tool_handler(move |_, _| {
        let told = Told(told.clone());
        async move {
            let _told = told;
            std::future::pending().await
        }
    });
    let result = tools_with(city(), handler).call(&call("weather_query", json!({"city": "x"})), scope()).await.0;
    assert_eq!((&result.result["code"], &result.result["outcome"]), (&json!("timeout"), &json!("outcome_unknown")));
    tokio::task::yield_now().await;
    assert!(dropped.load(std::sync::atomic::Ordering::SeqCst), "the handler was dropped");
}

#[tokio::test]
async fn a_tool_that_panics_is_named_and_the_next_call_works() {
    let handler = sdk::tool_handler(|arguments, _| async move {
        assert!(arguments["city"] != "Atlantis", "bug");
        Ok(json!("fine"))
    });
    let tools = tools_with(city(), handler);
    let result = tools.call(&call("weather_query", json!({"city": "Atlantis"})), scope()).await.0;
    assert_eq!(result.result["code"], "panicked");
    assert!(tools.call(&call("weather_query", json!({"city": "Bonn"})), scope()).await.0.success);
}

#[tokio::test]
async fn a_name_is_given_once_and_is_free_when_its_owner_has_left() {
    let tools = tools_with(city(), echo());
    let refused = tools.register("other", city(), echo()).unwrap_err();
    assert_eq!(refused.kind, FailureKind::Duplicate);
    assert!(refused.message.contains("weather"));
    tools.remove("weather");
    tools.register("other", city(), echo()).unwrap();
    assert_eq!(tools.owner("weather_query"), "other");
}

#[test]
fn what_a_model_is_told_of_tools_is_made_once_and_again_when_they_change() {
    let tools = tools_with(city(), echo());
    let told = tools.defs();
    assert!(Arc::ptr_eq(&told, &tools.defs()));
    tools.register("other", ToolDef { name: "other".into(), ..ToolDef::default() }, echo()).unwrap();
    assert_eq!(tools.defs().len(), told.len() + 1);
    tools.remove("other");
    assert_eq!(*tools.defs(), *told);
}

#[tokio::test]
async fn a_long_result_is_cut_and_can_be_read_to_its_end() {
    let long: String = "门神 guards. ".repeat(5_000);
    let text = long.clone();
    let handler = sdk::tool_handler(move |_, _| std::future::ready(Ok(Value::String(text.clone()))));
    let tools = tools_with(city(), handler);
    let result = tools.call(&call("weather_query", json!({"city": "x"})), scope()).await.0;
    assert_eq!(result.result["truncated"], true);
    let mut read = result.result["text"].as_str().unwrap().to_owned();
    let mut next = result.result["next_offset"].clone();
    while let Some(offset) = next.as_u64() {
        let part = tools.rest("", "c1", offset as usize).unwrap();
        read.push_str(part["text"].as_str().unwrap());
        next = part["next_offset"].clone();
    }
    assert_eq!(read, long);
}

#[tokio::test]
async fn a_long_result_is_read_in_its_own_session_only() {
    let handler = sdk::tool_handler(move |given: serde_json::Map<String, Value>, _| {
        let long = given["city"].as_str().unwrap_or_default().repeat(20_000);
        std::future::ready(Ok(Value::String(long)))
    });
    let tools = tools_with(city(), handler);
    for (session, city) in [("chat:anna", "a"), ("chat:ben", "b")] {
        let scope = ToolScope { session: session.into(), ..scope() };
        tools.call(&call("weather_query", json!({ "city": city })), scope).await;
    }
    // Both calls have the same id: providers number them anew.
    assert!(tools.rest("chat:anna", "c1", 0).unwrap()["text"].as_str().unwrap().starts_with("aaa"));
    assert!(tools.rest("chat:ben", "c1", 0).unwrap()["text"].as_str().unwrap().starts_with("bbb"));
    assert_eq!(tools.rest("chat:carl", "c1", 0), None);
}

#[tokio::test]
async fn a_turn_that_is_not_remembered_reaches_no_memory() {
    let def = ToolDef { remembers: true, ..city() };
    let tools = tools_with(def, echo());
    let scope = ToolScope { no_memory: true, ..scope() };
    let result = tools.call(&call("weather_query", json!({"city": "x"})), scope).await.0;
    assert_eq!(result.result["code"], "no_memory");
}

#[test]
fn a_bad_definition_is_refused() {
    let tools = Tools::default();
    let bad = [
        ToolDef { name: "has space".into(), ..city() },
        ToolDef { name: String::new(), ..city() },
        ToolDef { parameters: json!({"type": 3}), ..city() },
    ];
    for def in bad {
        assert_eq!(tools.register("x", def, echo()).unwrap_err().kind, FailureKind::Invalid);
    }
}
