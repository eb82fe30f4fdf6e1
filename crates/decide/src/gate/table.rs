//! What each service does: the one place that knows services by name. Start at [`row`].
//!
//! Invariant: what stands in no row is unknown, and unknown is never Allow. A data key that a row
//! does not name is refused. Grown by looking at Home Assistant 2024.3 to 2026.11.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What an action does to one entity, or to the house when it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Changes nothing.
    Read,
    /// May do anything: refused unless the operator listed that very service.
    Opaque,
    /// Comfort; guarded only by label, list and graph.
    Comfort(End),
    /// May sit before a door: guarded by label, list, graph, relation and name.
    Relay(End),
    Button,
    Lock(LockMove),
    Cover(CoverMove),
    Valve(CoverMove),
    Alarm(AlarmMove),
    SceneOn,
    SceneApply,
    ScriptOn,
    ScriptOff,
    ScriptToggle,
    AutomationTrigger,
    AutomationOn,
    AutomationOff,
    AutomationToggle,
    /// `homeassistant.turn_on` and the like: becomes the entity's own service.
    Generic,
    Climate,
    WaterHeater,
    /// Always asks: it can hurt somebody.
    Harm,
    /// Always asks: it blinds what would notice, or writes what nobody can judge.
    Blind,
    /// Asks where it sounds, or may by the time that it runs.
    Silence,
    /// Stops something that may be about to lock, close or arm.
    TimerStop,
    TimerRun,
    Notify,
    Speech,
    Media,
    /// `media_player.join`: members are entities.
    Join,
}

/// The states that an action can leave its entity in, later ones included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    On,
    Off,
    /// On or off.
    Either,
    /// The value of this data key.
    Key(&'static str),
    Any,
    /// The state does not change.
    Same,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockMove {
    Lock,
    Unlock,
    Open,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CoverMove {
    Open,
    Close,
    Stop,
    Position,
    Toggle,
    Tilt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AlarmMove {
    Arm(&'static str),
    Disarm,
    Trigger,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub kind: Kind,
    /// Data keys beside target keys.
    pub keys: &'static [&'static str],
}

impl Row {
    /// The domain whose entities the service works on; nothing where it takes any.
    pub(super) fn works_on<'a>(&self, domain: &'a str, service: &str) -> Option<&'a str> {
        match (self.kind, domain) {
            (Generic, _) | (Read, "homeassistant") => None,
            (Speech, "tts") if service != "speak" => Some("media_player"),
            _ => Some(domain),
        }
    }
}

type Line = (&'static str, &'static str, Kind, &'static [&'static str]);

const LIGHT: &[&str] = &[
    "brightness",
    "brightness_pct",
    "brightness_step",
    "brightness_step_pct",
    "color_name",
    "color_temp",
    "color_temp_kelvin",
    "effect",
    "flash",
    "hs_color",
    "kelvin",
    "profile",
    "rgb_color",
    "rgbw_color",
    "rgbww_color",
    "transition",
    "white",
    "xy_color",
];
const PLAY: &[&str] = &["announce", "enqueue", "media", "media_content_id", "media_content_type", "extra"];
const SAY: &[&str] = &["cache", "language", "media_player_entity_id", "message", "options"];

use AlarmMove::{Arm, Disarm, Trigger};
use End::{Any, Either, Key, Off, On, Same};
use Kind::*;

