//! `dfrs status --shadow`: what Slurm did, and what DFRS would have done with the same jobs.

use std::path::{Path, PathBuf};

use dfrs_core::Time;
use dfrs_lab::replay::shadow::{ShadowComparison, compare};
use dfrs_lab::show::{TimeBase, aligned, duration, number};
use serde::Serialize;

use super::paths;

/// The version of the JSON.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct ShadowReport<'a> {
    version: u32,
    journal: String,
    #[serde(flatten)]
    comparison: &'a ShadowComparison,
}

/// What to print, or one line on why there is no comparison. `parts`: of a journal, oldest
/// first; none: the journal that dfrs.conf names.
pub(super) fn run(dfrs_conf: &Path, parts: &[PathBuf], json: bool) -> Result<String, String> {
    let (named, config) = paths::journal_of(dfrs_conf, "")?;
    let (earlier, journal) = match parts.split_last() {
        Some((last, earlier)) => (earlier, last.clone()),
        None => (parts, named),
    };
    if earlier.is_empty() {
        readable(&journal)?;
    }
    let comparison = compare(earlier, &journal, &config)?;
    if comparison.started_by_dfrs * 2 > comparison.jobs {
        return Err(format!(
            "{}: DFRS itself has started {} of {} jobs in it: nothing is known of Slurm's scheduling; 'dfrs replay' compares with a simulated one",
            journal.display(),
            comparison.started_by_dfrs,
            comparison.jobs
        ));
    }
    if json {
        let report = ShadowReport {
            version: VERSION,
            journal: journal.display().to_string(),
            comparison: &comparison,
        };
        let text = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
        Ok(text + "\n")
    } else {
        Ok(text(&journal, &comparison))
    }
}

/// Whether there is a journal with something in it.
fn readable(journal: &Path) -> Result<(), String> {
    let file = journal.display();
    let open = std::fs::File::open(journal).and_then(|open| open.metadata());
    let length = open.map_err(|error| {
        format!(
            "{file}: {error}; is slurmctld up with this dfrs.conf, and may you read its journal?"
        )
    })?;
    if length.len() == 0 {
        return Err(format!(
            "{file}: is empty: nothing was written yet, or it was just rotated; try again later, or name its parts after --shadow"
        ));
    }
    Ok(())
}

fn text(journal: &Path, comparison: &ShadowComparison) -> String {
    let mut text = format!(
        "{}: {} jobs on {} nodes, submitted from {} to {} UTC\n\n",
        journal.display(),
        number(comparison.jobs),
        number(comparison.nodes as usize),
        instant(comparison.from),
        instant(comparison.to)
    );
    table(&mut text, comparison);
    text.push('\n');
    let mut line = |what: &str| text.extend([what, "\n"]);
    line(
        "Stretch is time in the system over run time (at least 10 s). What separates the two simulations is due to DFRS;",
    );
    line("what separates the simulated backfill from what was is not.");
    if comparison.began_before > 0 {
        line(&format!(
            "Of {} more jobs, which ran when the journal or slurmctld began, the start is not known: they are simulated, and do not count.",
            number(comparison.began_before)
        ));
    }
    if comparison.started_by_dfrs > 0 {
        line(&format!(
            "DFRS itself has started {} of the jobs: what is called Slurm's is in part DFRS's.",
            number(comparison.started_by_dfrs)
        ));
    }
    for left_out in &comparison.left_out {
        let what = format!("Left out, {}: {}.", left_out.why, number(left_out.jobs));
        line(&what);
    }
    for note in &comparison.notes {
        line(note);
    }
    text
}

fn table(text: &mut String, comparison: &ShadowComparison) {
    let heads = [
        "",
        "mean wait",
        "mean stretch",
        "median",
        "largest",
        "pauses",
        "migrations",
    ];
    let mut rows: Vec<Vec<String>> = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(comparison.schedules.iter().map(|row| {
        let name = match row.simulated {
            false => row.name.clone(),
            true => format!("{}, simulated", row.name),
        };
        vec![
            name,
            duration(row.mean_wait),
            dfrs_report::decimals(row.mean_stretch, 2),
            dfrs_report::decimals(row.median_stretch, 2),
            dfrs_report::decimals(row.largest_stretch, 1),
            row.pauses.to_string(),
            row.migrations.to_string(),
        ]
    }));
    *text += &aligned(&rows);
}

fn instant(seconds: f64) -> String {
    #[allow(clippy::cast_possible_truncation)] // seconds since 1970
    let time = Time::from_seconds(seconds as i64);
    TimeBase::Utc.show(time, time)
}
