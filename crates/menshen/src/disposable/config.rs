//! Writes the house's configuration folder. Start at [`write`].
//!
//! Invariant: everything in it boots without internet and sends nothing to the local network.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::house;

const CONFIGURATION: &str = include_str!("../../house/config/configuration.yaml");
const HELPERS: &str = include_str!("../../house/config/helpers.yaml");
const TEMPLATE_OLD: &str = include_str!("../../house/config/template-old.yaml");
const TEMPLATE_NEW: &str = include_str!("../../house/config/template-new.yaml");

/// Written as they are.
const FILES: &[(&str, &str)] = &[
    ("packages/lights.yaml", include_str!("../../house/config/lights.yaml")),
    ("scenes.yaml", include_str!("../../house/config/scenes.yaml")),
    ("scripts.yaml", include_str!("../../house/config/scripts.yaml")),
    ("automations.yaml", include_str!("../../house/config/automations.yaml")),
    ("blueprints/script/menshen/let_guests_in.yaml", include_str!("../../house/config/blueprints/let_guests_in.yaml")),
    (
        "blueprints/automation/menshen/motion_light.yaml",
        include_str!("../../house/config/blueprints/motion_light.yaml"),
    ),
    ("python_scripts/opener.py", "hass.services.call('lock', 'unlock', {'entity_id': 'lock.back_door'})\n"),
    ("custom_components/menshen_house/house.json", house::TEXT),
];

macro_rules! component {
    ($($file:literal),* $(,)?) => {
        &[$((concat!("custom_components/menshen_house/", $file), include_str!(concat!("../../house/component/", $file)))),*]
    };
}

const COMPONENT: &[(&str, &str)] = component![
    "__init__.py",
    "base.py",
    "binary_sensor.py",
    "button.py",
    "calendar.py",
    "climate.py",
    "config_flow.py",
    "cover.py",
    "event.py",
    "fan.py",
    "humidifier.py",
    "lawn_mower.py",
    "light.py",
    "lock.py",
    "manifest.json",
    "media_player.py",
    "number.py",
    "select.py",
    "sensor.py",
    "siren.py",
    "switch.py",
    "text.py",
    "todo.py",
    "vacuum.py",
    "valve.py",
    "water_heater.py",
];

macro_rules! bulk {
    ($($file:literal),* $(,)?) => {
        &[$((concat!("custom_components/bulk_home/", $file), include_str!(concat!("../../house/bulk/", $file)))),*]
    };
}

const BULK: &[(&str, &str)] = bulk![
    "__init__.py",
    "base.py",
    "binary_sensor.py",
    "config_flow.py",
    "cover.py",
    "light.py",
    "lock.py",
    "manifest.json",
    "sensor.py",
    "switch.py",
];

/// What differs from house to house.
pub struct Wish<'a> {
    pub port: u16,
    pub language: &'a str,
    pub bulk: u32,
    /// In a container Home Assistant listens on the container's 8123 and the engine publishes it.
    pub container: bool,
    pub release: Release,
}

/// Year and month of a release; what is unknown counts as newest.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Release(pub u32, pub u32);

impl Release {
    pub fn parse(text: &str) -> Self {
        let mut parts = text.split('.').map(str::parse);
        match (parts.next(), parts.next()) {
            (Some(Ok(year)), Some(Ok(month))) => Self(year, month),
            _ => Self(u32::MAX, 0),
        }
    }
}

pub fn write(folder: &Path, wish: &Wish) -> Result<()> {
    let release = wish.release;
    let template = if release < Release(2025, 6) { TEMPLATE_OLD } else { TEMPLATE_NEW };
    put(folder, "packages/template.yaml", template)?;
    put(folder, "packages/helpers.yaml", &helpers(wish))?;
    put(folder, "configuration.yaml", &configuration(wish))?;
    for (name, text) in FILES.iter().chain(COMPONENT) {
        put(folder, name, text)?;
    }
    if wish.bulk > 0 {
        for (name, text) in BULK {
            put(folder, name, text)?;
        }
    }
    // As if these two steps had been done: they would add integrations that call the internet.
    let done = json!({"done": ["core_config", "analytics"]});
    store(folder, "onboarding", (4, 1), done)?;
    if !wish.container && http_in_store(release) {
        store(folder, "http", (3, 1), http(wish.port))?;
    }
    Ok(())
}

