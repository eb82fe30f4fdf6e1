//! What goes well, in all three formats.

use futures_util::StreamExt;
use kernel::message::Message;
use kernel::ports::{Delta, EndReason, LlmSource};
use llm::{Config, EmbedClient, Embedder, Kind, Prices, Secret, Source};
use serde_json::json;
use testkit::{Gate, Reply, ScriptedModel};

use crate::common::{KEY, KINDS, config, hear, request, source};

#[tokio::test]
async fn an_answer_streams_with_reasoning_text_usage_and_an_end() {
    for kind in KINDS {
        let reply = Reply::new().reason("主人要开灯").say("好的，灯已经打开了。😀 Anything else?").usage(1000, 50);
        let model = ScriptedModel::with([reply]).await;
        let prices = Some(Prices { prompt: 2.0, cached: None, completion: 8.0 });
        let source = Source::new(&Config { prices, ..config(&model, kind) }).unwrap();
        let heard = hear(&source, request()).await;
        assert_eq!(heard.text, "好的，灯已经打开了。😀 Anything else?", "{kind:?}");
        assert_eq!(heard.reasoning, "主人要开灯");
        assert_eq!(heard.end, Some(EndReason::Stop));
        assert!(heard.texts > 2, "{kind:?}: {}", heard.texts);
        let usage = heard.usage;
        assert_eq!((usage.prompt_tokens, usage.completion_tokens, usage.cost_usd_micros), (1000, 50, 2400), "{kind:?}");
    }
}

#[tokio::test]
async fn the_key_goes_where_each_protocol_wants_it_and_extra_headers_and_fields_go_along() {
    for kind in KINDS {
        let model = ScriptedModel::with([Reply::text("ok")]).await;
        let mut config = config(&model, kind);
        config.extra_headers.insert("X-Home".into(), Secret::new("yes"));
        config.extra_body.insert("options".into(), json!({"seed": 7}));
        hear(&Source::new(&config).unwrap(), request()).await;
        let asked = model.last_asked();
        let expected = if kind == Kind::Anthropic {
            ("x-api-key", KEY.to_owned())
        } else {
            ("authorization", format!("Bearer {KEY}"))
        };
        assert_eq!(asked.header(expected.0), Some(expected.1.as_str()));
        assert_eq!(asked.header("x-home"), Some("yes"));
        assert_eq!(asked.body["options"]["seed"], 7);
        assert_eq!(asked.body["stream"], true);
        if kind == Kind::Ollama {
            assert_eq!(asked.body["options"]["num_ctx"], 16_384);
        }
    }
}

#[tokio::test]
async fn calls_in_fragments_come_whole_under_their_own_names() {
    for kind in KINDS {
        let reply = Reply::text("Let me see.")
            .and_call("lights_on", json!({"room": "客厅 \"living\""}))
            .and_call("files_read_feef3122", json!({}))
            .pieces_of(3);
        let model = ScriptedModel::with([reply]).await;
        let heard = hear(&source(&model, kind), request()).await;
        let mapped = model.last_asked().tools();
        assert_eq!(mapped[0], "lights_on");
        assert!(mapped[1].starts_with("files_read_"), "{mapped:?}");
        // The wire name of `files.read` is what the model was given.
        assert_eq!(mapped[1], "files_read_feef3122");
        assert_eq!(heard.called(), [("lights_on", json!({"room": "客厅 \"living\""})), ("files.read", json!({}))]);
        assert_ne!(heard.calls[0].id, heard.calls[1].id);
        assert_eq!((heard.text.as_str(), heard.end), ("Let me see.", Some(EndReason::ToolCalls)));
    }
}

#[tokio::test]
async fn arguments_of_128_kilobytes_arrive_unharmed() {
    for kind in KINDS {
        let long = "灯光 light ".repeat(11_000);
        let model = ScriptedModel::with([Reply::call("lights_on", json!({"room": long})).pieces_of(97)]).await;
        let heard = hear(&source(&model, kind), request()).await;
        assert!(heard.calls[0].arguments.len() > 128 << 10);
        assert_eq!(heard.called(), [("lights_on", json!({"room": long}))]);
    }
}

#[tokio::test]
async fn arguments_of_128_kilobytes_that_are_printed_arrive_too() {
    let long = "灯光 light ".repeat(11_000);
    let call = json!({"name": "lights_on", "arguments": {"room": long}});
    for printed in [format!("<tool_call>{call}</tool_call>"), format!("```json\n{call}\n```"), call.to_string()] {
        let model = ScriptedModel::with([Reply::text(&printed).pieces_of(4)]).await;
        let heard = hear(&source(&model, Kind::OpenAi), request()).await;
        assert_eq!(heard.called(), [("lights_on", json!({"room": long}))]);
        assert_eq!(heard.text, "");
    }
}

