//! What scripts, automations and scenes do, as far as the reading token may see it.
//!
//! Start at [`refresh`]. Invariant: a body stands either as the house gave it just now or as
//! unreadable with the reason; an old body never survives a failed reading.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use decide::house::{Body, Entity, EntityId, House};
use futures_util::StreamExt;
use serde_json::{Map, Value, json};

use crate::link::{Missed, body};
use crate::links::Links;
use crate::picture::{Keeper, ReadBody};

/// Bodies that are asked for at the same time.
const READING_AT_ONCE_MAX: usize = 16;
/// Limit: Longest wait for one body.
const BODY_MAX: Duration = Duration::from_secs(10);

/// Reads the bodies of these macros and draws them.
pub(crate) async fn refresh(links: &Arc<Links>, keeper: &Arc<Keeper>, ids: BTreeSet<EntityId>) {
    let house = keeper.house();
    let reading = keeper.begin_reading();
    let read: Vec<ReadBody> = futures_util::stream::iter(ids)
        .map(|id| {
            let (links, house) = (links.clone(), house.clone());
            async move {
                let body = read_one(&links, &house, &id).await;
                let related = match &body {
                    Some(Body::Unreadable(_)) if id.domain() == "automation" => related(&links, &id).await,
                    _ => Vec::new(),
                };
                ReadBody { id, body, related }
            }
        })
        .buffer_unordered(READING_AT_ONCE_MAX)
        .collect()
        .await;
    keeper.draw(|picture| picture.bodies(reading, read));
}

/// Nothing for a macro that is not loaded: it cannot run.
async fn read_one(links: &Links, house: &House, id: &EntityId) -> Option<Body> {
    let entity = house.entities.get(id)?;
    entity.state.as_ref()?;
    Some(match id.domain() {
        "script" => config(links, "script", id).await,
        "automation" => config(links, "automation", id).await,
        _ => scene(links, entity).await,
    })
}

fn unreadable(why: &str) -> Body {
    Body::Unreadable(why.into())
}

async fn ask(links: &Links, command: String) -> Result<Value, Body> {
    match links.reading.ask(command, None, BODY_MAX).await {
        Ok(reply) => reply.value("a body").map_err(|_| unreadable("malformed")),
        Err(Missed::House { code, .. }) => Err(unreadable(&code)),
        Err(Missed::NotSent(_) | Missed::Unknown(_)) => Err(unreadable("timeout")),
    }
}

/// Script or automation, its blueprint filled in.
async fn config(links: &Links, domain: &str, id: &EntityId) -> Body {
    let command = body(&format!("{domain}/config"), json!({ "entity_id": id }));
    let mut answer = match ask(links, command).await {
        Ok(answer) => answer,
        Err(body) => return body,
    };
    let Value::Object(mut config) = answer["config"].take() else { return unreadable("not_found") };
    let Some(blueprint) = config.remove("use_blueprint") else { return Body::Config(Arc::new(Value::Object(config))) };
    let command = body(
        "blueprint/substitute",
        json!({ "domain": domain, "path": blueprint["path"], "input": blueprint.get("input").unwrap_or(&json!({})) }),
    );
    match ask(links, command).await {
        Ok(mut answer) => match answer["substituted_config"].take() {
            Value::Object(filled) => Body::Config(Arc::new(Value::Object(overlaid(filled, config)))),
            _ => unreadable("blueprint"),
        },
        Err(_) => unreadable("blueprint"),
    }
}

/// What an automation has to do with, where that is all that may be seen of it.
async fn related(links: &Links, id: &EntityId) -> Vec<EntityId> {
    let command = body("search/related", json!({ "item_type": "automation", "item_id": id }));
    let Ok(answer) = ask(links, command).await else { return Vec::new() };
    let entities = answer["entity"].as_array().into_iter().flatten();
    entities.filter_map(|id| EntityId::parse(id.as_str()?)).collect()
}

/// As Home Assistant does it: what the macro itself says wins over its blueprint.
fn overlaid(mut filled: Map<String, Value>, own: Map<String, Value>) -> Map<String, Value> {
    filled.extend(own);
    filled.remove("blueprint");
    filled
}

/// Scenes of the editor are read by REST; those in YAML show their members only.
async fn scene(links: &Links, entity: &Entity) -> Body {
    if entity.info.platform.as_deref().is_some_and(|platform| platform != "homeassistant") {
        return unreadable("integration");
    }
    let Some(id) = entity.attribute("id").and_then(Value::as_str) else { return unreadable("yaml") };
    let Ok(mut url) = reqwest::Url::parse(&links.endpoint.http_url("/api/config/scene/config")) else {
        return unreadable("malformed");
    };
    if let Ok(mut path) = url.path_segments_mut() {
        path.push(id);
    }
    let request = links.http.get(url).bearer_auth(links.reading_token.reveal());
    let response = match request.timeout(BODY_MAX).send().await {
        Ok(response) => response,
        Err(_) => return unreadable("timeout"),
    };
    match response.status().as_u16() {
        200 => match response.json::<Value>().await {
            Ok(config) if members_agree(entity, &config) => Body::Config(Arc::new(config)),
            Ok(_) => unreadable("mismatch"),
            Err(_) => unreadable("malformed"),
        },
        401 | 403 => unreadable("unauthorized"),
        404 => unreadable("not_found"),
        _ => unreadable("error"),
    }
}

/// The file may have been changed without a reload, and an id is a mere attribute: only a body with
/// the very members of the loaded scene is that scene's.
fn members_agree(entity: &Entity, config: &Value) -> bool {
    let loaded: BTreeSet<EntityId> = entity.members().collect();
    let Some(entities) = config["entities"].as_object() else { return false };
    let written: Option<BTreeSet<EntityId>> = entities.keys().map(|id| EntityId::parse(id)).collect();
    written.is_some_and(|written| written == loaded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use decide::house::State;

    #[test]
    fn a_scene_file_with_other_members_is_not_this_scenes() {
        let attributes = json!({ "entity_id": ["light.a", "lock.b"] });
        let state = State { attributes: attributes.as_object().cloned().unwrap(), ..State::default() };
        let entity = Entity { state: Some(Arc::new(state)), ..Entity::default() };
        assert!(members_agree(&entity, &json!({ "entities": { "LIGHT.A": "on", "lock.b": "locked" } })));
        assert!(!members_agree(&entity, &json!({ "entities": { "light.a": "on" } })));
        assert!(!members_agree(&entity, &json!({})));
    }

    #[test]
    fn what_the_macro_says_wins_over_its_blueprint() {
        let object = |value: Value| value.as_object().cloned().unwrap();
        let filled = object(json!({ "alias": "generic", "blueprint": {}, "sequence": [] }));
        let merged = overlaid(filled, object(json!({ "alias": "Mine" })));
        assert_eq!(Value::Object(merged), json!({ "alias": "Mine", "sequence": [] }));
    }
}
