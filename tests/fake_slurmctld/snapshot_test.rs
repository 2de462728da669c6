//! The shim's calls for many jobs, on records that change (`snapshot_test.c`).

use std::process::Command;

use crate::build::{self, TestProgram};

/// What the program printed.
pub fn run(program: &TestProgram, scenario: &str) -> Vec<String> {
    let output = Command::new(program.path())
        .arg(scenario)
        .output()
        .expect("the program runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{scenario}: {} after:\n{text}",
        output.status
    );
    text.lines().map(str::to_owned).collect()
}

pub fn assert_has(lines: &[String], line: &str) {
    assert!(
        lines.iter().any(|printed| printed == line),
        "no line {line:?} in:\n{}",
        lines.join("\n")
    );
}

#[test]
fn deltas_match_complete_snapshots() {
    assert_eq!(run(&build::SNAPSHOT_TEST, "random"), ["rounds compared"]);
}

#[test]
fn only_changed_jobs_of_thirty_thousand_are_copied() {
    let lines = run(&build::SNAPSHOT_TEST, "many");
    for line in [
        "first: complete 1 jobs 30000 gone 0 nodes 2000 sets 20 indexes 39980 of 30000",
        "unchanged: complete 0 jobs 0 gone 0 nodes 0 sets 0 indexes 0 of 30000",
        "changed: complete 0 jobs 10 gone 1 nodes 0 sets 10 indexes 19990 of 29999",
        "cores visible 1",
        "forgotten: complete 1 jobs 29999 gone 0 nodes 2000 sets 20 indexes 39980 of 29999",
    ] {
        assert_has(&lines, line);
    }
}

#[test]
fn locks_are_released_between_slices_and_not_taken_for_no_change() {
    let lines = run(&build::SNAPSHOT_TEST, "slices");
    for line in [
        // The clock is looked at after eight jobs.
        "gate of 40 at a millisecond each: reads 0 writes 5 longest lately 8000",
        "reasons: reads 1 writes 1 longest lately 0",
        "the same reasons: reads 1 writes 0 longest lately 0",
        "job 2 says DFRS: waits for memory",
        // Four between the five slices, and one before the next lock is taken.
        "calls nanosleep 5",
    ] {
        assert_has(&lines, line);
    }
}

#[test]
fn jobs_that_wait_for_more_than_room_are_found_without_writes() {
    let lines = run(&build::SNAPSHOT_TEST, "room");
    for line in [
        "no reason: room",
        "priority: room",
        "resources: room",
        "its node failed: room",
        "dependency: held back",
        "dependency never satisfied: held back",
        "association: held back",
        "QOS: held back",
        "array: held back",
        "licences: held back",
        "reservation: held back",
        "account gone: held back",
        "begins later: held back",
        "begins now: room",
        "held: held back",
        "partition down: held back",
        "runs: held back",
        "gone: 0, jobs have changed: 0",
        "all of it: reads 18 writes 0 longest lately 0",
    ] {
        assert_has(&lines, line);
    }
}

#[test]
fn arrays_are_split_as_far_as_requested() {
    let lines = run(&build::SNAPSHOT_TEST, "arrays");
    for line in [
        "an array: complete 1 jobs 1 gone 0 nodes 10 sets 0 indexes 0 of 1",
        "37 tasks split off: complete 0 jobs 37 gone 0 nodes 0 sets 0 indexes 0 of 38",
        "left 63",
        "all: complete 0 jobs 63 gone 0 nodes 0 sets 0 indexes 0 of 100",
        "single 1",
    ] {
        assert_has(&lines, line);
    }
}

#[test]
fn reason_of_a_draining_node_shows_its_parked_jobs() {
    let lines = run(&build::SNAPSHOT_TEST, "parked");
    for line in [
        "up: (none), by -2 at 0",
        "drains: disk swap [DFRS: 2 parked], by 1000 at 17",
        "nodes have changed 1",
        "drains: reads 1 writes 1 longest lately 0",
        "the same: disk swap [DFRS: 2 parked], by 1000 at 17",
        "the same: reads 1 writes 0 longest lately 0",
        "one: disk swap [DFRS: 1 parked], by 1000 at 17",
        "another reason: fan, too [DFRS: 1 parked], by 1000 at 17",
        "goes on: fan, too : reboot issued [DFRS: 1 parked], by 1000 at 17",
        "none: fan, too : reboot issued, by 1000 at 17",
        "still none: fan, too : reboot issued, by 1000 at 17",
        "others' brackets: [DFRS: 1.5 parked] [DFRS: x parked] [DFRS: 1 parke, by 1000 at 17",
        "without a reason: [DFRS: 12 parked], by 64030 at 1000000",
        "without a reason and none: (none), by -2 at 0",
        "down with it: [DFRS: 3 parked], by 64030 at 1000000",
        "down: Not responding, by 64030 at 1000000",
        "to be rebooted: update [DFRS: 3 parked], by 1000 at 17",
        "no longer: update, by 1000 at 17",
    ] {
        assert_has(&lines, line);
    }
}

