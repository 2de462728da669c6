//! What of a file is not simulated, and how much that is.

use crate::show::{number, percent};

/// What is not simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOutCount {
    /// What it is, in the plural.
    pub why: String,
    /// How many of it.
    pub count: usize,
    /// Time of all CPUs that these had, in seconds, if they are jobs that ran and ended.
    pub core_seconds: Option<f64>,
}

/// Time of all CPUs of what ran and ended, in seconds.
pub fn core_seconds(left_out: &[LeftOutCount]) -> f64 {
    left_out.iter().filter_map(|one| one.core_seconds).sum()
}

/// How many of the jobs that ran and ended are not simulated, and which part of the work they were; none if
/// there are none. `kept`: the jobs that are simulated, and the time of their CPUs in seconds.
pub fn summary(left_out: &[LeftOutCount], kept: (usize, f64)) -> Option<String> {
    let ran = || left_out.iter().filter(|one| one.core_seconds.is_some());
    let jobs: usize = ran().map(|one| one.count).sum();
    if jobs == 0 {
        return None;
    }
    let (part, all) = (core_seconds(left_out), core_seconds(left_out) + kept.1);
    let share = match all > 0.0 {
        true => format!(", with {} of their core-hours", percent(part / all)),
        false => String::new(),
    };
    let reasons: Vec<String> = ran()
        .map(|one| format!("{}: {}", one.why, number(one.count)))
        .collect();
    Some(format!(
        "left out of the jobs that ran and ended: {} of {}{share} ({})",
        number(jobs),
        number(jobs + kept.0),
        reasons.join("; ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_out(why: &str, count: usize, core_seconds: Option<f64>) -> LeftOutCount {
        LeftOutCount {
            why: why.into(),
            count,
            core_seconds,
        }
    }

    #[test]
    fn summary_has_left_out_jobs_and_their_core_hours() {
        let all = [
            left_out("jobs with GPUs", 1200, Some(7200.0)),
            left_out("malformed lines", 7, None),
            left_out("jobs that are too large", 1, Some(1800.0)),
        ];
        assert_eq!(
            summary(&all, (3000, 27_000.0)).as_deref(),
            Some(
                "left out of the jobs that ran and ended: 1,201 of 4,201, with 25.0% of their core-hours (jobs with GPUs: 1,200; jobs that are too large: 1)"
            )
        );
        assert_eq!(summary(&all[1..2], (3000, 27_000.0)), None);
        let brief = summary(&[left_out("jobs", 1, Some(0.0))], (1, 0.0));
        assert_eq!(
            brief.as_deref(),
            Some("left out of the jobs that ran and ended: 1 of 2 (jobs: 1)")
        );
    }
}
