//! Greedy, GreedyP and GreedyPM on submission, and Greedy for what waits (TPDS, Sections 4.2, 4.4).

use std::cmp::Reverse;

use crate::greatest::Greatest;
use crate::greedy::{self, Room};
use crate::model::{Cluster, Job, JobState, Mapping, Mobility};
use crate::plan::Reason;
use crate::policy::{Policy, Submission};
use crate::priority::Priority;
use crate::prospects::Prospects;
use crate::roster::Roster;
use crate::target::{Fate, Target, can_pause};
use crate::units::Time;
use crate::usage::{SwapUsage, Usage};

/// Places the newly submitted job at `place` in the list of jobs by the policy's greedy algorithm, and
/// then, if the policy is opportunistic, other waiting jobs.
///
/// `usage` is what runs now.
pub(crate) fn submit(
    policy: &Policy,
    roster: &Roster,
    now: Time,
    place: usize,
    mut usage: Usage,
) -> Target {
    let cluster = roster.cluster();
    let mut target = Target::default();
    let job = &cluster.jobs[place];
    if let Some(mapping) = put(cluster, &usage, job) {
        usage.add(job, &mapping);
        target.set(place, Fate::Goes(mapping, Reason::Fits));
    } else if policy.submission != Submission::Greedy {
        let most = policy
            .settings
            .budget
            .moves_per_decision
            .map_or(usize::MAX, |most| most as usize);
        let mut tried = usage.clone();
        let forced = force(policy, roster, now, place, &mut tried);
        if let Some(forced) = forced.filter(|forced| forced.moves(cluster) <= most) {
            target = forced;
            usage = tried;
        }
    }
    if policy.opportunistic {
        place_all(policy, roster, now, &mut usage, &mut target, &[]);
    }
    target
}

/// Tries all waiting jobs in order of priority, each by Greedy. O(nodes log nodes + waiting jobs), with a
/// roster queues for waiting jobs, if none fits, and O(nodes log nodes + tasks log tasks) more for each
/// that might. `usage` returns what runs now.
pub(crate) fn start_waiting(
    policy: &Policy,
    roster: &Roster,
    now: Time,
    usage: impl FnOnce() -> Usage,
) -> Target {
    let mut target = Target::default();
    if roster.has_waiting() {
        place_all(policy, roster, now, &mut usage(), &mut target, &[]);
    }
    target
}

/// Tries what a remap left without a place in the same way: waiting jobs and those that it dropped,
/// which then move rather than wait. MCB8 drops the lowest priorities until it places all others, also
/// those that were not in the way. O(nodes + runs) if there are any, and as [`start_waiting`].
pub(crate) fn fill(policy: &Policy, roster: &Roster, now: Time, mut target: Target) -> Target {
    let dropped: Vec<usize> = target
        .changes()
        .filter(|(_, fate)| matches!(fate, Fate::Leaves(_)))
        .map(|(place, _)| place)
        .collect();
    if roster.has_waiting() || !dropped.is_empty() {
        let mut usage = Usage::empty(roster.cluster(), policy.settings.load_ceiling);
        for placed in roster.placed(&target) {
            usage.add(placed.job, placed.mapping);
        }
        place_all(policy, roster, now, &mut usage, &mut target, &dropped);
    }
    target
}

/// Places those of the waiting jobs, and of these `dropped` ones, that fit, in order of priority.
fn place_all(
    policy: &Policy,
    roster: &Roster,
    now: Time,
    usage: &mut Usage,
    target: &mut Target,
    dropped: &[usize],
) {
    let cluster = roster.cluster();
    let mut prospects = Prospects::of(usage);
    // What does not fit now need not be put in order.
    let mut may_fit = |job: &Job| !is_hopeless(&mut prospects, job);
    let mut places = roster.waiting_that(&mut may_fit);
    places.retain(|place| target.stays(*place));
    let dropped = dropped.iter().copied();
    places.extend(dropped.filter(|place| may_fit(&cluster.jobs[*place])));
    let priority = |place| policy.settings.priority.of(&cluster.jobs[place], now);
    let waiting: Vec<(Priority, usize)> = places
        .into_iter()
        .map(|place| (priority(place), place))
        .collect();
    let mut waiting = Greatest::of(waiting);
    loop {
        let piece = waiting.next_piece();
        if piece.is_empty() {
            return;
        }
        for (_, place) in piece {
            let job = &cluster.jobs[place];
            if is_hopeless(&mut prospects, job) {
                continue;
            }
            if let Some(mapping) = put(cluster, usage, job) {
                usage.add(job, &mapping);
                target.give_place(job, place, mapping);
                prospects.shrink();
            } else if only_place(job).is_none() {
                prospects.miss(job, usage);
            }
        }
        // What no longer fits need not be put in order either.
        if !waiting.rest.is_empty() {
            prospects.renew(usage);
            waiting
                .rest
                .retain(|(_, place)| !is_hopeless(&mut prospects, &cluster.jobs[*place]));
        }
    }
}

/// Whether it is known without looking for a place that there is none for the waiting job.
fn is_hopeless(prospects: &mut Prospects, job: &Job) -> bool {
    only_place(job).is_none() && prospects.are_none(job)
}

