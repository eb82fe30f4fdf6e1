//! A world for tests. Start at [`HouseBuilder`]: houses made in code, small ones by hand and large
//! ones generated. Invariant: nothing in here is linked into the program.

mod house;

pub use house::{EntityBuilder, HouseBuilder, family, generated};

pub mod measured;
