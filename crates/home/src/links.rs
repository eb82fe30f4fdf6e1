//! The sockets of one connected period: one that acts, and one that reads where a second token is given.
//!
//! Start at [`Links::open`]. Invariant: what changes the house goes over `acting` only.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use decide::house::EntityId;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::endpoint::{Endpoint, Token};
use crate::error::{Cause, HouseError};
use crate::link::{Link, Listener, Missed, Reply, body};
use crate::loose::Loose;
use crate::picture::Keeper;

/// What a subscription is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    States,
    Places,
    Entries,
    Config,
    Services,
    Macros,
}

/// Events whose arrival means that something has to be read again.
const EVENTS: [(&str, Topic); 12] = [
    ("entity_registry_updated", Topic::Entries),
    ("device_registry_updated", Topic::Places),
    ("area_registry_updated", Topic::Places),
    ("floor_registry_updated", Topic::Places),
    ("label_registry_updated", Topic::Places),
    ("core_config_updated", Topic::Config),
    ("homeassistant_started", Topic::Config),
    ("service_registered", Topic::Services),
    ("service_removed", Topic::Services),
    ("automation_reloaded", Topic::Macros),
    ("scene_reloaded", Topic::Macros),
    ("component_loaded", Topic::Services),
];

/// Longest wait for a list that a big house takes seconds to write.
const LIST_MAX: Duration = Duration::from_secs(60);

pub(crate) struct Links {
    pub acting: Arc<Link<Topic>>,
    pub reading: Arc<Link<Topic>>,
    /// The token that reads, for REST.
    pub reading_token: Token,
    pub http: reqwest::Client,
    pub endpoint: Endpoint,
    /// What a token was not allowed to read.
    pub unreadable: Mutex<Vec<(String, HouseError)>>,
}

impl Links {
    pub async fn open(
        endpoint: &Endpoint,
        token: &Token,
        reading_token: Option<&Token>,
        keeper: &Arc<Keeper>,
    ) -> Result<Self, HouseError> {
        let acting = Arc::new(Link::open(endpoint, token, listener(keeper)).await?);
        let mut unreadable = Vec::new();
        let (reading, reading_token) = match reading_token {
            None => (acting.clone(), token.clone()),
            Some(second) => match Link::open(endpoint, second, listener(keeper)).await {
                Ok(link) => (Arc::new(link), second.clone()),
                Err(error) => {
                    tracing::warn!(%error, "the reading token cannot be used; reading with the other");
                    unreadable.push(("reading token".to_owned(), error));
                    (acting.clone(), token.clone())
                }
            },
        };
        let (http, endpoint) = (endpoint.http_client()?, endpoint.clone());
        Ok(Self { acting, reading, reading_token, http, endpoint, unreadable: Mutex::new(unreadable) })
    }

    /// Waits until either socket is dead.
    pub async fn closed(&self) -> HouseError {
        tokio::select! {
            error = self.acting.closed() => error,
            error = self.reading.closed() => error,
        }
    }

    /// Reads a list that may be long.
    pub async fn list(&self, kind: &str, fields: Value) -> Result<Reply, HouseError> {
        let deadline = LIST_MAX;
        self.reading.ask(body(kind, fields), None, deadline).await.map_err(Missed::error)
    }

    /// A list that this release or this token may lack: then it is noted and counts as empty.
    pub async fn optional_list(&self, kind: &str) -> Result<Option<Reply>, HouseError> {
        match self.list(kind, Value::Null).await {
            Ok(reply) => Ok(Some(reply)),
            Err(error) if error.is(Cause::UnknownCommand) || error.is(Cause::Unauthorized) => {
                self.cannot_read(kind, error);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    pub fn cannot_read(&self, what: &str, error: HouseError) {
        tracing::debug!(what, %error, "not readable");
        let mut unreadable = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
        if unreadable.iter().all(|(known, _)| known != what) {
            unreadable.push((what.to_owned(), error));
        }
    }

    /// Subscribes to all that tells of changes; what the token may not hear is noted.
    pub async fn subscribe(&self) -> Result<(), HouseError> {
        let asked = EVENTS.map(|(event, topic)| {
            let command = body("subscribe_events", json!({ "event_type": event }));
            async move { (event, self.reading.ask(command, Some(topic), LIST_MAX).await) }
        });
        for (event, answer) in futures_util::future::join_all(asked).await {
            match answer {
                Ok(_) => {}
                Err(Missed::House { error, .. }) => self.cannot_read(event, error),
                Err(missed) => return Err(missed.error()),
            }
        }
        Ok(())
    }

    pub async fn subscribe_states(&self) -> Result<(), HouseError> {
        let command = body("subscribe_entities", Value::Null);
        let deadline = LIST_MAX;
        self.acting.ask(command, Some(Topic::States), deadline).await.map(drop).map_err(Missed::error)
    }
}

/// What to do with each event. Runs on the task of the socket, so answers that come after an event
/// find the event already drawn.
fn listener(keeper: &Arc<Keeper>) -> Listener<Topic> {
    let keeper = keeper.clone();
    Box::new(move |topic, json| match topic {
        Topic::States => keeper.states(json),
        Topic::Places => keeper.changes.note(|noted| noted.places = true),
        Topic::Entries => keeper.changes.note(|noted| {
            noted.entries.extend(entry_ids(json));
            noted.exposed = true;
        }),
        Topic::Config => keeper.changes.note(|noted| noted.config = true),
        Topic::Services => keeper.changes.note(|noted| noted.services = true),
        Topic::Macros => keeper.changes.note(|noted| noted.all_macros = true),
    })
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RegistryEvent<'a> {
    #[serde(borrow)]
    data: RegistryData<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RegistryData<'a> {
    #[serde(borrow)]
    entity_id: Loose<'a>,
    old_entity_id: Loose<'a>,
}

/// The entity that an `entity_registry_updated` speaks of, and its old id when it was renamed.
fn entry_ids(json: &str) -> Vec<EntityId> {
    let event: RegistryEvent<'_> = serde_json::from_str(json).unwrap_or_default();
    let ids = [event.data.entity_id, event.data.old_entity_id];
    ids.iter().filter_map(|id| EntityId::parse(&id.text()?)).collect()
}
