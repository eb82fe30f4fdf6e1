//! Questions in both languages (a table).

use super::{FAMILY, check_all};
use crate::commands::read;
use crate::understood::Understood;

#[test]
fn questions_are_understood_and_move_nothing() {
    check_all(&[
        ("is the back door locked", "ask Is(Locked): lock.back_door"),
        ("Is the back door locked?", "ask Is(Locked): lock.back_door"),
        ("are the bathroom lights on?", "ask Is(On): light.bathroom light.mirror"),
        ("is the family garage door open", "ask Is(Open): cover.family_garage_door"),
        ("is the bedroom air conditioner on?", "ask Is(On): climate.bedroom_ac"),
        ("what is the outside temperature", "ask State: sensor.outside_temperature"),
        ("what's the temperature in the living room?", "ask Measure(Temperature): sensor.living_room_temperature"),
        ("how warm is it in the kids room", "ask Measure(Temperature): sensor.kids_room_temperature"),
        ("what is the humidity in the bedroom", "ask Measure(Humidity): sensor.bedroom_humidity"),
        ("is there anyone in the study", "ask Is(Detected): binary_sensor.study_presence"),
        ("is the kettle on", "ask Is(On): switch.kettle"),
        ("which lights are on in the bathroom", "ask Which(On): light.bathroom light.mirror"),
        ("how many lights are on in the bathroom", "ask Count(On): light.bathroom light.mirror"),
        ("how is the robot vacuum", "ask State: vacuum.robot"),
        ("desk lamp on?", "ask Is(On): light.desk_lamp"),
        ("前门锁了吗", "ask Is(Locked): lock.entrance_door"),
        ("前门锁好了吗？", "ask Is(Locked): lock.entrance_door"),
        ("后门锁上了没有", "ask Is(Locked): lock.back_door"),
        ("客厅多少度", "ask Measure(Temperature): sensor.living_room_temperature"),
        ("客厅现在几度？", "ask Measure(Temperature): sensor.living_room_temperature"),
        ("客厅温度是多少", "ask State: sensor.living_room_temperature"),
        ("主卧的湿度是多少", "ask Measure(Humidity): sensor.bedroom_humidity"),
        ("台灯开着吗", "ask Is(OnOrOpen): light.desk_lamp"),
        ("台灯关了吗", "ask Is(OffOrClosed): light.desk_lamp"),
        ("台灯开了没有", "ask Is(OnOrOpen): light.desk_lamp"),
        ("浴室哪些灯开着", "ask Which(OnOrOpen): light.bathroom light.mirror"),
        ("浴室开着几盏灯", "ask Count(OnOrOpen): light.bathroom light.mirror"),
        ("车库门关了吗", "ask Is(OffOrClosed): cover.family_garage_door"),
        ("书房有人吗", "ask Is(Detected): binary_sensor.study_presence"),
        ("厨房有烟吗", "ask Is(Detected): binary_sensor.kitchen_smoke"),
        ("浴室漏水了吗", "ask Is(Detected): binary_sensor.bathroom_leak"),
        ("扫地机器人怎么样了", "ask State: vacuum.robot"),
        ("电视音量是多少", "ask Measure(Volume): media_player.living_room_tv"),
        ("请问前门锁着吗", "ask Is(Locked): lock.entrance_door"),
    ]);
}

#[test]
fn an_answer_tells_what_the_house_shows() {
    let Some(Understood::Question(question)) = read("are the bathroom lights on", &FAMILY, |_| true) else {
        panic!("not understood");
    };
    let facts = question.facts(&FAMILY);
    assert_eq!(facts.len(), 2);
    assert!(facts.iter().all(|fact| fact.state == "off" && fact.fits == Some(false)));
    let Some(Understood::Question(question)) = read("客厅多少度", &FAMILY, |_| true) else {
        panic!("not understood")
    };
    let facts = question.facts(&FAMILY);
    assert_eq!((facts[0].value, facts[0].unit.as_deref()), (Some(22.5), Some("°C")));
}
