//! What time limits say of run times, as far as it is true.

use super::*;

const DAY: u32 = 24 * 60;

fn hinted() -> Config {
    let text = "Mode=full\nSwapPerNode=10000\nPolicy=GreedyPMC*/move-per/OPT=VT/MINVT=600\nRunTimeHint=limits\n\
                Partition=dfrs Mobility=park\n";
    Config::parse(text, "dfrs.conf").expect("a configuration")
}

fn limited(id: u32, limit_minutes: u32) -> ObservedJob {
    ObservedJob {
        limit_minutes,
        ..job(id, 1)
    }
}

/// A job that takes all CPUs of the only node.
fn busy_node() -> TestCluster {
    let mut cluster = TestCluster::with_config(1, hinted());
    cluster.submit(job(1, 4));
    cluster.run(20);
    assert_eq!(cluster.state(1), ObservedState::Running);
    cluster
}

#[test]
fn job_with_long_limit_waits_for_idle_cpus() {
    let mut cluster = busy_node();
    cluster.submit(limited(2, DAY));
    cluster.submit(limited(3, 30));
    cluster.submit(job(4, 1));
    cluster.run(5);
    let states = [2, 3, 4].map(|id| cluster.state(id));
    let (waits, runs) = (ObservedState::Pending, ObservedState::Running);
    assert_eq!(states, [waits, runs, runs]);
    cluster.slurm.0.borrow_mut().end(1);
    cluster.run(2);
    assert_eq!(cluster.state(2), runs);
}

#[test]
fn hints_are_ignored_after_a_false_limit_even_after_restart() {
    let mut cluster = TestCluster::with_config(1, hinted());
    cluster.submit(limited(1, DAY));
    cluster.run(20);
    cluster.slurm.0.borrow_mut().end(1);
    cluster.run(2);
    let _ = cluster.agent.finish(Time::from_seconds(cluster.now));
    cluster.reopen(hinted());
    cluster.submit(job(2, 4));
    cluster.run(20);
    cluster.submit(limited(3, DAY));
    cluster.run(5);
    assert_eq!(cluster.state(3), ObservedState::Running);
}

#[test]
fn extension_is_not_part_of_the_users_limit() {
    let mut cluster = busy_node();
    cluster.submit(limited(2, 30));
    cluster.run(5);
    // Twice the time for half of the CPU.
    let mut slurmctld = cluster.slurm.0.borrow_mut();
    slurmctld.jobs.get_mut(&2).expect("is there").limit_minutes = 60;
    drop(slurmctld);
    cluster.run(5);
    let record = cluster.agent.ledger.get(2).expect("a record");
    assert_eq!(record.limit, Some(Span::from_seconds(1800)));
}
