//! What is known of slurmctld: its [records](crate::slurm::records), indexed by what is asked about them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dfrs_core::{Amount, NodeGroups, NodeIndex, NodeSet};

use crate::clock::Ahead;
use crate::ignored_in_eq::IgnoredInEq;
use crate::slurm::devices::{DeviceKinds, RequestedDevices};
use crate::slurm::exclusivity::{AffectedJobs, Exclusivity};
use crate::slurm::node_changes::NodeChanges;
use crate::slurm::node_groups::ObservedGroups;
use crate::slurm::node_sets::NodeSets;
use crate::slurm::open_nodes::{OpenNodes, OpenNodesKey};
use crate::slurm::records::{ObservedJob, ObservedNode, ObservedPlace, ObservedState};
use crate::slurm::request::Request;

/// What is known of slurmctld: brought up to date by each look at it. What is to come, or has
/// begun, is in DFRS's time ([`crate::clock`]), which Slurm does not know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// Jobs of the DFRS partitions: not ended, or ended and still completing.
    jobs: BTreeMap<u32, ObservedJob>,
    /// Jobs that have places.
    placed: BTreeSet<u32>,
    /// Nodes of the DFRS partitions, and those that their jobs hold besides, ascending by index.
    nodes: Vec<ObservedNode>,
    by_name: BTreeMap<String, usize>,
    sets: IgnoredInEq<NodeSets>,
    groups: IgnoredInEq<ObservedGroups>,
    /// Whether nodes are at other switches since the last call.
    regrouped: IgnoredInEq<bool>,
    exclusivity: Exclusivity,
    kinds: IgnoredInEq<DeviceKinds>,
    open: IgnoredInEq<OpenNodes>,
    /// Of each node.
    tallies: Vec<Tally>,
    largest: Largest,
    /// Nodes that are different since the last call.
    changed_nodes: IgnoredInEq<NodeChanges>,
    /// Whether some node takes new work, or no longer does, or is of another size, since the last
    /// call.
    availability_changed: IgnoredInEq<bool>,
    /// Jobs whose request changed since the last call.
    changed_requests: IgnoredInEq<BTreeSet<u32>>,
    /// Positions of nodes where memory was taken since the last look.
    taken_positions: Vec<usize>,
    ahead: Ahead,
    /// Partitions whose jobs start on whole nodes, whatever they request.
    whole_node_partitions: BTreeSet<String>,
}

/// The most that one node has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Largest {
    memory_mib: u64,
    cpus: u32,
    /// Of the node that has least.
    min_memory_mib: u64,
}

impl Largest {
    fn of(nodes: &[ObservedNode]) -> Self {
        Self {
            memory_mib: nodes.iter().map(|node| node.memory).max().unwrap_or(0),
            cpus: nodes.iter().map(|node| node.cpus).max().unwrap_or(0),
            min_memory_mib: nodes.iter().map(|node| node.memory).min().unwrap_or(0),
        }
    }
}

/// Memory on one node, in MiB, by what it is for, and the jobs that are there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Tally {
    jobs: BTreeSet<u32>,
    /// Of jobs that Slurm counts.
    listed_mib: u64,
    /// Of jobs that are ending: Slurm no longer counts it, their processes may still use it.
    ending_mib: u64,
    /// Taken since the last look.
    taken_mib: u64,
    /// Devices taken since the last look, by position of their kind.
    taken_devices: Vec<Amount>,
    /// What jobs had here that were ended since the last look: on each of their nodes.
    ending_devices: Vec<RequestedDevices>,
    /// How many jobs have memory here, by Slurm's count, and the node for themselves.
    exclusive_jobs: u64,
}

/// What a look found to be different from what was known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnapshotDelta {
    /// Jobs that are new, changed or gone.
    pub jobs: BTreeSet<u32>,
    /// Some node is new, changed or gone.
    pub nodes: bool,
}

impl Observation {
    /// These jobs and nodes; the nodes are ascending by index. O(n log n).
    pub fn new(jobs: impl IntoIterator<Item = ObservedJob>, nodes: Vec<ObservedNode>) -> Self {
        let mut observation = Self::default();
        observation.set_nodes(nodes);
        for job in jobs {
            observation.insert(job);
        }
        observation
    }

