//! A buffer in which nothing is drawn outside, and the looks of things with and without colours.

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};

use crate::top::words::times;

/// What a text is, which decides how it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextStyle {
    Plain,
    Strong,
    Quiet,
    /// A bar of keys or of titles, and the selected line.
    Chosen,
    /// The title that it is sorted by.
    Sorted,
    Good,
    Waiting,
    Paused,
    Warning,
}

impl TextStyle {
    fn style(self, colours: bool) -> Style {
        let plain = Style::new();
        let coloured = |colour| match colours {
            true => plain.fg(colour),
            false => plain,
        };
        match self {
            Self::Plain => plain,
            Self::Strong => plain.add_modifier(Modifier::BOLD),
            Self::Quiet => coloured(Color::DarkGray),
            Self::Chosen => plain.add_modifier(Modifier::REVERSED),
            Self::Sorted => plain.add_modifier(Modifier::REVERSED | Modifier::BOLD),
            Self::Good => coloured(Color::Green),
            Self::Waiting => coloured(Color::Cyan),
            Self::Paused => coloured(Color::Yellow),
            Self::Warning => coloured(Color::Red).add_modifier(Modifier::BOLD),
        }
    }
}

pub struct Canvas<'a> {
    buffer: &'a mut Buffer,
    colours: bool,
}

impl<'a> Canvas<'a> {
    pub fn new(buffer: &'a mut Buffer, colours: bool) -> Self {
        Self { buffer, colours }
    }

    /// Width and height.
    pub fn size(&self) -> (u16, u16) {
        (self.buffer.area.width, self.buffer.area.height)
    }

    /// Text of at most this width; the rest of it is made empty in the same look.
    pub fn text(&mut self, x: u16, y: u16, width: u16, text: &str, look: TextStyle) {
        let width = width.min(self.size().0.saturating_sub(x));
        if width == 0 || y >= self.size().1 {
            return;
        }
        let style = look.style(self.colours);
        let (left, top) = (self.buffer.area.x + x, self.buffer.area.y + y);
        let blank = " ".repeat(usize::from(width));
        self.buffer
            .set_stringn(left, top, blank, width.into(), style);
        self.buffer
            .set_stringn(left, top, text, width.into(), style);
    }

    /// Text as wide as it is; where the next one may begin.
    pub fn put(&mut self, x: u16, y: u16, text: &str, look: TextStyle) -> u16 {
        let width = u16::try_from(text.chars().count()).unwrap_or(u16::MAX);
        self.text(x, y, width, text, look);
        x.saturating_add(width)
    }

    /// Text that ends at the right side of its room.
    pub fn right(&mut self, x: u16, y: u16, width: u16, text: &str, look: TextStyle) {
        let room = usize::from(width);
        self.text(x, y, width, &format!("{text:>room$}"), look);
    }

    /// A bar in brackets: `|` for the first part, `:` up to the second, each 0 to 1, and words at its end.
    pub fn bar(&mut self, x: u16, y: u16, width: u16, parts: (f64, f64), words: &str) {
        let Some(room) = width.checked_sub(2).filter(|room| *room > 0) else {
            return;
        };
        let cells = usize::from(room);
        let (first, second) = (times(parts.0, cells), times(parts.1, cells));
        let words: String = words.chars().take(cells).collect();
        let blank = cells - words.chars().count();
        let drawn = (0..blank).map(|place| match place {
            _ if place < first => '|',
            _ if place < second => ':',
            _ => ' ',
        });
        let drawn: String = drawn.collect();
        let solid = u16::try_from(first.min(blank)).unwrap_or(room);
        self.put(x, y, "[", TextStyle::Strong);
        self.put(x + 1, y, &drawn, TextStyle::Paused);
        self.put(x + 1, y, &"|".repeat(solid.into()), TextStyle::Good);
        let at = u16::try_from(blank).unwrap_or(room);
        self.put(x + 1 + at, y, &words, TextStyle::Plain);
        self.put(x + 1 + room, y, "]", TextStyle::Strong);
    }
}
