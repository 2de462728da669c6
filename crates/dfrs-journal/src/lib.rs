//! Reading journals: a streaming reader ([`JournalReader`]), the check of everything that a journal
//! promises ([`validate()`], [`Validator`]), and devices by their names ([`devices`]).
//!
//! The events, and what writes them, are in [`dfrs_proto::journal`]. The plugin reads no journal but
//! to go on with its own, and uses nothing of this crate: it is not linked into slurmctld.

pub mod devices;
mod reader;
#[cfg(test)]
mod tests;
mod track;
mod validate;
mod violation;

pub use reader::{JournalReader, ReadError};
pub use validate::{Tolerance, Validator, validate};
pub use violation::{JournalViolation, Violated};
