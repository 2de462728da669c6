//! Batch schedulers that share nodes, against their definitions, worked out plainly: at every
//! instant all is computed again from which job has started when and where.

mod common;

use common::known::{self, BOTH, Known, NODES, Taken, starts, taken_at};
use common::settings;
use dfrs_core::{Bytes, Cores, Span, Time};
use dfrs_sim::trace::{NODE_CPU, NODE_MEMORY, Trace, TraceJob};
use dfrs_sim::{Batch, Estimates};
use proptest::prelude::*;

/// How many tasks of a job each node has.
type Where = [u32; NODES as usize];

/// CPU and memory of each node that are free, or taken.
type Rooms = [(u64, u64); NODES as usize];

const EMPTY: Rooms = [(NODE_CPU.0, NODE_MEMORY.0); NODES as usize];

/// Whole quarters of a node: it has four CPUs.
fn cpu_of(job: &TraceJob) -> u64 {
    (1..=4)
        .map(|cpus| cpus * NODE_CPU.0 / 4)
        .find(|cpu| *cpu >= job.cpu.0)
        .expect("at most a node")
}

/// How many such tasks have room, be they more than the job has.
fn holds(room: (u64, u64), job: &TraceJob) -> u32 {
    let fits = |tasks: &u32| {
        let tasks = u64::from(*tasks);
        tasks * cpu_of(job) <= room.0 && tasks * job.memory.0 <= room.1
    };
    let max = (1..).take_while(fits).last();
    max.unwrap_or(0)
}

fn without(mut rooms: Rooms, job: &TraceJob, place: Where) -> Rooms {
    for (room, tasks) in rooms.iter_mut().zip(place) {
        room.0 -= u64::from(tasks) * cpu_of(job);
        room.1 -= u64::from(tasks) * job.memory.0;
    }
    rooms
}

/// Task by task on the first node that has room: first where it should rather go, then anywhere.
fn place(job: &TraceJob, rather: Where, all: Where) -> Option<Where> {
    let mut found = [0; NODES as usize];
    for _ in 0..job.tasks {
        let good = |limit: Where| {
            (0..found.len()).find(|node| found[*node] < limit[*node].min(all[*node]))
        };
        let node = good(rather).or_else(|| good(all))?;
        found[node] += 1;
    }
    Some(found)
}

fn slots(rooms: Rooms, job: &TraceJob) -> Where {
    rooms.map(|room| holds(room, job))
}

fn fit(rooms: Rooms, job: &TraceJob) -> Option<Where> {
    place(job, slots(rooms, job), slots(rooms, job))
}

/// What those leave that are expected to run beyond this time.
fn free_at(known: &Known<'_, Where>, time: Time) -> Rooms {
    let running = known.running().into_iter();
    running
        .filter(|(_, end, _)| *end > time)
        .fold(EMPTY, |rooms, (job, _, place)| {
            without(rooms, &known.jobs[job], place)
        })
}

