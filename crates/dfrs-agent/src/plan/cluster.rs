//! From what Slurm shows and the ledger remembers to the core's view of the cluster.

use std::collections::BTreeSet;

use dfrs_core::{
    Bytes, Cores, Job, JobId, JobState, Mapping, Mobility, Node, NodeIndex, NodeSet, NodeState,
    Span, Time,
};

use crate::daemons::{EIGHTHS, SwapEighths};
use crate::job::ledger::{Ledger, LedgerRecord};
use crate::job::life::{JobContext, Life};
use crate::job::mobility::{
    carried_or_parked, is_settling, mobility, mobility_now, settled_at, settles_from,
};
use crate::job::placement::NamedPlacement;
use crate::job::reservations::{is_reserved, reserved_at};
use crate::plan::excluded::Excluded;
use crate::plan::kept_memory::KeptMemory;
use crate::plan::needs::{need_of, request_of};
use crate::plan::refusals::Refusals;
use crate::plan::weights::{Weights, deadline_boosted};
use crate::slurm::observation::Observation;
use crate::slurm::records::{ObservedJob, ObservedNode, ObservedState};
use crate::slurm::request::layout::layout_of;
use crate::slurm::request::memory::{MIB, memory_on_node, memory_request};
use crate::slurm::request::together::{few_of, switch_rule_ends, together_of};
use crate::slurm::request::whole_nodes::whole_node;
use dfrs_proto::conf::Config;

const MICROCORES: u64 = 1_000_000;

/// All that the views of the cluster are made of.
pub struct PassFacts<'a> {
    /// What Slurm shows.
    pub seen: &'a Observation,
    /// What DFRS remembers of its jobs.
    pub ledger: &'a Ledger,
    /// The site's settings.
    pub config: &'a Config,
    /// The nodes on which jobs may be parked, and how much of their counted swap parked jobs can
    /// have.
    pub swap: &'a SwapEighths,
    /// Waiting jobs that may start as far as everything but resources is concerned.
    pub ready: &'a BTreeSet<u32>,
    /// Where Slurm refused to start jobs.
    pub refusals: &'a Refusals,
    /// Jobs that decisions leave out.
    pub excluded: &'a Excluded,
    /// What is kept for jobs of other partitions.
    pub kept_memory: &'a KeptMemory,
    /// What jobs weigh beside each other.
    pub weights: Weights,
    /// Now.
    pub now: Time,
}

