//! The CPU need of jobs in decisions: their request, or the use that their nodes saw.

use dfrs_core::{Cores, Need};
use dfrs_proto::conf::{Config, NeedsSource};

use crate::job::ledger::LedgerRecord;
use crate::slurm::records::ObservedJob;

/// The request of each of the job's tasks.
pub fn request_of(job: &ObservedJob) -> Cores {
    Cores::from_cores(job.request.cpus_per_task.max(1).into())
}

/// Whether the job may be counted with less than its request: not one that has its nodes for
/// itself, that has to be over by a time, or that leaves threads of its cores idle, which are not
/// for others.
pub fn is_measured(job: &ObservedJob, record: &LedgerRecord, config: &Config) -> bool {
    config.needs == NeedsSource::Measured
        && job.deadline_seconds == 0
        && job.request.idle_cpus == 0
        && !record.deadline_boost
        && config.shares_nodes(&job.partition)
}

/// What it counts with.
pub fn need_of(job: &ObservedJob, record: &LedgerRecord, config: &Config) -> Need {
    if record.need.is_less() && is_measured(job, record, config) {
        record.need
    } else {
        Need::WHOLE
    }
}

#[cfg(test)]
mod tests {
    use dfrs_core::Time;

    use super::*;
    use crate::fixtures::{config, job};
    use crate::job::life::Life;

    fn record() -> LedgerRecord {
        LedgerRecord {
            need: Need::from_eighths(3),
            ..LedgerRecord::new(0, Time(0), Life::default())
        }
    }

    #[test]
    fn measured_need_counts_only_when_configured_and_without_deadline() {
        let measured = Config {
            needs: NeedsSource::Measured,
            ..config()
        };
        let eighths = |job: &ObservedJob, record: &LedgerRecord, config: &Config| {
            need_of(job, record, config).eighths()
        };
        assert_eq!(eighths(&job(1, 1), &record(), &measured), 3);
        assert_eq!(eighths(&job(1, 1), &record(), &config()), 8);
        let ends = ObservedJob {
            deadline_seconds: 1,
            ..job(1, 1)
        };
        assert_eq!(eighths(&ends, &record(), &measured), 8);
        let idles = job(1, 1).requesting(|request| {
            request.cpus_per_task = 2;
            request.idle_cpus = 1;
        });
        assert_eq!(eighths(&idles, &record(), &measured), 8);
        let boosted = LedgerRecord {
            deadline_boost: true,
            ..record()
        };
        assert_eq!(eighths(&job(1, 1), &boosted, &measured), 8);
        let elsewhere = ObservedJob {
            partition: "other".into(),
            ..job(1, 1)
        };
        assert_eq!(eighths(&elsewhere, &record(), &measured), 8);
    }
}