#[rustfmt::skip]
const LINES: &[Line] = &[
    ("homeassistant", "turn_on", Generic, LIGHT), ("homeassistant", "turn_off", Generic, &["transition"]),
    ("homeassistant", "toggle", Generic, LIGHT), ("homeassistant", "update_entity", Read, &[]),

    ("light", "turn_on", Comfort(On), LIGHT), ("light", "turn_off", Comfort(Off), &["flash", "transition"]),
    ("light", "toggle", Comfort(Either), LIGHT),
    ("fan", "turn_on", Comfort(On), &["percentage", "preset_mode"]), ("fan", "turn_off", Comfort(Off), &[]),
    ("fan", "toggle", Comfort(Either), &["percentage", "preset_mode"]),
    ("fan", "set_percentage", Comfort(Either), &["percentage"]), ("fan", "set_preset_mode", Comfort(Any), &["preset_mode"]),
    ("fan", "increase_speed", Comfort(Either), &["percentage_step"]), ("fan", "decrease_speed", Comfort(Either), &["percentage_step"]),
    ("fan", "oscillate", Comfort(Any), &["oscillating"]), ("fan", "set_direction", Comfort(Any), &["direction"]),
    ("humidifier", "turn_on", Comfort(On), &[]), ("humidifier", "turn_off", Comfort(Off), &[]),
    ("humidifier", "toggle", Comfort(Either), &[]), ("humidifier", "set_humidity", Comfort(Any), &["humidity"]),
    ("humidifier", "set_mode", Comfort(Any), &["mode"]),
    ("climate", "set_temperature", Climate, &["hvac_mode", "target_temp_high", "target_temp_low", "temperature"]),
    ("climate", "set_hvac_mode", Comfort(Any), &["hvac_mode"]), ("climate", "set_preset_mode", Comfort(Any), &["preset_mode"]),
    ("climate", "set_fan_mode", Comfort(Any), &["fan_mode"]), ("climate", "set_humidity", Comfort(Any), &["humidity"]),
    ("climate", "set_swing_mode", Comfort(Any), &["swing_mode"]), ("climate", "set_aux_heat", Comfort(Any), &["aux_heat"]),
    ("climate", "set_swing_horizontal_mode", Comfort(Any), &["swing_horizontal_mode"]),
    ("climate", "turn_on", Comfort(Any), &[]), ("climate", "turn_off", Comfort(Any), &[]), ("climate", "toggle", Comfort(Any), &[]),
    ("water_heater", "set_temperature", WaterHeater, &["operation_mode", "temperature"]),
    ("water_heater", "set_away_mode", Comfort(Any), &["away_mode"]), ("water_heater", "set_operation_mode", Comfort(Any), &["operation_mode"]),
    ("water_heater", "turn_on", Comfort(Any), &[]), ("water_heater", "turn_off", Comfort(Any), &[]),
    ("vacuum", "start", Comfort(Any), &[]), ("vacuum", "pause", Comfort(Any), &[]), ("vacuum", "stop", Comfort(Any), &[]),
    ("vacuum", "start_pause", Comfort(Any), &[]), ("vacuum", "turn_on", Comfort(Any), &[]), ("vacuum", "turn_off", Comfort(Any), &[]),
    ("vacuum", "toggle", Comfort(Any), &[]),
    ("vacuum", "return_to_base", Comfort(Any), &[]), ("vacuum", "clean_spot", Comfort(Any), &[]), ("vacuum", "locate", Comfort(Same), &[]),
    ("vacuum", "set_fan_speed", Comfort(Any), &["fan_speed"]), ("vacuum", "clean_area", Comfort(Any), &["cleaning_area_id"]),
    ("vacuum", "send_command", Opaque, &["command", "params"]),
    ("lawn_mower", "start_mowing", Harm, &[]), ("lawn_mower", "pause", Comfort(Any), &[]),
    ("lawn_mower", "dock", Comfort(Any), &[]), ("lawn_mower", "stop", Comfort(Any), &[]),

    ("media_player", "turn_on", Comfort(Any), &[]), ("media_player", "turn_off", Comfort(Any), &[]), ("media_player", "toggle", Comfort(Any), &[]),
    ("media_player", "volume_up", Comfort(Any), &[]), ("media_player", "volume_down", Comfort(Any), &[]),
    ("media_player", "volume_mute", Comfort(Any), &["is_volume_muted"]), ("media_player", "volume_set", Comfort(Any), &["volume_level"]),
    ("media_player", "media_play", Comfort(Any), &[]), ("media_player", "media_pause", Comfort(Any), &[]),
    ("media_player", "media_play_pause", Comfort(Any), &[]), ("media_player", "media_stop", Comfort(Any), &[]),
    ("media_player", "media_next_track", Comfort(Any), &[]), ("media_player", "media_previous_track", Comfort(Any), &[]),
    ("media_player", "media_seek", Comfort(Any), &["seek_position"]), ("media_player", "select_source", Comfort(Any), &["source"]),
    ("media_player", "select_sound_mode", Comfort(Any), &["sound_mode"]), ("media_player", "shuffle_set", Comfort(Any), &["shuffle"]),
    ("media_player", "repeat_set", Comfort(Any), &["repeat"]), ("media_player", "clear_playlist", Comfort(Any), &[]),
    ("media_player", "unjoin", Comfort(Any), &[]), ("media_player", "join", Join, &["group_members"]),
    ("media_player", "play_media", Media, PLAY),
    ("media_player", "browse_media", Read, &["media_content_id", "media_content_type"]),
    ("media_player", "search_media", Read, &["media_content_id", "media_content_type", "media_filter_classes", "search_query"]),
    ("tts", "speak", Speech, SAY), ("assist_satellite", "announce", Speech, &["message", "media_id", "preannounce", "preannounce_media_id"]),
    ("remote", "turn_on", Relay(Either), &["activity"]), ("remote", "turn_off", Relay(Off), &[]), ("remote", "toggle", Relay(Either), &[]),

    ("switch", "turn_on", Relay(Either), &[]), ("switch", "turn_off", Relay(Off), &[]), ("switch", "toggle", Relay(Either), &[]),
    ("input_boolean", "turn_on", Relay(On), &[]), ("input_boolean", "turn_off", Relay(Off), &[]), ("input_boolean", "toggle", Relay(Either), &[]),
    ("button", "press", Button, &[]), ("input_button", "press", Relay(Any), &[]),
    ("select", "select_option", Relay(Any), &["option"]), ("select", "select_first", Relay(Any), &[]), ("select", "select_last", Relay(Any), &[]),
    ("select", "select_next", Relay(Any), &["cycle"]), ("select", "select_previous", Relay(Any), &["cycle"]),
    ("input_select", "select_option", Relay(Key("option")), &["option"]), ("input_select", "select_first", Relay(Any), &[]),
    ("input_select", "select_last", Relay(Any), &[]), ("input_select", "select_next", Relay(Any), &["cycle"]),
    ("input_select", "select_previous", Relay(Any), &["cycle"]),
    ("number", "set_value", Relay(Any), &["value"]), ("text", "set_value", Relay(Any), &["value"]),
    ("date", "set_value", Relay(Any), &["date"]), ("time", "set_value", Relay(Any), &["time"]), ("datetime", "set_value", Relay(Any), &["datetime"]),
    ("input_number", "set_value", Relay(Key("value")), &["value"]), ("input_number", "increment", Relay(Any), &[]), ("input_number", "decrement", Relay(Any), &[]),
    ("input_text", "set_value", Relay(Key("value")), &["value"]),
    ("input_datetime", "set_datetime", Relay(Any), &["date", "datetime", "time", "timestamp"]),
    ("siren", "turn_on", Harm, &["duration", "tone", "volume_level"]), ("siren", "turn_off", Silence, &[]), ("siren", "toggle", Harm, &[]),
    ("counter", "increment", Comfort(Any), &[]), ("counter", "decrement", Comfort(Any), &[]), ("counter", "reset", Comfort(Any), &[]),
    ("counter", "set_value", Comfort(Any), &["value"]),
    ("timer", "start", TimerRun, &["duration"]), ("timer", "finish", TimerRun, &[]), ("timer", "change", TimerStop, &["duration"]),
    ("timer", "pause", TimerStop, &[]), ("timer", "cancel", TimerStop, &[]),
    ("todo", "add_item", Comfort(Any), &["item", "due_date", "due_datetime", "description"]),
    ("todo", "update_item", Comfort(Any), &["item", "rename", "status", "due_date", "due_datetime", "description"]),
    ("todo", "remove_item", Comfort(Any), &["item"]), ("todo", "remove_completed_items", Comfort(Any), &[]), ("todo", "get_items", Read, &["status"]),
    ("shopping_list", "add_item", Comfort(Any), &["name"]), ("shopping_list", "remove_item", Comfort(Any), &["name"]),
    ("shopping_list", "complete_item", Comfort(Any), &["name"]), ("shopping_list", "incomplete_item", Comfort(Any), &["name"]),
    ("calendar", "create_event", Comfort(Any), &["description", "end_date", "end_date_time", "in", "location", "start_date", "start_date_time", "summary"]),
    ("calendar", "get_events", Read, &["duration", "end_date_time", "start_date_time"]), ("calendar", "list_events", Read, &["duration", "end_date_time", "start_date_time"]),
    ("weather", "get_forecast", Read, &["type"]), ("weather", "get_forecasts", Read, &["type"]), ("schedule", "get_schedule", Read, &[]),

    ("lock", "lock", Lock(LockMove::Lock), &["code"]), ("lock", "unlock", Lock(LockMove::Unlock), &["code"]), ("lock", "open", Lock(LockMove::Open), &["code"]),
    ("cover", "open_cover", Cover(CoverMove::Open), &["speed"]), ("cover", "close_cover", Cover(CoverMove::Close), &["speed"]),
    ("cover", "stop_cover", Cover(CoverMove::Stop), &[]), ("cover", "toggle", Cover(CoverMove::Toggle), &[]),
    ("cover", "set_cover_position", Cover(CoverMove::Position), &["position", "speed"]),
    ("cover", "open_cover_tilt", Cover(CoverMove::Tilt), &[]), ("cover", "close_cover_tilt", Cover(CoverMove::Tilt), &[]),
    ("cover", "stop_cover_tilt", Cover(CoverMove::Tilt), &[]), ("cover", "toggle_cover_tilt", Cover(CoverMove::Tilt), &[]),
    ("cover", "set_cover_tilt_position", Cover(CoverMove::Tilt), &["tilt_position"]),
    ("valve", "open_valve", Valve(CoverMove::Open), &[]), ("valve", "close_valve", Valve(CoverMove::Close), &[]), ("valve", "stop_valve", Valve(CoverMove::Stop), &[]),
    ("valve", "toggle", Valve(CoverMove::Toggle), &[]), ("valve", "set_valve_position", Valve(CoverMove::Position), &["position"]),
    ("alarm_control_panel", "alarm_arm_home", Alarm(Arm("armed_home")), &["code"]), ("alarm_control_panel", "alarm_arm_away", Alarm(Arm("armed_away")), &["code"]),
    ("alarm_control_panel", "alarm_arm_night", Alarm(Arm("armed_night")), &["code"]), ("alarm_control_panel", "alarm_arm_vacation", Alarm(Arm("armed_vacation")), &["code"]),
    ("alarm_control_panel", "alarm_arm_custom_bypass", Alarm(Arm("armed_custom_bypass")), &["code"]),
    ("alarm_control_panel", "alarm_disarm", Alarm(Disarm), &["code"]), ("alarm_control_panel", "alarm_trigger", Alarm(Trigger), &["code"]),

    ("scene", "turn_on", SceneOn, &["transition"]), ("scene", "apply", SceneApply, &["entities", "transition"]),
    ("script", "turn_on", ScriptOn, &["variables"]), ("script", "turn_off", ScriptOff, &[]), ("script", "toggle", ScriptToggle, &[]),
    ("automation", "trigger", AutomationTrigger, &["skip_condition", "variables"]), ("automation", "turn_on", AutomationOn, &[]),
    ("automation", "turn_off", AutomationOff, &["stop_actions"]), ("automation", "toggle", AutomationToggle, &[]),

    ("camera", "turn_on", Comfort(Any), &[]), ("camera", "turn_off", Blind, &[]), ("camera", "enable_motion_detection", Comfort(Any), &[]),
    ("camera", "disable_motion_detection", Blind, &[]), ("camera", "snapshot", Blind, &["filename"]), ("camera", "record", Blind, &["duration", "filename", "lookback"]),
    ("camera", "play_stream", Blind, &["format", "media_player"]), ("image", "snapshot", Blind, &["filename"]), ("image_processing", "scan", Comfort(Any), &[]),
    ("update", "install", Blind, &["backup", "version"]), ("update", "skip", Blind, &[]), ("update", "clear_skipped", Comfort(Any), &[]),
    ("persistent_notification", "create", Notify, &["message", "title", "notification_id"]),
    ("persistent_notification", "dismiss", Blind, &["notification_id"]), ("persistent_notification", "dismiss_all", Blind, &[]),
];

