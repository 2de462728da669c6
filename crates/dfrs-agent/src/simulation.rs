//! The agent against the [`model`](crate::model) of a cluster: driven from event to event, watched, and
//! tried with faults that follow from a seed.

mod driver;
mod journal;

pub use driver::{Driver, Journaling};
