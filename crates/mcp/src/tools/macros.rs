//! `list_macros`, `preview_macro`, `run_macro`: the household's own scenes and scripts. Start at
//! [`run_macro`]. Invariants: a phrase that fits nothing runs nothing; a preview runs nothing; the
//! body is read again before a macro runs.

use std::sync::Arc;

use decide::gate::{Call, Decision, Language, Verdict};
use decide::house::{Entity, EntityId, House};
use decide::macros::{Hit, Match, NoMatch, Why, candidates, match_phrase};
use decide::text::clean;
use serde_json::{Map, Value, json};

use super::act::act;
use super::answer::{reading, say};
use super::arguments::Arguments;
use super::row::candidate;
use super::view::View;
use crate::desk::{Desk, loaded};

pub(super) mod would;

/// Limit: macros told at once; a house with more pages through list_entities.
const MACROS_MAX: usize = 300;
/// Longest phrase echoed, in characters.
const PHRASE_CHARS: usize = 80;

pub fn list_macros(view: &View<'_>, given: &Map<String, Value>) -> Result<Value, Value> {
    Arguments::read(given, &[], view.language)?;
    let mut macros: Vec<(String, &EntityId)> = (view.visible())
        .filter(|(id, _)| matches!(id.domain(), "scene" | "script"))
        .map(|(id, _)| (view.name(id), id))
        .collect();
    macros.sort();
    let count = macros.len();
    let rows: Vec<Value> = (macros.into_iter().take(MACROS_MAX))
        .map(|(name, id)| json!({"entity_id": id, "name": name, "kind": id.domain(), "asks": asks(view, id).0}))
        .collect();
    let mut answer = reading(view.house, view.language);
    answer.insert("count".into(), json!(count));
    if rows.len() < count {
        answer.insert("truncated".into(), json!(true));
        let note = say(
            view.language,
            "More macros: list_entities with domain scene or script, and offset.",
            "还有更多：用 list_entities，domain 设为 scene 或 script，并使用 offset。",
        );
        answer.insert("note".into(), json!(note));
    }
    answer.insert("macros".into(), Value::Array(rows));
    Ok(Value::Object(answer))
}

/// Whether running it would stop at the gate, nothing where that cannot be known now; and why.
fn asks(view: &View<'_>, id: &EntityId) -> (Option<bool>, Option<Decision>) {
    let decision = if loaded(view.house) { view.judged(&turn_on(id)).ok() } else { None };
    (decision.as_ref().map(|decision| decision.verdict != Verdict::Allow), decision)
}

fn turn_on(id: &EntityId) -> Call {
    let mut target = Map::new();
    target.insert("entity_id".into(), json!([id]));
    Call { domain: id.domain().to_owned(), service: "turn_on".to_owned(), data: Map::new(), target: Some(target) }
}

pub async fn preview_macro(desk: &Desk, given: &Map<String, Value>) -> Value {
    match phrase(desk, given, &["phrase"]) {
        Ok((phrase, _)) => preview(desk, phrase).await.unwrap_or_else(|answer| answer),
        Err(answer) => answer,
    }
}

pub async fn run_macro(desk: &Desk, given: &Map<String, Value>) -> Value {
    let (phrase, dry_run) = match phrase(desk, given, &["phrase", "dry_run"]) {
        Ok(read) => read,
        Err(answer) => return answer,
    };
    let ended = if dry_run { preview(desk, phrase).await } else { run(desk, phrase).await };
    ended.unwrap_or_else(|answer| answer)
}

fn phrase<'a>(desk: &Desk, given: &'a Map<String, Value>, known: &[&str]) -> Result<(&'a str, bool), Value> {
    let arguments = Arguments::read(given, known, desk.language)?;
    Ok((arguments.required("phrase")?, arguments.flag("dry_run")?))
}

async fn preview(desk: &Desk, phrase: &str) -> Result<Value, Value> {
    let house = desk.house_to_read().await?;
    previewed(&desk.view(&house), phrase)
}

/// What a phrase means and what would move.
pub fn previewed(view: &View<'_>, phrase: &str) -> Result<Value, Value> {
    let found = meant(view, phrase)?;
    let (lines, whole) = would::would(view, &found.entity_id);
    let mut answer = reading(view.house, view.language);
    answer.insert("ran".into(), json!(false));
    answer.insert("dry_run".into(), json!(true));
    answer.insert("match".into(), shape(view, &found));
    answer.insert("would".into(), Value::Array(lines));
    answer.insert("would_is_all".into(), json!(whole));
    let (asks, decision) = asks(view, &found.entity_id);
    answer.insert("asks".into(), json!(asks));
    if let Some(decision) = decision.filter(|decision| decision.verdict != Verdict::Allow) {
        answer.insert("targets".into(), json!(view.targets(&decision)));
        answer.insert("reasons".into(), json!(reasons(view, &decision)));
    }
    Ok(Value::Object(answer))
}

