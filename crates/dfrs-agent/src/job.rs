//! What DFRS knows of a job that Slurm does not: its phase, its virtual time, its limits.

pub mod launches;
pub mod ledger;
pub mod life;
pub mod limits;
pub mod mobility;
pub mod placement;
pub mod recovery;
pub mod reservations;
