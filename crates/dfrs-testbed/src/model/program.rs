//! What users submit, and the truth about how far it got.

use dfrs_core::Span;

use dfrs_agent::slurm::records::ObservedJob;

/// The word by which a user says that a program is prepared for the warning.
pub(super) const CHECKPOINT: &str = "dfrs:checkpoint";

/// What became of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramOutcome {
    /// It is not over.
    Open,
    /// It did all of its work.
    Finished,
    /// It was cancelled.
    Cancelled,
    /// It hit its time limit, or lost its node and may not be requeued.
    Failed,
}

/// What comes of writing a job's processes to an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImageOutcome {
    /// Its node says that it cannot be carried.
    #[default]
    Refused,
    /// The image is complete.
    Complete,
    /// The node says that it can be, and the image fails.
    Fails,
    /// It is complete, and the first restore fails.
    NotRestored,
}

impl ImageOutcome {
    /// Whether there is an image in the end.
    pub(super) const fn is_complete(self) -> bool {
        matches!(self, Self::Complete | Self::NotRestored)
    }
}

/// What a user submits.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSubmission {
    /// Its name in the model: job ids are Slurm's to give, and are used again.
    pub label: u32,
    /// As Slurm shows it, with an id of 0.
    pub job: ObservedJob,
    /// The user that submits it.
    pub user: u32,
    /// Its run time with all the CPU that it needs.
    pub work: Span,
    /// The percents of its request that it can use, in equal parts of its work; none: all of it.
    pub uses: Vec<u8>,
    /// Seconds from its submission before which it may not begin.
    pub begin_seconds: i64,
    /// `--exclusive=user`: no other user's jobs on its nodes.
    pub owner: bool,
    /// It does not end at SIGTERM: its nodes kill it after a while.
    pub stubborn: bool,
    /// Its user says that it is prepared for the warning, and it is not: the signal ends it.
    pub untrapped: bool,
    /// Its memory is locked: none of it leaves RAM.
    pub pinned: bool,
    /// What comes of writing it to an image.
    pub image: ImageOutcome,
    /// Its script holds the job as soon as it runs.
    pub holds: bool,
    /// Its script begins a step every so many seconds; 0: none.
    pub step_seconds: u32,
    /// When it is warned it writes its checkpoint and ends by itself, with an exit code of 0.
    pub ends_when_warned: bool,
    /// Tasks of the array, which have the labels from `label` on; 1: no array.
    pub array: u32,
}

impl JobSubmission {
    /// A plain one.
    pub fn new(label: u32, job: ObservedJob, work: Span) -> Self {
        Self {
            label,
            job,
            user: 1000,
            work,
            uses: Vec::new(),
            begin_seconds: 0,
            owner: false,
            stubborn: false,
            untrapped: false,
            pinned: false,
            image: ImageOutcome::Refused,
            holds: false,
            step_seconds: 0,
            ends_when_warned: false,
            array: 1,
        }
    }

    /// Whether it writes a checkpoint when it is warned, and begins there the next time. Its user
    /// states that, or has Slurm warn it; any other program is ended by the signal.
    pub fn checkpoints(&self) -> bool {
        self.wants_warnings() && !self.untrapped
    }

    /// Whether its user wants it to be warned.
    pub fn wants_warnings(&self) -> bool {
        self.job.comment.contains(CHECKPOINT) || self.job.warn_seconds > 0
    }
}

/// A submission (of an array: one of its tasks) and how far it got.
#[derive(Clone, Debug)]
pub struct JobProgram {
    /// What was submitted.
    pub submission: JobSubmission,
    /// Slurm's id, since its last submission.
    pub id: u32,
    /// Work that its checkpoint or image holds.
    pub kept: Span,
    /// Work that all its runs have done together, once their last processes are gone.
    pub worked: Span,
    /// What became of it.
    pub outcome: ProgramOutcome,
    /// How often its processes were launched.
    pub launches: u32,
    /// A restore of its image has failed.
    pub restore_failed: bool,
    /// Its end is reported to slurmctld.
    pub reported: bool,
    /// slurmctld was killed and has forgotten something about it: Slurm may run it again.
    pub forgotten: bool,
    /// When it first began, and when it was over, by the model's own time (microseconds).
    pub first_launch_us: Option<i64>,
    /// See `first_launch_us`.
    pub over_at_us: Option<i64>,
}

impl JobProgram {
    pub(super) fn new(submission: JobSubmission) -> Self {
        Self {
            submission,
            id: 0,
            kept: Span(0),
            worked: Span(0),
            outcome: ProgramOutcome::Open,
            launches: 0,
            restore_failed: false,
            reported: false,
            forgotten: false,
            first_launch_us: None,
            over_at_us: None,
        }
    }
}
