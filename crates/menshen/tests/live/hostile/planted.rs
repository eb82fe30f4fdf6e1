//! Hostile texts put where the house keeps its texts, on a real house. Start at [`Planted::in_house`].
//! Invariant: what is put in is taken out again by [`Planted::remove`]; nothing that the house had is
//! changed. (Entries of its calendar stay, in a year far off: it has no way to take them out.)

use std::collections::BTreeMap;

use home::Wire;
use reqwest::Method;
use serde_json::{Value, json};

use super::payloads::Payload;
use crate::houses::{TestHouse, raw};

const TODO: &str = "todo.shopping";
/// Begins the names of all that is made here.
const NAME: &str = "Plain p";
const CALENDAR: &str = "calendar.family";

/// What brings the text of a payload before a model, by its id.
#[derive(Default)]
pub struct Planted {
    pub reads: BTreeMap<String, Vec<(String, Value)>>,
}

/// One carrier after the other.
struct Planting<'a> {
    house: &'a TestHouse,
    wire: Wire,
    planted: Planted,
}

impl Planted {
    pub async fn in_house(house: &TestHouse, payloads: &[Payload]) -> Self {
        let mut planting = Planting { house, wire: house.wire().await, planted: Self::default() };
        for payload in payloads {
            let text = payload.text.clone();
            match payload.carrier.as_str() {
                "entity_name" => planting.entity(payload, json!({ "name": text })).await,
                "alias" => planting.entity(payload, json!({ "aliases": [text] })).await,
                "area_name" => planting.area(payload, &text).await,
                "state" => planting.state(payload, &text).await,
                "attribute" => planting.attribute(payload, "options", &text).await,
                "media_title" => planting.attribute(payload, "media_title", &text).await,
                "script_description" => planting.script(payload, &text).await,
                "calendar" => planting.calendar(payload, &text).await,
                "todo" => planting.todo(payload, &text).await,
                "notification" => planting.notification(payload, &text).await,
                _ => {}
            }
        }
        planting.planted
    }

    /// Also what a run left that was cut off.
    pub async fn remove(house: &TestHouse, payloads: &[Payload]) {
        let mut wire = house.wire().await;
        for kind in ["input_boolean", "input_text"] {
            let made = wire.command(&format!("{kind}/list"), Value::Null).await.unwrap();
            let made =
                made.as_array().unwrap().iter().filter(|helper| helper["name"].as_str().unwrap().starts_with(NAME));
            for helper in made {
                let body = json!({ format!("{kind}_id"): helper["id"] });
                wire.command(&format!("{kind}/delete"), body).await.unwrap();
            }
        }
        let areas = wire.command("config/area_registry/list", Value::Null).await.unwrap();
        let texts: Vec<String> = payloads.iter().map(|payload| payload.text.clone()).collect();
        for area in areas.as_array().unwrap() {
            if texts.iter().any(|text| area["name"].as_str().unwrap() == text.trim()) {
                wire.command("config/area_registry/delete", json!({"area_id": area["area_id"]})).await.unwrap();
            }
        }
        raw(&mut wire, "persistent_notification", "dismiss_all", json!({}), None).await.unwrap();
        for payload in payloads {
            // What was not put in cannot be taken out, and is not there.
            _ = match payload.carrier.as_str() {
                "script_description" => rest(house, Method::DELETE, &script(payload), Value::Null).await,
                "attribute" | "media_title" => rest(house, Method::DELETE, &shown(payload), Value::Null).await,
                "todo" => {
                    let item = json!({"entity_id": TODO, "item": payload.text.clone()});
                    raw(&mut wire, "todo", "remove_item", item, None).await.map(drop)
                }
                _ => Ok(()),
            };
        }
    }
}

fn script(payload: &Payload) -> String {
    format!("/api/config/script/config/plain_{}", payload.id)
}

fn shown(payload: &Payload) -> String {
    format!("/api/states/media_player.plain_{}", payload.id)
}

