//! The queries of a trial's checks to the model, and the repair of all faults in it.

use std::collections::BTreeSet;

use super::acts::Act;
use super::cluster::ClusterModel;
use super::slurmctld::{JobEntry, NodeEntry};
use dfrs_agent::slurm::records::ObservedState;

impl ClusterModel {
    /// Everything that is broken is mended, and no job is held or suspended any more, but these
    /// nodes stay drained if they are.
    pub fn heal(&mut self, keep_drained: &[u32]) {
        (self.lose, self.refuse, self.disk_full) = (0, (0, 0), false);
        for node in 0..u32::try_from(self.machines.len()).unwrap_or(0) {
            for act in [
                Act::Unhang(node),
                Act::Slow(node, 1),
                Act::StartDfrsd(node),
                Act::Join(node),
                Act::EndOther(node),
            ] {
                self.act(&act);
            }
            self.slurmctld.nodes[node as usize].reserved = None;
            if !self.machines[node as usize].on {
                self.boot(node);
            }
            if !keep_drained.contains(&node) {
                self.act(&Act::Undrain(node));
            }
        }
        // A user's job that holds itself and is requeued waits for its release; so does one whose
        // image is not restored.
        for program in self.programs.values_mut() {
            program.submission.holds = false;
            program.restore_failed = true;
        }
        self.slurmctld.jobs.touch_all();
        let jobs = self.slurmctld.jobs.values();
        let stopped: Vec<(u32, bool)> = jobs
            .filter(|job| job.outcome.is_none() && job.seen.priority == 0)
            .map(|job| (job.label, job.seen.state == ObservedState::Suspended))
            .collect();
        for (label, suspended) in stopped {
            let lift = if suspended {
                Act::Resume(label)
            } else {
                Act::Release(label)
            };
            self.act(&lift);
        }
    }

    /// Whether the next messages to nodes get lost.
    pub fn loses_messages(&self) -> bool {
        self.lose > 0
    }

    /// Jobs that are frozen on some node that can be reached.
    pub fn frozen_jobs(&self) -> BTreeSet<u32> {
        let machines = self
            .machines
            .iter()
            .filter(|machine| machine.takes_orders());
        machines
            .flat_map(|machine| machine.frozen.keys().copied())
            .collect()
    }

    /// Whether every node of the job receives its orders.
    pub fn nodes_take_orders(&self, id: u32) -> bool {
        let job = self.slurmctld.jobs.get(&id);
        let mut places = job.into_iter().flat_map(|job| &job.seen.places);
        places.all(|place| self.machines[place.node as usize].takes_orders())
    }

    /// The caps of jobs that run on nodes that receive their orders: job, node, the part of the
    /// node that it needs, and the part that it may use, if it is capped.
    pub fn caps(&self) -> Vec<(u32, u32, f64, Option<f64>)> {
        let mut caps = Vec::new();
        let indexed = (0..).zip(&self.machines);
        for (node, machine) in indexed.filter(|(_, machine)| machine.in_touch) {
            for id in &machine.runs {
                let Some(run) = self.runs.get(id).filter(|run| run.is_ready()) else {
                    continue;
                };
                // What is stopped for its image has no cap.
                if machine.frozen.contains_key(&run.job) {
                    continue;
                }
                let job = self.slurmctld.jobs.get(&run.job);
                let runs = job
                    .is_some_and(|job| job.run == *id && job.seen.state == ObservedState::Running);
                if let Some(need) = run.need_on(node).filter(|_| runs) {
                    let cpus = f64::from(machine.cpus);
                    let cap = machine.cap(run.job).map(|cores| cores / cpus);
                    caps.push((run.job, node, need / cpus, cap));
                }
            }
        }
        caps
    }

    /// Whether a job that waits or is parked could run without preempting any other: it may start,
    /// and some node has nothing at all on it and enough for it; or nothing else is on its own
    /// nodes.
    pub fn could_run_alone(&self, job: &JobEntry) -> bool {
        match job.seen.state {
            ObservedState::Pending => {
                let may = !job.seen.completing && !job.seen.array_master;
                may && self.gate(job.seen.id).is_ok() && self.has_empty_node_for(job)
            }
            ObservedState::Suspended if job.seen.priority > 0 => {
                let nodes = job.seen.places.iter().map(|place| place.node);
                nodes.clone().all(|node| {
                    let free = !self.is_reserved_soon(node);
                    free && self.is_well(node) && self.is_empty_but_for(node, job)
                })
            }
            _ => false,
        }
    }