#[test]
fn comment_is_read_up_to_its_maximum_length() {
    let lines = run(&build::SNAPSHOT_TEST, "comment");
    for line in [
        "long: jobs 1, of the comment 1024",
        "another in what is read: jobs 1, of the comment 1024",
        "another in what is not: jobs 0, of the comment 0",
    ] {
        assert_has(&lines, line);
    }
}

#[test]
fn only_nodes_with_the_requested_equipment_are_eligible() {
    let lines = run(&build::SNAPSHOT_TEST, "fit");
    for line in [
        "nothing: all; CPUs 32, label 0",
        "--tmp=500: 0 2; CPUs 32, label 0",
        "--tmp=501:; CPUs 32, label 0",
        "--mincpus=16: 0 2; CPUs 32, label 0",
        "no -B: all; CPUs 32, label 0",
        "--sockets-per-node=2: 0 2; CPUs 32, label 0",
        "-B 2:5:; CPUs 32, label 0",
        "-B 2:4:2: 0 2; CPUs 32, label 0",
        "-B 2:4:3:; CPUs 32, label 0",
        "MaxCPUsPerNode=8, and another partition without it: all; CPUs 32, label 0",
        "MaxCPUsPerNode=8 and 12: all; CPUs 12, label 0",
        "with a label: all; CPUs 12, label 0",
        "with a label that selects: all; CPUs 12, label 1",
        "done before a floating reservation: all; CPUs 12, label 1",
        "not done before it: 1 2 3; CPUs 12, label 1, always too soon",
        "in it: 0; CPUs 12, label 1",
    ] {
        assert_has(&lines, line);
    }
}

#[test]
fn job_that_leaves_threads_idle_holds_whole_cores() {
    let lines = run(&build::SNAPSHOT_TEST, "threads");
    for line in [
        "no parts: 1 CPUs, 0 idle, at most 0 tasks",
        "plain -c 1: 1 CPUs, 0 idle, at most 0 tasks",
        "plain -c 3: 3 CPUs, 0 idle, at most 0 tasks",
        "--threads-per-core=1 -c 1: 2 CPUs, 1 idle, at most 16 tasks",
        "--threads-per-core=1 -c 2: 4 CPUs, 2 idle, at most 8 tasks",
        "--threads-per-core=1 -c 3: 6 CPUs, 3 idle, at most 5 tasks",
        "--threads-per-core=2 -c 3: 3 CPUs, 0 idle, at most 10 tasks",
        "--ntasks-per-core=1 -c 1: 2 CPUs, 0 idle, at most 16 tasks",
        "--ntasks-per-core=1 -c 2: 2 CPUs, 0 idle, at most 16 tasks",
        "--ntasks-per-core=1 -c 3: 4 CPUs, 0 idle, at most 8 tasks",
        "--ntasks-per-core=2 -c 1: 1 CPUs, 0 idle, at most 32 tasks",
        "two of four -c 1: 2 CPUs, 1 idle, at most 16 tasks",
        "two of four -c 3: 6 CPUs, 3 idle, at most 5 tasks",
        "by CPUs -c 3: 3 CPUs, 0 idle, at most 0 tasks",
        "of two or four -c 2: 8 CPUs, 6 idle, at most 8 tasks",
    ] {
        assert_has(&lines, line);
    }
}

