//! The remap of all jobs by MCB8 (TPDS, Section 4.3), with pins for jobs that cannot move.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::drain::holds_up_drain;
use crate::fit_cache::FitCache;
use crate::greatest::Greatest;
use crate::model::{Job, JobState, Layout, Mapping, Mobility, NodeIndex, NodeState, Run};
use crate::packing::{BinsOnce, Fraction, MemoryDemand, Packing, Pinned};
use crate::plan::Reason;
use crate::policy::{Ceilings, MappingProblem, MappingSearch, Optimisation};
use crate::priority::Priority;
use crate::question::Question;
use crate::room::Room;
use crate::target::{Change, Target, can_pause};
use crate::units::{Bytes, Cores, Span};
use crate::usage::{SwapUsage, Usage};
use crate::yields::smallest_yield;

/// Remaps all jobs for the highest minimum yield; drops those of the lowest priority until all
/// others fit.
///
/// What cannot move is pinned: jobs that are locked, that can only be parked or nothing at all,
/// that have tasks on a draining node, that cannot keep the ceiling on load, or that the grace
/// period protects, or that have rules about which nodes they may have together; parked jobs come
/// back in place or not at all. A job that cannot be paused is never dropped, and neither is one
/// whose work would be lost (Restart). A waiting job that would not fit even alone beside what must
/// stay is left out, so that no job is dropped for it, and so is one that cannot keep the ceiling.
///
/// If the budget does not allow so many moves, those that it allows are chosen by lowest priority,
/// and the remap is computed again with all other running jobs in place.
pub(crate) fn remap(question: Question<'_>) -> Target {
    let cluster = question.cluster;
    let must_stay = vec![false; cluster.jobs.len()];
    let target = remap_all_but(question, must_stay);
    let max = question.policy.max_moves();
    if target.moves(cluster) <= max {
        return target;
    }
    let mut movers: Vec<usize> = target.movers(cluster).collect();
    movers.sort_by_cached_key(|job| question.priority(&cluster.jobs[*job]));
    let mut must_stay = vec![true; cluster.jobs.len()];
    for job in movers.into_iter().take(max) {
        must_stay[job] = false;
    }
    remap_all_but(question, must_stay)
}

/// The periodic remap: as [`remap`], but not carried out if the penalty of its moves is known and
/// outweighs what it gains.
pub(crate) fn remap_periodically(question: Question<'_>) -> Target {
    let target = remap(question);
    if target.starts_some(question.cluster) || pays(question, &target) {
        target
    } else {
        Target::default()
    }
}

/// Whether the smallest yield over the period grows although jobs that move make no progress for
/// the time of the penalty.
fn pays(question: Question<'_>, target: &Target) -> bool {
    let (cluster, roster) = (question.cluster, question.roster);
    let settings = &question.policy.settings;
    let (period, penalty) = (settings.period, settings.penalty);
    if penalty <= Span::ZERO || target.moves(cluster) == 0 {
        return true;
    }
    let smallest = |target: &Target| smallest_yield(&cluster.nodes, &roster.placed(target));
    let (before, after) = (smallest(&Target::default()), smallest(target));
    let progress = 1.0 - penalty.seconds() / period.seconds().max(penalty.seconds());
    after * progress > before
}

/// The remap in which the running jobs marked here stay where they are.
fn remap_all_but(question: Question<'_>, mut must_stay: Vec<bool>) -> Target {
    loop {
        if question.stop.is_due() {
            return Target::default();
        }
        let grouped = places_of_grouped(question, &must_stay);
        match Remap::new(question, &must_stay, &grouped).run() {
            Ok(target) => return target,
            // The swap does not hold all the jobs that would have to be parked: this one stays.
            Err(job) => must_stay[job] = true,
        }
    }
}

/// A job that may be placed or dropped.
#[derive(Clone, Copy)]
struct RemapCandidate<'a> {
    index: usize,
    job: &'a Job,
    /// Where it must be if it runs.
    pin: Option<Pinned<'a>>,
}

