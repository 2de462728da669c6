//! Safe calls into the C shim, and what it returns as the agent's own records.

// Generated; says what it is in the header that it comes from.
#[allow(
    dead_code,
    missing_docs,
    non_camel_case_types,
    clippy::pedantic,
    clippy::missing_safety_doc,
    clippy::undocumented_unsafe_blocks
)]
mod bindings;
#[cfg(not(no_slurm))]
mod c_values;
#[cfg(not(no_slurm))]
mod calls;
mod decode;
#[cfg(not(no_slurm))]
mod facts;
#[cfg(not(no_slurm))]
mod locks;
#[cfg(not(no_slurm))]
mod port;
#[cfg(not(no_slurm))]
mod view;

#[cfg(not(no_slurm))]
pub use calls::*;
#[cfg(not(no_slurm))]
pub use facts::facts;
#[cfg(not(no_slurm))]
pub use locks::{lock_times, observe_locks};
#[cfg(not(no_slurm))]
pub use port::Calls;
