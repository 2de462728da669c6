//! The page of text for a terminal of 80 columns.

use super::groups::{self, TrialGroup};
use super::rows::{TrialGroupRows, TrialRow};
use super::{MAX_WIDTH, Trial};
use crate::replay::table::{cautions, heading};
use crate::show::{aligned, brief, duration, number, percent, sentence, significant, wrapped};
use crate::summary::{mean, share};

/// As it was is far from backfill if jobs lost so many times the time in the mean, and a minute more.
const FAR: f64 = 2.0;

/// The whole page but for the next steps.
pub fn page(trial: &Trial) -> String {
    let mut text = wrapped(&(heading(&trial.source) + "."), MAX_WIDTH, "");
    for caution in cautions(&trial.source).lines() {
        text += &wrapped(caution, MAX_WIDTH, "");
    }
    text + "\n"
        + &table(&trial.groups)
        + "\n"
        + &wrapped(LEGEND, MAX_WIDTH, "")
        + &notes(trial)
        + "\n"
        + &verdicts(trial)
}

/// What the words of the table mean.
const LEGEND: &str = "Lost: time in the system beyond the run time. Stretch: time in the system over run time (of at least 10 s). Sooner, later: done by more than a minute, against backfill; worst: the largest loss. Short: a time limit of at most an hour, or without one such a run time. DFRS on top: short jobs on one node go to a DFRS partition on all nodes, and all others stay with backfill. Handed over: DFRS has all jobs.";

/// A block for each kind of jobs, with a row for each world.
fn table(groups: &[TrialGroupRows]) -> String {
    let mut rows = vec![
        ["", "lost:", "", "stretch:", "", "done", "done", ""],
        [
            "", "median", "95%", "median", "mean", "sooner", "later", "worst",
        ],
    ]
    .into_iter()
    .map(|row| row.map(String::from).to_vec())
    .collect::<Vec<_>>();
    for group in groups {
        rows.extend(group.rows.iter().map(|row| cells(group, row)));
    }
    let aligned = aligned(&rows);
    let mut lines = aligned.lines().map(str::trim_end);
    let mut text = String::new();
    for line in lines.by_ref().take(2) {
        text += &format!("{line}\n");
    }
    for group in groups {
        text += &format!("{}\n", title(group));
        for line in lines.by_ref().take(group.rows.len()) {
            text += &format!("{line}\n");
        }
    }
    text
}

fn title(group: &TrialGroupRows) -> String {
    let name = sentence(group.group.name());
    let jobs = number(group.jobs);
    match group.group {
        TrialGroup::All => format!("{name}: {jobs}"),
        _ => format!(
            "{name}: {jobs} ({} of jobs, {} of the CPU time)",
            percent(group.share_of_jobs),
            percent(group.share_of_cpu)
        ),
    }
}

fn cells(group: &TrialGroupRows, row: &TrialRow) -> Vec<String> {
    let mut cells = vec![
        format!("  {}", row.world),
        brief(row.median_lost),
        brief(row.lost_95),
        significant(row.median_stretch, 3),
        significant(row.mean_stretch, 3),
    ];
    if let Some(shift) = &row.shift {
        let part = |count: usize| percent(share(count, group.jobs));
        cells.extend([
            part(shift.sooner),
            part(shift.later),
            match shift.later {
                0 => "–".to_owned(),
                _ => brief(shift.largest_loss),
            },
        ]);
    }
    cells
}

/// What else the numbers say, a paragraph each.
fn notes(trial: &Trial) -> String {
    let notes = [idle(trial), far_from_backfill(trial), long_limits(trial)];
    let notes = notes.into_iter().flatten();
    notes.map(|note| wrapped(&note, MAX_WIDTH, "")).collect()
}

fn idle(trial: &Trial) -> Option<String> {
    let idle = trial.worlds.idle.as_ref()?;
    let unit = match trial.source.node_cpus > 1.0 {
        true => "core-hours",
        false => "node-hours",
    };
    let mut text = format!(
        "Idle: while jobs came there were {} {unit}, of which backfill leaves {} idle.",
        significant(idle.all_hours, 1),
        percent(idle.backfill_leaves)
    );
    if let (Some(leave), Some(used)) = (idle.others_leave, idle.used_on_top) {
        text += &format!(
            " Without the short jobs it leaves {}, and these use {} on top.",
            percent(leave),
            percent(used)
        );
    }
    Some(text)
}

/// Jobs waited for something other than room, which no scheduler here knows.
fn far_from_backfill(trial: &Trial) -> Option<String> {
    let lost = |lost: &[f64]| mean(lost.iter().copied());
    let was = lost(&trial.worlds.as_it_was.as_ref()?.lost);
    let backfill = lost(&trial.worlds.backfill.lost);
    (was > FAR * backfill + 60.0).then(|| {
        format!(
            "As it was jobs lost {} in the mean, under simulated backfill {}: most of their wait was for limits, priorities or nodes that failed, and DFRS does not change that.",
            duration(was),
            duration(backfill)
        )
    })
}

fn long_limits(trial: &Trial) -> Option<String> {
    let count = groups::count_of_long_limits(&trial.source.trace);
    (count > 0).then(|| {
        format!(
            "{} of the other jobs on one node ran for an hour at most with a longer limit; with a shorter one they would be short jobs.",
            number(count)
        )
    })
}

fn verdicts(trial: &Trial) -> String {
    let verdict = |verdict: &super::TrialVerdict| {
        let text = format!("{}: {}", sentence(verdict.world), verdict.text);
        wrapped(&text, MAX_WIDTH, "  ")
    };
    let verdicts: String = trial.verdicts.iter().map(verdict).collect();
    format!("Verdict\n{verdicts}")
}
