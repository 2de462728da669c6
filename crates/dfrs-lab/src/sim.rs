//! Simulations of a trace under policies and settings.

pub mod beside;
pub mod catalogue;
mod files;
mod gantt;
mod jobs;
mod live;
pub mod results;
mod run;
pub mod sim_options;

pub use files::SimOutputs;
pub use live::LiveOptions;
pub use run::{SimPlan, all};
