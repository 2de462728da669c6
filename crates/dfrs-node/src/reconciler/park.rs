//! A frozen job's memory: out of RAM and held there, and back.
//!
//! A parked job's memory limit is what stayed of it in RAM and a little more. So the kernel keeps
//! the promise on which Slurm gives the rest to others, whichever process touches the job's memory:
//! one of the job that is not frozen, one of another job that shares pages with it, one of a step
//! that comes late. The limit is noted before it is lowered, and given back before the job is
//! thawed, when Slurm or a user has thawed it, and when this daemon stops. See
//! docs/adr/0044-swap-as-it-is.md.

use super::*;
use crate::facts::LimitNote;
use crate::parking::{Claim, ParkingRefusal};
use crate::reclaimer::Reclaim;

/// Why a job without a memory limit is not parked.
const NO_LIMIT: &str = "has no memory limit, so nothing would hold it to what stays in RAM: it is not parked; \
    set ConstrainRAMSpace=yes in cgroup.conf";

/// Why a parked job's processes may be ended for what others do.
const NOT_PROTECTED: &str = "its processes cannot be protected from the OOM killer (oom_score_adj): a job of \
    another user that locks pages of a file of theirs in memory could have them ended; give dfrsd CAP_SYS_RESOURCE";

impl Reconciler {
    /// Reclaims a frozen job's memory, as often as it takes, and sees to it that it is held to that.
    pub(super) fn park(&mut self, job: &mut NodeJob, directory: &JobDirectory, now: Now) {
        let due = match job.parking {
            Parking::Running => true,
            Parking::Retry { at } => now.monotonic >= at,
            Parking::Reclaiming => false,
            Parking::Parked => self.has_lost_its_limit(job, directory),
        };
        if !due {
            return;
        }
        self.forget_parked(job);
        let Some(running) = self.note_limit(job, directory) else {
            job.parking = Parking::Retry {
                at: now.monotonic + parking::RETRY_AFTER,
            };
            return;
        };
        let memory = self.cgroups.memory_use(directory).total();
        job.bytes_when_frozen = job.bytes_when_frozen.max(memory);
        let claim = Claim {
            before_bytes: job.bytes_when_frozen.unwrap_or_default(),
            max_resident_bytes: self.settings.max_resident_bytes,
        };
        let request = ReclaimRequest::new(directory.clone(), claim, running);
        self.reclaimer.request(request.clone());
        job.reclaim = Some(request);
        job.parking = Parking::Reclaiming;
    }

    /// Whether the limit of a parked job was changed: each step that Slurm starts sets the job's
    /// (`_memcg_initialize` of 22.05 and 24.11). The new value is the job's own limit from then on.
    fn has_lost_its_limit(&mut self, job: &mut NodeJob, directory: &JobDirectory) -> bool {
        let found = self.cgroups.memory_limit(directory);
        let Some(found) = self.warnings.check(job.subject("memory limit"), found) else {
            return false;
        };
        let parked = job.limit.and_then(|note| note.parked_bytes);
        if found == parked {
            return false;
        }
        log::line(format_args!(
            "{}: its memory limit was changed while it was parked; it is parked again",
            log::job(job.id)
        ));
        job.limit = found.map(|running| LimitNote {
            running_bytes: running,
            parked_bytes: None,
        });
        if found.is_none() {
            // There is no limit to give back later, and these with it.
            self.release_tasks(job, directory);
        }
        true
    }

    /// The limit that the job has while it runs, noted before it is lowered; none: it has none, or that cannot be
    /// seen or noted.
    fn note_limit(&mut self, job: &mut NodeJob, directory: &JobDirectory) -> Option<u64> {
        if let Some(note) = job.limit {
            let note = LimitNote {
                parked_bytes: None,
                ..note
            };
            return self.write_note(job, note);
        }
        let found = self.cgroups.memory_limit(directory);
        let found = self.warnings.check(job.subject("memory limit"), found)?;
        let Some(running) = found else {
            let removed = self.facts.set_limit_note(job.id, None);
            self.warnings.check(job.subject("note"), removed);
            self.warnings.note(job.subject("parking"), NO_LIMIT);
            self.publish(job, JobFact::Stuck, true);
            return None;
        };
        let note = LimitNote {
            running_bytes: running,
            parked_bytes: None,
        };
        self.write_note(job, note)
    }

