//! Both brains behind `kernel::ports::Brain`, in the words of pi's RPC protocol: the kernel, and a child
//! `pi --mode rpc`.
//!
//! Start at [`KernelBrain`], [`PiChild`], and [`rpc`] for the kernel on standard input and output. Invariant:
//! a prompt that was accepted ends with one outcome of its own; nothing here knows HTTP or the store.

mod child;
mod kernel_brain;
mod lines;
mod records;
pub mod rpc;

pub use child::{DialogPolicy, Options as ChildOptions, PiChild, split_arguments};
pub use kernel_brain::KernelBrain;
pub use records::NOT_SUPPORTED;
