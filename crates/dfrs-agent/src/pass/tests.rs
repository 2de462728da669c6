//! The agent against a fake of slurmctld: whole runs, pass by pass.

use super::*;
use crate::fixtures::{
    FakeDaemons, FakeJournal, FakeSlurm, FakeStore, NoProbe, NoRecorder, config, job, nodes,
};
use crate::plan::weights::Weights;
use crate::publish::recorder::Occasion;
use crate::slurm::records::{ObservedJob, ObservedState};
use std::collections::BTreeMap;

use dfrs_proto::conf::{Config, Weighting};

mod arrays;
mod carried;
mod cores;
mod decision_timeout;
mod devices;
mod drains;
mod eligible;
mod excluded;
mod explained;
mod extended;
mod inherited;
mod long_pauses;
mod many_starts;
mod moldable;
mod needs;
mod operators;
mod preempted;
mod run_time_hints;
mod settling;
mod shadow;
mod shown;
mod slow;
mod slurmctld_killed;
mod starved;
mod together;
mod user_limits;
mod warned;

/// `scontrol suspend`.
fn suspended_by_operator(job: &mut ObservedJob) {
    job.state = ObservedState::Suspended;
    job.priority = 0;
}

struct TestCluster {
    slurm: FakeSlurm,
    daemons: FakeDaemons,
    agent: Agent<FakeSlurm, FakeDaemons>,
    now: i64,
    store: FakeStore,
}

impl TestCluster {
    fn new(node_count: u32) -> Self {
        Self::with_config(node_count, config())
    }

    fn with_config(node_count: u32, config: Config) -> Self {
        let store = FakeStore::default();
        let slurm = FakeSlurm::default();
        slurm.0.borrow_mut().nodes = nodes(node_count);
        let daemons = FakeDaemons::default();
        daemons.0.borrow_mut().facts.can_park =
            (0..node_count).map(|index| format!("n{index}")).collect();
        let agent = Self::open(&slurm, &daemons, config, &store, 2000);
        Self {
            slurm,
            daemons,
            agent,
            now: 2000,
            store,
        }
    }

    fn suspend_by_operator(&mut self, id: u32) {
        let mut slurmctld = self.slurm.0.borrow_mut();
        suspended_by_operator(slurmctld.jobs.get_mut(&id).expect("is there"));
    }

    fn open(
        slurm: &FakeSlurm,
        daemons: &FakeDaemons,
        config: Config,
        store: &FakeStore,
        now: i64,
    ) -> Agent<FakeSlurm, FakeDaemons> {
        let ports = Ports {
            slurm: slurm.clone(),
            daemons: daemons.clone(),
            store: Box::new(store.clone()),
            journal: None,
            recorder: Box::new(NoRecorder),
            probe: Box::new(NoProbe),
        };
        let state = store.0.borrow().clone();
        Agent::new(ports, config, state, Time::from_seconds(now))
    }

    /// slurmctld starts again with what was kept: another agent goes on.
    fn reopen(&mut self, config: Config) {
        self.agent = Self::open(&self.slurm, &self.daemons, config, &self.store, self.now);
    }

    /// Lets `seconds` pass with ten ticks each; processes of requeued jobs end within a tick.
    fn run(&mut self, seconds: i64) {
        self.run_with(seconds, 10);
    }

    /// As [`Self::run`], with so many ticks a second.
    fn run_with(&mut self, seconds: i64, ticks: i64) {
        for tick in 0..seconds * ticks {
            let ending: Vec<u32> = self
                .slurm
                .0
                .borrow()
                .jobs
                .values()
                .filter(|job| job.completing)
                .map(|job| job.id)
                .collect();
            for id in ending {
                self.slurm.0.borrow_mut().processes_gone(id);
            }
            let clock = self.now + tick / ticks;
            self.slurm.0.borrow_mut().updates = clock;
            self.daemons.0.borrow_mut().advance(clock);
            let now = Time::from_seconds(self.now) + Span(tick * Span::SECOND.0 / ticks);
            if self.agent.is_due(now) {
                self.agent.pass(now).expect("the fake can be looked at");
            }
        }
        self.now += seconds;
    }