/// Whether a drain waits for a candidate, its priority, and its place among all of them. No two
/// priorities are equal.
type Ranked = (bool, Priority, usize);

/// One try at the remap, with a given set of jobs that must stay.
struct Remap<'a> {
    question: Question<'a>,
    /// No yield below this.
    least: Fraction,
    /// What must stay, and then also what is pinned and kept.
    usage: Usage,
    swap: SwapUsage,
    /// What must stay and what is pinned and kept, job by job.
    pinned: Vec<Pinned<'a>>,
    /// How places are found if not for the highest minimum yield.
    further: Option<MappingSearch>,
    /// Candidates that are not dropped; once in order, the first to be dropped last.
    kept: Vec<RemapCandidate<'a>>,
    target: Target,
}

impl<'a> Remap<'a> {
    fn new(
        question: Question<'a>,
        must_stay: &[bool],
        grouped: &'a BTreeMap<usize, Mapping>,
    ) -> Self {
        let (policy, roster, cluster) = (question.policy, question.roster, question.cluster);
        let swap = SwapUsage::of(cluster, roster.parked());
        let mut usage = Usage::empty(cluster, policy.ceilings());
        let mut pinned = Vec::new();
        let mut candidates: Vec<RemapCandidate<'a>> = Vec::new();
        for (index, job) in roster.running_at() {
            if can_go(question, must_stay, &swap, index) {
                let pin = pin(question, &usage, job);
                candidates.push(RemapCandidate { index, job, pin });
            } else if let Some(mapping) = job.running_on() {
                usage.add(job, mapping);
                pinned.push(Pinned {
                    job,
                    mapping,
                    grace: false,
                });
            }
        }
        let least = policy
            .settings
            .load_ceiling
            .map_or(Fraction::ZERO, Fraction::least_yield);
        let mut fit_cache = FitCache::of(&usage);
        let mut fits_alone = |job: &Job| match &job.state {
            JobState::Parked(mapping) => usage.takes_back(job, mapping),
            _ => fit_cache.could_place(cluster, &usage, job),
        };
        // Vector packing keeps every load below the ceiling: a job that cannot keep below it is
        // left to Greedy, which comes next.
        let waiting = roster.waiting_that(|job| usage.could_keep_ceiling(job) && fits_alone(job));
        candidates.extend(waiting.into_iter().filter_map(|index| {
            let job = &cluster.jobs[index];
            let pin = match grouped.get(&index) {
                None => pin(question, &usage, job),
                Some(mapping) => Some(Pinned {
                    job,
                    mapping,
                    grace: false,
                }),
            };
            let has_place = pin.is_some() || job.layout.together.is_none();
            has_place.then_some(RemapCandidate { index, job, pin })
        }));
        Self {
            question,
            least,
            usage,
            swap,
            pinned,
            further: match policy.optimisation {
                Optimisation::Further(goal) => goal.search(),
                _ => None,
            },
            kept: candidates,
            target: Target::default(),
        }
    }

    /// The target, or the job that would have to be dropped and cannot be.
    fn run(mut self) -> Result<Target, usize> {
        self.put_in_order();
        self.load_pins()?;
        self.drop_until_memory_suffices()?;
        self.drop_what_cannot_be_packed()?;
        let mut bins = BinsOnce::default();
        loop {
            if self.question.stop.is_due() {
                return Ok(self.target);
            }
            let movable: Vec<&Job> = self.movable().collect();
            match self.search(&movable, &bins) {
                Some(mut found) => {
                    // A further goal may see differences between equal jobs.
                    let settings = &self.question.policy.settings;
                    if settings.keep_equal_jobs && self.further.is_none() {
                        leave_equal_jobs_in_place(&movable, &mut found);
                    }
                    return Ok(self.finish(found));
                }
                None if self.kept.is_empty() => return Ok(self.target),
                None => {
                    let place = self.next_to_drop();
                    if self.kept.get(place).is_some_and(|next| next.pin.is_some()) {
                        bins = BinsOnce::default();
                    }
                    self.drop_at(place)?;
                }
            }
        }
    }

