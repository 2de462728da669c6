//! What happened when: sums over equal stretches of time.

use std::collections::BTreeMap;

use dfrs_core::{Mobility, NodeIndex, Span, Time};
use dfrs_proto::journal::{Event, EventKind};
use dfrs_sim::JobRecord;
use dfrs_sim::trace::{NODE_CPU, NODE_MEMORY, Trace, TraceJob};

/// The most stretches that a period is cut into.
const MOST: i64 = 240;

/// Lengths of a stretch, in seconds.
const LENGTHS: [i64; 10] = [
    60, 300, 600, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 604_800,
];

/// How a period is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Where it begins.
    pub from: Time,
    /// Length of each stretch, above 0.
    pub length: Span,
}

impl Cut {
    /// Cuts the time in which jobs of the trace are submitted, and may run.
    pub fn of(trace: &Trace) -> Self {
        let from = trace.jobs.first().map_or(Time::default(), |job| job.submit);
        let last = trace.jobs.iter().map(|job| job.submit + job.runtime).max();
        let whole = last.unwrap_or(from).since(from).0 / 1_000_000;
        let fitting = LENGTHS.into_iter().find(|length| length * MOST >= whole);
        let length = Span::from_seconds(fitting.unwrap_or(whole / MOST + 1));
        Self { from, length }
    }

    fn place(&self, time: Time) -> usize {
        usize::try_from(time.since(self.from).0.max(0) / self.length.0).unwrap_or(0)
    }
}

/// Sums of one quantity, a stretch after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sums(pub Vec<f64>);

impl Sums {
    fn at(&mut self, place: usize) -> &mut f64 {
        if self.0.len() <= place {
            self.0.resize(place + 1, 0.0);
        }
        &mut self.0[place]
    }

    /// Adds a rate per second that held from one time to another. O(stretches between).
    fn add_rate(&mut self, cut: &Cut, (from, to): (Time, Time), rate: f64) {
        let mut from = from.max(cut.from);
        while from < to && rate != 0.0 {
            let place = cut.place(from);
            let next = i64::try_from(place + 1).unwrap_or(i64::MAX);
            let end = Time(cut.from.0.saturating_add(cut.length.0.saturating_mul(next))).min(to);
            *self.at(place) += rate * end.since(from).seconds();
            from = end;
        }
    }
}

/// What happened on a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    pub cut: Cut,
    /// Seconds of a whole node's CPU that jobs used.
    pub used: Sums,
    /// Seconds of a whole node's CPU that jobs had to themselves, used or not.
    pub held: Sums,
    /// Seconds of jobs that were in the system without running.
    pub waiting: Sums,
    /// How often jobs were paused.
    pub pauses: Sums,
    /// How often they moved.
    pub migrations: Sums,
    /// Memory of whole nodes that was written or read for that.
    pub moved: Sums,
}

impl Timeline {
    fn new(cut: Cut) -> Self {
        Self {
            cut,
            used: Sums::default(),
            held: Sums::default(),
            waiting: Sums::default(),
            pauses: Sums::default(),
            migrations: Sums::default(),
            moved: Sums::default(),
        }
    }

    /// That of jobs which wait, and then run with so many nodes' CPUs to themselves.
    pub fn of_batch(cut: Cut, trace: &Trace, records: &[JobRecord], nodes: &[f64]) -> Self {
        let mut timeline = Self::new(cut);
        for ((job, record), nodes) in trace.jobs.iter().zip(records).zip(nodes) {
            let Time(end) = record.start + job.runtime;
            let ran = (record.start, Time(end.min(record.finish.0)));
            timeline.used.add_rate(&cut, ran, cpu(job));
            timeline.held.add_rate(&cut, ran, *nodes);
            let waited = (job.submit, record.start);
            timeline.waiting.add_rate(&cut, waited, 1.0);
        }
        timeline
    }

    /// The middle of each stretch in days since the beginning, and a value made of its sum.
    pub fn points(&self, sums: &Sums, value: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        let days = self.cut.length.seconds() / 86_400.0;
        let point = |(place, sum): (usize, &f64)| {
            #[allow(clippy::cast_precision_loss)] // a few thousand
            let place = place as f64;
            (place * days, value(*sum))
        };
        sums.0.iter().enumerate().map(point).collect()
    }
}

/// CPU need of all tasks, in nodes.
#[allow(clippy::cast_precision_loss)] // both are below 2^53
pub fn cpu(job: &TraceJob) -> f64 {
    job.cpu.0 as f64 / NODE_CPU.0 as f64 * f64::from(job.tasks)
}

/// Memory of so many of its tasks, in nodes.
#[allow(clippy::cast_precision_loss)] // both are below 2^53
pub fn memory(job: &TraceJob, tasks: u64) -> f64 {
    job.memory.0 as f64 / NODE_MEMORY.0 as f64 * tasks as f64
}

/// A job as the watcher sees it.
#[derive(Clone, Default)]
struct Watched {
    /// One node for each task, ascending; empty unless it runs.
    nodes: Vec<NodeIndex>,
    share: f64,
    since: Time,
    stalled_until: Time,
    over: bool,
}