static ROWS: LazyLock<HashMap<&'static str, HashMap<&'static str, Row>>> = LazyLock::new(|| {
    let mut rows: HashMap<_, HashMap<_, _>> = HashMap::new();
    for &(domain, service, kind, keys) in LINES {
        rows.entry(domain).or_default().insert(service, Row { kind, keys });
    }
    rows
});

/// Domains in which every service may do anything.
const OPAQUE: &[&str] = &[
    "ai_task",
    "alexa",
    "assist_pipeline",
    "assist_satellite",
    "backup",
    "cloud",
    "config",
    "conversation",
    "device_tracker",
    "esphome",
    "ffmpeg",
    "frontend",
    "google_assistant_sdk",
    "group",
    "hassio",
    "hdmi_cec",
    "homeassistant",
    "intent_script",
    "knx",
    "logbook",
    "logger",
    "lovelace",
    "modbus",
    "mqtt",
    "ozw",
    "persistent_notification",
    "pyscript",
    "python_script",
    "recorder",
    "remote",
    "rest_command",
    "rfxtrx",
    "scene",
    "shell_command",
    "supervisor",
    "system_log",
    "telegram_bot",
    "update",
    "webhook",
    "zha",
    "zone",
    "zwave_js",
];

/// Domains whose entities hurt nobody by themselves.
const HARMLESS: &[&str] = &[
    "air_quality",
    "binary_sensor",
    "calendar",
    "climate",
    "counter",
    "event",
    "fan",
    "humidifier",
    "image",
    "light",
    "media_player",
    "sensor",
    "stt",
    "sun",
    "todo",
    "tts",
    "vacuum",
    "wake_word",
    "weather",
];

