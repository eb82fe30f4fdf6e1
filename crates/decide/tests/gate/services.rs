//! Every service that the table knows, on one plain entity of its domain: what passes, what asks,
//! what is refused. A service that changes its column changes this page.

use super::small::{Small, call};
use serde_json::{Map, Value, json};

const ALLOW: &str = "
    homeassistant.turn_on homeassistant.turn_off homeassistant.toggle homeassistant.update_entity
    light.turn_on light.turn_off light.toggle
    fan.turn_on fan.turn_off fan.toggle fan.set_percentage fan.set_preset_mode fan.increase_speed fan.decrease_speed
    fan.oscillate fan.set_direction
    humidifier.turn_on humidifier.turn_off humidifier.toggle humidifier.set_humidity humidifier.set_mode
    climate.set_temperature climate.set_hvac_mode climate.set_preset_mode climate.set_fan_mode climate.set_humidity
    climate.set_swing_mode climate.set_aux_heat climate.set_swing_horizontal_mode climate.turn_on climate.turn_off
    climate.toggle
    water_heater.set_temperature water_heater.set_away_mode water_heater.set_operation_mode water_heater.turn_on
    water_heater.turn_off
    vacuum.start vacuum.pause vacuum.stop vacuum.start_pause vacuum.turn_on vacuum.turn_off vacuum.toggle
    vacuum.return_to_base vacuum.clean_spot vacuum.locate vacuum.set_fan_speed vacuum.clean_area
    lawn_mower.pause lawn_mower.dock lawn_mower.stop
    media_player.turn_on media_player.turn_off media_player.toggle media_player.volume_up media_player.volume_down
    media_player.volume_mute media_player.volume_set media_player.media_play media_player.media_pause
    media_player.media_play_pause media_player.media_stop media_player.media_next_track
    media_player.media_previous_track media_player.media_seek media_player.select_source
    media_player.select_sound_mode media_player.shuffle_set media_player.repeat_set media_player.clear_playlist
    media_player.unjoin media_player.join media_player.play_media media_player.browse_media media_player.search_media
    tts.speak tts.cloud_say assist_satellite.announce
    remote.turn_on remote.turn_off remote.toggle switch.turn_on switch.turn_off switch.toggle
    input_boolean.turn_on input_boolean.turn_off input_boolean.toggle input_button.press
    select.select_option select.select_first select.select_last select.select_next select.select_previous
    input_select.select_option input_select.select_first input_select.select_last input_select.select_next
    input_select.select_previous
    number.set_value text.set_value date.set_value time.set_value datetime.set_value
    input_number.set_value input_number.increment input_number.decrement input_text.set_value
    input_datetime.set_datetime
    counter.increment counter.decrement counter.reset counter.set_value
    timer.start timer.finish timer.change timer.pause timer.cancel
    todo.add_item todo.update_item todo.remove_item todo.remove_completed_items todo.get_items
    calendar.create_event calendar.get_events calendar.list_events
    weather.get_forecast weather.get_forecasts schedule.get_schedule
    lock.lock cover.close_cover valve.close_valve
    alarm_control_panel.alarm_arm_home alarm_control_panel.alarm_arm_away alarm_control_panel.alarm_arm_night
    alarm_control_panel.alarm_arm_vacation
    scene.turn_on script.turn_on script.turn_off script.toggle
    automation.trigger automation.turn_on automation.turn_off automation.toggle
    camera.turn_on camera.enable_motion_detection image_processing.scan update.clear_skipped
    persistent_notification.create notify.phone notify.send_message";

const ASK: &str = "
    lawn_mower.start_mowing siren.turn_on siren.turn_off siren.toggle button.press
    lock.unlock lock.open
    cover.open_cover cover.stop_cover cover.toggle cover.set_cover_position cover.open_cover_tilt
    cover.close_cover_tilt cover.stop_cover_tilt cover.toggle_cover_tilt cover.set_cover_tilt_position
    valve.open_valve valve.stop_valve valve.toggle valve.set_valve_position
    alarm_control_panel.alarm_arm_custom_bypass alarm_control_panel.alarm_disarm alarm_control_panel.alarm_trigger
    camera.turn_off camera.disable_motion_detection camera.snapshot camera.record camera.play_stream image.snapshot
    update.install update.skip persistent_notification.dismiss persistent_notification.dismiss_all
    light.apply_magic fan.reset_filter tts.clear_cache";

