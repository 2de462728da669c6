//! The table of jobs, and a line about the selected one.

use dfrs_core::Time;
use dfrs_proto::devices;

use super::canvas::{Canvas, TextStyle};
use crate::top::column::{JobColumn, fitting};
use crate::top::model::{TopJob, TopModel, TopPhase, printable};
use crate::top::screen::{Pane, Screen};

/// Ids are cut to this.
const MAX_ID_WIDTH: usize = 12;

/// How many nodes of a job are named.
const MAX_NODES: usize = 8;

/// Draws the lines in sight in so many from a line on; all rows there are.
pub fn draw<'a>(
    canvas: &mut Canvas,
    (y, room): (u16, u16),
    (model, screen): (&'a TopModel, &mut Screen),
    now: Time,
) -> Vec<&'a TopJob> {
    let rows = screen.rows(model, now);
    screen
        .jobs
        .fit(rows.len(), usize::from(room.saturating_sub(1)));
    let seen = rows.iter().skip(screen.jobs.top).take(screen.jobs.page);
    let longest = seen.clone().map(|job| job.id.chars().count()).max();
    let id = longest.unwrap_or(0).clamp(4, MAX_ID_WIDTH);
    let has_devices = rows.iter().any(|job| !job.devices.is_empty());
    let id = u16::try_from(id).unwrap_or(4);
    let columns = fitting(canvas.size().0, id, has_devices);
    if room == 0 {
        return rows;
    }
    titles(canvas, y, &columns, screen);
    for ((index, job), y) in seen.enumerate().zip(y + 1..) {
        let selected = screen.pane == Pane::Jobs && screen.jobs.top + index == screen.jobs.selected;
        line(canvas, y, &columns, (job, now), (screen, selected));
    }
    rows
}

fn titles(canvas: &mut Canvas, y: u16, columns: &[(JobColumn, u16)], screen: &Screen) {
    canvas.text(0, y, canvas.size().0, "", TextStyle::Chosen);
    let mut x = 0;
    for (column, width) in columns {
        let look = if *column == screen.sort {
            TextStyle::Sorted
        } else {
            TextStyle::Chosen
        };
        let mut title = column.title().to_owned();
        if *column == screen.sort {
            title.insert(0, if screen.is_reversed { '^' } else { '>' });
        }
        cell(canvas, (x, y, *width), *column, &title, look);
        x += width + 1;
    }
    if !screen.filter.is_empty() {
        let filter = format!(" filter: {} ", screen.filter);
        let length = u16::try_from(filter.chars().count()).unwrap_or(0);
        let x = canvas.size().0.saturating_sub(length);
        canvas.text(x, y, length, &filter, TextStyle::Sorted);
    }
}

fn line(
    canvas: &mut Canvas,
    y: u16,
    columns: &[(JobColumn, u16)],
    (job, now): (&TopJob, Time),
    (screen, selected): (&Screen, bool),
) {
    if selected {
        canvas.text(0, y, canvas.size().0, "", TextStyle::Chosen);
    }
    let mut x = 0;
    for (column, width) in columns {
        let mut text = column.cell(job, now);
        if *column == JobColumn::Why {
            text = text.chars().skip(screen.shift).collect();
        }
        let look = match selected {
            true => TextStyle::Chosen,
            false => text_style(*column, job),
        };
        cell(canvas, (x, y, *width), *column, &text, look);
        x += width + 1;
    }
}

fn cell(
    canvas: &mut Canvas,
    (x, y, width): (u16, u16, u16),
    column: JobColumn,
    text: &str,
    look: TextStyle,
) {
    match column.is_text() {
        true => canvas.text(x, y, width, text, look),
        false => canvas.right(x, y, width, text, look),
    }
}

fn text_style(column: JobColumn, job: &TopJob) -> TextStyle {
    match (column, job.phase) {
        (_, TopPhase::Over(_)) => TextStyle::Quiet,
        (JobColumn::Phase, TopPhase::Running) => TextStyle::Good,
        (JobColumn::Phase, TopPhase::Paused) => TextStyle::Paused,
        (JobColumn::Phase, TopPhase::Waiting) => TextStyle::Waiting,
        (JobColumn::Job, _) => TextStyle::Strong,
        _ => TextStyle::Plain,
    }
}

/// What happened to a job last and where it is, in one line.
pub fn details(job: &TopJob, model: &TopModel) -> String {
    let mut text = format!("{}: {}", job.id, job.last.what);
    if !job.last.why.is_empty() {
        text = text + ", " + &job.last.why;
    }
    if !job.devices.is_empty() {
        text = text + "; " + &printable(&devices::text(&job.devices)) + " a node";
    }
    if job.places.is_empty() {
        return text;
    }
    let named = job.places.iter().take(MAX_NODES).map(|(node, tasks)| {
        let name = model
            .nodes
            .get(*node)
            .map_or("?", |node| node.name.as_str());
        match tasks {
            1 => name.to_owned(),
            _ => format!("{name} ({tasks})"),
        }
    });
    let named: Vec<String> = named.collect();
    text = text + "; on " + &named.join(", ");
    if job.places.len() > named.len() {
        text += &format!(" and {} more", job.places.len() - named.len());
    }
    text
}