impl<'a> PassFacts<'a> {
    pub(crate) fn job_context(&self, job: &'a ObservedJob) -> JobContext<'a> {
        JobContext::new(job, self.seen, self.config, self.now)
    }
}

/// The job as it will be when everything under way with it has finished; `None` if the core has
/// nothing to decide about it now.
pub fn planned_job(job: &ObservedJob, record: &LedgerRecord, facts: &PassFacts) -> Option<Job> {
    let partition = facts.config.partition(&job.partition)?;
    if !partition.shares_nodes() {
        return None;
    }
    let look = facts.job_context(job);
    let is_ready = facts.ready.contains(&job.id);
    let state = record.life.planned(&look, is_ready)?;
    Some(core_job(job, record, state, facts))
}

/// When the passing of time alone next changes what the core shall see of this job.
pub fn view_changes_at(
    job: &ObservedJob,
    record: &LedgerRecord,
    facts: &PassFacts,
) -> Option<Time> {
    let launched = (job.state == ObservedState::Running).then_some(job);
    let times = [
        launched.map(|job| settles_from(job, facts.config)),
        launched.map(|job| settled_at(job, &record.launches, facts.config)),
        Some(record.life.not_before()),
        Some(record.life.left_alone_until()),
        record.life.next_move_forgotten(facts.now),
        record
            .life
            .starved_changes_at(facts.config.longest_pause, facts.now),
        heir_starved_at(job, record, facts.config),
        facts.refusals.next_of(job.id, facts.now),
        facts.excluded.until(job.id, facts.now),
        reserved_at(job, facts.config),
        switch_rule_ends(job),
    ];
    times
        .into_iter()
        .flatten()
        .filter(|at| *at > facts.now)
        .min()
}

/// The job as it is, if it can use CPU at this moment.
pub fn actual_job(job: &ObservedJob, record: &LedgerRecord, facts: &PassFacts) -> Option<Job> {
    facts.config.partition(&job.partition)?;
    if !record.life.uses_cpu(&facts.job_context(job)) {
        return None;
    }
    let mapping = NamedPlacement::of_job(job, facts.seen).to_mapping(facts.seen)?;
    let state = JobState::Running(mapping);
    Some(Job {
        // What it is worth does not change while it is left alone.
        mobility: carried_or_parked(mobility(job, facts.config), record.is_carriable),
        ..core_job(job, record, state, facts)
    })
}

/// The core's job.
fn core_job(job: &ObservedJob, record: &LedgerRecord, state: JobState, facts: &PassFacts) -> Job {
    let is_left_alone = record.life.left_alone_until() > facts.now;
    let stays = is_left_alone
        || record.life.is_stuck()
        || is_settling(job, &record.launches, facts.config, facts.now);
    let (memory, memory_per_node) = memory_request(job, facts.seen);
    let eligible = eligible(job, &state, record.life.unconfirmed_nodes(), facts);
    let weight = facts.weights.of(job);
    let mut layout = layout_of(job, eligible, facts.seen);
    layout.together = together_of(job, &layout, facts.seen, facts.now);
    layout.few_of = few_of(job, &layout, facts.seen);
    Job {
        id: JobId(u64::from(job.id)),
        submit: submitted(job, record),
        tasks: job.request.tasks.max(1),
        cpu: need_of(job, record, facts.config).of(request_of(job)),
        memory,
        memory_per_node,
        layout,
        mobility: if stays {
            Mobility::Never
        } else {
            // One that was carried goes on anywhere from its image.
            let is_carriable = record.is_carriable || record.life.is_paused();
            mobility_now(job, facts.config, is_carriable)
        },
        virtual_time: record.virtual_time_for_decisions(),
        delay: record.delay(),
        limit: record.limit,
        state,
        locked: record.life.is_under_way()
            || job.configuring
            || record.life.is_held_off(facts.now)
            || facts.excluded.until(job.id, facts.now).is_some()
            || (record.life.is_parked() && is_reserved(job, facts.config, facts.now)),
        weight: if record.deadline_boost {
            deadline_boosted(weight)
        } else {
            weight
        },
        starved: record
            .life
            .is_starved(facts.config.longest_pause, facts.now)
            || heir_starved_at(job, record, facts.config).is_some_and(|at| at <= facts.now),
        recent_moves: record.life.recent_moves(facts.now),
        rigid: Vec::new(),
        rigid_per_node: facts.seen.devices_on_each_node(job),
    }
}

/// When a job that waits for its first start counts as starved although it is not new, for what it
/// has inherited: a waiting job is kept waiting no longer than a paused one.
fn heir_starved_at(job: &ObservedJob, record: &LedgerRecord, config: &Config) -> Option<Time> {
    let longest = config.longest_pause?;
    let waits = job.places.is_empty() && record.inherited > Span::ZERO && record.has_done_nothing();
    waits.then(|| submitted(job, record) + longest)
}

/// When the job was submitted for the core, which counts no wait for other jobs, a time or a
/// release: the tasks of an array one after another, in the order in which Slurm starts them.
fn submitted(job: &ObservedJob, record: &LedgerRecord) -> Time {
    let after = Span(i64::from(job.array_task).min(Span::SECOND.0 - 1));
    Time::from_seconds(record.waits_since()) + after
}

/// The nodes that the job may use; `None`: all. Where it is, or shall be, it may stay, whatever has
/// changed since. Jobs from which nothing of their own is kept share their set.
pub(crate) fn eligible(
    job: &ObservedJob,
    state: &JobState,
    unheard: &BTreeSet<String>,
    facts: &PassFacts,
) -> Option<NodeSet> {
    let stated = job
        .request
        .eligible
        .as_ref()
        .map(|nodes| facts.seen.node_set(nodes));
    let waits = job.places.is_empty();
    let refused = facts.refusals.left_out(job.id, facts.now);
    let mut refused: BTreeSet<&str> = refused.filter(|_| waits).collect();
    refused.extend(unheard.iter().map(String::as_str));
    let whole = (waits && job.wants_whole_nodes() && !facts.seen.has_equal_memory())
        .then(|| whole_node(job, facts.seen));
    let open = facts.seen.open_nodes(job, stated.clone(), whole);
    if refused.is_empty() && open.is_none() {
        return stated.map(|nodes| nodes.with(here(job, facts.seen)));
    }
    let may = without(&refused, open.or(stated), facts.seen);
    let shall_be = state.running_on().into_iter().flat_map(Mapping::nodes);
    Some(may.with(here(job, facts.seen)).with(shall_be))
}

/// These nodes (`None`: all) without those of these names: the same set, if there are none to leave
/// out.
fn without(names: &BTreeSet<&str>, nodes: Option<NodeSet>, observation: &Observation) -> NodeSet {
    let is_other = |node: &(&ObservedNode, NodeIndex)| !names.contains(node.0.name.as_str());
    let all = observation.nodes().iter().zip((0..).map(NodeIndex));
    match nodes {
        Some(nodes) if names.is_empty() => nodes,
        Some(nodes) => {
            let may = all.filter(|(_, at)| nodes.contains(*at)).filter(is_other);
            may.map(|(_, at)| at).collect()
        }
        None => all.filter(is_other).map(|(_, at)| at).collect(),
    }
}

/// The nodes where a job is.
fn here(job: &ObservedJob, observation: &Observation) -> impl Iterator<Item = NodeIndex> {
    let places = job.places.iter();
    places.filter_map(|place| observation.core_index(place.node))
}

/// The nodes, and what is held there by what DFRS does not decide about. O(nodes + places).
pub fn core_nodes(facts: &PassFacts) -> Vec<Node> {
    let positions = 0..facts.seen.nodes().len();
    positions
        .map(|position| core_node(position, facts))
        .collect()
}

/// One of them. O(jobs there, and their places).
pub fn core_node(position: usize, facts: &PassFacts) -> Node {
    let node = &facts.seen.nodes()[position];
    let others = facts.seen.memory_of_others(position);
    let is_there = |id| {
        let record = facts.ledger.get(id);
        let mut here = facts.seen.jobs_on(position);
        record.is_some_and(|record| record.life.is_running()) && here.any(|job| job.id == id)
    };
    let kept = facts.kept_memory.on_node(node.index, others, is_there);
    let held = others + undecided_memory(position, facts) + kept;
    Node {
        name: node.name.clone(),
        cpu: Cores(u64::from(node.cpus_left()) * MICROCORES),
        memory: Bytes(node.memory * MIB),
        swap: swap_for_plans(position, facts),
        held_memory: Bytes(held * MIB),
        ending_memory: Bytes(ending_memory(position, facts.seen) * MIB),
        state: match (node.down, node.up) {
            (true, _) => NodeState::Down,
            (false, true) => NodeState::Up,
            (false, false) => NodeState::Draining,
        },
        weight: node.weight,
        rigid: facts
            .seen
            .devices_but_of(position, |job| is_decided(job, facts)),
    }
}

/// MiB on a node that jobs have there, or shall have first of all, and the core does not decide
/// about: jobs of which an operator says when they run, jobs whose processes are still ending,
/// those of partitions of moldable jobs, and of partitions that are given back.
fn undecided_memory(position: usize, facts: &PassFacts) -> u64 {
    let held = facts.seen.places_on(position);
    let undecided = held.filter(|(job, ..)| !is_decided(job, facts));
    let memory = undecided.map(|(job, number, place)| {
        let record = facts.ledger.get(job.id);
        let wanted = record.map_or(0, |record| record.life.undecided_memory(number, place));
        place.memory_mib.max(wanted)
    });
    memory.sum()
}

/// Swap of a node that plans may use: what it has for parked jobs, without that of jobs which the
/// core does not see as parked there. These are jobs of which an operator says when they run, jobs
/// of partitions that are given back, and those that come back, until they run.
fn swap_for_plans(position: usize, facts: &PassFacts) -> Bytes {
    let node = &facts.seen.nodes()[position];
    let swap = swap_of(&node.name, facts.swap, facts.config);
    if swap == Bytes(0) {
        return swap;
    }
    let is_unseen = |job: &ObservedJob, life: &Life| life.is_unparking() || !is_decided(job, facts);
    swap.minus(swap_in_use(position, facts.seen, facts.ledger, is_unseen))
}

/// Swap of a node that jobs can have which are parked there.
pub(crate) fn swap_of(node: &str, swap: &SwapEighths, config: &Config) -> Bytes {
    let eighths = u64::from(swap.get(node).copied().unwrap_or(0).min(EIGHTHS));
    let (all, counted) = (u64::from(EIGHTHS), config.swap_per_node.0);
    Bytes(counted / all * eighths + counted % all * eighths / all)
}

/// Swap of a node that is counted for those jobs there that are parked, or on their way to that or
/// from it, and are `counted`. O(jobs there, and their places).
pub(crate) fn swap_in_use(
    position: usize,
    observation: &Observation,
    ledger: &Ledger,
    counted: impl Fn(&ObservedJob, &Life) -> bool,
) -> Bytes {
    let has_swap = |job: &ObservedJob| {
        let life = ledger.get(job.id).map(|record| &record.life);
        life.is_some_and(|life| life.depends_on_dfrs() && counted(job, life))
    };
    let held = observation.places_on(position);
    let in_swap = held.filter(|(job, ..)| has_swap(job));
    let memory = in_swap.map(|(job, _, place)| memory_on_node(job, place.tasks, observation));
    Bytes(memory.sum::<u64>().saturating_mul(MIB))
}

/// MiB on a node that jobs have there whose processes are still ending.
fn ending_memory(position: usize, observation: &Observation) -> u64 {
    let held = observation.places_on(position);
    let ending = held.filter(|(job, ..)| job.state == ObservedState::Ended);
    ending.map(|(.., place)| place.memory_mib).sum()
}

/// Whether the core sees this job with a place of its own (now or planned): not one that has whole
/// nodes.
fn is_decided(job: &ObservedJob, facts: &PassFacts) -> bool {
    let record = facts.ledger.get(job.id);
    let is_ours = record.is_some_and(|record| !record.life.is_undecided(job));
    is_ours && facts.config.shares_nodes(&job.partition) && job.state != ObservedState::Ended
}

#[cfg(test)]
mod tests {
    use dfrs_core::Layout;

