//! Small jobs (starved.txt) on nodes that give them less than they promise, and on which pausing
//! takes long; with the configuration of docker/demo, and with the papers' policy.

use std::collections::VecDeque;

use super::*;

/// The demo's policy, and the papers' at the same times.
const DEMO: &str = "GreedyPMCR*/move-per/OPT=VT/MINVT=20";
const PAPERS: &str = "GreedyPM*/per/OPT=MIN/MINVT=20";

/// A job of the workload: when it is submitted, and the seconds that it takes alone.
struct WorkloadJob {
    at: i64,
    work: f64,
    job: ObservedJob,
}

/// The number behind `option` in the words of a line, if it is there.
fn number(words: &[&str], option: &str) -> Option<u32> {
    let next = |position: usize| words.get(position + 1).copied();
    let apart = words.iter().position(|word| *word == option).and_then(next);
    let joined = || {
        words
            .iter()
            .find_map(|word| word.strip_prefix(option)?.strip_prefix('='))
    };
    apart.or_else(joined)?.parse().ok()
}

fn row(id: u32, words: &[&str]) -> WorkloadJob {
    let per_cpu = number(words, "--mem-per-cpu");
    let memory = per_cpu.or_else(|| number(words, "--mem")).expect("memory");
    WorkloadJob {
        at: words[0].parse().expect("a time"),
        work: words[2].parse().expect("work"),
        job: ObservedJob {
            comment: format!("dfrs:{}", words[4]),
            warn_seconds: 5,
            ..job(id, number(words, "-n").expect("tasks"))
        }
        .requesting(|request| {
            request.cpus_per_task = number(words, "-c").unwrap_or(1);
            request.tasks_per_node = number(words, "--ntasks-per-node").unwrap_or(0);
            request.max_nodes = number(words, "-N").unwrap_or(0);
            request.memory = u64::from(memory);
            request.memory_per_cpu = per_cpu.is_some();
        }),
    }
}

/// The workload, in the order of submission; of an array, one task.
fn workload() -> VecDeque<WorkloadJob> {
    let lines = include_str!("starved.txt").lines();
    let rows = lines.filter(|line| !line.starts_with('#') && !line.is_empty());
    let words = rows.map(|line| line.split_whitespace().collect::<Vec<_>>());
    (1..)
        .zip(words)
        .map(|(id, words)| row(id, &words))
        .collect()
}

/// What a node is like.
#[derive(Clone, Copy)]
struct NodeTiming {
    /// What jobs get of the CPU that they are promised.
    delivered: f64,
    /// Seconds that it takes to park a job, and to launch it or wake it up.
    latency: i64,
}

/// The shares of their need that running jobs are promised now, without those still being launched.
fn promised_shares(cluster: &TestCluster, latency: i64) -> BTreeMap<u32, f64> {
    let slurmctld = cluster.slurm.0.borrow();
    let nodes = cluster.daemons.0.borrow();
    let mut shares = BTreeMap::new();
    for job in slurmctld.jobs.values() {
        let runs =
            job.state == ObservedState::Running && cluster.now - job.last_launch_seconds >= latency;
        let Some(place) = job.places.first().filter(|_| runs) else {
            continue;
        };
        let orders = &nodes.orders[&format!("n{}", place.node)];
        let order = orders.jobs.iter().find(|order| order.id == job.id);
        if let Some(order) = order.filter(|order| !order.frozen) {
            let needs = f64::from(place.tasks * job.request.cpus_per_task);
            shares.insert(
                job.id,
                order.share.fraction() * f64::from(orders.cpus) / needs,
            );
        }
    }
    shares
}

/// The workload under way.
struct WorkloadRun {
    cluster: TestCluster,
    machine: NodeTiming,
    begin: i64,
    rows: VecDeque<WorkloadJob>,
    /// Seconds of work that submitted jobs have left.
    left: BTreeMap<u32, f64>,
    /// Pauses that were begun.
    pauses: usize,
}

impl WorkloadRun {
    fn new(machine: NodeTiming, policy: &str) -> Self {
        let text = include_str!("../../../../../docker/conf/dfrs.conf")
            .replace(DEMO, policy)
            .replace("Journal=/var/log/slurm/dfrs-journal.jsonl", "")
            .replace("Partition=main", "Partition=dfrs");
        let config = Config::parse(&text, "dfrs.conf").expect("a good configuration");
        let cluster = TestCluster::with_config(4, config);
        cluster.daemons.0.borrow_mut().parking_seconds = machine.latency;
        Self {
            begin: cluster.now,
            cluster,
            machine,
            rows: workload(),
            left: BTreeMap::new(),
            pauses: 0,
        }
    }

    fn submit(&mut self) {
        let due = |row: &WorkloadJob| self.begin + row.at <= self.cluster.now;
        let count = self.rows.iter().take_while(|row| due(row)).count();
        for row in self.rows.drain(..count) {
            self.left.insert(row.job.id, row.work);
            self.cluster.submit(ObservedJob {
                submit_seconds: self.cluster.now,
                ..row.job
            });
        }
    }

    /// A second of DFRS's, and of the jobs' work.
    fn pass_second(&mut self) {
        self.cluster.run_with(1, 4);
        let calls = self.cluster.calls();
        let begun = |call: &&String| call.starts_with("suspend") || call.starts_with("warn");
        self.pauses += calls.iter().filter(begun).count();
        for (id, share) in promised_shares(&self.cluster, self.machine.latency) {
            if let Some(work) = self.left.get_mut(&id) {
                *work -= share * self.machine.delivered;
            }
        }
        self.left.retain(|id, work| {
            if *work <= 0.0 {
                self.cluster.slurm.0.borrow_mut().end(*id);
            }
            *work > 0.0
        });
    }
}

/// Runs the workload; returns how many pauses were begun, and the seconds until the last job ended.
fn run(machine: NodeTiming, policy: &str) -> (usize, i64) {
    let mut run = WorkloadRun::new(machine, policy);
    let mut seconds = 0;
    while seconds == 0 || !run.rows.is_empty() || !run.left.is_empty() {
        assert!(seconds < 3000, "jobs that do not end: {:?}", run.left);
        run.submit();
        run.pass_second();
        seconds += 1;
    }
    (run.pauses, seconds)
}

/// Checks the bounds of the number of pauses and of the seconds on these nodes, under the papers'
/// policy and under the demo's.
fn assert_bounds(machine: NodeTiming, papers: (usize, i64), demo: (usize, i64)) {
    for (policy, max) in [(PAPERS, papers), (DEMO, demo)] {
        let (pauses, end) = run(machine, policy);
        assert!(
            pauses <= max.0 && end <= max.1,
            "{policy}: {pauses} pauses, {end} s"
        );
    }
}

#[test]
fn few_jobs_are_paused_on_fast_nodes() {
    let machine = NodeTiming {
        delivered: 1.0,
        latency: 1,
    };
    assert_bounds(machine, (8, 130), (8, 130));
}

#[test]
fn pauses_are_bounded_when_pausing_is_slow() {
    let machine = NodeTiming {
        delivered: 0.5,
        latency: 10,
    };
    assert_bounds(machine, (110, 420), (85, 420));
}

#[test]
fn parking_is_rare_when_it_times_out() {
    let machine = NodeTiming {
        delivered: 1.0,
        latency: 25,
    };
    assert_bounds(machine, (60, 600), (75, 450));
}
