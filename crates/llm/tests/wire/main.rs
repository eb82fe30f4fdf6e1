//! The three wire formats over real HTTP, against a scripted model. Start at `common`.
//! Invariant: each test has a server of its own.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "the lints know test functions, but not what they call")]

mod bodies;
mod checking;
mod common;
mod failures;
mod replayed;
mod streams;