/// Newer releases put an `http:` in YAML on a trial and fall back to port 8123 after five minutes;
/// older ones do not read the store. Measured: 2026.2.3 wants YAML, 2026.11.0 the store.
fn http_in_store(release: Release) -> bool {
    release >= Release(2026, 3)
}

fn configuration(wish: &Wish) -> String {
    let http = if wish.container || http_in_store(wish.release) {
        String::new()
    } else {
        format!("http: {{server_host: 127.0.0.1, server_port: {}}}", wish.port)
    };
    let mut extra = String::new();
    if wish.release < Release(2025, 1) {
        extra.push_str("shopping_list:\n");
    }
    if wish.bulk > 0 {
        extra.push_str(&format!("bulk_home: {{count: {}}}\n", wish.bulk));
    }
    let language = if wish.language == "zh" { "zh-Hans" } else { "en" };
    CONFIGURATION
        .replace("@LANGUAGE@", language)
        .replace("@PORT@", &wish.port.to_string())
        .replace("@HTTP@", &http)
        .replace("@EXTRA@", extra.trim_end())
}

fn helpers(wish: &Wish) -> String {
    let id = |id: &str| {
        if wish.release < Release(2024, 4) { String::new() } else { format!(" unique_id: {id},") }
    };
    // Inside a container the house reaches itself at the port it listens on.
    let port = if wish.container { 8123 } else { wish.port };
    HELPERS
        .replace("@HOUSE_ALARM_ID@", &id("house_alarm"))
        .replace("@CODED_ALARM_ID@", &id("coded_alarm"))
        .replace("@PORT@", &port.to_string())
}

fn http(port: u16) -> Value {
    json!({
        "stable": {
            "server_port": port, "server_host": ["127.0.0.1"], "cors_allowed_origins": [],
            "login_attempts_threshold": -1, "ip_ban_enabled": true, "ssl_profile": "intermediate_v6",
            "use_x_frame_options": true, "created_at": "2026-01-01T00:00:00+00:00", "error": null, "error_message": null,
        },
        "pending": null,
        "yaml_migration_done": true,
    })
}

fn store(folder: &Path, key: &str, (version, minor): (u32, u32), data: Value) -> Result<()> {
    let body = json!({"version": version, "minor_version": minor, "key": key, "data": data});
    put(folder, &format!(".storage/{key}"), &body.to_string())
}

fn put(folder: &Path, name: &str, text: &str) -> Result<()> {
    let path = folder.join(name);
    let parent = path.parent().unwrap_or(folder);
    fs::create_dir_all(parent)
        .and_then(|()| fs::write(&path, text))
        .with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(release: &str) -> Wish<'static> {
        Wish { port: 8199, language: "zh", bulk: 0, container: false, release: Release::parse(release) }
    }

    #[test]
    fn the_port_is_told_to_each_release_in_the_way_that_it_keeps() {
        assert!(configuration(&wish("2024.3.3")).contains("http: {server_host: 127.0.0.1, server_port: 8199}"));
        assert!(configuration(&wish("2026.2.3")).contains("server_host: 127.0.0.1"));
        assert!(!configuration(&wish("2026.11.0")).contains("http:\n"));
        assert!(!configuration(&wish("2026.11.0")).contains("server_host"));
    }

    #[test]
    fn nothing_is_left_to_fill_in() {
        for release in ["2024.3.3", "2025.1.4", "2026.11.0", "stable"] {
            let wish = wish(release);
            let text = configuration(&wish) + &helpers(&wish);
            assert!(!text.contains('@'), "{release}");
        }
    }

    #[test]
    fn an_unknown_release_counts_as_newest() {
        assert!(Release::parse("stable") > Release::parse("2026.11.0"));
        assert!(Release::parse("2024.3.3") < Release::parse("2024.12.1"));
    }
}
