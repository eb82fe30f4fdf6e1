//! Chinese sentences (a table).

use super::check_all;

#[test]
fn one_thing_by_its_name() {
    check_all(&[
        ("打开落地灯", "light.turn_on light.living_room_floor_lamp"),
        ("关掉氛围灯", "light.turn_off light.living_room_strip"),
        ("把台灯打开", "light.turn_on light.desk_lamp"),
        ("请帮我把小夜灯关了", "light.turn_off light.night_light"),
        ("麻烦开一下玄关灯", "light.turn_on light.entrance"),
        ("开走廊灯", "light.turn_on light.hallway"),
        ("關閉檯燈", "light.turn_off light.desk_lamp"),
        ("打開落地燈", "light.turn_on light.living_room_floor_lamp"),
        ("走廊灯打开", "light.turn_on light.hallway"),
        ("打开咖啡机", "switch.turn_on switch.coffee_machine"),
        ("关闭电水壶", "switch.turn_off switch.kettle"),
        ("启动电饭煲", "switch.turn_on switch.rice_cooker"),
        ("打开空气净化器", "fan.turn_on fan.air_purifier"),
        ("关掉抽油烟机", "fan.turn_off fan.range_hood"),
        ("打开电视", "media_player.turn_on media_player.living_room_tv"),
        ("打开客厅空调", "climate.turn_on climate.living_room_ac"),
        ("关掉地暖", "climate.turn_off climate.floor_heating"),
        ("锁上前门", "lock.lock lock.entrance_door"),
        ("把后门锁好", "lock.lock lock.back_door"),
        ("解锁前门", "lock.unlock lock.entrance_door"),
        ("打开前门", "lock.unlock lock.entrance_door"),
        ("把大门的锁打开", "lock.unlock lock.entrance_door"),
        ("关上后门", "lock.lock lock.back_door"),
        ("打开保险柜", "lock.unlock lock.safe"),
        ("打开客厅窗帘", "cover.open_cover cover.living_room_curtain"),
        ("拉上主卧窗帘", "cover.close_cover cover.bedroom_curtain"),
        ("把主卧窗帘拉开", "cover.open_cover cover.bedroom_curtain"),
        ("升起百叶窗", "cover.open_cover cover.kids_room_blind"),
        ("收起遮阳棚", "cover.close_cover cover.balcony_awning"),
        ("打开车库门", "cover.open_cover cover.family_garage_door"),
        ("关上车库门", "cover.close_cover cover.family_garage_door"),
        ("停止主卧窗帘", "cover.stop_cover cover.bedroom_curtain"),
        ("打开燃气阀", "valve.open_valve valve.gas"),
        ("关闭总水阀", "valve.close_valve valve.water_main"),
        ("打开喷灌", "valve.open_valve valve.sprinkler"),
        ("启动扫地机器人", "vacuum.start vacuum.robot"),
        ("让扫地机回去充电", "vacuum.return_to_base vacuum.robot"),
        ("扫地机器人开始打扫", "vacuum.start vacuum.robot"),
        ("暂停扫地机", "vacuum.pause vacuum.robot"),
        ("开始扫地", "vacuum.start vacuum.robot"),
        ("喂猫", "button.press button.feed_cat"),
        ("按一下喂猫", "button.press button.feed_cat"),
        ("打开派对模式", "input_boolean.turn_on input_boolean.party_mode"),
        ("切换走廊灯", "light.toggle light.hallway"),
        ("安防布防", "alarm_control_panel.alarm_arm_away alarm_control_panel.house_alarm"),
        ("安防在家布防", "alarm_control_panel.alarm_arm_home alarm_control_panel.house_alarm"),
        ("把安防撤防", "alarm_control_panel.alarm_disarm alarm_control_panel.house_alarm"),
        ("可以开一下台灯吗", "light.turn_on light.desk_lamp"),
        ("能帮我把台灯关掉吗？", "light.turn_off light.desk_lamp"),
        ("小爱同学，打开台灯", "light.turn_on light.desk_lamp"),
        ("关了台灯", "light.turn_off light.desk_lamp"),
        ("台灯关了吧", "light.turn_off light.desk_lamp"),
    ]);
}

