//! One job of a journal.

use dfrs_core::{NodeIndex, Progress, Rate, Span, Time, Yield};
use dfrs_proto::devices::DevicesByKind;
use dfrs_sim::JobRecord;

use crate::input::source::log_jobs::JournalFacts;

/// What a job did so far.
pub struct JournalJob {
    pub id: String,
    pub submit: Time,
    pub tasks: u32,
    /// CPU need of one task.
    pub cpu: f64,
    /// Memory of one task, and once on each node.
    memory: (f64, f64),
    /// Devices that it holds on each of its nodes.
    pub devices: DevicesByKind,
    /// Run time, where the journal says it.
    given: Option<Span>,
    record: JobRecord,
    /// Whether it waits for something else than room.
    ineligible: bool,
    /// Whether it has as many tasks as nodes at its start.
    pub is_moldable: bool,
    /// Whether it ended while the journal was not written: the time of its end is not known.
    pub end_time_unknown: bool,
    /// Whether its whole run is in the journal.
    pub is_whole: bool,
    /// Whether it was started, and not by DFRS.
    pub by_others: bool,
    started: bool,
    over: bool,
    /// One node for each task; empty unless it runs.
    nodes: Vec<NodeIndex>,
    /// Nodes that it had first.
    first_nodes: usize,
    progress: Progress,
}

impl JournalJob {
    pub fn new(
        id: String,
        t: Time,
        tasks: u32,
        cpu: f64,
        memory: (f64, f64),
        given: Option<Span>,
    ) -> Self {
        Self {
            id,
            submit: t,
            tasks,
            cpu,
            memory,
            devices: DevicesByKind::new(),
            given,
            record: JobRecord::default(),
            ineligible: false,
            is_moldable: false,
            end_time_unknown: false,
            is_whole: false,
            by_others: false,
            started: false,
            over: false,
            nodes: Vec::new(),
            first_nodes: 0,
            progress: Progress::new(t, None),
        }
    }

    /// Notes that the job has been eligible for a while, or is not from now on. Time in which it is
    /// not eligible is not the scheduler's doing: it counts as submitted when that is over.
    pub fn set_eligible(
        &mut self,
        t: Time,
        value: bool,
        waited: Option<Span>,
    ) -> Result<(), String> {
        if self.started || self.over {
            return Err("a job that has started is said to wait".into());
        }
        if value {
            self.submit = Time(t.0 - waited.unwrap_or_default().0);
        }
        self.ineligible = !value;
        Ok(())
    }

    pub fn start(&mut self, t: Time, nodes: &[NodeIndex]) -> Result<(), String> {
        if self.started {
            return Err("a job starts that has started".into());
        }
        self.started = true;
        self.record.start = t;
        if std::mem::take(&mut self.ineligible) {
            self.submit = t;
        }
        let mut different = nodes.to_vec();
        different.sort_unstable();
        different.dedup();
        self.first_nodes = different.len();
        if self.is_moldable {
            self.tasks = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
        }
        self.progress.place(t, Span::ZERO);
        self.nodes = nodes.to_vec();
        Ok(())
    }

    pub fn set_yield(&mut self, t: Time, value: f64) {
        self.progress.set_rate(t, Rate::of(Yield(value)));
    }

    pub fn pause(&mut self, t: Time, lost: bool) -> Result<(), String> {
        if self.nodes.is_empty() {
            return Err("a job is paused that does not run".into());
        }
        self.progress.pause(t);
        self.nodes.clear();
        self.record.pauses += 1;
        if lost {
            self.progress.lose();
        }
        Ok(())
    }

    /// Notes that the job comes back, or moves.
    pub fn place(
        &mut self,
        t: Time,
        nodes: &[NodeIndex],
        stall: Option<Span>,
        moves: bool,
    ) -> Result<(), String> {
        if !self.started || self.over || self.nodes.is_empty() == moves {
            return Err("a job moves that does not run, or comes back that does".into());
        }
        self.progress.place(t, stall.unwrap_or_default());
        if moves {
            self.record.migrations += 1;
            let moved = self.nodes.iter().zip(nodes).filter(|(old, new)| old != new);
            self.record.migrated_tasks += moved.count() as u64;
        }
        self.nodes = nodes.to_vec();
        Ok(())
    }

    pub fn finish(&mut self, t: Time) -> Result<(), String> {
        if self.over {
            return Err("a job ends that has ended".into());
        }
        self.progress.pause(t);
        self.nodes.clear();
        self.over = true;
        self.record.finish = t;
        Ok(())
    }