#[test]
fn yields_are_appended_to_existing_comments() {
    let lines = run(&build::SNAPSHOT_TEST, "yields");
    let in_extra = if lines.iter().any(|line| line == "has extra 1") {
        "in extra: ticket 17 again [DFRS: yield 0.50], [DFRS: yield 0.50]"
    } else {
        "in extra: ticket 17 again [DFRS: yield 0.50], (none), as before"
    };
    for line in [
        in_extra,
        "none: (none), (none), as before",
        "none: reads 1 writes 0 longest lately 0",
        "all: [DFRS: yield 1.00], (none)",
        "all: reads 1 writes 1 longest lately 0",
        "the same: [DFRS: yield 1.00], (none), as before",
        "the same: reads 1 writes 0 longest lately 0",
        "less: [DFRS: yield 0.07], (none)",
        "others' words: ticket 17 again [DFRS: yield 0.50], (none)",
        "no longer: ticket 17 again, (none)",
        "over: ticket 17 again, (none), as before",
    ] {
        assert_has(&lines, line);
    }
}

#[test]
fn list_of_nodes_with_as_many_tasks_on_each_is_supported() {
    let lines = run(&build::SNAPSHOT_TEST, "listed");
    let uneven = "different numbers of tasks on its nodes (-m arbitrary; as many on each can be)";
    for line in [
        &format!("none: {uneven}"),
        "n2,n0: supported",
        "n2,n0,n0,n2: supported",
        &format!("n2,n0,n2: {uneven}"),
        &format!("n0,n2: {uneven}"),
    ] {
        assert_has(&lines, line);
    }
}

#[test]
fn unsupported_requests_are_refused() {
    let lines = run(&build::SNAPSHOT_TEST, "requests");
    let from = |version: u32, expected: &[&str]| {
        if crate::SLURM_VERSION_NUMBER >= version {
            expected.iter().for_each(|line| assert_has(&lines, line));
        }
    };
    from(
        0,
        &[
            "plain: supported",
            "blocks of tasks: tasks in blocks on several nodes (-m plane)",
            "blocks of tasks on one node: supported",
            "one by one: supported",
            "many: 4294770688 tasks",
            "too many: 4294967293 tasks",
            "many CPUs: 2147483647 tasks",
        ],
    );
    from(
        0x18_05_00,
        &[
            "segments: nodes in segments (--segment)",
            "ports: reserved ports (--resv-ports)",
            "no ports: supported",
        ],
    );
    from(
        0x18_0b_00,
        &["one QOS: supported", "two QOS: one of several QOS (--qos)"],
    );
    from(
        0x19_05_00,
        &[
            "licence: supported",
            "hierarchical: hierarchical resources (--licenses)",
        ],
    );
    from(
        0x1a_05_00,
        &["memory updates: memory that shrinks while it runs (--mem-update)"],
    );
}

#[test]
fn leaf_switches_and_what_jobs_ask_of_them_are_seen() {
    let lines = run(&build::SNAPSHOT_TEST, "topology");
    for line in [
        "flat: n0@ n1@ n2@ n3@",
        "within a minute:",
        "tree: n0@root.rack0.s1 n1@root.rack0.s1 n2@root.rack1.s1 n3@root.rack1.s1",
        "unchanged:",
        "looked up again: 0",
        "asks for 0 switches for 0 s, any nodes",
        "asks for 2 switches for 300 s, contiguous",
        "looks for room: ends none",
        // The nodes are given: to look for few switches would be to fail. Slurm does not where
        // they are to follow each other.
        "looks for 0 switches, contiguous 1",
        "still asks for 2 switches, contiguous 1",
    ] {
        assert_has(&lines, line);
    }
    assert!(!lines.contains(&"refused".to_owned()), "{lines:?}");
}

#[test]
fn preferred_nodes_and_weights_are_seen() {
    let lines = run(&build::SNAPSHOT_TEST, "preference");
    for line in [
        "none:; weights 1 1 1 1; any node, supported",
        "fast: 0 2; weights 1 1 1 1; any node, supported",
        "no such:; weights 1 1 1 1; any node, supported",
        // What Slurm would do with such features is not done.
        "grouped:; weights 1 1 1 1; any node, supported",
        "large: 0 3; weights 1 7 1 1; any node, supported",
    ] {
        assert_has(&lines, line);
    }
}

#[test]
fn sets_of_many_jobs_are_their_own_when_there_is_room_for_more() {
    let lines = run(&build::SNAPSHOT_TEST, "sets");
    assert_eq!(lines, ["300 jobs with sets of their own"]);
}

