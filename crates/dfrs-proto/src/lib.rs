//! What the programs of slurm-dfrs exchange: node messages, reports, the journal, the status file,
//! questions about jobs, and `dfrs.conf`; and what more than one of them reads of a node.

pub mod conf;
pub mod devices;
pub mod explain;
pub mod framing;
pub mod journal;
pub mod message;
pub mod report;
pub mod slurm_conf;
pub mod spare;
pub mod status;
pub mod swap;
pub mod text;
