//! Whole decisions in the papers' world, against the papers' algorithms written down plainly: equal
//! nodes, jobs that can all be moved, nothing but CPU and memory.

mod common;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use common::{ClusterKind, NOW, carry_out, cases, cluster, event, plan, policies};
use dfrs_core::{Cluster, Events, Grace, Job, JobId, Mapping, Periodic, Policy, Submission};
use dfrs_papers::PaperGoal;
use proptest::prelude::*;

/// CPU and memory of every node.
const CAPACITY: u64 = 100;

/// Yields are tried in steps of 1/128: the bisection ends when the yield is known to 0.01 (TPDS,
/// Section 4.3).
const STEPS: u64 = 128;

/// The node of each task of each job that runs, ascending.
type TaskNodes = BTreeMap<JobId, Vec<usize>>;

fn places_of(cluster: &Cluster) -> TaskNodes {
    let running = |job: &Job| Some((job.id, tasks_of(job.running_on()?)));
    cluster.jobs.iter().filter_map(running).collect()
}

fn tasks_of(mapping: &Mapping) -> Vec<usize> {
    mapping
        .iter()
        .flat_map(|run| std::iter::repeat_n(run.node.index(), run.tasks as usize))
        .collect()
}

struct PaperModel<'a> {
    cluster: &'a Cluster,
    places: TaskNodes,
}