const REFUSE: &str = "
    scene.apply scene.create scene.delete scene.reload script.reload automation.reload light.reload
    vacuum.send_command remote.send_command remote.learn_command
    homeassistant.restart homeassistant.stop homeassistant.set_location homeassistant.reload_all
    homeassistant.save_persistent_states
    shell_command.x python_script.x pyscript.x rest_command.x mqtt.publish mqtt.dump conversation.process
    ai_task.generate_data backup.create hassio.addon_start recorder.purge group.set device_tracker.see
    assist_satellite.start_conversation zwave_js.set_value zha.issue_zigbee_cluster_command knx.send modbus.write_coil
    esphome.x frontend.set_theme logger.set_level cloud.remote_connect update.unknown persistent_notification.unknown
    lock.set_usercode cover.calibrate switch.magic glow.apply";

/// One entity of each domain, none of which opens anything.
fn house() -> Small {
    let mut small = Small::new()
        .set("/entities/alarm_control_panel.house/state/value", json!("disarmed"))
        .set("/entities/cover.garage/state/value", json!("open"))
        .script("plain", json!([{ "delay": 1 }]))
        .scene("plain", json!({ "light.lamp": "on" }))
        .automation("plain", json!([]), json!([{ "delay": 1 }]));
    for domain in [
        "assist_satellite",
        "button",
        "calendar",
        "camera",
        "climate",
        "counter",
        "date",
        "datetime",
        "humidifier",
        "image",
        "image_processing",
        "input_button",
        "input_datetime",
        "lawn_mower",
        "notify",
        "number",
        "remote",
        "schedule",
        "select",
        "siren",
        "text",
        "time",
        "todo",
        "tts",
        "update",
        "vacuum",
        "valve",
        "water_heater",
        "weather",
        "device_tracker",
    ] {
        small = small.with(&format!("{domain}.plain"), "on", json!({}));
    }
    small
}

fn target(domain: &str) -> Option<&str> {
    Some(match domain {
        "alarm_control_panel" => "alarm_control_panel.house",
        "cover" => "cover.garage",
        "fan" => "fan.ceiling",
        "homeassistant" | "light" => "light.lamp",
        "input_boolean" => "input_boolean.guests",
        "input_number" => "input_number.level",
        "input_select" => "input_select.mode",
        "input_text" => "input_text.note",
        "lock" => "lock.front",
        "media_player" => "media_player.tv",
        "switch" => "switch.pump",
        "timer" => "timer.kitchen",
        _ => return None,
    })
}

#[track_caller]
fn check(list: &str, verdict: &str) {
    let small = house();
    let house = small.house();
    let mut wrong = Vec::new();
    for name in list.split_whitespace() {
        let domain = name.split_once('.').unwrap().0;
        let entity =
            target(domain).map(str::to_owned).or_else(|| house.domain(domain).next().map(|(id, _)| id.to_string()));
        let direct = name == "notify.phone" || name == "tts.cloud_say";
        let data: Map<String, Value> =
            entity.filter(|_| !direct).map(|entity| ("entity_id".to_owned(), entity.into())).into_iter().collect();
        let outcome = small.outcome(&call(name, data.into()));
        if outcome.split(' ').next() != Some(verdict) {
            wrong.push(format!("{name}: {outcome}"));
        }
    }
    assert!(wrong.is_empty(), "not {verdict}: {wrong:#?}");
}

#[test]
fn what_cannot_open_the_house_passes() {
    check(ALLOW, "allow");
}

#[test]
fn what_may_open_blind_or_hurt_asks() {
    check(ASK, "ask");
}

#[test]
fn what_can_do_anything_is_refused() {
    check(REFUSE, "refuse");
}
