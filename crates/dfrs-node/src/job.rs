//! What the daemon knows of one job.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use dfrs_core::Need;
use dfrs_proto::message::{JobOrder, Share};

use crate::cgroup::{Freezer, JobDirectory};
use crate::facts::{JobFact, LimitNote};
use crate::log;
use crate::measure::Meter;
use crate::needs::NeedMeter;
use crate::parking::Parking;
use crate::reclaimer::ReclaimRequest;

/// For so long after something happened to a job it is looked at in every tick.
const ACTIVE_PERIOD: Duration = Duration::from_secs(2);

/// How often a job is looked at to which nothing happens. Looking costs dozens of system calls, and
/// a node may have many jobs.
const IDLE_CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// A thaw by Slurm or a user shows in Slurm: within this time the controller, which sees it there,
/// no longer wants the job frozen. If it still does, it has stopped the job again since, and slurmd
/// got that before the resumption.
pub(crate) const REFREEZE_DELAY: Duration = Duration::from_secs(5);

/// One job: what is wanted of it, and what was done about it.
#[derive(Debug)]
pub struct NodeJob {
    /// Slurm's job id.
    pub id: u32,
    /// Wanted: a cap; none: no cap.
    pub share: Option<Share>,
    /// Wanted: a cap that holds it up as shortly as can be.
    pub spans_nodes: bool,
    /// Wanted: what it needs of this share of the node, which it requested; none: not requested.
    pub request: Option<Share>,
    /// What it counts with in decisions.
    pub counted_need: Need,
    /// Wanted: frozen.
    pub frozen: bool,
    /// Wanted: a report that nothing of it is left.
    pub ended: bool,
    /// Wanted: a report whether it can be carried.
    pub carry: bool,
    /// Wanted, with `frozen`: its image, in place of its memory in swap; with `ended`: that it stays
    /// stopped.
    pub image_wanted: bool,
    /// Wanted, with `ended`: that there is no image of it.
    pub image_is_void: bool,
    /// How far its image is.
    pub image: JobImage,
    /// An image of this run of it has failed.
    pub has_failed_image: bool,
    /// What is published of it.
    pub published: BTreeSet<JobFact>,
    /// An inspection is under way.
    pub is_inspected: bool,
    /// Why it could not be carried when it was inspected last; empty: it could.
    pub obstacles: String,
    /// Not before this it is inspected, or its image released.
    pub image_due: Duration,
    /// How often it was inspected in this run.
    pub inspections: u32,
    /// Orders have named it.
    pub was_named: bool,
    /// When it was last looked whether it is over and has left processes behind, and whether it seemed so.
    pub leftover_check: Option<(Duration, bool)>,
    /// No orders have named it for too long: what is frozen stays so, and no other job is frozen.
    pub abandoned: bool,
    /// Where it is, while it is on this node.
    pub directory: Option<JobDirectory>,
    /// A predecessor may have set something of it in the kernel.
    pub adopted: bool,
    /// The kernel may have a cap of ours.
    pub capped: bool,
    /// What we last set in the kernel about its memory in swap; none: nothing.
    pub swap_allowed: Option<bool>,
    /// The job was bound to some cores, and is no longer; logged once.
    pub unbound: bool,
    /// Steps that were dealt with since the job shall be frozen.
    pub frozen_steps: BTreeMap<String, FrozenBy>,
    /// Steps that came, and were frozen, while no orders arrived.
    pub late: BTreeSet<String>,
    /// How far it is on its way to swap.
    pub parking: Parking,
    /// Bytes in RAM and in swap when it was frozen.
    pub bytes_when_frozen: Option<u64>,
    /// What was done to its memory limit, and is to be given back.
    pub limit: Option<LimitNote>,
    /// Since when there are processes of its user in none of its steps, while it shall be frozen.
    pub outside_since: Option<Duration>,
    /// The reclaim under way.
    pub reclaim: Option<ReclaimRequest>,
    /// The measurement under way.
    pub meter: Option<Meter>,
    /// What it needs, while that is requested and it runs here.
    pub needs: Option<NeedMeter>,
    /// The need that was published.
    pub reported_need: Need,
    /// When something happened to it.
    pub changed: Duration,
    /// When it was looked at.
    pub checked_at: Option<Duration>,
}

/// How far the image of a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobImage {
    /// There is none.
    None,
    /// A predecessor has begun one, or has made it.
    Left,
    /// It is being made.
    Writing,
    /// It is complete, and the job is stopped.
    Complete,
    /// It could not be made: the job runs.
    Failed,
    /// The job is to go on here, without it.
    Releasing,
    /// Nothing of the job is here, and its image is being removed.
    Discarding,
    /// It was.
    Discarded,
}