impl PaperModel<'_> {
    fn job(&self, id: JobId) -> &Job {
        self.cluster.job(id).unwrap()
    }

    /// CPU needs and memory requirements on each node.
    fn usage(&self) -> Vec<(u64, u64)> {
        let mut usage = vec![(0, 0); self.cluster.nodes.len()];
        for (id, nodes) in &self.places {
            for node in nodes {
                usage[*node].0 += self.job(*id).cpu.0;
                usage[*node].1 += self.job(*id).memory.0;
            }
        }
        usage
    }

    /// The jobs that run, or those that do not, by priority (TPDS, Section 4.1), the highest first.
    fn by_priority(&self, running: bool) -> Vec<JobId> {
        let jobs = self.cluster.jobs.iter();
        let mut found: Vec<&Job> = jobs
            .filter(|job| self.places.contains_key(&job.id) == running)
            .collect();
        found.sort_by(|one, other| rank(other).partial_cmp(&rank(one)).unwrap());
        found.into_iter().map(|job| job.id).collect()
    }

    /// Greedy (TPDS, Section 4.2): each task on the node of the lowest load with enough memory for
    /// it.
    fn greedy(&mut self, id: JobId) -> bool {
        let (cpu, memory) = (self.job(id).cpu.0, self.job(id).memory.0);
        let mut usage = self.usage();
        let mut nodes = Vec::new();
        for _ in 0..self.job(id).tasks {
            let with_room = (0..usage.len()).filter(|node| usage[*node].1 + memory <= CAPACITY);
            let Some(node) = with_room.min_by_key(|node| usage[*node].0) else {
                return false;
            };
            usage[node].0 += cpu;
            usage[node].1 += memory;
            nodes.push(node);
        }
        nodes.sort_unstable();
        self.places.insert(id, nodes);
        true
    }

    /// GreedyP and GreedyPM (TPDS, Section 4.2; IPDPS 2010, Section III-A): running jobs of lower
    /// priority are marked until the new job fits; each of them that fits in place beside it stays,
    /// the highest priority first; the others are paused, or moved by Greedy.
    fn force(&mut self, id: JobId, moves: bool) {
        let before = self.places.clone();
        let mut marked = Vec::new();
        for victim in self.by_priority(true).into_iter().rev() {
            if rank(self.job(victim)) >= rank(self.job(id)) {
                break;
            }
            marked.push((victim, self.places.remove(&victim).unwrap()));
            if !self.greedy(id) {
                continue;
            }
            let mut leaving = Vec::new();
            for (victim, nodes) in marked.into_iter().rev() {
                self.places.insert(victim, nodes);
                if self.usage().iter().any(|(_, memory)| *memory > CAPACITY) {
                    self.places.remove(&victim);
                    leaving.push(victim);
                }
            }
            for victim in leaving.into_iter().filter(|_| moves) {
                self.greedy(victim);
            }
            return;
        }
        self.places = before;
    }

    /// The remap (TPDS, Section 4.3): the job of the lowest priority is dropped until MCB8 places
    /// all others; first as long as their memory is more than there is.
    fn remap(&mut self, grace: Grace) {
        let mut kept: Vec<JobId> = self
            .cluster
            .jobs
            .iter()
            .map(|job| job.id)
            .filter(|id| self.could_run(*id))
            .collect();
        kept.sort_by(|one, other| {
            rank(self.job(*other))
                .partial_cmp(&rank(self.job(*one)))
                .unwrap()
        });
        let memory = |id: &JobId| self.job(*id).memory.0 * u64::from(self.job(*id).tasks);
        let all = CAPACITY * self.cluster.nodes.len() as u64;
        while kept.iter().map(memory).sum::<u64>() > all {
            kept.pop();
        }
        loop {
            if let Some(found) = self.search(&kept, grace) {
                self.places = found;
                return;
            }
            kept.pop();
        }
    }

    /// Whether the job fits on empty nodes. For one that does not, no job is dropped.
    fn could_run(&self, id: JobId) -> bool {
        let each = CAPACITY
            .checked_div(self.job(id).memory.0)
            .unwrap_or(u64::MAX / CAPACITY);
        each * self.cluster.nodes.len() as u64 >= u64::from(self.job(id).tasks)
    }

    /// The mapping of the highest yield for which MCB8 finds one.
    fn search(&self, jobs: &[JobId], grace: Grace) -> Option<TaskNodes> {
        if let Some(found) = self.mcb8(jobs, grace, STEPS) {
            return Some(found);
        }
        let (mut low, mut high, mut best) = (0, STEPS, None);
        while high - low > 1 {
            let middle = u64::midpoint(low, high);
            match self.mcb8(jobs, grace, middle) {
                Some(found) => (low, best) = (middle, Some(found)),
                None => high = middle,
            }
        }
        best.or_else(|| self.mcb8(jobs, grace, 0))
    }

    /// MCB8 at a yield of `steps`/128 (IPDPS 2010, Section III-B): node by node, the first task
    /// that fits of the list that goes against the node's imbalance, else of the other list.
    fn mcb8(&self, jobs: &[JobId], grace: Grace, steps: u64) -> Option<TaskNodes> {
        // Both requirements in 1/128 of a unit.
        let cpu = |id: JobId| self.job(id).cpu.0 * steps;
        let memory = |id: JobId| self.job(id).memory.0 * STEPS;
        let full = CAPACITY * STEPS;
        let mut usage = vec![(0, 0); self.cluster.nodes.len()];
        let mut found = TaskNodes::new();
        let mut missing: BTreeMap<JobId, u32> = BTreeMap::new();
        for id in jobs.iter().copied() {
            let pinned = self
                .places
                .get(&id)
                .filter(|_| is_protected(self.job(id), grace));
            for node in pinned.into_iter().flatten() {
                usage[*node].0 += cpu(id);
                usage[*node].1 += memory(id);
            }
            if pinned.is_none() {
                missing.insert(id, self.job(id).tasks);
            }
            found.insert(id, pinned.cloned().unwrap_or_default());
        }
        if usage.iter().any(|(cpu, _)| *cpu > full) {
            return None;
        }
        let of_cpu = |id: &JobId| cpu(*id) > memory(*id);
        let (mut by_cpu, mut by_memory): (Vec<JobId>, Vec<JobId>) =
            missing.keys().copied().partition(of_cpu);
        by_cpu.sort_by_key(|id| Reverse((cpu(*id), memory(*id), *id)));
        by_memory.sort_by_key(|id| Reverse((memory(*id), cpu(*id), *id)));
        for (node, used) in usage.iter_mut().enumerate() {
            loop {
                let lists = if used.0 <= used.1 {
                    [&by_cpu, &by_memory]
                } else {
                    [&by_memory, &by_cpu]
                };
                let fits = |id: &&JobId| {
                    missing[*id] > 0 && used.0 + cpu(**id) <= full && used.1 + memory(**id) <= full
                };
                let Some(id) = lists.into_iter().flatten().find(fits).copied() else {
                    break;
                };
                *used = (used.0 + cpu(id), used.1 + memory(id));
                *missing.get_mut(&id).unwrap() -= 1;
                found.get_mut(&id).unwrap().push(node);
            }
        }
        missing.values().all(|tasks| *tasks == 0).then_some(found)
    }

    fn decide(&mut self, policy: &Policy, events: &Events) {
        let submission = policy.submission;
        if (events.ended || events.nodes_changed) && policy.opportunistic {
            if submission == Submission::Mcb8 {
                self.remap(policy.grace);
            } else {
                self.fill(&self.by_priority(false));
            }
        }
        for id in &events.submitted {
            self.submit(policy, *id);
        }
        if events.period && policy.periodic == Periodic::Remap {
            self.remap(policy.grace);
            if policy.opportunistic && submission != Submission::Mcb8 {
                self.fill(&self.by_priority(false));
            }
        }
    }

    fn submit(&mut self, policy: &Policy, id: JobId) {
        if policy.submission == Submission::Mcb8 {
            return self.remap(policy.grace);
        }
        let waiting = self.by_priority(false);
        if policy.submission == Submission::Nothing || !waiting.contains(&id) {
            return;
        }
        if !self.greedy(id) {
            match policy.submission {
                Submission::GreedyP => self.force(id, false),
                Submission::GreedyPM => self.force(id, true),
                _ => {}
            }
        }
        if policy.opportunistic {
            self.fill(&waiting);
        }
    }

    /// `*`: those of these jobs that do not run are tried by Greedy. The TPDS paper says it of
    /// completions, the IPDPS 2010 paper (Section III-A) of every event, and the authors' simulator
    /// does it after remaps too.
    fn fill(&mut self, jobs: &[JobId]) {
        for id in jobs {
            if !self.places.contains_key(id) {
                self.greedy(*id);
            }
        }
    }
}

