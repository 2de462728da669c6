//! Yields in Slurm's own tools, if dfrs.conf turns that on.

use std::collections::BTreeMap;

use dfrs_core::{Span, Time, Yield};
use dfrs_proto::conf::Mode;

use crate::changes::ChangeReader;
use crate::daemons::Daemons;
use crate::pass::Agent;
use crate::slurm::observation::Observation;
use crate::slurm::port::Slurm;

/// How often what is shown follows: each change is a write to a record of slurmctld's.
const INTERVAL: Span = Span::from_seconds(10);

/// What is shown of the jobs' yields.
#[derive(Debug, Default)]
pub(in crate::pass) struct ShownYields {
    /// In hundredths.
    yields: BTreeMap<u32, u32>,
    followed: Time,
}

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Whether yields are to be shown.
    pub(in crate::pass) fn shows_yields(&self) -> bool {
        let asked = self.config.show_yield_in.is_some();
        asked && self.config.mode == Mode::Full && !self.giving_back.everything
    }

    /// Shows the yields of jobs that changed. O(jobs that did).
    pub(in crate::pass) fn show_yields(&mut self, observation: &Observation, now: Time) {
        if !self.shows_yields() {
            self.lists.changes.skip(ChangeReader::Yields);
            return;
        }
        let is_due = now.since(self.publisher.shown.followed) >= INTERVAL;
        if !(is_due && self.lists.changes.has_unread(ChangeReader::Yields)) {
            return;
        }
        self.publisher.shown.followed = now;
        let changed = self.lists.changes.take(ChangeReader::Yields).jobs;
        let mut news = Vec::new();
        for id in changed {
            let shown = self.to_show(id, observation);
            let before = match shown {
                Some(hundredths) => self.publisher.shown.yields.insert(id, hundredths),
                None => self.publisher.shown.yields.remove(&id),
            };
            if before != shown {
                news.push((id, shown));
            }
        }
        if !news.is_empty() {
            self.slurm.show_yields(&news);
        }
    }

    /// Removes all yields that are shown: the next agent may show none.
    pub fn clear_yields(&mut self) {
        let shown = std::mem::take(&mut self.publisher.shown.yields).into_keys();
        let news: Vec<(u32, Option<u32>)> = shown.map(|id| (id, None)).collect();
        if !news.is_empty() {
            self.slurm.show_yields(&news);
        }
    }

    /// What is to be shown of a job: nothing before it has begun.
    fn to_show(&self, id: u32, observation: &Observation) -> Option<u32> {
        let job = observation.job(id).filter(|job| self.is_managed(job))?;
        let record = self.ledger.get(id)?;
        let has_begun = job.has_place() || !record.has_done_nothing();
        has_begun.then(|| hundredths(record.share()))
    }
}

fn hundredths(share: Yield) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a yield is between 0 and 1"
    )]
    let hundredths = (share.0 * 100.0).round() as u32;
    hundredths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yields_are_rounded_to_hundredths() {
        let shares = [0.0, 0.004, 0.005, 0.333, 1.0];
        assert_eq!(
            shares.map(|share| hundredths(Yield(share))),
            [0, 0, 1, 33, 100]
        );
    }
}
