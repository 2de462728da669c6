//! Small jobs (starved.txt) on nodes that give them less than they promise, and on which pausing takes
//! long; with the configuration of docker/demo, and with the papers' policy.

use std::collections::VecDeque;

use super::*;

/// The demo's policy, and the papers' at the same times.
const DEMO: &str = "GreedyPMCR*/move-per/OPT=VT/MINVT=20";
const PAPERS: &str = "GreedyPM*/per/OPT=MIN/MINVT=20";

/// A job of the workload: when it is submitted, and the seconds that it takes alone.
struct Row {
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

fn row(id: u32, words: &[&str]) -> Row {
    let per_cpu = number(words, "--mem-per-cpu");
    let memory = per_cpu.or_else(|| number(words, "--mem")).expect("memory");
    Row {
        at: words[0].parse().expect("a time"),
        work: words[2].parse().expect("work"),
        job: ObservedJob {
            comment: format!("dfrs:{}", words[4]),
            warn_seconds: 5,
            cpus_per_task: number(words, "-c").unwrap_or(1),
            tasks_per_node: number(words, "--ntasks-per-node").unwrap_or(0),
            max_nodes: number(words, "-N").unwrap_or(0),
            memory: u64::from(memory),
            memory_per_cpu: per_cpu.is_some(),
            ..job(id, number(words, "-n").expect("tasks"))
        },
    }
}

/// The workload, in the order of submission; of an array, one task.
fn workload() -> VecDeque<Row> {
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
struct Machine {
    /// What jobs get of the CPU that they are promised.
    delivered: f64,
    /// Seconds that it takes to park a job, and to launch it or wake it up.
    latency: i64,
}

/// The shares of their need that running jobs are promised now, without those still being launched.
fn promised(story: &Story, latency: i64) -> BTreeMap<u32, f64> {
    let world = story.slurm.0.borrow();
    let nodes = story.daemons.0.borrow();
    let mut shares = BTreeMap::new();
    for job in world.jobs.values() {
        let runs = job.state == ObservedState::Running && story.now - job.last_launch >= latency;
        let Some(place) = job.places.first().filter(|_| runs) else {
            continue;
        };
        let orders = &nodes.orders[&format!("n{}", place.node)];
        let order = orders.jobs.iter().find(|order| order.id == job.id);
        if let Some(order) = order.filter(|order| !order.frozen) {
            let needs = f64::from(place.tasks * job.cpus_per_task);
            shares.insert(
                job.id,
                order.share.fraction() * f64::from(orders.cpus) / needs,
            );
        }
    }
    shares
}

/// The workload under way.
struct Run {
    story: Story,
    machine: Machine,
    begin: i64,
    rows: VecDeque<Row>,
    /// Seconds of work that submitted jobs have left.
    left: BTreeMap<u32, f64>,
    /// Pauses that were begun.
    pauses: usize,
}

impl Run {
    fn new(machine: Machine, policy: &str) -> Self {
        let text = include_str!("../../../../../docker/conf/dfrs.conf")
            .replace(DEMO, policy)
            .replace("Journal=/var/log/slurm/dfrs-journal.jsonl", "")
            .replace("Partition=main", "Partition=dfrs");
        let config = Config::parse(&text, "dfrs.conf").expect("a good configuration");
        let story = Story::with_config(4, config);
        story.daemons.0.borrow_mut().parking_takes = machine.latency;
        Self {
            begin: story.now,
            story,
            machine,
            rows: workload(),
            left: BTreeMap::new(),
            pauses: 0,
        }
    }

    fn submit(&mut self) {
        let due = |row: &Row| self.begin + row.at <= self.story.now;
        let count = self.rows.iter().take_while(|row| due(row)).count();
        for row in self.rows.drain(..count) {
            self.left.insert(row.job.id, row.work);
            self.story.submit(ObservedJob {
                submit_time: self.story.now,
                ..row.job
            });
        }
    }

    /// A second of DFRS's, and of the jobs' work.
    fn pass_second(&mut self) {
        self.story.run_with(1, 4);
        let calls = self.story.calls();
        let begun = |call: &&String| call.starts_with("suspend") || call.starts_with("warn");
        self.pauses += calls.iter().filter(begun).count();
        for (id, share) in promised(&self.story, self.machine.latency) {
            if let Some(work) = self.left.get_mut(&id) {
                *work -= share * self.machine.delivered;
            }
        }
        self.left.retain(|id, work| {
            if *work <= 0.0 {
                self.story.slurm.0.borrow_mut().end(*id);
            }
            *work > 0.0
        });
    }
}

/// Runs the workload; returns how many pauses were begun, and the seconds until the last job ended.
fn run(machine: Machine, policy: &str) -> (usize, i64) {
    let mut run = Run::new(machine, policy);
    let mut seconds = 0;
    while seconds == 0 || !run.rows.is_empty() || !run.left.is_empty() {
        assert!(seconds < 3000, "jobs that do not end: {:?}", run.left);
        run.submit();
        run.pass_second();
        seconds += 1;
    }
    (run.pauses, seconds)
}

/// At most so many pauses, and so many seconds, on this machine: under the papers' policy and under the demo's.
fn assert_at_most(machine: Machine, papers: (usize, i64), demo: (usize, i64)) {
    for (policy, most) in [(PAPERS, papers), (DEMO, demo)] {
        let (pauses, end) = run(machine, policy);
        assert!(
            pauses <= most.0 && end <= most.1,
            "{policy}: {pauses} pauses, {end} s"
        );
    }
}

#[test]
fn a_good_machine_pauses_few_jobs() {
    let machine = Machine {
        delivered: 1.0,
        latency: 1,
    };
    assert_at_most(machine, (8, 130), (8, 130));
}

#[test]
fn where_pausing_takes_long_jobs_do_more_than_come_and_go() {
    let machine = Machine {
        delivered: 0.5,
        latency: 10,
    };
    assert_at_most(machine, (110, 420), (85, 420));
}

#[test]
fn where_parking_is_in_vain_it_is_tried_rarely() {
    let machine = Machine {
        delivered: 1.0,
        latency: 25,
    };
    assert_at_most(machine, (60, 600), (75, 450));
}
