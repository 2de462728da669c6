//! Which lines have to change.

use super::*;

#[test]
fn resources_that_are_not_counted_become_counted_ones() {
    for (old, new) in [
        ("CR_Core", "CR_Core_Memory"),
        ("CR_CPU,CR_LLN", "CR_CPU_Memory,CR_LLN"),
        ("CR_Memory", "CR_Core_Memory"),
        ("CR_Socket_Memory", "CR_Core_Memory"),
        (
            "CR_ONE_TASK_PER_CORE,CR_Core",
            "CR_Core_Memory,CR_ONE_TASK_PER_CORE",
        ),
    ] {
        let new = format!("SelectTypeParameters={new}");
        changes(&without("CR_Core_Memory", old), &[&new, FORCED], FOUR);
    }
}

#[test]
fn old_plugins_of_selection_are_replaced_and_those_of_machines_are_not() {
    let lines = ["SelectType=select/cons_tres", FORCED];
    changes(
        &without("select/cons_tres", "select/cons_res"),
        &lines,
        FOUR,
    );
    let (findings, site) = examined(&without("select/cons_tres", "select/linear"), &[]);
    assert!(
        findings.text().contains("this loses all jobs"),
        "{}",
        findings.text()
    );
    assert!(
        site.verdict
            .starts_with("DFRS can run here after 4 changes")
    );
    let (_, site) = examined(&without("select/cons_tres", "select/cray_aries"), &[]);
    assert_eq!(
        site.verdict,
        "DFRS cannot run here: slurm.conf: SelectType=select/cray_aries"
    );
}

#[test]
fn processes_are_put_into_cgroups_beside_what_a_site_has() {
    let text = without("task/cgroup", "task/affinity")
        .replace("jobacct_gather/cgroup", "jobacct_gather/linux");
    let lines = [
        "TaskPlugin=task/affinity,task/cgroup",
        "JobAcctGatherType=jobacct_gather/cgroup",
        FORCED,
    ];
    let verdict = "DFRS can run here after 5 changes; on trial (Mode=shadow) after 2 of them";
    changes(&text, &lines, verdict);
    // Slurm's default is written by no change.
    changes(
        &without("ProctrackType=proctrack/cgroup\n", ""),
        &[FORCED],
        THREE,
    );
    let none = without("task/cgroup", "task/none");
    let verdict = "DFRS can run here after 4 changes; on trial (Mode=shadow) after 2 of them";
    changes(&none, &["TaskPlugin=task/cgroup", FORCED], verdict);
}

#[test]
fn time_slicing_is_given_up() {
    for (lines, mode) in [
        ("PreemptMode=GANG", "OFF"),
        (
            "PreemptType=preempt/qos\nPreemptMode=SUSPEND,GANG",
            "REQUEUE",
        ),
        (
            "PreemptType=preempt/partition_prio\nPreemptMode=gang,cancel",
            "cancel",
        ),
    ] {
        let mode = format!("PreemptMode={mode}");
        changes(&with(lines), &[FORCED, &mode], FOUR);
    }
}

#[test]
fn a_burst_buffer_of_the_site_stays() {
    let lines =
        "BurstBufferType=burst_buffer/lua\nSchedulerParameters=bf_interval=30,bf_window=10,DEFER";
    let new = "SchedulerParameters=bf_window=10,sched_interval=-1,defer,bf_interval=5,bf_max_time=30,bf_continue";
    changes(&with(lines), &[FORCED, new], THREE);
    let (findings, _) = examined(&with("BurstBufferType=burst_buffer/none"), &[]);
    assert!(
        !findings.text().contains("SchedulerParameters=:"),
        "{}",
        findings.text()
    );
}

#[test]
fn nodes_whose_memory_is_not_known_are_asked_for() {
    let text = without(" RealMemory=9000", "") + "NodeName=other CPUs=1\n";
    let line = "NodeName=n[1-4] CPUs=8 RealMemory=<MB, as \"slurmd -C\" prints it on such a node>";
    changes(&text, &[line, FORCED], FOUR);
}

#[test]
fn power_saving_leaves_out_the_partition() {
    let lines = "SuspendProgram=/s\nResumeProgram=/r\nSuspendTime=300\nSuspendExcParts=long";
    changes(&with(lines), &[FORCED, "SuspendExcParts=long,main"], FOUR);
    // Without a program for it nothing is powered down.
    changes(&with("SuspendTime=300"), &[FORCED], THREE);
}
