//! The cost of a decision about a partition of moldable jobs: CPU time of the whole of
//! `moldable::decide`, from the observation to the starts.
//!
//!     cargo run --release -p dfrs-agent --example moldable_decision -- [JOBS [NODES]]

use std::collections::BTreeSet;
use std::fs;

use dfrs_agent::fixtures::{job, nodes};
use dfrs_agent::job::ledger::{Ledger, LedgerRecord};
use dfrs_agent::job::life::{JobContext, Life};
use dfrs_agent::plan::cluster::PassFacts;
use dfrs_agent::plan::excluded::Excluded;
use dfrs_agent::plan::kept_memory::KeptMemory;
use dfrs_agent::plan::moldable::{WaitHistory, decide};
use dfrs_agent::plan::refusals::Refusals;
use dfrs_agent::plan::weights::Weights;
use dfrs_agent::slurm::observation::Observation;
use dfrs_agent::slurm::records::{ObservedJob, ObservedPlace, ObservedState};
use dfrs_core::Time;
use dfrs_proto::conf::Config;

const NOW: Time = Time(1_000_000_000_000);
const ROUNDS: usize = 15;

fn main() {
    let number = |place, otherwise| {
        let word = std::env::args().nth(place);
        word.and_then(|word| word.parse().ok()).unwrap_or(otherwise)
    };
    let (jobs, count) = (number(1, 1000), number(2, 1000));
    for word in ["downey", "linear"] {
        let scene = Scene::new(word == "downey", jobs, count);
        let mut times: Vec<f64> = (0..ROUNDS).map(|_| scene.decision()).collect();
        times.sort_by(f64::total_cmp);
        let (median, slowest) = (times[ROUNDS / 2], times[ROUNDS - 1]);
        println!(
            "{word}: {jobs} jobs, {count} nodes, half of them in use: {median:.1} ms of CPU, {slowest:.1} at most"
        );
    }
}

struct Scene {
    config: Config,
    seen: Observation,
    ledger: Ledger,
    ready: BTreeSet<u32>,
}

impl Scene {
    /// Jobs of one to ten hours; speedups by Downey, or linear.
    fn new(is_downey: bool, jobs: u32, count: u32) -> Self {
        let text = "Mode=full\nPartition=dfrs Policy=DEMT LinearSpeedup=64\n";
        let config = Config::parse(text, "dfrs.conf").expect("a good configuration");
        let mut seen = Observation::default().with_whole_nodes(config.whole_node_partitions());
        seen.set_nodes(nodes(count));
        let mut ready = BTreeSet::new();
        for id in 1..=jobs {
            ready.insert(id);
            let parallelism = f64::from(count).powf(f64::from(id * 7919 % 1000) / 1000.0);
            let word = format!(
                "dfrs:speedup=downey,{parallelism:.2},{}",
                f64::from(id % 20) / 10.0
            );
            seen.insert(
                ObservedJob {
                    limit_minutes: 60 + id * 7919 % 540,
                    comment: if is_downey { word } else { String::new() },
                    ..job(id, 1)
                }
                .requesting(|request| {
                    request.min_nodes = 1;
                    request.max_nodes = count;
                    request.sized_by_nodes = true;
                }),
            );
        }
        for place in 0..50 {
            seen.insert(running(jobs + 1 + place, place, count));
        }
        let mut ledger = Ledger::default();
        let all: Vec<ObservedJob> = seen.jobs().cloned().collect();
        for job in all {
            let life = Life::first_seen(&JobContext::new(&job, &seen, &config, NOW));
            ledger.insert(job.id, LedgerRecord::new(1000, NOW, life));
        }
        Self {
            config,
            seen,
            ledger,
            ready,
        }
    }

    /// Milliseconds of CPU that one takes.
    fn decision(&self) -> f64 {
        let facts = PassFacts {
            seen: &self.seen,
            ledger: &self.ledger,
            config: &self.config,
            swap: &dfrs_agent::daemons::SwapEighths::new(),
            ready: &self.ready,
            refusals: &Refusals::default(),
            kept_memory: &KeptMemory::default(),
            excluded: &Excluded::default(),
            weights: Weights::default(),
            now: NOW,
        };
        let before = cpu();
        let turn = decide(&facts, &WaitHistory::default());
        let took = cpu() - before;
        assert!(!turn.starts.is_empty() && turn.outlook.len() == self.ready.len());
        took
    }
}

/// One of fifty jobs, each on a hundredth of the nodes.
fn running(id: u32, place: u32, nodes: u32) -> ObservedJob {
    let first = place * nodes / 50;
    let places = (first..first + nodes / 100).map(|node| ObservedPlace {
        node,
        tasks: 1,
        memory_mib: 1000,
    });
    ObservedJob {
        state: ObservedState::Running,
        places: places.collect(),
        limit_minutes: 10 + place,
        end_seconds: NOW.0 / 1_000_000 + i64::from(60 * (1 + place)),
        ..job(id, nodes / 100)
    }
    .requesting(|request| {
        request.exclusive = true;
        request.sized_by_nodes = true;
    })
}

/// Milliseconds that this thread has had a CPU.
fn cpu() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let nanoseconds: f64 = text
        .split_whitespace()
        .next()
        .and_then(|word| word.parse().ok())
        .expect("a number");
    nanoseconds / 1e6
}
