//! The tools on houses made in code, and the protocol over memory. Start at `reading` for what a
//! model sees, at `protocol` for how it arrives, and at `foreign` for the tools of others.

#![allow(clippy::unwrap_used)]

mod acting;
mod budgets;
mod foreign;
mod macros;
mod preparing;
mod protocol;
mod reading;
mod schemas;

use decide::gate::{Language, Policy};
use decide::house::House;
use mcp::tools::view::View;
use serde_json::{Map, Value};

/// A house and a policy, looked at in English.
pub struct World {
    pub house: House,
    pub policy: Policy,
}

impl World {
    pub fn new(house: House) -> Self {
        Self { house, policy: Policy::default() }
    }

    pub fn view(&self) -> View<'_> {
        View { house: &self.house, policy: &self.policy, language: Language::English, now: NOW }
    }
}

/// The moment at which all these houses are looked at.
pub const NOW: i64 = 1_800_000_000;

/// Arguments of a call.
#[track_caller]
pub fn arguments(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is no object"),
    }
}

/// Tokens as the project counts them.
pub fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}
