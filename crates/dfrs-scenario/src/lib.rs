//! Scenario files: decisions as text, each with what is expected of it.
//!
//! A scenario is all that a decision depends on, so that deciding it again gives the same plan: a
//! test that people write by hand, or a record of what the plugin decided when something went
//! wrong. The notation is described in `docs/simulator.md`; reading and printing are inverse, and
//! nothing is rounded.
//!
//! ```
//! let file = "\
//! scenario a new job starts where there is room
//! policy GreedyPM*/per/OPT=MIN
//! now 1000s
//! nodes n[0-1] cpu=4 memory=64G
//! job 7 cpu=4 memory=40G submit=10s virtual-time=600s running=n0
//! job 8 cpu=2 memory=32G submit=1000s
//! event submitted 8
//! ----
//! start 8 on n1: fits
//! yield 7-8 1
//! ";
//! let scenarios = dfrs_scenario::read(file, "example.txt", str::parse)?;
//! let decided = scenarios[0].decide();
//! assert_eq!(scenarios[0].expected, Some(decided.outcome()));
//! assert_eq!(dfrs_scenario::print(&scenarios), file);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing here reads or writes files: callers hand over texts.
#![forbid(unsafe_code)]

mod decide;
mod error;
mod ids;
mod mappings;
mod names;
mod read;
mod reasons;
mod record;
mod rewrite;
mod scenario;
mod units;
mod words;
mod write;

pub use decide::Decided;
pub use error::ScenarioError;
pub use names::Labels;
pub use read::read;
pub use record::{from_record, is_record};
pub use rewrite::rewritten;
pub use scenario::{Scenario, ScenarioOutcome};
pub use write::print;
