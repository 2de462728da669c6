//! What squeue shows as the reason of a job that waits.

use dfrs_core::{Blocked, Time};
use dfrs_proto::text::counted;

use super::Life;
use super::image::LifeImage;
use crate::clock::to_the_minute;
use crate::slurm::devices::text_of;
use crate::slurm::observation::Observation;
use crate::slurm::records::{ObservedJob, ObservedNode, ObservedPlace, ObservedState};
use crate::slurm::request::memory::memory_request;

/// More nodes than this are not named: the reason is one column of squeue.
const MAX_NAMED: usize = 4;
/// What a job without an image waits after.
pub(super) const AFTER_CHECKPOINT: &str = "paused after its checkpoint";
const SUSPENDED: &str = "DFRS: suspended by an operator; 'scontrol resume' resumes it";

/// What is known of why a job waits.
pub(super) struct WaitFacts<'a> {
    /// What the last decision said.
    pub(super) blocked: Option<Blocked>,
    job: &'a ObservedJob,
    image: LifeImage,
    insists_until: Option<Time>,
    observation: &'a Observation,
}

impl<'a> WaitFacts<'a> {
    /// Why it waits, in words.
    pub(super) fn why(&self) -> String {
        let (job, observation) = (self.job, self.observation);
        match (self.blocked, self.insists_until) {
            (Some(Blocked::NeverFits), Some(until)) if fits_on_more_switches(job, observation) => {
                waits_for_switches(job, until)
            }
            (Some(why), _) => phrase(job, why, observation),
            (None, _) => "waits for the next decision".to_owned(),
        }
    }

    /// What it goes on from, in words.
    pub(super) fn how_paused(&self) -> &'static str {
        how_paused(self.image)
    }

    /// A node of the job's that takes nothing new; none if another one is down.
    pub(super) fn draining_node(&self) -> Option<&'a str> {
        let (job, observation) = (self.job, self.observation);
        let node = |place: &ObservedPlace| observation.node_at(place.node);
        let own = || job.places.iter().filter_map(node);
        let draining = own().find(|node| node.drains())?;
        (!own().any(|node| node.down)).then_some(draining.name.as_str())
    }
}

impl Life {
    /// The text for `job`, with what the last decision said about it; `None`: Slurm's own.
    /// `insists_until`: what the wall clock says when it no longer insists on its number of
    /// switches.
    pub fn reason(
        &self,
        job: &ObservedJob,
        blocked: Option<Blocked>,
        insists_until: Option<Time>,
        observation: &Observation,
    ) -> Option<String> {
        if job.is_suspended_by_operator() {
            return Some(SUSPENDED.to_owned());
        }
        if let Some(nodes) = self.nodes_of_last_run(job, observation) {
            return Some(format!(
                "DFRS: was requeued; waits until dfrsd on {nodes} reports that its last run has ended, at most 6 minutes"
            ));
        }
        self.phase.rules().reason(&WaitFacts {
            blocked,
            job,
            image: self.image,
            insists_until,
            observation,
        })
    }

    /// Why Slurm holds this pending job, if it does as its image was not restored; `None`: for
    /// other reasons.
    pub fn hold_reason(&self, job: &ObservedJob) -> Option<String> {
        let (id, place) = (job.id, &self.last_place);
        (self.image == LifeImage::NotRestored).then(|| {
            format!(
                "DFRS: its image could not be restored on {place}: see slurmd's log there ('dfrs carry:'); the image is kept; 'scontrol release {id}' tries again"
            )
        })
    }

    /// The nodes that may still run this pending job, and are ordered to end it; `None`: none does.
    /// It does not wait for nodes that are down.
    fn nodes_of_last_run(&self, job: &ObservedJob, observation: &Observation) -> Option<String> {
        let spots = self.last_place.0.iter();
        let names = spots.map(|spot| spot.node.as_str());
        let mut names = names.filter(|name| !observation.is_down(name));
        let is_left = self.is_orphaned && job.state == ObservedState::Pending;
        let first = names.next().filter(|_| is_left)?;
        Some(match names.count() {
            0 => first.to_owned(),
            others => format!("{first} and {others} more"),
        })
    }
}

/// What a paused job goes on from, in words.
pub(super) const fn how_paused(image: LifeImage) -> &'static str {
    if image.is_complete() {
        "paused with its image"
    } else {
        AFTER_CHECKPOINT
    }
}

fn waits_for_switches(job: &ObservedJob, until: Time) -> String {
    let switches = match job.request.switches {
        1 => "1 switch".to_owned(),
        switches => format!("{switches} switches"),
    };
    let until = to_the_minute(until);
    format!("waits for nodes at {switches} (--switches), at most until {until}")
}

/// Whether jobs of other partitions leave no core on some node that the job may use.
fn are_cores_of_others(job: &ObservedJob, observation: &Observation) -> bool {
    let mut nodes = observation.nodes_for(&job.request);
    nodes.any(|node| node.cpus > 0 && node.cpus_left() == 0)
}

/// Whether no node that the job may use has as many devices as it asks for, free or not.
fn are_too_few_devices(job: &ObservedJob, observation: &Observation) -> bool {
    let mut nodes = observation.nodes_for(&job.request);
    !nodes.any(|node| node.has_devices(&job.request.devices))
}