    /// The jobs without a pin that are not dropped.
    fn movable(&self) -> impl Iterator<Item = &'a Job> {
        let kept = self.kept.iter();
        kept.filter_map(|candidate| candidate.pin.is_none().then_some(candidate.job))
    }

    /// Where the jobs without a pin go, if MCB8 finds places for all of them.
    ///
    /// `bins` is of the last search if what is pinned has not changed.
    fn search(&self, movable: &[&Job], bins: &BinsOnce) -> Option<Vec<Mapping>> {
        let cluster = self.question.cluster;
        let mut grace = vec![Cores::ZERO; cluster.nodes.len()];
        for pin in self.pinned.iter().filter(|pin| pin.grace) {
            for run in pin.mapping.iter() {
                grace[run.node.index()] += pin.job.cpu_of(run);
            }
        }
        let packing = Packing {
            cluster,
            pinned: &self.usage,
            grace: &grace,
            jobs: movable,
            least: self.least,
            bins,
            stop: self.question.stop,
        };
        match self.further {
            None => packing.search().map(|(_, found)| found),
            Some(search) => self.search_further(&packing, search),
        }
    }

    fn search_further(&self, packing: &Packing<'_>, search: MappingSearch) -> Option<Vec<Mapping>> {
        let pinned: Vec<&Job> = self.pinned.iter().map(|pin| pin.job).collect();
        search(&MappingProblem {
            jobs: packing.jobs,
            pinned: &pinned,
            least: packing.least.as_yield(),
            now: self.question.now,
            period: self.question.policy.settings.period,
            pack: &|jobs, pinned| packing.pack_required(jobs, &self.pinned, pinned),
            was_stopped: &|| self.question.stop.was_due(),
        })
    }

    /// Puts the candidates in order, but for those of so low a priority that the memory of all
    /// nodes is not enough for those before them: these are dropped.
    fn put_in_order(&mut self) {
        let question = self.question;
        let all = std::mem::take(&mut self.kept);
        let ranked = all.iter().enumerate().map(|(place, candidate)| {
            let job = candidate.job;
            let is_first = holds_up_drain(question.cluster, job);
            (is_first, question.priority(job), place)
        });
        let (mut order, movable): (Vec<Ranked>, Vec<Ranked>) =
            ranked.partition(|(.., place)| all[*place].pin.is_some());
        let least_memory = |ranked: &[Ranked]| -> Bytes {
            let jobs = ranked.iter().map(|(.., place)| all[*place].job);
            jobs.map(Job::least_memory).sum()
        };
        let max = self.max_memory(order.iter().map(|(.., place)| &all[*place]));
        let mut wanted = Bytes::ZERO;
        let first = about_as_many(movable.len(), least_memory(&movable), max);
        let mut movable = Greatest::of(movable).in_pieces_of(first);
        while wanted <= max {
            let piece = movable.next_piece();
            if piece.is_empty() {
                break;
            }
            wanted += least_memory(&piece);
            order.extend(piece);
        }
        for (.., low) in movable.rest {
            self.leave(&all[low]);
        }
        // Stable sorting makes use of the part that is in order.
        order.sort_by(|one, other| other.cmp(one));
        self.kept = order.into_iter().map(|(.., place)| all[place]).collect();
    }

    /// At least the memory that the nodes have for candidates without a pin, whichever of the
    /// pinned ones are dropped.
    fn max_memory<'c>(&self, candidates: impl Iterator<Item = &'c RemapCandidate<'a>>) -> Bytes
    where
        'a: 'c,
    {
        let pins = candidates.filter_map(|candidate| candidate.pin);
        let freed = pins.flat_map(|pin| {
            let runs = pin.mapping.iter();
            let closed =
                runs.filter(|run| self.question.cluster.state_of(run.node) != NodeState::Up);
            closed.map(move |run| pin.job.memory_of(run))
        });
        self.usage.free_memory() + freed.sum()
    }

    /// Counts pinned candidates in, the highest priority first, and drops those that do not fit on
    /// their nodes beside the ones before. A load above the ceiling is borne where it has come
    /// about, but not where a parked job comes back.
    fn load_pins(&mut self) -> Result<(), usize> {
        let mut with_arrivals: BTreeSet<NodeIndex> = BTreeSet::new();
        for candidate in std::mem::take(&mut self.kept) {
            if let Some(pin) = candidate.pin {
                let is_running = candidate.job.is_running();
                let limit = self.usage.limit_on(candidate.job, pin.mapping);
                let fits = match is_running {
                    true => pin.mapping.iter().all(|run| {
                        if with_arrivals.contains(&run.node) {
                            self.usage.fits(candidate.job, run, limit)
                        } else {
                            self.usage.holds(candidate.job, run)
                        }
                    }),
                    false => self.usage.takes_back(candidate.job, pin.mapping),
                };
                if !fits {
                    self.drop(&candidate)?;
                    continue;
                }
                if !is_running {
                    with_arrivals.extend(pin.mapping.nodes());
                }
                self.usage.add(candidate.job, pin.mapping);
                self.pinned.push(pin);
            }
            self.kept.push(candidate);
        }
        Ok(())
    }

    /// Drops jobs, the lowest priority first, until the memory of all nodes together is enough.
    fn drop_until_memory_suffices(&mut self) -> Result<(), usize> {
        let mut free = self.usage.free_memory();
        let mut wanted: Bytes = self.movable().map(Job::least_memory).sum();
        while wanted > free {
            let Some(lowest) = self.kept.last() else {
                break;
            };
            match lowest.pin {
                None => wanted -= lowest.job.least_memory(),
                Some(pin) => {
                    let runs = pin.mapping.iter();
                    free += runs.map(|run| lowest.job.memory_of(run)).sum();
                }
            }
            self.drop_lowest()?;
        }
        Ok(())
    }

    /// Drops jobs, the lowest priority first, as long as their memory alone rules out that MCB8
    /// finds places for all of them: it need not be tried. O(nodes log nodes + jobs log jobs +
    /// drops × distinct amounts of memory).
    fn drop_what_cannot_be_packed(&mut self) -> Result<(), usize> {
        let mut demand = MemoryDemand::default();
        let cluster = self.question.cluster;
        let free = |usage: &Usage, node: NodeIndex| {
            let is_up = cluster.state_of(node) == NodeState::Up;
            is_up.then(|| usage.memory_left(node).0)
        };
        let nodes = (0..).map(NodeIndex).take(cluster.nodes.len());
        demand.add_nodes(nodes.filter_map(|node| free(&self.usage, node)));
        for job in self.movable() {
            demand.add_tasks(job.memory.0, job.tasks);
        }
        while demand.cannot_fit() {
            let Some(lowest) = self.kept.last() else {
                break;
            };
            let (job, pin) = (lowest.job, lowest.pin);
            let pinned = || pin.iter().flat_map(|pin| pin.mapping.nodes());
            for free in pinned().filter_map(|node| free(&self.usage, node)) {
                demand.remove_node(free);
            }
            self.drop_lowest()?;
            for free in pinned().filter_map(|node| free(&self.usage, node)) {
                demand.add_node(free);
            }
            if pin.is_none() {
                demand.remove_tasks(job.memory.0, job.tasks);
            }
        }
        Ok(())
    }

    fn drop_lowest(&mut self) -> Result<(), usize> {
        self.drop_at(self.kept.len().saturating_sub(1))
    }

    /// Drops the candidate at this place; nothing if there is none.
    fn drop_at(&mut self, place: usize) -> Result<(), usize> {
        if place >= self.kept.len() {
            return Ok(());
        }
        let dropped = self.kept.remove(place);
        if let Some(pin) = dropped.pin {
            self.usage.remove(dropped.job, pin.mapping);
            // Pins are counted in in the order of candidates: most often it is the last one.
            let own = |pinned: &Pinned<'_>| pinned.job.id == dropped.job.id;
            if let Some(place) = self.pinned.iter().rposition(own) {
                self.pinned.remove(place);
            }
        }
        self.drop(&dropped)
    }

    /// The place of the candidate that is dropped when not all are packed: the lowest priority; of
    /// those with devices if these do not find enough of them even alone, for no other job makes
    /// room for these.
    fn next_to_drop(&self) -> usize {
        let lowest_with = self
            .kept
            .iter()
            .rposition(|candidate| candidate.job.requires_devices());
        let lowest = self.kept.len().saturating_sub(1);
        match lowest_with {
            Some(place) if place < lowest && !self.has_devices_for_all() => place,
            _ => lowest,
        }
    }

    /// Whether MCB8 finds places for the jobs with devices, were devices all that they require. As one
    /// packing.
    fn has_devices_for_all(&self) -> bool {
        let cluster = self.question.cluster;
        let mut usage = Usage::best_case(cluster, Ceilings::default());
        for pin in self.pinned.iter().filter(|pin| pin.job.requires_devices()) {
            usage.add(&devices_of(pin.job), pin.mapping);
        }
        let jobs: Vec<Job> = self
            .movable()
            .filter(|job| job.requires_devices())
            .map(devices_of)
            .collect();
        let packing = Packing {
            cluster,
            pinned: &usage,
            grace: &[],
            jobs: &jobs.iter().collect::<Vec<_>>(),
            least: Fraction::ZERO,
            bins: &BinsOnce::default(),
            stop: self.question.stop,
        };
        packing.search().is_some()
    }

    /// A dropped job leaves if it runs, and goes on waiting if it waits.
    fn drop(&mut self, dropped: &RemapCandidate<'a>) -> Result<(), usize> {
        if let JobState::Running(mapping) = &dropped.job.state
            && dropped.job.mobility == Mobility::Park
        {
            if !self.swap.fits(dropped.job, mapping) {
                return Err(dropped.index);
            }
            self.swap.add(dropped.job, mapping);
        }
        self.leave(dropped);
        Ok(())
    }

    fn leave(&mut self, dropped: &RemapCandidate<'a>) {
        if dropped.job.is_running() {
            let change = Change::Leaves(Reason::DoesNotFitRemap);
            self.target.set(dropped.index, change);
        }
    }

    /// The target, given where the candidates without a pin go.
    fn finish(mut self, found: Vec<Mapping>) -> Target {
        let mut found = found.into_iter();
        for candidate in &self.kept {
            let place = match candidate.pin {
                Some(_) if candidate.job.is_running() => None,
                Some(pin) => Some(pin.mapping.clone()),
                None => found.next(),
            };
            if let Some(mapping) =
                place.filter(|mapping| candidate.job.running_on() != Some(mapping))
            {
                let change = Change::Goes(mapping, Reason::Remap);
                self.target.set(candidate.index, change);
            }
        }
        self.target
    }
}

