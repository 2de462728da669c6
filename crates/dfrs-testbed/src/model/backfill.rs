//! Slurm's own scheduler, for partitions that DFRS does not schedule: first fit in the order of the
//! queue, by memory (as with `OverSubscribe=FORCE`).

use super::cluster::ClusterModel;
use super::slurmctld::NodeEntry;
use dfrs_agent::slurm::records::{ObservedJob, ObservedPlace, ObservedState};

impl ClusterModel {
    pub(super) fn backfill(&mut self) {
        let waiting = self.slurmctld.jobs.values().filter(|job| {
            job.seen.state == ObservedState::Pending && !self.hidden.contains(&job.seen.partition)
        });
        let ids: Vec<u32> = waiting.map(|job| job.seen.id).collect();
        for id in ids {
            if self.gate(id).is_err() {
                continue;
            }
            // As Slurm does, it gives an array's task a record of its own when it starts it.
            let _ = self.split(id, 1);
            if let Some(places) = self.first_fit(id)
                && self.start(id, &places, false).is_ok()
            {
                self.note(format!("backfill starts {id}"));
            }
        }
    }

    /// Nodes with free memory for all tasks of a job.
    fn first_fit(&self, id: u32) -> Option<Vec<ObservedPlace>> {
        let job = &self.slurmctld.jobs.get(&id)?.seen;
        let cpus = u64::from(job.request.cpus_per_task.max(1));
        if let Some(each) = job.request.tasks_on_each() {
            return self.fewest_nodes(job, each);
        }
        let (mut left, mut places) = (job.request.tasks, Vec::new());
        for node in &self.slurmctld.nodes {
            if !self.is_open(node, job) {
                continue;
            }
            let free_memory = self.free_memory(node.seen.index);
            let by_memory = match (job.request.memory, job.request.memory_per_cpu) {
                (0, _) if free_memory < node.seen.memory => 0,
                (0, _) => u64::MAX,
                (memory, true) => free_memory / (memory * cpus),
                (memory, false) if memory > free_memory => 0,
                (_, false) => u64::MAX,
            };
            let tasks = u64::from(left).min(by_memory);
            let tasks = u32::try_from(tasks).unwrap_or(0);
            if tasks > 0 {
                places.push(ObservedPlace {
                    node: node.seen.index,
                    tasks,
                    memory_mib: 0,
                });
            }
            left -= tasks;
        }
        (left == 0).then_some(places)
    }

    /// The fewest nodes that a job allows whose nodes make its tasks.
    fn fewest_nodes(&self, job: &ObservedJob, each: u32) -> Option<Vec<ObservedPlace>> {
        let wanted = job.request.min_nodes.max(1) as usize;
        let nodes = self.slurmctld.nodes.iter();
        let open = nodes.filter(|node| self.is_open(node, job));
        let per_task = job.request.memory * u64::from(job.request.cpus_per_task.max(1) * each);
        let needed = if job.request.memory_per_cpu {
            per_task
        } else {
            job.request.memory
        };
        let fit = open.filter(|node| self.free_memory(node.seen.index) >= needed);
        let places = fit.take(wanted).map(|node| ObservedPlace {
            node: node.seen.index,
            tasks: each,
            memory_mib: 0,
        });
        let places: Vec<ObservedPlace> = places.collect();
        (places.len() == wanted).then_some(places)
    }

    /// Whether a job may start there beside what is there. Slurm starts nothing where a job is
    /// completing.
    pub(super) fn is_open(&self, node: &NodeEntry, job: &ObservedJob) -> bool {
        let index = node.seen.index;
        let mut jobs = self.slurmctld.jobs.values();
        node.is_open()
            && node.partition == job.partition
            && !jobs.any(|other| other.seen.completing && other.is_on(index))
            && !self.slurmctld.conflicts_with_exclusive(index, job)
            && self.has_devices_for(index, job)
    }

    /// MiB that are free on a node by Slurm's accounting.
    fn free_memory(&self, node: u32) -> u64 {
        let entry = &self.slurmctld.nodes[node as usize];
        let allocated = self.slurmctld.allocated(node);
        entry.seen.memory.saturating_sub(allocated)
    }
}
