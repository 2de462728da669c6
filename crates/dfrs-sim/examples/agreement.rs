//! How policies do on average over many traces, to be compared with the figures of the papers and of their
//! authors' simulator:
//!
//! ```sh
//! cargo run --release -p dfrs-sim --example agreement -- lublin 100
//! cargo run --release -p dfrs-sim --example agreement -- lublin 100 0.7
//! cargo run --release -p dfrs-sim --example agreement -- hpc2n HPC2N-2002-2.1-cln.swf.gz
//! ```
//!
//! Policies may follow; left out, those whose figures are known. Each figure has its standard error.

use std::error::Error;
use std::path::Path;

use dfrs_core::Span;
use dfrs_sim::generate::Lublin;
use dfrs_sim::metrics::SimSummary;
use dfrs_sim::trace::{Model, Trace, read_file};
use dfrs_sim::{Scheduler, SimSettings, simulate};

const KNOWN: [&str; 4] = [
    "FCFS",
    "EASY/no-shadow",
    "EASY",
    "GreedyPM*/per/OPT=MIN/MINVT=600",
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (traces, nodes, names) = match words[..] {
        ["lublin", count, ref rest @ ..] => {
            let load = rest.first().and_then(|word| word.parse::<f64>().ok());
            let names = &rest[usize::from(load.is_some())..];
            let trace = |seed| match load {
                None => Ok(Lublin::default().trace(seed)),
                Some(load) => Lublin::default().trace_at_load(seed, load),
            };
            let traces: Result<Vec<Trace>, _> = (1..=count.parse()?).map(trace).collect();
            (traces?, 128, names)
        }
        ["hpc2n", file, ref names @ ..] => (weeks(Path::new(file))?, 120, names),
        _ => return Err("give lublin COUNT [LOAD] [POLICY…] or hpc2n FILE [POLICY…]".into()),
    };
    let names = if names.is_empty() { &KNOWN[..] } else { names };
    println!("{} traces", traces.len());
    for name in names {
        measure(name, &traces, nodes)?;
    }
    Ok(())
}

/// The weeks of the trace that have jobs, the first beginning with the first submission.
fn weeks(file: &Path) -> Result<Vec<Trace>, Box<dyn Error>> {
    let trace = read_file(file, Model::Hpc2n, false)?.trace;
    let first = trace
        .jobs
        .first()
        .map_or_else(Default::default, |job| job.submit);
    let week = Span::from_seconds(7 * 86_400).0;
    Ok(trace
        .jobs
        .chunk_by(|one, other| {
            one.submit.since(first).0 / week == other.submit.since(first).0 / week
        })
        .map(|jobs| Trace {
            jobs: jobs.to_vec(),
            ..trace.clone()
        })
        .collect())
}

/// What is averaged.
type Figure = fn(&SimSummary) -> f64;

fn measure(name: &str, traces: &[Trace], nodes: u32) -> Result<(), Box<dyn Error>> {
    let settings = SimSettings::new(nodes);
    let policy = name.parse::<Scheduler>()?.at_penalty(settings.penalty);
    let mut summaries = Vec::new();
    for trace in traces {
        let outcome = simulate(trace, &policy, &settings, None)?;
        summaries.push(SimSummary::new(
            name.into(),
            trace,
            nodes,
            &outcome,
            Span::from_seconds(10),
        ));
    }
    println!("{policy}");
    let figures: [(&str, Figure); 5] = [
        ("max stretch", |summary| summary.max_stretch),
        ("mean stretch", |summary| summary.mean_stretch),
        ("normalized underutilization", |summary| {
            summary.normalized_underutilization
        }),
        ("pauses per hour", |summary| {
            summary.pauses as f64 / summary.makespan * 3_600.0
        }),
        ("migrations per hour", |summary| {
            summary.migrations as f64 / summary.makespan * 3_600.0
        }),
    ];
    for (what, figure) in figures {
        let all: Vec<f64> = summaries.iter().map(figure).collect();
        let (mean, deviation) = moments(&all);
        let error = deviation / (all.len() as f64).sqrt();
        let max = all.iter().copied().fold(f64::MIN, f64::max);
        println!(
            "  {what:28} {mean:11.4} ± {error:.4}, deviation {deviation:.4}, largest {max:.4}"
        );
    }
    Ok(())
}

/// Mean and standard deviation.
fn moments(all: &[f64]) -> (f64, f64) {
    let count = all.len() as f64;
    let mean = all.iter().sum::<f64>() / count;
    let squares: f64 = all.iter().map(|one| (one - mean) * (one - mean)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}