#[test]
fn a_place_and_a_kind() {
    check_all(&[
        (
            "打开厨房的灯",
            "light.turn_on light.kitchen_counter light.kitchen_light light.kitchen_lights light.kitchen_main",
        ),
        ("打开书房的灯", "light.turn_on light.desk_lamp light.study_main"),
        ("打开书房灯", "light.turn_on light.study_main"),
        ("把浴室的灯关了", "light.turn_off light.bathroom light.mirror"),
        ("关掉卫生间所有的灯", "light.turn_off light.bathroom light.mirror"),
        ("把卧室的窗帘拉上", "cover.close_cover cover.bedroom_curtain"),
        ("打开卧室空调", "climate.turn_on climate.bedroom_ac"),
        ("打开浴室的风扇", "fan.turn_on fan.bathroom_exhaust"),
        ("把客厅的电视关掉", "media_player.turn_off media_player.living_room_tv"),
        ("餐厅的灯全部打开", "light.turn_on light.dining_pendant"),
        (
            "客厅，关灯",
            "light.turn_off light.ceiling_lights light.living_room_ceiling light.living_room_floor_lamp light.living_room_strip light.tv_backlight",
        ),
        ("把阳台和浴室的灯关掉", "light.turn_off light.balcony light.bathroom light.mirror"),
        ("把浴室的灯和风扇关掉", "light.turn_off light.bathroom light.mirror; fan.turn_off fan.bathroom_exhaust"),
        (
            "关闭一楼的灯",
            "light.turn_off light.ceiling_lights light.dining_pendant light.entrance light.garage light.kitchen_counter light.kitchen_light light.kitchen_lights light.kitchen_main light.living_room_ceiling light.living_room_floor_lamp light.living_room_strip light.porch light.tv_backlight",
        ),
        ("打开楼上的灯", "light.turn_on light.upstairs_lights"),
        (
            "锁门",
            "lock.lock lock.back_door lock.cellar_door lock.entrance_door lock.front_door lock.garage_side_door lock.kitchen_door lock.openable_lock_2 lock.poorly_installed_door lock.safe lock.shed_latch",
        ),
        ("关上所有的窗帘", "cover.close_cover cover.bedroom_curtain cover.living_room_curtain"),
        ("打开窗帘", "which cover.bedroom_curtain cover.living_room_curtain"),
        ("把厨房里的音箱暂停", "media_player.media_pause media_player.kitchen_speaker"),
        ("在书房开灯", "light.turn_on light.desk_lamp light.study_main"),
        ("给书房开灯", "light.turn_on light.desk_lamp light.study_main"),
    ]);
}

#[test]
fn the_commonest_sentence_there_is() {
    let every = "light.turn_off light.balcony light.bathroom light.bed_light light.bedroom_main light.bedside_lamp light.ceiling_lights light.chris_desk_lamp light.chris_office_lights light.chris_shelf_lamp light.desk_lamp light.dining_pendant light.entrance light.garage light.garden_path light.hallway light.kids_room_main light.kitchen_counter light.kitchen_light light.kitchen_lights light.kitchen_main light.living_room_ceiling light.living_room_floor_lamp light.living_room_strip light.mirror light.night_light light.porch light.study_main light.tv_backlight";
    check_all(&[
        ("关闭所有的灯", every),
        ("把所有灯都关了", every),
        ("把灯全关掉", every),
        ("关灯", every),
        ("全屋关灯", every),
        ("关掉家里所有的灯", every),
        ("turn off all the lights", every),
        ("turn all lights off", every),
        ("lights out", every),
        ("turn off every light in the house", every),
    ]);
}