    /// What the journal says of the job besides.
    pub fn facts(&self) -> JournalFacts {
        JournalFacts {
            is_whole: self.is_whole,
            by_others: self.by_others,
        }
    }

    pub fn is_over(&self) -> bool {
        self.over
    }

    /// What became of it; none unless it ran and ended.
    pub fn record(&self) -> Option<JobRecord> {
        (self.started && self.over).then(|| self.record.clone())
    }

    /// Whether its run time is the progress that it made.
    pub fn is_measured(&self) -> bool {
        self.given.is_none()
    }

    pub fn runtime(&self) -> Span {
        self.given.unwrap_or_else(|| self.progress.counted())
    }

    /// Nodes that it had first, and its tasks.
    pub fn size(&self) -> (usize, u32) {
        (self.first_nodes, self.tasks)
    }

    /// Memory of one task, with its part of what is required once on each node where it ran first.
    pub fn memory_of_task(&self) -> f64 {
        // Precise enough: a few nodes.
        let nodes = self.first_nodes.max(1) as f64;
        self.memory.0 + self.memory.1 * nodes / f64::from(self.tasks.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Time {
        Time::from_seconds(seconds)
    }

    #[test]
    fn progress_follows_yield_except_in_pauses_and_stalls() {
        let mut life = JournalJob::new("1".into(), at(0), 2, 1.0, (10.0, 8.0), None);
        assert!(life.record().is_none());
        life.start(at(10), &[NodeIndex(0), NodeIndex(0)])
            .expect("start");
        life.set_yield(at(10), 0.5);
        life.pause(at(110), false).expect("pause"); // 50
        assert!(life.pause(at(110), false).is_err());
        life.place(
            at(210),
            &[NodeIndex(1), NodeIndex(2)],
            Some(Span::from_seconds(30)),
            false,
        )
        .expect("resume");
        life.set_yield(at(220), 1.0);
        life.place(at(260), &[NodeIndex(1), NodeIndex(3)], None, true)
            .expect("migrate"); // 20
        life.finish(at(270)).expect("finish"); // 10
        assert!(life.finish(at(270)).is_err());
        assert_eq!(life.runtime(), Span::from_seconds(80));
        assert_eq!(life.memory_of_task(), 14.0);
        let record = life.record().expect("a record");
        assert_eq!(
            (record.pauses, record.migrations, record.migrated_tasks),
            (1, 1, 1)
        );
        assert_eq!((record.start, record.finish), (at(10), at(270)));
    }

    #[test]
    fn submit_time_is_when_job_becomes_eligible() {
        let life = || JournalJob::new("1".into(), at(100), 1, 1.0, (0.0, 0.0), None);
        let mut longer = life();
        let forty = Some(Span::from_seconds(40));
        longer.set_eligible(at(100), true, forty).expect("waits");
        assert_eq!(longer.submit, at(60), "it waited before the journal began");
        let mut depends = life();
        depends.set_eligible(at(100), false, None).expect("waits");
        depends.set_eligible(at(500), true, None).expect("waits");
        assert_eq!(depends.submit, at(500));
        let mut limited = life();
        limited.set_eligible(at(100), false, None).expect("waits");
        limited.start(at(700), &[NodeIndex(0)]).expect("start");
        assert_eq!(limited.submit, at(700), "it started as soon as it might");
        assert!(limited.set_eligible(at(800), true, None).is_err());
    }

    #[test]
    fn moldable_job_has_one_task_per_node_at_start() {
        let mut life = JournalJob::new("1".into(), at(0), 1, 1.0, (0.0, 9.0), None);
        life.is_moldable = true;
        life.start(at(0), &[NodeIndex(0), NodeIndex(1), NodeIndex(2)])
            .expect("start");
        assert_eq!((life.tasks, life.memory_of_task()), (3, 9.0));
    }

    #[test]
    fn lost_progress_does_not_count() {
        let mut life = JournalJob::new("1".into(), at(0), 1, 1.0, (0.0, 0.0), None);
        assert!(life.place(at(5), &[NodeIndex(0)], None, false).is_err());
        life.start(at(0), &[NodeIndex(0)]).expect("start");
        life.set_yield(at(0), 1.0);
        life.pause(at(100), true).expect("pause");
        life.place(at(100), &[NodeIndex(0)], None, false)
            .expect("resume");
        life.finish(at(130)).expect("finish");
        assert_eq!(life.runtime(), Span::from_seconds(30));
    }
}
