//! The plugin under a fake slurmctld (`host.c`): does it load, run, survive and leave nothing
//! behind? Needs the Slurm source that the plugin was built from, and a C compiler.
#![cfg(not(no_slurm))]

mod build;
mod configurations;
mod core_rows_test;
mod device_test;
mod snapshot_test;

use std::path::Path;
use std::process::Command;

include!(concat!(env!("OUT_DIR"), "/slurm_version.rs"));

const CONFIGURATION: &str = "Mode=full\nPolicy=GreedyPM*/per/OPT=MIN/MINVT=600\nPartition=dfrs\n";

/// What a run of the host printed.
struct HostRun {
    lines: Vec<String>,
}

impl HostRun {
    fn has(&self, part: &str) -> bool {
        self.lines.iter().any(|line| line.contains(part))
    }

    fn assert_has(&self, part: &str) {
        assert!(
            self.has(part),
            "no line has {part:?} in:\n{}",
            self.lines.join("\n")
        );
    }

    fn assert_has_not(&self, part: &str) {
        assert!(
            !self.has(part),
            "a line has {part:?} in:\n{}",
            self.lines.join("\n")
        );
    }

    fn calls(&self, name: &str) -> u32 {
        let prefix = format!("calls {name} ");
        self.lines
            .iter()
            .find_map(|line| line.strip_prefix(&prefix)?.parse().ok())
            .unwrap_or(0)
    }

    /// Everything that holds in every scenario.
    fn assert_sound(&self) {
        self.assert_has("alive");
        self.assert_has("threads at the end 1");
        self.assert_has_not("deadlock");
        self.assert_has_not("panicked");
        assert_eq!(
            self.calls("lock_slurmctld"),
            self.calls("unlock_slurmctld"),
            "locks taken and given back"
        );
    }
}

/// Runs the host in a directory of its own.
fn run(scenario: &str, configuration: Option<&str>) -> HostRun {
    run_with(scenario, scenario, configuration, &[])
}

/// Runs the host in the directory of this name, with these files there.
fn run_with(
    name: &str,
    scenario: &str,
    configuration: Option<&str>,
    files: &[(&str, &str)],
) -> HostRun {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fake-{name}"));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("a directory for the scenario");
    if let Some(text) = configuration {
        std::fs::write(directory.join("dfrs.conf"), text).expect("dfrs.conf");
    }
    for (file, text) in files {
        std::fs::write(directory.join(file), text).expect("a file of the scenario");
    }
    for (library, name) in [
        (build::plugin(), "sched_dfrs.so"),
        (build::burst_buffer(), "burst_buffer_dfrs.so"),
    ] {
        // In the directory that slurmctld loads its plugins from.
        std::os::unix::fs::symlink(library, directory.join(name)).expect("a link to the plugin");
    }
    let output = Command::new(build::HOST.path())
        .args([
            build::plugin().as_os_str(),
            scenario.as_ref(),
            directory.as_os_str(),
        ])
        .output()
        .expect("the host runs");
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    let lines = text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(
        output.status.success(),
        "{name}: {} after:\n{text}",
        output.status
    );
    HostRun { lines }
}

#[test]
fn plugin_runs_and_leaves_no_thread_behind() {
    let run = run("quiet", Some(CONFIGURATION));
    run.assert_sound();
    run.assert_has("init 0");
    run.assert_has(", sched/dfrs, ");
    assert!(
        run.calls("lock_slurmctld") > 0,
        "it never looked at slurmctld"
    );
    assert!(run.calls("build_job_queue") > 0, "backfill never ran");
    assert_eq!(run.calls("select_nodes"), 0, "there is no job to start");
    // The fake one has no select plugin to speak of, and nothing else is wrong.
    run.assert_has_not("not those of Slurm");
}

#[test]
fn hanging_thread_is_abandoned_and_the_plugin_restarts() {
    let run = run("stuck", Some(CONFIGURATION));
    run.assert_has("alive");
    run.assert_has("DFRS's thread did not end");
    run.assert_has("threads after fini 2");
    run.assert_has("dlclose 0");
    run.assert_has("threads left behind 2");
    run.assert_has("threads at the end 2");
    run.assert_has_not("deadlock");
    run.assert_has_not("panicked");
    assert_eq!(
        run.calls("lock_slurmctld"),
        run.calls("unlock_slurmctld"),
        "locks taken and given back"
    );
    assert!(
        run.calls("lock_slurmctld") > 0,
        "the second life never looked at slurmctld"
    );
}

