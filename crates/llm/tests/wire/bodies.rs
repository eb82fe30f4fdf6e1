//! What goes out: order, roles, marks, and what stays the same from turn to turn.

use kernel::message::{CallRequest, Message};
use kernel::ports::SourceRequest;
use llm::{Config, Kind, LateText, Source, Thinking};
use serde_json::{Value, json};
use testkit::{Asked, Reply, ScriptedModel};

use crate::common::{KINDS, config, hear, request, source};

async fn asked(kind: Kind, change: impl FnOnce(&mut Config), request: SourceRequest) -> Asked {
    let model = ScriptedModel::with([Reply::text("ok")]).await;
    let mut config = config(&model, kind);
    change(&mut config);
    hear(&Source::new(&config).unwrap(), request).await;
    model.last_asked()
}

fn user(text: &str) -> Message {
    Message::User { content: text.into() }
}

fn call(id: &str, arguments: &str) -> CallRequest {
    CallRequest { id: id.into(), name: "files.read".into(), arguments: arguments.into() }
}

fn result(id: &str, content: &str) -> Message {
    Message::Tool { call_id: id.into(), name: "files.read".into(), content: content.into(), is_error: true }
}

/// A conversation with everything in it.
fn long() -> SourceRequest {
    let calls = vec![call("a", "{\"x\":1}"), call("b", "{\"x\":")];
    SourceRequest {
        messages: vec![
            user("hello"),
            Message::System { content: "a plugin speaks".into() },
            Message::Assistant { content: "I look.".into(), calls, reasoning: Vec::new() },
            result("a", "ra"),
            result("b", "rb"),
            Message::Assistant { content: "Done.".into(), calls: Vec::new(), reasoning: Vec::new() },
            user("and now?"),
        ],
        ..request()
    }
}

#[tokio::test]
async fn our_tail_goes_last_and_the_system_text_first() {
    for kind in KINDS {
        let said = asked(kind, |_| {}, long()).await.said();
        assert_eq!(said[0], ("system".into(), "You run a house.".into()));
        let (role, last) = said.last().unwrap();
        assert_eq!(role, "user");
        assert!(
            last.contains("and now?") && last.trim_end().ends_with("<context>\nMonday 20:41\n</context>"),
            "{last}"
        );
    }
    let system = asked(Kind::OpenAi, |config| config.late_text = Some(LateText::System), long()).await.said();
    assert_eq!(system.last().unwrap(), &("system".to_owned(), "Monday 20:41".to_owned()));
    let front = asked(Kind::OpenAi, |config| config.late_text = Some(LateText::Front), long()).await.said();
    assert_eq!(front[0].1, "You run a house.\n\na plugin speaks\n\nMonday 20:41");
    assert_eq!(front.iter().filter(|(role, _)| role == "system").count(), 1);
}

