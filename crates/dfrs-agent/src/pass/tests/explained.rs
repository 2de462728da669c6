//! Explanations of single jobs.

use super::*;

fn explanation(cluster: &TestCluster, id: u32) -> dfrs_proto::explain::Explanation {
    let now = Time::from_seconds(cluster.now);
    let explanation = cluster.agent.explanation(id, None, now);
    explanation.expect("the job is there")
}

#[test]
fn explanation_of_parked_job_names_its_cause_and_its_nodes() {
    let mut cluster = TestCluster::new(1);
    cluster.submit(large(1));
    cluster.run(20);
    let runs = explanation(&cluster, 1);
    assert_eq!(runs.phase, "running");
    assert_eq!((runs.why, runs.r#yield), (None, 1.0));
    let started = runs.last_change.expect("it was started");
    assert_eq!(started.what, "start");
    assert!(
        (runs.virtual_time - 20.0).abs() < 1.0,
        "{}",
        runs.virtual_time
    );
    cluster.submit(large(2));
    cluster.run(2);
    let parked = explanation(&cluster, 1);
    assert_eq!(parked.phase, "parked");
    assert!(parked.why.expect("waits").starts_with("DFRS: parked; "));
    let why = parked.last_change.expect("it was paused").why;
    assert_eq!(why, "preempted by the new job 2");
    assert_eq!(
        (parked.nodes[0].name.as_str(), parked.node_count),
        ("n0", 1)
    );
    assert_eq!((parked.co_located, parked.co_located_jobs), (1, vec![2]));
    assert_eq!((parked.r#yield, parked.recent_moves), (0.0, 1));
    assert!(parked.next_remap > parked.now);
    cluster.slurm.0.borrow_mut().end(2);
    cluster.run(2);
    assert_eq!(explanation(&cluster, 1).phase, "running");
    let gone = cluster
        .agent
        .explanation(2, None, Time::from_seconds(cluster.now));
    assert_eq!(gone, None);
}

#[test]
fn array_task_is_found_by_index_or_as_part_of_its_array() {
    let mut cluster = TestCluster::new(1);
    cluster.submit(ObservedJob {
        array: 5,
        array_task: 3,
        ..job(7, 1)
    });
    cluster.submit(ObservedJob {
        array: 5,
        array_master: true,
        held: true,
        priority: 0,
        ..job(5, 1)
    });
    cluster.run(1);
    let now = Time::from_seconds(cluster.now);
    let ask = |task| cluster.agent.explanation(5, Some(task), now);
    assert_eq!(ask(3).expect("a task of its own").job, 7);
    let rest = ask(4).expect("waits with others");
    assert_eq!((rest.job, rest.notes.len()), (5, 1));
    assert_eq!(cluster.agent.explanation(6, Some(3), now), None);
}

#[test]
fn silent_dfrsd_is_noted_in_explanation() {
    let mut cluster = TestCluster::new(1);
    cluster.daemons.0.borrow_mut().facts.silent = ["n0".to_owned()].into();
    cluster.submit(job(1, 1));
    cluster.run(1);
    let notes = explanation(&cluster, 1).notes.join("\n");
    assert!(
        notes.contains("dfrsd not responding on 1 of its nodes (n0)"),
        "{notes}"
    );
}
