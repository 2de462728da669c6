//! What time limits have been worth so far.

use serde::{Deserialize, Serialize};

use crate::model::Job;
use crate::units::Span;

/// From this virtual time on a job counts as long.
const LONG: Span = Span::from_seconds(3600);

/// A job that is done before it has had so much was not long by any measure.
const BRIEF: Span = Span::from_seconds(600);

/// Limits from an hour on, by powers of two.
const CLASSES: usize = 24;

/// Counts are halved when they are more: what was true long ago is forgotten.
const MAX_JOBS_PER_CLASS: u32 = 256;
const MAX_JOBS: u32 = 2048;

/// How jobs with limits of more than an hour ended: how much such a limit says. Drivers keep it in
/// the [`crate::Roster`], report each job that ends ([`Experience::learn`]), and may store it. Its
/// size is fixed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Experience {
    classes: [Class; CLASSES],
    /// Jobs that were done within ten minutes, whatever their limit.
    brief: u32,
    /// All other jobs.
    honest: u32,
}

/// Jobs with similar limits that have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Class {
    /// Jobs that had an hour of virtual time or more.
    long: u32,
    short: u32,
}

impl Experience {
    /// A job with this limit ended by itself with so much virtual time. O(1).
    pub fn learn(&mut self, limit: Option<Span>, virtual_time: Span) {
        let Some(place) = class_of(limit) else { return };
        let class = &mut self.classes[place];
        if virtual_time >= LONG {
            class.long += 1;
        } else {
            class.short += 1;
        }
        if class.long + class.short > MAX_JOBS_PER_CLASS {
            (class.long, class.short) = (class.long / 2, class.short / 2);
        }
        if virtual_time < BRIEF {
            self.brief += 1;
        } else {
            self.honest += 1;
        }
        if self.brief + self.honest > MAX_JOBS {
            (self.brief, self.honest) = (self.brief / 2, self.honest / 2);
        }
    }

    /// Whether limits say anything here: of the jobs that requested more than an hour at least 97
    /// in 100 have run for ten minutes. The count of such jobs starts at one.
    pub const fn is_good(&self) -> bool {
        self.brief as u64 * 97 <= (self.honest as u64 + 1) * 3
    }
}

/// Which jobs are long, by what is known now.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expectation {
    /// Of each class whether its jobs are expected to be long; all `false` where limits are not
    /// looked at.
    is_long: [bool; CLASSES],
}

impl Expectation {
    /// Of a class of limits more than nine in ten must have had an hour; those count that run still
    /// and have had it, and one that never was. O(running jobs).
    pub(crate) fn of<'j>(experience: &Experience, running: impl Iterator<Item = &'j Job>) -> Self {
        if !experience.is_good() {
            return Self::default();
        }
        let mut classes = experience.classes;
        for job in running.filter(|job| job.virtual_time >= LONG) {
            if let Some(place) = class_of(job.limit) {
                classes[place].long += 1;
            }
        }
        let is_long = classes.map(|class| class.long + 1 > 9 * class.short);
        Self { is_long }
    }

    /// Whether the job is expected to have an hour of virtual time or more. O(1).
    pub(crate) fn is_long(&self, job: &Job) -> bool {
        class_of(job.limit).is_some_and(|place| self.is_long[place])
    }
}

/// The class of a limit, if it is more than an hour.
fn class_of(limit: Option<Span>) -> Option<usize> {
    let limit = limit.filter(|limit| *limit > LONG)?;
    let hours = (limit.0 / LONG.0).max(1);
    Some((hours.ilog2() as usize).min(CLASSES - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JobId;
    use crate::units::{Bytes, Cores, Time};

    fn job(hours: i64) -> Job {
        let mut job = Job::new(JobId(1), Time::ZERO, 1, Cores(1), Bytes(1));
        job.limit = (hours > 0).then(|| Span::from_seconds(hours * 3600));
        job
    }

    fn expects(experience: &Experience, hours: i64) -> bool {
        Expectation::of(experience, std::iter::empty()).is_long(&job(hours))
    }

    fn ended(times: &[(i64, i64)]) -> Experience {
        let mut experience = Experience::default();
        for (hours, seconds) in times {
            experience.learn(job(*hours).limit, Span::from_seconds(*seconds));
        }
        experience
    }

    #[test]
    fn long_limits_are_trusted_without_history() {
        let experience = Experience::default();
        assert!(experience.is_good());
        assert!(expects(&experience, 2) && expects(&experience, i64::MAX / 3_600_000_000));
        assert!(!expects(&experience, 1) && !expects(&experience, 0));
    }

    #[test]
    fn limit_class_is_not_trusted_when_its_jobs_are_short() {
        let experience = ended(&[(2, 700), (24, 90_000)]);
        assert!(experience.is_good());
        assert!(!expects(&experience, 2) && !expects(&experience, 3));
        assert!(expects(&experience, 4) && expects(&experience, 24));
        // More than nine long jobs are needed to make up for a short one.
        let long = [(2, 4000); 9];
        assert!(expects(&ended(&[&[(2, 700)][..], &long].concat()), 2));
        assert!(!expects(&ended(&[&[(2, 700)][..], &long[1..]].concat()), 2));
    }

    #[test]
    fn running_jobs_count_as_long_after_an_hour() {
        let experience = ended(&[(2, 700)]);
        let mut running = vec![job(2); 9];
        for job in &mut running {
            job.virtual_time = LONG;
        }
        let of = |running: &[Job]| Expectation::of(&experience, running.iter()).is_long(&job(2));
        assert!(of(&running) && !of(&running[1..]));
    }

    #[test]
    fn no_limit_is_trusted_when_many_jobs_are_brief() {
        let experience = ended(&[(24, 10)]);
        assert!(!experience.is_good() && !expects(&experience, 4));
        // 97 in 100, one of which is given.
        let trusted = |honest: usize| {
            let times = [&[(24, 10)][..], &vec![(4, 4000); honest]].concat();
            expects(&ended(&times), 4)
        };
        assert!(!trusted(31) && trusted(32));
    }

    #[test]
    fn old_counts_decay() {
        let times = [&[(2, 700); 20][..], &[(2, 4000); 2500]].concat();
        assert!(expects(&ended(&times), 2));
        let experience = ended(&[(2, 700); 10_000]);
        assert!(experience.honest <= MAX_JOBS && experience.classes[1].short <= MAX_JOBS_PER_CLASS);
    }
}
