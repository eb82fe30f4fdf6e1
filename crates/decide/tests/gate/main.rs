//! The gate from outside: what must not pass, what must, what was measured, what holds for any call.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::disallowed_methods)]

mod attacks;
mod bodies;
mod calls;
mod conditions;
mod grants;
mod guards;
mod honest;
mod matrix;
mod moves;
mod properties;
mod roads;
mod second;
mod sentences;
mod services;
mod small;
mod states;
mod targets;
mod triggers;
mod words;
