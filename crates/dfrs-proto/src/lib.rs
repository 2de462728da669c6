//! What the programs of slurm-dfrs exchange: node messages, reports, the journal, the status file and `dfrs.conf`.

pub mod conf;
pub mod framing;
pub mod journal;
pub mod message;
pub mod report;
pub mod status;
mod text;
