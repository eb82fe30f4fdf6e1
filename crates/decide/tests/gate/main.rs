//! The gate from outside: what must not pass, what must, what was measured, what holds for any call.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod attacks;
mod honest;
mod matrix;
mod properties;
mod small;
