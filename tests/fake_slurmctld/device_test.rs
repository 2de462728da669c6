//! What the shim makes of jobs that ask for devices (`device_test.c`).

use crate::build;
use crate::snapshot_test::{assert_has, run};

fn assert_has_all(scenario: &str, expected: &[&str]) {
    let lines = run(&build::DEVICE_TEST, scenario);
    for line in expected {
        assert_has(&lines, line);
    }
}

#[test]
fn devices_of_whole_jobs_are_counted_on_each_node_where_nodes_are_fixed() {
    let open = "devices for all of its nodes together (--gpus, --gpus-per-task; with -N, evenly, or \
                --gpus-per-node can be)";
    assert_has_all(
        "numbers",
        &[
            "6 on two nodes: 4*1 on 2-2 memory 1000 gpu:3",
            &format!("5 on two nodes: {open}"),
            &format!("4 on any nodes: {open}"),
            "1 for four tasks: 4*1 on 1-1 memory 1000 gpu:1",
            "6 for a task on each of three nodes: 3*1 on 3-3 memory 1000 gpu:2",
            "4 for two tasks on each node: 4*1 on 1-2 memory 1000 gpu:2",
            "3 for each of two on two nodes: 4*1 on 2-2 memory 1000 gpu:6",
            &format!("1 for each of three on two nodes: {open}"),
            "1 for each of four on one node: 4*1 on 1-1 memory 1000 gpu:4",
            &format!("1 for each on any nodes: {open}"),
            "2 for each where nodes make tasks: 2*1 on 1-3 memory 1000 gpu:4",
            "1 for each of eight that share CPUs: 1*1 on 1-1 memory 1000 gpu:8",
        ],
    );
}

#[test]
fn open_number_of_nodes_is_the_fewest_that_have_the_devices_evenly() {
    let open = "devices for all of its nodes together (--gpus, --gpus-per-task; with -N, evenly, or \
                --gpus-per-node can be)";
    assert_has_all(
        "fewest",
        &[
            "4 for four tasks: 4*1 on 1-1 memory 1000 gpu:4",
            "1 for each of eight: 8*1 on 1-2 memory 1000 gpu:4",
            "1 for each of six: 6*1 on 1-2 memory 1000 gpu:3",
            &format!("1 for each of five: {open}"),
            "1 for each of four on two or three: 4*1 on 2-2 memory 1000 gpu:2",
            "4 of a type of which nodes have two: 4*1 on 1-2 memory 1000 gpu:a100:2",
            &format!("more than there are: {open}"),
            "4 with much memory: 4*1 on 1-2 memory 50000 gpu:2",
            "4 for more tasks than a node has CPUs: 64*1 on 1-2 memory 1000 gpu:2",
            "4 while all nodes are down: 4*1 on 1-1 memory 1000 gpu:4",
            &format!("4 without some nodes: {open}"),
            &format!("4 on nodes with a feature: {open}"),
        ],
    );
}

#[test]
fn devices_of_sockets_are_counted_on_each_node_where_none_is_nearer_to_one() {
    let near = "devices for each socket that has some of its own (--gpus-per-socket; --gpus-per-node can be)";
    assert_has_all(
        "sockets",
        &[
            "3 for each of two sockets: 4*1 on 2-2 memory 1000 gpu:6",
            "3 for each of any: devices for all of its nodes together (--gpus, --gpus-per-task; with -N, \
             evenly, or --gpus-per-node can be)",
            &format!("and for the whole job: {near}"),
            &format!("near cores: {near}"),
        ],
    );
}

#[test]
fn cpus_of_devices_are_what_the_tasks_there_need() {
    assert_has_all(
        "cpus",
        &[
            "4 with each of 2 for one task: 1*8 on 1-1 memory 1000 gpu:2",
            "4 with each of 2 for three tasks: 6*3 on 2-2 memory 1000 gpu:2",
            "-c asks for more: 6*5 on 2-2 memory 1000 gpu:2",
            "tasks on any nodes: CPUs for each GPU and an open number of tasks there (--cpus-per-gpu, \
             DefCpuPerGPU; -c, or with -N, can be)",
            "3 with each of 2 for each task: 4*6 on 2-2 memory 1000 gpu:4",
            "without a number of tasks: 1*8 on 1-1 memory 1000 gpu:2",
        ],
    );
}

#[test]
fn defaults_for_each_gpu_count_where_the_job_says_nothing_itself() {
    assert_has_all(
        "defaults",
        &[
            "defaults: 4*3 on 2-2 memory 1400 gpu:2",
            "with --mem: 4*3 on 2-2 memory 1000 gpu:2",
            "with -c: 4*2 on 2-2 memory 1400 gpu:2",
            "with its own: 4*1 on 2-2 memory 200 gpu:2",
            "no GPUs: 4*1 on 2-2 memory 1000 nic:2",
            "tasks on any nodes: CPUs for each GPU and an open number of tasks there (--cpus-per-gpu, \
             DefCpuPerGPU; -c, or with -N, can be)",
            "started with others: 6 CPUs a task, 2 tasks, 2 tasks",
        ],
    );
}

#[test]
fn tasks_for_each_gpu_are_placed_where_their_number_on_a_node_is_plain() {
    let open = "tasks for each GPU and an open number of either on a node (--ntasks-per-gpu; with -N can be)";
    assert_has_all(
        "tasks",
        &[
            "2 for each of 4 on two nodes: 8*1 on 2-2 memory 1000 gpu:2",
            "2 for each of 2 on each node: 8*1 on 1-2 memory 1000 gpu:2",
            &format!("2 for each of 4 on any nodes: {open}"),
            &format!("of other numbers: {open}"),
            "without: 6*1 on 2-2 memory 1000 gpu:2",
        ],
    );
}

#[test]
fn slurm_is_asked_for_devices_of_each_node_and_only_for_places_they_were_counted_for() {
    let user = "afterwards: node 0 job 12 task 3 socket 0 memory 10 CPUs 2 tasks 65534";
    let lines = run(&build::DEVICE_TEST, "start");
    assert_eq!(
        lines,
        [
            "asked of Slurm: node 6 job 0 task 0 socket 0 memory 0 CPUs 0 tasks 65534",
            "as counted: busy",
            user,
            "unevenly: other tasks",
            user,
            "on one node: other tasks",
            user,
            "asked of Slurm: node 2 job 0 task 0 socket 0 memory 1 CPUs 0 tasks 65534",
            "with defaults: busy",
            "afterwards: node 2 job 0 task 0 socket 0 memory 0 CPUs 0 tasks 65534",
            "asked of Slurm: node 0 job 0 task 0 socket 0 memory 0 CPUs 0 tasks 0",
            "on whole nodes: busy",
            "afterwards: node 0 job 0 task 0 socket 0 memory 0 CPUs 0 tasks 0",
            "the list before: node 6 task 0",
        ]
    );
}

#[test]
fn no_job_starts_where_one_that_had_the_same_kind_of_device_is_ending() {
    let lines = run(&build::DEVICE_TEST, "ending");
    let asked = lines.iter().filter(|line| !line.starts_with("afterwards"));
    let asked: Vec<&str> = asked
        .map(|line| line.split(": ").next().unwrap_or_default())
        .collect();
    assert_eq!(
        asked,
        [
            "where GPUs are in use",
            "asked of Slurm",
            "elsewhere",
            "asked of Slurm",
            "of another type",
            "of its type",
            "asked of Slurm",
            "of another kind",
            "without devices",
            "on whole nodes",
        ]
    );
}
