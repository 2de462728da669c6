//! A log line a day in shadow mode: what was seen, and nothing that cannot be known.

use dfrs_core::{Span, Time};
use dfrs_proto::conf::Mode;

use crate::daemons::Daemons;
use crate::pass::Agent;
use crate::probe::PassDurations;
use crate::slurm::port::{LogLevel, Slurm};

const DAY: Span = Span::from_seconds(24 * 3600);

/// What was seen since the last line.
#[derive(Debug)]
pub(in crate::pass) struct Daily {
    since: Time,
    came: u64,
    ended: u64,
}

impl Daily {
    /// Nothing was seen yet.
    pub(in crate::pass) fn from(now: Time) -> Self {
        Self {
            since: now,
            came: 0,
            ended: 0,
        }
    }

    /// So many jobs came, and so many ended.
    pub(in crate::pass) fn count(&mut self, came: usize, ended: usize) {
        self.came += came as u64;
        self.ended += ended as u64;
    }

    /// What was seen, if a day is over; the next one begins.
    fn take(&mut self, now: Time) -> Option<Self> {
        let is_over = now.0 - self.since.0 >= DAY.0;
        is_over.then(|| std::mem::replace(self, Self::from(now)))
    }

    fn line(&self, now: Time, took: PassDurations) -> String {
        let hours = now.since(self.since).whole_seconds() / 3600;
        let times = match took.count {
            0 => String::new(),
            count => format!(
                "; {count} passes, half of them within {} us, 99 of 100 within {} us",
                took.median_us, took.p99_us
            ),
        };
        format!(
            "Mode=shadow: in the last {hours} h {} jobs submitted and {} ended, all scheduled by Slurm{times}; 'dfrs status --shadow' says what DFRS would have done",
            self.came, self.ended
        )
    }
}

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Says once a day what was seen, where Slurm schedules and DFRS watches.
    pub(in crate::pass) fn log_daily_summary(&mut self, now: Time) {
        if self.config.mode != Mode::Shadow {
            return;
        }
        if let Some(day) = self.publisher.daily.take(now) {
            let line = day.line(now, self.probe.take_passes());
            self.slurm.log(LogLevel::Info, &line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn daily_summary_is_due_after_a_day_and_resets_its_counts() {
        let mut daily = Daily::from(Time(0));
        daily.count(5, 2);
        assert!(daily.take(Time(DAY.0 - 1)).is_none());
        daily.count(1, 1);
        let now = Time(DAY.0 + Span::from_seconds(3).0);
        let day = daily.take(now).expect("it is over");
        let took = PassDurations {
            count: 17_280,
            median_us: 120,
            p99_us: 900,
        };
        assert_eq!(
            day.line(now, took),
            "Mode=shadow: in the last 24 h 6 jobs submitted and 3 ended, all scheduled by Slurm; 17280 passes, \
             half of them within 120 us, 99 of 100 within 900 us; 'dfrs status --shadow' says what DFRS would have done"
        );
        assert!(!day.line(now, PassDurations::default()).contains("passes"));
        assert!(daily.take(Time(2 * DAY.0)).is_none());
        assert_eq!((daily.came, daily.ended), (0, 0));
    }
}
