//! Three things to type, taken from the house that is there. Start at [`examples`]. Invariant: what
//! is proposed was understood first.

use decide::gate::Language;
use decide::house::{Entity, EntityId, House};
use decide::macros::{Match, Moment, candidates, match_phrase};
use decide::{commands, understood::Understood};
use mcp::Desk;

/// A macro, a light, and something that the gate holds, where the house has them.
pub fn examples(desk: &Desk, house: &House, language: Language) -> Vec<String> {
    [macro_name(desk, house, language), lights(desk, house, language), lock(desk, house, language)]
        .into_iter()
        .flatten()
        .collect()
}

fn macro_name(desk: &Desk, house: &House, language: Language) -> Option<String> {
    let view = desk.view(house);
    let all = candidates(house, |id, entity| !entity.info.hidden && view.shows(id, entity));
    let phrase = match language {
        Language::Chinese => "晚安",
        Language::English => "good night",
    };
    if let Match::One(hit) = match_phrase(phrase, &all)
        && hit.moment == Some(Moment::GoodNight)
    {
        return Some(phrase.to_owned());
    }
    let named = |name: &str| in_language(name, language);
    all.iter().flat_map(|it| it.names.iter()).find(|name| named(name)).map(|name| name.to_string())
}

fn lights(desk: &Desk, house: &House, language: Language) -> Option<String> {
    let areas = house.areas.values().flat_map(|area| std::iter::once(&area.name).chain(&area.aliases));
    let sentence = |name: &str| match language {
        Language::Chinese => format!("打开{name}的灯"),
        Language::English => format!("turn on the {} lights", name.to_lowercase()),
    };
    areas
        .filter(|name| in_language(name, language))
        .map(|name| sentence(name))
        .find(|text| understood(desk, house, text))
}

fn lock(desk: &Desk, house: &House, language: Language) -> Option<String> {
    let plain = |entity: &Entity| house.area_of(entity).is_some() && entity.members().next().is_none();
    let names = house.domain("lock").filter(|(_, entity)| plain(entity)).flat_map(|(_, entity)| &entity.info.names);
    let sentence = |name: &str| match language {
        Language::Chinese => format!("解锁{name}"),
        Language::English => format!("unlock the {}", name.to_lowercase()),
    };
    names
        .filter(|name| in_language(name, language))
        .map(|name| sentence(name))
        .find(|text| understood(desk, house, text))
}

fn understood(desk: &Desk, house: &House, sentence: &str) -> bool {
    let view = desk.view(house);
    let shown = |id: &EntityId| house.entity(id.as_str()).is_some_and(|entity| view.shows(id, entity));
    matches!(commands::read(sentence, house, shown), Some(Understood::Calls(_)))
}

fn in_language(name: &str, language: Language) -> bool {
    let short = name.chars().count() <= 24;
    short
        && match language {
            Language::Chinese => name.chars().all(|c| matches!(c as u32, 0x4E00..=0x9FFF)),
            Language::English => name.chars().all(|c| c.is_ascii_alphabetic() || c == ' '),
        }
}