    fn submit(&mut self, job: ObservedJob) {
        self.slurm.0.borrow_mut().jobs.insert(job.id, job);
    }

    /// The job begins another step.
    fn begin_step(&mut self, id: u32) {
        let mut slurmctld = self.slurm.0.borrow_mut();
        slurmctld
            .jobs
            .get_mut(&id)
            .expect("is there")
            .last_launch_seconds = self.now;
    }

    fn state(&self, id: u32) -> ObservedState {
        self.slurm.0.borrow().jobs[&id].state
    }

    /// Shares of a node that its jobs are to have, in the order of their ids.
    fn shares(&self, node: &str) -> Vec<f64> {
        let nodes = self.daemons.0.borrow();
        let jobs = nodes.orders[node].jobs.iter();
        jobs.map(|job| job.share.fraction()).collect()
    }

    fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.slurm.0.borrow_mut().calls)
    }
}

/// A job of one task with so much memory, MiB.
fn sized(id: u32, memory: u64) -> ObservedJob {
    job(id, 1).requesting(|request| request.memory = memory)
}

/// A job that leaves no room for another on its node.
fn large(id: u32) -> ObservedJob {
    sized(id, 900)
}

#[test]
fn jobs_start_at_once_and_share_a_node() {
    let mut cluster = TestCluster::new(1);
    for id in 1..=8 {
        cluster.submit(job(id, 1));
    }
    cluster.run(1);
    assert!((1..=8).all(|id| cluster.state(id) == ObservedState::Running));
    let shares = cluster.shares("n0");
    assert_eq!(shares.len(), 8);
    assert!(
        shares.iter().all(|share| (share - 0.125).abs() < 1e-9),
        "8 one-CPU jobs on 4 CPUs: {shares:?}"
    );
}

#[test]
fn cap_is_a_share_of_all_node_cpus_when_partition_has_fewer() {
    let mut cluster = TestCluster::new(1);
    cluster.slurm.0.borrow_mut().nodes[0].all_cpus = 8;
    for id in 1..=5 {
        cluster.submit(job(id, 1));
    }
    cluster.run(1);
    let shares = cluster.shares("n0");
    assert!(
        shares.iter().all(|share| (share - 0.1).abs() < 1e-9),
        "5 jobs on 4 of 8 CPUs: {shares:?}"
    );
}

#[test]
fn jobs_share_the_cpus_that_jobs_of_other_partitions_leave() {
    let mut cluster = TestCluster::new(1);
    for id in 1..=4 {
        cluster.submit(job(id, 1));
    }
    cluster.run(2);
    for (others, share) in [(0, 0.25), (2, 0.125)] {
        cluster.slurm.0.borrow_mut().nodes[0].others_cpus = others;
        cluster.run(2);
        let shares = cluster.shares("n0");
        assert!(
            shares.iter().all(|has| (has - share).abs() < 1e-9),
            "4 jobs beside {others} CPUs of others: {shares:?}"
        );
    }
    cluster.slurm.0.borrow_mut().nodes[0].others_cpus = 4;
    cluster.submit(job(5, 1));
    cluster.run(2);
    assert!((1..=4).all(|id| cluster.state(id) == ObservedState::Running));
    assert_eq!(cluster.state(5), ObservedState::Pending);
    let reason = cluster.slurm.0.borrow().reasons[&5].clone();
    assert!(reason.contains("waits for CPU: jobs of other"), "{reason}");
    cluster.slurm.0.borrow_mut().nodes[0].others_cpus = 3;
    cluster.run(2);
    assert_eq!(cluster.state(5), ObservedState::Running);
}

