//! Against real houses, named by `MENSHEN_HOUSES`. Without one, each test says what it left out.
//!
//! Start at `houses`. Invariant: a test puts back what it moves, and those that move things take turns.

#![allow(clippy::unwrap_used, reason = "the lint knows test functions, but not what they call")]

mod acting;
mod fake;
mod houses;
mod reading;
mod scripted;
mod trouble;
