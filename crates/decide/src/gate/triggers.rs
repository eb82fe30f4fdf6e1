//! Which automations a change sets off. Start at [`Triggers::new`].

use crate::house::House;

#[derive(Clone, Debug, Default)]
pub struct Triggers;

impl Triggers {
    pub fn new(_house: &House) -> Self {
        Self
    }
}
