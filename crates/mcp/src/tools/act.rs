//! From a call to what the house did: judge, permit, execute, tell. Start at [`act`]. Invariant:
//! what is sent is exactly the plan of an allowed decision; a call cut off is never sent again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use decide::gate::{Call, Decision, Facts, Language, Permit, Plan, Problem, Send, Verdict, Yes, judge};
use decide::house::{EntityId, House};
use home::{Cause, HouseError, Outcome, OutcomeKind, Receipt};
use serde_json::{Map, Value, json};

use super::answer::{failure, house_error, say};
use super::approve;
use super::call::problem::problem;
use super::call::values::in_range;
use super::macros::would::reached;
use super::refusal::refusal;
use super::response;
use super::row::candidate;
use super::view::{View, cleaned};
use crate::desk::{Desk, loaded, now};

/// Limit: entities that one call may toggle, open or switch on.
pub const FAN_OUT_MAX: usize = 50;
/// Outcomes told one by one; the rest is counted by kind.
const OUTCOMES_MAX: usize = 100;

/// What a tool asks for, as one call on the house as it is.
pub type Wanted<'a> = &'a (dyn Fn(&View<'_>) -> Result<Call, Value> + Sync);

/// Longest wait for the picture to catch up with the house: a move toward safety is sent in 100 ms.
const CATCH_UP_MAX: Duration = Duration::from_millis(40);
/// The same before a macro runs, which nothing hurries.
const MACRO_CATCH_UP_MAX: Duration = Duration::from_secs(1);
/// Limit: longest wait of a call for changes of scripts, scenes, automations and registries to be read again.
const SETTLE_MAX: Duration = Duration::from_secs(5);
/// Limit: how often a call is judged again because the house was changed in between; then it answers `changed`.
const JUDGED_AGAIN_MAX: usize = 2;

/// Judge the call and, where allowed, execute it. A house that is not wholly loaded is judged as it
/// is first, so that moves toward safety wait for nothing, and again when loaded; all else is judged on
/// a house in which every change that was heard of has been read.
pub async fn act(desk: &Desk, house: Arc<House>, wanted: Wanted<'_>) -> Value {
    let mut house = house;
    let mut judged = decide(desk, &house, wanted);
    if !loaded(&house) && !matches!(&judged, Ok((_, decision)) if decision.verdict == Verdict::Allow) {
        house = desk.house_loaded().await;
        judged = decide(desk, &house, wanted);
    }
    if judged.as_ref().is_ok_and(|(_, decision)| depends_on_states(decision)) {
        house = desk.connection.caught_up(CATCH_UP_MAX).await;
        judged = decide(desk, &house, wanted);
    }
    let mut again = 0;
    loop {
        if judged.as_ref().is_ok_and(|(_, decision)| wants_settled(decision)) {
            house = match settled(desk, &judged).await {
                Ok(fresh) => fresh,
                Err(error) => return desk.house_error(&error),
            };
            judged = decide(desk, &house, wanted);
        }
        let (call, decision) = match judged {
            Ok(judged) => judged,
            Err(answer) => return answer,
        };
        if let Some(answer) = approve::answered_before(desk, &house, &call, &decision) {
            return answer;
        }
        match carry_out(desk, &house, &call, decision).await {
            Done::Told(answer) => return answer,
            Done::Changed(_) if again < JUDGED_AGAIN_MAX => again += 1,
            Done::Changed(answer) => return answer,
        }
        judged = decide(desk, &house, wanted);
    }
}

/// What came of a call that was allowed.
enum Done {
    Told(Value),
    /// Nothing was sent: the house was changed since it was judged.
    Changed(Value),
}

/// Allowed, and more than locking, closing or arming, which wait for nothing.
fn wants_settled(decision: &Decision) -> bool {
    decision.verdict == Verdict::Allow && decision.plan.sends.iter().any(|send| !send.toward_safety)
}

/// The house with all that changed in it. What runs a macro asks the house itself, and reads its body.
async fn settled(desk: &Desk, judged: &Result<(Call, Decision), Value>) -> Result<Arc<House>, HouseError> {
    let sends = judged.iter().flat_map(|(_, decision)| &decision.plan.sends);
    let macros: Vec<EntityId> = sends.flat_map(macros).collect();
    if macros.is_empty() {
        return desk.connection.settled(SETTLE_MAX).await;
    }
    desk.connection.caught_up(MACRO_CATCH_UP_MAX).await;
    let house = desk.connection.settled(SETTLE_MAX).await?;
    let view = desk.view(&house);
    let reached: BTreeSet<EntityId> = macros.iter().flat_map(|id| reached(&view, id)).collect();
    desk.connection.refresh_bodies(&reached.into_iter().collect::<Vec<_>>()).await
}

/// Scripts, scenes and automations that this sends; a script's own service names it.
fn macros(send: &Send) -> Vec<EntityId> {
    let own = (send.domain == "script").then(|| EntityId::parse(&format!("script.{}", send.service))).flatten();
    let named = send.entities.iter().filter(|id| matches!(id.domain(), "script" | "scene" | "automation"));
    named.cloned().chain(own).collect()
}

/// Allowed, and nothing in it but moves toward safety.
pub fn only_toward_safety(desk: &Desk, house: &House, wanted: Wanted<'_>) -> bool {
    decide(desk, house, wanted).is_ok_and(|(_, decision)| {
        let sends = &decision.plan.sends;
        decision.verdict == Verdict::Allow && !sends.is_empty() && sends.iter().all(|send| send.toward_safety)
    })
}

/// Where a state a few milliseconds old could hold back what is fine, or leave a door open.
fn depends_on_states(decision: &Decision) -> bool {
    let moves = |domain: &str| matches!(domain, "cover" | "valve" | "alarm_control_panel");
    let plan = &decision.plan;
    decision.verdict != Verdict::Allow || !plan.done.is_empty() || plan.sends.iter().any(|send| moves(&send.domain))
}

/// Call and decision, or why there is none.
fn decide(desk: &Desk, house: &House, wanted: Wanted<'_>) -> Result<(Call, Decision), Value> {
    let view = desk.view(house);
    let call = wanted(&view)?;
    let decision = judged(desk, house, &call).map_err(|found| problem(&view, &found))?;
    in_range(&view, &decision.plan)?;
    Ok((call, decision))
}

fn judged(desk: &Desk, house: &House, call: &Call) -> Result<Decision, Problem> {
    let in_flight = desk.connection.in_flight();
    judge(&Facts { house, policy: &desk.policy, in_flight: &in_flight, now: now() }, desk.origin, call)
}

async fn carry_out(desk: &Desk, house: &House, call: &Call, decision: Decision) -> Done {
    let view = desk.view(house);
    let ran = format!("{}.{}", cleaned(&call.domain), cleaned(&call.service));
    match decision.permit(desk.origin) {
        Err(decision) => {
            desk.record_refusal(call, &decision);
            Done::Told(approve::asked(desk, house, call, &decision).unwrap_or_else(|| refusal(&view, &decision)))
        }
        Ok(permit) => {
            if let Some(answer) = too_many(&view, permit.plan()) {
                desk.record_held(call, &answer);
                return Done::Told(answer);
            }
            if let Some(answer) = too_fast(desk, permit.plan()) {
                desk.record_held(call, &answer);
                return Done::Told(answer);
            }
            sent(desk, &ran, permit).await
        }
    }
}

/// Executes, and tells what came of it.
async fn sent(desk: &Desk, ran: &str, permit: Permit) -> Done {
    let plan = permit.plan().clone();
    let receipt = desk.connection.execute(permit).await;
    let house = desk.connection.house();
    let answer = told(&desk.view(&house), ran, &plan, &receipt);
    let changed = receipt.error.as_ref().is_some_and(|error| error.is(Cause::Changed));
    // What went out all the same, toward safety, is not sent again.
    let held = changed && plan.sends.iter().all(|send| !send.toward_safety);
    if held { Done::Changed(answer) } else { Done::Told(answer) }
}

/// Judges a call that a person said yes to once more, on a house in which every change has been read, and
/// executes it where it is still what was asked. The answer, and whether it was not.
pub(super) async fn act_approved(desk: &Desk, call: &Call, yes: Yes) -> Result<Value, Value> {
    let house = desk.house_loaded().await;
    // As when it was asked: a macro's body may be another one by now.
    let judged = self::judged(desk, &house, call).map(|decision| (call.clone(), decision));
    let judged = judged.map_err(|found| problem(&desk.view(&house), &found));
    desk.connection.caught_up(MACRO_CATCH_UP_MAX).await;
    let house = settled(desk, &judged).await.map_err(|error| desk.house_error(&error))?;
    let decision = self::judged(desk, &house, call).map_err(|found| problem(&desk.view(&house), &found))?;
    let ran = format!("{}.{}", cleaned(&call.domain), cleaned(&call.service));
    match decision.approved(yes, desk.origin) {
        Err(decision) => {
            desk.record_refusal(call, &decision);
            Err(refusal(&desk.view(&house), &decision))
        }
        Ok(permit) => match sent(desk, &ran, permit).await {
            Done::Told(answer) => Ok(answer),
            Done::Changed(answer) => Err(answer),
        },
    }
}

/// More writes in a minute than a household needs; moves toward safety are never held.
fn too_fast(desk: &Desk, plan: &Plan) -> Option<Value> {
    if plan.sends.iter().all(|send| send.toward_safety) {
        return None;
    }
    let wait = desk.pace.take(desk.policy.writes_per_minute).err()?;
    let message = match desk.language {
        Language::English => {
            format!("Too many changes in one minute. Nothing was done; there is room again in {wait} s.")
        }
        Language::Chinese => format!("一分钟内的操作太多。没有执行任何操作；{wait} 秒后可以再试。"),
    };
    let mut answer = failure("too_fast", message);
    answer["retry_after_secs"] = json!(wait);
    Some(answer)
}

/// Switching on, opening or toggling very much at once is most likely not what a person said.
/// Off, close, lock and the like never count.
pub fn too_many(view: &View<'_>, plan: &Plan) -> Option<Value> {
    let entities: BTreeSet<&EntityId> =
        plan.sends.iter().filter(|send| wakes(send)).flat_map(|send| &send.entities).collect();
    let count = entities.len();
    if count <= FAN_OUT_MAX {
        return None;
    }
    let message = match view.language {
        Language::English => format!(
            "That would switch on, open or toggle {count} entities at once; at most {FAN_OUT_MAX} go in one call. Nothing was done. Ask the person which rooms, then name an area or fewer entities."
        ),
        Language::Chinese => format!(
            "这会一次打开或切换 {count} 个设备，一次最多 {FAN_OUT_MAX} 个。没有执行任何操作。请问清楚是哪些房间，再指定区域或更少的设备。"
        ),
    };
    let mut answer = failure("too_many", message);
    answer["count"] = json!(count);
    answer["examples"] = json!(entities.into_iter().take(5).map(|id| candidate(view, id)).collect::<Vec<_>>());
    Some(answer)
}

fn wakes(send: &Send) -> bool {
    let service = send.service.as_str();
    let opens = service.starts_with("open") || (service.ends_with("_position") && position(send) > 0);
    service == "toggle" || service.starts_with("toggle_") || service.contains("turn_on") || service == "unlock" || opens
}

fn position(send: &Send) -> i64 {
    ["position", "tilt_position"].iter().filter_map(|key| send.data.get(*key)?.as_i64()).max().unwrap_or(1)
}

/// What the house did, entity by entity. `ok` is false where nothing was achieved.
pub fn told(view: &View<'_>, ran: &str, plan: &Plan, receipt: &Receipt) -> Value {
    let mut answer = Map::new();
    let failed = receipt.error.is_some() || nothing_achieved(&receipt.outcomes);
    answer.insert("ok".into(), json!(!failed));
    answer.insert("ran".into(), json!(ran));
    answer.insert("target".into(), target(plan));
    let shown: Vec<Value> = receipt.outcomes.iter().take(OUTCOMES_MAX).map(|outcome| shown(view, outcome)).collect();
    answer.insert("outcomes".into(), Value::Array(shown));
    if receipt.outcomes.len() > OUTCOMES_MAX {
        answer.insert("outcomes_left_out".into(), json!(receipt.outcomes.len() - OUTCOMES_MAX));
    }
    if !receipt.responses.is_empty() {
        response::put(&mut answer, &receipt.responses);
    }
    if let Some(error) = &receipt.error {
        if let Value::Object(error) = house_error(view.language, error) {
            answer.extend(error.into_iter().filter(|(key, _)| key != "ok"));
        }
    } else if failed {
        let (code, message) = excuse(view.language, &receipt.outcomes);
        answer.insert("error".into(), json!(code));
        answer.insert("message".into(), json!(message));
    } else {
        answer.insert("note".into(), json!(note(view.language, &receipt.outcomes)));
    }
    Value::Object(answer)
}

/// As the seed has it: one id, a list, or null.
fn target(plan: &Plan) -> Value {
    let mut ids: Vec<&EntityId> = plan.sends.iter().flat_map(|send| &send.entities).chain(&plan.done).collect();
    ids.sort();
    ids.dedup();
    match ids.as_slice() {
        [] => Value::Null,
        [id] => json!(id),
        ids => json!(ids),
    }
}

fn shown(view: &View<'_>, outcome: &Outcome) -> Value {
    let mut shown = Map::new();
    shown.insert("entity_id".into(), json!(outcome.entity_id));
    shown.insert("name".into(), json!(view.name(&outcome.entity_id)));
    shown.insert("outcome".into(), json!(outcome.outcome));
    if let Some(state) = &outcome.state {
        shown.insert("state".into(), json!(cleaned(state)));
    }
    if let Some(before) = outcome.before.as_ref().filter(|before| Some(*before) != outcome.state.as_ref()) {
        shown.insert("before".into(), json!(cleaned(before)));
    }
    Value::Object(shown)
}

fn achieved(outcome: &Outcome) -> bool {
    matches!(outcome.outcome, OutcomeKind::Confirmed | OutcomeKind::Accepted | OutcomeKind::Assumed | OutcomeKind::Done)
}

fn nothing_achieved(outcomes: &[Outcome]) -> bool {
    !outcomes.is_empty() && !outcomes.iter().any(achieved)
}

/// Code and message where no entity did what was asked.
fn excuse(language: Language, outcomes: &[Outcome]) -> (&'static str, &'static str) {
    let any = |kind: OutcomeKind| outcomes.iter().any(|outcome| outcome.outcome == kind);
    if any(OutcomeKind::OutcomeUnknown) {
        let text = say(
            language,
            "Sent, but the connection broke before an answer: it may or may not have happened. Read the state; do not send it again.",
            "已发送，但在得到回应前连接中断：可能执行了，也可能没有。请查看状态，不要重发。",
        );
        return ("outcome_unknown", text);
    }
    if any(OutcomeKind::NotConfirmed) {
        let text = say(
            language,
            "Home Assistant took the command, but the device did not report the new state in time. Do not say it is done; read its state.",
            "Home Assistant 接受了命令，但设备没有及时报告新状态。不要说已完成；请查看它的状态。",
        );
        return ("not_confirmed", text);
    }
    if any(OutcomeKind::Unavailable) {
        let text = say(language, "The device is unavailable; nothing moved.", "设备不可用，没有任何动作。");
        return ("unavailable", text);
    }
    if any(OutcomeKind::Ignored) {
        let text = say(
            language,
            "Home Assistant ignores this service for these entities; nothing moved.",
            "Home Assistant 对这些设备不执行该服务，没有任何动作。",
        );
        return ("ignored", text);
    }
    ("call_failed", say(language, "Home Assistant could not do it.", "Home Assistant 没能执行。"))
}

fn note(language: Language, outcomes: &[Outcome]) -> String {
    let total = outcomes.len();
    let blind = |outcome: &Outcome| matches!(outcome.outcome, OutcomeKind::Accepted | OutcomeKind::Assumed);
    if total > 0 && outcomes.iter().all(blind) {
        let text = say(
            language,
            "Home Assistant took it; there is no state that shows the effect.",
            "Home Assistant 已接受；没有状态可以证实效果。",
        );
        return text.to_owned();
    }
    let open = outcomes.iter().filter(|outcome| !achieved(outcome)).count();
    match (open, language) {
        (0, Language::English) => "Done as the outcomes say.".to_owned(),
        (0, Language::Chinese) => "已执行，结果见 outcomes。".to_owned(),
        (_, Language::English) => format!("{open} of {total} did not: see outcomes, and say which."),
        (_, Language::Chinese) => format!("{total} 个中有 {open} 个没有成功：见 outcomes，并请如实说明。"),
    }
}
