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
fn a_task_has_as_many_threads_as_it_asked_for() {
    assert_eq!(exports(&[]), threads(1));
    assert_eq!(exports(&[("SLURM_CPUS_PER_TASK", "4")]), threads(4));
}

#[test]
fn what_the_user_says_stays() {
    let own = [("SLURM_CPUS_PER_TASK", "4"), ("OMP_NUM_THREADS", "2")];
    assert!(exports(&own).is_empty());
}

#[test]
fn a_step_has_its_own_number_and_not_that_of_its_script() {
    let of_script = [("OMP_NUM_THREADS", "1"), ("DFRS_THREADS", "1")];
    let step = [of_script.as_slice(), &[("SLURM_CPUS_PER_TASK", "4")]].concat();
    assert_eq!(exports(&step), threads(4));
}
