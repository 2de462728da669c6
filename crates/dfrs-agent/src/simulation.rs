//! The agent against the [`model`](crate::model) of a cluster: driven from event to event, watched, and
//! tried with faults that follow from a seed.

mod driver;
pub mod generate;
mod journal;
mod minimise;
mod notation;
mod scenario;
mod trial;
mod watch;

pub use driver::{Driver, Journaling};
pub use minimise::minimise;
pub use scenario::{Nodes, Scenario};
pub use trial::{Failure, Passed, narrate, run};