    /// This observation, where jobs of these partitions start on whole nodes, whatever they
    /// request.
    #[must_use]
    pub fn with_whole_nodes(self, partitions: impl IntoIterator<Item = String>) -> Self {
        let whole = partitions.into_iter().collect();
        Self {
            whole_node_partitions: whole,
            ..self
        }
    }

    /// Becomes what these jobs and nodes show, all of them, and says what is different. O(n log n).
    pub fn replace_all(
        &mut self,
        jobs: impl IntoIterator<Item = ObservedJob>,
        nodes: Vec<ObservedNode>,
    ) -> SnapshotDelta {
        let mut gone: BTreeSet<u32> = self.jobs.keys().copied().collect();
        let mut seen = SnapshotDelta {
            nodes: self.nodes != nodes,
            ..SnapshotDelta::default()
        };
        self.set_nodes(nodes);
        for job in jobs {
            let job = self.as_known(job);
            gone.remove(&job.id);
            if self.jobs.get(&job.id) != Some(&job) {
                seen.jobs.insert(job.id);
                self.take_in(job);
            }
        }
        for id in &gone {
            self.remove(*id);
        }
        seen.jobs.extend(gone);
        seen
    }

    /// DFRS's time is so far ahead of Slurm's clock now. Returns whether it was not before. O(jobs)
    /// then.
    pub fn set_ahead(&mut self, ahead: Ahead) -> bool {
        let by = ahead.seconds() - self.ahead.seconds();
        self.ahead = ahead;
        if by != 0 {
            let jobs: Vec<ObservedJob> = self.jobs.values().cloned().collect();
            jobs.into_iter()
                .for_each(|job| self.take_in(job.shifted_by(by)));
        }
        by != 0
    }

    /// When a job was submitted of which Slurm says this, in UNIX seconds of DFRS's time.
    pub const fn submitted(&self, submit_time: i64) -> i64 {
        submit_time.saturating_add(self.ahead.seconds())
    }