#[test]
fn a_partition_bounds_nodes_and_reservations_bound_times() {
    let lines = run(&build::SNAPSHOT_TEST, "bounds");
    for line in [
        "MaxTime 1440",
        "MaxTime 0",
        "no bounds: nodes 1-0 of 0 free until 0 reservation 0 tasks on a node 0",
        "partition: nodes 1-0 of 2 free until 0 reservation 0 tasks on a node 0",
        "fewer: nodes 1-1 of 2 free until 0 reservation 0 tasks on a node 0",
        "more: nodes 1-3 of 2 free until 0 reservation 0 tasks on a node 0",
        "one task: nodes 1-3 of 2 free until 0 reservation 0 tasks on a node 0",
        "two tasks: nodes 2-3 of 2 free until 0 reservation 0 tasks on a node 0",
        "three a socket: nodes 2-3 of 2 free until 0 reservation 0 tasks on a node 12",
        "five sockets at most: nodes 2-3 of 2 free until 0 reservation 0 tasks on a node 15",
        "five a node: nodes 2-3 of 2 free until 0 reservation 0 tasks on a node 5",
        "in its own reservation: nodes 2-3 of 2 free until 0 reservation 100 tasks on a node 0",
        "it may overrun: nodes 2-3 of 2 free until 0 reservation 0 tasks on a node 0",
        "flexible: nodes 2-3 of 2 free until 0 reservation 0 tasks on a node 0",
        "over: nodes 2-3 of 2 free until 0 reservation 0 tasks on a node 0",
        "another's: nodes 2-3 of 2 free until 20 reservation 0 tasks on a node 0",
    ] {
        assert_has(&lines, line);
    }
}

#[test]
fn core_reservations_exclude_jobs_that_do_not_fit() {
    let lines = run(&build::SNAPSHOT_TEST, "cores");
    for line in [
        "two of 32: 0 1 2; CPUs 32, label 0",
        "-c 30: 0 1 2; CPUs 32, label 0",
        "-c 31: 2; CPUs 32, label 0",
        "--exclusive: 2; CPUs 32, label 0",
        "--mem=0: 2; CPUs 32, label 0",
        "whole nodes: 2; CPUs 32, label 0",
        "all of one: 0 2; CPUs 32, label 0",
        "maintenance: 2; CPUs 32, label 0",
        "in another one: 1 2; CPUs 32, label 0",
        "runs: nodes 1-0 of 0 free until 0 reservation 0 tasks on a node 0",
    ] {
        assert_has(&lines, line);
    }
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("runs with --exclusive: nodes 1-0 of 0 free until -1800"))
    );
}

#[test]
fn job_that_names_several_reservations_waits_in_that_with_most_memory_free() {
    let lines = run(&build::SNAPSHOT_TEST, "several");
    for line in [
        "first: 0 1; CPUs 32, label 0",
        "that of a node by name: 4; CPUs 32, label 0",
        "the first has no node that is up: 4; CPUs 32, label 0",
        "as many free in the last: 0 1; CPUs 32, label 0",
        "none free in the first: 4; CPUs 32, label 0",
        "more free in the other: 2 3; CPUs 32, label 0",
        "all are over: 0 1; CPUs 32, label 0",
    ] {
        assert_has(&lines, line);
    }
}

#[test]
fn overlapping_reservations_admit_jobs_as_slurm_does() {
    let lines = run(&build::SNAPSHOT_TEST, "overlapping");
    for line in [
        "in none: 4; CPUs 32, label 0",
        "plain: 4; CPUs 32, label 0",
        "overlaps: 1 4; CPUs 32, label 0",
        "maintains: 1 2 3 4; CPUs 32, label 0",
        "in the other: 0; CPUs 32, label 0",
        "runs in a plain one: nodes 1-0 of 0 free until -1800 reservation 1800 tasks on a node 0",
        "runs in one that overlaps: nodes 1-0 of 0 free until 0 reservation 1800 tasks on a node 0",
    ] {
        assert_has(&lines, line);
    }
}

#[test]
fn job_names_as_many_cores_as_requested_in_rotation() {
    let lines = run(&build::SNAPSHOT_TEST, "names");
    for line in [
        "one: 0",
        "two more: 1 2",
        "two in the end: 0 3",
        "all: 0 1 2 3",
        "more than there are: 0 1 2 3",
        "three of two threads: 1 2",
        "one of two threads: 3",
        "beside one of the system's: 0 1",
        "beside it again: 0 2",
        "all but that: 0 1 2 3",
    ] {
        assert_has(&lines, line);
    }
}

