//! After slurmctld was killed. It keeps its jobs' states every five seconds at most
//! (`SAVE_MAX_WAIT` in state_save.c, 22.05 and 24.11), DFRS its ledger before and after the steps
//! of each pass: what DFRS did last, the nodes have done, and the slurmctld that starts again does
//! not know. Slurm is brought up to the ledger here; at any other time the ledger follows Slurm
//! (`sync`).

use dfrs_core::Time;
use dfrs_proto::conf::Config;

use crate::job::ledger::{Ledger, LedgerRecord};
use crate::job::life::{JobContext, LifeEvent};
use crate::slurm::observation::Observation;

/// What Slurm has forgotten of a job.
#[derive(Debug, PartialEq, Eq)]
pub struct Forgotten {
    /// Slurm's job id.
    pub job: u32,
    /// For the log: "the job …".
    pub what: &'static str,
    /// Nodes may still run it, or remember that they did, while Slurm shows it as waiting.
    pub is_orphaned: bool,
}

/// Has jobs of which Slurm has forgotten a start, a suspension or a resumption go on from where the
/// usual steps repeat it. Returns them.
pub fn recover(
    ledger: &mut Ledger,
    observation: &Observation,
    config: &Config,
    now: Time,
) -> Vec<Forgotten> {
    let all = observation.jobs().filter_map(|job| {
        let context = JobContext::new(job, observation, config, now);
        ledger
            .record_of(&context)
            .and_then(|record| recover_job(record, &context))
    });
    all.collect()
}

fn recover_job(record: &mut LedgerRecord, context: &JobContext) -> Option<Forgotten> {
    let was_requeued = context.job.restarts != record.restarts;
    let effects = record.on(&LifeEvent::Forgotten { was_requeued }, context);
    effects.forgotten.map(|what| Forgotten {
        job: context.job.id,
        what,
        is_orphaned: effects.is_orphaned,
    })
}