#[tokio::test]
async fn anthropic_gets_alternating_roles_with_results_first_and_two_marks_for_its_cache() {
    let asked = asked(Kind::Anthropic, |_| {}, long()).await;
    let messages = asked.body["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"]);
    let kinds = |at: usize| {
        let blocks = messages[at]["content"].as_array().unwrap().iter();
        blocks.map(|block| block["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(kinds(1), ["text", "tool_use", "tool_use"]);
    assert_eq!(kinds(2), ["tool_result", "tool_result"]);
    assert_eq!(messages[1]["content"][2]["input"], json!({}));
    assert_eq!(
        messages[2]["content"][0],
        json!({"type": "tool_result", "tool_use_id": "a", "content": "ra", "is_error": true})
    );
    let ephemeral = json!({"type": "ephemeral"});
    assert_eq!(asked.body["system"][0]["cache_control"], ephemeral);
    let last = &messages[4]["content"];
    assert_eq!((&last[0]["cache_control"], &last[1]["cache_control"]), (&ephemeral, &Value::Null));
    assert_eq!(asked.text.matches("cache_control").count(), 2);
    assert!(asked.body["max_tokens"].as_u64().unwrap() > 0);
    assert_eq!(asked.header("anthropic-version"), Some("2023-06-01"));
}

#[tokio::test]
async fn a_conversation_that_begins_with_the_assistant_still_begins_with_the_user_for_anthropic() {
    let begun = Message::Assistant { content: "Good morning.".into(), calls: Vec::new(), reasoning: Vec::new() };
    let asked = asked(Kind::Anthropic, |_| {}, SourceRequest { messages: vec![begun, user("hi")], ..request() }).await;
    assert_eq!(asked.body["messages"][0]["role"], "user");
}

#[tokio::test]
async fn calls_and_results_keep_their_pairs_and_broken_arguments_go_back_as_an_object() {
    let openai = asked(Kind::OpenAi, |_| {}, long()).await;
    let messages = openai.body["messages"].as_array().unwrap();
    let made = &messages.iter().find(|message| message["tool_calls"].is_array()).unwrap()["tool_calls"];
    assert_eq!(made[0]["function"]["arguments"], "{\"x\":1}");
    assert_eq!(made[1]["function"]["arguments"], "{}");
    let results: Vec<_> = messages.iter().filter(|message| message["role"] == "tool").collect();
    assert_eq!((results[0]["tool_call_id"].as_str(), results[1]["content"].as_str()), (Some("a"), Some("rb")));
    let ollama = asked(Kind::Ollama, |_| {}, long()).await;
    let messages = ollama.body["messages"].as_array().unwrap();
    let made = &messages.iter().find(|message| message["tool_calls"].is_array()).unwrap()["tool_calls"];
    assert_eq!(made[0]["function"]["arguments"], json!({"x": 1}));
    let results: Vec<_> = messages.iter().filter(|message| message["role"] == "tool").collect();
    assert_eq!(results[0]["tool_name"], made[0]["function"]["name"]);
}

#[tokio::test]
async fn the_prefix_is_the_same_byte_for_byte_while_tail_and_messages_grow() {
    for kind in KINDS {
        let mut next = long();
        next.tail = "Tuesday 07:00".into();
        next.messages.push(Message::Assistant { content: "Yes.".into(), calls: Vec::new(), reasoning: Vec::new() });
        next.messages.push(user("good"));
        let (first, second) = (asked(kind, |_| {}, long()).await, asked(kind, |_| {}, next).await);
        assert_eq!(first.body["system"], second.body["system"]);
        assert_eq!(first.body["tools"], second.body["tools"]);
        let texts = |asked: &Asked| asked.said().into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n");
        let (first, second) = (texts(&first), texts(&second));
        let stable = first.split("<context>\nMonday").next().unwrap().trim_end();
        assert!(second.starts_with(stable), "{kind:?}\n{stable}\n{second}");
    }
}

#[tokio::test]
async fn limits_temperature_and_thinking_go_where_each_format_has_them() {
    let set = |config: &mut Config| {
        config.output_tokens_max = Some(500);
        config.temperature = Some(0.25);
    };
    let limited = || SourceRequest { output_tokens_max: Some(9000), ..request() };
    let openai = asked(Kind::OpenAi, set, limited()).await.body;
    assert_eq!((&openai["max_tokens"], &openai["temperature"]), (&json!(500), &json!(0.25)));
    assert_eq!(openai["stream_options"], json!({"include_usage": true}));
    let newer = |config: &mut Config| config.output_limit_field = Some("max_completion_tokens".into());
    let openai = asked(Kind::OpenAi, newer, limited()).await.body;
    assert_eq!((&openai["max_tokens"], &openai["max_completion_tokens"]), (&Value::Null, &json!(9000)));
    let ollama = asked(Kind::Ollama, set, limited()).await.body;
    assert_eq!((&ollama["options"]["num_predict"], &ollama["options"]["temperature"]), (&json!(500), &json!(0.25)));
    let thinking = |config: &mut Config| config.thinking = Some(Thinking::Tokens(2000));
    let claude = asked(Kind::Anthropic, thinking, limited()).await.body;
    assert_eq!((&claude["thinking"]["budget_tokens"], &claude["max_tokens"]), (&json!(2000), &json!(11_000)));
    assert_eq!(asked(Kind::Ollama, thinking, limited()).await.body["think"], true);
}

#[tokio::test]
async fn thinking_goes_back_to_its_maker_unchanged_and_to_nobody_else() {
    let think = |config: &mut Config| config.thinking = Some(Thinking::Switch(true));
    let model = ScriptedModel::with([Reply::new().reason("hm").and_call("lights_on", json!({}))]).await;
    let mut thoughtful = config(&model, Kind::Anthropic);
    think(&mut thoughtful);
    let first = hear(&Source::new(&thoughtful).unwrap(), request()).await;
    assert_eq!(first.blocks.len(), 1);
    let id = first.calls[0].id.clone();
    let answered = |reasoning: Vec<Value>| {
        let mut next = request();
        next.messages.push(Message::Assistant { content: String::new(), calls: first.calls.clone(), reasoning });
        next.messages.push(result(&id, "ok"));
        next
    };
    let back = asked(Kind::Anthropic, think, answered(first.blocks.clone())).await.body;
    let block = json!({"type": "thinking", "thinking": "hm", "signature": "c2lnbmF0dXJl"});
    assert_eq!((&back["messages"][1]["content"][0], back["thinking"].is_object()), (&block, true));
    // The same calls, made by another source: thinking is off, for the provider would refuse them.
    let rename = |config: &mut Config| {
        think(config);
        config.name = "another".into();
    };
    let other = asked(Kind::Anthropic, rename, answered(first.blocks.clone())).await.body;
    assert!(other["thinking"] == json!({"type": "disabled"}) && !other.to_string().contains("signature"), "{other}");
    assert!(!asked(Kind::OpenAi, |_| {}, answered(first.blocks.clone())).await.text.contains("signature"));
}

#[tokio::test]
async fn reasoning_goes_back_where_a_provider_demands_it() {
    let returns = |config: &mut Config| config.return_reasoning = Some(true);
    let model = ScriptedModel::with([Reply::new().reason("hm").and_call("lights_on", json!({}))]).await;
    let mut demanding = config(&model, Kind::OpenAi);
    returns(&mut demanding);
    let first = hear(&Source::new(&demanding).unwrap(), request()).await;
    let mut next = request();
    let id = first.calls[0].id.clone();
    next.messages.push(Message::Assistant { content: String::new(), calls: first.calls, reasoning: first.blocks });
    next.messages.push(result(&id, "ok"));
    let back = asked(Kind::OpenAi, returns, next.clone()).await.body;
    let made = back["messages"].as_array().unwrap().iter().find(|message| message["tool_calls"].is_array()).unwrap();
    assert_eq!(made["reasoning_content"], "hm");
    assert!(!asked(Kind::OpenAi, |_| {}, next).await.text.contains("reasoning_content"));
}

#[tokio::test]
async fn a_model_without_tools_is_sent_none() {
    let model = ScriptedModel::with([Reply::text("ok")]).await;
    let source = Source::new(&Config { tools: Some(false), ..config(&model, Kind::OpenAi) }).unwrap();
    hear(&source, request()).await;
    assert!(model.last_asked().tools().is_empty());
    let with = ScriptedModel::with([Reply::text("ok")]).await;
    hear(&self::source(&with, Kind::OpenAi), request()).await;
    assert_eq!(with.last_asked().tools().len(), 2);
}

#[tokio::test]
async fn what_a_provider_hangs_on_a_call_comes_back_with_that_call() {
    let call = json!({"id": "call-1", "type": "function", "function": {"name": "lights_on", "arguments": "{}"},
                      "extra_content": {"google": {"thought_signature": "c2ln"}}});
    let delta =
        json!({"choices": [{"delta": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "tool_calls"}]});
    let model =
        ScriptedModel::with([Reply::raw("text/event-stream", format!("data: {delta}\n\ndata: [DONE]\n\n"))]).await;
    let first = hear(&source(&model, Kind::OpenAi), request()).await;
    let mut next = request();
    next.messages.push(Message::Assistant { content: String::new(), calls: first.calls, reasoning: first.blocks });
    next.messages.push(result("call-1", "ok"));
    let back = asked(Kind::OpenAi, |_| {}, next).await.body;
    let made = back["messages"].as_array().unwrap().iter().find(|message| message["tool_calls"].is_array()).unwrap();
    assert_eq!(made["tool_calls"][0]["extra_content"]["google"]["thought_signature"], "c2ln");
}