#[test]
fn orders_flag_jobs_that_span_nodes() {
    let mut cluster = TestCluster::new(2);
    cluster.submit(job(1, 8));
    cluster.submit(job(2, 1));
    cluster.run(1);
    let daemons = cluster.daemons.0.borrow();
    let orders = ["n0", "n1"].map(|node| &daemons.orders[node].jobs);
    let of = |id| orders.into_iter().flatten().filter(move |job| job.id == id);
    assert_eq!(
        of(1).map(|job| job.spans_nodes).collect::<Vec<_>>(),
        [true; 2]
    );
    assert_eq!(
        of(2).map(|job| job.spans_nodes).collect::<Vec<_>>(),
        [false]
    );
}

#[test]
fn job_share_follows_priority_when_priority_is_the_weight() {
    let mut config = config();
    config.job_weight = Weighting::Priority;
    let mut cluster = TestCluster::with_config(1, config);
    for (id, priority) in [(1, 2000), (2, 1000), (3, 1000), (4, 1000), (5, 1000)] {
        cluster.submit(ObservedJob {
            priority,
            ..job(id, 1)
        });
    }
    cluster.run(1);
    // The first has all it needs, a quarter of the node, when the others have 3 CPUs for 4 of them.
    let full = [0.25, 0.1875, 0.1875, 0.1875, 0.1875];
    assert_eq!(cluster.shares("n0"), full);
    for id in 6..=8 {
        cluster.submit(job(id, 1));
    }
    cluster.run(1);
    let shares = cluster.shares("n0");
    let [heavy, light] = [2.0, 1.0].map(|weight| weight / 9.0);
    assert!((shares[0] - heavy).abs() < 1e-9, "{shares:?}");
    assert!(shares[1..].iter().all(|share| (share - light).abs() < 1e-9));
}

#[test]
fn weights_are_rarely_recomputed_when_jobs_are_submitted() {
    let mut config = config();
    config.job_weight = Weighting::Priority;
    let mut cluster = TestCluster::with_config(1, config);
    let (mut medians, mut weights) = (Vec::new(), Vec::new());
    for id in 1..=70 {
        cluster.submit(ObservedJob {
            priority: 1000 + 5 * id,
            ..job(id, 1)
        });
        cluster.run(1);
        medians.push(Weights::new(&cluster.agent.seen, &cluster.agent.config));
        weights.push(cluster.agent.planner.weights);
    }
    medians.dedup();
    weights.dedup();
    // From 1005 to 1175 in steps of 5: all that depends on weights is computed again when they
    // differ.
    assert_eq!((medians.len(), weights.len()), (35, 2));
}

#[test]
fn a_new_job_parks_an_old_one_which_comes_back() {
    let mut cluster = TestCluster::new(1);
    cluster.submit(job(1, 1).requesting(|request| request.memory = 900));
    cluster.run(20);
    assert_eq!(cluster.state(1), ObservedState::Running);
    cluster.submit(job(2, 1).requesting(|request| request.memory = 900));
    cluster.run(2);
    assert_eq!(
        (cluster.state(1), cluster.state(2)),
        (ObservedState::Suspended, ObservedState::Running)
    );
    assert_eq!(
        cluster.calls(),
        ["start 1", "suspend 1", "release 1", "start 2"]
    );
    assert!(cluster.slurm.0.borrow().reasons[&1].contains("parked"));
    cluster.slurm.0.borrow_mut().end(2);
    cluster.run(2);
    assert_eq!(cluster.state(1), ObservedState::Running);
    assert_eq!(cluster.calls(), ["claim 1", "resume 1"]);
    assert!(
        cluster.daemons.0.borrow().orders["n0"]
            .jobs
            .iter()
            .all(|job| !job.frozen)
    );
}

