//! Greedy, GreedyP and GreedyPM on submission, and Greedy for what waits (TPDS, Sections 4.2, 4.4).

use std::cmp::Reverse;

use crate::drain::holds_up_drain;
use crate::fit_cache::FitCache;
use crate::greatest::Greatest;
use crate::greedy::{self, TaskSlots};
use crate::leaving::LeavingJobs;
use crate::model::{Cluster, Job, JobState, Mapping, Mobility};
use crate::plan::Reason;
use crate::policy::{Policy, Submission};
use crate::priority::Priority;
use crate::question::Question;
use crate::roster::{Roster, cmp_requirements};
use crate::target::{Change, Target, can_pause};
use crate::units::Bytes;
use crate::usage::{SwapUsage, Usage};

/// What the stages of a decision that place jobs by Greedy know, carried from one to the next.
pub(crate) struct GreedyState {
    /// What runs now.
    usage: Usage,
    /// Whether all that waits was tried, and nothing has changed since.
    is_settled: bool,
    /// Jobs that found no room even by preemption, since when nothing has changed; in the order of
    /// their demands.
    refused: Vec<usize>,
}

impl GreedyState {
    /// O(nodes + runs).
    pub(crate) fn of(policy: &Policy, roster: &Roster) -> Self {
        Self {
            usage: roster.usage(policy.ceilings()),
            is_settled: false,
            refused: Vec::new(),
        }
    }

    /// Something was placed or gave up its place.
    fn change(&mut self) {
        self.is_settled = false;
        self.refused.clear();
    }
}

/// Places the newly submitted job at `index` in the list of jobs by the policy's greedy algorithm,
/// and then, if the policy is opportunistic, other waiting jobs. Those are not tried again, and
/// neither is the job itself, if they were tried before and nothing has changed since.
pub(crate) fn submit(
    question: Question<'_>,
    index: usize,
    greedy_state: &mut GreedyState,
) -> Target {
    let (policy, cluster) = (question.policy, question.cluster);
    let mut target = Target::default();
    let job = &cluster.jobs[index];
    if !greedy_state.is_settled
        && let Some(mapping) = put(cluster, &greedy_state.usage, job)
    {
        greedy_state.usage.add(job, &mapping);
        greedy_state.change();
        target.set(index, Change::Goes(mapping, Reason::Fits));
    } else if policy.submission != Submission::Greedy
        && let Some(forced) = try_to_force(question, index, greedy_state)
    {
        target = forced;
    }
    if policy.opportunistic && !greedy_state.is_settled {
        let usage = &mut greedy_state.usage;
        place_all(question, usage, &mut target, &GreedyScope::WAITING);
        if !target.is_empty() {
            greedy_state.change();
        }
        // The preempted jobs wait, too, from now on, and were not tried.
        greedy_state.is_settled = target.moves(cluster) == 0;
    }
    target
}

/// Tries all waiting jobs in order of priority, each by Greedy. O(nodes log nodes + queues of
/// waiting jobs) if none fits, and O(nodes log nodes + tasks log tasks) more for each that might.
pub(crate) fn start_waiting(question: Question<'_>, greedy_state: &mut GreedyState) -> Target {
    let mut target = Target::default();
    let usage = &mut greedy_state.usage;
    place_all(question, usage, &mut target, &GreedyScope::WAITING);
    greedy_state.change();
    greedy_state.is_settled = true;
    target
}

/// Tries what a remap left without a place in the same way: waiting jobs and those that it dropped,
/// which then move rather than wait. MCB8 drops the lowest priorities until it places all others,
/// also those that were not in the way. Policies that do not try all that waits (`*`) try those
/// that cannot keep the ceiling on load: the remap has no place for these, and they would wait for
/// ever. O(nodes + runs) if there are any, and as [`start_waiting`].
pub(crate) fn fill(question: Question<'_>, mut target: Target) -> Target {
    let (policy, roster) = (question.policy, question.roster);
    // With MCB8 `*` is about when all are remapped.
    let all = policy.opportunistic && policy.submission != Submission::Mcb8;
    if !all && policy.settings.load_ceiling.is_none() {
        return target;
    }
    let leaves = |change: &Change| matches!(change, Change::Leaves(_));
    let dropped = target.changes().filter(|(_, change)| leaves(change));
    let dropped: Vec<usize> = dropped.map(|(position, _)| position).collect();
    if roster.has_waiting() || !dropped.is_empty() {
        let mut usage = roster.usage_after(&target, policy.ceilings());
        let dropped = &dropped;
        let tried = GreedyScope { dropped, all };
        place_all(question, &mut usage, &mut target, &tried);
    }
    target
}