    /// Whether there are neither jobs nor nodes.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.nodes.is_empty()
    }

    /// All jobs, ascending by id.
    pub fn jobs(&self) -> impl Iterator<Item = &ObservedJob> {
        self.jobs.values()
    }

    /// The jobs that have places, ascending by id.
    pub fn placed(&self) -> impl Iterator<Item = &ObservedJob> {
        self.placed.iter().filter_map(|id| self.jobs.get(id))
    }

    /// The job with this id. O(log jobs).
    pub fn job(&self, id: u32) -> Option<&ObservedJob> {
        self.jobs.get(&id)
    }

    /// Whether this job is in Slurm's queue. O(log jobs).
    pub fn is_pending(&self, id: u32) -> bool {
        let job = self.job(id);
        job.is_some_and(|job| job.state == ObservedState::Pending)
    }

    /// The nodes, ascending by index.
    pub fn nodes(&self) -> &[ObservedNode] {
        &self.nodes
    }

    /// Takes a job in, in place of what was known of it. O(log jobs + its places).
    pub fn insert(&mut self, job: ObservedJob) {
        let job = self.as_known(job);
        self.take_in(job);
    }

    /// What Slurm shows, as it is kept here.
    fn as_known(&self, job: ObservedJob) -> ObservedJob {
        let job = self.with_first_comment(self.as_starting(job));
        job.shifted_by(self.ahead.seconds())
    }

    /// What Slurm shows, with what is true of the next start of one that waits.
    #[must_use]
    pub fn as_starting(&self, mut job: ObservedJob) -> ObservedJob {
        let waits = job.state == ObservedState::Pending;
        job.starts_whole = waits && self.whole_node_partitions.contains(&job.partition);
        job
    }

    fn take_in(&mut self, job: ObservedJob) {
        let before = self.take(job.id);
        self.exclusivity.follow(before.as_ref(), Some(&job));
        if before.is_some_and(|before| !before.same_request(&job)) {
            self.changed_requests.0.insert(job.id);
        }
        self.count(&job, u64::saturating_add);
        self.list(&job);
        self.cache_sets(&job);
        for devices in &job.request.devices {
            self.kinds.0.add(&devices.kind);
        }
        if !job.places.is_empty() {
            self.placed.insert(job.id);
        }
        self.jobs.insert(job.id, job);
    }

    /// A job's comment counts as it was when the job was first seen to have a place in this run: a
    /// user shall not take back, when others wait, what the job came in by.
    fn with_first_comment(&self, mut job: ObservedJob) -> ObservedJob {
        let known = self.jobs.get(&job.id).filter(|known| {
            known.has_place()
                && job.has_place()
                && (known.submit_seconds, known.restarts) == (job.submit_seconds, job.restarts)
        });
        if let Some(known) = known {
            job.comment.clone_from(&known.comment);
        }
        job
    }

    /// Takes a job out. O(log jobs + its places).
    pub fn remove(&mut self, id: u32) -> Option<ObservedJob> {
        let job = self.take(id);
        self.exclusivity.follow(job.as_ref(), None);
        job
    }

    /// Removes the job, except from the exclusivity of nodes.
    fn take(&mut self, id: u32) -> Option<ObservedJob> {
        let job = self.jobs.remove(&id)?;
        self.count(&job, u64::saturating_sub);
        for place in &job.places {
            if let Some(position) = self.node_position(place.node) {
                self.tallies[position].jobs.remove(&id);
            }
        }
        self.placed.remove(&id);
        Some(job)
    }

    /// Replaces the nodes, which are ascending by index. O(nodes), and O(placed jobs) where other
    /// nodes are there than before.
    pub fn set_nodes(&mut self, nodes: Vec<ObservedNode>) {
        let same = |(old, new): (&ObservedNode, &ObservedNode)| {
            old.index == new.index && old.name == new.name
        };
        let others = nodes.len() != self.nodes.len() || !self.nodes.iter().zip(&nodes).all(same);
        self.largest = Largest::of(&nodes);
        nodes
            .iter()
            .for_each(|node| self.kinds.0.add_all(&node.devices));
        let before = std::mem::replace(&mut self.nodes, nodes);
        if !others {
            let pairs = before.iter().zip(&self.nodes);
            if pairs.clone().any(|(old, new)| old.memory != new.memory) {
                self.open.0.clear();
            }
            self.availability_changed.0 |= pairs.clone().any(|(old, new)| old.up != new.up);
            let regrouped = pairs
                .clone()
                .any(|(old, new)| old.leaf_switch != new.leaf_switch);
            let different = pairs.filter(|(old, new)| old != new);
            let some = &mut self.changed_nodes.0.some;
            some.extend(different.map(|(node, _)| node.index));
            if regrouped {
                self.regroup();
            }
            return;
        }
        self.groups.0 = ObservedGroups::of(&self.nodes);
        self.changed_nodes.0.all = true;
        self.availability_changed.0 = true;
        let names = self.nodes.iter().map(|node| node.name.clone());
        self.by_name = names.zip(0..).collect();
        self.tallies = vec![Tally::default(); self.nodes.len()];
        self.sets.0.clear();
        self.open.0.clear();
        let all = std::mem::take(&mut self.jobs);
        for job in all.values() {
            self.cache_sets(job);
        }
        self.jobs = all;
        self.taken_positions.clear();
        let placed: Vec<ObservedJob> = self.placed().cloned().collect();
        for job in placed {
            self.count(&job, u64::saturating_add);
            self.list(&job);
        }
    }

    /// Takes in what has changed of nodes that are there; others are passed over. O(log nodes)
    /// each, and O(nodes) once if one has another size.
    pub fn update_nodes(&mut self, nodes: impl IntoIterator<Item = ObservedNode>) {
        let (mut resized, mut regrouped) = (false, false);
        for node in nodes {
            if let Some(position) = self.node_position(node.index) {
                let known = &mut self.nodes[position];
                resized |= (known.memory, known.cpus) != (node.memory, node.cpus);
                regrouped |= known.leaf_switch != node.leaf_switch;
                self.availability_changed.0 |= known.up != node.up;
                self.changed_nodes.0.some.insert(node.index);
                self.kinds.0.add_all(&node.devices);
                *known = node;
            }
        }
        if resized {
            self.largest = Largest::of(&self.nodes);
            self.open.0.clear();
            self.availability_changed.0 = true;
        }
        if regrouped {
            self.regroup();
        }
    }

    /// Nodes are at other switches: jobs may have others together.
    fn regroup(&mut self) {
        self.groups.0 = ObservedGroups::of(&self.nodes);
        self.changed_nodes.0.all = true;
        self.regrouped.0 = true;
    }

    /// Whether nodes are at other switches since the last call, so that waiting jobs may have others
    /// together.
    pub fn take_regrouped(&mut self) -> bool {
        self.regrouped.take()
    }

    /// Counts so many MiB more as used on the node with this Slurm index, until the next look.
    /// O(log nodes).
    pub fn take_memory(&mut self, index: u32, memory: u64) {
        if let Some(position) = self.node_position(index) {
            self.tallies[position].taken_mib += memory;
            self.taken_positions.push(position);
        }
    }

    /// Counts so many devices more as allocated on the node with this Slurm index, until the next
    /// look. O(log nodes).
    pub fn take_devices(&mut self, index: u32, devices: &[Amount]) {
        if let Some(position) = self.node_position(index).filter(|_| !devices.is_empty()) {
            add(&mut self.tallies[position].taken_devices, devices);
            self.taken_positions.push(position);
        }
    }

    /// Forgets what was taken: a look shows it. O(nodes where something was).
    pub fn forget_taken(&mut self) {
        for position in std::mem::take(&mut self.taken_positions) {
            self.tallies[position].taken_mib = 0;
            self.tallies[position].taken_devices.clear();
            self.tallies[position].ending_devices.clear();
        }
    }

    /// The job is ending since the look: its devices are in use, until the next look shows that.
    /// O(its places × log nodes).
    pub fn note_ending(&mut self, id: u32) {
        let Some(job) = self.jobs.get(&id) else {
            return;
        };
        let devices = &job.request.devices;
        let places = job.places.iter().filter(|_| !devices.is_empty());
        let positions = places.filter_map(|place| self.node_position(place.node));
        for position in positions.collect::<Vec<_>>() {
            let ending = &mut self.tallies[position].ending_devices;
            ending.extend(devices.iter().cloned());
            self.taken_positions.push(position);
        }
    }

    /// The nodes that are different, or where jobs came, changed or went, since the last call.
    pub fn take_changed_nodes(&mut self) -> NodeChanges {
        self.changed_nodes.take()
    }

    /// The jobs whose request changed, or that may use other nodes, since the last call.
    pub fn take_changed_requests(&mut self) -> BTreeSet<u32> {
        self.changed_requests.take()
    }

    /// The jobs that may start on other nodes than at the last call, because of the jobs there: at
    /// most these.
    pub fn take_jobs_with_changed_exclusivity(&mut self) -> BTreeSet<u32> {
        match self.exclusivity.take_changed() {
            AffectedJobs::All => self.jobs.keys().copied().collect(),
            AffectedJobs::These(jobs) => jobs,
        }
    }

    /// The pending jobs that may be for nodes of another size than at the last call: those that get
    /// whole nodes, where nodes differ and others take work. O(1), O(jobs) then.
    pub fn take_whole_node_jobs_to_replan(&mut self) -> BTreeSet<u32> {
        if !self.availability_changed.take() || self.has_equal_memory() {
            return BTreeSet::new();
        }
        let waiting = self.jobs.values().filter(|job| job.places.is_empty());
        let whole = waiting.filter(|job| job.wants_whole_nodes());
        whole.map(|job| job.id).collect()
    }

    /// Whether Slurm may refuse to start this job on some node because of whose jobs are there.
    /// O(1).
    pub fn has_exclusivity_limits(&self, job: &ObservedJob) -> bool {
        self.exclusivity.may_concern(job)
    }

    /// Of the nodes that this job may use as far as they are stated (`None`: all), those that are
    /// left to it by whose jobs are there, and by their size if it gets them whole; `None`: neither
    /// matters. One set for all jobs for which that is the same. O(log sets), and O(nodes × log)
    /// for the first of them.
    pub fn open_nodes(
        &self,
        job: &ObservedJob,
        stated: Option<NodeSet>,
        whole: Option<u64>,
    ) -> Option<NodeSet> {
        let standing = self.exclusivity.exclusivity_key(job);
        if standing.is_none() && whole.is_none() {
            return None;
        }
        let terms = OpenNodesKey {
            exclusivity: standing,
            whole_node_mib: whole,
            stated,
        };
        let is_current = |standing| self.exclusivity.is_current(standing);
        let find = |terms: &OpenNodesKey| self.find_open_nodes(job, terms);
        let nodes = self.open.0.get(terms.clone(), is_current, find);
        debug_assert_eq!(
            nodes,
            find(&terms),
            "the nodes of others have missed a change"
        );
        Some(nodes)
    }

    fn find_open_nodes(&self, job: &ObservedJob, terms: &OpenNodesKey) -> NodeSet {
        let is_limited = terms.exclusivity.is_some();
        let takes = |node: &ObservedNode| {
            let is_kept_off = is_limited && self.exclusivity.excludes(job, node.index);
            !is_kept_off && !node.has_other_size(terms.whole_node_mib)
        };
        let may = |at: &NodeIndex| terms.stated.as_ref().is_none_or(|set| set.contains(*at));
        let nodes = self.nodes.iter().zip((0..).map(NodeIndex));
        let open = nodes.filter(|(node, at)| may(at) && takes(node));
        open.map(|(_, at)| at).collect()
    }

    /// The jobs that have places on the node at this position, ascending by id.
    pub fn jobs_on(&self, position: usize) -> impl Iterator<Item = &ObservedJob> {
        let here = self.tallies[position].jobs.iter();
        here.filter_map(|id| self.jobs.get(id))
    }

    /// What jobs hold on the node at this position, each place with its number among those of the
    /// job; ascending by job.
    pub fn places_on(
        &self,
        position: usize,
    ) -> impl Iterator<Item = (&ObservedJob, usize, &ObservedPlace)> {
        let index = self.nodes[position].index;
        let jobs = self.jobs_on(position);
        let all = jobs.flat_map(|job| {
            (0..)
                .zip(&job.places)
                .map(move |(at, place)| (job, at, place))
        });
        all.filter(move |(.., place)| place.node == index)
    }

    /// MiB that are free on the node at this position: what Slurm counts, less what was taken since
    /// and what ending processes still hold. None where a job has the node for itself, however
    /// little Slurm counts.
    pub fn free_memory(&self, position: usize) -> u64 {
        let used = self.held_memory(position) + self.tallies[position].taken_mib;
        self.nodes[position].memory.saturating_sub(used)
    }

    /// MiB of the node at this position that jobs held at the last look.
    fn held_memory(&self, position: usize) -> u64 {
        let (node, tally) = (&self.nodes[position], &self.tallies[position]);
        let counted = node.allocated_memory_mib + tally.ending_mib;
        if tally.exclusive_jobs > 0 {
            counted.max(node.memory)
        } else {
            counted
        }
    }

    /// Whether more than there is on the node with this Slurm index is used, for what was taken
    /// since the look.
    pub fn is_overcommitted(&self, index: u32) -> bool {
        self.node_position(index).is_some_and(|position| {
            let taken = self.tallies[position].taken_mib;
            taken > 0 && self.held_memory(position) + taken > self.nodes[position].memory
        })
    }

    /// The devices that this job holds on each of its nodes, by position of their kind in
    /// [`dfrs_core::Node::rigid`]. O(kinds).
    pub fn devices_on_each_node(&self, job: &ObservedJob) -> Vec<Amount> {
        self.kinds.0.on_each_node(&job.request.devices)
    }

    /// The devices of the node at this position that nothing holds but the jobs for which
    /// `is_discounted` holds, by position of their kind. O(jobs there and their places).
    pub fn devices_but_of(
        &self,
        position: usize,
        is_discounted: impl Fn(&ObservedJob) -> bool,
    ) -> Vec<Amount> {
        let devices = &self.nodes[position].devices;
        if devices.is_empty() {
            return Vec::new();
        }
        let mut discounted = Vec::new();
        for (job, ..) in self.places_on(position) {
            let asks = !job.request.devices.is_empty() && !job.has_released();
            if asks && is_discounted(job) {
                add(&mut discounted, &self.devices_on_each_node(job));
            }
        }
        self.kinds.0.left_on(devices, &discounted)
    }

    /// Whether the node at this position has the devices free that the job is to hold there: what
    /// Slurm counts, less what was taken since; none of a kind of which a job has some that is
    /// ending there. O(kinds, and jobs there) for a job that asks for some.
    pub fn has_free_devices(&self, position: usize, job: &ObservedJob) -> bool {
        if job.request.devices.is_empty() {
            return true;
        }
        if self.may_get_ending_devices(position, job) {
            return false;
        }
        let mut needed = self.devices_on_each_node(job);
        add(&mut needed, &self.tallies[position].taken_devices);
        let free = self.kinds.0.left_on(&self.nodes[position].devices, &[]);
        let free = free.into_iter().chain(std::iter::repeat(Amount(0)));
        needed
            .iter()
            .zip(free)
            .all(|(needed, free)| *needed <= free)
    }

    /// Whether Slurm may give the job devices of the node at this position that processes of
    /// another job, which is ending, may still use: it counts them as free, and chooses which of
    /// those a job gets.
    fn may_get_ending_devices(&self, position: usize, job: &ObservedJob) -> bool {
        let ending = self.jobs_on(position).filter(|job| job.has_released());
        let held = ending.flat_map(|job| &job.request.devices);
        let mut held = held.chain(&self.tallies[position].ending_devices);
        let asked = &job.request.devices;
        held.any(|held| asked.iter().any(|asked| asked.may_be_of(held)))
    }

    /// MiB that Slurm counts on the node at this position for others than the jobs here.
    pub fn memory_of_others(&self, position: usize) -> u64 {
        let (node, tally) = (&self.nodes[position], &self.tallies[position]);
        node.allocated_memory_mib.saturating_sub(tally.listed_mib)
    }

    /// MiB of the node that has most of it; 0 if there is none.
    pub fn largest_memory(&self) -> u64 {
        self.largest.memory_mib
    }

    /// Whether all nodes have as much memory.
    pub fn has_equal_memory(&self) -> bool {
        self.largest.memory_mib == self.largest.min_memory_mib
    }

    /// CPUs of the node that has most of them; 0 if there is none.
    pub fn max_node_cpus(&self) -> u32 {
        self.largest.cpus
    }

    /// The positions of nodes that are different; nodes that are gone have none. O(nodes that are
    /// different).
    pub fn positions(&self, changes: &NodeChanges) -> Vec<usize> {
        if changes.all {
            return (0..self.nodes.len()).collect();
        }
        let some = changes.some.iter();
        some.filter_map(|index| self.node_position(*index))
            .collect()
    }

    /// Position in `nodes` of the node with this Slurm index. O(log nodes).
    pub fn node_position(&self, index: u32) -> Option<usize> {
        self.nodes
            .binary_search_by_key(&index, |node| node.index)
            .ok()
    }

    /// The node with this Slurm index. O(log nodes).
    pub fn node_at(&self, index: u32) -> Option<&ObservedNode> {
        let position = self.node_position(index)?;
        self.nodes.get(position)
    }

    /// The nodes that a job with this request may use. O(log nodes) for each that it lists.
    pub fn nodes_for(&self, request: &Request) -> impl Iterator<Item = &ObservedNode> {
        let listed = request.eligible.iter().flat_map(|listed| listed.iter());
        let listed = listed.filter_map(|index| self.node_at(*index));
        let all = request.eligible.is_none().then_some(&self.nodes);
        listed.chain(all.into_iter().flatten())
    }

    /// The node with this Slurm index as the core names it. O(log nodes).
    pub fn core_index(&self, index: u32) -> Option<NodeIndex> {
        let position = self.node_position(index)?;
        u32::try_from(position).ok().map(NodeIndex)
    }

    /// The nodes with these Slurm indexes as the core names them: one set for all jobs that share
    /// theirs. O(log sets).
    pub fn node_set(&self, nodes: &Arc<[u32]>) -> NodeSet {
        self.sets
            .0
            .get(nodes)
            .unwrap_or_else(|| self.make_set(nodes))
    }

    fn cache_sets(&mut self, job: &ObservedJob) {
        let listed = job.request.eligible.iter().chain(&job.request.preferred);
        for nodes in listed {
            if self.sets.0.get(nodes).is_none() {
                let set = self.make_set(nodes);
                self.sets.0.add(Arc::clone(nodes), set);
            }
        }
    }

    fn make_set(&self, nodes: &[u32]) -> NodeSet {
        let nodes = nodes.iter();
        nodes.filter_map(|node| self.core_index(*node)).collect()
    }

    /// Nodes that follow each other in Slurm's order, with no other node between them.
    pub fn runs(&self) -> &NodeGroups {
        &self.groups.0.runs
    }

    /// The nodes of each leaf switch; none if Slurm knows none.
    pub fn leaves(&self) -> &NodeGroups {
        &self.groups.0.leaves
    }

    /// Position in `nodes` of the node of this name. O(log nodes).
    pub fn position_of(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The node of this name. O(log nodes).
    pub fn node(&self, name: &str) -> Option<&ObservedNode> {
        self.position_of(name).map(|position| &self.nodes[position])
    }

    /// Whether the node of this name is known, and down. O(log nodes).
    pub fn is_down(&self, name: &str) -> bool {
        self.node(name).is_some_and(|node| node.down)
    }

    /// Changes the tallies of a job's nodes.
    fn count(&mut self, job: &ObservedJob, change: impl Fn(u64, u64) -> u64) {
        for place in &job.places {
            let Some(position) = self.node_position(place.node) else {
                continue;
            };
            self.changed_nodes.0.some.insert(place.node);
            let tally = &mut self.tallies[position];
            let sum = if job.has_released() {
                &mut tally.ending_mib
            } else {
                &mut tally.listed_mib
            };
            *sum = change(*sum, place.memory_mib);
            let whole = job.wants_whole_nodes() && place.memory_mib > 0;
            tally.exclusive_jobs = change(tally.exclusive_jobs, u64::from(whole));
        }
    }

    /// Lists a job at its nodes.
    fn list(&mut self, job: &ObservedJob) {
        for place in &job.places {
            if let Some(position) = self.node_position(place.node) {
                self.tallies[position].jobs.insert(job.id);
            }
        }
    }
}

