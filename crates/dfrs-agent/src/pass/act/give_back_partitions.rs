//! Giving partitions back while others stay: their lines were removed from dfrs.conf. Their jobs
//! are looked at until what is parked has come back; no job is started there meanwhile, and
//! backfill is kept away, or the memory that is to be claimed would be given to others again and
//! again.

use std::collections::BTreeSet;

use dfrs_core::{Span, Time};

use crate::changes::ChangeEntry;
use crate::daemons::Daemons;
use crate::job::life::{JobContext, LifeEvent};
use crate::pass::Agent;
use crate::publish::live_journal::Expected;
use crate::slurm::observation::Observation;
use crate::slurm::port::{LogLevel, Slurm};
use crate::slurm::records::{ObservedJob, ObservedState};

/// slurmctld saves its jobs' states every five seconds at most: if it is killed before, a
/// resumption that it has forgotten would not be repeated.
const SLURM_SAVE_DELAY: Span = Span::from_seconds(10);
const WITHHELD: &str =
    "DFRS: partition taken out of dfrs.conf: the job starts when parked jobs there have resumed";

/// Which partitions, and how far that is.
#[derive(Debug, Default)]
pub(in crate::pass) struct GivingBack {
    partitions: Vec<String>,
    /// Jobs that depend on DFRS to come back, or did.
    came_back: BTreeSet<u32>,
    /// When one last depended on it.
    last: Option<Time>,
    /// The number of the changes by which the state says that they are given back.
    kept: Option<u64>,
}

impl GivingBack {
    /// These; none is nothing to do.
    pub(in crate::pass) fn of(partitions: Vec<String>) -> Self {
        Self {
            partitions,
            ..Self::default()
        }
    }

    fn is_under_way(&self) -> bool {
        !self.partitions.is_empty()
    }

    /// This job depends on DFRS to come back. Returns whether that is new.
    fn note_coming(&mut self, job: u32, now: Time) -> bool {
        self.last = Some(now);
        self.came_back.insert(job)
    }

    /// Whether any job came back, or depends on DFRS to.
    pub(in crate::pass) fn has_any(&self) -> bool {
        !self.came_back.is_empty()
    }

    /// When to look again, after a look at `looked`.
    pub(in crate::pass) fn next(&self, looked: Time) -> Option<Time> {
        self.is_under_way().then_some(looked + Span::SECOND)
    }
}

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Whether all partitions that were to be given back are, and the state says so. The next agent
    /// has only the others.
    pub fn has_given_back(&self) -> bool {
        let kept = self.giving_back.partitions.kept;
        kept.is_some_and(|kept| self.publisher.saved.store.durable() >= kept)
    }

    /// The partitions that are DFRS's: those that it schedules, and those that it has not given
    /// back yet.
    pub fn partitions(&self) -> Vec<String> {
        let mut partitions = self.config.partition_names();
        if self.giving_back.partitions.is_under_way() {
            partitions.extend(self.giving_back.partitions.partitions.iter().cloned());
        }
        partitions
    }

    /// Whether DFRS schedules the partition of this job.
    pub(in crate::pass) fn is_managed(&self, job: &ObservedJob) -> bool {
        self.config.schedules(&job.partition)
    }

    /// What squeue shows of a job that is given back.
    pub(in crate::pass) fn reason_while_given_back(
        &self,
        job: &ObservedJob,
        observation: &Observation,
    ) -> Option<String> {
        let record = self.ledger.get(job.id)?;
        if record.life.depends_on_dfrs() {
            return record.life.reason(job, None, None, observation);
        }
        let withheld =
            job.state == ObservedState::Pending && self.giving_back.partitions.is_under_way();
        withheld.then(|| WITHHELD.to_owned())
    }

    /// Jobs of these partitions come back, or stay where they are. O(jobs) while any is given back.
    pub(in crate::pass) fn give_back_partitions(&mut self, seen: &Observation, now: Time) {
        if !self.giving_back.partitions.is_under_way() {
            return;
        }
        let jobs: Vec<&ObservedJob> = seen.jobs().filter(|job| !self.is_managed(job)).collect();
        for job in jobs {
            self.note_coming(job, now);
            let record = self.ledger.get(job.id);
            if record.is_none_or(|record| record.life.is_handed_back()) {
                continue;
            }
            if let Some(record) = self.ledger.get_mut(job.id) {
                let look = JobContext::new(job, seen, &self.config, now);
                record.on(&LifeEvent::HandedBack, &look);
            }
        }
    }

    /// Looks how far it is, and notes the end of it.
    pub(in crate::pass) fn follow_giving_back(&mut self, seen: &Observation, now: Time) {
        if !self.giving_back.partitions.is_under_way() {
            return;
        }
        let given_back = seen.jobs().filter(|job| !self.is_managed(job));
        let given_back: Vec<u32> = given_back.map(|job| job.id).collect();
        let any = given_back.iter().any(|id| self.depends_on_dfrs(*id));
        let last = self.giving_back.partitions.last;
        let is_kept = last.is_none_or(|last| now.since(last) >= SLURM_SAVE_DELAY);
        if any || !is_kept || !self.have_confirmed_thaw(seen, now) {
            return;
        }
        let given_back = given_back.into_iter().map(ChangeEntry::JobReason);
        self.lists.changes.extend(given_back);
        // From here on the head is another.
        let names = std::mem::take(&mut self.giving_back.partitions.partitions).join(",");
        let text = format!(
            "partition(s) {names}: all jobs that DFRS parked have resumed; backfill schedules them"
        );
        self.slurm.log(LogLevel::Info, &text);
        self.giving_back.partitions.kept = Some(self.persist_head());
    }

    /// Notes whether this job depends on DFRS to come back: its nodes have to acknowledge that.
    pub(in crate::pass) fn note_coming(&mut self, job: &ObservedJob, now: Time) {
        if self.depends_on_dfrs(job.id) && self.giving_back.partitions.note_coming(job.id, now) {
            let is_carried = self.ledger.get(job.id);
            let is_carried = is_carried.is_some_and(|record| record.life.leaves_image());
            let text = if is_carried {
                "its image is complete; it stays stopped on its last node until it has ended there"
            } else {
                "resumes, as DFRS had parked it"
            };
            self.log_about(LogLevel::Info, job, text);
            let why = "DFRS no longer schedules its partition";
            self.expect(job.id, Expected::Place, why);
        }
    }

    /// Whether DFRS has to bring this job back.
    pub(in crate::pass) fn depends_on_dfrs(&self, id: u32) -> bool {
        let record = self.ledger.get(id);
        record.is_some_and(|record| record.life.depends_on_dfrs())
    }

    /// Whether the nodes have acknowledged that they are to thaw what came back.
    pub(in crate::pass) fn have_confirmed_thaw(&self, seen: &Observation, now: Time) -> bool {
        // Orders are sent at the end of a pass.
        if self.giving_back.partitions.last == Some(now) {
            return false;
        }
        let jobs = self.giving_back.partitions.came_back.iter();
        let mut places = jobs
            .filter_map(|id| seen.job(*id))
            .flat_map(|job| &job.places);
        !places.any(|place| {
            let position = seen.node_position(place.node);
            let node = position.and_then(|position| seen.nodes().get(position));
            node.is_some_and(|node| !node.down && !self.nodes.daemons.has_acknowledged(&node.name))
        })
    }
}
