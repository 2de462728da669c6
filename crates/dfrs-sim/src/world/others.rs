//! Jobs of other partitions take and give back CPU and memory of nodes. What they take they have at
//! once: jobs of DFRS shrink, or give way.

use std::collections::BTreeSet;

use dfrs_core::{Bytes, Job, JobId, JobState, Mobility, NodeIndex, Span, Time};

use super::{Changed, World};
use crate::trace::{NODE_CPU, NODE_MEMORY};

impl World<'_> {
    /// When others take or give back something next.
    pub(super) fn next_held(&self) -> Option<Time> {
        self.others.first().map(|change| change.time)
    }

    /// Takes what others hold from now on off the nodes. Returns whether anything is different.
    pub(super) fn follow_others(&mut self, now: Time) -> bool {
        let due = self.others.partition_point(|change| change.time <= now);
        let (changes, later) = self.others.split_at(due);
        self.others = later;
        for change in changes {
            let Some(node) = self.system.cluster().node(change.node) else {
                continue;
            };
            let mut node = node.clone();
            if change.memory > node.held_memory || change.cpu == NODE_CPU {
                self.taken.insert(change.node);
            }
            node.cpu = NODE_CPU.minus(change.cpu);
            node.held_memory = change.memory;
            self.system.set_node(change.node, node);
        }
        due > 0
    }

    /// Lets jobs give way where others have taken all CPU, or memory that jobs have. Returns the jobs,
    /// and what they were before.
    pub(super) fn give_way(&mut self, now: Time) -> Changed {
        let mut gone = Changed::new();
        for node in std::mem::take(&mut self.taken) {
            if self.has_no_cpu(node) {
                for job in self.on_node(node, now) {
                    if !job.cpu.is_zero() && (self.can_park(&job) || can_move(&job)) {
                        self.displace(job, &mut gone);
                    }
                }
            }
            // Memory is not there twice: at last jobs go that lose their work.
            let jobs = self.on_node(node, now);
            let of_all = jobs.iter().map(|job| memory_on(job, node).0);
            let mut in_use = Bytes(of_all.sum());
            for job in jobs {
                if in_use <= self.memory_left(node) {
                    break;
                }
                let memory = memory_on(&job, node);
                if memory.is_zero() {
                    continue;
                }
                in_use = in_use.minus(memory);
                self.displace(job, &mut gone);
            }
        }
        gone
    }

    fn has_no_cpu(&self, node: NodeIndex) -> bool {
        let node = self.system.cluster().node(node);
        node.is_some_and(|node| node.cpu.is_zero())
    }

    fn memory_left(&self, node: NodeIndex) -> Bytes {
        let node = self.system.cluster().node(node);
        node.map_or(NODE_MEMORY, dfrs_core::Node::usable_memory)
    }

    /// The jobs that run there: first those that keep their work, those of low priority before others.
    fn on_node(&self, node: NodeIndex, now: Time) -> Vec<Job> {
        let running = self.system.running();
        let there = running.filter(|job| tasks_on(job, node) > 0);
        let mut jobs: Vec<Job> = there.cloned().collect();
        let priority = self.policy.settings.priority;
        // What parked jobs have of the swap is summed up once for each.
        jobs.sort_by_cached_key(|job| {
            let loses = match job.mobility {
                Mobility::Checkpoint | Mobility::Carry => 0,
                Mobility::Park if self.can_park(job) => 0,
                Mobility::Restart => 1,
                Mobility::Park | Mobility::Never => 2,
            };
            (loses, priority.of(job, now))
        });
        jobs
    }

    /// Whether the swap of all its nodes holds it.
    fn can_park(&self, job: &Job) -> bool {
        let JobState::Running(mapping) = &job.state else {
            return false;
        };
        job.mobility == Mobility::Park
            && mapping
                .iter()
                .all(|run| self.in_swap(run.node).0 + job.memory_of(run).0 <= self.settings.swap.0)
            && !self.settings.swap.is_zero()
    }

    /// Memory of parked jobs there.
    fn in_swap(&self, node: NodeIndex) -> Bytes {
        let jobs = self.system.cluster().jobs.iter();
        let memory = jobs.filter_map(|job| {
            let run = job.state.parked_on()?.iter().find(|run| run.node == node)?;
            Some(job.memory_of(run).0)
        });
        Bytes(memory.sum())
    }

    /// The job gives up its place: by its mobility, or else without its work.
    fn displace(&mut self, job: Job, gone: &mut Changed) {
        let state = match (job.mobility, &job.state) {
            (Mobility::Checkpoint | Mobility::Carry, _) => JobState::Paused,
            (Mobility::Park, JobState::Running(here)) if self.can_park(&job) => {
                JobState::Parked(here.clone())
            }
            (Mobility::Restart, _) => JobState::Pending,
            _ => {
                self.requeued.insert(job.id);
                JobState::Pending
            }
        };
        if state == JobState::Pending {
            self.system.set_times(job.id, Span::ZERO, Span::ZERO);
        }
        if let Some(before) = self.system.set_state(job.id, state) {
            gone.push((job.id, before));
        }
    }

    /// What the decision changed, and before it those that gave way: each once, as it was at first. A
    /// job that is where it was has not changed.
    pub(super) fn net_changes(&mut self, gone: Changed, decided: Changed) -> Changed {
        let first: BTreeSet<JobId> = gone.iter().map(|(id, _)| *id).collect();
        let later = decided.into_iter().filter(|(id, _)| !first.contains(id));
        let mut all: Changed = gone.into_iter().chain(later).collect();
        all.sort_by_key(|(id, _)| *id);
        all.retain(|(id, before)| {
            let stays = self.system.job(*id).is_some_and(|job| job.state == *before);
            if stays {
                self.requeued.remove(id);
            }
            !stays
        });
        all
    }
}

fn can_move(job: &Job) -> bool {
    job.moves_freely() || job.mobility == Mobility::Restart
}

fn tasks_on(job: &Job, node: NodeIndex) -> u32 {
    job.running_on().map_or(0, |mapping| mapping.tasks_on(node))
}

fn memory_on(job: &Job, node: NodeIndex) -> Bytes {
    job.memory_on(tasks_on(job, node))
}
