//! After slurmctld was killed. It keeps its jobs' states every five seconds at most (`SAVE_MAX_WAIT` in
//! state_save.c, 22.05 and 24.11), DFRS its ledger before and after the steps of each pass: what DFRS did
//! last, the nodes have done, and the slurmctld that starts again does not know. Slurm is brought up to
//! the ledger here; at any other time the ledger follows Slurm (`sync`).

use dfrs_core::Time;
use dfrs_proto::conf::Config;

use crate::ledger::{Ledger, Record};
use crate::life::{Event, Look};
use crate::observation::Observation;

/// What Slurm has forgotten of a job.
#[derive(Debug, PartialEq, Eq)]
pub struct Forgotten {
    /// Slurm's job id.
    pub job: u32,
    /// For the log: "the job …".
    pub what: &'static str,
    /// Nodes may still run it, or remember that they did, while Slurm shows it as waiting.
    pub left_behind: bool,
}

/// Has jobs of which Slurm has forgotten a start, a suspension or a resumption go on from where the usual
/// steps repeat it. Returns them.
pub fn recover(
    ledger: &mut Ledger,
    observation: &Observation,
    config: &Config,
    now: Time,
) -> Vec<Forgotten> {
    let all = observation.jobs().filter_map(|job| {
        let look = Look::new(job, observation, config, now);
        ledger
            .record_of(&look)
            .and_then(|record| recover_job(record, &look))
    });
    all.collect()
}

fn recover_job(record: &mut Record, look: &Look) -> Option<Forgotten> {
    let was_requeued = look.job.restarts != record.restarts;
    let effects = record.on(&Event::Forgotten { was_requeued }, look);
    effects.forgotten.map(|what| Forgotten {
        job: look.job.id,
        what,
        left_behind: effects.is_left_behind,
    })
}
