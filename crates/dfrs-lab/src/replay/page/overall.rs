//! The answer in short: a few numbers, and the whole in a table and two charts.

use dfrs_report::{Axis, Chart, Page, Series, Style, Table, decimals, percent};

use super::{RowValue, by_schedule, names, short};
use crate::replay::Replay;
use crate::replay::compare::Shift;
use crate::replay::schedule::ReplaySchedule;
use crate::replay::table::verdict;
use crate::show::{brief, number, seconds_ticks, significant, unbroken};
use crate::summary::{mean, quantile, share, sorted};

/// Points of a curve of shares.
const POINTS: u32 = 200;

pub fn add(page: &mut Page, replay: &Replay) {
    page.section("In short");
    facts(page, replay);
    for opponent in replay.opponents() {
        page.text(&verdict(replay, opponent));
    }
    page.text("Sooner and later are about when a job is done, because under DFRS waiting is not all that a user sees: a job starts at once as a rule, may get only a share of the CPU that it needs, and may be paused. What counts is the time lost: from submission to completion, less the run time.");
    page.table(&table(replay));
    for name in names(replay) {
        page.text(&name);
    }
    page.figure(
        &shares(
            replay,
            "Time lost",
            Axis::log("time in the system beyond the run time").with_ticks(seconds_ticks()),
            |schedule| schedule.lost.iter().map(|lost| lost.max(1.0)).collect(),
        ),
        "For each time, the share of jobs that lose no more than that. Higher is better.",
    );
    page.figure(
        &shares(
            replay,
            "Stretch",
            Axis::log("stretch: time in the system over run time (of at least 10 s)"),
            |schedule| schedule.stretch.clone(),
        ),
        "For each stretch, the share of jobs that have no more than that. 1 is a machine of one's own.",
    );
    page.figure(
        &shares(
            replay,
            "Waiting",
            Axis::log("time from submission to the first start").with_ticks(seconds_ticks()),
            |schedule| schedule.wait.iter().map(|wait| wait.max(1.0)).collect(),
        ),
        "For each time, the share of jobs that start within it.",
    );
}

fn facts(page: &mut Page, replay: &Replay) {
    let after = &replay.schedules[replay.after];
    let jobs = replay.source.trace.jobs.len();
    let lost = |schedule: &ReplaySchedule| brief(mean(schedule.lost.iter().copied()));
    let mut facts = Vec::new();
    for opponent in replay.opponents() {
        let (before, name) = (&replay.schedules[opponent], short(replay, opponent));
        let shift = Shift::of_all(&before.lost, &after.lost);
        facts.extend([
            (
                unbroken(&format!("{} → {}", lost(before), lost(after))),
                format!("mean time lost, {name} and under DFRS"),
            ),
            (
                unbroken(&format!(
                    "{} / {}",
                    percent(share(shift.sooner.count, jobs)),
                    percent(share(shift.later.count, jobs))
                )),
                format!("of jobs done more than a minute sooner / later than {name}"),
            ),
            (
                brief(shift.later.max),
                format!("later than {name}: the job that loses most"),
            ),
        ]);
    }
    facts.push((
        significant(after.summary.pauses_per_job, 2),
        "pauses per job".to_owned(),
    ));
    let facts: Vec<(&str, &str)> = facts
        .iter()
        .map(|(number, what)| (number.as_str(), what.as_str()))
        .collect();
    page.facts(&facts);
}

fn table(replay: &Replay) -> Table {
    let jobs = &replay.source.trace.jobs;
    let easy = if jobs.iter().all(|job| job.estimate.is_none()) {
        "it knows exactly how long jobs run"
    } else {
        "it believes the jobs' time limits as Slurm does"
    };
    let caption = format!("All jobs. EASY backfilling is simulated as DFRS is; {easy}.");
    let average = |values: &[f64]| brief(mean(values.iter().copied()));
    let at_most = |values: &[f64], share| brief(quantile(&sorted(values), share));
    let rows: [(&str, RowValue); 14] = [
        ("mean wait until the first start", &|schedule| {
            average(&schedule.wait)
        }),
        ("95% of jobs wait at most", &|schedule| {
            at_most(&schedule.wait, 0.95)
        }),
        ("longest wait", &|schedule| at_most(&schedule.wait, 1.0)),
        ("mean time lost", &|schedule| average(&schedule.lost)),
        ("half of jobs lose at most", &|schedule| {
            at_most(&schedule.lost, 0.5)
        }),
        ("95% of jobs lose at most", &|schedule| {
            at_most(&schedule.lost, 0.95)
        }),
        ("largest time lost", &|schedule| {
            at_most(&schedule.lost, 1.0)
        }),
        ("mean stretch", &|schedule| {
            decimals(schedule.summary.mean_stretch, 2)
        }),
        ("95% of jobs have a stretch of at most", &|schedule| {
            decimals(quantile(&sorted(&schedule.stretch), 0.95), 2)
        }),
        ("largest stretch", &|schedule| {
            decimals(schedule.summary.max_stretch, 1)
        }),
        ("normalized underutilization", &|schedule| {
            decimals(schedule.summary.normalized_underutilization, 3)
        }),
        (
            "from the first submission to the last completion",
            &|schedule| brief(schedule.summary.makespan),
        ),
        ("pauses", &|schedule| count(schedule.summary.pauses)),
        ("migrations", &|schedule| count(schedule.summary.migrations)),
    ];
    let places: Vec<usize> = (0..replay.schedules.len()).collect();
    by_schedule(&caption, replay, &places, &rows)
}

fn count(count: u64) -> String {
    number(usize::try_from(count).unwrap_or(usize::MAX))
}

/// For each value, the share of jobs that have no more, under each schedule.
fn shares(
    replay: &Replay,
    title: &str,
    axis: Axis,
    values: impl Fn(&ReplaySchedule) -> Vec<f64>,
) -> String {
    let all = axis.ticks.is_none();
    let y = Axis::linear("share of jobs").with_range(0.0, 1.0);
    let mut chart = Chart::new(title, axis, y);
    for (place, schedule) in replay.schedules.iter().enumerate() {
        let values = sorted(&values(schedule));
        let part = |point: u32| f64::from(point) / f64::from(POINTS);
        let at_1 = values.partition_point(|value| *value <= 1.0);
        let mut points: Vec<(f64, f64)> = vec![(1.0, share(at_1, values.len()))];
        points.extend(
            (0..=POINTS)
                .map(|point| (quantile(&values, part(point)), part(point)))
                .filter(|(value, _)| *value > 1.0),
        );
        // The tail is what readers look for.
        points.push((quantile(&values, 0.999).max(1.0), 0.999));
        points.push((quantile(&values, 1.0).max(1.0), 1.0));
        points.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
        let series = Series::new(&short(replay, place), points).styled(Style::Line);
        chart = chart.with(series);
    }
    if !all {
        // Round ends, so that the named times are there.
        let largest = chart
            .series
            .iter()
            .flat_map(|series| series.points.last())
            .map(|point| point.0)
            .fold(60.0, f64::max);
        let ticks = seconds_ticks();
        let end = ticks
            .iter()
            .map(|(value, _)| *value)
            .find(|value| *value >= largest);
        chart.x = chart.x.with_range(1.0, end.unwrap_or(largest));
    }
    chart.to_svg()
}
