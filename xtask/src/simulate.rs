//! Tries the reconciler with faults that follow from seeds.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use clap::Args;
use dfrs_testbed::simulation::generate::{Kinds, generate};
use dfrs_testbed::simulation::{
    Failure, TrialScenario, minimise, run as try_scenario, run_with_transcript,
};

/// Command line.
#[derive(Args)]
pub struct SimulateArguments {
    /// How many seeds
    #[arg(long, default_value_t = 1000)]
    seeds: u64,
    /// The first one
    #[arg(long, default_value_t = 1)]
    start: u64,
    /// A kind of faults to leave out; may be given many times
    #[arg(long, value_name = "KIND")]
    without: Vec<String>,
    /// Try only this kind of faults; may be given many times
    #[arg(long, value_name = "KIND", conflicts_with = "without")]
    only: Vec<String>,
    /// Faults of every kind, also those that are known to do harm
    #[arg(long)]
    all: bool,
    /// Go on after so many seeds that fail
    #[arg(long, default_value_t = 1)]
    failures: usize,
    /// Do not make what fails as small as can be
    #[arg(long)]
    no_minimise: bool,
    /// Run this scenario file instead
    #[arg(long, conflicts_with_all = ["seeds", "start"])]
    replay: Option<PathBuf>,
}

/// Tries seeds on all cores until some fail, and prints what is left of each when it is made as small as
/// can be.
pub fn run(arguments: &SimulateArguments) -> Result<(), String> {
    // Failures are printed as scenarios; a panic is one of them.
    std::panic::set_hook(Box::new(|_| {}));
    match &arguments.replay {
        Some(path) => replay(path),
        None => search(arguments, &kinds(arguments)?),
    }
}

fn kinds(arguments: &SimulateArguments) -> Result<Kinds, String> {
    let all = if arguments.all {
        Kinds::all()
    } else {
        Kinds::sound()
    };
    let (mut without, mut only) = (arguments.without.iter(), arguments.only.iter());
    match arguments.only.is_empty() {
        true => without.try_fold(all, |kinds, name| kinds.without(name)),
        false => only.try_fold(Kinds::none(), |kinds, name| kinds.with(name)),
    }
}

fn replay(path: &std::path::Path) -> Result<(), String> {
    let scenario = TrialScenario::parse(&crate::files::read(path)?)?;
    let (lines, result) = run_with_transcript(&scenario);
    lines.iter().for_each(|line| println!("{line}"));
    let passed = result.map_err(|failure| failure.to_string())?;
    println!("passed: {passed:?}");
    Ok(())
}

fn search(arguments: &SimulateArguments, kinds: &Kinds) -> Result<(), String> {
    let next = AtomicU64::new(arguments.start);
    let end = arguments.start.saturating_add(arguments.seeds);
    let failed: Mutex<Vec<(u64, Failure)>> = Mutex::new(Vec::new());
    let started = Instant::now();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let enough = || {
        failed
            .lock()
            .is_ok_and(|failed| failed.len() >= arguments.failures)
    };
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while !enough() {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        break;
                    }
                    if let Err(failure) = try_scenario(&generate(seed, kinds)) {
                        println!("seed {seed}: {failure}");
                        failed
                            .lock()
                            .into_iter()
                            .for_each(|mut all| all.push((seed, failure.clone())));
                    }
                    if seed.is_multiple_of(1000) {
                        println!("seed {seed}, {} s", started.elapsed().as_secs());
                    }
                }
            });
        }
    });
    let mut failed = failed.into_inner().unwrap_or_default();
    failed.sort_by_key(|(seed, _)| *seed);
    let tried = next.load(Ordering::Relaxed).min(end) - arguments.start;
    println!(
        "{tried} seeds, {} failed, {} s",
        failed.len(),
        started.elapsed().as_secs()
    );
    for (seed, _) in failed.iter().filter(|_| !arguments.no_minimise) {
        print_smallest(*seed, kinds);
    }
    if failed.is_empty() {
        Ok(())
    } else {
        Err(format!("{} seeds failed", failed.len()))
    }
}

fn print_smallest(seed: u64, kinds: &Kinds) {
    let smallest = minimise(&generate(seed, kinds));
    if let Err(failure) = try_scenario(&smallest) {
        println!("\n# seed {seed}: {failure}\n{smallest}");
    }
}
