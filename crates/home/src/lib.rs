//! Home Assistant client: from a socket to the immutable [`decide::house::House`], and the one way
//! to change the house.
//!
//! Start at [`endpoint`] (where it is), then [`wire`] (one plain socket). Invariant: the long-lived
//! connection changes the house only by a [`decide::gate::Permit`].

mod dial;
pub mod endpoint;
pub mod error;
pub mod wire;

pub use endpoint::{Endpoint, Tls, Token};
pub use error::{Cause, ErrorCode, HouseError};
pub use wire::Wire;
