//! Which running jobs are preempted for a job without a place.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::candidates::{PreemptionCandidate, PreemptionCandidates};
use super::decision_state::DecisionState;
use super::{Arrivals, MARGIN, PARTS_OF_COST, PreemptionClass, SETTLED};
use crate::greedy::all_nodes;
use crate::model::{Job, JobState, Mapping, Mobility, NodeIndex, Run};
use crate::plan::Reason;
use crate::policy::Policy;
use crate::preempt::{fits_alongside, mark, move_or_leave};
use crate::priority::Priority;
use crate::space::{LoadLimit, share};
use crate::target::{Change, has_swap};
use crate::units::{Amount, Bytes, Cores, Span};
use crate::usage::Usage;

/// How much a victim's cost counts beside the load of the node after it.
const COST: f64 = 10.0;
const LOAD: f64 = 0.1;

/// Which jobs may be preempted.
#[derive(Clone, Copy)]
pub(super) struct VictimCriteria {
    /// Jobs of at least this virtual time.
    least: Span,
    /// Jobs of a priority below this.
    below: f64,
}

impl VictimCriteria {
    pub(super) fn of(class: PreemptionClass, priority: Priority, policy: &Policy) -> Self {
        let worth_moving = Span(policy.settings.penalty.0 / PARTS_OF_COST);
        let (least, below) = match class {
            PreemptionClass::New => (SETTLED.max(worth_moving), f64::INFINITY),
            PreemptionClass::Waited => (worth_moving, f64::INFINITY),
            PreemptionClass::Back => (Span::ZERO, priority.value() / MARGIN),
        };
        Self { least, below }
    }

    fn allow(&self, member: &PreemptionCandidate) -> bool {
        !member.is_gone && member.virtual_time >= self.least && member.priority.value() < self.below
    }
}

/// Places the job at `index` where it preempts others; these move where they fit elsewhere. Returns
/// where it and they are then; `None`, and nothing has changed, if there are not enough of them, or
/// the budget does not allow so many moves.
pub(super) fn make_room(
    state: &mut DecisionState<'_>,
    index: usize,
    criteria: VictimCriteria,
) -> Option<Arrivals> {
    let mut candidates = state
        .candidates
        .take()
        .unwrap_or_else(|| PreemptionCandidates::of(state));
    let job = &state.question.cluster.jobs[index];
    let is_plain = job.tasks > 0
        && job.layout.nodes() > 0
        && job.layout.min_nodes.is_none()
        && job.layout.together.is_none()
        && !matches!(job.state, JobState::Parked(_));
    let at_once = tasks_at_once(job);
    let mut search = VictimSearch {
        limit: state.usage.limit(job),
        state,
        candidates: &mut candidates,
        job,
        at_once,
        criteria,
        marked: Vec::new(),
    };
    let mut found = None;
    if is_plain {
        found = search.node_by_node();
    }
    // Node by node it may be missed that the last tasks of a job on few nodes find a place.
    if found.is_none() && (!is_plain || at_once > 1) {
        found = search.by_priority();
    }
    let arrived = found.and_then(|mapping| search.settle(index, mapping));
    state.candidates = Some(candidates);
    arrived
}

/// How many tasks go to a node at once: as few as keep the job on as many nodes as it may use.
fn tasks_at_once(job: &Job) -> u32 {
    let nodes = u32::try_from(job.layout.nodes()).unwrap_or(u32::MAX);
    job.tasks.div_ceil(nodes.max(1))
}

/// The search for the victims of one job.
struct VictimSearch<'s, 'a> {
    state: &'s mut DecisionState<'a>,
    candidates: &'s mut PreemptionCandidates,
    job: &'a Job,
    /// How many of its tasks go to a node at once.
    at_once: u32,
    /// Which ceiling on load it keeps.
    limit: LoadLimit,
    criteria: VictimCriteria,
    /// Members that have been taken off their nodes.
    marked: Vec<u32>,
}