/// Which jobs Greedy tries.
struct GreedyScope<'a> {
    /// Running jobs that lost their places, beside those that wait.
    dropped: &'a [usize],
    /// All of them, or those that cannot keep the ceiling on load.
    all: bool,
}

impl GreedyScope<'_> {
    /// All that wait.
    const WAITING: Self = Self {
        dropped: &[],
        all: true,
    };

    fn holds(&self, usage: &Usage, job: &Job) -> bool {
        self.all || !usage.could_keep_ceiling(job)
    }
}

/// Places those of them that fit, in order of priority.
fn place_all(
    question: Question<'_>,
    usage: &mut Usage,
    target: &mut Target,
    scope: &GreedyScope<'_>,
) {
    let cluster = question.cluster;
    let mut fit_cache = FitCache::of(usage);
    // What does not fit now need not be put in order.
    let mut may_fit = |job: &Job| scope.holds(usage, job) && !cannot_fit(&mut fit_cache, job);
    let mut positions = question.roster.waiting_that(&mut may_fit);
    positions.retain(|position| target.stays(*position));
    let dropped = scope.dropped.iter().copied();
    positions.extend(dropped.filter(|position| may_fit(&cluster.jobs[*position])));
    let rank = |job: &Job| (holds_up_drain(cluster, job), question.priority(job));
    let waiting: Vec<((bool, Priority), usize)> = positions
        .into_iter()
        .map(|position| (rank(&cluster.jobs[position]), position))
        .collect();
    let mut waiting = Greatest::of(waiting);
    loop {
        let piece = waiting.next_piece();
        if piece.is_empty() {
            return;
        }
        for (_, position) in piece {
            let job = &cluster.jobs[position];
            if cannot_fit(&mut fit_cache, job) {
                continue;
            }
            if question.stop.is_due_after_step() {
                return;
            }
            if let Some(mapping) = put(cluster, usage, job) {
                usage.add(job, &mapping);
                target.give_place(job, position, mapping);
                fit_cache.shrink();
            } else if only_place(job).is_none() {
                fit_cache.miss(job, usage);
            }
        }
        // What no longer fits need not be put in order either.
        if !waiting.rest.is_empty() {
            fit_cache.renew(usage);
            waiting
                .rest
                .retain(|(_, position)| !cannot_fit(&mut fit_cache, &cluster.jobs[*position]));
        }
    }
}

/// Whether it is known without looking for a place that there is none for the waiting job.
pub(crate) fn cannot_fit(fit_cache: &mut FitCache, job: &Job) -> bool {
    only_place(job).is_none() && fit_cache.cannot_fit(job)
}

/// The only nodes where the job can be: those where it is parked, or would be if it gave up its
/// place.
pub(crate) fn only_place(job: &Job) -> Option<&Mapping> {
    match &job.state {
        JobState::Parked(mapping) => Some(mapping),
        JobState::Running(mapping) if job.mobility == Mobility::Park => Some(mapping),
        _ => None,
    }
}

/// Where the job can run now: in its only place if there is one, else by Greedy.
pub(crate) fn put(cluster: &Cluster, usage: &Usage, job: &Job) -> Option<Mapping> {
    match only_place(job) {
        Some(mapping) if job.is_running() => {
            still_fits(usage, job, mapping).then(|| mapping.clone())
        }
        Some(mapping) => usage.takes_back(job, mapping).then(|| mapping.clone()),
        None => greedy::place(cluster, usage, job),
    }
}

