//! What jobs can do beside the papers' free moves: which share of them, and what it costs.

mod cost;
mod shares;

pub use cost::{Cost, CostError};
pub use shares::{MobilityShares, SharesError};
pub(crate) use shares::{WHOLE, drawn, kind_named};
