//! The nodes: for each a bar of CPU and one of memory.

use super::canvas::{Canvas, TextStyle};
use crate::top::model::{TopDevices, TopModel, TopNode, printable};
use crate::top::screen::{Pane, Screen};
use crate::top::words::percent;

/// The width that a node should have.
const WIDTH: usize = 38;

/// Names are cut to this.
const MAX_NAME_WIDTH: usize = 16;

/// The least room inside of a node's cell for two bars.
const MIN_MEMORY_WIDTH: u16 = 20;

/// Draws those that are in sight, in a part of the room from a line on; how many lines they took.
pub fn draw(
    canvas: &mut Canvas,
    (y, room): (u16, u16),
    model: &TopModel,
    screen: &mut Screen,
) -> u16 {
    // The table of jobs has the greater part.
    let max_rows = (room / 3).min(room.saturating_sub(6));
    if max_rows < 2 {
        screen.nodes.fit(0, 0);
        return 0;
    }
    let nodes = screen.nodes(model);
    let (width, _) = canvas.size();
    let columns = (usize::from(width) / WIDTH).max(1);
    let needed = nodes.len().div_ceil(columns);
    let lines = needed.min(usize::from(max_rows - 1)).max(1);
    screen.nodes.fit(nodes.len(), lines * columns);
    // Whole lines of nodes.
    let top = screen.nodes.top.div_ceil(columns) * columns;
    let seen: Vec<&TopNode> = nodes.into_iter().skip(top).take(lines * columns).collect();
    let has_devices = seen.iter().any(|node| !node.devices.is_empty());
    title(canvas, y, (top, seen.len()), screen, has_devices);
    let longest = seen.iter().map(|node| node.name.chars().count()).max();
    let name = longest.unwrap_or(0).clamp(2, MAX_NAME_WIDTH);
    let cell = width / u16::try_from(columns).unwrap_or(1);
    let mut places = (0..lines).flat_map(|line| (0..columns).map(move |column| (line, column)));
    for (index, node) in seen.iter().enumerate() {
        let Some((line, column)) = places.next() else {
            break;
        };
        let number = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
        let at = (number(column) * cell, y + 1 + number(line));
        let selected = screen.pane == Pane::Nodes && top + index == screen.nodes.selected;
        draw_node(canvas, at, (number(name), cell), (model, node), selected);
    }
    number_of_lines(lines)
}

fn number_of_lines(lines: usize) -> u16 {
    u16::try_from(lines + 1).unwrap_or(u16::MAX)
}

fn title(
    canvas: &mut Canvas,
    y: u16,
    (top, seen): (usize, usize),
    screen: &Screen,
    has_devices: bool,
) {
    let all = screen.nodes.length;
    let mut text = match seen {
        0 => "Nodes: none".to_owned(),
        _ => format!("Nodes {} to {} of {all}", top + 1, top + seen),
    };
    if canvas.size().0 >= 72 {
        text += ": CPU given/needed in %, memory in %";
        if has_devices {
            text += ", devices held/all";
        }
    }
    let look = match screen.pane {
        Pane::Nodes => TextStyle::Sorted,
        Pane::Jobs => TextStyle::Chosen,
    };
    canvas.text(0, y, canvas.size().0, &text, look);
}

/// What is held of its devices by name; empty if it has none.
fn devices(model: &TopModel, node: &TopNode) -> String {
    let names = model.devices(node);
    let words = names.map(|(name, devices)| {
        let TopDevices { held, all } = devices;
        format!("{} {held}/{all}", printable(name))
    });
    words.collect::<Vec<_>>().join(" ")
}

fn number_of_characters(words: &str) -> u16 {
    u16::try_from(words.chars().count()).unwrap_or(u16::MAX - MIN_MEMORY_WIDTH)
}

fn draw_node(
    canvas: &mut Canvas,
    (x, y): (u16, u16),
    (name, cell): (u16, u16),
    (model, node): (&TopModel, &TopNode),
    selected: bool,
) {
    let look = if selected {
        TextStyle::Chosen
    } else {
        TextStyle::Plain
    };
    canvas.text(x, y, name, &node.name, look);
    let x = x + name + 1;
    let inner = cell.saturating_sub(name + 2);
    if node.cpu <= 0.0 {
        canvas.text(x, y, inner, "gone", TextStyle::Quiet);
        return;
    }
    let words = devices(model, node);
    let length = number_of_characters(&words);
    let inner = if length > 0 && inner > length + MIN_MEMORY_WIDTH {
        let at = x + inner - length;
        canvas.text(at, y, length, &words, TextStyle::Plain);
        inner - length - 1
    } else {
        inner
    };
    let usage = model.usage(node);
    let memory = if inner >= MIN_MEMORY_WIDTH {
        inner / 3
    } else {
        0
    };
    let words = format!(
        "{}/{}",
        percent(usage.allocated, node.cpu),
        percent(usage.needed, node.cpu)
    );
    let parts = (usage.allocated / node.cpu, usage.needed / node.cpu);
    canvas.bar(x, y, inner - memory, parts, &words);
    let part = usage.memory / node.memory;
    let words = percent(usage.memory, node.memory);
    canvas.bar(x + inner - memory, y, memory, (part, part), &words);
}