impl<'a> VictimSearch<'_, 'a> {
    fn victim(&self, member: u32) -> &'a Job {
        &self.state.question.cluster.jobs[self.candidates.members[member as usize].index]
    }

    /// Takes a member off its nodes.
    fn pause(&mut self, member: u32) {
        let job = self.victim(member);
        if let Some(mapping) = job.running_on() {
            self.state.usage.remove(job, mapping);
            if job.mobility == Mobility::Park {
                self.state.swap.add(job, mapping);
            }
        }
        self.candidates.members[member as usize].is_gone = true;
        self.marked.push(member);
    }

    /// Puts a member back where it was.
    fn put_back(&mut self, member: u32) {
        let job = self.victim(member);
        if let Some(mapping) = job.running_on() {
            self.state.usage.add(job, mapping);
            if job.mobility == Mobility::Park {
                self.state.swap.remove(job, mapping);
            }
        }
        self.candidates.members[member as usize].is_gone = false;
    }

    /// One task after the other, or as many as go at once, goes to the node where room for it costs
    /// least.
    fn node_by_node(&mut self) -> Option<Mapping> {
        let count = self.state.question.cluster.nodes.len();
        let mut tasks = vec![0u32; count];
        // An offer is of no more use once anything has changed on its node.
        let mut version = vec![0u32; count];
        let mut leaving = Vec::new();
        let mut offers = BinaryHeap::new();
        for node in all_nodes(self.state.question.cluster, self.job) {
            if let Some(cost) = self.offer(node, self.at_once, &mut leaving) {
                offers.push(Reverse((cost.to_bits(), node, 0)));
            }
        }
        let mut missing = self.job.tasks;
        while missing > 0 {
            let Some(Reverse((_, node, made))) = offers.pop() else {
                while let Some(member) = self.marked.pop() {
                    self.put_back(member);
                }
                return None;
            };
            if made != version[node.index()] {
                continue;
            }
            // Swap that was there when the offer was made may be taken.
            let more = self.at_once.min(missing);
            if self
                .offer(node, tasks[node.index()] + more, &mut leaving)
                .is_none()
            {
                continue;
            }
            let mut touched = vec![node];
            let all_leave = leaving.clone().into_iter().all(|member| {
                let can = has_swap(&self.state.swap, self.victim(member));
                if can {
                    self.pause(member);
                    touched.extend(
                        self.victim(member)
                            .running_on()
                            .into_iter()
                            .flat_map(Mapping::nodes),
                    );
                }
                can
            });
            if all_leave {
                tasks[node.index()] += more;
                missing -= more;
            }
            touched.sort_unstable();
            touched.dedup();
            for node in touched {
                version[node.index()] += 1;
                let next = tasks[node.index()] + self.at_once.min(missing);
                if let Some(cost) = self.offer(node, next, &mut leaving) {
                    offers.push(Reverse((cost.to_bits(), node, version[node.index()])));
                }
            }
        }
        let runs = (0..).map(NodeIndex).zip(tasks);
        let runs = runs.filter(|(_, tasks)| *tasks > 0);
        Some(Mapping::from_sorted(
            runs.map(|(node, tasks)| Run { node, tasks }).collect(),
        ))
    }

    /// What it costs that the node takes so many tasks of the job, more than it has, and which jobs
    /// it preempts; not negative. `None`: it cannot be. O(jobs there × log), and O(runs) for each
    /// that leaves.
    fn offer(&self, node: NodeIndex, tasks: u32, leaving: &mut Vec<u32>) -> Option<f64> {
        leaving.clear();
        let (job, state) = (self.job, &*self.state);
        let known = state
            .question
            .cluster
            .node(node)
            .filter(|node| node.is_up())?;
        let max = job.tasks.min(job.layout.tasks_per_node());
        if tasks > max || !job.layout.allows(node) || (known.cpu.is_zero() && !job.cpu.is_zero()) {
            return None;
        }
        let mut load = state.usage.load(node) + job.cpu.times(tasks);
        let memory = state.usage.memory(node) + job.memory_on(tasks);
        let is_too_much = |load: Cores, gone| {
            let max = state.usage.max_load(node, job, self.limit, gone);
            max.is_some_and(|max| load > max)
        };
        let is_enough = |short: Bytes, devices: &DeviceShortage, load, gone| {
            short.is_zero() && devices.is_none() && !is_too_much(load, gone)
        };
        // Of those that leave, how many run on several nodes: without the last of them their
        // ceiling is none.
        let mut gone = 0;
        let mut short = memory.minus(known.memory);
        let mut devices = DeviceShortage::of(&state.usage, node, job, tasks);
        let mut cost = 0.0;
        if !is_enough(short, &devices, load, gone) {
            let mut swap = state.swap.used(node);
            let wanted = f64::from(job.tasks.div_ceil(self.at_once));
            let members = self.candidates.on(node).iter().copied();
            let allowed = members.filter(|member| {
                self.criteria
                    .allow(&self.candidates.members[*member as usize])
            });
            let mut candidates: Vec<(u64, u32)> = allowed
                .map(|member| {
                    let about = &self.candidates.members[member as usize];
                    ((about.cost / about.nodes.min(wanted)).to_bits(), member)
                })
                .collect();
            candidates.sort_unstable();
            for (each, member) in candidates {
                let victim = self.victim(member);
                let Some(run) = victim.running_on().and_then(|mapping| mapping.run_on(node)) else {
                    continue;
                };
                let freed = victim.memory_of(run);
                // What keeps a job with devices out is memory or devices, never the load.
                let is_of_use = !job.requires_devices()
                    || !(short.is_zero() || freed.is_zero())
                    || devices.shrinks_by(victim, run);
                if !is_of_use {
                    continue;
                }
                let is_parked = victim.mobility == Mobility::Park;
                if is_parked && swap + freed > known.swap || !has_swap(&state.swap, victim) {
                    continue;
                }
                if is_parked {
                    swap += freed;
                }
                leaving.push(member);
                cost += f64::from_bits(each);
                load -= victim.cpu_of(run);
                short -= freed;
                devices.take_off(victim, run);
                gone += u32::from(victim.running_on().is_some_and(Mapping::spans_nodes));
                if is_enough(short, &devices, load, gone) {
                    break;
                }
            }
            if !is_enough(short, &devices, load, gone) {
                return None;
            }
        }
        Some(COST * cost + LOAD * share(load.0, known.cpu.0))
    }

    /// For jobs that are parked, and others for which single nodes do not show whether they fit:
    /// the lowest priority leaves first, until the job has a place.
    fn by_priority(&mut self) -> Option<Mapping> {
        let own = self.job.state.parked_on();
        let mut members: Vec<(Priority, u32)> = (0u32..)
            .zip(&self.candidates.members)
            .filter(|(_, member)| self.criteria.allow(member))
            .filter(|(number, _)| own.is_none_or(|own| shares_a_node(own, self.victim(*number))))
            .map(|(number, member)| (member.priority, number))
            .collect();
        if members.is_empty() {
            return None;
        }
        members.sort_unstable_by_key(|(priority, _)| *priority);
        let places = |number: u32| self.candidates.members[number as usize].index;
        let victims = members.iter().map(|(_, number)| places(*number));
        let state = &mut *self.state;
        let (mut usage, mut swap) = (state.usage.clone(), state.swap.clone());
        let (marked, mapping) = mark(state.question, victims, self.job, &mut usage, &mut swap)?;
        (state.usage, state.swap) = (usage, swap);
        for (_, number) in members {
            let member = &mut self.candidates.members[number as usize];
            if marked.contains(&member.index) {
                member.is_gone = true;
                self.marked.push(number);
            }
        }
        Some(mapping)
    }

    /// The job takes its place. Those that still fit stay, the highest priority first; the others
    /// move if they can, or wait.
    fn settle(&mut self, index: usize, mapping: Mapping) -> Option<Arrivals> {
        self.state.usage.add(self.job, &mapping);
        let mut marked = std::mem::take(&mut self.marked);
        marked.sort_unstable_by_key(|member| {
            Reverse(self.candidates.members[*member as usize].priority)
        });
        let mut leaving = Vec::new();
        for member in marked {
            let victim = self.victim(member);
            let stays = |old| fits_alongside(&self.state.usage, victim, old, (self.job, &mapping));
            if victim.running_on().is_some_and(stays) {
                self.put_back(member);
            } else {
                leaving.push(member);
            }
        }
        if leaving.len() > self.state.moves_left {
            self.state.usage.remove(self.job, &mapping);
            for member in leaving {
                self.put_back(member);
            }
            return None;
        }
        self.state.moves_left -= leaving.len();
        self.state
            .target
            .give_place(self.job, index, mapping.clone());
        let mut arrived = vec![(index, mapping)];
        for member in leaving {
            let victim_index = self.candidates.members[member as usize].index;
            let victim = self.victim(member);
            let (cluster, usage) = (self.state.question.cluster, &mut self.state.usage);
            let may_move = victim.moves_freely();
            let reason = Reason::MakesRoomFor(self.job.id);
            let change = move_or_leave(cluster, usage, victim, may_move, reason);
            if let Change::Goes(mapping, _) = &change {
                arrived.push((victim_index, mapping.clone()));
            }
            self.state.target.set(victim_index, change);
        }
        Some(arrived)
    }
}

