//! All policies, with a line about each.

use std::fmt::Write;

use dfrs_sim::{Batch, Scheduler};

/// A line for each scheduler: batch schedulers first, then the policies of both papers, then ours.
pub fn list() -> String {
    let batch = Batch::ALL.into_iter().map(Scheduler::Batch);
    let policies = dfrs_papers::all().into_iter().map(Scheduler::Dfrs);
    let all: Vec<(String, String)> = batch
        .chain(policies)
        .map(|scheduler| (scheduler.to_string(), scheduler.description()))
        .collect();
    let width = all.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    all.iter().fold(String::new(), |mut text, (name, what)| {
        let _ = writeln!(text, "{name:<width$}  {what}"); // a String takes all
        text
    })
}