#[test]
fn slurm_reasons_outside_of_dfrs_are_kept() {
    let lines = run(&build::SNAPSHOT_TEST, "words");
    for line in [
        "waits, then: DFRS: was requeued, starts again",
        "waits, at last: (none), another reason",
        "its node failed, then: DFRS: was requeued, starts again, another reason",
        "requeued, then: DFRS: was requeued, starts again, another reason",
        "begins tomorrow, then: (none)",
        "begins tomorrow, at last: (none)",
        "depends, then: (none)",
        "never satisfied, then: (none)",
        "launch failed, then: launch failed requeued held",
        "launch failed, at last: launch failed requeued held",
        "special exit, at last: job requeued in special exit state",
        "not restored, then: DFRS: its image could not be restored on n1",
        "not restored, at last: (none)",
        "held by its user, then: (none)",
        "held by an administrator, then: (none)",
        "held since, then: (none)",
        "suspended, then: DFRS: was requeued, starts again",
        "suspended, at last: (none)",
    ] {
        assert_has(&lines, line);
    }
}

#[test]
fn only_jobs_that_ended_after_their_warning_are_requeued() {
    let lines = run(&build::SNAPSHOT_TEST, "warned");
    for line in [
        "killed by the fallback: requeued",
        "completing: requeued",
        "with a core: requeued",
        "its last command was killed: requeued",
        "killed by its own: requeued",
        "killed by another: has ended",
        "returned 10: has ended",
        "cancelled: has ended",
        "over its limit: has ended",
        "runs: has ended",
        "saved: requeued, succeeded",
        "saved: left to Slurm 0",
        "saved, and is gone: requeued, succeeded",
        "failed: requeued",
        "out of memory: requeued",
        "warned and cancelled: has ended",
        "warned and over its limit: has ended",
        "warned and lost its node: has ended",
        "never began: has ended",
        "Slurm was faster: requeued, succeeded",
        "of another submission: 1",
        "calls schedule_job_save 10",
    ] {
        assert_has(&lines, line);
    }
}

#[test]
fn requeued_job_gets_its_original_time_limit_back() {
    let lines = run(&build::SNAPSHOT_TEST, "limits");
    for line in [
        "runs: 80 minutes, set by 65535",
        "runs on: no, 80 minutes, set by 65535",
        "parked: no, 80 minutes, set by 65535",
        "requeued: yes, 30 minutes, set by 0",
        "of its partition, still completing: yes, 30 minutes, set by 1",
        "again: yes, 30 minutes, set by 1",
        "an operator gave more: yes, 90 minutes, set by 65535",
        "an operator gave less: yes, 20 minutes, set by 65535",
        "an operator gave all: yes, 4294967295 minutes, set by 65535",
        "over: no, 80 minutes, set by 65535",
        "of crontab: yes, 30 minutes, set by 0",
    ] {
        assert_has(&lines, line);
    }
}

#[test]
fn requeued_job_starts_at_once_unless_its_begin_time_was_set() {
    let lines = run(&build::SNAPSHOT_TEST, "begin");
    for line in [
        "requeued: 0, at once",
        "its user said when: 0, later",
        "credentials live longer: 0, at once",
        "requeues wait longer: 0, at once",
        "crontab says when: 0, later",
    ] {
        assert_has(&lines, line);
    }
}

#[test]
fn crontab_and_device_flags_are_reported() {
    let lines = run(&build::SNAPSHOT_TEST, "devices");
    for line in [
        "plain: requeue 1 cron 0 devices 0 component 0",
        "of a crontab: requeue 0 cron 1 devices 0 component 0",
        "no devices: requeue 0 cron 1 devices 0 component 0",
        "a device: requeue 0 cron 1 devices 1 component 0",
        "of a heterogeneous job: requeue 0 cron 1 devices 0 component 1",
    ] {
        assert_has(&lines, line);
    }
}

