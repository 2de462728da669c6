//! How a live job can give up its place: what the user says, else the partition's default, lowered
//! by what the job can really do.

use dfrs_core::Mobility;
use dfrs_proto::conf::Config;

use crate::observation::ObservedJob;

/// Prefix of the word in a job's `--comment`.
const PREFIX: &str = "dfrs:";

/// What DFRS may ask of `job`: what its comment says, else its partition's default.
///
/// A job without a script or with `--no-requeue` cannot be requeued, so it keeps at most what the
/// partition grants without a requeue.
#[must_use]
pub fn mobility(job: &ObservedJob, config: &Config) -> Mobility {
    let default = config
        .partition(&job.partition)
        .map_or(Mobility::Never, |partition| partition.mobility);
    lowered(job, stated(&job.comment).unwrap_or(default), default)
}

/// What of the wanted mobility the job is capable of.
fn lowered(job: &ObservedJob, wanted: Mobility, default: Mobility) -> Mobility {
    let needs_requeue = matches!(wanted, Mobility::Checkpoint | Mobility::Restart);
    if !needs_requeue || (job.batch && job.requeue) {
        wanted
    } else if default == Mobility::Park {
        Mobility::Park
    } else {
        Mobility::Never
    }
}

/// What the comment says, if it says anything that is a mobility; the last word wins.
fn stated(comment: &str) -> Option<Mobility> {
    comment
        .split([',', ' ', ';'])
        .filter_map(|word| word.strip_prefix(PREFIX))
        .filter_map(by_name)
        .next_back()
}

/// A mobility by its name in comments and in dfrs.conf.
fn by_name(name: &str) -> Option<Mobility> {
    match name.to_ascii_lowercase().as_str() {
        "checkpoint" => Some(Mobility::Checkpoint),
        "park" => Some(Mobility::Park),
        "restart" => Some(Mobility::Restart),
        "never" => Some(Mobility::Never),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{config, job};

    /// The mobility of a job in a partition with this default.
    fn in_partition(job: &ObservedJob, default: Mobility) -> Mobility {
        let mut config = config();
        config.partitions[0].mobility = default;
        mobility(job, &config)
    }

    #[test]
    fn the_comment_wins_over_the_partition() {
        let mut job = job(1, 1);
        assert_eq!(in_partition(&job, Mobility::Park), Mobility::Park);
        job.comment = "project 7, dfrs:checkpoint".into();
        assert_eq!(in_partition(&job, Mobility::Park), Mobility::Checkpoint);
        job.comment = "dfrs:never".into();
        assert_eq!(in_partition(&job, Mobility::Park), Mobility::Never);
        job.comment = "dfrs:bogus".into();
        assert_eq!(in_partition(&job, Mobility::Park), Mobility::Park);
    }

    #[test]
    fn what_cannot_be_requeued_never_checkpoints() {
        let mut job = job(1, 1);
        job.comment = "dfrs:checkpoint".into();
        job.requeue = false;
        assert_eq!(in_partition(&job, Mobility::Park), Mobility::Park);
        assert_eq!(in_partition(&job, Mobility::Checkpoint), Mobility::Never);
        job.requeue = true;
        job.batch = false;
        assert_eq!(in_partition(&job, Mobility::Restart), Mobility::Never);
    }
}
