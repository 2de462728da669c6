//! What each phase is like. A phase declares it once, in its file, and what is asked of all phases
//! follows from it here: a new phase needs no line in what asks.

use super::Life;
use super::reason::how_paused;
use crate::slurm::records::{ObservedJob, ObservedPlace};

/// What a phase is like, whatever job is in it.
pub(super) struct PhaseTraits {
    /// Where the job is on its way, for people.
    pub(super) name: &'static str,
    /// What is under way.
    pub(super) course: PhaseCourse,
    /// What the job has in Slurm's eyes.
    pub(super) place: PhasePlace,
    /// Whether its nodes keep it frozen.
    pub(super) freezing: Freezing,
    /// What the phase is for the pauses of the job.
    pub(super) pause: PauseEffect,
}

/// What is under way for a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PhaseCourse {
    /// Nothing: it stays as it is until a plan or others change that.
    Settled,
    /// It gets a place, or comes back to its own.
    Arriving,
    /// It gives up its place.
    Leaving,
}

/// What a job has in Slurm's eyes, and what it is for DFRS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PhasePlace {
    /// It is in the queue.
    Queue,
    /// It has a place, with its memory, for DFRS's use.
    Used,
    /// It has its nodes, and gave its memory there back to Slurm's accounting, which has it again
    /// only when it comes back.
    Released,
    /// It has a place, with its memory, and an operator suspended it there.
    Operators,
}

/// Whether the nodes of a job keep it frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freezing {
    /// They do not.
    Never,
    /// They do, whatever Slurm shows.
    Always,
    /// They do, and write its processes to an image.
    Image,
    /// They do until Slurm counts its memory there.
    UntilCounted,
}

/// What a phase is for the pauses of a job, so that a site can say for how long one may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PauseEffect {
    /// A pause begins, or goes on.
    Paused,
    /// A pause is over.
    Over,
    /// What was goes on.
    AsBefore,
    /// There is none: the job did not start yet, or restarts, or an operator suspended it.
    None,
}

impl Life {
    /// What its phase is like.
    pub(super) fn traits(&self) -> &'static PhaseTraits {
        self.phase.rules().traits()
    }

    fn is(&self, course: PhaseCourse, place: PhasePlace) -> bool {
        let traits = self.traits();
        (traits.course, traits.place) == (course, place)
    }

    /// Where it is on its way, for people.
    pub fn phase_name(&self) -> &'static str {
        if self.is_paused() {
            how_paused(self.image)
        } else {
            self.traits().name
        }
    }

    /// Whether something is under way: the core plans around such a job.
    pub fn is_under_way(&self) -> bool {
        self.traits().course != PhaseCourse::Settled
    }

    /// Whether there may be a next step, which nothing but what Slurm or the nodes show keeps it
    /// from.
    pub fn may_have_step(&self) -> bool {
        self.is_under_way() || self.is_parked()
    }

    /// Whether it is giving up its place.
    pub fn is_leaving(&self) -> bool {
        self.traits().course == PhaseCourse::Leaving
    }

    /// Whether it waits in Slurm's queue and nothing is planned for it.
    pub fn is_waiting(&self) -> bool {
        self.is(PhaseCourse::Settled, PhasePlace::Queue)
    }

    /// Whether it runs and nothing is planned for it.
    pub fn is_running(&self) -> bool {
        self.is(PhaseCourse::Settled, PhasePlace::Used)
    }

    /// Whether it is parked, and nothing is planned for it.
    pub fn is_parked(&self) -> bool {
        self.is(PhaseCourse::Settled, PhasePlace::Released)
    }

    /// Whether it is planned to start, and has not yet.
    pub fn is_starting(&self) -> bool {
        self.is(PhaseCourse::Arriving, PhasePlace::Queue)
    }

    /// Whether it gave up its place by a checkpoint, and nothing is planned for it.
    pub fn is_paused(&self) -> bool {
        self.is_waiting() && self.traits().pause == PauseEffect::Paused
    }

    /// Whether it is being parked.
    pub fn is_parking(&self) -> bool {
        self.is_leaving() && self.traits().freezing == Freezing::Always
    }

    /// Whether its node writes its processes to an image.
    pub fn is_dumping(&self) -> bool {
        self.traits().freezing == Freezing::Image
    }

    /// Whether its last processes are ending on its last node, which is not to let them run: the job
    /// goes on from its image.
    pub fn leaves_image(&self) -> bool {
        self.phase.rules().leaves_image()
    }

    /// Whether it was parked and is on its way back.
    pub fn is_unparking(&self) -> bool {
        self.is(PhaseCourse::Arriving, PhasePlace::Released)
    }

    /// Whether an operator suspended it: DFRS leaves it alone until it runs again.
    pub fn is_suspended_by_operator(&self) -> bool {
        self.traits().place == PhasePlace::Operators
    }

    /// Whether it is parked, or is to give up its place and has it still.
    pub fn can_cancel_pause(&self) -> bool {
        self.is_parked() || self.is(PhaseCourse::Leaving, PhasePlace::Used)
    }

    /// Whether nothing more follows from handing it back: it waits, runs, is on its way back, or is
    /// suspended by an operator.
    pub fn is_handed_back(&self) -> bool {
        !self.may_have_step() || self.is_unparking()
    }

    /// Whether it depends on DFRS to come back: Slurm does not count its memory, or it is on its
    /// way there, or its node has to keep it stopped until its image is all that is left of it.
    pub fn depends_on_dfrs(&self) -> bool {
        self.traits().freezing != Freezing::Never || self.leaves_image()
    }

    /// Whether the job has the place that Slurm says, and uses it.
    pub fn uses_its_allocation(&self) -> bool {
        self.traits().place == PhasePlace::Used
    }

    /// Whether its nodes have to say that it is parked.
    pub fn needs_park_confirmation(&self) -> bool {
        self.phase.rules().needs_park_confirmation()
    }

    /// MiB that are not free for others on `place`, the job's number `position`, and that the core
    /// does not know of, as it does not decide about the job: what a job that an operator suspended
    /// holds there, and what a job that an operator resumed, or that is given back, shall have
    /// there.
    pub fn undecided_memory(&self, position: usize, place: &ObservedPlace) -> u64 {
        self.phase.rules().undecided_memory(position, place)
    }

    /// Whether it holds memory on its nodes that Slurm does not count, or may: slurmctld has
    /// forgotten that it was brought back.
    pub fn holds_uncounted_memory(&self, job: &ObservedJob) -> bool {
        self.phase.rules().may_hold_memory(job) && !job.is_counted()
    }

    /// Whether an operator says when it runs, not the core.
    pub fn is_undecided(&self, job: &ObservedJob) -> bool {
        self.phase.rules().is_undecided(job)
    }
}

