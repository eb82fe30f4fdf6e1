//! What goes wrong, in all three formats.

use std::sync::Arc;
use std::time::Duration;

use kernel::ports::{LlmSource, SourceErrorKind as Error};
use llm::{Config, Kind, Pace, Source, Sources, Timeouts};
use serde_json::json;
use testkit::{Reply, ScriptedModel};

use crate::common::{KEY, KINDS, config, hear, request, source};

async fn error_of(reply: Reply, kind: Kind) -> kernel::ports::SourceError {
    let model = ScriptedModel::with([reply]).await;
    let error = hear(&source(&model, kind), request()).await.error.expect("an error");
    assert!(!error.to_string().contains(KEY), "{error}");
    assert_eq!(error.source_name, "scripted");
    error
}

#[tokio::test]
async fn errors_have_a_kind_a_cause_and_a_cure() {
    for kind in KINDS {
        let error = error_of(Reply::error(429, "slow down").header("Retry-After", "12"), kind).await;
        assert_eq!((error.kind, error.retry_after), (Error::RateLimited, Some(Duration::from_secs(12))), "{kind:?}");
        let error = error_of(Reply::error(401, &format!("bad key {KEY}")), kind).await;
        assert_eq!(error.kind, Error::Auth);
        assert!(error.message.contains("set a valid key") && error.message.contains("bad key"), "{error}");
        assert_eq!(error_of(Reply::error(500, "boom"), kind).await.kind, Error::Overloaded);
        assert_eq!(error_of(Reply::error(404, "model 'scripted' not found"), kind).await.kind, Error::NoSuchModel);
        assert_eq!(error_of(Reply::error(400, "prompt is too long"), kind).await.kind, Error::ContextTooLong);
        let moved = Reply::raw("text/html", "").status(307).header("location", "https://elsewhere/v1?key=secret");
        let error = error_of(moved, kind).await;
        assert!(error.message.contains("https://elsewhere/v1") && !error.message.contains("secret"), "{error}");
    }
}

