//! The agent against the [`model`](crate::model) of a cluster: driven from event to event, watched,
//! and tried with faults that follow from a seed.

mod caps;
mod carry;
mod ceiling;
mod devices;
mod drains;
mod draw;
mod driver;
pub mod generate;
mod holders;
mod hostile;
mod journal;
mod minimise;
mod moldable;
mod notation;
mod reasons;
mod scenario;
mod simpler;
mod thawed;
mod trial;
mod uses;
mod watch;

pub use draw::Draw;
pub use driver::{Driver, Journaling};
pub use minimise::minimise;
pub use scenario::{NodeGroup, TrialScenario};
pub use trial::{Failure, Passed, programs, run, run_with_transcript};
