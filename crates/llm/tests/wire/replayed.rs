//! Transcripts in the providers' own words, cut at any byte. They are the forms that each provider
//! documents, with the quirks that are known of servers that imitate them.

use futures_util::StreamExt;
use kernel::ports::{Delta, EndReason, LlmSource};
use llm::Kind;
use proptest::prelude::*;
use serde_json::json;
use testkit::{Reply, ScriptedModel};

use crate::common::{hear, request, source};

const EVENTS: &str = "text/event-stream";

/// Every known way of leaving something out: usage in the last chunk, null content, ids once.
const OPENAI: &str = include_str!("transcripts/openai.txt");
const DEEPSEEK: &str = include_str!("transcripts/deepseek.txt");
const ANTHROPIC: &str = include_str!("transcripts/anthropic.txt");
const OLLAMA: &str = include_str!("transcripts/ollama.txt");

const ALL: [(Kind, &str, &str); 4] = [
    (Kind::OpenAi, EVENTS, OPENAI),
    (Kind::OpenAi, EVENTS, DEEPSEEK),
    (Kind::Anthropic, EVENTS, ANTHROPIC),
    (Kind::Ollama, "application/x-ndjson", OLLAMA),
];

async fn deltas(kind: Kind, reply: Reply) -> Vec<String> {
    let model = ScriptedModel::with([reply]).await;
    let mut stream = source(&model, kind).ask(request()).await.expect("an answer");
    let mut all: Vec<Delta> = Vec::new();
    while let Some(delta) = stream.next().await {
        all.push(delta.expect("no error"));
    }
    all.iter().map(|delta| format!("{delta:?}")).collect()
}

#[tokio::test]
async fn recorded_answers_are_read_as_their_providers_mean_them() {
    for (kind, content_type, body) in ALL {
        let model = ScriptedModel::with([Reply::raw(content_type, body)]).await;
        let heard = hear(&source(&model, kind), request()).await;
        assert_eq!(heard.text, "好的，我看看。", "{body}");
        assert_eq!(heard.called(), [("lights_on", json!({"room": "客厅"})), ("files.read", json!({}))], "{body}");
        assert_eq!(heard.end, Some(EndReason::ToolCalls));
        assert_eq!((heard.usage.prompt_tokens, heard.usage.completion_tokens), (1200, 45), "{body}");
        if kind != Kind::Ollama {
            assert_eq!(heard.usage.cached_tokens, 1000);
        }
        if body != OPENAI {
            assert_eq!(heard.reasoning, "用户要看客厅");
        }
    }
}

#[tokio::test]
async fn a_cut_inside_a_character_or_a_line_end_is_nothing_special() {
    for (kind, content_type, body) in ALL {
        let whole = deltas(kind, Reply::raw(content_type, body)).await;
        let every_byte: Vec<usize> = (0..body.len()).collect();
        assert_eq!(deltas(kind, Reply::raw(content_type, body).cuts(every_byte)).await, whole);
        let windows = body.replace('\n', "\r\n");
        let every_byte: Vec<usize> = (0..windows.len()).collect();
        assert_eq!(deltas(kind, Reply::raw(content_type, windows).cuts(every_byte)).await, whole);
    }
}

#[tokio::test]
async fn a_transcript_that_ends_anywhere_too_early_is_an_error_and_makes_no_call() {
    for (kind, content_type, body) in ALL {
        let needed = match kind {
            Kind::OpenAi => body.find("\"finish_reason\":\"tool_calls\"").unwrap(),
            Kind::Anthropic => body.find("\"stop_reason\":\"tool_use\"").unwrap(),
            Kind::Ollama => body.find("\"done\":true").unwrap(),
        };
        for end in (1..needed).step_by(37) {
            let reply = Reply::raw(content_type, &body.as_bytes()[..end]).cut_off();
            let model = ScriptedModel::with([reply]).await;
            let heard = hear(&source(&model, kind), request()).await;
            assert!(heard.error.is_some() && heard.calls.is_empty(), "{end}: {heard:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_chunking_of_a_transcript_gives_the_same_deltas(
        which in 0usize..4,
        cuts in proptest::collection::vec(0usize..4000, 0..60),
    ) {
        let (kind, content_type, body) = ALL[which];
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let whole = deltas(kind, Reply::raw(content_type, body)).await;
            assert_eq!(deltas(kind, Reply::raw(content_type, body).cuts(cuts)).await, whole);
        });
    }
}
