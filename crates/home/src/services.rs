//! `get_services` and `get_config`, as far as decisions need them.
//!
//! Start at [`services`]. Invariant: what a service's field is for is not kept, only that it exists.

use std::collections::{BTreeMap, BTreeSet};

use decide::house::{Response, Service, Units};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::loose::{Loose, Pairs, Pool};

pub(crate) type Services = BTreeMap<String, BTreeMap<String, Service>>;

#[derive(Deserialize, Default)]
#[serde(default)]
struct RawService<'a> {
    #[serde(borrow)]
    fields: Pairs<'a, RawField<'a>>,
    target: Option<IgnoredAny>,
    response: Option<RawResponse<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RawField<'a> {
    /// A section holds further fields.
    #[serde(borrow)]
    fields: Option<Pairs<'a, IgnoredAny>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RawResponse<'a> {
    #[serde(borrow)]
    optional: Loose<'a>,
}

pub(crate) fn services(json: &str) -> Result<Services, serde_json::Error> {
    let raw: Pairs<'_, Pairs<'_, RawService<'_>>> = serde_json::from_str(json)?;
    let domain = |services: Pairs<'_, RawService<'_>>| {
        services.0.into_iter().map(|(name, raw)| (name.into_owned(), service(&raw))).collect()
    };
    Ok(raw.0.into_iter().map(|(name, services)| (name.into_owned(), domain(services))).collect())
}

fn service(raw: &RawService<'_>) -> Service {
    let mut fields = BTreeSet::new();
    for (name, field) in &raw.fields.0 {
        match &field.fields {
            Some(section) => fields.extend(section.0.iter().map(|(name, _)| name.to_string())),
            None => drop(fields.insert(name.to_string())),
        }
    }
    let response = match &raw.response {
        None => Response::None,
        Some(response) if response.optional.bool() == Some(true) => Response::Optional,
        Some(_) => Response::Only,
    };
    Service { fields, target: raw.target.is_some(), response }
}

/// What `get_config` says of the house itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct HouseConfig {
    pub version: std::sync::Arc<str>,
    pub location_name: std::sync::Arc<str>,
    /// Of the addresses that the house gives for itself.
    pub hosts: BTreeSet<String>,
    pub units: Units,
    pub running: bool,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RawConfig<'a> {
    #[serde(borrow)]
    version: Loose<'a>,
    location_name: Loose<'a>,
    internal_url: Loose<'a>,
    external_url: Loose<'a>,
    state: Loose<'a>,
    unit_system: Pairs<'a, Loose<'a>>,
}

pub(crate) fn config(json: &str) -> Result<HouseConfig, serde_json::Error> {
    let raw: RawConfig<'_> = serde_json::from_str(json)?;
    let mut pool = Pool::default();
    let mut unit = |name: &str| {
        let (_, unit) = raw.unit_system.0.iter().find(|(key, _)| key == name)?;
        pool.share_text(unit)
    };
    let units = Units {
        temperature: unit("temperature"),
        length: unit("length"),
        pressure: unit("pressure"),
        volume: unit("volume"),
        wind_speed: unit("wind_speed"),
    };
    let host = |url: &Loose<'_>| {
        let url = reqwest::Url::parse(&url.text()?).ok()?;
        Some(url.host_str()?.trim_matches(['[', ']', '.']).to_lowercase())
    };
    Ok(HouseConfig {
        hosts: [&raw.internal_url, &raw.external_url].into_iter().filter_map(host).collect(),
        version: pool.share_text(&raw.version).unwrap_or_default(),
        location_name: pool.share_text(&raw.location_name).unwrap_or_default(),
        units,
        // Very old releases do not say; then it answers, so it runs.
        running: raw.state.text().is_none_or(|state| state == "RUNNING"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_in_sections_targets_and_responses_are_read() {
        let json = r#"{"light": {"turn_on": {"fields": {"brightness_pct": {"selector": {}},
            "advanced_fields": {"collapsed": true, "fields": {"rgb_color": {}}}}, "target": {"entity": []}}},
            "weather": {"get_forecasts": {"fields": {}, "response": {"optional": false}}},
            "conversation": {"process": {"fields": {}, "response": {"optional": true}}}}"#;
        let services = services(json).unwrap();
        let turn_on = &services["light"]["turn_on"];
        assert_eq!(turn_on.fields.iter().collect::<Vec<_>>(), ["brightness_pct", "rgb_color"]);
        assert!(turn_on.target);
        assert_eq!(services["weather"]["get_forecasts"].response, Response::Only);
        assert_eq!(services["conversation"]["process"].response, Response::Optional);
    }

    #[test]
    fn the_house_s_own_addresses_are_known_by_their_hosts() {
        let json = r#"{"internal_url": "http://192.168.1.4:8123", "external_url": "https://Family.example.net:8443/"}"#;
        let hosts = config(json).unwrap().hosts;
        assert_eq!(hosts.iter().collect::<Vec<_>>(), ["192.168.1.4", "family.example.net"]);
        let none = config(r#"{"internal_url": null, "external_url": "no address"}"#).unwrap();
        assert!(none.hosts.is_empty());
    }

    #[test]
    fn a_house_that_is_starting_says_so() {
        let config =
            config(r#"{"state": "STARTING", "version": "2026.11.0", "unit_system": {"temperature": "°C"}}"#).unwrap();
        assert!(!config.running);
        assert_eq!(config.units.temperature.as_deref(), Some("°C"));
    }
}