    use super::*;
    use crate::fixtures::{job, nodes};

    fn layout_of(job: &ObservedJob) -> Layout {
        layout_in(job, &Observation::new([], nodes(4)))
    }

    fn layout_in(job: &ObservedJob, observation: &Observation) -> Layout {
        let facts = PassFacts {
            seen: observation,
            ledger: &Ledger::default(),
            config: &crate::fixtures::config(),
            swap: &SwapEighths::new(),
            ready: &BTreeSet::new(),
            refusals: &Refusals::default(),
            excluded: &Excluded::default(),
            kept_memory: &KeptMemory::default(),
            weights: Weights::default(),
            now: Time(0),
        };
        let eligible = eligible(job, &JobState::Pending, &BTreeSet::new(), &facts);
        super::layout_of(job, eligible, observation)
    }

    #[test]
    fn jobs_with_the_same_node_list_share_one_node_set() {
        let nodes_of = |observation: &Observation, id| -> NodeSet {
            let job = observation.job(id).expect("it is there");
            layout_in(job, observation).eligible.expect("it has a list")
        };
        let listed: std::sync::Arc<[u32]> = [0, 2].into();
        let jobs = [1, 2, 3]
            .map(|id| job(id, 1).requesting(|request| request.eligible = Some(listed.clone())));
        let mut observation = Observation::new(jobs, nodes(4));
        let first = nodes_of(&observation, 1);
        assert!(first.is_shared_with(&nodes_of(&observation, 2)));
        // Other nodes are there: the same indexes stand for others.
        observation.set_nodes(nodes(4).split_off(1));
        assert_eq!(*nodes_of(&observation, 3), [NodeIndex(1)]);
    }

    #[test]
    fn job_may_stay_on_nodes_that_are_no_longer_eligible() {
        let mut moved_on = job(1, 1).requesting(|request| request.eligible = Some([0].into()));
        moved_on.places.push(crate::slurm::records::ObservedPlace {
            node: 2,
            tasks: 1,
            memory_mib: 100,
        });
        assert_eq!(
            layout_of(&moved_on).eligible,
            Some([0, 2].map(NodeIndex).into_iter().collect())
        );
    }
}
