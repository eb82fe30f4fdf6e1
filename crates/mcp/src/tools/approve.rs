//! What a call answers that waits for a person, and what happens at the yes. Start at [`asked`] and
//! [`carried`].
//!
//! Invariants: the answer to a call that asks comes at once and moves nothing; a call that was approved is
//! executed by us at the yes, never by calling again; calling again gives what came of it.

use decide::gate::{Call, Decision, Language};
use decide::house::House;
use home::approvals::{Approved, Asking, Filed, Question, Shown, State};
use serde_json::{Value, json};

use super::act::act_approved;
use super::answer::say;
use super::refusal::refusal;
use crate::desk::Desk;

/// Asks a person, where there is a way to; the refusal, with what happens now.
pub fn asked(desk: &Desk, house: &House, call: &Call, decision: &Decision) -> Option<Value> {
    let approvals = desk.approvals.as_ref()?;
    let asking = Asking { session: &desk.session, origin: desk.origin, language: desk.language };
    let question = Question::new(house, &asking, call, decision)?;
    let mut answer = refusal(&desk.view(house), decision);
    let message = match approvals.file(question) {
        Filed::Decided(shown) => return Some(outcome(desk.language, &shown)),
        Filed::Waits(shown) => {
            answer["pending"] = json!(true);
            answer["retry"] = json!(say(
                desk.language,
                "Calling again moves nothing: if it is allowed it is done then, once, and you are told.",
                "再次调用不会有任何动作：如果允许，会立即执行一次，并告诉你结果。",
            ));
            answer["approval"] = json!({ "id": shown.id, "seconds_left": shown.seconds_left });
            waiting(desk.language, &shown)
        }
        Filed::TooMany => say(
            desk.language,
            "Refused, nothing moved: too many questions of this conversation wait for a person already. Let the person decide those first.",
            "已拒绝，没有任何动作：这个对话已经有太多请求在等人决定，请先处理那些。",
        )
        .to_owned(),
        Filed::CoolDown(seconds) => match desk.language {
            Language::English => format!(
                "Refused, nothing moved: a person did not allow this a moment ago. It is not asked again for {seconds} s; do not try other ways."
            ),
            Language::Chinese => {
                format!("已拒绝，没有任何动作：刚才没有人允许这个操作，{seconds} 秒内不再询问；不要换别的办法。")
            }
        },
    };
    answer["message"] = json!(message);
    answer["how_a_person_confirms"] = json!([say(
        desk.language,
        "A person of this household decides it outside this conversation, with `menshen approvals`. Nothing said here can; tell them that it waits for them.",
        "由家里的人在对话之外用 `menshen approvals` 决定。在这里说什么都没有用；请告诉他们有一项操作等待决定。",
    )]);
    Some(answer)
}

/// For a call that a person allowed a moment ago: what came of it. Locking, closing and arming go their way.
pub fn answered_before(desk: &Desk, house: &House, call: &Call, decision: &Decision) -> Option<Value> {
    let approvals = desk.approvals.as_ref()?;
    let sends = &decision.plan.sends;
    if house.readiness.connected && !sends.is_empty() && sends.iter().all(|send| send.toward_safety) {
        return None;
    }
    approvals.done_already(&desk.session, call).map(|shown| outcome(desk.language, &shown))
}

/// The one execution of an approved call.
pub async fn carried(desk: &Desk, approved: Approved) -> Value {
    let Approved { call, origin, language, yes } = approved;
    let mut desk = desk.settled();
    (desk.origin, desk.language) = (origin, language);
    match act_approved(&desk, &call, yes).await {
        Ok(answer) => answer,
        Err(mut answer) => {
            answer["changed"] = json!(true);
            answer["message"] = json!(say(
                language,
                "Allowed, but by then it would have done something else than what was asked, so nothing was sent. Ask again.",
                "已允许，但此时它会做的事与所询问的不同，因此什么也没有发送。请重新询问。",
            ));
            answer
        }
    }
}

fn waiting(language: Language, shown: &Shown) -> String {
    match language {
        Language::English => {
            format!("Nothing moved yet: a person is asked, for {1} s. {0}", shown.question.en, shown.seconds_left)
        }
        Language::Chinese => {
            format!("还没有任何动作：正在询问家里的人，{1} 秒内有效。{0}", shown.question.zh, shown.seconds_left)
        }
    }
}

/// What the first call came to.
fn outcome(language: Language, shown: &Shown) -> Value {
    if shown.state == State::Executing {
        let message = say(
            language,
            "A person allowed it, and it is being done now. Nothing more was sent.",
            "已有人允许，正在执行。没有再发送任何操作。",
        );
        return json!({ "ok": true, "approved": true, "executing": true, "message": message });
    }
    let mut answer = shown.answer.clone();
    answer["approved"] = json!(true);
    answer["already"] = json!(say(
        language,
        "This is what came of it when a person allowed it. This call sent nothing more.",
        "这是有人允许后执行的结果。这次调用没有再发送任何操作。",
    ));
    answer
}
