//! How log lines name jobs: as Slurm's own lines do (`%pJ`), but components of heterogeneous jobs by
//! their own ids.

use crate::slurm::records::ObservedJob;

/// `JobId=17`; of an array `JobId=17_3(20)`, and `JobId=17_*` for its pending rest. `job`: as Slurm
/// shows it, where that is known.
pub(crate) fn job_name(id: u32, job: Option<&ObservedJob>) -> String {
    match job.filter(|job| job.array > 0) {
        Some(job) if job.array_master => format!("JobId={}_*", job.array),
        Some(job) => format!("JobId={}_{}({id})", job.array, job.array_task),
        None => format!("JobId={id}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::job;

    #[test]
    fn jobs_are_named_as_in_slurms_own_lines() {
        let task = ObservedJob {
            array: 17,
            array_task: 3,
            ..job(20, 1)
        };
        let rest = ObservedJob {
            array_master: true,
            array_task: 0,
            ..task.clone()
        };
        assert_eq!(job_name(17, None), "JobId=17");
        assert_eq!(job_name(17, Some(&job(17, 1))), "JobId=17");
        assert_eq!(job_name(20, Some(&task)), "JobId=17_3(20)");
        assert_eq!(job_name(20, Some(&rest)), "JobId=17_*");
    }
}
