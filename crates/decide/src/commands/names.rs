//! The house's own names, ready to be found in a sentence. Start at [`Names::new`]. Invariant: a
//! name fits only as a whole; nothing is shortened, corrected or guessed.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::Value;

use super::words::{Words, spell};
use crate::house::{Entity, EntityId, House};

/// What one name stands for in this house.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Named {
    pub entities: Vec<EntityId>,
    pub areas: BTreeSet<Arc<str>>,
    pub floors: BTreeSet<Arc<str>>,
    pub choices: Vec<Choice>,
}

/// An option of an entity: a program, a source, a preset.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Choice {
    pub of: EntityId,
    pub service: &'static str,
    pub key: &'static str,
    pub value: String,
}

pub(super) struct Names {
    by_first: HashMap<String, Vec<(Vec<String>, Named)>>,
}

/// Longest name that is looked for, in words.
const NAME_WORDS_MAX: usize = 40;

impl Names {
    /// All names of entities that are there and in scope, of areas and of floors.
    pub fn new(house: &House, in_scope: &dyn Fn(&EntityId) -> bool) -> Self {
        let mut names = Self { by_first: HashMap::new() };
        for (id, entity) in house.entities.iter().filter(|(id, entity)| entity.state.is_some() && in_scope(id)) {
            for name in &entity.info.names {
                names.add(name, |named| {
                    if !named.entities.contains(id) {
                        named.entities.push(id.clone());
                    }
                });
            }
            names.add_choices(id, entity);
        }
        for (id, area) in house.areas.iter() {
            for name in std::iter::once(&area.name).chain(&area.aliases) {
                names.add(name, |named| {
                    named.areas.insert(id.clone());
                });
            }
        }
        for (id, floor) in house.floors.iter() {
            for name in std::iter::once(&floor.name).chain(&floor.aliases) {
                names.add(name, |named| {
                    named.floors.insert(id.clone());
                });
            }
        }
        names
    }

    fn add_choices(&mut self, id: &EntityId, entity: &Entity) {
        let lists: &[(&str, &'static str, &'static str)] = match id.domain() {
            "select" | "input_select" => &[("options", "select_option", "option")],
            "media_player" => &[("source_list", "select_source", "source")],
            "fan" => &[("preset_modes", "set_preset_mode", "preset_mode")],
            "climate" => &[("preset_modes", "set_preset_mode", "preset_mode")],
            "humidifier" => &[("available_modes", "set_mode", "mode")],
            _ => &[],
        };
        for (attribute, service, key) in lists {
            let values = entity.attribute(attribute).and_then(Value::as_array);
            for value in values.into_iter().flatten().filter_map(Value::as_str) {
                let choice = Choice { of: id.clone(), service, key, value: value.to_owned() };
                let also = also_called(value).iter().copied();
                for said in std::iter::once(value).chain(also) {
                    self.add(said, |named| named.choices.push(choice.clone()));
                }
            }
        }
    }

    fn add(&mut self, name: &str, add: impl FnOnce(&mut Named)) {
        let words = spell(name).words;
        let Some(first) = words.first().filter(|_| words.len() <= NAME_WORDS_MAX) else { return };
        let known = self.by_first.entry(first.clone()).or_default();
        match known.iter_mut().find(|(known, _)| *known == words) {
            Some((_, named)) => add(named),
            None => {
                let mut named = Named::default();
                add(&mut named);
                known.push((words, named));
            }
        }
    }

    /// Names that start at a word, with their length.
    pub fn at<'a>(&'a self, words: &'a Words, at: usize) -> impl Iterator<Item = (usize, &'a Named)> {
        let starting = words.words.get(at).and_then(|first| self.by_first.get(first));
        let fits = starting.into_iter().flatten().filter(move |(name, _)| words.has_at(at, name));
        fits.map(|(name, named)| (name.len(), named))
    }

    /// What exactly this is the name of.
    pub fn exactly(&self, text: &str) -> Option<&Named> {
        let words = spell(text).words;
        let (_, named) = self.by_first.get(words.first()?)?.iter().find(|(name, _)| *name == words)?;
        Some(named)
    }
}

/// Chinese words for presets that integrations name in English.
fn also_called(value: &str) -> &'static [&'static str] {
    match value {
        "sleep" | "Sleep" => &["睡眠"],
        "auto" | "Auto" => &["自动"],
        "turbo" | "Turbo" | "boost" => &["强力", "强劲"],
        "normal" | "Normal" => &["普通", "正常", "标准"],
        "eco" | "Eco" => &["节能"],
        "away" | "Away" => &["外出", "离家"],
        "home" | "Home" => &["在家"],
        "night" | "Night" => &["夜间"],
        "comfort" => &["舒适"],
        _ => &[],
    }
}
