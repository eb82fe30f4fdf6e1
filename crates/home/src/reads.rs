//! The websocket commands that only read. A table.
//!
//! Invariant: nothing in here changes the house, whoever's token is used.

/// The house's own sentence recogniser; it executes nothing.
pub(crate) const RECOGNISE: &str = "conversation/agent/homeassistant/debug";

const READS: [&str; 44] = [
    RECOGNISE,
    "auth/current_user",
    "automation/config",
    "blueprint/list",
    "calendar/event/list",
    "config/area_registry/list",
    "config/category_registry/list",
    "config/device_registry/list",
    "config/entity_registry/get",
    "config/entity_registry/get_entries",
    "config/entity_registry/list",
    "config/entity_registry/list_for_display",
    "config/floor_registry/list",
    "config/label_registry/list",
    "config_entries/get",
    "conversation/agent/list",
    "device_automation/action/list",
    "device_automation/condition/list",
    "device_automation/trigger/list",
    "energy/get_prefs",
    "entity/source",
    "extract_from_target",
    "get_config",
    "get_panels",
    "get_services",
    "get_services_for_target",
    "get_states",
    "get_triggers_for_target",
    "history/history_during_period",
    "homeassistant/expose_entity/list",
    "logbook/get_events",
    "manifest/get",
    "manifest/list",
    "person/list",
    "ping",
    "recorder/info",
    "recorder/list_statistic_ids",
    "recorder/statistics_during_period",
    "repairs/list_issues",
    "script/config",
    "search/related",
    "system_log/list",
    "todo/item/list",
    "zone/list",
];

pub(crate) fn is_read(kind: &str) -> bool {
    READS.contains(&kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_change_the_house_is_not_a_read() {
        let writes = [
            "call_service",
            "fire_event",
            "execute_script",
            "config/entity_registry/update",
            "render_template",
            "conversation/process",
            "auth/long_lived_access_token",
            "GET_STATES",
            "",
        ];
        assert!(writes.iter().all(|kind| !is_read(kind)));
        assert!(READS.iter().all(|kind| is_read(kind)));
    }
}
