//! What holds for every text.

use std::sync::Arc;

use proptest::prelude::*;

use super::{FAMILY, shown};
use crate::commands::read;
use crate::house::{Area, Entity, EntityInfo, House, State};
use crate::understood::Understood;

fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "turn",
        "on",
        "off",
        "the",
        "lights",
        "in",
        "kitchen",
        "study",
        "desk lamp",
        "and",
        "set",
        "to",
        "30%",
        "not",
        "don't",
        "打开",
        "关",
        "把",
        "台灯",
        "书房",
        "的",
        "灯",
        "不要",
        "别",
        "调到",
        "百分之",
        "三十",
        "和",
        "，",
        "吗",
        "锁",
        "前门",
        "除了",
        "以外",
        "except",
        "all",
        "所有",
        "一半",
        "红色",
        "unlock",
        "?",
        "。",
        "is",
        "没有",
        "了",
        "26",
        "度",
        "半",
    ]);
    prop::collection::vec(word, 0..14).prop_map(|words| words.join(" "))
}

#[test]
fn a_room_answers_to_its_name_in_the_other_language_unless_that_is_taken() {
    let house = |names: &[(&str, &str)]| {
        let mut house = House { version: "2026.11.0".into(), ..House::default() };
        let area = |name: &str| Area { name: name.into(), ..Area::default() };
        house.areas = Arc::new(names.iter().map(|(id, name)| ((*id).into(), area(name))).collect());
        for (id, _) in names {
            let info = EntityInfo { area_id: Some((*id).into()), ..EntityInfo::default() };
            let state = State { value: "off".into(), ..State::default() };
            let entity = Entity { info: Arc::new(info), state: Some(Arc::new(state)) };
            house.entities.insert(super::house::id(&format!("light.{id}")), entity);
        }
        house.reindexed()
    };
    let lights = |house: &House| shown(read("打开厨房的灯", house, |_| true).as_ref());
    assert_eq!(lights(&house(&[("a", "Kitchen"), ("b", "Study")])), "light.turn_on light.a");
    assert_eq!(lights(&house(&[("a", "Kitchen"), ("b", "厨房")])), "light.turn_on light.b");
    assert_eq!(lights(&house(&[("a", "Cooking"), ("b", "Study")])), "nothing");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_text_makes_it_fail(text in ".{0,60}") {
        let _ = read(&text, &FAMILY, |_| true);
    }

    #[test]
    fn a_sentence_that_denies_moves_nothing(text in words()) {
        let denies = ["not", "don't", "不要", "别"].iter().any(|no| text.contains(no));
        if denies {
            prop_assert!(!matches!(read(&text, &FAMILY, |_| true), Some(Understood::Calls(_))), "{}", text);
        }
    }

    #[test]
    fn every_target_is_in_the_house_and_in_scope(text in words()) {
        let scope = |id: &crate::house::EntityId| id.domain() == "light";
        if let Some(understood) = read(&text, &FAMILY, scope) {
            for id in understood.entities() {
                prop_assert!(FAMILY.entity(id.as_str()).is_some() && id.domain() == "light", "{}: {}", text, id);
            }
        }
    }
}
