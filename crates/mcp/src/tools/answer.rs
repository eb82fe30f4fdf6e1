//! The shapes that all answers share. Start at [`failure`]. Invariant: `ok` is in every answer, and
//! an answer with `ok: false` has an `error` code and a `message` that says what to do.

use decide::gate::Language;
use decide::house::House;
use home::HouseError;
use serde_json::{Map, Value, json};

/// One of two texts, by the household's language.
pub fn say<'a>(language: Language, english: &'a str, chinese: &'a str) -> &'a str {
    match language {
        Language::English => english,
        Language::Chinese => chinese,
    }
}

/// Nothing happened, and why.
pub fn failure(error: &str, message: impl Into<String>) -> Value {
    json!({"ok": false, "error": error, "message": message.into()})
}

/// Arguments that make no call.
pub fn bad_request(message: impl Into<String>) -> Value {
    failure("bad_request", message)
}

/// More calls wait already than a client has any use for.
pub fn busy(language: Language) -> Value {
    let message = say(
        language,
        "Too many calls wait already. Nothing was done. Wait for their answers first.",
        "等待中的调用太多。没有执行任何操作。请先等它们的结果。",
    );
    failure("too_fast", message)
}

/// A failure of the house's, with its finer cause.
pub fn house_error(language: Language, error: &HouseError) -> Value {
    let mut answer = json!({"ok": false, "error": error.code, "message": error.message(language)});
    if let Some(cause) = error.cause {
        answer["cause"] = json!(cause);
    }
    answer
}

/// Whether an answer says that it failed: it is then an error for the client too.
pub fn failed(answer: &Value) -> bool {
    answer.get("ok") == Some(&Value::Bool(false))
}

/// An answer of a reading tool, opened with how fresh it is.
pub fn reading(house: &House, language: Language) -> Map<String, Value> {
    let mut answer = Map::new();
    answer.insert("ok".into(), json!(true));
    answer.insert("connected".into(), json!(house.readiness.connected));
    answer.insert("stale".into(), json!(!house.readiness.connected));
    if !house.readiness.connected {
        let note = say(
            language,
            "Home Assistant is not connected now. This is the last known picture; states may have changed. Say so.",
            "现在连不上 Home Assistant。这是最后一次得到的情况，状态可能已经变了，请如实说明。",
        );
        answer.insert("stale_note".into(), json!(note));
    } else if !house.readiness.running {
        let note = say(
            language,
            "Home Assistant is still starting; some devices are not there yet.",
            "Home Assistant 还在启动，有些设备尚未出现。",
        );
        answer.insert("partial_note".into(), json!(note));
    } else if !house.readiness.registries {
        let note = say(
            language,
            "Areas and names could not be read from Home Assistant yet; rooms may be missing here.",
            "还没能从 Home Assistant 读到区域和名称，这里可能缺少房间。",
        );
        answer.insert("partial_note".into(), json!(note));
    }
    answer
}
