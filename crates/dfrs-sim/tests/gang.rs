//! Gang scheduling against its definition, worked out plainly: at every instant all is computed
//! again from where jobs are and how much of them is done.

mod common;

use common::known::{self, BOTH, NODES, with};
use dfrs_core::{Span, Time};
use dfrs_sim::trace::{NODE_CPU, NODE_MEMORY, Trace, TraceJob};
use dfrs_sim::{Estimates, SimSettings};
use proptest::prelude::*;

const SLICE: i64 = 30_000_000;

/// How many tasks of a job each node has.
type Where = [u64; NODES as usize];

#[derive(Clone, Copy, PartialEq)]
enum State {
    Turn,
    Beside,
    Suspended,
}

#[derive(Clone, Copy)]
struct Job {
    number: usize,
    place: Where,
    state: State,
    done: i64,
}

/// What jobs take of each node: CPU and memory.
fn taken<'a>(trace: &Trace, jobs: impl Iterator<Item = &'a Job>) -> [(u64, u64); NODES as usize] {
    let mut sums = [(0, 0); NODES as usize];
    for job in jobs {
        let about = &trace.jobs[job.number];
        for (sum, tasks) in sums.iter_mut().zip(job.place) {
            sum.0 += tasks * about.allocated_cpu.0;
            sum.1 += tasks * about.memory.0;
        }
    }
    sums
}

/// Whether the jobs have no more CPU than there is.
fn fit_together(trace: &Trace, jobs: &[Job]) -> bool {
    taken(trace, jobs.iter())
        .iter()
        .all(|(cpu, _)| *cpu <= NODE_CPU.0)
}

/// Task by task on the first node with room, such that each CPU is given to as few jobs as can be, and at
/// most to so many.
fn find(job: &TraceJob, taken: &[(u64, u64); NODES as usize], times: u64) -> Option<Where> {
    (1..=times).find_map(|times| {
        let mut place: Where = [0; NODES as usize];
        for _ in 0..job.tasks {
            let node = (0..place.len()).find(|node| {
                let tasks = place[*node] + 1;
                let (cpu, memory) = taken[*node];
                let own = tasks * job.allocated_cpu.0;
                own <= NODE_CPU.0
                    && cpu + own <= times * NODE_CPU.0
                    && memory + tasks * job.memory.0 <= NODE_MEMORY.0
            })?;
            place[node] += 1;
        }
        Some(place)
    })
}

struct Reference<'a> {
    trace: &'a Trace,
    estimates: Estimates,
    times: u64,
    running: Vec<Job>,
    queue: Vec<usize>,
}

impl Reference<'_> {
    fn duration(&self, number: usize, done: i64) -> i64 {
        let job = &self.trace.jobs[number];
        match (self.estimates, job.estimate) {
            (Estimates::User, Some(estimate)) => {
                let mut duration = estimate.0.max(1);
                while duration <= done {
                    duration *= 2;
                }
                duration
            }
            _ => job.runtime.0,
        }
    }

    /// When the job is done if it runs from now on.
    fn expected(&self, now: i64, job: &Job) -> i64 {
        now + self.duration(job.number, job.done) - job.done
    }

    /// Makes room at most what is left when the first of the queue starts; returns when that is,
    /// and which jobs are there.
    fn reserve(&self, now: i64) -> (i64, Vec<Job>) {
        let first = self.queue[0];
        let mut times: Vec<i64> = self
            .running
            .iter()
            .map(|job| self.expected(now, job))
            .collect();
        times.sort_unstable();
        for time in times {
            let stay = self
                .running
                .iter()
                .filter(|job| self.expected(now, job) > time);
            let mut stay: Vec<Job> = stay.copied().collect();
            if let Some(place) = find(
                &self.trace.jobs[first],
                &taken(self.trace, stay.iter()),
                self.times,
            ) {
                stay.push(started(first, place));
                return (time, stay);
            }
        }
        panic!("it fits on the empty machine")
    }

    fn schedule(&mut self, now: i64) {
        while let Some(&first) = self.queue.first() {
            let taken = taken(self.trace, self.running.iter());
            let Some(place) = find(&self.trace.jobs[first], &taken, self.times) else {
                break;
            };
            self.queue.remove(0);
            self.running.push(started(first, place));
        }
        if self.queue.len() < 2 {
            return;
        }
        let (start, mut then) = self.reserve(now);
        let others = self.queue.split_off(1);
        for number in others {
            let job = &self.trace.jobs[number];
            let is_in_time = now + self.duration(number, 0) <= start;
            let mut sums = taken(self.trace, self.running.iter());
            if !is_in_time {
                for (sum, then) in sums.iter_mut().zip(taken(self.trace, then.iter())) {
                    *sum = (sum.0.max(then.0), sum.1.max(then.1));
                }
            }
            let Some(place) = find(job, &sums, self.times) else {
                self.queue.push(number);
                continue;
            };
            self.running.push(started(number, place));
            if !is_in_time {
                then.push(started(number, place));
            }
        }
    }

    fn give_turns(&mut self, state: State) {
        for place in 0..self.running.len() {
            if self.running[place].state != State::Suspended {
                continue;
            }
            let active = self
                .running
                .iter()
                .filter(|job| job.state != State::Suspended);
            let mut together: Vec<Job> = active.copied().collect();
            together.push(self.running[place]);
            if fit_together(self.trace, &together) {
                self.running[place].state = state;
            }
        }
    }
}