#[test]
fn values() {
    check_all(&[
        ("把床头灯调到百分之三十", "light.turn_on light.bedside_lamp {\"brightness_pct\":30}"),
        ("床头灯调到30%", "light.turn_on light.bedside_lamp {\"brightness_pct\":30}"),
        ("把床头灯亮度调到一半", "light.turn_on light.bedside_lamp {\"brightness_pct\":50}"),
        ("把床头灯的亮度设为80", "light.turn_on light.bedside_lamp {\"brightness_pct\":80}"),
        ("床头灯调暗一点", "light.turn_on light.bedside_lamp {\"brightness_step_pct\":-20}"),
        ("把床头灯再调亮一点", "light.turn_on light.bedside_lamp {\"brightness_step_pct\":20}"),
        ("床头灯调亮10%", "light.turn_on light.bedside_lamp {\"brightness_step_pct\":10}"),
        ("把台灯调到最亮", "light.turn_on light.desk_lamp {\"brightness_pct\":100}"),
        ("氛围灯调成红色", "light.turn_on light.living_room_strip {\"color_name\":\"red\"}"),
        ("把氛围灯变成蓝色", "light.turn_on light.living_room_strip {\"color_name\":\"blue\"}"),
        ("台灯换成暖光", "light.turn_on light.desk_lamp {\"color_temp_kelvin\":2700}"),
        ("主卧空调调到26度", "climate.set_temperature climate.bedroom_ac {\"temperature\":26}"),
        ("把主卧空调调到二十六度半", "climate.set_temperature climate.bedroom_ac {\"temperature\":26.5}"),
        ("主卧空调26度", "climate.set_temperature climate.bedroom_ac {\"temperature\":26}"),
        ("把主卧温度调到24度", "climate.set_temperature climate.bedroom_ac {\"temperature\":24}"),
        ("主卧空调调高两度", "climate.set_temperature climate.bedroom_ac {\"temperature\":28}"),
        ("主卧空调温度调低一点", "climate.set_temperature climate.bedroom_ac {\"temperature\":25}"),
        (
            "客厅空调开到25度",
            "climate.turn_on climate.living_room_ac; climate.set_temperature climate.living_room_ac {\"temperature\":25}",
        ),
        ("客厅空调制冷", "climate.set_hvac_mode climate.living_room_ac {\"hvac_mode\":\"cool\"}"),
        ("把客厅空调调成除湿模式", "climate.set_hvac_mode climate.living_room_ac {\"hvac_mode\":\"dry\"}"),
        (
            "客厅空调制冷26度",
            "climate.set_hvac_mode climate.living_room_ac {\"hvac_mode\":\"cool\"}; climate.set_temperature climate.living_room_ac {\"temperature\":26}",
        ),
        ("客厅空调风速调到低", "climate.set_fan_mode climate.living_room_ac {\"fan_mode\":\"low\"}"),
        ("客厅窗帘开一半", "cover.set_cover_position cover.living_room_curtain {\"position\":50}"),
        ("把客厅窗帘拉到30%", "cover.set_cover_position cover.living_room_curtain {\"position\":30}"),
        ("主卧风扇调到60%", "fan.set_percentage fan.bedroom_fan {\"percentage\":60}"),
        ("主卧风扇调到高速", "fan.set_percentage fan.bedroom_fan {\"percentage\":100}"),
        ("空气净化器调到睡眠模式", "fan.set_preset_mode fan.air_purifier {\"preset_mode\":\"sleep\"}"),
        ("电视音量调到20", "media_player.volume_set media_player.living_room_tv {\"volume_level\":0.2}"),
        ("厨房音箱大声点", "media_player.volume_set media_player.kitchen_speaker {\"volume_level\":0.5}"),
        ("把电视静音", "media_player.volume_mute media_player.living_room_tv {\"is_volume_muted\":true}"),
        ("电视切换到爱奇艺", "media_player.select_source media_player.living_room_tv {\"source\":\"爱奇艺\"}"),
        ("电视切到HDMI1", "media_player.select_source media_player.living_room_tv {\"source\":\"HDMI 1\"}"),
        ("洗衣程序调到羊毛", "select.select_option select.washer_program {\"option\":\"羊毛\"}"),
        ("加湿器湿度调到55%", "humidifier.set_humidity humidifier.bedroom {\"humidity\":55}"),
        ("热水器调到50度", "water_heater.set_temperature water_heater.bathroom {\"temperature\":50}"),
        ("鱼缸温度调到26度", "number.set_value number.aquarium_temperature {\"value\":26}"),
        ("把牛奶加到购物清单", "todo.add_item todo.shopping {\"item\":\"牛奶\"}"),
        ("添加牛奶到购物清单", "todo.add_item todo.shopping {\"item\":\"牛奶\"}"),
        ("购物清单加鸡蛋", "todo.add_item todo.shopping {\"item\":\"鸡蛋\"}"),
        ("在购物清单里添加洗洁精", "todo.add_item todo.shopping {\"item\":\"洗洁精\"}"),
        ("启动厨房计时器五分钟", "timer.start timer.kitchen {\"duration\":\"00:05:00\"}"),
        (
            "把主卧的灯调到40%",
            "light.turn_on light.bed_light light.bedroom_main light.bedside_lamp {\"brightness_pct\":40}",
        ),
    ]);
}

#[test]
fn several_at_once() {
    check_all(&[
        ("打开台灯和书房灯", "light.turn_on light.desk_lamp light.study_main"),
        ("打开台灯，拉上书房遮光帘", "light.turn_on light.desk_lamp; cover.close_cover cover.study_shade"),
        (
            "先关掉电视再关掉电视背光",
            "media_player.turn_off media_player.living_room_tv; light.turn_off light.tv_backlight",
        ),
        ("把台灯打开，书房灯关掉", "light.turn_on light.desk_lamp; light.turn_off light.study_main"),
        ("关掉电视然后锁上前门", "media_player.turn_off media_player.living_room_tv; lock.lock lock.entrance_door"),
        ("打开台灯、书房灯和走廊灯", "light.turn_on light.desk_lamp light.hallway light.study_main"),
        ("打开台灯然后给我讲个笑话", "nothing"),
        ("打开台灯，书房灯和走廊灯关掉", "nothing"),
        ("除了镜前灯，把浴室的灯都关掉", "light.turn_off light.bathroom"),
        ("除了台灯以外关掉书房的灯", "light.turn_off light.study_main"),
    ]);
}
