//! What jobs can do beside the papers' free moves: which share of them, and what it costs.

mod cost;
mod shares;

pub use cost::Cost;
pub use shares::MobilityShares;
pub(crate) use shares::{WHOLE, drawn, kind_named};