/// Whether the running job at this index may be dropped.
fn can_go(question: Question<'_>, must_stay: &[bool], swap: &SwapUsage, index: usize) -> bool {
    let job = &question.cluster.jobs[index];
    !must_stay[index] && job.mobility != Mobility::Restart && can_pause(question, swap, job)
}

/// Where waiting jobs go that have rules about which nodes they may have together, by index, if
/// they are not dropped: vector packing fills one node after the other and does not know such
/// rules. Greedy places them, those of the highest priority first, beside each other and what is
/// pinned or parked, or, where that has no place, beside what must stay only; running ones stay
/// where they are. O(jobs + runs), and as Greedy for each.
fn places_of_grouped(question: Question<'_>, must_stay: &[bool]) -> BTreeMap<usize, Mapping> {
    let (policy, roster, cluster) = (question.policy, question.roster, question.cluster);
    let mut waiting = roster.waiting_that(|job| job.layout.together.is_some());
    waiting.retain(|index| !matches!(cluster.jobs[*index].state, JobState::Parked(_)));
    let mut found = BTreeMap::new();
    if waiting.is_empty() {
        return found;
    }
    waiting.sort_by_cached_key(|index| Reverse(question.priority(&cluster.jobs[*index])));
    let swap = SwapUsage::of(cluster, roster.parked());
    let mut usage = Usage::empty(cluster, policy.ceilings());
    let mut pinned = Vec::new();
    for (index, job) in roster.running_at() {
        let is_grouped = job.layout.together.is_some();
        if let Some(mapping) = job.running_on() {
            if is_grouped || !can_go(question, must_stay, &swap, index) {
                usage.add(job, mapping);
            } else if pin(question, &usage, job).is_some() {
                pinned.push((job, mapping));
            }
        }
    }
    let parked = roster
        .parked()
        .filter_map(|job| job.state.parked_on().map(|on| (job, on)));
    let mut with_pinned = usage.clone();
    for (job, mapping) in pinned.into_iter().chain(parked) {
        with_pinned.add(job, mapping);
    }
    let (mut room, mut beside_pinned) = (Room::of(usage), Room::of(with_pinned));
    for index in waiting {
        if question.stop.is_due() {
            return found;
        }
        let job = &cluster.jobs[index];
        let place = beside_pinned.find(cluster, job);
        if let Some(mapping) = place.or_else(|| room.find(cluster, job)) {
            room.take(job, &mapping);
            beside_pinned.take(job, &mapping);
            found.insert(index, mapping);
        }
    }
    found
}

