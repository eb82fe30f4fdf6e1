//! What went wrong, before it has a source's name. Start at [`Fault`] and [`of_status`].
//!
//! Invariant: what a provider wrote is quoted only through [`quoted`]: short, on one line, without
//! anything that looks like a key.

use std::time::Duration;

use kernel::ports::{SourceError, SourceErrorKind as Kind};
use serde_json::Value;

use crate::secret::Secret;

const QUOTED_CHARS_MAX: usize = 300;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub kind: Kind,
    /// What happened, maybe in the provider's words.
    pub detail: String,
    pub retry_after: Option<Duration>,
}

impl Fault {
    pub fn new(kind: Kind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), retry_after: None }
    }

    pub fn protocol(detail: impl Into<String>) -> Self {
        Self::new(Kind::Protocol, detail)
    }

    pub fn cut(detail: impl Into<String>) -> Self {
        Self::new(Kind::Cut, detail)
    }

    /// With a name, the cure in the person's language, and without any of these secrets.
    pub fn named(self, source: &str, language: &str, secrets: &[Secret]) -> SourceError {
        let detail = quoted(&self.detail, secrets);
        let cure = cure(self.kind, language.starts_with("zh"));
        SourceError {
            kind: self.kind,
            source_name: source.to_owned(),
            message: if detail.is_empty() { cure.to_owned() } else { format!("{cure} ({detail})") },
            retry_after: self.retry_after,
        }
    }
}

/// Cause, and what to do.
pub(crate) fn cure(kind: Kind, zh: bool) -> &'static str {
    let (english, chinese) = match kind {
        Kind::Auth => (
            "the key is not accepted: set a valid key for this source, and check that it may use this model",
            "密钥不被接受：请为该模型源设置有效密钥，并确认它有权使用此模型",
        ),
        Kind::Quota => {
            ("no credit is left: top up the account, or choose another source", "余额已用完：请充值，或换用其他模型源")
        }
        Kind::RateLimited => {
            ("too many requests: wait a little, or choose another source", "请求过于频繁：请稍候，或换用其他模型源")
        }
        Kind::Overloaded => {
            ("the model server is overloaded or broken: try again later", "模型服务过载或出错：请稍后再试")
        }
        Kind::Unreachable => (
            "the model server cannot be reached: check its address and that it runs",
            "连不上模型服务：请检查地址，并确认服务正在运行",
        ),
        Kind::Timeout => (
            "the model did not answer in time: try again, choose a smaller model, or raise the source's timeouts",
            "模型没有及时回答：请重试、换用较小的模型，或调大该模型源的超时",
        ),
        Kind::BadRequest => (
            "the provider does not take the request: check the source's model and settings",
            "模型服务不接受该请求：请检查该模型源的模型名与设置",
        ),
        Kind::ContextTooLong => (
            "the conversation is longer than this model can read: begin a new one, or choose a model with a larger context",
            "对话超出该模型的上下文长度：请新开对话，或换用上下文更大的模型",
        ),
        Kind::NoSuchModel => (
            "there is no such model there: correct the source's `model` (Ollama: pull it first)",
            "没有这个模型：请更正该模型源的 `model`（Ollama 需先拉取）",
        ),
        Kind::Cut => ("the answer broke off in the middle: ask again", "回答中途断开：请再问一次"),
        Kind::Protocol => (
            "what came is not this kind's format: check the source's `kind` and `base_url`",
            "收到的内容不符合该类型的格式：请检查该模型源的 `kind` 和 `base_url`",
        ),
    };
    if zh { chinese } else { english }
}

