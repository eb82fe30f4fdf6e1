//! Houses that announce themselves on the network. Start at [`houses`].

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use mdns_sd::{ServiceDaemon, ServiceEvent};

const LOOK_SECS: u64 = 3;
const SERVICE: &str = "_home-assistant._tcp.local.";

pub struct Found {
    pub name: String,
    pub url: String,
}

/// Looks for three seconds; a network that does not allow it counts as empty.
pub fn houses() -> Vec<Found> {
    let Ok(daemon) = ServiceDaemon::new() else { return Vec::new() };
    let Ok(events) = daemon.browse(SERVICE) else { return Vec::new() };
    let deadline = Instant::now() + Duration::from_secs(LOOK_SECS);
    let mut found = BTreeMap::new();
    while let Some(left) = deadline.checked_duration_since(Instant::now()) {
        let Ok(event) = events.recv_timeout(left) else { break };
        if let ServiceEvent::ServiceResolved(service) = event {
            let property =
                |key: &str| service.get_property_val_str(key).map(str::to_owned).filter(|value| !value.is_empty());
            let address = service
                .get_addresses_v4()
                .iter()
                .next()
                .map(|address| format!("http://{address}:{}", service.get_port()));
            if let Some(url) = property("internal_url").or(address) {
                let name = property("location_name").unwrap_or_default();
                found.insert(decide::text::clean(&url, 200), decide::text::clean(&name, 60));
            }
        }
    }
    _ = daemon.shutdown();
    found.into_iter().map(|(url, name)| Found { name, url }).collect()
}
