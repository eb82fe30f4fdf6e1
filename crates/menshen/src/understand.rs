//! From a sentence to what came of it, without any language model: the household's own macros, our
//! plain commands, Home Assistant's own recogniser in its dry form; then the gate, like any call.
//!
//! Start at [`answer`]. Invariants: at most one reader's understanding is acted on; a sentence that
//! no reader understands wholly moves nothing; everything that moves went through the gate.

use std::sync::Arc;

use decide::gate::{Call, Language};
use decide::house::{Entity, EntityId, House};
use decide::macros::{Basis, Hit, Match, candidates, match_phrase};
use decide::text::fold;
use decide::understood::{Ask, Fact, Understood};
use decide::{commands, intents};
use mcp::Desk;
use serde::Serialize;
use serde_json::{Map, Value, json};

mod moved;
pub mod told;

pub use moved::Moved;

/// Who understood a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reader {
    /// The matcher of scenes and scripts.
    Macro,
    /// Our reader of plain commands.
    Command,
    /// Home Assistant's own.
    Recogniser,
}

/// A thing by its id and the name to show.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Named {
    pub entity_id: EntityId,
    pub name: String,
}

/// What became of one sentence.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    pub said: String,
    pub understood: bool,
    /// Nothing failed, nothing was refused, nothing is left to choose.
    pub ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Reader>,
    #[serde(flatten)]
    pub what: What,
    /// What it is about.
    pub matched: Vec<Named>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum What {
    /// Each call with what the gate and the house said to it.
    Done {
        steps: Vec<Step>,
    },
    Told {
        ask: Ask,
        facts: Vec<Fact>,
        sentence: String,
    },
    /// Several fit: the person has to say which.
    Which,
    /// Nobody understood it; these come near.
    NotUnderstood,
    /// The house cannot be asked now.
    Failed {
        answer: Value,
    },
}

/// One call and what came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// The macro that runs, where one does; else the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<Named>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
    pub moved: Vec<Moved>,
    /// As the tools answer.
    pub answer: Value,
}

impl Step {
    pub fn refused(&self) -> bool {
        self.answer.get("refused") == Some(&Value::Bool(true))
    }

    pub fn failed(&self) -> bool {
        self.answer.get("ok") == Some(&Value::Bool(false))
    }
}

/// What one reader made of a sentence.
enum Reading {
    Macro(Hit),
    /// Macros that fit equally.
    Macros(Vec<Hit>),
    Plain(Reader, Understood),
}

/// Understand a sentence, and do it or answer it.
pub async fn answer(desk: &Desk, text: &str, language: Language) -> Answer {
    let mut desk = desk.settled();
    desk.language = language;
    let house = match desk.house_to_read().await {
        Ok(house) => house,
        Err(answer) => return ended(text, None, What::Failed { answer }, vec![]),
    };
    let (reading, near) = read(&desk, &house, text).await;
    match reading {
        None => ended(text, None, What::NotUnderstood, named(&desk, &house, &near)),
        Some(Reading::Macros(hits)) => {
            let ids: Vec<EntityId> = hits.into_iter().map(|hit| hit.entity_id).collect();
            ended(text, Some(Reader::Macro), What::Which, named(&desk, &house, &ids))
        }
        Some(Reading::Macro(hit)) => run(&desk, &house, text, &hit).await,
        Some(Reading::Plain(by, understood)) => follow(&desk, &house, text, by, understood).await,
    }
}

/// What a sentence asks for, before anything is done about it.
pub enum Plan {
    /// The household's macro that this phrase means.
    Macro(Named),
    Calls(Vec<Call>),
    /// A question, answered.
    Told(String),
    /// Several fit.
    Which(Vec<Named>),
    /// Nobody understood it; these come near.
    NotUnderstood(Vec<Named>),
    /// The house cannot be asked now: a tool's answer.
    Failed(Value),
}

/// What a sentence asks for; moves nothing.
pub async fn plan(desk: &Desk, text: &str, language: Language) -> Plan {
    let mut desk = desk.settled();
    desk.language = language;
    let house = match desk.house_to_read().await {
        Ok(house) => house,
        Err(answer) => return Plan::Failed(answer),
    };
    let (reading, near) = read(&desk, &house, text).await;
    match reading {
        None => Plan::NotUnderstood(named(&desk, &house, &near)),
        Some(Reading::Macros(hits)) => {
            let ids: Vec<EntityId> = hits.into_iter().map(|hit| hit.entity_id).collect();
            Plan::Which(named(&desk, &house, &ids))
        }
        Some(Reading::Macro(hit)) => {
            let name = desk.view(&house).name(&hit.entity_id);
            Plan::Macro(Named { entity_id: hit.entity_id, name })
        }
        Some(Reading::Plain(_, understood)) => {
            let matched = named(&desk, &house, &understood.entities());
            match understood {
                Understood::Which { .. } => Plan::Which(matched),
                Understood::Question(question) => {
                    let facts = question.facts(&house);
                    Plan::Told(told::facts(&desk, &house, &question.ask, &facts))
                }
                Understood::Calls(calls) => Plan::Calls(calls),
            }
        }
    }
}