/// Adds amounts by position.
fn add(sums: &mut Vec<Amount>, amounts: &[Amount]) {
    sums.resize(sums.len().max(amounts.len()), Amount(0));
    for (sum, amount) in sums.iter_mut().zip(amounts) {
        *sum += *amount;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{job, nodes};
    use crate::slurm::devices::ObservedDevices;
    use crate::slurm::records::ObservedPlace;

    fn placed(id: u32, node: u32, completing: bool) -> ObservedJob {
        let place = ObservedPlace {
            node,
            tasks: 1,
            memory_mib: 100,
        };
        ObservedJob {
            state: ObservedState::Running,
            completing,
            places: vec![place],
            ..job(id, 1)
        }
    }

    #[test]
    fn free_memory_is_updated_when_jobs_change() {
        let mut nodes = nodes(2);
        nodes[1].allocated_memory_mib = 300;
        let mut observation = Observation::new([placed(1, 1, false), placed(2, 1, true)], nodes);
        assert_eq!(observation.free_memory(1), 600);
        assert_eq!(observation.memory_of_others(1), 200);
        observation.take_memory(1, 50);
        assert_eq!(observation.free_memory(1), 550);
        observation.forget_taken();
        observation.insert(placed(2, 0, true));
        assert_eq!(observation.free_memory(1), 700);
        assert_eq!(observation.free_memory(0), 900);
        observation.remove(2);
        observation.remove(1);
        assert_eq!(observation.free_memory(0), 1000);
        assert_eq!(observation.memory_of_others(1), 300);
        assert_eq!(observation.placed().count(), 0);
    }

    #[test]
    fn whole_node_job_is_replanned_when_nodes_of_a_size_come_or_go() {
        let whole = job(1, 1).requesting(|request| request.exclusive = true);
        let mut differing = nodes(2);
        differing[1].memory = 2000;
        let mut observation = Observation::new([whole, job(2, 1)], differing.clone());
        observation.take_whole_node_jobs_to_replan();
        let mut changed = |node: ObservedNode| {
            observation.update_nodes([node]);
            observation.take_whole_node_jobs_to_replan()
        };
        differing[1].allocated_memory_mib = 100;
        assert!(changed(differing[1].clone()).is_empty());
        differing[1].up = false;
        assert_eq!(changed(differing[1].clone()), [1].into());
        differing[1].memory = 1000;
        assert!(changed(differing[1].clone()).is_empty(), "all are alike");
    }

    #[test]
    fn node_of_exclusive_job_has_no_free_memory_for_others() {
        let mut nodes = nodes(1);
        nodes[0].allocated_memory_mib = 100;
        let alone = placed(1, 0, false).requesting(|request| request.exclusive = true);
        let mut observation = Observation::new([alone.clone()], nodes);
        assert_eq!(observation.free_memory(0), 0);
        let mut parked = alone;
        parked.places[0].memory_mib = 0;
        observation.insert(parked);
        assert_eq!(
            observation.free_memory(0),
            900,
            "parked, it has nothing there"
        );
    }

    #[test]
    fn devices_of_a_kind_are_not_free_while_a_job_that_had_some_is_ending() {
        let asking = |job: ObservedJob, kind: &str| {
            let (kind, count) = (kind.into(), 1);
            job.requesting(|request| request.devices = vec![RequestedDevices { kind, count }])
        };
        let mut nodes = nodes(1);
        let had = |(kind, count): (&str, u64)| ObservedDevices {
            kind: kind.into(),
            count,
            allocated: 0,
        };
        nodes[0].devices = [("gpu", 2), ("gpu:a100", 1), ("gpu:v100", 1), ("nic", 1)]
            .map(had)
            .into();
        let ending = asking(placed(1, 0, true), "gpu:a100");
        let mut observation = Observation::new([ending], nodes);
        let free = |observation: &Observation| {
            let has = |kind: &&str| observation.has_free_devices(0, &asking(job(2, 1), kind));
            let kinds = ["gpu", "gpu:a100", "gpu:v100", "nic"];
            kinds.into_iter().filter(has).collect::<Vec<_>>()
        };
        assert_eq!(free(&observation), ["gpu:v100", "nic"]);
        observation.insert(asking(placed(1, 0, true), "gpu"));
        assert_eq!(free(&observation), ["nic"], "it may have had any type");
        observation.insert(asking(placed(1, 0, false), "gpu:v100"));
        assert_eq!(free(&observation).len(), 4);
        observation.note_ending(1);
        assert_eq!(free(&observation), ["gpu:a100", "nic"], "since the look");
        observation.forget_taken();
        observation.remove(1);
        assert_eq!(free(&observation).len(), 4);
    }

    #[test]
    fn comment_of_running_job_stays_as_it_was_at_its_start() {
        let mut observation = Observation::new([placed(1, 1, false)], nodes(2));
        let with_comment = |job: ObservedJob, comment: &str| ObservedJob {
            comment: comment.into(),
            ..job
        };
        observation.insert(with_comment(placed(1, 1, false), "dfrs:never"));
        assert_eq!(observation.job(1).unwrap().comment, "");
        let all = [with_comment(placed(1, 1, false), "dfrs:never")];
        assert_eq!(
            observation.replace_all(all, nodes(2)),
            SnapshotDelta::default()
        );
        observation.insert(with_comment(job(1, 1), "dfrs:never"));
        assert_eq!(observation.job(1).unwrap().comment, "dfrs:never");
        observation.insert(with_comment(placed(1, 1, false), "dfrs:never"));
        assert_eq!(observation.job(1).unwrap().comment, "dfrs:never");
    }

    #[test]
    fn job_times_are_shifted_with_the_clock() {
        let at = |time: i64| ObservedJob {
            last_launch_seconds: time,
            resumed_seconds: time,
            eligible_seconds: time,
            end_seconds: time,
            free_until_seconds: time,
            deadline_seconds: time,
            reservation_end_seconds: time,
            ..job(1, 1)
        };
        assert_eq!(at(1000).shifted_by(600), at(1600));
        assert_eq!(at(0).shifted_by(600), at(0), "0 is none");
    }

    #[test]
    fn updating_nodes_one_by_one_equals_replacing_all() {
        let mut all = nodes(3);
        let mut observation = Observation::new([placed(1, 2, true)], all.clone());
        all[1].memory *= 2;
        all[1].cpus += 1;
        all[1].all_cpus += 1;
        all[2].allocated_memory_mib = 70;
        let absent = ObservedNode {
            index: 99,
            ..all[0].clone()
        };
        observation.update_nodes([all[1].clone(), all[2].clone(), absent]);
        assert_eq!(observation, Observation::new([placed(1, 2, true)], all));
    }

    #[test]
    fn tallies_are_rebuilt_when_nodes_come_or_go() {
        let all = nodes(3);
        let mut observation = Observation::new([placed(1, 2, true)], all.clone());
        observation.set_nodes(vec![all[0].clone(), all[2].clone()]);
        assert_eq!(observation.position_of("n2"), Some(1));
        assert_eq!(observation.free_memory(1), 900);
        assert_eq!(observation.position_of("n1"), None);
    }
}
