//! Which control groups are a job's.

use std::path::Path;

use crate::cgroup::sluid::is_sluid;

const BATCH_STEP: &str = "/step_batch";
/// Where `slurmstepd` is below a job's group of v2.
const DAEMONS: &str = "/step_batch/slurm";

/// The job's groups, by hierarchy: `(4:freezer, /slurm/uid_1000/job_17)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobGroups(Vec<(String, String)>);

impl JobGroups {
    /// From `/proc/PID/cgroup` of a process of its batch step.
    pub fn of_batch_step(text: &str) -> JobGroups {
        let groups = text.lines().filter_map(|line| {
            let (hierarchy, path) = split(line)?;
            let (job, _) = path.split_once(BATCH_STEP)?;
            Some((hierarchy.to_owned(), job.to_owned()))
        });
        JobGroups(groups.collect())
    }

    /// Whether a process with this `/proc/PID/cgroup` is in one of them.
    pub fn has(&self, text: &str) -> bool {
        text.lines().filter_map(split).any(|(hierarchy, path)| {
            let mut groups = self.0.iter();
            groups.any(|(own, job)| own == hierarchy && Path::new(path).starts_with(job))
        })
    }
}

/// Whether the first text of `/proc/PID/cgroup` is that of the `slurmstepd` of a job's batch step, as
/// the second is of one of its processes. On v1 it is somewhere below the job's groups, on v2 where
/// only root can move it.
pub fn is_of_batch_step(daemon: &str, process: &str, job: u32) -> bool {
    let groups = JobGroups::of_batch_step(process).0;
    let named = format!("job_{job}");
    groups.iter().any(|(hierarchy, base)| {
        let name = base.rsplit('/').next().unwrap_or_default();
        daemon.lines().filter_map(split).any(|(other, path)| {
            other == hierarchy
                && match hierarchy.as_str() {
                    "0:" => (name == named || is_sluid(name)) && path == format!("{base}{DAEMONS}"),
                    _ => name == named && Path::new(path).starts_with(base),
                }
        })
    })
}

/// `4:cpu,cpuacct:/path`: number and controllers, and the path.
fn split(line: &str) -> Option<(&str, &str)> {
    let at = line.find(":/")?;
    Some((&line[..at], &line[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_of_all_steps_are_the_jobs() {
        let groups = JobGroups::of_batch_step(
            "5:freezer:/slurm/uid_1/job_7/step_batch\n4:cpuset:/\n0::/x/job_7/step_batch/user/task_0\n",
        );
        for (text, expected) in [
            ("5:freezer:/slurm/uid_1/job_7/step_extern\n", true),
            ("0::/x/job_7/step_0/user\n", true),
            (
                "5:freezer:/slurm/uid_1/job_71/step_extern\n4:cpuset:/\n",
                false,
            ),
            ("4:cpuset:/slurm/uid_1/job_7\n", false),
            ("", false),
        ] {
            assert_eq!(groups.has(text), expected, "{text}");
        }
        assert!(!JobGroups::of_batch_step("0::/\n").has("0::/\n"));
    }

    #[test]
    fn daemon_of_a_batch_step_is_in_its_jobs_groups() {
        let v1 = "5:freezer:/slurm/uid_1/job_7/step_batch\n0::/\n";
        let v2 = "0::/x/job_7/step_batch/user/task_0\n";
        let sluid = "0::/x/s21DM8A51TJE00/step_batch/user/task_0\n";
        for (daemon, process, expected) in [
            ("5:freezer:/slurm/uid_1/job_7\n0::/\n", v1, true),
            ("5:freezer:/slurm/uid_1/job_8\n0::/\n", v1, false),
            ("5:freezer:/system\n0::/\n", v1, false),
            ("0::/x/job_7/step_batch/slurm\n", v2, true),
            // What a user's job has started.
            ("0::/x/job_7/step_batch/user/task_0\n", v2, false),
            ("0::/x/job_7/step_0/slurm\n", v2, false),
            ("0::/x/s21DM8A51TJE00/step_batch/slurm\n", sluid, true),
            ("0::/x/s21DM8A51TJE01/step_batch/slurm\n", sluid, false),
            ("", "", false),
        ] {
            assert_eq!(is_of_batch_step(daemon, process, 7), expected, "{daemon}");
        }
        assert!(!is_of_batch_step("0::/x/job_7/step_batch/slurm\n", v2, 8));
    }
}