/// The first reader that understands it wholly; else what comes near. A macro by its very name is
/// first, and one by a looser likeness waits until nothing was named in full.
async fn read(desk: &Desk, house: &House, text: &str) -> (Option<Reading>, Vec<EntityId>) {
    let view = desk.view(house);
    let shown = |id: &EntityId, entity: &Entity| !entity.info.hidden && view.shows(id, entity);
    let found = match_phrase(text, &candidates(house, shown));
    let in_scope = |id: &EntityId| house.entity(id.as_str()).is_some_and(|entity| view.shows(id, entity));
    let command = commands::read(text, house, in_scope);
    if named_so(&found) && !command.as_ref().is_some_and(|command| named_longer(house, text, command, &found)) {
        return (Some(as_macro(found)), vec![]);
    }
    if let Some(understood) = command {
        return (Some(Reading::Plain(Reader::Command, understood)), vec![]);
    }
    let near = match found {
        Match::None(none) => none.near.into_iter().map(|hit| hit.entity_id).collect(),
        found => return (Some(as_macro(found)), vec![]),
    };
    let code = match desk.language {
        Language::English => "en",
        Language::Chinese => "zh-CN",
    };
    // Without its recogniser the house still understands what we do.
    let reply = desk.connection.recognise(text, code).await.unwrap_or_default();
    let understood = intents::understood(house, &reply, text).filter(|it| it.entities().iter().all(in_scope));
    (understood.map(|understood| Reading::Plain(Reader::Recogniser, understood)), near)
}

fn named_so(found: &Match) -> bool {
    let exact = |hit: &Hit| matches!(hit.basis, Basis::Id | Basis::Name | Basis::Alias);
    match found {
        Match::One(hit) => exact(hit),
        Match::Ambiguous(hits) => hits.iter().all(exact),
        Match::None(_) => false,
    }
}

/// 打开派对模式 names the helper 派对模式 in full, and the scene 派对 only in part.
fn named_longer(house: &House, text: &str, command: &Understood, found: &Match) -> bool {
    let said = fold(text);
    let longest = |ids: &[EntityId]| {
        let names = ids.iter().filter_map(|id| house.entity(id.as_str())).flat_map(|entity| &entity.info.names);
        names.map(|name| fold(name)).filter(|name| said.find(name).is_some()).map(|name| name.weight()).max()
    };
    let macros: Vec<EntityId> = match found {
        Match::One(hit) => vec![hit.entity_id.clone()],
        Match::Ambiguous(hits) => hits.iter().map(|hit| hit.entity_id.clone()).collect(),
        Match::None(_) => vec![],
    };
    longest(&command.entities()) > longest(&macros)
}

fn as_macro(found: Match) -> Reading {
    match found {
        Match::One(hit) => Reading::Macro(hit),
        Match::Ambiguous(hits) => Reading::Macros(hits),
        Match::None(none) => Reading::Macros(none.near),
    }
}

async fn run(desk: &Desk, house: &Arc<House>, text: &str, hit: &Hit) -> Answer {
    let id = &hit.entity_id;
    let phrase = object(json!({"phrase": text}));
    let reached = moved::reached(&mcp::tools::macros::preview_macro(desk, &phrase).await);
    let answer = mcp::tools::macros::run_macro(desk, &phrase).await;
    let ran = answer.get("ran") == Some(&Value::Bool(true));
    let moved = if ran { moved::settled(desk, house, &reached).await } else { vec![] };
    let matched = named(desk, house, std::slice::from_ref(id));
    let step = Step { runs: matched.first().cloned(), call: None, moved, answer };
    ended(text, Some(Reader::Macro), What::Done { steps: vec![step] }, matched)
}

async fn follow(desk: &Desk, house: &Arc<House>, text: &str, by: Reader, understood: Understood) -> Answer {
    let matched = named(desk, house, &understood.entities());
    let what = match understood {
        Understood::Which { .. } => What::Which,
        Understood::Question(question) => {
            let facts = question.facts(house);
            let sentence = told::facts(desk, house, &question.ask, &facts);
            What::Told { ask: question.ask, facts, sentence }
        }
        Understood::Calls(calls) => {
            let mut steps = Vec::with_capacity(calls.len());
            for call in calls {
                steps.push(carry_out(desk, call).await);
            }
            What::Done { steps }
        }
    };
    ended(text, Some(by), what, matched)
}

/// One call through the gate, as the tools make it.
async fn carry_out(desk: &Desk, call: Call) -> Step {
    let house = match desk.house_to_write().await {
        Ok(house) => house,
        Err(answer) => return Step { runs: None, call: Some(call), moved: vec![], answer },
    };
    let answer = mcp::tools::act::act(desk, house.clone(), &|_| Ok(call.clone())).await;
    let moved = moved::of_outcomes(desk, &house, &answer);
    Step { runs: None, call: Some(call), moved, answer }
}

fn ended(text: &str, by: Option<Reader>, what: What, matched: Vec<Named>) -> Answer {
    let ok = match &what {
        What::Done { steps } => !steps.iter().any(|step| step.failed() || step.refused()),
        What::Told { .. } => true,
        What::Which | What::NotUnderstood | What::Failed { .. } => false,
    };
    let understood = !matches!(what, What::NotUnderstood | What::Failed { .. });
    let said = decide::text::clean(text, SAID_CHARS_MAX);
    Answer { said, understood, ok, by, what, matched }
}

/// Longest sentence echoed, in characters.
const SAID_CHARS_MAX: usize = 300;

fn named(desk: &Desk, house: &House, ids: &[EntityId]) -> Vec<Named> {
    let view = desk.view(house);
    ids.iter().map(|id| Named { entity_id: id.clone(), name: view.name(id) }).collect()
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
