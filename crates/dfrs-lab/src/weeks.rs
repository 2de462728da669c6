//! Long traces, week by week.

use dfrs_core::{Span, Time};
use dfrs_sim::trace::Trace;

const WEEK: Span = Span::from_seconds(7 * 24 * 3600);

/// The jobs of each week, which begins at time 0. Weeks without jobs are left out.
pub fn split(whole: &Trace) -> Vec<Trace> {
    let mut weeks: Vec<(i64, Trace)> = Vec::new();
    for job in &whole.jobs {
        let week = job.submit.0.div_euclid(WEEK.0);
        if weeks.last().is_none_or(|(last, _)| *last != week) {
            let empty = Trace {
                jobs: Vec::new(),
                ..*whole
            };
            weeks.push((week, empty));
        }
        if let Some((_, trace)) = weeks.last_mut() {
            let mut job = job.clone();
            job.submit = Time(job.submit.0.rem_euclid(WEEK.0));
            trace.jobs.push(job);
        }
    }
    weeks.into_iter().map(|(_, trace)| trace).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfrs_core::{Bytes, Cores};
    use dfrs_sim::trace::TraceJob;

    #[test]
    fn weeks_begin_at_0() {
        let job = |id: &str, seconds: i64| {
            let runtime = Span::from_seconds(60);
            TraceJob::new(
                id,
                Time(seconds * 1_000_000),
                1,
                Cores(1),
                Bytes::ZERO,
                runtime,
            )
        };
        let whole = Trace {
            jobs: vec![
                job("a", 5),
                job("b", 604_799),
                job("c", 604_800),
                job("d", 3 * 604_800 + 7),
            ],
            nodes: Some(120),
            has_memory: true,
            ..Trace::default()
        };
        let weeks = split(&whole);
        let found: Vec<Vec<(&str, i64)>> = weeks
            .iter()
            .map(|week| {
                let jobs = week.jobs.iter();
                jobs.map(|job| (job.id.as_str(), job.submit.0 / 1_000_000))
                    .collect()
            })
            .collect();
        assert_eq!(
            found,
            [
                vec![("a", 5), ("b", 604_799)],
                vec![("c", 0)],
                vec![("d", 7)]
            ]
        );
        assert!(
            weeks
                .iter()
                .all(|week| week.has_memory && week.nodes == Some(120))
        );
    }
}
