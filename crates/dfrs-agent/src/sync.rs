//! Brings the ledger in line with what Slurm shows: Slurm is right about what is, the ledger about
//! what was meant.

use std::collections::BTreeSet;

use dfrs_core::Time;
use dfrs_proto::conf::Config;

use crate::job::ledger::{Ledger, LedgerRecord};
use crate::job::life::{JobContext, Life};
use crate::slurm::observation::Observation;
use crate::slurm::records::ObservedState;

/// What changed since the last pass, as far as it may change decisions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SyncChanges {
    /// Jobs that were there and are over now.
    pub ended: Vec<(u32, LedgerRecord)>,
    /// Jobs that were not there before.
    pub new: Vec<u32>,
    /// Somewhere a place became free by other ways than DFRS's own.
    pub freed: bool,
    /// Jobs that Slurm took from their nodes without ending them there: it takes a node for down
    /// whose slurmd may still be at work.
    pub orphaned: Vec<u32>,
    /// Jobs whose images became something else, and what, for the log.
    pub images: Vec<(u32, &'static str)>,
}

/// Updates the records of these jobs, which Slurm shows as different from what they were; virtual
/// times are counted up to `now` already. O(log jobs) for each.
pub fn sync(
    ledger: &mut Ledger,
    observation: &Observation,
    jobs: &BTreeSet<u32>,
    config: &Config,
    now: Time,
) -> SyncChanges {
    let mut changes = SyncChanges::default();
    for id in jobs {
        let alive = observation
            .job(*id)
            .filter(|job| job.state != ObservedState::Ended);
        match alive {
            Some(job) => {
                let context = JobContext::new(job, observation, config, now);
                sync_job(ledger, &context, &mut changes);
            }
            None => forget(ledger, *id, &mut changes),
        }
    }
    changes
}

/// Drops the record of a job that is over.
fn forget(ledger: &mut Ledger, id: u32, changes: &mut SyncChanges) {
    if let Some(record) = ledger.remove(id) {
        changes.ended.push((id, record));
        changes.freed = true;
    }
}

fn sync_job(ledger: &mut Ledger, context: &JobContext, changes: &mut SyncChanges) {
    let job = context.job;
    if job.array_master {
        return;
    }
    let Some(effects) = ledger.see(context) else {
        // Another job had this id: Slurm has forgotten that one, or used its id again.
        forget(ledger, job.id, changes);
        let submitted = context.observation.submitted(job.submit_seconds);
        let record = LedgerRecord::new(job.submit_seconds, context.now, Life::first_seen(context));
        let mut known = LedgerRecord {
            // A job that was submitted before the clock was set back was not submitted later than
            // now.
            submit_time: submitted
                .min(context.now.whole_seconds())
                .max(job.submit_seconds),
            restarts: job.restarts,
            limit: job.limit(),
            ..record
        };
        known.eligible_time = known.eligible_by(job);
        ledger.insert(job.id, known);
        changes.new.push(job.id);
        return;
    };
    changes.freed |= effects.has_freed;
    changes
        .images
        .extend(effects.image.map(|what| (job.id, what)));
    if effects.is_orphaned {
        changes.orphaned.push(job.id);
    }
}