#[test]
fn devices_are_counted_on_each_node_or_refused() {
    let lines = run(&build::SNAPSHOT_TEST, "gpus");
    let devices = "gpu 2/4 gpu:a100 2/3 gpu:v100 0/1; gpu:a100 0/2";
    for line in [
        format!("on each node: memory 200 devices {devices}"),
        format!("for one task: memory 200 devices {devices}"),
        format!("on one node: memory 200 devices {devices}"),
        "on one node: supported".to_owned(),
        "on one or two nodes: devices for all of its nodes together (--gpus, --gpus-per-task; \
         with -N, evenly, or --gpus-per-node can be)"
            .to_owned(),
        "on some nodes: supported"
            .to_owned(),
        "by socket: devices for each socket that has some of its own (--gpus-per-socket; --gpus-per-node can be)".to_owned(),
        "with CPUs: CPUs for each GPU and an open number of tasks there (--cpus-per-gpu, \
         DefCpuPerGPU; -c, or with -N, can be)"
            .to_owned(),
        "with tasks: supported".to_owned(),
        "bound: devices near its cores (--gres-flags=enforce-binding)".to_owned(),
        "with defaults: supported".to_owned(),
        "plain: supported".to_owned(),
        "not used up: memory 100 devices gpu 0/4294967295 gpu:a100 0/4294967295 gpu:v100 \
         0/4294967295; gpu:a100 0/1"
            .to_owned(),
    ] {
        assert_has(&lines, &line);
    }
}

#[test]
fn heterogeneous_job_with_a_component_for_dfrs_partitions_only_is_left_out_of_backfill() {
    let lines = run(&build::SNAPSHOT_TEST, "hetjobs");
    let goes_on = "not ours, goes on, no reason";
    let waits_for = |component: &str| {
        format!(
            "not ours, waits for ever, DFRS: waits for component {component}, which does not start in partition dfrs"
        )
    };
    for line in [
        format!("two jobs: 1 {goes_on}; 2 {goes_on};"),
        format!("without a list: 1 {goes_on}; 2 {goes_on};"),
        format!("elsewhere: 1 {goes_on}; 2 {goes_on};"),
        // Why the other one waits is said by the pass, which has it in its snapshot.
        format!(
            "one here: 1 {}; 2 ours, waits for ever, no reason;",
            waits_for("1+1")
        ),
        format!("moved away: 1 {goes_on}; 2 {goes_on};"),
        format!("in either: 1 {goes_on}; 2 {goes_on};"),
        format!(
            "in two of ours: 1 {}; 2 ours, waits for ever, no reason;",
            waits_for("1+1")
        ),
        format!("running: 1 {goes_on}; 2 {goes_on};"),
        "held: 1 not ours, waits for ever, held by its user; 2 ours, waits for ever, no reason;"
            .to_owned(),
    ] {
        assert_has(&lines, &line);
    }
    let leader = lines
        .iter()
        .find(|line| line.starts_with("the leader here: 1 ours, waits"));
    assert!(
        leader.is_some_and(|line| line.contains(&waits_for("1+0"))),
        "{lines:?}"
    );
}

#[test]
fn start_preempts_no_job_and_keeps_completing_nodes() {
    let lines = run(&build::SNAPSHOT_TEST, "preemption");
    for line in [
        "looks for room: ends none",
        "started: no room, since 17",
        "completing: 1 of 2",
    ] {
        assert_has(&lines, line);
    }
}

#[test]
fn warned_job_that_has_ended_is_requeued_before_dependencies_on_it_are_tested() {
    let lines = run(&build::SNAPSHOT_TEST, "dependencies");
    for line in [
        "ended without a warning: left",
        "runs: left",
        "runs: ends soon",
        "completing: requeued first",
        "completed later: left",
        "completed: requeued first",
        "marked by Slurm: left",
        "failed: left",
        "cancelled: left",
        "completed in its next run: left",
        "ran on: goes on",
        "succeeded later: requeued first",
        "not to be requeued: left",
        "then: goes on",
        "DFRS is off: left",
    ] {
        assert_has(&lines, line);
    }
}

#[test]
fn preempted_job_gets_no_signal_that_ends_it_and_is_preempted_until_it_is_parked() {
    let lines = run(&build::SNAPSHOT_TEST, "grace");
    for line in [
        "without grace time: signal 0, of its user 0, grace ends at 0, warned 0, ends by its limit",
        "with grace time: signal 18, of its user 0, grace ends at 0, warned 0, ends by its limit",
        "preempted: signal 18, of its user 0, grace ends at 1300, warned 0, ends then",
        "running: refused",
        "suspended: forgotten",
        "parked: signal 18, of its user 0, grace ends at 0, warned 0, ends late",
        "gone: refused",
        "with a signal of its own: signal 10, of its user 10, grace ends at 1300, warned 1, ends then",
        "not preempted: signal 10, of its user 10, grace ends at 0, warned 0, ends by its limit",
        "requeued: signal 10, of its user 10, grace ends at 0, warned 0, ends by its limit",
    ] {
        assert_has(&lines, line);
    }
}