fn started(number: usize, place: Where) -> Job {
    Job {
        number,
        place,
        state: State::Suspended,
        done: 0,
    }
}

/// When each job starts and ends. Looks at every multiple of the slice, whatever happens then.
fn reference(trace: &Trace, times: u64, estimates: Estimates) -> Vec<(Time, Time)> {
    let mut found = vec![(0, 0); trace.jobs.len()];
    let mut world = Reference {
        trace,
        estimates,
        times,
        running: Vec::new(),
        queue: Vec::new(),
    };
    let (mut now, mut submitted) = (trace.jobs[0].submit.0, 0);
    loop {
        let is_done = |job: &Job| {
            job.state != State::Suspended && job.done == trace.jobs[job.number].runtime.0
        };
        let running = world.running.len();
        for job in world.running.iter().filter(|job| is_done(job)) {
            found[job.number].1 = now;
        }
        world.running.retain(|job| !is_done(job));
        let mut looks = world.running.len() < running;
        if now % SLICE == 0 {
            world.running.sort_by_key(|job| job.state == State::Turn);
            for job in &mut world.running {
                job.state = State::Suspended;
            }
            world.give_turns(State::Turn);
        }
        while submitted < trace.jobs.len() && trace.jobs[submitted].submit.0 == now {
            world.queue.push(submitted);
            submitted += 1;
            looks = true;
        }
        let before = world.running.len();
        if looks {
            world.schedule(now);
        }
        for job in &world.running[before..] {
            found[job.number].0 = now;
        }
        world.give_turns(State::Beside);
        let ends = world
            .running
            .iter()
            .filter(|job| job.state != State::Suspended);
        let ends = ends.map(|job| now + trace.jobs[job.number].runtime.0 - job.done);
        let slice = (!world.running.is_empty()).then_some((now / SLICE + 1) * SLICE);
        let next = trace.jobs.get(submitted).map(|job| job.submit.0);
        let Some(next) = ends.chain(slice).chain(next).min() else {
            return found
                .into_iter()
                .map(|(start, end)| (Time(start), Time(end)))
                .collect();
        };
        for job in &mut world.running {
            if job.state != State::Suspended {
                job.done += next - now;
            }
        }
        now = next;
    }
}

fn simulated(trace: &Trace, scheduler: &str, settings: SimSettings) -> Vec<(Time, Time)> {
    let run = common::run(trace, scheduler, settings);
    assert!(run.violations.is_empty(), "{:?}", run.violations);
    let jobs = run.outcome.jobs.iter();
    jobs.map(|record| (record.start, record.finish)).collect()
}

fn seconds(found: &[(Time, Time)]) -> Vec<(f64, f64)> {
    let all = found.iter();
    all.map(|(start, end)| (start.seconds(), end.seconds()))
        .collect()
}

#[test]
fn two_jobs_take_turns() {
    // Both hold the node's CPUs; a is alone until 30, then has its turn, b the next, ...
    let trace = common::trace("a,0,1,1,0.5,100\nb,0,1,1,0.5,100\nc,0,1,1,0.5,10\n");
    let found = simulated(&trace, "EASY/gang2", common::settings(1));
    // c has no memory until one of them ends; then it waits for its turn.
    assert_eq!(
        seconds(&found),
        [(0.0, 160.0), (0.0, 200.0), (160.0, 210.0)]
    );
    let alone = simulated(&trace, "EASY/shared", common::settings(1));
    assert_eq!(
        seconds(&alone),
        [(0.0, 100.0), (100.0, 200.0), (200.0, 210.0)]
    );
}

#[test]
fn job_does_not_wait_for_its_turn_when_it_fits_idle_cpus() {
    let lines = "a,0,1,0.5,0.1,50\nb,0,1,0.5,0.1,50\nc,0,1,1,0.1,50\nd,0,1,0.5,0.1,15\n";
    let trace = common::trace(lines);
    // The third layer is not to be had with two jobs for each CPU: d waits for a place.
    let two = simulated(&trace, "EASY/gang2", common::settings(1));
    assert_eq!(two[3].0, two[0].1);
    // With three it has one. At 50 c goes beside, at 60 it has its turn, d the next at 90.
    let three = simulated(&trace, "EASY/gang3", common::settings(1));
    assert_eq!(seconds(&three)[..2], [(0.0, 50.0), (0.0, 50.0)]);
    assert_eq!(seconds(&three)[2..], [(0.0, 115.0), (0.0, 105.0)]);
}

#[test]
fn time_slice_is_that_of_the_settings() {
    let trace = common::trace("a,0,1,1,0.5,10\nb,0,1,1,0.5,10\n");
    let settings = SimSettings {
        time_slice: Span::from_seconds(2),
        ..common::settings(1)
    };
    let found = simulated(&trace, "EASY/gang2", settings);
    assert_eq!(seconds(&found), [(0.0, 16.0), (0.0, 20.0)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn gang_scheduling_matches_its_reference(trace in known::traces()) {
        for estimates in BOTH {
            for times in [2, 3] {
                let expected = reference(&trace, times, estimates);
                let found = simulated(&trace, &format!("EASY/gang{times}"), with(estimates));
                prop_assert_eq!(found, expected, "{} {:?}", times, estimates);
            }
        }
    }
}
