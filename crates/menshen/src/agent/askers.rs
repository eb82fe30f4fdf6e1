//! Who is told what came of a question to a person: the conversation that it came from. Start at
//! [`report`]. Invariant: what is told is what the house did; the model's own words are not in it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use home::Approvals;
use home::approvals::{Shown, State};
use kernel::agent::Agent;
use kernel::notes;
use kernel::ports::{NewInput, Principal};
use sdk::ToolScope;
use serde_json::Value;
use tokio::sync::broadcast::error::RecvError;

/// Questions whose askers are remembered; there are never more open ones.
const ASKERS_MAX: usize = 100;

#[derive(Clone)]
struct Asker {
    id: String,
    session: String,
    principal: Principal,
    chinese: bool,
    no_memory: bool,
}

/// Which conversation each question came from.
#[derive(Clone, Default)]
pub struct Askers(Arc<Mutex<VecDeque<Asker>>>);

impl Askers {
    pub fn remember(&self, id: &str, scope: &ToolScope) {
        let principal = Principal {
            channel: scope.channel.clone(),
            user_id: scope.user_id.clone(),
            group_id: scope.group_id.clone(),
        };
        let asker = Asker {
            id: id.to_owned(),
            session: scope.session.clone(),
            principal,
            chinese: scope.language == "zh",
            no_memory: scope.no_memory,
        };
        let mut askers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        askers.retain(|known| known.id != asker.id);
        askers.push_back(asker);
        if askers.len() > ASKERS_MAX {
            askers.pop_front();
        }
    }

    fn take(&self, id: &str) -> Option<Asker> {
        let mut askers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = askers.iter().position(|asker| asker.id == id)?;
        askers.remove(at)
    }
}

/// Tells each conversation how its questions ended, for as long as the agent runs.
pub async fn report(agent: Agent, approvals: Approvals, askers: Askers) {
    let mut ended = approvals.subscribe();
    loop {
        let told = match ended.recv().await {
            Ok(shown) => vec![shown],
            // What was missed is in the list.
            Err(RecvError::Lagged(_)) => approvals.list(),
            Err(RecvError::Closed) => return,
        };
        for shown in told.into_iter().filter(|shown| !matches!(shown.state, State::Waiting | State::Executing)) {
            let Some(asker) = askers.take(&shown.id) else { continue };
            let input = NewInput {
                session: asker.session,
                kind: if asker.no_memory { sdk::InjectionKind::NoMemory } else { sdk::InjectionKind::Text },
                principal: asker.principal,
                source: "approval".into(),
                text: notes::approval(&said(&shown, asker.chinese), asker.chinese),
                client_id: Some(format!("approval@{}", shown.id)),
                at_ms: 0,
            };
            if let Err(failure) = agent.put(input).await {
                tracing::warn!("what came of a question could not be told: {failure}");
            }
        }
    }
}

fn said(shown: &Shown, chinese: bool) -> String {
    let what = if chinese { &shown.question.zh } else { &shown.question.en };
    let what = what.trim_end_matches(['?', '？']);
    let came = came_of(&shown.answer);
    match (shown.state, chinese) {
        (State::Approved, false) => format!("A person allowed it: {what}. {came}"),
        (State::Approved, true) => format!("已有人允许：{what}。{came}"),
        (State::Changed, false) => {
            format!("A person allowed it ({what}), but it would have done something else by then; nothing was sent.")
        }
        (State::Changed, true) => format!("已有人允许（{what}），但此时它会做的事已经不同，没有发送任何操作。"),
        (State::Denied, false) => format!("A person said no: {what}. Nothing moved."),
        (State::Denied, true) => format!("有人拒绝了：{what}。没有任何动作。"),
        (_, false) => format!("Nobody decided in time: {what}. Nothing moved."),
        (_, true) => format!("没有人及时决定：{what}。没有任何动作。"),
    }
}

/// The states that the house shows, or why there are none.
fn came_of(answer: &Value) -> String {
    let outcomes = answer["outcomes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let told: Vec<String> = outcomes
        .iter()
        .take(12)
        .filter_map(|outcome| {
            let (name, kind) = (outcome["name"].as_str()?, outcome["outcome"].as_str()?);
            Some(format!("{name}: {}", outcome["state"].as_str().unwrap_or(kind)))
        })
        .collect();
    let failed = (answer["ok"] == false).then(|| answer["message"].as_str().unwrap_or_default().to_owned());
    [told.join("; "), failed.unwrap_or_default()].join(" ").trim().to_owned()
}