    /// Whether a moldable job could start although all of its partition's nodes that can be used
    /// are empty: it may, and they are enough for its smallest size. Plainly, and apart from what
    /// decides; all nodes of a partition are alike.
    pub fn could_start_on_whole_nodes(&self, job: &JobEntry) -> bool {
        let seen = &job.seen;
        let waits = seen.state == ObservedState::Pending && !seen.completing && !seen.array_master;
        if !waits || self.gate(seen.id).is_err() {
            return false;
        }
        let nodes = self.slurmctld.nodes.iter();
        let nodes: Vec<&NodeEntry> = nodes
            .filter(|node| node.is_open() && node.partition == seen.partition)
            .collect();
        let holds = |node: &NodeEntry| {
            let (cpus, task) = (
                u64::from(seen.request.cpus_per_task),
                seen.request.memory * u64::from(seen.request.cpus_per_task),
            );
            let by_cpus = u64::from(node.seen.cpus) / cpus.max(1);
            by_cpus.min(node.seen.memory / task.max(1))
        };
        let least = nodes.iter().map(|node| holds(node)).min().unwrap_or(0);
        let wanted = match seen.request.tasks_on_each() {
            Some(each) if u64::from(each) <= least => u64::from(seen.request.min_nodes.max(1)),
            None if least > 0 => u64::from(seen.request.tasks)
                .div_ceil(least)
                .max(seen.request.min_nodes.into()),
            _ => return false,
        };
        nodes.iter().all(|node| self.has_room_for(node, job)) && nodes.len() as u64 >= wanted
    }

    /// Whether other jobs are where this one is, or their processes, for all that slurmctld knows.
    pub fn shares_nodes(&self, job: &JobEntry) -> bool {
        let mut places = job.seen.places.iter();
        let others = self.slurmctld.jobs.values();
        let others =
            others.filter(|other| other.may_have_processes() && other.seen.id != job.seen.id);
        places.any(|place| {
            let mut there = others.clone().flat_map(|other| &other.seen.places);
            there.any(|other| other.node == place.node)
        })
    }

    pub(super) fn is_well(&self, node: u32) -> bool {
        let machine = self.machines.get(node as usize);
        machine.is_some_and(|machine| machine.takes_orders())
            && !self.slurmctld.nodes[node as usize].down
    }

    fn is_empty_but_for(&self, node: u32, job: &JobEntry) -> bool {
        let jobs = self.slurmctld.jobs.values();
        let mut others =
            jobs.filter(|other| other.may_have_processes() && other.seen.id != job.seen.id);
        !others.any(|other| other.is_on(node))
            && self.machines[node as usize].runs.len() <= 1
            && self.slurmctld.nodes[node as usize].others.is_none()
    }

    /// Whether nothing is on the node, and nothing keeps the job off it.
    fn has_room_for(&self, node: &NodeEntry, job: &JobEntry) -> bool {
        let index = node.seen.index;
        self.is_well(index)
            && !self.is_kept_off(job, index)
            && self.is_empty_but_for(index, job)
            && self.machines[index as usize].runs.is_empty()
            && self.has_devices_for(index, &job.seen)
    }

    fn has_empty_node_for(&self, job: &JobEntry) -> bool {
        let per_cpu = u64::from(job.seen.request.tasks * job.seen.request.cpus_per_task);
        let factor = match job.seen.request.memory_per_cpu {
            true => per_cpu,
            false => 1,
        };
        let memory = job.seen.request.memory * factor;
        let usable = |node: &&NodeEntry| {
            let is_own = node.is_open() && node.partition == job.seen.partition;
            is_own && node.seen.memory >= memory
        };
        let nodes = self.slurmctld.nodes.iter().filter(usable);
        let empty = nodes.filter(|node| self.has_room_for(node, job));
        empty.count() >= job.seen.request.min_nodes.max(1) as usize
    }
}