/// The only nodes where the job can be: those where it is parked, or would be if it gave up its place.
fn only_place(job: &Job) -> Option<&Mapping> {
    match &job.state {
        JobState::Parked(mapping) => Some(mapping),
        JobState::Running(mapping) if job.mobility == Mobility::Park => Some(mapping),
        _ => None,
    }
}

/// Where the job can run now: in its only place if there is one, else by Greedy.
fn put(cluster: &Cluster, usage: &Usage, job: &Job) -> Option<Mapping> {
    match only_place(job) {
        Some(mapping) if job.is_running() => {
            still_fits(usage, job, mapping).then(|| mapping.clone())
        }
        Some(mapping) => usage.takes_back(job, mapping).then(|| mapping.clone()),
        None => greedy::place(cluster, usage, job),
    }
}

/// Pauses running jobs of lower priority until the new job fits, the lowest first; leaves in place
/// each that fits beside it, the highest first; and with GreedyPM moves those of the rest that fit
/// elsewhere. `None` if the new job does not fit even so; `usage` is of no more use then.
///
/// Jobs whose work would be lost (Restart) are taken last. If they are taken they are moved where
/// possible, as others are: their work is lost either way.
fn force(
    policy: &Policy,
    roster: &Roster,
    now: Time,
    place: usize,
    usage: &mut Usage,
) -> Option<Target> {
    let cluster = roster.cluster();
    let mut target = Target::default();
    let job = &cluster.jobs[place];
    let (marked, mapping) = mark(policy, roster, now, job, usage)?;
    usage.add(job, &mapping);
    target.set(place, Fate::Goes(mapping, Reason::Fits));
    let mut leaving = Vec::new();
    for victim in marked.into_iter().rev() {
        let old = cluster.jobs[victim]
            .running_on()
            .filter(|old| still_fits(usage, &cluster.jobs[victim], old));
        match old {
            Some(old) => usage.add(&cluster.jobs[victim], old),
            None => leaving.push(victim),
        }
    }
    for victim in leaving {
        let reason = Reason::MakesRoomFor(job.id);
        let moves = policy.submission == Submission::GreedyPM
            && matches!(
                cluster.jobs[victim].mobility,
                Mobility::Checkpoint | Mobility::Restart
            );
        let elsewhere = if moves {
            greedy::place(cluster, usage, &cluster.jobs[victim])
        } else {
            None
        };
        let fate = match elsewhere {
            Some(mapping) => {
                usage.add(&cluster.jobs[victim], &mapping);
                Fate::Goes(mapping, reason)
            }
            None => Fate::Leaves(reason),
        };
        target.set(victim, fate);
    }
    Some(target)
}

/// Whether a marked job fits where it was; unlike for a job that comes back, its nodes may be
/// draining.
fn still_fits(usage: &Usage, job: &Job, mapping: &Mapping) -> bool {
    mapping.parts().all(|part| usage.fits(job, part))
}

/// The running jobs to pause, in the order in which they were marked, and where the new job then
/// goes. They are counted out of `usage`, which is of no more use if `None` is returned.
fn mark(
    policy: &Policy,
    roster: &Roster,
    now: Time,
    job: &Job,
    usage: &mut Usage,
) -> Option<(Vec<usize>, Mapping)> {
    let cluster = roster.cluster();
    let mut swap = SwapUsage::of(cluster, roster.parked());
    let kinds = job.by_kind();
    let mut rooms: Vec<Room<'_>> = kinds
        .iter()
        .map(|kind| Room::new(cluster, usage, kind))
        .collect();
    let mut marked = Vec::new();
    for victim in victims(policy, roster, now, job) {
        let running = &cluster.jobs[victim];
        let Some(mapping) = running
            .running_on()
            .filter(|_| can_pause(policy, cluster, &swap, running))
        else {
            continue;
        };
        usage.remove(running, mapping);
        if running.mobility == Mobility::Park {
            swap.add(running, mapping);
        }
        marked.push(victim);
        for (room, kind) in rooms.iter_mut().zip(&kinds) {
            for node in mapping.nodes().filter(|node| kind.layout.allows(*node)) {
                room.update(usage, node);
            }
        }
        // A parked job has but one place.
        if (rooms.iter().all(Room::suffices) || matches!(job.state, JobState::Parked(_)))
            && let Some(found) = put(cluster, usage, job)
        {
            return Some((marked, found));
        }
    }
    None
}

/// The running jobs of lower priority than the new one, in the order in which they give way: those
/// whose work would be lost last, else by increasing priority.
fn victims(policy: &Policy, roster: &Roster, now: Time, job: &Job) -> impl Iterator<Item = usize> {
    let function = policy.settings.priority;
    let own = function.of(job, now);
    let running = roster.running_indices().iter().zip(roster.running());
    let found: Vec<Reverse<(bool, Priority, usize)>> = running
        .map(|(other, running)| {
            let is_lost = running.mobility == Mobility::Restart;
            Reverse((is_lost, function.of(running, now), *other))
        })
        .filter(|Reverse((_, priority, _))| *priority < own)
        .collect();
    Greatest::of(found)
        .each()
        .map(|Reverse((_, _, victim))| victim)
}