/// About how many of so many jobs, which want so much memory together, fit into `memory`, rather
/// too many than too few.
fn about_as_many(jobs: usize, wanted: Bytes, memory: Bytes) -> usize {
    let each = wanted.0 / (jobs as u64).max(1);
    let max = memory.0.checked_div(each).unwrap_or(u64::MAX);
    usize::try_from(max.saturating_add(max / 2)).unwrap_or(usize::MAX)
}

/// Exchanges the mappings of equal jobs so that as few of them as possible move: MCB8 orders them
/// by identity alone, and which of them goes where makes no difference to other jobs. O(jobs log
/// jobs + runs).
fn leave_equal_jobs_in_place(jobs: &[&Job], found: &mut [Mapping]) {
    let key = |place: &usize| {
        let job = jobs[*place];
        (job.tasks, job.cpu, job.memory, job.memory_per_node)
    };
    let mut order: Vec<usize> = (0..jobs.len())
        .filter(|place| is_simple(jobs[*place]))
        .collect();
    order.sort_by_key(key);
    let equals = order.chunk_by(|one, other| key(one) == key(other));
    for equal in equals.filter(|equal| equal.len() > 1) {
        let mut pool: BTreeMap<Vec<Run>, u32> = BTreeMap::new();
        for place in equal {
            *pool.entry(found[*place].runs().to_vec()).or_insert(0) += 1;
        }
        let (mut stay, mut move_on) = (Vec::new(), Vec::new());
        for place in equal {
            let here = jobs[*place]
                .running_on()
                .and_then(|here| pool.get_mut(here.runs()));
            match here.filter(|left| **left > 0) {
                Some(left) => {
                    *left -= 1;
                    stay.push(*place);
                }
                None => move_on.push(*place),
            }
        }
        for place in stay {
            if let Some(here) = jobs[place].running_on() {
                found[place] = here.clone();
            }
        }
        let rest = pool
            .into_iter()
            .flat_map(|(runs, left)| std::iter::repeat_n(runs, left as usize));
        for (place, runs) in move_on.into_iter().zip(rest) {
            found[place] = Mapping::new(runs);
        }
    }
}

