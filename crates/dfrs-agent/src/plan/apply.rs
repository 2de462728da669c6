//! Planned actions become what the jobs are on their way to.

use dfrs_core::{Action, JobId, Time};
use dfrs_proto::conf::Config;

use crate::job::ledger::Ledger;
use crate::job::life::{JobContext, LifeEvent};
use crate::slurm::observation::Observation;

/// Enters actions into the ledger. An action that is invalid for its job changes nothing.
pub fn apply<'a>(
    actions: impl Iterator<Item = &'a Action>,
    ledger: &mut Ledger,
    observation: &Observation,
    config: &Config,
    now: Time,
) {
    for action in actions {
        let Some(id) = slurm_id(action.job()) else {
            continue;
        };
        let (Some(record), Some(job)) = (ledger.get_mut(id), observation.job(id)) else {
            continue;
        };
        let context = JobContext::new(job, observation, config, now);
        record.on(&LifeEvent::Planned(action), &context);
    }
}

/// Slurm's id of a job; `None`: it is none.
pub(crate) fn slurm_id(id: JobId) -> Option<u32> {
    u32::try_from(id.0).ok()
}