/// How a step came to be frozen. The file is the same that Slurm suspends and resumes by, so its
/// last writer must be remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrozenBy {
    /// We froze it: it is ours to thaw.
    Dfrs,
    /// The step was frozen when we came, by Slurm's suspend: Slurm's resume will thaw it.
    Slurm,
    /// The step was frozen, and Slurm or a user thawed it then, to resume, signal or kill the job.
    /// It is left alone for a while; to freeze it at once would keep the job from dying.
    Released(Duration),
}

/// What to do about one step of a job that shall be frozen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FreezeStep {
    /// Write to the freezer.
    Freeze,
    /// Note this, if it is new.
    Note(FrozenBy),
}

impl FrozenBy {
    /// The next thing to do about a step of a job that shall be frozen, by what is known of it and
    /// its state in the kernel.
    pub fn next(known: Option<FrozenBy>, state: Freezer, now: Duration) -> FreezeStep {
        match (known, state) {
            (None, Freezer::Thawed) => FreezeStep::Freeze,
            (None, _) => FreezeStep::Note(FrozenBy::Slurm),
            (Some(FrozenBy::Released(since)), Freezer::Thawed)
                if now.saturating_sub(since) >= REFREEZE_DELAY =>
            {
                FreezeStep::Freeze
            }
            (Some(hold @ FrozenBy::Released(_)), _) => FreezeStep::Note(hold),
            (Some(_), Freezer::Thawed) => FreezeStep::Note(FrozenBy::Released(now)),
            (Some(hold), _) => FreezeStep::Note(hold),
        }
    }

    /// Slurm or a user thawed it.
    pub fn is_released(self) -> bool {
        matches!(self, FrozenBy::Released(_))
    }
}

impl NodeJob {
    /// A job of which nothing is wanted or known, met at time `now`.
    pub fn new(id: u32, now: Duration) -> NodeJob {
        NodeJob {
            id,
            share: None,
            spans_nodes: false,
            request: None,
            counted_need: Need::WHOLE,
            frozen: false,
            ended: false,
            carry: false,
            image_wanted: false,
            image_is_void: false,
            image: JobImage::None,
            has_failed_image: false,
            published: BTreeSet::new(),
            is_inspected: false,
            obstacles: String::new(),
            image_due: Duration::ZERO,
            inspections: 0,
            was_named: false,
            leftover_check: None,
            abandoned: false,
            directory: None,
            adopted: false,
            capped: false,
            swap_allowed: None,
            unbound: false,
            frozen_steps: BTreeMap::new(),
            late: BTreeSet::new(),
            parking: Parking::Running,
            bytes_when_frozen: None,
            limit: None,
            outside_since: None,
            reclaim: None,
            meter: None,
            needs: None,
            reported_need: Need::WHOLE,
            changed: now,
            checked_at: None,
        }
    }

    /// Takes note of what is wanted of it; none: nothing.
    pub fn want(&mut self, wanted: Option<&JobOrder>, now: Duration) {
        let share = wanted.map(|state| state.share);
        self.spans_nodes = wanted.is_some_and(|state| state.spans_nodes);
        self.request = wanted.and_then(|state| state.request);
        self.counted_need = wanted.map_or(Need::WHOLE, |state| state.need);
        self.carry = wanted.is_some_and(|state| state.carry);
        self.image_wanted = wanted.is_some_and(|state| state.image);
        self.image_is_void = wanted.is_some_and(|state| state.void);
        let frozen = wanted.is_some_and(|state| state.frozen);
        let ended = wanted.is_some_and(|state| state.ended);
        self.set_wanted(share, frozen, ended, now);
        self.was_named |= share.is_some();
        self.abandoned = false;
    }

    /// Takes note that there are no orders for it any more: no cap, and frozen if it is.
    pub fn abandon(&mut self, now: Duration) {
        self.set_wanted(
            None,
            self.frozen && !self.frozen_steps.is_empty(),
            false,
            now,
        );
        (self.request, self.counted_need) = (None, Need::WHOLE);
        self.abandoned = true;
    }

    fn set_wanted(&mut self, share: Option<Share>, frozen: bool, ended: bool, now: Duration) {
        if (self.share, self.frozen, self.ended) != (share, frozen, ended) {
            (self.share, self.frozen, self.ended) = (share, frozen, ended);
            self.changed = now;
        }
    }

    /// Whether its image is wanted now.
    pub fn wants_image(&self) -> bool {
        self.frozen && self.image_wanted && !self.abandoned
    }

    /// Whether it is not to go on here although its image is not wanted: it ends here and goes on
    /// elsewhere, or nothing is known of what is wanted.
    pub fn keeps_image(&self) -> bool {
        self.abandoned || (self.ended && (self.image_wanted || self.image_is_void))
    }