/// As [`force`], within the budget, and not for a job that comes after one with the same demand
/// that found no room even so.
fn try_to_force(
    question: Question<'_>,
    index: usize,
    greedy_state: &mut GreedyState,
) -> Option<Target> {
    let jobs = &question.cluster.jobs;
    let job = &jobs[index];
    let find = |other: &usize| cmp_requirements(&jobs[*other], job);
    let position = greedy_state.refused.binary_search_by(find);
    let is_anywhere = !matches!(job.state, JobState::Parked(_));
    if let Ok(at) = position
        && is_anywhere
        && question.priority(job) < question.priority(&jobs[greedy_state.refused[at]])
    {
        return None;
    }
    let max_moves = question.policy.max_moves();
    let forced = force(question, index, &greedy_state.usage)
        .filter(|(forced, _)| forced.moves(question.cluster) <= max_moves);
    if let Some((target, usage)) = forced {
        greedy_state.usage = usage;
        greedy_state.change();
        return Some(target);
    }
    if is_anywhere {
        match position {
            Ok(at) => greedy_state.refused[at] = index,
            Err(at) => greedy_state.refused.insert(at, index),
        }
    }
    None
}

/// Pauses running jobs of lower priority until the new job fits, the lowest first; leaves in place
/// each that fits beside it, the highest first; and with GreedyPM moves those of the rest that fit
/// elsewhere. Returns what is in use then, too; `None` if the new job does not fit even so.
///
/// Jobs whose work would be lost (Restart) are taken last. If they are taken they are moved where
/// possible, as others are: their work is lost either way.
fn force(question: Question<'_>, index: usize, before: &Usage) -> Option<(Target, Usage)> {
    let cluster = question.cluster;
    let mut target = Target::default();
    let job = &cluster.jobs[index];
    let victims = victims(question, job);
    if !could_suffice(cluster, before, job, &victims) {
        return None;
    }
    let mut tried = before.clone();
    let usage = &mut tried;
    let swap = &mut SwapUsage::of(cluster, question.roster.parked());
    let victims = Greatest::of(victims).each();
    let victims = victims.map(|Reverse((_, _, victim))| victim);
    let (marked, arrived) = mark(question, victims, job, usage, swap)?;
    usage.add(job, &arrived);
    let mut leaving = Vec::new();
    for victim in marked.into_iter().rev() {
        let old = cluster.jobs[victim]
            .running_on()
            .filter(|old| fits_alongside(usage, &cluster.jobs[victim], old, (job, &arrived)));
        match old {
            Some(old) => usage.add(&cluster.jobs[victim], old),
            None => leaving.push(victim),
        }
    }
    target.set(index, Change::Goes(arrived, Reason::Fits));
    for victim in leaving {
        let reason = Reason::MakesRoomFor(job.id);
        let running = &cluster.jobs[victim];
        let moves = question.policy.submission == Submission::GreedyPM
            && (running.moves_freely() || running.mobility == Mobility::Restart);
        let change = move_or_leave(cluster, usage, running, moves, reason);
        target.set(victim, change);
    }
    Some((target, tried))
}

/// What becomes of a job that gave up its place: if it may, it goes to where Greedy finds room, and
/// is counted in there.
pub(crate) fn move_or_leave(
    cluster: &Cluster,
    usage: &mut Usage,
    job: &Job,
    may_move: bool,
    reason: Reason,
) -> Change {
    let elsewhere = may_move.then(|| greedy::place(cluster, usage, job));
    match elsewhere.flatten() {
        Some(mapping) => {
            usage.add(job, &mapping);
            Change::Goes(mapping, reason)
        }
        None => Change::Leaves(reason),
    }
}

/// Whether a marked job fits where it was; unlike for a job that comes back, its nodes may be
/// draining.
pub(crate) fn still_fits(usage: &Usage, job: &Job, mapping: &Mapping) -> bool {
    let limit = usage.limit_on(job, mapping);
    mapping.iter().all(|run| usage.fits(job, run, limit))
}

/// Whether a marked job can stay where it was now that the new job is in its place. Nodes that the
/// new job does not use are as they were, whatever their load; and for one with devices, which
/// keeps no ceiling on load, no job leaves because of the load.
pub(crate) fn fits_alongside(
    usage: &Usage,
    job: &Job,
    old: &Mapping,
    (new, arriving): (&Job, &Mapping),
) -> bool {
    let limit = usage.limit_on(job, old);
    old.iter().all(|run| {
        if arriving.tasks_on(run.node) > 0 && !new.requires_devices() {
            usage.fits(job, run, limit)
        } else {
            usage.holds(job, run)
        }
    })
}