#[test]
fn without_swap_nothing_is_parked() {
    let mut cluster = TestCluster::new(1);
    cluster.daemons.0.borrow_mut().facts.can_park.clear();
    cluster.submit(job(1, 1).requesting(|request| request.memory = 900));
    cluster.run(20);
    cluster.submit(job(2, 1).requesting(|request| request.memory = 900));
    cluster.run(5);
    assert_eq!(
        (cluster.state(1), cluster.state(2)),
        (ObservedState::Running, ObservedState::Pending)
    );
    assert!(cluster.slurm.0.borrow().reasons[&2].contains("waits for memory"));
}

#[test]
fn job_is_not_parked_for_reservation_when_swap_is_short() {
    for (swap, can_park, calls) in [
        (10_000, 1, &["start 1", "suspend 1", "release 1"][..]),
        (1, 1, &["start 1"]),
        (0, 0, &["start 1"]),
    ] {
        let mut config = config();
        config.swap_per_node = dfrs_core::Bytes(swap << 20);
        let mut cluster = TestCluster::with_config(1, config);
        cluster.submit(job(1, 1));
        cluster.run(40);
        let soon = cluster.now + 100;
        let reserve = |job: &mut ObservedJob| job.free_until_seconds = soon;
        cluster.slurm.0.borrow_mut().jobs.get_mut(&1).map(reserve);
        cluster.run(40);
        assert_eq!(cluster.calls(), calls, "{swap}");
        assert_eq!(cluster.agent.counts().nodes_can_park, can_park);
    }
}

#[test]
fn stuck_park_times_out_and_job_runs_on() {
    let mut cluster = TestCluster::new(1);
    cluster.daemons.0.borrow_mut().parking_seconds = i64::MAX;
    cluster.submit(job(1, 1).requesting(|request| request.memory = 900));
    cluster.run(20);
    cluster.submit(job(2, 1).requesting(|request| request.memory = 900));
    cluster.run(70);
    assert_eq!(
        (cluster.state(1), cluster.state(2)),
        (ObservedState::Running, ObservedState::Pending)
    );
    assert!(cluster.calls().starts_with(&[
        "start 1".into(),
        "suspend 1".into(),
        "resume 1".into()
    ]));
}

#[test]
fn a_checkpoint_job_is_warned_requeued_and_moved() {
    let mut cluster = TestCluster::new(2);
    cluster.submit(job(1, 1).requesting(|request| request.memory = 400));
    cluster.submit(
        ObservedJob {
            comment: "dfrs:checkpoint".into(),
            ..job(2, 1)
        }
        .requesting(|request| request.memory = 400),
    );
    cluster.run(20);
    // One of 800 per node fits only if the two share a node.
    cluster.submit(job(3, 1).requesting(|request| request.memory = 800));
    cluster.run(12);
    assert_eq!(cluster.state(3), ObservedState::Running);
    assert_eq!(
        cluster.state(1),
        ObservedState::Running,
        "a job that can only park stays if another can move"
    );
    assert_eq!(cluster.state(2), ObservedState::Running);
    assert_eq!(
        cluster.calls(),
        [
            "start 1",
            "start 2",
            "warn 2",
            "requeue 2",
            "clear 2",
            "start 3",
            "start 2"
        ]
    );
}

#[test]
fn reason_names_memory_when_job_can_never_start() {
    let mut cluster = TestCluster::new(2);
    cluster.submit(job(1, 1).requesting(|request| request.memory = 5000));
    cluster.run(1);
    assert_eq!(cluster.state(1), ObservedState::Pending);
    let reason = cluster.slurm.0.borrow().reasons[&1].clone();
    assert!(
        reason.contains("can never start")
            && reason.contains("5000 MB")
            && reason.contains("1000 MB"),
        "{reason}"
    );
}