impl Planting<'_> {
    async fn command(&mut self, command: &str, body: Value) -> Value {
        let answer = self.wire.command(command, body.clone()).await;
        answer.unwrap_or_else(|error| panic!("{command} {body}: {error:?}"))
    }

    fn read_by(&mut self, payload: &Payload, tool: &str, arguments: Value) {
        self.planted.reads.insert(payload.id.clone(), vec![(tool.to_owned(), arguments)]);
    }

    /// A helper of the house's own, which can be removed again.
    async fn helper(&mut self, kind: &str, body: Value) -> String {
        let made = self.command(&format!("{kind}/create"), body).await;
        format!("{kind}.{}", made["id"].as_str().unwrap())
    }

    async fn entity(&mut self, payload: &Payload, entry: Value) {
        let id = self.helper("input_boolean", json!({"name": format!("Plain {}", payload.id)})).await;
        let mut body = entry;
        body["entity_id"] = json!(id);
        self.command("config/entity_registry/update", body).await;
        self.read_by(payload, "list_entities", json!({ "query": id }));
    }

    async fn area(&mut self, payload: &Payload, text: &str) {
        let made = self.command("config/area_registry/create", json!({ "name": text })).await;
        let area = made["area_id"].clone();
        let id = self.helper("input_boolean", json!({"name": format!("Plain {}", payload.id)})).await;
        self.command("config/entity_registry/update", json!({"entity_id": id, "area_id": area})).await;
        self.read_by(payload, "list_entities", json!({ "query": id }));
    }

    async fn state(&mut self, payload: &Payload, text: &str) {
        let name = format!("Plain {}", payload.id);
        let cut: String = text.chars().take(255).collect();
        let id = self.helper("input_text", json!({"name": name, "max": 255, "initial": cut})).await;
        self.read_by(payload, "list_entities", json!({ "query": id }));
    }

    /// As an integration would set it that was told so from outside.
    async fn attribute(&mut self, payload: &Payload, attribute: &str, text: &str) {
        let id = format!("media_player.plain_{}", payload.id);
        let name = format!("Plain {}", payload.id);
        let body = json!({"state": "playing", "attributes": {"friendly_name": name, attribute: text}});
        rest(self.house, Method::POST, &shown(payload), body).await.unwrap();
        self.read_by(payload, "list_entities", json!({ "query": id }));
    }

    async fn script(&mut self, payload: &Payload, text: &str) {
        let body =
            json!({"alias": format!("Plain {}", payload.id), "description": text, "sequence": [{"delay": "00:00:01"}]});
        rest(self.house, Method::POST, &script(payload), body).await.unwrap();
        let phrase = format!("Plain {}", payload.id);
        let reads =
            vec![("list_macros".to_owned(), json!({})), ("preview_macro".to_owned(), json!({ "phrase": phrase }))];
        self.planted.reads.insert(payload.id.clone(), reads);
    }

    async fn calendar(&mut self, payload: &Payload, text: &str) {
        let number: u32 = payload.id[1..].parse().unwrap();
        let day = format!("2031-{:02}-{:02}", 1 + number / 28, 1 + number % 28);
        let read = json!({"domain": "calendar", "service": "get_events", "entity_id": CALENDAR, "data": {
            "start_date_time": format!("{day} 00:00:00"), "end_date_time": format!("{day} 23:59:00"),
        }});
        let data = json!({"entity_id": CALENDAR, "summary": text, "start_date_time": format!("{day} 10:00:00"), "end_date_time": format!("{day} 11:00:00")});
        let there = json!({"start_date_time": read["data"]["start_date_time"], "end_date_time": read["data"]["end_date_time"], "entity_id": CALENDAR});
        let body =
            json!({"domain": "calendar", "service": "get_events", "service_data": there, "return_response": true});
        let found = self.command("call_service", body).await;
        if !found.to_string().contains("10:00:00") {
            raw(&mut self.wire, "calendar", "create_event", data, None).await.unwrap();
        }
        self.read_by(payload, "call_service", read);
    }

    async fn todo(&mut self, payload: &Payload, text: &str) {
        raw(&mut self.wire, "todo", "add_item", json!({"entity_id": TODO, "item": text}), None).await.unwrap();
        self.read_by(payload, "call_service", json!({"domain": "todo", "service": "get_items", "entity_id": TODO}));
    }

    async fn notification(&mut self, payload: &Payload, text: &str) {
        let data = json!({"notification_id": format!("plain_{}", payload.id), "title": "Notice", "message": text});
        raw(&mut self.wire, "persistent_notification", "create", data, None).await.unwrap();
        self.read_by(payload, "list_entities", json!({"domain": "persistent_notification"}));
    }
}

async fn rest(house: &TestHouse, method: Method, path: &str, body: Value) -> Result<(), String> {
    // Another test of this binary may have done so already.
    _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut request = client.request(method, format!("{}{path}", house.url)).bearer_auth(&house.token);
    if !body.is_null() {
        request = request.json(&body);
    }
    let response = request.send().await.map_err(|error| error.to_string())?;
    match response.status().is_success() {
        true => Ok(()),
        false => Err(format!("{path}: {}", response.status())),
    }
}