/// The running jobs to pause, in the order in which they were marked, and where the new job then
/// goes. They are counted out of `usage` and into `swap`, which are of no more use if `None` is
/// returned.
pub(crate) fn mark(
    question: Question<'_>,
    victims: impl Iterator<Item = usize>,
    job: &Job,
    usage: &mut Usage,
    swap: &mut SwapUsage,
) -> Option<(Vec<usize>, Mapping)> {
    let cluster = question.cluster;
    if job.layout.together.is_some() && !matches!(job.state, JobState::Parked(_)) {
        return mark_fewest(question, victims, job, usage, swap);
    }
    let mut room = TaskSlots::new(cluster, usage, job);
    let mut marked = Vec::new();
    for victim in victims {
        if question.stop.is_due_after_step() {
            return None;
        }
        let running = &cluster.jobs[victim];
        let Some(mapping) = pausable_on(question, swap, running) else {
            continue;
        };
        usage.remove(running, mapping);
        count_parked(swap, running, mapping);
        marked.push(victim);
        for node in mapping.nodes().filter(|node| job.layout.allows(*node)) {
            room.update(usage, node);
        }
        // A parked job has but one place.
        if (room.suffices() || matches!(job.state, JobState::Parked(_)))
            && let Some(found) = put(cluster, usage, job)
        {
            return Some((marked, found));
        }
    }
    None
}

/// Where the job runs, if it may be paused there.
fn pausable_on<'a>(question: Question<'_>, swap: &SwapUsage, job: &'a Job) -> Option<&'a Mapping> {
    job.running_on().filter(|_| can_pause(question, swap, job))
}

/// Adds what a job holds of the swap that is paused there.
fn count_parked(swap: &mut SwapUsage, job: &Job, mapping: &Mapping) {
    if job.mobility == Mobility::Park {
        swap.add(job, mapping);
    }
}

/// As [`mark`], for a job with a rule about which nodes it may have together.
fn mark_fewest(
    question: Question<'_>,
    victims: impl Iterator<Item = usize>,
    job: &Job,
    usage: &mut Usage,
    swap: &mut SwapUsage,
) -> Option<(Vec<usize>, Mapping)> {
    let (cluster, stop) = (question.cluster, question.stop);
    let mut with_all = swap.clone();
    let mut order = Vec::new();
    for victim in victims {
        if stop.is_due_after_step() {
            return None;
        }
        let running = &cluster.jobs[victim];
        if let Some(mapping) = pausable_on(question, &with_all, running) {
            count_parked(&mut with_all, running, mapping);
            order.push((victim, mapping));
        }
    }
    let numbers: Vec<usize> = (1..=order.len()).collect();
    let (number, found) =
        LeavingJobs::new(cluster, job, &order, usage).first_place(&numbers, stop)?;
    order.truncate(number);
    for (victim, mapping) in &order {
        count_parked(swap, &cluster.jobs[*victim], mapping);
    }
    let marked = order.into_iter().map(|(victim, _)| victim).collect();
    Some((marked, found))
}

/// A running job that may be preempted: whether its work would be lost, its priority, and its
/// position. The greatest is preempted first.
type Victim = Reverse<(bool, Priority, usize)>;

/// The running jobs of lower priority than the new one that may be preempted: those whose work
/// would be lost last, else by increasing priority.
fn victims(question: Question<'_>, job: &Job) -> Vec<Victim> {
    let own = question.priority(job);
    let running = question.roster.running_at();
    running
        .filter(|(_, running)| running.mobility != Mobility::Never && !running.locked)
        .map(|(other, running)| {
            let is_lost = running.mobility == Mobility::Restart;
            Reverse((is_lost, question.priority(running), other))
        })
        .filter(|Reverse((_, priority, _))| *priority < own)
        .collect()
}

/// Whether the memory of all these jobs and what is free could be enough for the new one, as far as
/// sums say. O(nodes + runs).
fn could_suffice(cluster: &Cluster, usage: &Usage, job: &Job, victims: &[Victim]) -> bool {
    let victims = victims.iter().map(|Reverse((_, _, victim))| victim);
    let freed: Bytes = victims
        .clone()
        .map(|victim| &cluster.jobs[*victim])
        .flat_map(|victim| {
            let runs = victim.running_on().into_iter().flatten();
            runs.map(|run| victim.memory_of(run))
        })
        .sum();
    victims.len() > 0 && job.least_memory() <= usage.free_memory() + freed
}