    fn write_note(&mut self, job: &mut NodeJob, note: LimitNote) -> Option<u64> {
        let written = self.facts.set_limit_note(job.id, Some(note));
        self.warnings.check(job.subject("note"), written)?;
        job.limit = Some(note);
        Some(note.running_bytes)
    }

    /// The job runs, or is about to: the link first, as it must not count as parked when it runs, then its memory.
    pub(super) fn unpark(&mut self, job: &mut NodeJob) {
        self.cancel_reclaim(job);
        job.bytes_when_frozen = None;
        self.forget_parked(job);
        self.publish(job, JobFact::Stuck, false);
        self.give_limit_back(job);
    }

    /// The job shall stay frozen, and not all of it is.
    pub(super) fn interrupt_parking(&mut self, job: &mut NodeJob) {
        self.cancel_reclaim(job);
        self.forget_parked(job);
        // Slurm or a user has thawed it: it runs, or is being ended.
        if !job.has_frozen_step() {
            self.give_limit_back(job);
        }
    }

    fn cancel_reclaim(&mut self, job: &mut NodeJob) {
        if let Some(request) = job.reclaim.take() {
            request.cancel();
            self.reclaimer.interrupt();
        }
    }

    pub(super) fn forget_parked(&mut self, job: &mut NodeJob) {
        if std::mem::replace(&mut job.parking, Parking::Running) == Parking::Parked {
            log::line(format_args!("{} is no longer parked", log::job(job.id)));
            self.warnings.check(
                job.subject("link"),
                self.facts.set_of_job(job.id, JobFact::Parked, false),
            );
        }
    }

    /// Gives the job the memory limit that it had. One that is another than ours was set by Slurm since, and stays.
    pub(super) fn give_limit_back(&mut self, job: &mut NodeJob) {
        let (Some(note), Some(directory)) = (job.limit, &job.directory) else {
            return;
        };
        let cgroups = &self.cgroups;
        let given = cgroups.memory_limit(directory).and_then(|found| {
            let is_lower = found.is_some_and(|found| found < note.running_bytes);
            if is_lower && note.parked_bytes.is_none_or(|parked| found == Some(parked)) {
                cgroups.set_memory_limit(directory, Some(note.running_bytes))?;
            }
            Ok(())
        });
        let subject = job.subject("memory limit");
        let is_given = self.warnings.check(subject, given).is_some();
        // Not before the job has its own limit: until then they keep memory for slurmstepd.
        if is_given && self.release_tasks(job, directory) {
            job.limit = None;
            let removed = self.facts.set_limit_note(job.id, None);
            self.warnings.check(job.subject("note"), removed);
        }
    }

    /// The job's tasks may have what the job may, and be ended if that leaves no other way.
    fn release_tasks(&mut self, job: &NodeJob, directory: &JobDirectory) -> bool {
        let killable = self.cgroups.set_oom_killable(directory, true);
        self.warnings.check(job.subject("protection"), killable);
        let released = self.cgroups.hold_tasks(directory, None);
        let subject = job.subject("tasks' memory limits");
        self.warnings.check(subject, released).is_some()
    }

    pub(super) fn note_reclaim(&mut self, (request, result): ReclaimOutcome, now: Now) {
        // Taken out, so that it and the rest can be changed side by side.
        let Some(mut job) = self.jobs.remove(&request.job.id) else {
            return;
        };
        if !request.is_cancelled() {
            job.reclaim = None;
            job.parking = Parking::Retry {
                at: now.monotonic + parking::RETRY_AFTER,
            };
            let result = self.warnings.check(job.subject("reclaim"), result);
            if let Some(reclaim) = result {
                self.conclude_parking(&mut job, request.claim, reclaim);
            }
        }
        self.jobs.insert(job.id, job);
    }

