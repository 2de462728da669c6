//! Timelines of simulations, by their events.

use std::collections::BTreeMap;

use dfrs_core::{Mobility, NodeIndex, Span, Time};
use dfrs_proto::journal::{EventKind, JournalEvent};
use dfrs_sim::trace::{Trace, TraceJob};

use super::{Sums, TimeBinning, Timeline, cpu, memory};
use crate::arriving::arriving;

/// A job as the watcher sees it.
#[derive(Clone, Default)]
struct TrackedJob {
    /// One node for each task; empty unless it runs.
    nodes: Vec<NodeIndex>,
    share: f64,
    since: Time,
    stalled_until: Time,
    over: bool,
}

/// Makes a timeline of the events of a simulation.
pub struct TimelineBuilder<'a> {
    trace: &'a Trace,
    places: BTreeMap<&'a str, usize>,
    jobs: Vec<TrackedJob>,
    timeline: Timeline,
}

impl<'a> TimelineBuilder<'a> {
    pub fn new(cut: TimeBinning, trace: &'a Trace) -> Self {
        let ids = trace.jobs.iter().map(|job| job.id.as_str());
        let watched = |job: &TraceJob| TrackedJob {
            since: job.submit,
            ..TrackedJob::default()
        };
        Self {
            trace,
            places: ids.enumerate().map(|(place, id)| (id, place)).collect(),
            jobs: trace.jobs.iter().map(watched).collect(),
            timeline: Timeline::new(cut),
        }
    }

    pub fn record(&mut self, event: &JournalEvent) {
        let t = event.t;
        match &event.kind {
            EventKind::Start { job, nodes } => self.place(t, job, nodes, None),
            EventKind::Yield { job, value } => {
                if let Some((job, _)) = self.until(t, job) {
                    job.share = *value;
                }
            }
            EventKind::Pause { job, lost } => {
                let Some((job, of_trace)) = self.until(t, job) else {
                    return;
                };
                job.nodes.clear();
                let moved = if *lost {
                    0.0
                } else {
                    memory(of_trace, u64::from(of_trace.tasks))
                };
                self.count(t, |timeline| &mut timeline.pauses, 1.0);
                self.count(t, |timeline| &mut timeline.moved, moved);
            }
            EventKind::Resume { job, nodes, stall } => {
                if let Some((_, of_trace)) = self.until(t, job)
                    && of_trace.mobility != Mobility::Restart
                {
                    let moved = memory(of_trace, u64::from(of_trace.tasks));
                    self.count(t, |timeline| &mut timeline.moved, moved);
                }
                self.place(t, job, nodes, *stall);
            }
            EventKind::Migrate { job, nodes, stall } => {
                if let Some((watched, of_trace)) = self.until(t, job) {
                    // Written here and read there.
                    let moved = 2.0 * memory(of_trace, arriving(&watched.nodes, nodes));
                    self.count(t, |timeline| &mut timeline.moved, moved);
                    self.count(t, |timeline| &mut timeline.migrations, 1.0);
                }
                self.place(t, job, nodes, *stall);
            }
            EventKind::Finish { job, .. } => {
                if let Some((job, _)) = self.until(t, job) {
                    job.over = true;
                    job.nodes = Vec::new();
                }
            }
            EventKind::Platform { .. }
            | EventKind::Submit { .. }
            | EventKind::Eligible { .. }
            | EventKind::Refused { .. }
            | EventKind::Unknown => {}
        }
    }

    pub fn finish(self) -> Timeline {
        self.timeline
    }

    fn count(&mut self, t: Time, sums: impl Fn(&mut Timeline) -> &mut Sums, value: f64) {
        let place = self.timeline.cut.place(t);
        *sums(&mut self.timeline).at(place) += value;
    }

    fn place(&mut self, t: Time, job: &str, nodes: &[NodeIndex], stall: Option<Span>) {
        if let Some((job, _)) = self.until(t, job) {
            job.nodes = nodes.to_vec();
            job.stalled_until = t + stall.unwrap_or(Span::ZERO);
        }
    }

    /// Adds up what the job did until now.
    fn until(&mut self, t: Time, job: &str) -> Option<(&mut TrackedJob, &'a TraceJob)> {
        let place = *self.places.get(job)?;
        let (job, of_trace) = (&mut self.jobs[place], &self.trace.jobs[place]);
        let cut = self.timeline.cut;
        if job.over {
        } else if job.nodes.is_empty() {
            self.timeline.waiting.add_rate(&cut, (job.since, t), 1.0);
        } else {
            let from = job.since.max(job.stalled_until);
            self.timeline
                .used
                .add_rate(&cut, (from, t), cpu(of_trace) * job.share);
        }
        job.since = t;
        Some((job, of_trace))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::timeline::tests::{CUT, at, trace};

    #[test]
    fn used_waiting_pauses_and_migrations_are_summed_per_interval() {
        let trace = trace();
        let mut builder = TimelineBuilder::new(CUT, &trace);
        let job = || "7".to_owned();
        let nodes = |list: &[u32]| list.iter().copied().map(NodeIndex).collect::<Vec<_>>();
        let mut record = |t, kind| builder.record(&JournalEvent::new(at(t), kind));
        record(
            50,
            EventKind::Start {
                job: job(),
                nodes: nodes(&[0, 1]),
            },
        );
        record(
            50,
            EventKind::Yield {
                job: job(),
                value: 0.5,
            },
        );
        record(
            100,
            EventKind::Pause {
                job: job(),
                lost: false,
            },
        );
        let stall = Some(Span::from_seconds(20));
        record(
            160,
            EventKind::Resume {
                job: job(),
                nodes: nodes(&[1, 0]),
                stall,
            },
        );
        record(
            200,
            EventKind::Migrate {
                job: job(),
                nodes: nodes(&[2, 0]),
                stall: None,
            },
        );
        record(
            300,
            EventKind::Finish {
                job: job(),
                outcome: Default::default(),
            },
        );
        let timeline = builder.finish();
        // Half of half a node, from 50 to 100, 180 to 200 and 200 to 300.
        assert_eq!(timeline.used.0, [12.5, 5.0, 25.0]);
        assert_eq!(timeline.waiting.0, [50.0, 60.0]);
        assert_eq!(
            (timeline.pauses.0, timeline.migrations.0),
            (vec![0.0, 1.0], vec![0.0, 0.0, 1.0])
        );
        // A whole node's memory out and in, then half of it out and in.
        assert_eq!(timeline.moved.0, [0.0, 2.0, 1.0]);
    }

    #[test]
    fn tasks_that_stay_are_not_moved() {
        let nodes = |list: &[u32]| list.iter().copied().map(NodeIndex).collect::<Vec<_>>();
        assert_eq!(arriving(&nodes(&[0, 0, 1, 5]), &nodes(&[5, 0, 0, 1])), 0);
        assert_eq!(arriving(&nodes(&[0, 0, 1, 5]), &nodes(&[0, 1, 1, 7])), 2);
    }
}
