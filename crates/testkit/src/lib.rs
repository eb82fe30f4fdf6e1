//! A world for tests. Start at [`HouseBuilder`]: houses made in code, small ones by hand and large
//! ones generated. [`Proxy`] and [`Interceptor`] stand before a real one;
//! [`ScriptedModel`] is a language model over HTTP. Invariant: nothing in here is linked into the program.

mod house;
mod interceptor;
mod model;
mod proxy;
mod static_model;

pub use house::{EntityBuilder, HouseBuilder, family, generated};
pub use interceptor::{Interceptor, Passed, Pick};
pub use model::{Asked, Gate, Protocol, Reply, ScriptedModel};
pub use proxy::{Mode, Proxy};
pub use static_model::static_model;

pub mod measured;