/// FCFS and EASY by their definitions: the starts.
fn easy(trace: &Trace, backfills: bool, estimates: Estimates) -> Vec<Time> {
    let mut known = Known::new(trace, estimates);
    // The first job, when it starts, and what it leaves on each node then: as long as no job ends and all
    // are expected to end when they were.
    let mut reserved: Option<(usize, Time, Rooms)> = None;
    let mut before = Vec::new();
    loop {
        let ends = |known: &Known<'_, Where>| -> Vec<(usize, Time)> {
            let running = known.running().into_iter();
            running.map(|(job, end, _)| (job, end)).collect()
        };
        if ends(&known) != before {
            reserved = None;
        }
        for (number, job) in trace.jobs.iter().enumerate() {
            if !known.waits(number) || reserved.is_some_and(|(first, ..)| first == number) {
                continue;
            }
            let free = free_at(&known, known.now);
            let found = match &mut reserved {
                None => {
                    let found = fit(free, job);
                    if found.is_none() {
                        let running = known.running().into_iter();
                        let ends = running.map(|(_, end, _)| end);
                        let fits = |end: &Time| fit(free_at(&known, *end), job).is_some();
                        let start = ends.filter(fits).min().expect("it fits");
                        let then = free_at(&known, start);
                        let mut new = slots(then, job);
                        for (new, now) in new.iter_mut().zip(slots(free, job)) {
                            *new -= now;
                        }
                        let own = place(job, new, slots(then, job)).expect("it fits");
                        reserved = Some((number, start, without(then, job, own)));
                    }
                    found
                }
                Some(_) if !backfills => None,
                Some((_, start, left)) => {
                    let now = slots(free, job);
                    let mut both = slots(*left, job);
                    for (slot, now) in both.iter_mut().zip(now) {
                        *slot = now.min(*slot);
                    }
                    if known.now + known.duration(number) <= *start {
                        let mut only_now = now;
                        for (only_now, shared) in only_now.iter_mut().zip(both) {
                            *only_now -= shared;
                        }
                        place(job, only_now, now)
                    } else {
                        let found = place(job, both, both);
                        if let Some(found) = found {
                            *left = without(*left, job, found);
                        }
                        found
                    }
                }
            };
            known.starts[number] = found.map(|place| (known.now, place));
        }
        before = ends(&known);
        match known.next() {
            Some(next) => known.now = next,
            None => return known.all_starts(),
        }
    }
}

/// Conservative backfilling by its definition: the starts.
fn conservative(trace: &Trace, estimates: Estimates) -> Vec<Time> {
    let earliest = |now: Time, taken: &[Taken<Where>], job: &TraceJob, duration: Span| {
        let free = |time: Time| {
            taken_at(taken, time).fold(EMPTY, |rooms, (other, place)| {
                without(rooms, &trace.jobs[other], place)
            })
        };
        let find = |times: &[Time]| {
            let mut least = EMPTY;
            for time in times {
                for (least, room) in least.iter_mut().zip(free(*time)) {
                    *least = (least.0.min(room.0), least.1.min(room.1));
                }
            }
            fit(least, job)
        };
        known::first_place(now, taken, duration, find)
    };
    known::conservative(trace, estimates, earliest)
}

/// Such traces, in which jobs have several tasks a node, where they fit.
fn traces() -> impl Strategy<Value = Trace> {
    let tasks = proptest::collection::vec(1u32..9, 14);
    (known::traces(), tasks).prop_map(|(mut trace, tasks)| {
        for (job, tasks) in trace.jobs.iter_mut().zip(tasks) {
            let max: u32 = EMPTY.iter().map(|room| holds(*room, job)).sum();
            job.tasks = tasks.min(max);
        }
        trace
    })
}

#[test]
fn jobs_that_fit_together_share_a_node() {
    // Four of one CPU each; then one whose need is a little more than a CPU, which is two.
    let lines = "a,0,4,0.25,0.2,100\nb,1,1,0.26,0.1,10\nc,2,3,0.5,0.5,10\nd,3,2,0.5,0.9,10\n";
    let run = common::run(&common::trace(lines), "FCFS/shared", settings(2));
    let of = |job: &str| {
        let all = common::events(&run);
        all.into_iter()
            .find(|line| line.contains(&format!("start {job} ")))
    };
    assert_eq!(of("a").as_deref(), Some("0 start a 0,0,0,0"));
    assert_eq!(of("b").as_deref(), Some("1 start b 1"));
    // Two tasks have the CPUs that b left when it ended; the third goes where a was.
    assert_eq!(of("c").as_deref(), Some("100 start c 0,0,1"));
    assert_eq!(of("d").as_deref(), Some("110 start d 0,1"));
}

#[test]
fn cpus_are_counted_as_the_nodes_have_them() {
    let lines = "a,0,1,0.25,0,100\nb,0,1,0.25,0,100\nc,0,1,0.5,0,100\n";
    let mut trace = common::trace(lines);
    let times =
        |trace: &Trace| common::times(&common::run(trace, "EASY/shared", settings(1)).outcome);
    assert_eq!(times(&trace), [(0.0, 100.0); 3]);
    trace.count_cpus(2);
    assert_eq!(times(&trace)[1..], [(0.0, 100.0), (100.0, 200.0)]);
    trace.count_cpus(3);
    assert_eq!(trace.jobs[2].allocated_cpu, Cores(NODE_CPU.0 * 2 / 3));
}

