//! The machine over time.

use dfrs_core::Time;
use dfrs_report::{Axis, Chart, Page, Series, Style};

use super::short;
use crate::replay::Replay;
use crate::replay::timeline::Timeline;
use crate::show::{TimeBase, duration};

/// About how many dates an axis names.
const DATES: i64 = 8;

pub fn add(page: &mut Page, replay: &Replay) {
    page.section("The machine over time");
    let length = replay.schedules[0].timeline.cut.length.seconds();
    let nodes = f64::from(replay.source.nodes);
    let mut used = chart(
        replay,
        "CPU in use",
        Axis::linear("share of all CPUs").with_range(0.0, 1.0),
        |timeline| timeline.points(&timeline.used, |sum| sum / length / nodes),
    );
    let first = &replay.schedules[0].timeline;
    let held = first.points(&first.held, |sum| sum / length / nodes);
    let name = format!("{}: held", short(replay, 0));
    used = used.with(Series::new(&name, held).styled(Style::Steps).dashed());
    let caption = format!(
        "CPU that jobs can use and get, as means over {}. Dashed: what jobs held for themselves, used or not.",
        duration(length)
    );
    page.figure(&used.to_svg(), &caption);
    let waiting = chart(
        replay,
        "Jobs that do not run",
        Axis::linear("jobs"),
        |timeline| timeline.points(&timeline.waiting, |sum| sum / length),
    );
    page.figure(
        &waiting.to_svg(),
        "Jobs in the system that wait for their first start or are paused.",
    );
}

fn chart(
    replay: &Replay,
    title: &str,
    y: Axis,
    points: impl Fn(&Timeline) -> Vec<(f64, f64)>,
) -> Chart {
    let mut chart = Chart::new(title, days(replay), y);
    for (place, schedule) in replay.schedules.iter().enumerate() {
        let series = Series::new(&short(replay, place), points(&schedule.timeline));
        chart = chart.with(series.styled(Style::Steps));
    }
    chart
}

/// The axis of time: days since the beginning, with dates where there are any.
pub fn days(replay: &Replay) -> Axis {
    let clock = replay.source.clock;
    if clock == TimeBase::SinceStart {
        return Axis::linear("days since the first submission");
    }
    let day = 86_400_000_000;
    let first = replay.source.first();
    let timeline = &replay.schedules[0].timeline; // all are as long
    let whole = i64::try_from(timeline.bins())
        .unwrap_or(1)
        .saturating_mul(timeline.cut.length.0);
    let every = (whole / day / DATES).max(1) * day;
    let midnight = first.0.div_euclid(day) * day;
    let mut ticks = Vec::new();
    let mut next = midnight;
    while next <= first.0.saturating_add(whole) {
        if next >= first.0 {
            // Precise enough: to be looked at.
            let at = (next - first.0) as f64 / day as f64;
            ticks.push((at, clock.day(Time(next), first)[5..].to_owned()));
        }
        next += every;
    }
    match ticks.len() {
        0 | 1 => Axis::linear("days since the first submission"),
        _ => Axis::linear("date").with_ticks(ticks),
    }
}
