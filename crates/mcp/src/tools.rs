//! The six tools, as functions of a house: no transport, no protocol. Start at [`call`] and
//! [`catalogue::catalogue`]. Invariant: every write goes call → decision → permit → execute; there
//! is no other way out of this module to the house.

use decide::house::House;
use serde_json::{Map, Value};

use crate::desk::Desk;

pub mod act;
pub mod answer;
pub mod approve;
pub mod arguments;
pub mod call;
pub mod catalogue;
pub mod entities;
mod fold;
pub mod macros;
mod names;
mod numbers;
pub mod overview;
pub mod print;
pub mod refusal;
mod response;
mod row;
pub mod view;

/// Call a tool by its name; nothing where there is no such tool.
pub async fn call(desk: &Desk, name: &str, given: &Map<String, Value>) -> Option<Value> {
    if let Some(answer) = arguments::Arguments::too_big(given, desk.language) {
        return catalogue::ORDER.contains(&name).then_some(answer);
    }
    let desk = &desk.settled();
    // What closes or locks needs no place: it must not wait until others have seen their effect.
    let _place = match desk.room.try_acquire() {
        Ok(place) => Some(place),
        Err(_) if name == "call_service" && call::toward_safety(desk, given) => None,
        Err(_) => {
            let Ok(_waiting) = desk.waiting.try_acquire() else { return Some(answer::busy(desk.language)) };
            // Closed by nobody; without a place the call would only be less bounded.
            desk.room.acquire().await.ok()
        }
    };
    Some(match name {
        "home_overview" => read(desk, |house| overview::home_overview(&desk.view(house), given)).await,
        "list_entities" => read(desk, |house| entities::list_entities(&desk.view(house), given)).await,
        "list_macros" => read(desk, |house| macros::list_macros(&desk.view(house), given)).await,
        "call_service" => call::call_service(desk, given).await,
        "preview_macro" => macros::preview_macro(desk, given).await,
        "run_macro" => macros::run_macro(desk, given).await,
        _ => return None,
    })
}

async fn read(desk: &Desk, tool: impl FnOnce(&House) -> Result<Value, Value>) -> Value {
    match desk.house_to_read().await {
        Ok(house) => tool(&house).unwrap_or_else(|answer| answer),
        Err(answer) => answer,
    }
}
