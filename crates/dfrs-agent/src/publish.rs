//! What DFRS says to others: orders for nodes, the journal, the saved state.

pub mod live_journal;
pub mod node_orders;
pub mod recorder;
pub mod state;
