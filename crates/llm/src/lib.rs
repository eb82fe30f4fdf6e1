//! Language models behind the kernel's port.
//!
//! Start at [`Source`] for one model and at [`Sources`] for several, tried in order. What goes over the
//! wire is in `wire`, one file a format; `frames` → `decode` → `answer` is the way back.
//! Invariant: a key appears in no error and no log.

mod answer;
mod calls;
mod check;
mod config;
mod conversation;
mod decode;
mod embed;
mod fault;
mod frames;
mod http;
mod names;
mod printed;
mod providers;
mod secret;
mod source;
mod sources;
mod wire;

pub use check::{Finding, Found, Report, What, check};
pub use config::{
    Config, ConfigError, Effort, Kind, Prices, SOURCE_CONNECT, SOURCE_FIRST, SOURCE_FIRST_NEAR, SOURCE_IDLE,
    SOURCE_TOTAL, Thinking, Timeouts,
};
pub use embed::{EMBED_BATCH_MAX, EMBED_WAIT, EmbedClient, EmbedFolder, Embedder};
pub use frames::SOURCE_EVENT_BYTES_MAX;
pub use http::{SOURCE_ANSWER_BYTES_MAX, SOURCE_ERROR_BYTES_MAX};
pub use printed::PRINTED_BYTES_MAX;
pub use providers::{LateText, Provider};
pub use secret::Secret;
pub use source::Source;
pub use sources::{Pace, SOURCE_ATTEMPTS_MAX, SOURCE_REST, SOURCE_REST_MAX, SOURCE_WAIT_MAX, Sources, State, Status};
