//! The agent of a household: the kernel joined with the house, the store and the language models.
//!
//! Start at [`Household::open`]. Invariant: nothing is decided here; each adapter only passes on.

mod askers;
mod beside;
mod built_in;
mod clock;
mod house;
mod household;
mod meaning;
mod surroundings;

pub use askers::Askers;
pub use built_in::{BuiltIn, not_done};
pub use clock::LocalClock;
pub use house::{HouseUndo, register_house};
pub use household::{Household, HouseholdError, Models, Parts, settings};
pub use meaning::meaning;
pub use surroundings::HouseSurroundings;