/// What a node is short of for a job, of each kind of devices; no kinds for a job without devices.
struct DeviceShortage(Vec<Amount>);

impl DeviceShortage {
    /// For so many tasks of the job. O(kinds).
    fn of(usage: &Usage, node: NodeIndex, job: &Job, tasks: u32) -> Self {
        let short = |kind| {
            let (used, capacity) = usage.rigid(node, kind);
            let required = job.rigid_on(tasks, kind);
            match required.is_zero() {
                true => Amount::ZERO,
                false => (used + required).minus(capacity),
            }
        };
        Self((0..job.rigid_kinds()).map(short).collect())
    }

    fn is_none(&self) -> bool {
        self.0.iter().all(|short| short.is_zero())
    }

    /// Whether the node is short of less when these tasks of another job leave it.
    fn shrinks_by(&self, job: &Job, run: Run) -> bool {
        let mut kinds = self.0.iter().enumerate();
        kinds.any(|(kind, short)| !short.is_zero() && !job.rigid_of(run, kind).is_zero())
    }

    /// These tasks of another job leave the node.
    fn take_off(&mut self, job: &Job, run: Run) {
        for (kind, short) in self.0.iter_mut().enumerate() {
            *short = short.minus(job.rigid_of(run, kind));
        }
    }
}

/// Whether the running job has tasks on one of these nodes.
fn shares_a_node(own: &Mapping, job: &Job) -> bool {
    let mut nodes = job.running_on().into_iter().flat_map(Mapping::nodes);
    nodes.any(|node| own.tasks_on(node) > 0)
}
