//! A policy of your own beside the one that it came from, on the same generated traces:
//!
//! ```sh
//! cargo run --release -p dfrs-sim --example own_policy -- 100
//! cargo run --release -p dfrs-sim --example own_policy -- 100 0.9
//! ```
//!
//! The first number is that of traces, the second, if given, their load. A ratio below 1 says that the own
//! policy is better. Ratios of heavy tails are averaged by their logarithms, trace by trace; the median stands
//! beside the mean.

use std::error::Error;

use dfrs_core::{Policy, PriorityFunction, Span};
use dfrs_sim::generate::Lublin;
use dfrs_sim::metrics::SimSummary;
use dfrs_sim::trace::Trace;
use dfrs_sim::{Scheduler, SimSettings, simulate};

const NODES: u32 = 128;

/// Where it comes from: any name of `dfrs sim --list-policies`.
fn base() -> Result<Policy, Box<dyn Error>> {
    Ok("GreedyPM*/per/OPT=MIN/MINVT=600".parse()?)
}

/// The policy to try. Here: a job that has had little CPU for long comes first, without the square
/// that favours short jobs.
fn own(base: &Policy) -> Policy {
    let mut policy = base.clone();
    policy.settings.priority = PriorityFunction::FlowOverVirtualTime;
    policy
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count: u64 = arguments.first().map_or("100", String::as_str).parse()?;
    let load: Option<f64> = arguments.get(1).map(|word| word.parse()).transpose()?;
    let base = base()?;
    let both = [own(&base), base].map(Scheduler::Dfrs);
    let mut ratios: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    for seed in 1..=count {
        let trace = match load {
            None => Lublin::default().trace(seed),
            Some(load) => Lublin::default().trace_at_load(seed, load)?,
        };
        let [own, base] = [summary(&trace, &both[0])?, summary(&trace, &both[1])?];
        ratios[0].push(own.max_stretch / base.max_stretch);
        ratios[1].push(own.mean_stretch / base.mean_stretch);
    }
    println!("own policy over {}, {count} traces", both[1]);
    for (what, ratios) in ["largest stretch", "mean stretch"].iter().zip(ratios) {
        let (mean, error, median) = averages(ratios);
        println!("  {what:16} mean {mean:.3} ± {error:.3}, median {median:.3}");
    }
    Ok(())
}

fn summary(trace: &Trace, scheduler: &Scheduler) -> Result<SimSummary, Box<dyn Error>> {
    let settings = SimSettings::new(NODES);
    let scheduler = scheduler.at_penalty(settings.penalty);
    let outcome = simulate(trace, &scheduler, &settings, None)?;
    let bound = Span::from_seconds(10);
    Ok(SimSummary::new(
        scheduler.to_string(),
        trace,
        NODES,
        &outcome,
        bound,
    ))
}

/// Geometric mean, its standard error, and the median.
fn averages(mut ratios: Vec<f64>) -> (f64, f64, f64) {
    ratios.sort_by(f64::total_cmp);
    let count = ratios.len() as f64;
    let logarithms: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let mean = logarithms.iter().sum::<f64>() / count;
    let squares: f64 = logarithms.iter().map(|one| (one - mean).powi(2)).sum();
    let error = (squares / (count - 1.0).max(1.0) / count).sqrt();
    let median = ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN);
    (mean.exp(), mean.exp() * error, median)
}
