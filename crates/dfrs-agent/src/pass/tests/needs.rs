//! Jobs that need less than they requested.

use super::*;
use dfrs_core::Need;
use dfrs_proto::conf::NeedsSource;
use dfrs_proto::message::JobOrder;

fn measured() -> Config {
    Config {
        needs: NeedsSource::Measured,
        ..config()
    }
}

/// Two jobs that request all four CPUs of the only node.
fn two_full_jobs(config: Config) -> TestCluster {
    let mut cluster = TestCluster::with_config(1, config);
    cluster.submit(job(1, 4));
    cluster.submit(job(2, 4));
    cluster.run(1);
    assert_eq!(cluster.shares("n0"), [0.5, 0.5]);
    cluster
}

/// The nodes say that this job needs so many eighths.
fn set_need(cluster: &mut TestCluster, id: u32, eighths: u8) {
    let mut nodes = cluster.daemons.0.borrow_mut();
    if eighths == 8 {
        nodes.facts.needs.remove(&id);
    } else {
        nodes.facts.needs.insert(id, Need::from_eighths(eighths));
    }
}

fn order(cluster: &TestCluster, id: u32) -> JobOrder {
    let nodes = cluster.daemons.0.borrow();
    let orders = nodes.orders["n0"].jobs.iter();
    *orders.clone().find(|job| job.id == id).expect("is there")
}

fn assert_close(shares: &[f64], wanted: &[f64]) {
    let mut pairs = shares.iter().zip(wanted);
    let same = pairs.all(|(share, wanted)| (share - wanted).abs() < 1e-6);
    assert!(same && shares.len() == wanted.len(), "{shares:?}");
}

#[test]
fn unused_cpu_goes_to_others_until_the_need_grows() {
    let mut cluster = two_full_jobs(measured());
    set_need(&mut cluster, 1, 2);
    cluster.run_with(1, 1);
    assert_close(&cluster.shares("n0"), &[0.2, 0.8]);
    assert_eq!(order(&cluster, 1).need.eighths(), 2);
    assert_eq!(
        order(&cluster, 1).request.map(|share| share.fraction()),
        Some(1.0)
    );
    assert_eq!(order(&cluster, 2).need, Need::WHOLE);
    set_need(&mut cluster, 1, 8);
    cluster.run(1);
    assert_close(&cluster.shares("n0"), &[0.5, 0.5]);
}

#[test]
fn yield_is_relative_to_request_and_decisions_use_the_need() {
    let mut cluster = two_full_jobs(measured());
    set_need(&mut cluster, 1, 2);
    cluster.run(101);
    let record = cluster.agent.ledger.get(1).expect("is known");
    assert!((record.share().0 - 0.2).abs() < 1e-6);
    let now = Time::from_seconds(cluster.now);
    let explanation = cluster.agent.explanation(1, None, now).expect("is there");
    assert!((explanation.r#yield - 0.2).abs() < 1e-6 && (explanation.need - 0.25).abs() < 1e-9);
    assert!(
        explanation.notes.iter().any(|note| note.contains("2/8")),
        "{:?}",
        explanation.notes
    );
    cluster.agent.pass(now).expect("looks");
    let record = cluster.agent.ledger.get(1).expect("is known");
    let (done, had) = (record.virtual_time(), record.virtual_time_by_need());
    assert!((done.seconds() - 20.0).abs() < 2.0, "{done:?}");
    assert!((had.seconds() - 80.0).abs() < 2.0, "{had:?}");
}

#[test]
fn needs_are_not_measured_when_needs_are_requested() {
    let mut cluster = two_full_jobs(config());
    assert_eq!(order(&cluster, 1).request, None);
    set_need(&mut cluster, 1, 2);
    cluster.run(10);
    assert_close(&cluster.shares("n0"), &[0.5, 0.5]);
}

#[test]
fn job_with_deadline_counts_with_its_full_request() {
    let mut cluster = two_full_jobs(measured());
    set_need(&mut cluster, 1, 2);
    cluster.run(1);
    let deadline = cluster.now + 10_000;
    let change = |cluster: &TestCluster| {
        let mut slurmctld = cluster.slurm.0.borrow_mut();
        slurmctld
            .jobs
            .get_mut(&1)
            .expect("is there")
            .deadline_seconds = deadline;
    };
    change(&cluster);
    cluster.run(6);
    assert_close(&cluster.shares("n0"), &[0.5, 0.5]);
    assert_eq!(order(&cluster, 1).request, None);
}

#[test]
fn need_is_reset_when_job_is_parked_or_restarted() {
    let mut cluster = TestCluster::with_config(1, measured());
    cluster.submit(sized(1, 600));
    cluster.submit(job(2, 4));
    cluster.run(20);
    set_need(&mut cluster, 1, 4);
    cluster.run(1);
    let need = |cluster: &TestCluster| {
        let record = cluster.agent.ledger.get(1).expect("is known");
        record.need.eighths()
    };
    assert_eq!(need(&cluster), 4);
    cluster.submit(sized(3, 600));
    cluster.run(3);
    assert_eq!(cluster.state(1), ObservedState::Suspended);
    assert_eq!(need(&cluster), 8);
    // Nodes are not queried about parked jobs: they drop them, too.
    set_need(&mut cluster, 1, 8);
    cluster.slurm.0.borrow_mut().end(3);
    cluster.run(20);
    assert_eq!(
        (cluster.state(1), need(&cluster)),
        (ObservedState::Running, 8)
    );
    set_need(&mut cluster, 1, 4);
    cluster.run(1);
    assert_eq!(need(&cluster), 4);
    {
        // Requeued and started again between two looks.
        let mut slurmctld = cluster.slurm.0.borrow_mut();
        slurmctld.jobs.get_mut(&1).expect("is there").restarts += 1;
    }
    cluster.run(6);
    assert_eq!(need(&cluster), 8);
}

#[test]
fn needs_are_reset_when_the_agent_restarts() {
    let mut cluster = two_full_jobs(measured());
    set_need(&mut cluster, 1, 2);
    cluster.run(1);
    let state = cluster.agent.state();
    assert!(
        state
            .ledger
            .get(1)
            .is_some_and(|record| record.need.is_less())
    );
    *cluster.store.0.borrow_mut() = state;
    cluster.reopen(config());
    cluster.run(1);
    assert_close(&cluster.shares("n0"), &[0.5, 0.5]);
}