fn reasons(view: &View<'_>, decision: &Decision) -> Vec<String> {
    let strictest = decision.reasons.iter().filter(|reason| reason.verdict == decision.verdict);
    view.sentences(strictest).into_iter().take(8).collect()
}

async fn run(desk: &Desk, phrase: &str) -> Result<Value, Value> {
    let house = desk.house_to_write().await?;
    let house = if loaded(&house) { house } else { desk.house_loaded().await };
    let found = meant(&desk.view(&house), phrase)?;
    let house = refreshed(desk, &house, &found.entity_id).await?;
    let call = turn_on(&found.entity_id);
    let mut answer = act(desk, house.clone(), &|_| Ok(call.clone())).await;
    if let Value::Object(answer) = &mut answer {
        // As the seed has it: `ran` says whether it ran, not what.
        let sent = answer.remove("ran").is_some();
        let error = answer.get("error").and_then(Value::as_str);
        let ran = sent && matches!(error, None | Some("not_confirmed" | "outcome_unknown"));
        answer.insert("ran".into(), json!(ran));
        answer.insert("dry_run".into(), json!(false));
        answer.insert("match".into(), shape(&desk.view(&house), &found));
    }
    Ok(answer)
}

/// The house with the macro's body, and those of macros in it, as they are now.
async fn refreshed(desk: &Desk, house: &Arc<House>, id: &EntityId) -> Result<Arc<House>, Value> {
    let ids = would::reached(&desk.view(house), id);
    desk.connection.refresh_bodies(&ids).await.map_err(|error| desk.house_error(&error))
}

/// The match as the seed has it.
fn shape(view: &View<'_>, hit: &Hit) -> Value {
    json!({
        "entity_id": hit.entity_id,
        "name": view.name(&hit.entity_id),
        "macro": hit.moment,
        "confidence": (hit.confidence * 100.0).round() / 100.0,
        "reason": hit.reason(view.language),
    })
}

/// The macro that a phrase means, or the whole answer where there is none or more than one.
fn meant(view: &View<'_>, phrase: &str) -> Result<Hit, Value> {
    let shown = |id: &EntityId, entity: &Entity| !entity.info.hidden && view.shows(id, entity);
    match match_phrase(phrase, &candidates(view.house, shown)) {
        Match::One(hit) => Ok(hit),
        Match::Ambiguous(hits) => Err(several(view, phrase, &hits)),
        Match::None(none) => Err(nothing(view, phrase, &none)),
    }
}

fn nothing(view: &View<'_>, phrase: &str, none: &NoMatch) -> Value {
    let said = clean(phrase, PHRASE_CHARS);
    let message = match (none.why, view.language) {
        (Why::Negated, Language::English) => {
            format!("\"{said}\" says not to, or to end something; nothing ran. A macro runs only when asked for.")
        }
        (Why::Negated, Language::Chinese) => format!("“{said}”的意思是不要，或者要结束；什么也没有运行。"),
        (Why::Question, Language::English) => {
            format!("\"{said}\" asks or tells and does not ask for a macro; nothing ran.")
        }
        (Why::Question, Language::Chinese) => format!("“{said}”是在询问或陈述，不是要求运行；什么也没有运行。"),
        (_, Language::English) => format!(
            "No scene or script of this household fits \"{said}\"; nothing ran. list_macros shows what there is. Do not run another one in its place."
        ),
        (_, Language::Chinese) => {
            format!("这个家没有符合“{said}”的场景或脚本，什么也没有运行。用 list_macros 查看有哪些。不要用别的代替。")
        }
    };
    let mut answer = json!({"ok": true, "ran": false, "match": null, "message": message});
    if !none.near.is_empty() {
        answer["near"] = offered(view, &none.near);
    }
    answer
}

fn several(view: &View<'_>, phrase: &str, hits: &[Hit]) -> Value {
    let (said, count) = (clean(phrase, PHRASE_CHARS), hits.len());
    let message = match view.language {
        Language::English => {
            format!("{count} macros fit \"{said}\"; nothing ran. Ask the person which one, then use its name.")
        }
        Language::Chinese => {
            format!("有 {count} 个场景或脚本符合“{said}”，什么也没有运行。请问清楚是哪一个，再用它的名称。")
        }
    };
    json!({"ok": true, "ran": false, "match": null, "ambiguous": true, "message": message, "candidates": offered(view, hits)})
}

fn offered(view: &View<'_>, hits: &[Hit]) -> Value {
    hits.iter().map(|hit| candidate(view, &hit.entity_id)).collect()
}