fn phrase(job: &ObservedJob, why: Blocked, observation: &Observation) -> String {
    match why {
        Blocked::NeverFits if job.free_until_seconds > 0 => {
            "waits for nodes: a Slurm reservation is there, or begins before its time limit would end"
                .to_owned()
        }
        Blocked::NeverFits if observation.has_exclusivity_limits(job) => {
            "waits for nodes: other jobs there exclude it (--exclusive=user, MCS labels)".to_owned()
        }
        Blocked::NeverFits if are_cores_of_others(job, observation) => {
            "waits for CPU: jobs of other partitions have all cores of nodes that it may use"
                .to_owned()
        }
        Blocked::NeverFits => format!("can never start: {}", impossible(job, observation)),
        Blocked::Memory => format!("waits for memory ({})", request(job, observation)),
        Blocked::Devices { .. } if are_too_few_devices(job, observation) => {
            format!("can never start: {}", impossible(job, observation))
        }
        Blocked::Devices { .. } => format!("waits for devices ({})", request(job, observation)),
        Blocked::Cpu => {
            "waits for CPU: jobs on several nodes have whole CPUs, jobs that are long by their limit wait for idle ones"
                .to_owned()
        }
        Blocked::Reserved => {
            "waits: what is free is reserved for the job that has waited longest".to_owned()
        }
        Blocked::OwnNodesFull => format!(
            "waits for memory on its own nodes ({})",
            request(job, observation)
        ),
        Blocked::NodesUnavailable if job.has_place() => {
            let own = job.places.iter();
            let own = own.filter_map(|place| observation.node_at(place.node));
            format!("its nodes are down{}", named(own.filter(|node| node.down)))
        }
        Blocked::NodesUnavailable => "its nodes are down, draining or powered down".to_owned(),
        _ => "waits for the next decision".to_owned(),
    }
}

/// ": n1,n2"; of many nodes nothing.
fn named<'a>(nodes: impl Iterator<Item = &'a ObservedNode>) -> String {
    let names: Vec<&str> = nodes
        .take(MAX_NAMED + 1)
        .map(|node| node.name.as_str())
        .collect();
    if names.is_empty() || names.len() > MAX_NAMED {
        return String::new();
    }
    format!(": {}", names.join(","))
}

fn request(job: &ObservedJob, observation: &Observation) -> String {
    let amounts = amounts(job, observation);
    if job.request.devices.is_empty() {
        return amounts;
    }
    format!("{amounts}, {} a node", text_of(&job.request.devices))
}

fn amounts(job: &ObservedJob, observation: &Observation) -> String {
    let tasks = counted(job.request.tasks, "task");
    if job.wants_whole_nodes() {
        return format!("all memory of each node, {tasks}");
    }
    let (task, node) = memory_request(job, observation);
    let (amount, of) = if task.0 > 0 {
        (task.0, "task")
    } else {
        (node.0, "node")
    };
    format!("{} MB a {of}, {tasks}", amount >> 20)
}

/// Whether nothing but its rule about switches is known to keep the job from all its nodes.
fn fits_on_more_switches(job: &ObservedJob, observation: &Observation) -> bool {
    job.free_until_seconds <= 0
        && !observation.has_exclusivity_limits(job)
        && !are_cores_of_others(job, observation)
        && shortage(job, observation).is_none()
}

/// Why no node, or no set of nodes, holds the job.
fn impossible(job: &ObservedJob, observation: &Observation) -> String {
    shortage(job, observation).unwrap_or_else(|| {
        let asks = request(job, observation);
        let number = observation.nodes_for(&job.request).count();
        let number = counted(number, "node");
        let how = if job.request.contiguous {
            " without a gap (--contiguous)"
        } else {
            ""
        };
        format!(
            "requests {asks}, which does not fit{how} on the {number} that it may use (-N, --ntasks-per-node, ...)"
        )
    })
}

/// What the nodes that the job may use have too little of, if all of them together have.
fn shortage(job: &ObservedJob, observation: &Observation) -> Option<String> {
    let asks = format!("requests {}", request(job, observation));
    let nodes: Vec<&ObservedNode> = observation.nodes_for(&job.request).collect();
    if nodes.is_empty() {
        return Some(
            "no node of its partition is left by --nodelist, --exclude, --constraint, --tmp, \
             --mincpus, -B and Slurm reservations of others"
                .to_owned(),
        );
    }
    if are_too_few_devices(job, observation) {
        return Some(format!(
            "{asks}, no node that it may use has so many devices"
        ));
    }
    let (task, node) = memory_request(job, observation);
    let holds = |memory: u64| {
        let left = (memory << 20).checked_sub(node.0);
        left.map_or(0, |left| left.checked_div(task.0).unwrap_or(u64::MAX))
    };
    let slots = nodes.iter().map(|node| holds(node.memory));
    let slots = slots.fold(0u64, u64::saturating_add);
    let largest = nodes.iter().map(|node| node.memory).max().unwrap_or(0);
    let number = counted(nodes.len(), "node");
    if slots == 0 {
        Some(format!(
            "{asks}, the largest node that it may use has {largest} MB"
        ))
    } else if slots < u64::from(job.request.tasks) {
        let tasks = counted(slots, "such task");
        Some(format!(
            "{asks}, the memory of the {number} that it may use holds {tasks}"
        ))
    } else {
        None
    }
}
