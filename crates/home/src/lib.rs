//! Home Assistant client: from a socket to the immutable [`decide::house::House`], and the one way
//! to change the house.
//!
//! Start at [`Connection`]. Reading: `link` (one socket) → `links` (both tokens) → `load` (what to ask
//! for) → `picture` (drawn, published). Writing: `execute` → `watching` → `verify`. Invariant: the
//! long-lived connection changes the house only by a [`decide::gate::Permit`].

pub mod approvals;
pub mod audit;
mod bodies;
mod changes;
pub mod connection;
mod dial;
pub mod endpoint;
pub mod error;
mod execute;
mod flights;
mod link;
mod links;
mod load;
mod loose;
mod picture;
mod reads;
pub mod receipt;
mod registry;
mod services;
mod states;
mod supervise;
mod unresolved;
pub mod verify;
mod watching;
pub mod wire;

pub use approvals::Approvals;
pub use audit::Audit;
pub use connection::{Connection, Settings};
pub use endpoint::{Endpoint, Tls, Token, without_secrets};
pub use error::{Cause, ErrorCode, HouseError};
pub use receipt::{Outcome, OutcomeKind, Receipt};
pub use wire::Wire;