#[test]
fn a_refused_start_is_tried_again_later() {
    let mut cluster = TestCluster::new(1);
    cluster.slurm.0.borrow_mut().refuse_start.insert(1);
    cluster.submit(job(1, 1));
    cluster.run(10);
    assert_eq!(cluster.state(1), ObservedState::Pending);
    let infos = cluster.slurm.0.borrow().infos.clone();
    assert!(
        infos[0].starts_with("JobId=1: start on n0 was refused by Slurm: Requested nodes are busy"),
        "{infos:?}"
    );
    cluster.slurm.0.borrow_mut().refuse_start.clear();
    cluster.run(10);
    assert_eq!(cluster.state(1), ObservedState::Running);
}

#[test]
fn a_restarted_slurmctld_goes_on_where_it_was() {
    let mut cluster = TestCluster::new(1);
    cluster.submit(job(1, 1).requesting(|request| request.memory = 900));
    cluster.run(20);
    cluster.submit(job(2, 1).requesting(|request| request.memory = 900));
    cluster.run(2);
    // kill -9: nothing is said to the old agent.
    cluster.reopen(config());
    cluster.run(2);
    assert_eq!(
        (cluster.state(1), cluster.state(2)),
        (ObservedState::Suspended, ObservedState::Running)
    );
    cluster.slurm.0.borrow_mut().end(2);
    cluster.run(2);
    assert_eq!(cluster.state(1), ObservedState::Running);
}

#[test]
fn jobs_survive_when_state_file_is_lost() {
    let mut cluster = TestCluster::new(1);
    cluster.submit(job(1, 1).requesting(|request| request.memory = 900));
    cluster.run(20);
    cluster.submit(job(2, 1).requesting(|request| request.memory = 900));
    cluster.run(2);
    *cluster.store.0.borrow_mut() = State::default();
    cluster.reopen(config());
    cluster.slurm.0.borrow_mut().end(2);
    cluster.run(3);
    assert_eq!(cluster.state(1), ObservedState::Running);
    assert_eq!(cluster.slurm.0.borrow().jobs[&1].places[0].memory_mib, 900);
}

#[test]
fn job_suspended_by_operator_is_left_alone() {
    let mut cluster = TestCluster::new(1);
    cluster.submit(job(1, 1));
    cluster.run(2);
    cluster.suspend_by_operator(1);
    cluster.calls();
    cluster.run(20);
    assert_eq!(cluster.state(1), ObservedState::Suspended);
    assert!(cluster.calls().is_empty());
    assert!(cluster.daemons.0.borrow().orders["n0"].jobs.is_empty());
}

#[test]
fn a_time_limit_counts_virtual_time() {
    let mut cluster = TestCluster::new(1);
    for id in 1..=8 {
        cluster.submit(ObservedJob {
            end_seconds: 10_000,
            ..job(id, 1)
        });
    }
    cluster.run(130);
    // At a yield of one half, 130 s of wall-clock time lag 65 s behind.
    let calls = cluster.calls();
    assert!(
        (1..=8).all(|id| calls.contains(&format!("extend {id} 60"))),
        "{calls:?}"
    );
}

#[test]
fn parked_jobs_resume_after_breaker_trip() {
    let mut cluster = TestCluster::new(1);
    cluster.submit(job(1, 1).requesting(|request| request.memory = 900));
    cluster.run(20);
    cluster.submit(job(2, 1).requesting(|request| request.memory = 900));
    cluster.run(2);
    let (slurm, daemons) = (cluster.slurm.clone(), cluster.daemons.clone());
    let mut agent = TestCluster::open(&slurm, &daemons, config(), &cluster.store, cluster.now);
    assert_eq!(
        agent
            .give_back(Time::from_seconds(cluster.now))
            .expect("looks"),
        1
    );
    let frozen = |cluster: &TestCluster| -> Vec<(u32, bool)> {
        let nodes = cluster.daemons.0.borrow();
        let jobs = nodes.orders["n0"].jobs.iter();
        jobs.map(|job| (job.id, job.frozen)).collect()
    };
    assert_eq!(
        frozen(&cluster),
        [(1, true)],
        "no caps; what is parked stays so"
    );
    cluster.slurm.0.borrow_mut().end(2);
    for second in 1..4 {
        agent
            .give_back(Time::from_seconds(cluster.now + second))
            .expect("looks");
    }
    assert_eq!(cluster.state(1), ObservedState::Running);
    assert_eq!(frozen(&cluster), []);
}