    fn conclude_parking(&mut self, job: &mut NodeJob, claim: Claim, reclaim: Reclaim) {
        let refused = match reclaim.limit_bytes {
            // Slurm may have set its own again meanwhile.
            Some(limit) if !self.has_limit(job, limit) => return,
            Some(limit) => self.refuse_for_node(job, limit),
            None => Some(ParkingRefusal::StaysInRam {
                resident: reclaim.resident_bytes,
                before: claim.before_bytes,
            }),
        };
        if let Some(refusal) = refused {
            self.note_refusal(job, refusal);
            return;
        }
        let note = job.limit.map(|note| LimitNote {
            parked_bytes: reclaim.limit_bytes,
            ..note
        });
        if note.and_then(|note| self.write_note(job, note)).is_none() {
            return;
        }
        match reclaim.is_protected {
            true => self.warnings.clear(&job.subject("protection")),
            false => self.warnings.note(job.subject("protection"), NOT_PROTECTED),
        }
        self.publish(job, JobFact::Stuck, false);
        let link = self.facts.set_of_job(job.id, JobFact::Parked, true);
        if self.warnings.check(job.subject("link"), link).is_some() {
            self.warnings.clear(&job.subject("parking"));
            let (was, is) = (
                mebibytes(claim.before_bytes),
                mebibytes(reclaim.resident_bytes),
            );
            let limit = mebibytes(reclaim.limit_bytes.unwrap_or_default());
            log::line(format_args!(
                "{} is parked: of {was:.1} MiB {is:.1} stay in RAM; its memory limit is {limit:.1} MiB",
                log::job(job.id)
            ));
            job.parking = Parking::Parked;
        }
    }

    fn has_limit(&mut self, job: &NodeJob, limit: u64) -> bool {
        let Some(directory) = &job.directory else {
            return false;
        };
        let found = self.cgroups.memory_limit(directory);
        let found = self.warnings.check(job.subject("memory limit"), found);
        found == Some(Some(limit))
    }

    /// What parked jobs keep has to be in what the node has beyond what Slurm gives to jobs.
    fn refuse_for_node(&self, job: &NodeJob, limit: u64) -> Option<ParkingRefusal> {
        let kept = self.kept_memory(job.id).saturating_add(limit);
        let spare = self.spare_memory_bytes;
        (kept > spare).then_some(ParkingRefusal::NodeIsFull { kept, spare })
    }

    /// Bytes that parked jobs may have in RAM, but for this one. O(jobs).
    pub(super) fn kept_memory(&self, except: u32) -> u64 {
        let others = self.jobs.values().filter(|job| job.id != except);
        let kept = others.filter_map(|job| job.limit?.parked_bytes);
        kept.fold(0, u64::saturating_add)
    }

    fn note_refusal(&mut self, job: &mut NodeJob, refusal: ParkingRefusal) {
        let text = match refusal {
            ParkingRefusal::StaysInRam { resident, before } => format!(
                "{:.1} of {:.1} MiB stay in RAM; are they locked, or huge pages? Is swap free, and ConstrainSwapSpace=no in cgroup.conf?",
                mebibytes(resident),
                mebibytes(before)
            ),
            ParkingRefusal::NodeIsFull { kept, spare } => format!(
                "parked jobs would keep {:.1} MiB in RAM, and the node has {:.1} MiB for that beyond what Slurm gives \
                 to jobs; lower RealMemory in slurm.conf",
                mebibytes(kept),
                mebibytes(spare)
            ),
        };
        self.warnings.note(job.subject("parking"), text);
        if let ParkingRefusal::StaysInRam { resident, .. } = refusal {
            let free = swap::read(&self.settings.swaps).free_bytes;
            self.publish(job, JobFact::Stuck, parking::is_stuck(resident, free));
        }
    }
}

fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