/// The row of a service; `script.NAME` and `notify.NAME` count by their domain.
pub(super) fn row(domain: &str, service: &str) -> Option<Row> {
    if let Some(row) = ROWS.get(domain).and_then(|services| services.get(service)) {
        return Some(*row);
    }
    match (domain, service) {
        (_, "reload") => Some(Row { kind: Opaque, keys: &[] }),
        ("notify", _) => Some(Row { kind: Notify, keys: &["message", "title", "data", "target"] }),
        ("tts", said) if said.ends_with("_say") => Some(Row { kind: Speech, keys: SAY }),
        (domain, _) if OPAQUE.contains(&domain) => Some(Row { kind: Opaque, keys: &[] }),
        _ => None,
    }
}

pub(super) fn harmless_domain(domain: &str) -> bool {
    HARMLESS.contains(&domain)
}

/// The entity's own service for `homeassistant.turn_on`, `turn_off`, `toggle`, where it has one.
/// Measured: on locks, covers and valves `turn_on` and `turn_off` do nothing, `toggle` moves covers and valves.
pub(super) fn own(domain: &str, service: &str) -> Option<Row> {
    if domain == "homeassistant" {
        return None;
    }
    ROWS.get(domain)?.get(service).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_service_stands_in_two_rows() {
        let count: usize = ROWS.values().map(HashMap::len).sum();
        assert_eq!(count, LINES.len());
    }

    #[test]
    fn the_unknown_has_no_row_and_the_opaque_is_opaque() {
        assert!(row("adaptive_lighting", "apply").is_none());
        for (domain, service) in
            [("shell_command", "x"), ("mqtt", "publish"), ("group", "set"), ("scene", "create"), ("script", "reload")]
        {
            assert_eq!(row(domain, service).map(|row| row.kind), Some(Opaque), "{domain}.{service}");
        }
    }

    #[test]
    fn generic_services_become_the_entity_s_own_or_nothing() {
        let kind = |domain, service| own(domain, service).map(|row| row.kind);
        assert_eq!(kind("light", "turn_on"), Some(Comfort(On)));
        assert_eq!(kind("cover", "toggle"), Some(Cover(CoverMove::Toggle)));
        for domain in ["lock", "cover", "valve", "alarm_control_panel", "button", "homeassistant", "mqtt", "glow"] {
            assert_eq!(kind(domain, "turn_on"), None, "{domain}");
        }
    }
}
