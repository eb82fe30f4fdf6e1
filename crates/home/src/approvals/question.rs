//! What a person is asked, made of facts. Start at [`Question::new`]. Invariant: every word is ours, an id,
//! or a cleaned name of the house.

use decide::gate::{Asked, Call, Decision, Language, Origin, Reason, Risk, Verdict};
use decide::house::{EntityId, House};
use decide::text::{NAME_CHARS_MAX, clean};
use serde::Serialize;

/// Things named in one question, and reasons given; more are counted.
const NAMED_MAX: usize = 5;
const REASONS_MAX: usize = 20;
/// Longest sentence of a reason, in characters.
const SENTENCE_CHARS: usize = 400;

/// One text in both languages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Both {
    pub en: String,
    pub zh: String,
}

#[derive(Clone, Debug)]
pub struct Question {
    pub(super) call: Call,
    pub(super) asked: Asked,
    pub(super) session: String,
    pub(super) origin: Origin,
    pub(super) language: Language,
    pub(super) text: Both,
    pub(super) why: Vec<Both>,
    pub(super) targets: Vec<EntityId>,
    pub(super) moves: Vec<String>,
    pub(super) risk: Risk,
}

/// Who asks, and how they are answered.
#[derive(Clone, Debug)]
pub struct Asking<'a> {
    pub session: &'a str,
    pub origin: Origin,
    pub language: Language,
}

impl Question {
    /// None where nobody is to be asked.
    pub fn new(house: &House, asking: &Asking<'_>, call: &Call, decision: &Decision) -> Option<Self> {
        let asked = decision.asked()?;
        let why = decision.reasons.iter().filter(|reason| reason.verdict == Verdict::Ask);
        let both = |reason: &Reason| Both {
            en: clean(&reason.sentence(Language::English), SENTENCE_CHARS),
            zh: clean(&reason.sentence(Language::Chinese), SENTENCE_CHARS),
        };
        let mut sentences: Vec<Both> = Vec::new();
        for sentence in why.map(both) {
            if sentences.len() < REASONS_MAX && !sentences.contains(&sentence) {
                sentences.push(sentence);
            }
        }
        let moves = decision.plan.sends.iter().flat_map(|send| {
            let service = format!("{}.{}", send.domain, send.service);
            match send.entities.is_empty() {
                true => vec![service],
                false => send.entities.iter().map(|id| format!("{service} {id}")).collect(),
            }
        });
        Some(Self {
            call: call.clone(),
            asked,
            session: asking.session.to_owned(),
            origin: asking.origin,
            language: asking.language,
            text: Both { en: text(house, decision, Language::English), zh: text(house, decision, Language::Chinese) },
            why: sentences,
            targets: decision.targets.clone(),
            moves: moves.collect(),
            risk: super::risk(decision.risk),
        })
    }
}

/// "Unlock Front Door (Hall)?"
fn text(house: &House, decision: &Decision, language: Language) -> String {
    let mut deeds: Vec<String> = Vec::new();
    for reason in decision.reasons.iter().filter(|reason| reason.verdict == Verdict::Ask) {
        let what = match reason.on.as_ref().or(reason.entity.as_ref()) {
            Some(id) => named(house, id, language),
            None => clean(&reason.by, NAME_CHARS_MAX),
        };
        let deed = reason.deed(language, &what);
        if !deeds.contains(&deed) {
            deeds.push(deed);
        }
    }
    let count = deeds.len();
    deeds.truncate(NAMED_MAX);
    let more = count - deeds.len();
    match language {
        Language::English => {
            let joined = deeds.join(", ");
            let mut letters = joined.chars();
            let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
            let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{first}{}{rest}?", letters.as_str())
        }
        Language::Chinese => {
            let rest = if more > 0 { format!("等 {count} 项") } else { String::new() };
            format!("{}{rest}？", deeds.join("，"))
        }
    }
}

/// Its name with the room it is in; where it has none, its id.
fn named(house: &House, id: &EntityId, language: Language) -> String {
    let Some(entity) = house.entity(id.as_str()) else { return id.to_string() };
    let name = clean(entity.name(id), NAME_CHARS_MAX);
    match (house.area_of(entity).map(|(_, area)| clean(&area.name, NAME_CHARS_MAX)), language) {
        (Some(area), Language::English) => format!("{name} ({area})"),
        (Some(area), Language::Chinese) => format!("{name}（{area}）"),
        (None, _) => name,
    }
}