#[tokio::test]
async fn the_cure_is_told_in_the_language_of_the_person() {
    let model = ScriptedModel::with([Reply::error(401, "no")]).await;
    let mut asked = request();
    asked.language = "zh".into();
    let error = hear(&source(&model, Kind::OpenAi), asked).await.error.unwrap();
    assert!(error.message.contains("密钥"), "{error}");
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_cut_and_says_what_it_had() {
    for kind in KINDS {
        let model = ScriptedModel::with([Reply::text("half an answer").and_call("lights_on", json!({})).cut()]).await;
        let heard = hear(&source(&model, kind), request()).await;
        assert_eq!(heard.text, "half an answer", "{kind:?}");
        assert_eq!(heard.error.unwrap().kind, Error::Cut);
        assert!(heard.calls.is_empty(), "a call of a broken answer must not run");
    }
}

#[tokio::test]
async fn an_error_event_in_the_stream_ends_it() {
    for kind in KINDS {
        let model = ScriptedModel::with([Reply::text("half").fail("the model crashed")]).await;
        let heard = hear(&source(&model, kind), request()).await;
        let error = heard.error.unwrap();
        assert_eq!((heard.text.as_str(), error.kind), ("half", Error::Overloaded), "{kind:?}");
        assert!(error.message.contains("the model crashed"));
    }
}

#[tokio::test]
async fn what_is_not_the_protocol_is_told_as_such() {
    for (kind, content_type) in [
        (Kind::OpenAi, "text/event-stream"),
        (Kind::Anthropic, "text/event-stream"),
        (Kind::Ollama, "application/x-ndjson"),
    ] {
        let data = if kind == Kind::Ollama { "{\"message\": broken}\n{}\n" } else { "data: {\"choices\": broken}\n\n" };
        let error = error_of(Reply::raw(content_type, data), kind).await;
        assert_eq!(error.kind, Error::Protocol, "{kind:?}");
        let error = error_of(Reply::raw("text/html", "<html>\n<body>Log in</body></html>\n"), kind).await;
        assert_eq!(error.kind, Error::Protocol, "{kind:?}");
        let error = error_of(Reply::raw("application/json", "{\"hello\": \"world\"}"), kind).await;
        assert!(matches!(error.kind, Error::Protocol | Error::Cut), "{kind:?} {error:?}");
        assert_eq!(error_of(Reply::raw(content_type, ""), kind).await.kind, Error::Protocol);
    }
}

#[tokio::test]
async fn an_endless_event_ends_the_answer_and_not_the_memory() {
    let body = format!("data: {}", "x".repeat(llm::SOURCE_EVENT_BYTES_MAX + 10));
    assert_eq!(error_of(Reply::raw("text/event-stream", body), Kind::OpenAi).await.kind, Error::Protocol);
}

fn hurried(model: &ScriptedModel, kind: Kind, timeouts: Timeouts) -> Source {
    Source::new(&Config { timeouts, ..config(model, kind) }).unwrap()
}

#[tokio::test]
async fn a_model_that_does_not_begin_in_time_is_given_up_and_one_that_falls_silent_is_cut() {
    for kind in KINDS {
        let model = ScriptedModel::with([Reply::new().hang(), Reply::text("half").hang()]).await;
        let source = hurried(&model, kind, Timeouts { first_secs: Some(1), ..Timeouts::default() });
        let error = hear(&source, request()).await.error.unwrap();
        assert_eq!(error.kind, Error::Timeout, "{kind:?}");
        let source = hurried(&model, kind, Timeouts { idle_secs: Some(1), ..Timeouts::default() });
        let heard = hear(&source, request()).await;
        let error = heard.error.unwrap();
        assert_eq!((heard.text.as_str(), error.kind), ("half", Error::Cut), "{kind:?}");
        assert!(error.message.contains("silent for 1 s"), "{error}");
        model.wait_for_hang_up(2).await;
    }
}

#[tokio::test]
async fn a_server_that_only_sends_comments_has_not_begun() {
    let model = ScriptedModel::with([Reply::raw("text/event-stream", ": wait\n\n: wait\n\n").hang()]).await;
    let source = hurried(&model, Kind::OpenAi, Timeouts { first_secs: Some(1), ..Timeouts::default() });
    assert_eq!(hear(&source, request()).await.error.unwrap().kind, Error::Timeout);
}

#[tokio::test]
async fn nobody_at_the_address_is_unreachable() {
    let model = ScriptedModel::with([]).await;
    let source = source(&model, Kind::OpenAi);
    drop(model);
    // The port is closed once its listener's task is gone.
    for _ in 0..1000 {
        let error = hear(&source, request()).await.error.unwrap();
        if error.kind == Error::Unreachable {
            assert!(error.message.contains("address"), "{error}");
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("still reachable");
}

#[tokio::test]
async fn a_refused_key_falls_back_and_a_source_that_is_well_again_is_returned_to() {
    let (first, second) = (ScriptedModel::with([]).await, ScriptedModel::with([]).await);
    first.then(Reply::error(503, "busy")).then(Reply::error(503, "busy")).then(Reply::text("first again"));
    second.then(Reply::text("second"));
    let now = Arc::new(std::sync::atomic::AtomicI64::new(0));
    let clock = now.clone();
    let pace =
        Pace { now_ms: Arc::new(move || clock.load(std::sync::atomic::Ordering::Relaxed)), chance: Arc::new(|| 0.0) };
    let named = |model: &ScriptedModel, name: &str, kind| {
        Arc::new(Source::new(&Config { name: name.into(), ..config(model, kind) }).unwrap()) as Arc<dyn LlmSource>
    };
    let sources = Sources::new(vec![named(&first, "a", Kind::Anthropic), named(&second, "b", Kind::Ollama)], pace);
    assert_eq!(hear(&sources, request()).await.text, "second");
    now.store(30_000, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(hear(&sources, request()).await.text, "first again");
    assert_eq!((first.asked().len(), second.asked().len()), (3, 1));
}
