//! Which control groups are a job's.

use std::path::Path;

const BATCH_STEP: &str = "/step_batch";

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
}