#[tokio::test]
async fn a_printed_call_is_made_and_not_spoken_and_an_unknown_one_is_spoken() {
    for kind in KINDS {
        let printed =
            "好的。\n<tool_call>\n{\"name\": \"lights_on\", \"arguments\": {\"room\": \"厨房\"}}\n</tool_call>";
        let model = ScriptedModel::with([Reply::text(printed).pieces_of(2)]).await;
        let heard = hear(&source(&model, kind), request()).await;
        assert_eq!(heard.called(), [("lights_on", json!({"room": "厨房"}))]);
        assert_eq!((heard.text.trim(), heard.end), ("好的。", Some(EndReason::ToolCalls)));

        let unknown = "{\"name\": \"open_door\", \"arguments\": {}}";
        model.then(Reply::text(unknown));
        let heard = hear(&source(&model, kind), request()).await;
        assert_eq!((heard.text.as_str(), heard.calls.len(), heard.end), (unknown, 0, Some(EndReason::Stop)));
    }
}

#[tokio::test]
async fn a_call_that_is_printed_and_made_counts_once() {
    let printed = "<tool_call>{\"name\": \"lights_on\", \"arguments\": {}}</tool_call>";
    let model = ScriptedModel::with([Reply::text(printed).and_call("lights_on", json!({}))]).await;
    assert_eq!(hear(&source(&model, Kind::OpenAi), request()).await.calls.len(), 1);
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood_too() {
    for kind in KINDS {
        let reply = Reply::new().reason("hm").say("好").and_call("lights_on", json!({"room": "a"})).in_one_piece();
        let model = ScriptedModel::with([reply]).await;
        let heard = hear(&source(&model, kind), request()).await;
        assert_eq!((heard.text.as_str(), heard.reasoning.as_str()), ("好", "hm"), "{kind:?}");
        assert_eq!(heard.called(), [("lights_on", json!({"room": "a"}))]);
        assert_eq!((heard.end, heard.usage.prompt_tokens), (Some(EndReason::ToolCalls), 100));
    }
}

#[tokio::test]
async fn the_first_words_are_there_before_the_last_and_leaving_hangs_up() {
    for kind in KINDS {
        let gate = Gate::new();
        let reply = Reply::text("first ").wait(&gate).say("never heard");
        let model = ScriptedModel::with([reply]).await;
        let mut stream = source(&model, kind).ask(request()).await.unwrap();
        loop {
            match stream.next().await.unwrap().unwrap() {
                Delta::Text(text) => break assert!("first ".starts_with(&text)),
                _ => continue,
            }
        }
        assert_eq!(model.hung_up(), 0);
        drop(stream);
        model.wait_for_hang_up(1).await;
    }
}

#[tokio::test]
async fn a_question_given_up_before_its_answer_hangs_up_too() {
    let model = ScriptedModel::with([Reply::new().hang()]).await;
    let asking = tokio::spawn(source(&model, Kind::OpenAi).ask(request()));
    model.wait_for_question(1).await;
    asking.abort();
    model.wait_for_hang_up(1).await;
}

#[tokio::test]
async fn made_up_ids_are_new_to_the_whole_conversation() {
    let model = ScriptedModel::with([
        Reply::call("lights_on", json!({})).and_call("lights_on", json!({"room": "b"})),
        Reply::call("lights_on", json!({})),
    ])
    .await;
    let source = source(&model, Kind::Ollama);
    let first = hear(&source, request()).await;
    let mut next = request();
    let results = first.calls.iter().map(|call| Message::Tool {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content: "{}".into(),
        is_error: false,
    });
    let results: Vec<Message> = results.collect();
    next.messages.push(Message::Assistant {
        content: String::new(),
        calls: first.calls.clone(),
        reasoning: first.blocks,
    });
    next.messages.extend(results);
    let second = hear(&source, next).await;
    let ids: std::collections::HashSet<_> =
        first.calls.iter().chain(&second.calls).map(|call| call.id.clone()).collect();
    assert_eq!(ids.len(), 3);
    assert!(ids.iter().all(|id| id.len() == 9), "{ids:?}");
}

#[tokio::test]
async fn embeddings_come_in_the_order_of_their_texts_over_batches() {
    let model = ScriptedModel::with([]).await;
    let texts: Vec<String> = (0..70).map(|number| format!("客厅的灯 number {number}")).collect();
    let mut both = Vec::new();
    for kind in [Kind::OpenAi, Kind::Ollama] {
        let client = EmbedClient::new(&config(&model, kind)).unwrap();
        assert_eq!(client.name(), "scripted/scripted");
        let all = client.embed(&texts).await.unwrap();
        let alone = client.embed(&texts[41..42]).await.unwrap();
        assert_eq!((all.len(), &all[41]), (70, &alone[0]));
        assert!(client.embed(&[]).await.unwrap().is_empty());
        both.push(all);
    }
    assert_eq!(both[0], both[1]);
    assert!(EmbedClient::new(&config(&model, Kind::Anthropic)).is_err());
}
