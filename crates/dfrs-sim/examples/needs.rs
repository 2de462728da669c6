//! What jobs pay for needs from measurement that wake up again: how often and how long they are
//! held back. `dfrs study` shows what they bring, with `least-use` and `needs` among its options.
//!
//! ```sh
//! cargo run --release -p dfrs-sim --example needs -- 100 0.7
//! cargo run --release -p dfrs-sim --example needs -- 100 0.7 10 50
//! ```
//!
//! So many traces of the published model at this load, 128 nodes, penalty 300 s; in each of one to four phases jobs
//! use from so many hundredths of their CPU need (10 if none are given) to all of it.

use std::error::Error;

use dfrs_sim::generate::Lublin;
use dfrs_sim::trace::Trace;
use dfrs_sim::{MobilityShares, Needs, Scheduler, SimOutcome, SimSettings, simulate, use_less};

const NODES: u32 = 128;
const POLICIES: [&str; 2] = [
    "GreedyPMC*/move-per/OPT=VT/MINVT=600",
    "GreedyPM*/per/OPT=MIN/MINVT=600",
];
/// Which jobs can move how: all freely, and as on a machine where most can only be parked.
const WORLDS: [&str; 2] = ["checkpoint=1", "park=0.7,checkpoint=0.2,never=0.1"];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [count, load, leasts @ ..] = &arguments[..] else {
        return Err("give COUNT LOAD [HUNDREDTHS…]".into());
    };
    let leasts: Result<Vec<u8>, _> = leasts.iter().map(|least| least.parse()).collect();
    let leasts = Some(leasts?).filter(|leasts| !leasts.is_empty());
    let load: f64 = load.parse()?;
    let traces: Result<Vec<Trace>, _> = (1..=count.parse()?)
        .map(|seed| Lublin::default().trace_at_load(seed, load))
        .collect();
    let traces = traces?;
    println!("{} traces at load {load}", traces.len());
    for least in leasts.unwrap_or_else(|| vec![10]) {
        for world in WORLDS {
            let mobility: MobilityShares = world.parse()?;
            let drawn = (1..).zip(&traces).map(|(seed, trace)| {
                let mut trace = trace.clone();
                mobility.draw(seed, &mut trace);
                use_less(seed, least, &mut trace);
                trace
            });
            let drawn: Vec<Trace> = drawn.collect();
            println!("\nuse from {least} hundredths on, {world}");
            for name in POLICIES {
                measure(name, &drawn)?;
            }
        }
    }
    Ok(())
}

fn measure(name: &str, traces: &[Trace]) -> Result<(), Box<dyn Error>> {
    let settings = SimSettings {
        needs: Needs::Measured,
        ..SimSettings::new(NODES)
    };
    let policy = name.parse::<Scheduler>()?.at_penalty(settings.penalty);
    let mut held = HeldBack::default();
    for trace in traces {
        held.add(&simulate(trace, &policy, &settings, None)?);
    }
    println!("{policy}");
    held.print();
    Ok(())
}

/// How long jobs were held back while they were taken to need less than they requested.
#[derive(Default)]
struct HeldBack {
    jobs: usize,
    concerned: usize,
    times: u32,
    together: f64,
    run: f64,
    longest: f64,
}

impl HeldBack {
    fn add(&mut self, outcome: &SimOutcome) {
        for job in &outcome.jobs {
            self.jobs += 1;
            self.concerned += usize::from(job.times_held_back > 0);
            self.times += job.times_held_back;
            self.together += job.held_back.seconds();
            self.run += job.finish.since(job.start).seconds();
            self.longest = self.longest.max(job.longest_held_back.seconds());
        }
    }

    fn print(&self) {
        let each = self.together / f64::from(self.times.max(1));
        println!(
            "  held back: {} of {} jobs, {} times, {each:.2} s each, {:.2} s at most, {:.5}% of all time that they ran",
            self.concerned,
            self.jobs,
            self.times,
            self.longest,
            100.0 * self.together / self.run.max(1.0),
        );
    }
}