#[test]
fn plugin_stays_idle_when_scheduling_is_disabled() {
    let run = run("disabled", Some(CONFIGURATION));
    run.assert_sound();
    run.assert_has("init 0");
    run.assert_has("threads while running 1");
    assert_eq!(run.calls("lock_slurmctld"), 0);
}

#[test]
fn parking_is_disabled_when_slurmd_does_not_report_lost_messages() {
    let configuration = format!("{CONFIGURATION}SwapPerNode=1G\nNeeds=measured\n");
    let run = run("quiet-parking", Some(&configuration));
    run.assert_sound();
    let (from, to) = (0x17_0b_00, 0x18_05_00); // 23.11.0, 24.05.0
    if (from..to).contains(&SLURM_VERSION_NUMBER) {
        run.assert_has("SwapPerNode counts as 0 and no job is parked");
        run.assert_has("Needs counts as requested");
        run.assert_has(&format!("Slurm {SLURM_VERSION} does not report"));
    } else {
        run.assert_has_not("SwapPerNode");
        run.assert_has_not("Needs");
    }
}

#[test]
fn dfrs_jobs_are_withheld_from_other_schedulers_once_known() {
    let run = run("withheld", Some(CONFIGURATION));
    run.assert_sound();
    run.assert_has("schedules partition(s) dfrs");
    run.assert_has("at first: dfrs ready 0, for a test 1");
    run.assert_has("at first: other ready 0, for a test 1");
    run.assert_has("then: dfrs ready 0, for a test 1");
    run.assert_has("then: other ready 1, for a test 1");
    run.assert_has("at last: other ready 0, for a test 1");
}

#[test]
fn job_that_ends_after_its_warning_is_requeued_at_once() {
    let run = run("withheld", Some(CONFIGURATION));
    run.assert_sound();
    run.assert_has("saved: 0 requeued 1");
    run.assert_has("failed: 0 requeued 1");
    run.assert_has("cancelled: 0 requeued 0");
    run.assert_has("near its limit: 0 requeued 0");
    run.assert_has("of another partition: 0 requeued 0");
    run.assert_has("requeued by others: 0 requeued 0");
}

const ACCEPTED: &str = "hetjob: accepted, empty, answer taken";

impl HostRun {
    /// How often slurmctld was asked for a heterogeneous job, each time as it should be.
    fn times_asked_for_hetjobs(&self) -> usize {
        self.assert_has_not("hetjob: refused");
        self.assert_has_not("answer lost");
        self.assert_has_not("hetjob: accepted, a job");
        assert_eq!(self.calls("another handler"), 0);
        self.lines.iter().filter(|line| *line == ACCEPTED).count()
    }
}

#[test]
fn slurmctld_accepts_heterogeneous_jobs_and_keeps_its_configuration() {
    for (name, scenario) in [("quiet-hetjobs", "quiet"), ("disabled-hetjobs", "disabled")] {
        let run = run_with(name, scenario, Some(CONFIGURATION), &[]);
        run.assert_sound();
        assert_eq!(run.times_asked_for_hetjobs(), 1);
        run.assert_has("SchedulerType=sched/dfrs");
    }
}

#[test]
fn slurmctld_is_asked_for_heterogeneous_jobs_in_each_life_of_the_plugin() {
    let run = run_with("stuck-hetjobs", "stuck", Some(CONFIGURATION), &[]);
    run.assert_has("alive");
    assert_eq!(run.times_asked_for_hetjobs(), 2);
    run.assert_has("SchedulerType=sched/dfrs");
}

#[test]
fn slurmctld_that_cannot_be_asked_for_heterogeneous_jobs_is_left_alone() {
    // Where there are jobs, it was asked before.
    for scenario in ["closed", "deaf", "hostile"] {
        let run = run_with(
            &format!("{scenario}-hetjobs"),
            scenario,
            Some(CONFIGURATION),
            &[],
        );
        run.assert_sound();
        run.assert_has("init 0");
        assert_eq!(run.times_asked_for_hetjobs(), 0);
        run.assert_has("SchedulerType=sched/dfrs");
    }
    // From 25.05 on the answer would be encrypted.
    let run = run("encrypted", Some(CONFIGURATION));
    run.assert_sound();
    let is_asked = SLURM_VERSION_NUMBER < 0x19_05_00;
    assert_eq!(run.times_asked_for_hetjobs(), usize::from(is_asked));
}