/// One line, at most 300 characters, no key in it.
pub(crate) fn quoted(text: &str, secrets: &[Secret]) -> String {
    let mut clean = text.to_owned();
    for secret in secrets.iter().filter(|secret| secret.reveal().len() >= 4) {
        clean = clean.replace(secret.reveal(), "…");
    }
    let invisible = |c: char| {
        c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let words = clean.split(|c: char| c.is_whitespace() || invisible(c)).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.map(|word| if looks_like_key(word) { "…" } else { word }).collect();
    let line = words.join(" ");
    match line.char_indices().nth(QUOTED_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

/// Providers quote a wrong key, in part or whole.
fn looks_like_key(word: &str) -> bool {
    ["sk-", "sk_", "key-", "AIza", "gsk_", "hf_", "eyJ"].iter().any(|mark| word.contains(mark)) && word.len() > 8
}

/// An answer that is no success.
pub(crate) fn of_status(status: u16, body: &str) -> Fault {
    let value: Option<Value> = serde_json::from_str(body).ok();
    let (said, code) = value.as_ref().map(error_text).unwrap_or_else(|| (first_words(body), String::new()));
    let kind = kind_of_text(&said, &code).unwrap_or(match status {
        401 | 403 => Kind::Auth,
        402 => Kind::Quota,
        404 if said.to_lowercase().contains("model") => Kind::NoSuchModel,
        408 | 504 | 524 => Kind::Timeout,
        413 => Kind::ContextTooLong,
        429 => Kind::RateLimited,
        500..=599 => Kind::Overloaded,
        300..=499 => Kind::BadRequest,
        _ => Kind::Protocol,
    });
    let kind = if status == 401 { Kind::Auth } else { kind };
    Fault::new(kind, format!("HTTP {status} {said}"))
}

/// An error in the middle of a stream, or in the body of a success.
pub(crate) fn of_event(value: &Value) -> Fault {
    let (said, code) = error_text(value);
    let status =
        [&value["error"]["code"], &value["error"]["status_code"], &value["code"]].into_iter().find_map(Value::as_u64);
    let kind = kind_of_text(&said, &code).or_else(|| match status {
        Some(status @ 400..=599) => Some(of_status(u16::try_from(status).unwrap_or(500), "").kind),
        _ => None,
    });
    Fault::new(kind.unwrap_or(Kind::Overloaded), said)
}

/// What stands in an error object, and its code or type.
fn error_text(value: &Value) -> (String, String) {
    let error = match &value["error"] {
        Value::Null => value,
        error => error,
    };
    let text = match error {
        Value::String(text) => text.clone(),
        _ => [&error["message"], &error["detail"], &error["msg"], &value["message"], &value["detail"]]
            .into_iter()
            .find_map(Value::as_str)
            .map_or_else(|| first_words(&error.to_string()), str::to_owned),
    };
    let codes = [&error["type"], &error["code"], &error["status"]].into_iter().filter_map(Value::as_str);
    // OpenRouter hands on what the provider behind it said.
    let behind = error["metadata"]["raw"].as_str().unwrap_or_default();
    let text = if behind.is_empty() { text } else { format!("{text}: {}", first_words(behind)) };
    (text, codes.collect::<Vec<_>>().join(" ").to_lowercase())
}

fn first_words(text: &str) -> String {
    text.chars().take(QUOTED_CHARS_MAX).collect()
}

/// Statuses are used loosely; words and codes are surer where they are known.
fn kind_of_text(said: &str, code: &str) -> Option<Kind> {
    let said = said.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
    let coded = |words: &[&str]| words.iter().any(|word| code.contains(word));
    let too_long = [
        "context length",
        "context_length",
        "context window",
        "maximum context",
        "prompt is too long",
        "context size",
        "range of input length",
        "exceed max message tokens",
        "too many tokens",
    ];
    if coded(&["context_length_exceeded", "exceed_context_size"]) || has(&too_long) {
        return Some(Kind::ContextTooLong);
    }
    if coded(&["insufficient_quota", "billing", "arrearage", "exceeded_current_quota"])
        || has(&[
            "credit balance",
            "insufficient balance",
            "insufficient credits",
            "exceeded your current quota",
            "余额不足",
        ])
    {
        return Some(Kind::Quota);
    }
    // OpenRouter says so with 403, and that is not the key's fault.
    if has(&["moderation", "was flagged"]) {
        return Some(Kind::BadRequest);
    }
    if coded(&["invalid_api_key", "authentication_error", "permission_error", "invalid_authentication"]) {
        return Some(Kind::Auth);
    }
    let no_model = said.contains("model")
        && has(&["not found", "does not exist", "not exist", "no such model", "unknown model", "invalid model"]);
    if coded(&["model_not_found"]) || no_model {
        return Some(Kind::NoSuchModel);
    }
    if coded(&["rate_limit"]) {
        return Some(Kind::RateLimited);
    }
    if coded(&["overloaded"]) {
        return Some(Kind::Overloaded);
    }
    None
}

/// `retry-after-ms`, `Retry-After` in seconds or as a date; a date counts from the server's own clock
/// where it tells it, otherwise from `now_ms`.
pub(crate) fn retry_after(header: impl Fn(&str) -> Option<String>, now_ms: i64) -> Option<Duration> {
    /// A day: what is longer is a mistake, or of no use to anybody waiting.
    const LONGEST: Duration = Duration::from_secs(24 * 3600);
    let number = |text: String| text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    let seconds = |seconds: f64| Duration::from_secs_f64(seconds.min(LONGEST.as_secs_f64()));
    if let Some(milliseconds) = header("retry-after-ms").and_then(number) {
        return Some(seconds(milliseconds / 1000.0));
    }
    let text = header("retry-after")?;
    if let Some(given) = number(text.clone()) {
        return Some(seconds(given));
    }
    let at = http_date_ms(&text)?;
    let now = header("date").and_then(|date| http_date_ms(&date)).unwrap_or(now_ms);
    Some(Duration::from_millis(u64::try_from(at - now).unwrap_or(0)).min(LONGEST))
}

fn http_date_ms(text: &str) -> Option<i64> {
    let parser = jiff::fmt::rfc2822::DateTimeParser::new();
    parser.parse_timestamp(text.trim()).ok().map(|at| at.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(status: u16, body: &str, kind: Kind) {
        assert_eq!(of_status(status, body).kind, kind, "{status} {body}");
    }

    #[test]
    fn an_error_of_a_provider_gets_the_kind_that_its_words_mean() {
        check(401, r#"{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}"#, Kind::Auth);
        check(403, "forbidden", Kind::Auth);
        check(402, r#"{"error":{"message":"Insufficient Balance"}}"#, Kind::Quota);
        check(
            429,
            r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#,
            Kind::Quota,
        );
        check(429, r#"{"error":{"message":"slow down","type":"rate_limit_error"}}"#, Kind::RateLimited);
        check(
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens"}}"#,
            Kind::ContextTooLong,
        );
        check(
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 201 tokens"}}"#,
            Kind::ContextTooLong,
        );
        check(
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}"#,
            Kind::Quota,
        );
        check(
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
            Kind::ContextTooLong,
        );
        check(404, r#"{"error":"model 'qwen9' not found"}"#, Kind::NoSuchModel);
        check(404, "404 page not found", Kind::BadRequest);
        check(400, r#"{"error":{"message":"Invalid model name passed in model=x"}}"#, Kind::NoSuchModel);
        check(403, r#"{"error":{"code":403,"message":"Your input was flagged"}}"#, Kind::BadRequest);
        check(400, r#"{"error":{"message":"tools is not supported"}}"#, Kind::BadRequest);
        check(529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, Kind::Overloaded);
        check(500, "<html>", Kind::Overloaded);
        check(504, "", Kind::Timeout);
        check(307, "", Kind::BadRequest);
    }

    #[test]
    fn an_error_event_without_a_known_word_is_a_broken_server() {
        let event = serde_json::json!({"error": {"message": "boom", "code": 502}});
        assert_eq!(of_event(&event), Fault::new(Kind::Overloaded, "boom"));
        let event = serde_json::json!({"error": "an error was encountered while running the model"});
        assert_eq!(of_event(&event).kind, Kind::Overloaded);
    }

    #[test]
    fn no_key_is_left_in_what_is_quoted() {
        let secrets = [Secret::new("plainsecret")];
        let fault = Fault::new(Kind::Auth, "key plainsecret and\nsk-proj-abc***xyz are wrong\u{202e}");
        let error = fault.named("a", "en", &secrets);
        assert!(!error.message.contains("plainsecret") && !error.message.contains("abc"), "{error}");
        assert!(
            error.message.contains("set a valid key") && error.message.ends_with("(key … and … are wrong)"),
            "{error}"
        );
        assert!(quoted(&"长".repeat(1000), &[]).chars().count() <= QUOTED_CHARS_MAX + 1);
        assert!(Fault::new(Kind::Timeout, "").named("a", "zh", &[]).message.contains("没有及时"));
    }

    #[test]
    fn retry_after_is_read_in_all_its_forms() {
        let read = |pairs: &[(&str, &str)]| {
            let pairs: Vec<(String, String)> = pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
            retry_after(
                |name| pairs.iter().find(|(header, _)| header == name).map(|(_, value)| value.clone()),
                784_111_777_000,
            )
        };
        assert_eq!(read(&[("retry-after", "7")]), Some(Duration::from_secs(7)));
        assert_eq!(read(&[("retry-after", "0.5")]), Some(Duration::from_millis(500)));
        assert_eq!(read(&[("retry-after", "9"), ("retry-after-ms", "1500")]), Some(Duration::from_millis(1500)));
        assert_eq!(read(&[("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT")]), Some(Duration::from_secs(10)));
        let skewed = [("retry-after", "Tue, 01 Dec 2026 00:01:00 GMT"), ("date", "Tue, 01 Dec 2026 00:00:00 GMT")];
        assert_eq!(read(&skewed), Some(Duration::from_secs(60)));
        assert_eq!(read(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")]), Some(Duration::ZERO));
        assert_eq!(read(&[("retry-after", "1e300")]), Some(Duration::from_secs(24 * 3600)));
        for bad in ["soon", "-3", "NaN", ""] {
            assert_eq!(read(&[("retry-after", bad)]), None, "{bad}");
        }
    }
}
