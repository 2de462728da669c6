//! What the plugin exchanges with the other programs of slurm-dfrs: messages to nodes, the journal,
//! the status file, questions about jobs, and `dfrs.conf`; and the checks of slurm.conf.

pub mod conf;
pub mod devices;
pub mod explain;
pub mod journal;
pub mod message;
pub mod slurm_conf;
pub mod status;
pub mod text;
