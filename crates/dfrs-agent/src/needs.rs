//! What CPU jobs count with in decisions: what they asked for, or what their nodes saw them use.

use dfrs_core::{Cores, Need};
use dfrs_proto::conf::{Config, Needs};

use crate::ledger::Record;
use crate::observation::ObservedJob;

/// What each of the job's tasks asked for.
#[must_use]
pub fn request_of(job: &ObservedJob) -> Cores {
    Cores::from_cores(job.cpus_per_task.max(1).into())
}

/// Whether the job may count with less than it asked for: not one that has its nodes for itself, that has to be over
/// by a time, or that leaves threads of its cores idle, which are not for others.
#[must_use]
pub fn is_measured(job: &ObservedJob, record: &Record, config: &Config) -> bool {
    config.needs == Needs::Measured
        && job.deadline == 0
        && job.idle_cpus == 0
        && !record.hurries
        && config.schedules(&job.partition)
        && config.moldable(&job.partition).is_none()
}

/// What it counts with.
#[must_use]
pub fn need_of(job: &ObservedJob, record: &Record, config: &Config) -> Need {
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
    use crate::life::Life;
    use crate::model::{config, job};

    fn record() -> Record {
        Record {
            need: Need::from_eighths(3),
            ..Record::new(0, Time(0), Life::default())
        }
    }

    #[test]
    fn only_where_it_is_asked_for_and_nothing_hurries_a_need_counts() {
        let measured = Config {
            needs: Needs::Measured,
            ..config()
        };
        let eighths = |job: &ObservedJob, record: &Record, config: &Config| {
            need_of(job, record, config).eighths()
        };
        assert_eq!(eighths(&job(1, 1), &record(), &measured), 3);
        assert_eq!(eighths(&job(1, 1), &record(), &config()), 8);
        let ends = ObservedJob {
            deadline: 1,
            ..job(1, 1)
        };
        assert_eq!(eighths(&ends, &record(), &measured), 8);
        let idles = ObservedJob {
            cpus_per_task: 2,
            idle_cpus: 1,
            ..job(1, 1)
        };
        assert_eq!(eighths(&idles, &record(), &measured), 8);
        let hurries = Record {
            hurries: true,
            ..record()
        };
        assert_eq!(eighths(&job(1, 1), &hurries, &measured), 8);
        let elsewhere = ObservedJob {
            partition: "other".into(),
            ..job(1, 1)
        };
        assert_eq!(eighths(&elsewhere, &record(), &measured), 8);
    }
}
