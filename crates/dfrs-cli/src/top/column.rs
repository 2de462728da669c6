//! The columns of the table of jobs: what they say, how they are sorted, which of them fit.

use std::cmp::Ordering;

use dfrs_core::Time;
use dfrs_journal::devices::by_name;
use dfrs_proto::devices;

use super::model::{TopJob, TopPhase, printable};
use super::words::{part, span};

/// A column, in the order on the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JobColumn {
    Job,
    #[default]
    Phase,
    Tasks,
    Nodes,
    Devices,
    Yield,
    Stretch,
    Progress,
    Virtual,
    Flow,
    Pauses,
    Migrations,
    Last,
    Since,
    Why,
}

use JobColumn::{
    Devices, Flow, Job as Id, Last, Migrations, Nodes, Pauses, Phase, Progress, Since, Stretch,
    Tasks, Virtual, Why, Yield,
};

/// From left to right.
pub const ALL: [JobColumn; 15] = [
    Id, Phase, Tasks, Nodes, Devices, Yield, Stretch, Progress, Virtual, Flow, Pauses, Migrations,
    Last, Since, Why,
];

/// What is there first where there is not room for all.
const BY_PRIORITY: [JobColumn; 14] = [
    Id, Phase, Devices, Yield, Stretch, Progress, Last, Since, Nodes, Tasks, Flow, Virtual, Pauses,
    Migrations,
];

/// What the reasons have before columns of less worth than the first ones get anything.
const REASON_WIDTH: u16 = 24;
/// With less than this they are left out.
const MIN_REASON_WIDTH: u16 = 10;
/// How many of the columns by worth come before the reasons.
const COLUMNS_BEFORE_REASONS: usize = 8;

impl JobColumn {
    pub fn title(self) -> &'static str {
        match self {
            Id => "JOB",
            Phase => "PHASE",
            Tasks => "TASKS",
            Nodes => "NODES",
            Devices => "GRES",
            Yield => "YIELD",
            Stretch => "STRETCH",
            Progress => "PROGRESS",
            Virtual => "VIRTUAL",
            Flow => "FLOW",
            Pauses => "PAUSES",
            Migrations => "MIGRATIONS",
            Last => "LAST",
            Since => "AGO",
            Why => "WHY",
        }
    }

    /// Width on the screen; `id` is that of the ids, and reasons get what is left.
    fn width(self, id: u16) -> u16 {
        match self {
            Id => id,
            Phase | Devices | Stretch | Virtual | Last => 7,
            Tasks | Nodes | Yield => 5,
            Migrations => 10,
            Progress => 11,
            Flow | Pauses => 6,
            Since => 5,
            Why => 0,
        }
    }

    pub fn is_text(self) -> bool {
        matches!(self, Id | Phase | Devices | Progress | Last | Why)
    }

    /// What it says of a job.
    pub fn cell(self, job: &TopJob, now: Time) -> String {
        match self {
            Id => job.id.clone(),
            Phase => job.phase_at(now).to_owned(),
            Tasks => job.tasks.to_string(),
            Nodes if job.places.is_empty() => "-".to_owned(),
            Nodes => job.places.len().to_string(),
            Devices if job.devices.is_empty() => "-".to_owned(),
            Devices => printable(&devices::text(&by_name(&job.devices))),
            Yield => job
                .running_share()
                .map_or("-".to_owned(), |share| format!("{share:.2}")),
            Stretch => job.stretch(now).map_or("-".to_owned(), stretch),
            Progress => match job.part_done(now) {
                Some(done) => part(done),
                None => span(job.virtual_time(now)),
            },
            Virtual => span(job.virtual_time(now)),
            Flow => span(job.flow_time(now)),
            Pauses => job.pauses.to_string(),
            Migrations => job.migrations.to_string(),
            Last => job.last.what.to_owned(),
            Since => span(now.since(job.last.at)),
            Why => job.last.why.clone(),
        }
    }

    /// Whether the largest come first.
    fn is_descending(self) -> bool {
        matches!(
            self,
            Tasks | Nodes | Devices | Stretch | Progress | Virtual | Flow | Pauses | Migrations
        )
    }

    /// What it is sorted by.
    fn key(self, job: &TopJob, now: Time) -> (f64, &str) {
        // Precise enough: a number of nodes.
        let nodes = job.places.len() as f64;
        match self {
            Id => (job.id.parse().unwrap_or(f64::INFINITY), &job.id),
            Phase => (phase(job.phase), ""),
            Tasks => (f64::from(job.tasks), ""),
            Nodes => (nodes, ""),
            Devices => (device_count(job), ""),
            Yield => (job.running_share().unwrap_or(f64::INFINITY), ""),
            Stretch => (job.stretch(now).unwrap_or(0.0), ""),
            Progress => (job.part_done(now).unwrap_or(0.0), ""),
            Virtual => (job.virtual_time(now).seconds(), ""),
            Flow => (job.flow_time(now).seconds(), ""),
            Pauses => (f64::from(job.pauses), ""),
            Migrations => (f64::from(job.migrations), ""),
            Last => (0.0, job.last.what),
            Since => (now.since(job.last.at).seconds(), ""),
            Why => (0.0, &job.last.why),
        }
    }
}