#[test]
fn other_jobs_are_given_back_when_one_panics() {
    let mut cluster = TestCluster::new(2);
    for id in [1, 2] {
        cluster.submit(job(id, 1).requesting(|request| request.memory = 900));
    }
    cluster.run(20);
    for id in [3, 4] {
        cluster.submit(job(id, 1).requesting(|request| request.memory = 900));
    }
    cluster.run(5);
    assert_eq!(cluster.state(1), ObservedState::Suspended);
    assert_eq!(cluster.state(2), ObservedState::Suspended);
    {
        let mut slurmctld = cluster.slurm.0.borrow_mut();
        slurmctld.end(3);
        slurmctld.end(4);
        slurmctld.panic_about.insert(1);
    }
    let mut left = 2;
    for second in 0..4 {
        let now = Time::from_seconds(cluster.now + second);
        left = cluster.agent.give_back(now).expect("looks");
    }
    assert_eq!(left, 0, "nothing is waited for");
    assert_eq!(cluster.state(2), ObservedState::Running);
    assert_eq!(cluster.state(1), ObservedState::Suspended);
    assert_eq!(cluster.agent.left_out().collect::<Vec<_>>(), [1]);
    let errors = cluster.slurm.0.borrow().errors.clone();
    assert_eq!(errors.len(), 1, "said once: {errors:?}");
    assert!(errors[0].starts_with("JobId=1: not resumed by DFRS: internal error: injected panic"));
    let nodes = cluster.daemons.0.borrow();
    assert!(
        nodes.orders.values().all(|node| node.jobs.is_empty()),
        "nothing keeps 'scontrol resume' from working"
    );
}

#[test]
fn job_is_restarted_when_it_loses_its_node() {
    let mut cluster = TestCluster::new(2);
    cluster.submit(job(1, 1));
    cluster.run(20);
    cluster.slurm.0.borrow_mut().lose_node(1);
    cluster.calls();
    cluster.run(18);
    assert_eq!(
        cluster.calls(),
        ["abort on n0 1"],
        "slurmd may be at work there"
    );
    cluster.run(4);
    assert_eq!(
        cluster.calls(),
        ["clear 1", "start 1"],
        "not after Slurm's two minutes"
    );
    assert_eq!(cluster.state(1), ObservedState::Running);
}

/// Requests every decision and keeps the last.
#[derive(Clone, Default)]
struct LastRecording(std::rc::Rc<std::cell::RefCell<String>>);

impl crate::publish::recorder::Recorder for LastRecording {
    fn is_requested(&mut self) -> bool {
        true
    }
    fn save(
        &mut self,
        _: Occasion,
        record: &dfrs_core::DecisionRecord<'_>,
    ) -> Result<Option<String>, String> {
        *self.0.borrow_mut() = serde_json::to_string(record).expect("JSON");
        Ok(None)
    }
}

#[test]
fn recorded_decision_is_decided_again_when_it_is_read() {
    let mut cluster = TestCluster::new(2);
    let kept = LastRecording::default();
    cluster.agent.publisher.recorder = Box::new(kept.clone());
    cluster.submit(large(1));
    cluster.run(20);
    cluster.submit(large(2));
    cluster.submit(large(3));
    cluster.run(1);
    let text = dfrs_scenario::from_record(&kept.0.borrow()).expect("a record");
    let scenario = dfrs_scenario::read(&text, "recorded", str::parse)
        .expect(&text)
        .remove(0);
    assert_eq!(scenario.cluster.nodes.len(), 2);
    assert_eq!(
        scenario.expected,
        Some(scenario.decide().outcome()),
        "{text}"
    );
}
