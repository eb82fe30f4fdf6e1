//! What a call that is no call answers. Start at [`problem`]. Invariant: it says what to write instead.

use decide::gate::{Language, Problem};
use decide::house::EntityId;
use decide::text::clean;
use serde_json::{Value, json};

use crate::tools::answer::bad_request;
use crate::tools::names::{CANDIDATES_MAX, near};
use crate::tools::row::candidate;
use crate::tools::view::View;

/// A problem of the gate's as an answer: nothing to judge, nothing happened.
pub fn problem(view: &View<'_>, problem: &decide::gate::Problem) -> Value {
    let chinese = view.language == Language::Chinese;
    let pick = |english: String, chinese_text: String| if chinese { chinese_text } else { english };
    let message = match problem {
        Problem::BadService { text } => {
            let text = clean(text, 80);
            pick(
                format!("\"{text}\" is no service. domain and service are words like light and turn_on."),
                format!("“{text}”不是服务。domain 和 service 应当是 light、turn_on 这样的词。"),
            )
        }
        Problem::NotFound { ids, nearest } => {
            let ids: Vec<String> = ids.iter().take(CANDIDATES_MAX).map(|id| clean(id, 80)).collect();
            let message = pick(
                format!("This house has no {}. Nothing was done. Use ids from list_entities.", ids.join(", ")),
                format!("这个家没有 {}。没有执行任何操作。请使用 list_entities 给出的 id。", ids.join("、")),
            );
            let shown = |id: &&EntityId| view.house.entity(id.as_str()).is_some_and(|entity| view.shows(id, entity));
            let mut nearest: Vec<EntityId> = nearest.iter().filter(shown).take(CANDIDATES_MAX).cloned().collect();
            if nearest.is_empty()
                && let Some((domain, object)) = ids.first().and_then(|id| id.split_once('.'))
            {
                nearest = near(view, domain, object);
            }
            let nearest: Vec<Value> = nearest.iter().map(|id| candidate(view, id)).collect();
            return json!({"ok": false, "error": "not_found", "message": message, "ids": ids, "nearest": nearest});
        }
        Problem::BadTarget { key, text } => {
            let (key, text) = (clean(key, 60), clean(text, 80));
            pick(
                format!("\"{text}\" is not accepted as {key}. Write plain ids from list_entities, one by one."),
                format!("{key} 不接受“{text}”。请逐个写出 list_entities 给出的 id。"),
            )
        }
        Problem::BadData { key, why } => {
            let (key, why) = (clean(key, 60), clean(why, 200));
            pick(format!("data.{key} is not accepted: {why}"), format!("不接受 data.{key}：{why}"))
        }
        Problem::NoTarget => pick(
            "Which one? Give entity_id, or target with area_id, floor_id, label_id or device_id.".into(),
            "要操作哪一个？请给出 entity_id，或在 target 里给出 area_id、floor_id、label_id、device_id。".into(),
        ),
        Problem::NothingThere { domain } => {
            let domain = clean(domain, 60);
            let message = pick(
                format!("There is no {domain} there. Nothing was done."),
                format!("那里没有 {domain}。没有执行任何操作。"),
            );
            return json!({"ok": false, "error": "not_found", "message": message});
        }
        Problem::NotReady { missing } => {
            let missing = clean(missing, 60);
            let message = pick(
                format!(
                    "Home Assistant has not sent its {missing} yet, so this cannot be judged. Nothing was done. Try again in a few seconds, or use entity ids."
                ),
                format!(
                    "Home Assistant 还没有发来 {missing}，现在无法判断。没有执行任何操作。请过几秒再试，或直接使用实体 id。"
                ),
            );
            return json!({"ok": false, "error": "not_connected", "cause": "starting", "message": message});
        }
    };
    bad_request(message)
}
