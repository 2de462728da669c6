//! One frame: what is where on the screen.

mod canvas;
mod header;
mod help;
mod nodes;
mod table;
#[cfg(test)]
mod tests;

use dfrs_core::Time;
use ratatui::buffer::Buffer;

use super::model::TopModel;
use super::screen::{Prompt, Screen};
use canvas::{Canvas, TextStyle};

/// What a frame is made of beside the cluster.
#[derive(Debug)]
pub struct Banner {
    /// Where it comes from: "replay of FILE", say.
    pub source: String,
    /// What is so about the source now: "paused".
    pub state: String,
    /// A line about the plugin, if there is one.
    pub status: Option<String>,
    /// A line about what is wrong, if something is.
    pub trouble: Option<String>,
    /// When it is.
    pub now: Time,
}

/// Draws all of it. Whatever the size, nothing is drawn outside.
pub fn draw(
    buffer: &mut Buffer,
    model: &TopModel,
    screen: &mut Screen,
    banner: &Banner,
    colours: bool,
) {
    buffer.reset();
    let mut canvas = Canvas::new(buffer, colours);
    let (width, height) = canvas.size();
    if screen.help {
        help::draw(&mut canvas, screen.is_replay);
        return;
    }
    let top = header::draw(&mut canvas, model, banner);
    let has_details = height >= 16;
    let bottom = height.saturating_sub(1 + u16::from(has_details));
    let room = bottom.saturating_sub(top);
    let nodes = nodes::draw(&mut canvas, (top, room), model, screen);
    let table = (top + nodes, room.saturating_sub(nodes));
    let rows = table::draw(&mut canvas, table, (model, screen), banner.now);
    if has_details {
        let selected = rows.get(screen.jobs.selected);
        let line = selected.map(|job| table::details(job, model));
        canvas.text(
            0,
            bottom,
            width,
            &line.unwrap_or_default(),
            TextStyle::Quiet,
        );
    }
    footer(&mut canvas, screen, banner);
}

fn footer(canvas: &mut Canvas, screen: &Screen, banner: &Banner) {
    let (width, height) = canvas.size();
    let y = height.saturating_sub(1);
    let typed = match screen.prompt {
        Some(Prompt::Search) => Some(format!("Search: {}_", screen.search)),
        Some(Prompt::Filter) => Some(format!("Filter: {}_", screen.filter)),
        None => None,
    };
    if let Some(line) = typed {
        canvas.text(0, y, width, &line, TextStyle::Chosen);
    } else if let Some(note) = &screen.note {
        canvas.text(0, y, width, note, TextStyle::Warning);
    } else if let Some(trouble) = &banner.trouble {
        canvas.text(0, y, width, trouble, TextStyle::Warning);
    } else {
        keys(canvas, y, screen);
    }
}

fn keys(canvas: &mut Canvas, y: u16, screen: &Screen) {
    let mut keys = vec![
        ("F1", "Help"),
        ("F3", "Search"),
        ("F4", "Filter"),
        ("F6", "Sort"),
        ("Tab", "Nodes/Jobs"),
    ];
    if screen.is_replay {
        keys.extend([("Space", "Pause"), ("+-", "Speed")]);
    }
    keys.push(("F10", "Quit"));
    let mut x = 0;
    for (key, what) in keys {
        x = canvas.put(x, y, key, TextStyle::Plain);
        x = canvas.put(x, y, what, TextStyle::Chosen);
        x = canvas.put(x, y, " ", TextStyle::Plain);
    }
}
