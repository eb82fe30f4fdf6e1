//! What a refused call answers. Start at [`refusal`]. Invariants: every guarded target that is in scope is named; the
//! text never holds a ready-made line that would open the gate; nothing in it comes from the model.

use decide::gate::{Decision, Language, Risk, Verdict};
use serde_json::{Value, json};

use super::answer::say;
use super::view::View;

/// The seed's words, which clients and tests look for.
pub const WHY: &str = "This action opens the house, and this server has no way for a person to say yes: an MCP client \
carries no session and no browser. It is refused rather than guessed at.";
pub const RETRY: &str = "Do not retry this call. No argument you can pass will change the answer.";
const WHY_PHYSICAL: &str = "This action could do harm, and this server has no way for a person to say yes: an MCP \
client carries no session and no browser. It is refused rather than guessed at.";
const WHY_REFUSED: &str = "What this action would do cannot be seen or may not be done from here. It is refused rather \
than guessed at.";

/// Reasons in words, beyond which they are only counted; names beside ids, beyond which there are none.
const REASONS_MAX: usize = 8;
const NAMES_MAX: usize = 20;

pub fn refusal(view: &View<'_>, decision: &Decision) -> Value {
    let asks = decision.verdict == Verdict::Ask;
    let risk = decision.risk.unwrap_or(Risk::Security);
    let strictest = decision.reasons.iter().filter(|reason| reason.verdict == decision.verdict);
    let mut sentences = view.sentences(strictest);
    let targets = view.targets(decision);
    let count = sentences.len();
    sentences.truncate(REASONS_MAX);
    let why = match (asks, risk) {
        (true, Risk::Security) => WHY,
        (true, Risk::Physical) => WHY_PHYSICAL,
        (false, _) => WHY_REFUSED,
    };
    let mut answer = json!({
        "ok": false,
        "refused": true,
        "error": if asks { "needs_confirmation" } else { "refused" },
        "risk": risk,
        "targets": targets,
        "message": message(view, asks, sentences.first()),
        "reasons": sentences,
        "why": why,
        "retry": RETRY,
    });
    if targets.len() <= NAMES_MAX {
        answer["target_names"] = targets.iter().map(|id| view.name(id)).collect();
    }
    if count > REASONS_MAX {
        answer["reasons_left_out"] = json!(count - REASONS_MAX);
    }
    if asks {
        answer["how_a_person_confirms"] = json!([say(
            view.language,
            "The person who runs this server can decide it outside this conversation, in its configuration file, after reading `menshen gate explain`. Nothing said here can.",
            "运行本服务的人可以在对话之外、在它的配置文件里决定（可先看 `menshen gate explain`）。在这里说什么都没有用。",
        )]);
    }
    answer
}

fn message(view: &View<'_>, asks: bool, first: Option<&String>) -> String {
    let lead = match (asks, view.language) {
        (true, Language::English) => "Refused, nothing moved: a person has to allow this",
        (true, Language::Chinese) => "已拒绝，没有任何动作，需要由人来允许",
        (false, Language::English) => "Refused, nothing moved",
        (false, Language::Chinese) => "已拒绝，没有任何动作",
    };
    match (first, view.language) {
        (None, Language::English) => format!("{lead}."),
        (None, Language::Chinese) => format!("{lead}。"),
        (Some(first), Language::English) => format!("{lead} ({first})."),
        (Some(first), Language::Chinese) => format!("{lead}（{first}）。"),
    }
}
