//! Language models behind the kernel's port. Start at the adapters, one file a wire format.
//! Invariant: a key appears in no error and no log.