#[test]
fn job_is_refused_when_it_exceeds_the_empty_machine() {
    let job = |tasks, memory| {
        let cpu = Cores(NODE_CPU.0 / 4);
        TraceJob::new("1", Time::ZERO, tasks, cpu, Bytes(memory), Span::ZERO)
    };
    let scheduler = "EASY/shared".parse().expect("a scheduler");
    let never = |tasks, memory| dfrs_sim::never_fits(&job(tasks, memory), &scheduler, 2, None);
    assert_eq!(never(8, NODE_MEMORY.0 / 4), None);
    assert!(never(9, 0).is_some_and(|why| why.contains("8 have CPUs")));
    assert!(never(3, NODE_MEMORY.0).is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The simulator looks only at what can have changed; this looks at everything each time.
    #[test]
    fn easy_matches_its_reference(trace in traces()) {
        for estimates in BOTH {
            for (scheduler, backfills) in [("EASY/shared", true), ("FCFS/shared", false)] {
                let expected = easy(&trace, backfills, estimates);
                prop_assert_eq!(starts(&trace, scheduler, estimates), expected, "{} {:?}", scheduler, estimates);
            }
        }
    }

    #[test]
    fn conservative_matches_its_reference(trace in traces()) {
        for estimates in BOTH {
            let expected = conservative(&trace, estimates);
            prop_assert_eq!(starts(&trace, "Conservative/shared", estimates), expected, "{:?}", estimates);
        }
    }

    /// With perfect estimates no job starts later than if those submitted after it had never come.
    #[test]
    fn later_jobs_delay_no_earlier_job(trace in traces()) {
        let all = starts(&trace, "Conservative/shared", Estimates::Perfect);
        for count in 1..trace.jobs.len() {
            let first = Trace { jobs: trace.jobs[..count].to_vec(), ..trace.clone() };
            let without = starts(&first, "Conservative/shared", Estimates::Perfect);
            prop_assert_eq!(&without[..], &all[..count]);
        }
    }

    /// Where every task takes a node, sharing makes no difference.
    #[test]
    fn whole_nodes_are_a_case_of_shared_ones(trace in traces()) {
        let mut trace = trace;
        for job in &mut trace.jobs {
            (job.cpu, job.allocated_cpu, job.tasks) = (NODE_CPU, NODE_CPU, job.tasks.min(4));
        }
        for estimates in BOTH {
            for (shared, whole) in [("EASY/shared", "EASY"), ("FCFS/shared", "FCFS")] {
                let expected = starts(&trace, whole, estimates);
                prop_assert_eq!(starts(&trace, shared, estimates), expected, "{} {:?}", shared, estimates);
            }
        }
    }

    /// Nothing is given out twice, and where jobs share CPU it is no more often than they say.
    #[test]
    fn no_cpu_and_no_memory_is_given_out_twice(trace in traces()) {
        let shared = Batch::ALL.into_iter().filter(|batch| batch.shares_nodes());
        // Some jobs want more CPU than is open to jobs without GPUs.
        for scheduler in shared.filter(|batch| *batch != Batch::EasyRestricted) {
            let records = common::run(&trace, &scheduler.name(), settings(4)).outcome.jobs;
            for at in &records {
                let running = trace.jobs.iter().zip(&records)
                    .filter(|(_, job)| job.start <= at.start && at.start < job.finish);
                let (mut cpu, mut memory) = (0, 0);
                for (job, _) in running {
                    cpu += cpu_of(job) * u64::from(job.tasks);
                    memory += job.memory.0 * u64::from(job.tasks);
                }
                let times = match scheduler {
                    Batch::EasyGang(times) | Batch::EasyForce(times) => times.into(),
                    Batch::EasySuspend => 2,
                    _ => 1,
                };
                prop_assert!(cpu <= times * 4 * NODE_CPU.0 && memory <= 4 * NODE_MEMORY.0, "{}", scheduler.name());
            }
        }
    }
}
