//! What the graph promises.
