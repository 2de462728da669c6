//! The sample TaskProlog: what it puts into the environment of tasks.

use std::process::Command;

/// What it prints in this environment.
fn exports(environment: &[(&str, &str)]) -> Vec<String> {
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../slurm-conf/task-prolog.sh"
    );
    let output = Command::new("sh")
        .arg(script)
        .env_clear()
        .env("SLURM_JOB_PARTITION", "shared")
        .envs(environment.iter().copied())
        .output()
        .expect("sh runs");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(str::to_owned).collect()
}

fn threads(number: u32) -> Vec<String> {
    ["OMP_NUM_THREADS", "DFRS_THREADS"]
        .map(|name| format!("export {name}={number}"))
        .into()
}

#[test]
fn task_has_as_many_threads_as_cpus() {
    assert_eq!(exports(&[]), threads(1));
    assert_eq!(exports(&[("SLURM_CPUS_PER_TASK", "4")]), threads(4));
}

#[test]
fn threads_set_by_the_user_are_kept() {
    let own = [("SLURM_CPUS_PER_TASK", "4"), ("OMP_NUM_THREADS", "2")];
    assert!(exports(&own).is_empty());
}

#[test]
fn step_threads_override_those_of_the_script() {
    let of_script = [("OMP_NUM_THREADS", "1"), ("DFRS_THREADS", "1")];
    let step = [of_script.as_slice(), &[("SLURM_CPUS_PER_TASK", "4")]].concat();
    assert_eq!(exports(&step), threads(4));
}