    /// Some step of it is frozen, by us or by Slurm, as far as was seen.
    pub fn has_frozen_step(&self) -> bool {
        self.frozen_steps.values().any(|hold| !hold.is_released())
    }

    /// What it needs of what it requested, as far as that is known.
    pub fn need(&self) -> Need {
        self.needs.as_ref().map_or(Need::WHOLE, NeedMeter::need)
    }

    /// Whether it needs more, and whether it needs less, than it counts with.
    pub fn need_changes(&self) -> (bool, bool) {
        let (need, counted) = (self.need(), self.counted_need);
        let asked = self.request.is_some();
        (asked && need > counted, asked && need < counted)
    }

    /// Whether it is time to look at it. A job that may be thawed without an order, as during
    /// silence, needs its memory at once then.
    pub fn is_due(&self, now: Duration) -> bool {
        let is_being_parked = self.frozen && self.parking != Parking::Parked;
        let may_wake = self.abandoned && self.limit.is_some();
        let is_idle = self.is_quiet(now) && !is_being_parked && !may_wake;
        let long_ago = |looked| now.saturating_sub(looked) >= IDLE_CHECK_INTERVAL;
        !is_idle || self.checked_at.is_none_or(long_ago)
    }

    /// Whether nothing has happened to it for a while.
    pub fn is_quiet(&self, now: Duration) -> bool {
        now.saturating_sub(self.changed) >= ACTIVE_PERIOD
    }

    /// Orders named it, and do no longer, or request its end.
    pub fn is_over(&self) -> bool {
        self.was_named && !self.abandoned && (!self.is_wanted() || self.ended)
    }

    /// The controller names it, and it is on this node.
    pub fn is_here(&self) -> bool {
        self.is_wanted() && self.directory.is_some()
    }

    /// The controller names it.
    pub fn is_wanted(&self) -> bool {
        self.share.is_some()
    }

    /// Subject of a complaint about it.
    pub fn subject(&self, about: &str) -> String {
        format!("{} {about}", log::job(self.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn job_is_over_when_orders_drop_it_or_end_it() {
        let now = Duration::ZERO;
        let wanted = JobOrder::new(17, Share::ONE);
        let mut job = NodeJob::new(17, now);
        job.want(None, now);
        assert!(!job.is_over(), "it is none of DFRS's");
        job.want(Some(&wanted), now);
        assert!(!job.is_over());
        job.want(None, now);
        assert!(job.is_over());
        job.abandon(now);
        assert!(!job.is_over(), "nothing is known in silence");
        let ended = JobOrder {
            ended: true,
            ..wanted
        };
        job.want(Some(&ended), now);
        assert!(job.is_over());
    }

    #[test]
    fn idle_job_is_checked_less_often() {
        let at = Duration::from_millis;
        let mut job = NodeJob::new(17, at(0));
        job.checked_at = Some(at(1950));
        assert!(job.is_due(at(1999)));
        assert!(!job.is_due(at(2000)));
        assert!(job.is_due(at(2200)));
        job.checked_at = Some(at(9990));
        assert!(!job.is_due(at(10_000)));
        job.want(Some(&JobOrder::new(17, Share::ONE)), at(10_000));
        assert!(job.is_due(at(10_000)));
        job.want(
            Some(&JobOrder {
                frozen: true,
                ..JobOrder::new(17, Share::ONE)
            }),
            at(10_000),
        );
        job.checked_at = Some(at(20_000));
        assert!(
            job.is_due(at(20_001)),
            "a job on its way to swap is watched"
        );
        job.parking = Parking::Parked;
        assert!(!job.is_due(at(20_001)));
    }

    #[test]
    fn step_thawed_by_slurm_is_frozen_again_only_after_a_delay() {
        use FreezeStep::{Freeze, Note};
        let at = Duration::from_secs;
        let next = |known, state| FrozenBy::next(known, state, at(10));
        assert_eq!(next(None, Freezer::Thawed), Freeze);
        assert_eq!(next(None, Freezer::Frozen), Note(FrozenBy::Slurm));
        assert_eq!(
            next(Some(FrozenBy::Dfrs), Freezer::Freezing),
            Note(FrozenBy::Dfrs)
        );
        for hold in [FrozenBy::Dfrs, FrozenBy::Slurm] {
            let released = Note(FrozenBy::Released(at(10)));
            assert_eq!(next(Some(hold), Freezer::Thawed), released);
        }
        let lately = FrozenBy::Released(at(6));
        for state in [Freezer::Thawed, Freezer::Frozen] {
            assert_eq!(next(Some(lately), state), Note(lately));
        }
        // No order lets it run.
        assert_eq!(
            next(Some(FrozenBy::Released(at(5))), Freezer::Thawed),
            Freeze
        );
    }
}
