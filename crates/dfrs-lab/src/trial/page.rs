//! The page of text for a terminal of 80 columns.

use super::groups::{self, TrialGroup};
use super::rows::{TrialGroupRows, TrialRow};
use super::verdict::TrialVerdict;
use super::{MAX_WIDTH, SiteTrial};
use crate::replay::table::{cautions, heading};
use crate::show::{aligned, brief, duration, number, percent, sentence, significant, wrapped};
use crate::summary::{mean, share};

/// As it was is far from backfill if jobs lost so many times the time in the mean, and a minute more.
const FAR: f64 = 2.0;

/// The whole page but for the next steps.
pub fn page(trial: &SiteTrial) -> String {
    let mut text = wrapped(&(sentence(&heading(&trial.source)) + "."), MAX_WIDTH, "");
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
const LEGEND: &str = "Lost: time beyond the run time. Stretch: time in the system over run time (10 s at least). Sooner, later: done by more than a minute, against backfill; worst: the largest loss. Short: a time limit (without one, a run time) of an hour at most. DFRS on top: short jobs on one node have what backfill of all others leaves. Handed over: DFRS has all jobs.";

/// The heads of the table's columns.
const HEADS: [[&str; 9]; 2] = [
    ["", "lost:", "", "", "stretch:", "", "", "", ""],
    [
        "", "median", "mean", "95%", "median", "mean", "sooner", "later", "worst",
    ],
];

/// A block for each kind of jobs, with a row for each world.
fn table(groups: &[TrialGroupRows]) -> String {
    let mut rows: Vec<Vec<String>> = HEADS.map(|row| row.map(String::from).to_vec()).to_vec();
    for group in groups {
        rows.extend(group.rows.iter().map(|row| cells(group, row)));
    }
    let aligned = aligned(&rows);
    let mut lines = aligned.lines().map(str::trim_end);
    let mut text = String::new();
    for line in lines.by_ref().take(HEADS.len()) {
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
        brief(row.mean_lost),
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
fn notes(trial: &SiteTrial) -> String {
    let notes = [idle(trial), far_from_backfill(trial), long_limits(trial)];
    let notes = notes.into_iter().flatten();
    notes.map(|note| wrapped(&note, MAX_WIDTH, "")).collect()
}

fn idle(trial: &SiteTrial) -> Option<String> {
    let idle = trial.worlds.idle.as_ref()?;
    let unit = match trial.source.node_cpus > 1.0 {
        true => "core-hours",
        false => "node-hours",
    };
    let hours = |share: f64| significant(share * idle.all_hours, 1);
    let mut text = format!(
        "Idle while jobs came: {} of {} {unit} with backfill.",
        hours(idle.backfill_leaves),
        significant(idle.all_hours, 1),
    );
    if let (Some(leave), Some(used)) = (idle.others_leave, idle.used_on_top) {
        text += &format!(
            " On top the others leave {}, and the short jobs use {} of them.",
            hours(leave),
            hours(used)
        );
    }
    Some(text)
}

/// Jobs waited for something other than room, which no scheduler here knows.
fn far_from_backfill(trial: &SiteTrial) -> Option<String> {
    let lost = |lost: &[f64]| mean(lost.iter().copied());
    let was = lost(&trial.worlds.as_it_was.as_ref()?.lost);
    let backfill = lost(&trial.worlds.backfill.lost);
    (was > FAR * backfill + 60.0).then(|| {
        format!(
            "As it was jobs lost {} in the mean, and {} with simulated backfill: what lies between is due to limits, priorities, failures and the simulation, and DFRS does not change it.",
            duration(was),
            duration(backfill)
        )
    })
}

fn long_limits(trial: &SiteTrial) -> Option<String> {
    let count = groups::count_of_long_limits(&trial.source.trace);
    (count > 0).then(|| {
        format!(
            "Other jobs on one node that ran for an hour at most, with a longer limit: {}.",
            number(count)
        )
    })
}

/// A paragraph for each.
fn verdicts(trial: &SiteTrial) -> String {
    let paragraph = |verdict: &TrialVerdict| {
        let words = format!("{} {}", verdict.sentence(), verdict.numbers.join(" "));
        wrapped(&words, MAX_WIDTH, "  ")
    };
    let paragraphs: String = trial.verdicts.iter().map(paragraph).collect();
    format!("Verdict\n{paragraphs}")
}