#[cfg(test)]
mod tests {
    use dfrs_core::Time;

    use super::*;
    use crate::job::life::samples;
    use crate::job::life::table::samples::SAMPLES;

    /// The names of the phases of which this holds, each once.
    fn phases(holds: impl Fn(&Life) -> bool) -> String {
        let lives = SAMPLES
            .iter()
            .map(|sample| samples::in_phase((sample.phase)(Time(0))));
        let mut names: Vec<_> = lives.filter(holds).map(|life| life.phase_name()).collect();
        names.dedup();
        names.join(", ")
    }

    #[test]
    fn each_question_has_its_phases() {
        assert_eq!(
            phases(Life::is_under_way),
            "starting, being parked, coming back, to give up its place, writing its checkpoint, \
             writing its image, being requeued"
        );
        assert_eq!(
            phases(|life| !life.may_have_step()),
            "waiting, running, paused after its checkpoint, suspended by an operator"
        );
        assert_eq!(
            phases(Life::is_leaving),
            "being parked, to give up its place, writing its checkpoint, writing its image, being \
             requeued"
        );
        assert_eq!(
            phases(Life::can_cancel_pause),
            "being parked, parked, to give up its place, writing its checkpoint, writing its image"
        );
        assert_eq!(
            phases(Life::is_handed_back),
            "waiting, running, coming back, paused after its checkpoint, suspended by an operator"
        );
        assert_eq!(
            phases(Life::depends_on_dfrs),
            "being parked, parked, coming back, writing its image"
        );
        assert_eq!(
            phases(Life::uses_its_allocation),
            "running, being parked, to give up its place, writing its checkpoint, writing its image"
        );
        assert_eq!(
            phases(Life::is_waiting),
            "waiting, paused after its checkpoint"
        );
        assert_eq!(
            phases(Life::needs_park_confirmation),
            "being parked, parked, writing its image"
        );
        assert_eq!(
            phases(|life| life.phase.rules().was_warned()),
            "writing its checkpoint"
        );
        assert_eq!(
            phases(|life| life.phase.rules().after_leaving().is_some()),
            "to give up its place, writing its checkpoint, writing its image, being requeued"
        );
        assert_eq!(phases(Life::is_running), "running");
        assert_eq!(phases(Life::is_starting), "starting");
        assert_eq!(phases(Life::is_parking), "being parked");
        assert_eq!(phases(Life::is_dumping), "writing its image");
        assert_eq!(phases(Life::is_parked), "parked");
        assert_eq!(phases(Life::is_unparking), "coming back");
        assert_eq!(phases(Life::is_paused), "paused after its checkpoint");
        assert_eq!(
            phases(Life::is_suspended_by_operator),
            "suspended by an operator"
        );
    }
}
