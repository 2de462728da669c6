//! What the programs of slurm-dfrs exchange: node messages, reports, the journal, the status file, questions about
//! jobs, and `dfrs.conf`.

pub mod conf;
pub mod explain;
pub mod framing;
pub mod journal;
pub mod message;
pub mod report;
pub mod status;
mod text;
