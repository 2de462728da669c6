//! The file with what was measured on each run.

use dfrs_report::csv_line;

use crate::reproduce::results::Results;
use crate::reproduce::traces::{TraceId, TraceSet};

/// A line for each run.
pub fn csv(results: &Results) -> String {
    let mut csv = "traces,number,load,policy,penalty_seconds,period_seconds,jobs,max_stretch,\
             mean_stretch,max_stretch_30,bound,normalized_underutilization,makespan,\
             pauses,migrations,pause_gb,migration_gb,decide_seconds_mean,\
             decide_seconds_max,normalized_stalled\n"
        .to_owned();
    for (run, measured, bound) in results.all() {
        let (set, number, load) = match run.trace {
            TraceId::Unscaled(number) => (TraceSet::Unscaled, number.to_string(), String::new()),
            TraceId::Scaled(number, tenths) => {
                (TraceSet::Scaled, number.to_string(), format!("0.{tenths}"))
            }
            TraceId::Week(week) => (TraceSet::Weeks, week.to_string(), String::new()),
            TraceId::Whole => (TraceSet::Whole, String::new(), String::new()),
        };
        csv += &csv_line(&[
            set.name(),
            number,
            load,
            run.policy.clone(),
            run.penalty.to_string(),
            run.period.to_string(),
            measured.jobs.to_string(),
            measured.max_stretch.to_string(),
            measured.mean_stretch.to_string(),
            measured.max_stretch_30s.to_string(),
            bound.map_or(String::new(), |bound| bound.to_string()),
            measured.normalized_underutilization.to_string(),
            measured.makespan.to_string(),
            measured.pauses.to_string(),
            measured.migrations.to_string(),
            measured.pause_gb.to_string(),
            measured.migration_gb.to_string(),
            measured.decide_seconds_mean.to_string(),
            measured.decide_seconds_max.to_string(),
            measured.normalized_stalled.to_string(),
        ]);
    }
    csv
}
