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

/// The same room in both languages. No row shares a word with another.
const ROOMS: &[&[&str]] = &[
    &["kitchen", "厨房"],
    &["living room", "lounge", "sitting room", "客厅", "起居室"],
    &["bedroom", "卧室"],
    &["master bedroom", "main bedroom", "主卧", "主卧室"],
    &["guest room", "guest bedroom", "客房"],
    &["kids room", "children's room", "儿童房"],
    &["bathroom", "浴室", "卫生间", "洗手间"],
    &["dining room", "餐厅", "饭厅"],
    &["study", "书房"],
    &["office", "办公室"],
    &["garage", "车库"],
    &["garden", "花园"],
    &["yard", "backyard", "院子", "后院"],
    &["balcony", "阳台"],
    &["hallway", "corridor", "走廊", "过道"],
    &["entrance", "entryway", "玄关", "门厅"],
    &["basement", "cellar", "地下室"],
    &["attic", "loft", "阁楼"],
    &["laundry", "laundry room", "洗衣房"],
];

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
        names.add_twins();
        names
    }

    /// A room called in one language answers to its common name in the other, where nothing else
    /// in the house is called so.
    fn add_twins(&mut self) {
        let areas = |twins: &[&str]| -> BTreeSet<Arc<str>> {
            let named = twins.iter().filter_map(|twin| self.exactly(twin));
            named.flat_map(|named| named.areas.iter().cloned()).collect()
        };
        let mut wanted: Vec<(&str, Arc<str>)> = Vec::new();
        for twins in ROOMS {
            let found = areas(twins);
            if let (1, Some(area)) = (found.len(), found.first()) {
                let free = twins.iter().filter(|twin| self.exactly(twin).is_none());
                wanted.extend(free.map(|twin| (*twin, area.clone())));
            }
        }
        for (twin, area) in wanted {
            self.add(twin, |named| {
                named.areas.insert(area.clone());
            });
        }
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

    fn add(&mut self, name: &str, add: impl Fn(&mut Named)) {
        let words = spell(name).words;
        if let Some(at) = halves(&words) {
            self.add_words(words[..at].to_vec(), &add);
            self.add_words(words[at..].to_vec(), &add);
        }
        self.add_words(words, &add);
    }

    fn add_words(&mut self, words: Vec<String>, add: &dyn Fn(&mut Named)) {
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

/// Where "楼下的灯 Downstairs lights", two names for one thing, is parted.
fn halves(words: &[String]) -> Option<usize> {
    let latin: Vec<bool> = words.iter().map(|word| word.is_ascii()).collect();
    let at = latin.windows(2).position(|pair| pair[0] != pair[1])? + 1;
    let one_change = latin[at..].iter().all(|it| *it == latin[at]);
    let digits = words.iter().any(|word| word.bytes().all(|b| b.is_ascii_digit()));
    let stands_alone = |part: &[String]| match part {
        [word] => word.is_ascii() && word.len() > 3,
        _ => true,
    };
    (one_change && !digits && stands_alone(&words[..at]) && stands_alone(&words[at..])).then_some(at)
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
