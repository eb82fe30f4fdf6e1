//! Everything a household keeps. Invariant: SQL stands in this crate only.
