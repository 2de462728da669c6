//! The bi-criteria algorithm (Section 3.2): batches of doubling length, each with the tasks of
//! greatest weight that fit.

mod batches;
mod merge;
mod revised;

pub use batches::{batches, first_length};
pub use revised::{best_of, revised};
