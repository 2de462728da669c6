//! Simulations of a trace under policies and settings.

pub mod sim_options;
