//! Reservations of nodes for others, as slurmctld keeps and shows them.

use super::cluster::{ClusterModel, SECOND};
use super::slurmctld::JobEntry;
use dfrs_agent::slurm::records::{ObservedJob, ObservedState};

/// A job without a limit ends after this, for all that Slurm knows: a year.
const NO_LIMIT: i64 = 365 * 24 * 3600;
/// How long before a reservation nothing is expected to come back, or to start.
const LEAD_SECONDS: i64 = 400;

impl ClusterModel {
    /// `scontrol create reservation` for other users.
    pub(super) fn reserve(&mut self, node: u32, starts_in: i64, duration: i64) {
        let starts = self.clock_seconds() + starts_in;
        if let Some(entry) = self.slurmctld.nodes.get_mut(node as usize) {
            entry.reserved = Some((starts, starts + duration));
            self.updated();
        }
    }

    /// When the node is reserved for others from, unless that is over by now.
    fn reserved_from(&self, node: u32) -> Option<i64> {
        let now = self.clock_seconds();
        let reserved = self.slurmctld.nodes.get(node as usize)?.reserved;
        reserved
            .filter(|(_, end)| *end > now)
            .map(|(start, _)| start)
    }

    /// Whether Slurm keeps the job off the node because of a reservation.
    pub(super) fn is_kept_off(&self, job: &JobEntry, node: u32) -> bool {
        let ends = self.clock_seconds() + job.limit().unwrap_or(NO_LIMIT);
        self.reserved_from(node).is_some_and(|start| start < ends)
    }

    /// Whether a reservation is on the node, or near.
    pub(super) fn is_reserved_soon(&self, node: u32) -> bool {
        let soon = self.clock_seconds() + LEAD_SECONDS;
        self.reserved_from(node).is_some_and(|start| start < soon)
    }

    /// The job as a snapshot shows it.
    pub(super) fn shown_job(&self, job: &JobEntry) -> ObservedJob {
        let mut shown = job.seen.clone();
        let nodes = 0..u32::try_from(self.slurmctld.nodes.len()).unwrap_or(0);
        match shown.state {
            ObservedState::Running | ObservedState::Suspended => {
                let places = shown.places.iter();
                let starts = places.filter_map(|place| self.reserved_from(place.node));
                shown.free_until_seconds = starts.min().unwrap_or(0);
            }
            ObservedState::Pending => {
                let off: Vec<u32> = nodes
                    .clone()
                    .filter(|node| self.is_kept_off(job, *node))
                    .collect();
                if !off.is_empty() {
                    let all = shown.request.eligible.as_deref().map(<[u32]>::to_vec);
                    let all = all.unwrap_or_else(|| nodes.collect()).into_iter();
                    let starts = off.iter().filter_map(|node| self.reserved_from(*node));
                    shown.free_until_seconds = starts.min().unwrap_or(0);
                    shown.request.eligible = Some(all.filter(|node| !off.contains(node)).collect());
                }
            }
            ObservedState::Ended => {}
        }
        shown
    }

    pub(super) fn has_reservations(&self) -> bool {
        let mut nodes = self.slurmctld.nodes.iter();
        nodes.any(|node| node.reserved.is_some())
    }

    /// What DFRS did to a job runs into a reservation.
    pub(super) fn note_overrun(&mut self, id: u32, what: &str) {
        // Between a look and a slow call, or by another clock, it cannot be known.
        if self.settings.call.0 == 0 && self.clock.0.abs() < SECOND {
            self.faults.push(format!("job {id} {what} a reservation"));
        }
    }

    /// Whether DFRS may move the job's end there.
    pub(super) fn end_is_free(&self, id: u32, end: i64) -> bool {
        let job = self.slurmctld.jobs.get(&id);
        let mut places = job.into_iter().flat_map(|job| &job.seen.places);
        places.all(|place| {
            self.reserved_from(place.node)
                .is_none_or(|start| end <= start)
        })
    }

    /// Whether DFRS brings a parked job back where a reservation has begun.
    pub(super) fn resumes_into_reservation(&self, id: u32) -> bool {
        let now = self.clock_seconds();
        let job = self.slurmctld.jobs.get(&id);
        job.is_some_and(|job| {
            let mut places = job.seen.places.iter();
            job.seen.state == ObservedState::Suspended
                && self.hidden.contains(&job.seen.partition)
                && places.any(|place| {
                    self.reserved_from(place.node)
                        .is_some_and(|start| start <= now)
                })
        })
    }
}
