//! Jobs of users who had much of the cluster recently.

use super::*;

/// The default policy, where a pause of so many seconds is too long.
fn with_longest_pause(seconds: i64) -> Config {
    let text = format!(
        "Mode=full\nSwapPerNode=10000\nMovesPerHour=unlimited\nLongestPause={seconds}\nPartition=dfrs\n"
    );
    Config::parse(&text, "dfrs.conf").expect("a good configuration")
}

/// User 1000 has had an hour when job 1 ends; job 2 is another one of theirs.
fn after_an_hour(config: Config) -> TestCluster {
    let mut cluster = TestCluster::with_config(1, config);
    cluster.submit(large(1));
    cluster.run_with(3600, 1);
    cluster.slurm.0.borrow_mut().end(1);
    cluster.run(2);
    cluster.submit(large(2));
    cluster.run(12);
    assert_eq!(cluster.state(2), ObservedState::Running);
    cluster
}

fn inherited(cluster: &TestCluster, id: u32) -> i64 {
    cluster
        .agent
        .ledger
        .get(id)
        .expect("is known")
        .inherited
        .whole_seconds()
}

fn of_another_user(id: u32) -> ObservedJob {
    ObservedJob {
        user: 1001,
        ..large(id)
    }
}

#[test]
fn job_inherits_recent_virtual_time_of_its_user() {
    let mut cluster = after_an_hour(with_longest_pause(86_400));
    let had = inherited(&cluster, 2);
    assert!((2900..3000).contains(&had), "{had}");
    // It has hardly run, but it is not new: a new job would get its place at once.
    cluster.submit(of_another_user(3));
    cluster.run(3);
    assert_eq!(inherited(&cluster, 3), 0);
    assert_eq!(cluster.state(3), ObservedState::Running);
    assert_eq!(cluster.state(2), ObservedState::Suspended);
}

#[test]
fn under_the_papers_policies_no_job_inherits() {
    let cluster = after_an_hour(config());
    assert_eq!(inherited(&cluster, 2), 0);
}

#[test]
fn job_with_inherited_time_is_not_starved() {
    let mut cluster = after_an_hour(with_longest_pause(120));
    // New ones of others come all the time, each as soon as the last one has ended.
    cluster.submit(large(4));
    let mut waited = 0;
    for id in 10..30 {
        cluster.submit(of_another_user(id));
        for _ in 0..50 {
            cluster.run_with(1, 4);
            waited += i64::from(cluster.state(4) == ObservedState::Pending);
        }
        if cluster.state(id) == ObservedState::Running {
            cluster.slurm.0.borrow_mut().end(id);
        }
    }
    assert!(waited < 300, "{waited}");
}
