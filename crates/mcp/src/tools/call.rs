//! `call_service`: one service call through the gate. Start at [`call_service`]. Invariant: what a
//! model wrote becomes a [`decide::gate::Call`] by [`prepare`] and reaches the house by
//! [`super::act`] only.

use serde_json::{Map, Value};

use super::act::{act, only_toward_safety};
use crate::desk::Desk;

pub mod prepare;
pub mod problem;
pub mod values;

pub async fn call_service(desk: &Desk, given: &Map<String, Value>) -> Value {
    // Bad arguments need no house; names are looked up in the house that is judged.
    match desk.house_to_write().await {
        Ok(house) => act(desk, house, &|view| prepare::prepare(view, given)).await,
        Err(answer) => answer,
    }
}

/// Whether it only locks, closes or arms, as far as can be told now.
pub fn toward_safety(desk: &Desk, given: &Map<String, Value>) -> bool {
    only_toward_safety(desk, &desk.connection.house(), &|view| prepare::prepare(view, given))
}