/// The job as if it required devices only.
fn devices_of(job: &Job) -> Job {
    Job {
        cpu: Cores::ZERO,
        memory: Bytes::ZERO,
        memory_per_node: Bytes::ZERO,
        ..job.clone()
    }
}

/// Whether the job has no rules or resources that set it apart from others of the same size.
fn is_simple(job: &Job) -> bool {
    job.layout == Layout::default() && !job.requires_devices()
}

/// Whether the job cannot be moved, and where it is. One that cannot keep the ceiling on load
/// cannot: no packing that keeps it has a place for the job.
fn pin<'a>(question: Question<'_>, usage: &Usage, job: &'a Job) -> Option<Pinned<'a>> {
    let mapping = match &job.state {
        JobState::Parked(mapping) => {
            return Some(Pinned {
                job,
                mapping,
                grace: false,
            });
        }
        JobState::Running(mapping) => mapping,
        JobState::Pending | JobState::Paused => return None,
    };
    let draining = |node| question.cluster.state_of(node) != NodeState::Up;
    let immovable = !job.moves_freely()
        || job.layout.together.is_some()
        || mapping.nodes().any(draining)
        || !usage.could_keep_ceiling(job);
    (immovable || question.policy.protects(job, question.now)).then_some(Pinned {
        job,
        mapping,
        grace: !immovable,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{Cluster, JobId, Node};
    use crate::policy::Policy;
    use crate::roster::Roster;
    use crate::stop::Stop;
    use crate::units::{Amount, Time};

    fn mapping(node: u32) -> Mapping {
        Mapping::from_tasks([NodeIndex(node)])
    }

    fn running(id: u64, node: u32) -> Job {
        let mut job = Job::new(JobId(id), Time(0), 1, Cores(10), Bytes(10));
        job.state = JobState::Running(mapping(node));
        job
    }

    fn question<'a>(
        policy: &'a Policy,
        roster: &'a Roster,
        now: Time,
        stop: &'a Stop<'a>,
    ) -> Question<'a> {
        let cluster = roster.cluster();
        Question {
            policy,
            roster,
            cluster,
            now,
            stop,
        }
    }

    /// A job of some state and mobility, on one of three nodes if it has a place.
    fn any_job() -> impl Strategy<Value = Job> {
        let size = (1u32..6, 0u64..60, 0u64..20);
        let life = (0u8..6, 0u32..3, 0u8..4, 0i64..1_200);
        (size, life).prop_map(
            |((tasks, memory, submit), (state, node, mobility, virtual_time))| {
                let submit = Time::from_seconds(submit.cast_signed());
                let mut job = Job::new(JobId(0), submit, tasks, Cores(10), Bytes(memory));
                let here = Mapping::new(vec![Run {
                    node: NodeIndex(node),
                    tasks,
                }]);
                job.state = match state {
                    0 | 1 => JobState::Running(here),
                    2 => JobState::Parked(here),
                    3 => JobState::Paused,
                    _ => JobState::Pending,
                };
                job.mobility = match mobility {
                    0 => Mobility::Park,
                    1 => Mobility::Never,
                    _ => Mobility::Checkpoint,
                };
                job.virtual_time = Span::from_seconds(virtual_time);
                job
            },
        )
    }

    proptest! {
        /// Dropping those that memory rules out at once leaves what dropping them one by one
        /// leaves.
        #[test]
        fn only_jobs_that_memory_could_hold_are_sorted(
            mut jobs in proptest::collection::vec(any_job(), 0..60),
            closed in 0usize..6,
        ) {
            for (job, id) in jobs.iter_mut().zip(0..) {
                job.id = JobId(id);
            }
            let mut nodes = vec![Node::new("", Cores(100), Bytes(200)); 3];
            nodes.iter_mut().for_each(|node| node.swap = Bytes(100));
            if let Some(node) = nodes.get_mut(closed) {
                node.state = NodeState::Draining;
            }
            let cluster = Cluster { nodes, jobs };
            let policy: Policy = "/per/OPT=MIN/MINVT=600".parse().unwrap();
            let now = Time::from_seconds(10_000);
            let priority = |job: &Job| policy.settings.priority.of(job, now);
            let rank = |job: &Job| (holds_up_drain(&cluster, job), priority(job));
            let drop_some = |mut remap: Remap<'_>| -> Result<_, usize> {
                remap.load_pins()?;
                remap.drop_until_memory_suffices()?;
                let kept: Vec<JobId> = remap.kept.iter().map(|kept| kept.job.id).collect();
                let leave: Vec<bool> = (0..cluster.jobs.len())
                    .map(|job| remap.target.stays(job))
                    .collect();
                Ok((kept, leave))
            };
            let stay = vec![false; cluster.jobs.len()];
            let roster = Roster::new(cluster.clone());
            let stop = Stop::never();
            let question = question(&policy, &roster, now, &stop);
            let none = BTreeMap::new();
            let mut fast = Remap::new(question, &stay, &none);
            fast.put_in_order();
            let mut plain = Remap::new(question, &stay, &none);
            plain.kept.sort_by_key(|candidate| Reverse(rank(candidate.job)));
            prop_assert_eq!(drop_some(fast), drop_some(plain));
        }
    }

    #[test]
    fn only_identical_jobs_swap_places() {
        // Where job 1 goes when MCB8 puts it where job 2 is and the other way round.
        let place = |change: fn(&mut Job)| {
            let mut jobs = [running(1, 0), running(2, 1)];
            change(&mut jobs[0]);
            let mut found = [mapping(1), mapping(0)];
            leave_equal_jobs_in_place(&[&jobs[0], &jobs[1]], &mut found);
            assert_ne!(found[0], found[1]);
            found[0].runs()[0].node.0
        };
        assert_eq!(place(|_| ()), 0);
        let different: [fn(&mut Job); 7] = [
            |job| job.tasks = 2,
            |job| job.cpu = Cores(11),
            |job| job.memory = Bytes(11),
            |job| job.memory_per_node = Bytes(1),
            |job| job.layout.max_nodes = Some(1),
            |job| job.rigid = vec![Amount(1)],
            |job| job.rigid_per_node = vec![Amount(1)],
        ];
        for (number, change) in different.into_iter().enumerate() {
            assert_eq!(place(change), 1, "{number}");
        }
    }

    #[test]
    fn dropped_job_is_no_longer_pinned() {
        let policy: Policy = "/per/OPT=MIN/MINVT=600".parse().unwrap();
        let mut cluster = Cluster {
            nodes: vec![Node::new("", Cores(100), Bytes(100))],
            jobs: vec![running(1, 0), running(2, 0), running(3, 0)],
        };
        for (job, virtual_time) in cluster.jobs.iter_mut().zip([200, 300, 100]) {
            job.virtual_time = Span::from_seconds(virtual_time);
        }
        let now = Time::from_seconds(400);
        let roster = Roster::new(cluster);
        let stop = Stop::never();
        let (question, none) = (question(&policy, &roster, now, &stop), BTreeMap::new());
        let mut remap = Remap::new(question, &[false; 3], &none);
        remap.put_in_order();
        remap.load_pins().unwrap();
        remap.drop_lowest().unwrap();
        let pinned: Vec<u64> = remap.pinned.iter().map(|pin| pin.job.id.0).collect();
        assert_eq!(pinned, [3, 1]);
        assert_eq!(remap.usage.memory(NodeIndex(0)), Bytes(20));
    }
}
