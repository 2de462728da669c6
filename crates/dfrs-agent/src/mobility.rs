//! How a live job can give up its place: what the user says, else the partition's default, lowered
//! by what the job can really do.

use dfrs_core::{Mobility, Time};
use dfrs_proto::conf::Config;

use crate::observation::{ObservedJob, ObservedState};

const SECOND: i64 = 1_000_000;
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

/// When `job`, which runs, may be paused or moved as far as its last launch is concerned: tasks that
/// are still on their way to the user's program are left alone, because parking may end them (24.11:
/// frozen there, they wake up to Slurm's SIGTSTP, which interrupts
/// `_exec_wait_child_wait_for_parent()`; it does not read again).
#[must_use]
pub fn settled_at(job: &ObservedJob, config: &Config) -> Time {
    Time(job.last_launch.saturating_mul(SECOND) + config.settle_time.0)
}

/// Whether processes of `job` may still be being launched. One whose last launch is further off than
/// that in the future is none: the clock was set back.
#[must_use]
pub fn is_settling(job: &ObservedJob, config: &Config, now: Time) -> bool {
    let elapsed = now.0 - job.last_launch.saturating_mul(SECOND);
    job.state == ObservedState::Running && elapsed.abs() < config.settle_time.0
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
    use crate::model::{config, job};

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