/// Makes a timeline of the events of a simulation.
pub struct Watcher<'a> {
    trace: &'a Trace,
    places: BTreeMap<&'a str, usize>,
    jobs: Vec<Watched>,
    timeline: Timeline,
}

impl<'a> Watcher<'a> {
    pub fn new(cut: Cut, trace: &'a Trace) -> Self {
        let ids = trace.jobs.iter().map(|job| job.id.as_str());
        let watched = |job: &TraceJob| Watched {
            since: job.submit,
            ..Watched::default()
        };
        Self {
            trace,
            places: ids.enumerate().map(|(place, id)| (id, place)).collect(),
            jobs: trace.jobs.iter().map(watched).collect(),
            timeline: Timeline::new(cut),
        }
    }

    pub fn see(&mut self, event: &Event) {
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
                    let moved = 2.0 * memory(of_trace, moved_tasks(&watched.nodes, nodes));
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
            EventKind::Platform { .. } | EventKind::Submit { .. } | EventKind::Unknown => {}
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
            job.nodes.sort_unstable();
            job.stalled_until = t + stall.unwrap_or(Span::ZERO);
        }
    }

    /// Adds up what the job did until now.
    fn until(&mut self, t: Time, job: &str) -> Option<(&mut Watched, &'a TraceJob)> {
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

/// How many tasks are on nodes on which they were not; the first is ascending.
fn moved_tasks(before: &[NodeIndex], after: &[NodeIndex]) -> u64 {
    let mut after = after.to_vec();
    after.sort_unstable();
    let mut before = before.iter().peekable();
    let mut moved = 0;
    for node in &after {
        while before.next_if(|old| *old < node).is_some() {}
        if before.next_if_eq(&node).is_none() {
            moved += 1;
        }
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfrs_core::{Bytes, Cores};

    const CUT: Cut = Cut {
        from: Time(0),
        length: Span::from_seconds(100),
    };

    fn trace() -> Trace {
        let half = Bytes(NODE_MEMORY.0 / 2);
        let job = TraceJob::new(
            "7",
            Time(0),
            2,
            Cores(NODE_CPU.0 / 4),
            half,
            Span::from_seconds(100),
        );
        Trace {
            jobs: vec![job],
            ..Trace::default()
        }
    }

    fn at(seconds: i64) -> Time {
        Time::from_seconds(seconds)
    }

    #[test]
    fn rates_are_shared_out_exactly() {
        let mut sums = Sums::default();
        sums.add_rate(&CUT, (at(50), at(320)), 2.0);
        assert_eq!(sums.0, [100.0, 200.0, 200.0, 40.0]);
        sums.add_rate(&CUT, (at(10), at(10)), 2.0);
        assert_eq!(sums.0[0], 100.0);
    }

    #[test]
    fn a_batch_job_waits_and_runs() {
        let records = [JobRecord {
            start: at(150),
            finish: at(250),
            ..JobRecord::default()
        }];
        let timeline = Timeline::of_batch(CUT, &trace(), &records, &[0.75]);
        assert_eq!(timeline.used.0, [0.0, 25.0, 25.0]);
        assert_eq!(timeline.held.0, [0.0, 37.5, 37.5]);
        assert_eq!(timeline.waiting.0, [100.0, 50.0]);
    }

    #[test]
    fn events_become_sums() {
        let trace = trace();
        let mut watcher = Watcher::new(CUT, &trace);
        let job = || "7".to_owned();
        let nodes = |list: &[u32]| list.iter().copied().map(NodeIndex).collect::<Vec<_>>();
        let mut see = |t, kind| watcher.see(&Event::new(at(t), kind));
        see(
            50,
            EventKind::Start {
                job: job(),
                nodes: nodes(&[0, 1]),
            },
        );
        see(
            50,
            EventKind::Yield {
                job: job(),
                value: 0.5,
            },
        );
        see(
            100,
            EventKind::Pause {
                job: job(),
                lost: false,
            },
        );
        let stall = Some(Span::from_seconds(20));
        see(
            160,
            EventKind::Resume {
                job: job(),
                nodes: nodes(&[1, 0]),
                stall,
            },
        );
        see(
            200,
            EventKind::Migrate {
                job: job(),
                nodes: nodes(&[2, 0]),
                stall: None,
            },
        );
        see(
            300,
            EventKind::Finish {
                job: job(),
                outcome: Default::default(),
            },
        );
        let timeline = watcher.finish();
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
        assert_eq!(moved_tasks(&nodes(&[0, 0, 1, 5]), &nodes(&[5, 0, 0, 1])), 0);
        assert_eq!(moved_tasks(&nodes(&[0, 0, 1, 5]), &nodes(&[0, 1, 1, 7])), 2);
    }

    #[test]
    fn a_month_is_cut_into_a_few_hundred_stretches() {
        let mut long = trace();
        long.jobs[0].runtime = Span::from_seconds(30 * 86_400);
        assert_eq!(Cut::of(&long).length, Span::from_seconds(10_800));
        long.jobs[0].runtime = Span::from_seconds(1 << 32);
        assert_eq!(Cut::of(&long).length.0, ((1 << 32) / MOST + 1) * 1_000_000);
        assert_eq!(Cut::of(&trace()).length, Span::from_seconds(60));
    }
}
