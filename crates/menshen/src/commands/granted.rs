//! What the operator allowed ahead of time, as every command that acts holds it. Start at [`Granted`].
//!
//! Invariant: a macro that was granted without a hash is closed until it is pinned to what it does.

use std::time::Duration;

use decide::house::EntityId;
use home::Connection;
use mcp::SharedPolicy;
use tokio::task::JoinHandle;

use crate::config::{Config, pin, state_folder};

/// The policy in force, and the work that pins macros once the house is there. Ends with this.
pub struct Granted {
    pub policy: SharedPolicy,
    pinning: JoinHandle<()>,
}

impl Granted {
    pub fn new(config: &Config, connection: &Connection) -> Self {
        let policy = SharedPolicy::new(hold_macros(config));
        let granted = config.unpinned.clone();
        let pinning = tokio::spawn(pin_when_ready(connection.clone(), policy.clone(), granted));
        Self { policy, pinning }
    }
}

impl Drop for Granted {
    fn drop(&mut self) {
        self.pinning.abort();
    }
}

/// Macros granted without a hash are in force only once they are pinned.
fn hold_macros(config: &Config) -> decide::gate::Policy {
    let mut policy = config.policy.clone();
    for id in &config.unpinned {
        if let Some(grant) = policy.grants.get_mut(id) {
            grant.body = Some(String::new());
        }
    }
    policy
}

async fn pin_when_ready(connection: Connection, shared: SharedPolicy, granted: Vec<EntityId>) {
    if granted.is_empty() {
        return;
    }
    // A house that is away comes back some time; its grants wait for it.
    let house = loop {
        if let Ok(house) = connection.ready(Duration::from_secs(60)).await {
            break house;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    };
    let mut policy = (*shared.get()).clone();
    match pin(&house, &mut policy, &granted, &state_folder()) {
        Ok(unread) => {
            shared.set(policy);
            for id in unread {
                eprintln!(
                    "menshen: {id} stays closed: it cannot be read with this token, so the permission cannot be held to what it does; set HOME_ASSISTANT_READING_TOKEN, an administrator's"
                );
            }
        }
        Err(error) => eprintln!("menshen: {error:#}; the granted macros stay closed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Options;

    #[tokio::test]
    async fn a_macro_granted_without_a_hash_is_closed_until_it_is_pinned() {
        let mut config =
            Config::load_or_new(&Options { config: Some("/no/such/file.toml".into()), ..Options::default() });
        for id in ["script.leaving", "scene.bedtime", "automation.guests", "lock.office_door"] {
            let id = EntityId::parse(id).unwrap();
            config.policy.grants.insert(id.clone(), Default::default());
            if crate::config::is_macro(&id) {
                config.unpinned.push(id);
            }
        }
        let connection = Connection::start(home::Settings { url: None, ..config.settings.clone() });
        let policy = Granted::new(&config, &connection).policy.get();
        let body = |id: &str| policy.grants[&EntityId::parse(id).unwrap()].body.clone();
        for id in ["script.leaving", "scene.bedtime", "automation.guests"] {
            assert_eq!(body(id).as_deref(), Some(""), "{id}");
        }
        assert_eq!(body("lock.office_door"), None, "what is no macro has nothing to pin");
    }
}
