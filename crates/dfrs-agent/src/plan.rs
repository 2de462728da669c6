//! From what is known to what is wanted: the core's roster, and what keeps jobs out of it.

pub mod actual;
pub mod apply;
pub mod cluster;
pub mod excluded;
pub mod kept_memory;
pub mod moldable;
pub mod need_queries;
pub mod needs;
pub mod partition_policy;
pub mod planned;
pub mod refusals;
pub mod weights;