/// Sorts jobs: those that are over come last, equal ones as they were submitted.
pub fn sort(jobs: &mut Vec<&TopJob>, by: JobColumn, is_reversed: bool, now: Time) {
    let mut keyed: Vec<_> = jobs.drain(..).map(|job| (by.key(job, now), job)).collect();
    let turned = by.is_descending() != is_reversed;
    keyed.sort_unstable_by(|((one, one_text), a), ((other, other_text), b)| {
        let order = one.total_cmp(other).then(one_text.cmp(other_text));
        let order = if turned { order.reverse() } else { order };
        let over = a.is_over().cmp(&b.is_over());
        over.then(order).then_with(|| by_age(a, b))
    });
    jobs.extend(keyed.into_iter().map(|(_, job)| job));
}

/// Ended jobs in the order of their ends, the latest first; else in the order of submission.
fn by_age(one: &TopJob, other: &TopJob) -> Ordering {
    match one.is_over() && other.is_over() {
        true => other
            .last
            .at
            .cmp(&one.last.at)
            .then(other.key.cmp(&one.key)),
        false => one.key.cmp(&other.key),
    }
}

/// On one node, of whatever kind.
// Precise enough: a number of devices.
fn device_count(job: &TopJob) -> f64 {
    job.devices.values().map(|count| *count as f64).sum()
}

fn phase(phase: TopPhase) -> f64 {
    match phase {
        TopPhase::Running => 0.0,
        TopPhase::Paused => 1.0,
        TopPhase::Waiting => 2.0,
        TopPhase::Over(_) => 3.0,
    }
}

fn stretch(value: f64) -> String {
    if value < 1000.0 {
        format!("{value:.2}")
    } else if value < 100_000.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.0e}")
    }
}

/// The columns that fit with their widths, from left to right, with one space between them. `has_devices`: some job
/// asks for some.
pub fn fitting(width: u16, id: u16, has_devices: bool) -> Vec<(JobColumn, u16)> {
    let mut chosen: Vec<(JobColumn, u16)> = Vec::new();
    let mut left = width;
    for (place, column) in BY_PRIORITY.into_iter().enumerate() {
        if column == Devices && !has_devices {
            continue;
        }
        let needed = column.width(id) + u16::from(place > 0);
        let kept = if place < COLUMNS_BEFORE_REASONS {
            0
        } else {
            REASON_WIDTH + 1
        };
        if needed + kept > left {
            // Less worth does not take the place of more.
            break;
        }
        left -= needed;
        chosen.push((column, column.width(id)));
    }
    if left > MIN_REASON_WIDTH {
        chosen.push((Why, left - 1));
    }
    let place = |column: &JobColumn| ALL.iter().position(|other| other == column);
    chosen.sort_by_key(|(column, _)| place(column));
    chosen
}
