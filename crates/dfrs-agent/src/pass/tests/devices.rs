//! Jobs that ask for devices (GRES).

use super::*;
use crate::slurm::devices::{ObservedDevices, RequestedDevices};

/// Nodes of which each has two GPUs.
fn with_gpus(nodes: u32) -> TestCluster {
    let cluster = TestCluster::new(nodes);
    for node in &mut cluster.slurm.0.borrow_mut().nodes {
        node.devices = vec![ObservedDevices {
            kind: "gpu".into(),
            count: 2,
            allocated: 0,
        }];
    }
    cluster
}

fn gpu_job(id: u32, tasks: u32, gpus: u64) -> ObservedJob {
    job(id, tasks).requesting(|request| {
        request.devices = vec![RequestedDevices {
            kind: "gpu".into(),
            count: gpus,
        }];
    })
}

fn reason(cluster: &TestCluster, id: u32) -> String {
    cluster.slurm.0.borrow().reasons[&id].clone()
}

fn states(cluster: &TestCluster, ids: std::ops::RangeInclusive<u32>) -> Vec<ObservedState> {
    ids.map(|id| cluster.state(id)).collect()
}

#[test]
fn gpu_job_starts_on_a_node_whose_cpus_others_use() {
    let mut cluster = with_gpus(1);
    for id in 1..=4 {
        cluster.submit(job(id, 2));
    }
    cluster.run(2);
    cluster.submit(gpu_job(5, 1, 1));
    cluster.run(1);
    assert_eq!(states(&cluster, 1..=5), [ObservedState::Running; 5]);
}

#[test]
fn gpu_jobs_wait_for_gpus_and_disturb_no_other_job() {
    let mut cluster = with_gpus(2);
    cluster.submit(job(1, 1));
    cluster.submit(gpu_job(2, 2, 2).requesting(|request| request.min_nodes = 2));
    cluster.run(2);
    cluster.submit(gpu_job(3, 1, 1));
    cluster.submit(gpu_job(4, 1, 2));
    cluster.run(100);
    assert_eq!(states(&cluster, 1..=2), [ObservedState::Running; 2]);
    assert_eq!(states(&cluster, 3..=4), [ObservedState::Pending; 2]);
    let why = reason(&cluster, 3);
    assert!(
        why.contains("waits for") && why.contains("gpu:1 a node"),
        "{why}"
    );
    cluster.slurm.0.borrow_mut().end(2);
    cluster.run(20);
    assert_eq!(states(&cluster, 3..=4), [ObservedState::Running; 2]);
}

#[test]
fn devices_and_jobs_that_ask_for_some_are_counted() {
    let mut cluster = with_gpus(2);
    cluster.submit(job(1, 1));
    cluster.submit(gpu_job(2, 1, 2));
    cluster.run(2);
    let has_place = |node: u32| cluster.slurm.0.borrow().jobs[&2].places[0].node == node;
    let other = if has_place(0) { 1 } else { 0 };
    cluster.slurm.0.borrow_mut().nodes[other].up = false;
    cluster.submit(gpu_job(3, 1, 2));
    cluster.run(5);
    let counts = cluster.agent.counts();
    let gpus = counts.devices["gpu"];
    assert_eq!((gpus.all, gpus.held, gpus.free), (4, 2, 0));
    let of = |waits_for: &dfrs_proto::status::WaitsFor| (waits_for.devices, waits_for.memory);
    let with_devices = counts.jobs.with_devices;
    assert_eq!((with_devices.all, of(&with_devices.waits_for)), (2, (1, 0)));
    assert_eq!(of(&counts.jobs.waits_for), (1, 0));
    let now = Time::from_seconds(cluster.now);
    let explained = cluster.agent.explanation(3, None, now).expect("is there");
    assert_eq!(dfrs_proto::devices::text(&explained.devices), "gpu:2");
    let why = explained.why.expect("it waits");
    assert!(why.contains("waits for devices"), "{why}");
}

#[test]
fn gpus_that_another_partition_holds_are_not_planned_with() {
    let mut cluster = with_gpus(1);
    cluster.slurm.0.borrow_mut().devices_of_others = 1;
    cluster.slurm.0.borrow_mut().nodes[0].devices[0].allocated = 1;
    cluster.submit(gpu_job(1, 1, 2));
    cluster.run(5);
    assert_eq!(cluster.state(1), ObservedState::Pending);
    assert!(!cluster.calls().contains(&"start 1".to_owned()));
    cluster.slurm.0.borrow_mut().devices_of_others = 0;
    cluster.slurm.0.borrow_mut().nodes[0].devices[0].allocated = 0;
    cluster.run(5);
    assert_eq!(cluster.state(1), ObservedState::Running);
}

#[test]
fn gpu_job_is_not_parked_for_a_reservation() {
    let mut cluster = with_gpus(1);
    cluster.submit(gpu_job(1, 1, 1));
    cluster.run(40);
    let soon = cluster.now + 100;
    let reserve = |job: &mut ObservedJob| job.free_until_seconds = soon;
    cluster.slurm.0.borrow_mut().jobs.get_mut(&1).map(reserve);
    cluster.run(40);
    assert_eq!(
        cluster.calls(),
        ["start 1"],
        "parked, it would keep its GPU"
    );
}

#[test]
fn job_for_more_gpus_than_a_node_has_can_never_start() {
    let mut cluster = with_gpus(2);
    cluster.submit(gpu_job(1, 1, 3));
    cluster.run(2);
    let why = reason(&cluster, 1);
    assert!(
        why.contains("can never start") && why.contains("gpu:3") && why.contains("so many devices"),
        "{why}"
    );
}