/// Flow time over the square of virtual time; then which was submitted first.
fn rank(job: &Job) -> (f64, Reverse<i64>, Reverse<JobId>) {
    let virtual_time = job.virtual_time.seconds();
    let priority = if virtual_time > 0.0 {
        job.flow_time(NOW).seconds() / (virtual_time * virtual_time)
    } else {
        f64::INFINITY
    };
    (priority, Reverse(job.submit.0), Reverse(job.id))
}

fn is_protected(job: &Job, grace: Grace) -> bool {
    match grace {
        Grace::Nothing => false,
        Grace::FlowTime(bound) => job.flow_time(NOW) < bound,
        Grace::VirtualTime(bound) => job.virtual_time < bound,
    }
}

fn by_stretch(policy: &Policy) -> bool {
    matches!(PaperGoal::of(policy), Some(PaperGoal::Stretch(_)))
}

/// Any policy of the papers that is not about stretch.
fn policy() -> impl Strategy<Value = Policy> {
    let mut found = policies();
    found.retain(|policy| !by_stretch(policy) && !policy.weighs_moves());
    proptest::sample::select(found)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(3000)))]

    #[test]
    fn placements_match_the_papers_algorithms(cluster in cluster(ClusterKind { plain: true }), policy in policy(), event in event()) {
        let mut world = PaperModel { cluster: &cluster, places: places_of(&cluster) };
        world.decide(&policy, &event);
        let plan = plan(&policy, &cluster, &event);
        prop_assert_eq!(places_of(&carry_out(&cluster, &plan)), world.places);
    }
}