#[test]
fn component_for_dfrs_partitions_only_is_refused_at_submission() {
    let run = run_with("withheld-hetjobs", "withheld", Some(CONFIGURATION), &[]);
    run.assert_sound();
    run.assert_has("submitted job: accepted, no message");
    run.assert_has(
        "submitted first component: refused, DFRS: heterogeneous jobs do not run in partition dfrs, which component 0 is for",
    );
    run.assert_has("submitted second component: refused, DFRS: heterogeneous jobs do not run in partition dfrs, which component 1 is for");
    run.assert_has("submitted component of another partition: accepted, no message");
    run.assert_has("submitted component of either partition: accepted, no message");
    run.assert_has("submitted component of one partition twice: refused, DFRS");
    run.assert_has("submitted component of a partition with a like name: accepted");
    run.assert_has("submitted component of none: accepted");
}

#[test]
fn no_component_is_refused_while_dfrs_starts_no_jobs() {
    for mode in ["shadow", "off"] {
        let name = format!("withheld-hetjobs-{mode}");
        let configuration = CONFIGURATION.replace("full", mode);
        let run = run_with(&name, "withheld", Some(&configuration), &[]);
        run.assert_sound();
        run.assert_has("submitted first component: accepted, no message");
        run.assert_has_not(": refused");
    }
}

#[test]
fn without_dfrs_conf_only_backfill_runs() {
    let run = run("quiet-unconfigured", None);
    run.assert_sound();
    run.assert_has("init 0");
    run.assert_has("dfrs.conf");
    assert!(run.calls("build_job_queue") > 0, "backfill never ran");
}

#[test]
fn mode_off_checks_once_for_parked_jobs_and_lets_backfill_run() {
    let run = run("quiet-off", Some(&CONFIGURATION.replace("full", "off")));
    run.assert_sound();
    run.assert_has("init 0");
    run.assert_has_not("dfrsd not responding");
    run.assert_has_not("as DFRS had parked it");
    assert!(run.calls("build_job_queue") > 0, "backfill never ran");
    assert_eq!(run.calls("select_nodes"), 0);
}

#[test]
fn shadow_mode_accepts_slurm_scheduling_and_full_mode_refuses_it() {
    let run = run("stock", Some(&CONFIGURATION.replace("full", "shadow")));
    run.assert_sound();
    let events = |line: &String| {
        ["Mode=shadow", "switched on", "DFRS is off", "Mode=full"]
            .into_iter()
            .find(|part| line.contains(part))
    };
    let events: Vec<&str> = run.lines.iter().filter_map(events).collect();
    assert_eq!(events, ["Mode=shadow", "switched on", "DFRS is off"]);
    run.assert_has("Slurm starts DFRS's jobs itself");
}

#[test]
fn node_records_of_another_size_trip_the_canary() {
    let run = run("layout", Some(CONFIGURATION));
    run.assert_sound();
    run.assert_has("not those of Slurm");
    run.assert_has("node_record_t");
    assert_eq!(run.calls("select_nodes"), 0);
}

#[test]
fn job_records_of_another_size_trip_the_canary() {
    let run = run("globals", Some(CONFIGURATION));
    run.assert_sound();
    run.assert_has("not those of Slurm");
    run.assert_has("job_record_t");
    assert_eq!(
        run.calls("build_job_queue"),
        0,
        "backfill must not look at such jobs"
    );
    for action in ["select_nodes", "job_suspend", "job_requeue", "job_signal"] {
        assert_eq!(run.calls(action), 0, "{action}");
    }
}

#[test]
fn partition_change_is_noticed_at_once() {
    let run = run("repartitioned", Some(CONFIGURATION));
    run.assert_sound();
    let events = |line: &String| {
        ["partition changed", "DFRS is off", "schedules partition(s)"]
            .into_iter()
            .find(|part| line.contains(part))
    };
    let events: Vec<&str> = run.lines.iter().filter_map(events).collect();
    assert_eq!(
        events,
        [
            "schedules partition(s)",
            "partition changed",
            "DFRS is off",
            "partition changed",
            "schedules partition(s)",
        ]
    );
    run.assert_has("OverSubscribe=FORCE:1");
}

#[test]
fn impossible_requests_are_survived() {
    let run = run("hostile", Some(CONFIGURATION));
    run.assert_sound();
    assert!(
        run.calls("acct_policy_job_runnable_post_select") > 0,
        "no job came as far as its limits"
    );
    assert!(
        run.calls("lock_slurmctld") > 0,
        "it never looked at slurmctld"
    );
}
