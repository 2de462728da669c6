//! Batch schedulers against their definitions, worked out plainly: at every instant all is computed
//! again from which job has started when.

mod common;

use common::known::{self, BOTH, Known, NODES, Taken, starts, taken_at, traces, with};
use dfrs_core::{Span, Time};
use dfrs_sim::Estimates;
use dfrs_sim::trace::{Trace, TraceJob};
use proptest::prelude::*;

/// How many nodes are free.
fn free(known: &Known<'_, u32>) -> u32 {
    let running = known.running().into_iter();
    NODES - running.map(|(.., tasks)| tasks).sum::<u32>()
}

/// EASY by its definition: the starts.
fn easy(trace: &Trace, by_end: bool, estimates: Estimates) -> Vec<Time> {
    let mut known = Known::new(trace, estimates);
    loop {
        let mut reserved: Option<(Time, u32)> = None;
        for job in 0..trace.jobs.len() {
            if !known.waits(job) {
                continue;
            }
            let (free, tasks) = (free(&known), trace.jobs[job].tasks);
            let start = Some((known.now, tasks));
            let Some((shadow, left)) = &mut reserved else {
                if tasks <= free {
                    known.starts[job] = start;
                } else {
                    let running = known.running();
                    let at = |time: Time| {
                        let gone = running.iter().filter(|(_, end, _)| *end <= time);
                        free + gone.map(|(.., tasks)| tasks).sum::<u32>()
                    };
                    let ends = running.iter().map(|(_, end, _)| *end);
                    let shadow = ends.filter(|end| at(*end) >= tasks).min();
                    let shadow = shadow.expect("it fits");
                    reserved = Some((shadow, at(shadow) - tasks));
                }
                continue;
            };
            if tasks > free {
                continue;
            }
            if by_end && known.now + known.duration(job) <= *shadow {
                known.starts[job] = start;
            } else if tasks <= *left {
                known.starts[job] = start;
                *left -= tasks;
            }
        }
        match known.next() {
            Some(next) => known.now = next,
            None => return known.all_starts(),
        }
    }
}

/// Conservative backfilling by its definition: the starts.
fn conservative(trace: &Trace, estimates: Estimates) -> Vec<Time> {
    let earliest = |now: Time, taken: &[Taken<u32>], job: &TraceJob, duration: Span| {
        let free =
            |time: &Time| NODES - taken_at(taken, *time).map(|(_, tasks)| tasks).sum::<u32>();
        let find = |times: &[Time]| {
            let fits = times.iter().all(|time| job.tasks <= free(time));
            fits.then_some(job.tasks)
        };
        known::first_place(now, taken, duration, find)
    };
    known::conservative(trace, estimates, earliest)
}

/// Times of jobs on 4 nodes, from lines with a column more: the estimate.
fn times_of(scheduler: &str, lines: &str) -> Vec<(f64, f64)> {
    let (jobs, estimates): (Vec<&str>, Vec<&str>) = lines
        .lines()
        .filter_map(|line| line.rsplit_once(','))
        .unzip();
    let mut trace = common::trace(&jobs.join("\n"));
    for (job, estimate) in trace.jobs.iter_mut().zip(estimates) {
        job.estimate = estimate.parse().ok().map(Span::from_seconds);
    }
    common::times(&common::run(&trace, scheduler, with(Estimates::User)).outcome)
}

#[test]
fn reservations_are_for_the_first_job_or_for_all() {
    // b is to start at 100 and c at 150. d fits beside a and b from 3 on, but would delay c.
    let lines = "a,0,3,1,0,100,\nb,1,2,1,0,50,\nc,2,4,1,0,10,\nd,3,1,1,0,150,\n";
    let easy = [(0.0, 100.0), (100.0, 150.0), (153.0, 163.0), (3.0, 153.0)];
    assert_eq!(times_of("EASY", lines), easy);
    let conservative = [(0.0, 100.0), (100.0, 150.0), (150.0, 160.0), (160.0, 310.0)];
    assert_eq!(times_of("Conservative", lines), conservative);
    let shorter = times_of("Conservative", &lines.replace("0,150,", "0,147,"));
    assert_eq!(shorter[2..], [(150.0, 160.0), (3.0, 150.0)]);
}

#[test]
fn a_job_that_does_not_end_is_taken_to_need_twice_the_time() {
    // b is to start at 100, then at 200, then at 400; only then does c fit before it.
    let lines = "a,0,3,1,0,300,100\nb,1,4,1,0,10,10\nc,2,1,1,0,150,150\n";
    for scheduler in ["EASY", "Conservative"] {
        let times = times_of(scheduler, lines);
        assert_eq!(
            times,
            [(0.0, 300.0), (350.0, 360.0), (200.0, 350.0)],
            "{scheduler}"
        );
    }
    let no_shadow = times_of("EASY/no-shadow", lines);
    assert_eq!(no_shadow[1..], [(300.0, 310.0), (310.0, 460.0)]);
}

#[test]
fn early_ends_move_reservations_forward() {
    // a is expected to end at 100 and ends at 10: b moves there.
    let lines = "a,0,3,1,0,10,100\nb,1,4,1,0,10,10\nc,2,1,1,0,98,98\n";
    assert_eq!(
        times_of("Conservative", lines),
        [(0.0, 10.0), (100.0, 110.0), (2.0, 100.0)]
    );
    let lines = lines.replace("b,1,4", "b,1,3");
    assert_eq!(
        times_of("Conservative", &lines),
        [(0.0, 10.0), (10.0, 20.0), (2.0, 100.0)]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The simulator looks only at what can have changed; this looks at everything each time.
    #[test]
    fn easy_matches_its_reference(trace in traces()) {
        for estimates in BOTH {
            for (scheduler, by_end) in [("EASY", true), ("EASY/no-shadow", false)] {
                let expected = easy(&trace, by_end, estimates);
                prop_assert_eq!(starts(&trace, scheduler, estimates), expected, "{} {:?}", scheduler, estimates);
            }
        }
    }

    #[test]
    fn conservative_matches_its_reference(trace in traces()) {
        for estimates in BOTH {
            let expected = conservative(&trace, estimates);
            prop_assert_eq!(starts(&trace, "Conservative", estimates), expected, "{:?}", estimates);
        }
    }

    /// What a reservation is for: with perfect estimates no job starts later than if those submitted
    /// after it had never come.
    #[test]
    fn later_jobs_delay_no_earlier_job(trace in traces()) {
        let all = starts(&trace, "Conservative", Estimates::Perfect);
        for count in 1..trace.jobs.len() {
            let first = Trace { jobs: trace.jobs[..count].to_vec(), ..trace.clone() };
            let without = starts(&first, "Conservative", Estimates::Perfect);
            prop_assert_eq!(&without[..], &all[..count]);
        }
    }

    #[test]
    fn fcfs_ignores_estimates(trace in traces()) {
        let perfect = starts(&trace, "FCFS", Estimates::Perfect);
        prop_assert_eq!(starts(&trace, "FCFS", Estimates::User), perfect);
    }
}
