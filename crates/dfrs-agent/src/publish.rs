//! What DFRS says to others: orders for nodes and their delivery, the journal, the saved state.

pub mod delivery;
pub mod live_journal;
pub mod node_orders;
pub mod recorder;
pub mod state;
