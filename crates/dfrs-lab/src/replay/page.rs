//! The HTML page of a replay.

mod costs;
mod jobs;
mod limits;
mod load;
mod overall;

use dfrs_report::{Cell, Page, Table};

use super::schedule::ReplaySchedule;
use super::{Replay, ReplayOptions};
use crate::show::number;

/// The whole page.
pub fn page(options: &ReplayOptions, replay: &Replay) -> String {
    let source = &replay.source;
    let first = source.first();
    let (clock, after) = (source.clock, &replay.schedules[replay.after].name);
    let period = clock.period(first, source.last());
    let mut page = Page::new(
        &format!("{period}: as it was, and as it would have been under DFRS"),
        &format!(
            "{} jobs on {} nodes, replayed from {}. DFRS is simulated with the policy `{after}`, by the code that the Slurm plugin runs. {}",
            number(source.trace.jobs.len()),
            number(source.nodes as usize),
            source.kind,
            clock.note()
        ),
    );
    overall::add(&mut page, replay);
    jobs::add(&mut page, replay);
    load::add(&mut page, replay);
    costs::add(&mut page, replay);
    limits::add(&mut page, options, replay);
    page.to_html()
}

/// A schedule's name for heads of tables and legends.
fn short(replay: &Replay, place: usize) -> String {
    let schedule = &replay.schedules[place];
    if place == replay.after {
        "DFRS".into()
    } else if schedule.is_dfrs() {
        let dfrs = |schedule: &&ReplaySchedule| schedule.is_dfrs();
        let number = replay.schedules[..=place].iter().filter(dfrs).count();
        format!("DFRS {number}")
    } else if schedule.scheduler.is_none() {
        "as it was".into()
    } else {
        schedule.name.clone()
    }
}

/// Which names belong to which policies, if there are several.
fn names(replay: &Replay) -> Vec<String> {
    let dfrs = (0..replay.schedules.len()).filter(|place| replay.schedules[*place].is_dfrs());
    let name = |place: usize| {
        format!(
            "{} is `{}`.",
            short(replay, place),
            replay.schedules[place].name
        )
    };
    dfrs.skip(1).map(name).collect()
}

/// The schedules that are looked at closely: as it was, EASY, and the first policy of DFRS.
fn main_schedules(replay: &Replay) -> Vec<usize> {
    let others = |place: &usize| !replay.schedules[*place].is_dfrs() || *place == replay.after;
    (0..replay.schedules.len()).filter(others).collect()
}

/// What a row says of a schedule.
type RowValue<'a> = &'a dyn Fn(&ReplaySchedule) -> String;

/// A table with a column for each of these schedules.
fn by_schedule(
    caption: &str,
    replay: &Replay,
    places: &[usize],
    rows: &[(&str, RowValue)],
) -> Table {
    let names: Vec<String> = places.iter().map(|place| short(replay, *place)).collect();
    let heads: Vec<&str> = std::iter::once("")
        .chain(names.iter().map(String::as_str))
        .collect();
    let mut table = Table::new(caption, &heads);
    for (what, value) in rows {
        let cells = places
            .iter()
            .map(|place| Cell::number(value(&replay.schedules[*place])));
        table.row([Cell::text(*what)].into_iter().chain(cells));
    }
    table
}
