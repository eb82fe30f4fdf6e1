//! The store from outside: what its ports promise, what a kill leaves, how it moves.

#![allow(clippy::unwrap_used, reason = "the lint knows test functions, but not what they call")]

mod backup;
mod common;
mod conformance;
mod crash;
mod cut;
mod limits;
mod moving;
mod ports;
