//! How a live job can give up its place: what the user says, else the partition's default, lowered
//! by what the job can really do.

use dfrs_core::{Mobility, Time};
use dfrs_proto::conf::{Config, Partition};

use crate::job::launches::Launches;
use crate::slurm::records::{ObservedJob, ObservedState};

const SECOND: i64 = 1_000_000;
/// Prefix of the word in a job's `--comment`.
const PREFIX: &str = "dfrs:";

/// What DFRS may do to `job`: by its comment, if its partition lets users choose that, else by its
/// partition's default.
///
/// A job without a script or with `--no-requeue` cannot be requeued, so it keeps at most what the
/// partition grants without a requeue.
pub fn mobility(job: &ObservedJob, config: &Config) -> Mobility {
    let Some(partition) = config.partition(&job.partition) else {
        return Mobility::Never;
    };
    let default = default_of(job, partition);
    let stated = stated(&job.comment).filter(|word| partition.allowed.contains(word));
    lowered(job, stated.unwrap_or(default), default)
}

/// What DFRS may do to the job from now on: a job that an operator holds while it runs stays where
/// it is. A resumption would undo the hold, and a requeue would leave the job waiting for its
/// release. A job that its own user holds is preempted as if it were not held: a hold does not
/// choose the mobility (`AllowMobility`). A job that holds devices is not parked: Slurm would give
/// the node to a job that wants all of it, and the devices would not be free. A component of a
/// heterogeneous job, which was started before its partition was DFRS's, stays where it is: the
/// others would wait for it, and it would not start again.
pub fn mobility_now(job: &ObservedJob, config: &Config, is_carriable: bool) -> Mobility {
    let is_held = job.admin_hold && job.state == ObservedState::Running;
    if is_held || job.component {
        return Mobility::Never;
    }
    match carried_or_parked(mobility(job, config), is_carriable) {
        Mobility::Park if job.holds_devices() => Mobility::Never,
        mobility => mobility,
    }
}

/// A job that is to be carried is parked as long as its node does not say that it can be carried.
pub const fn carried_or_parked(mobility: Mobility, is_carriable: bool) -> Mobility {
    match mobility {
        Mobility::Carry if !is_carriable => Mobility::Park,
        mobility => mobility,
    }
}

/// Whether the job's node is to look whether it can be carried: it runs on one.
pub fn is_inspected(job: &ObservedJob, config: &Config) -> bool {
    job.state == ObservedState::Running
        && job.places.len() == 1
        && mobility(job, config) == Mobility::Carry
}

/// The partition's mobility for a job that states none. `Mobility=checkpoint` of a partition is for
/// jobs that want a warning (`--signal`): the signal would end a job that is not prepared for it,
/// so others are parked.
fn default_of(job: &ObservedJob, partition: &Partition) -> Mobility {
    let wants_warning = job.warn_seconds > 0;
    match (partition.mobility, partition.interactive) {
        (_, Some(mobility)) if !job.batch => mobility,
        (Mobility::Checkpoint, _) if can_be_requeued(job) && !wants_warning => Mobility::Park,
        (mobility, _) => mobility,
    }
}

fn can_be_requeued(job: &ObservedJob) -> bool {
    job.batch && job.requeue
}

/// When `job`, which runs, may be paused or moved as far as its last launch is concerned: tasks
/// that are still on their way to the user's program are left alone, because parking may end them
/// (24.11: frozen there, they wake up to Slurm's SIGTSTP, which interrupts
/// `_exec_wait_child_wait_for_parent()`; it does not read again).
pub fn settled_at(job: &ObservedJob, launches: &Launches, config: &Config) -> Time {
    launches.settled_at(job, config.settle_time)
}

/// From when on it may not: the clock may have been set back since its last launch, which is to
/// come then.
pub fn settles_from(job: &ObservedJob, config: &Config) -> Time {
    Time(job.last_launch_seconds.saturating_mul(SECOND) - config.settle_time.0 + 1)
}

/// Whether processes of `job` may still be being launched. One whose last launch is further off
/// than that in the future is none: the clock was set back.
pub fn is_settling(job: &ObservedJob, launches: &Launches, config: &Config, now: Time) -> bool {
    let elapsed = now.0 - job.last_launch_seconds.saturating_mul(SECOND);
    let alone = launches.alone(job, config.settle_time);
    job.state == ObservedState::Running && elapsed.abs() < alone.0
}

/// What of the wanted mobility the job is capable of.
fn lowered(job: &ObservedJob, wanted: Mobility, default: Mobility) -> Mobility {
    let needs_requeue = wanted.is_free() || wanted == Mobility::Restart;
    if !needs_requeue || can_be_requeued(job) {
        wanted
    } else if matches!(default, Mobility::Park | Mobility::Carry) {
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
        .filter_map(|name| name.to_ascii_lowercase().parse().ok())
        .next_back()
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
    fn running_job_held_by_operator_is_not_moved() {
        let in_state = |state, admin_hold| ObservedJob {
            state,
            on_hold: true,
            admin_hold,
            ..job(1, 1)
        };
        let now = |state, admin_hold| mobility_now(&in_state(state, admin_hold), &config(), false);
        assert_eq!(now(ObservedState::Running, true), Mobility::Never);
        assert_eq!(now(ObservedState::Running, false), Mobility::Park);
        assert_eq!(now(ObservedState::Suspended, true), Mobility::Park);
    }

    #[test]
    fn users_choose_among_what_the_partition_allows() {
        let mut config = config();
        config.partitions[0].allowed = vec![Mobility::Park, Mobility::Restart];
        let mut job = job(1, 1);
        let with = |job: &mut ObservedJob, comment: &str| {
            job.comment = comment.into();
            mobility(job, &config)
        };
        assert_eq!(with(&mut job, "dfrs:restart"), Mobility::Restart);
        assert_eq!(with(&mut job, "dfrs:never"), Mobility::Park);
        assert_eq!(with(&mut job, "dfrs:checkpoint"), Mobility::Park);
    }

    #[test]
    fn jobs_without_a_script_have_a_default_of_their_own() {
        let mut config = config();
        config.partitions[0].interactive = Some(Mobility::Never);
        let mut job = job(1, 1);
        assert_eq!(mobility(&job, &config), Mobility::Park);
        job.batch = false;
        assert_eq!(mobility(&job, &config), Mobility::Never);
        job.comment = "dfrs:park".into();
        assert_eq!(mobility(&job, &config), Mobility::Park);
        job.comment = String::new();
        config.partitions[0].mobility = Mobility::Checkpoint;
        config.partitions[0].interactive = Some(Mobility::Park);
        assert_eq!(mobility(&job, &config), Mobility::Park);
    }

    #[test]
    fn job_is_checkpointed_by_default_only_when_it_wants_a_warning() {
        let mut job = job(1, 1);
        assert_eq!(in_partition(&job, Mobility::Checkpoint), Mobility::Park);
        job.warn_seconds = 60;
        assert_eq!(
            in_partition(&job, Mobility::Checkpoint),
            Mobility::Checkpoint
        );
        job.warn_seconds = 0;
        job.comment = "dfrs:checkpoint".into();
        assert_eq!(
            in_partition(&job, Mobility::Checkpoint),
            Mobility::Checkpoint
        );
    }

    #[test]
    fn job_without_requeue_never_checkpoints() {
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
