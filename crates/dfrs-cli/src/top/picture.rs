//! A frame as a picture, for pages and reports: what a terminal with colours shows.

use std::fmt::Write;

use dfrs_report::escape;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

/// Of a character of 14 pixels, in pixels.
const WIDTH: f64 = 8.43;
const HEIGHT: f64 = 17.0;
const MARGIN: f64 = 8.0;
const PAPER: &str = "#1e1e1e";
const INK: &str = "#d4d4d4";

/// As SVG.
pub fn svg(buffer: &Buffer) -> String {
    let (columns, rows) = (f64::from(buffer.area.width), f64::from(buffer.area.height));
    let (width, height) = (2.0 * MARGIN + columns * WIDTH, 2.0 * MARGIN + rows * HEIGHT);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" role=\"img\" font-family=\"'DejaVu Sans Mono', Menlo, Consolas, monospace\" \
         font-size=\"14\" xml:space=\"preserve\">\n<title>dfrs top</title>\n\
         <rect width=\"{width:.0}\" height=\"{height:.0}\" fill=\"{PAPER}\"/>\n"
    );
    let lines = buffer.content().chunks(buffer.area.width.max(1).into());
    let mut top = MARGIN;
    for line in lines {
        let mut left = MARGIN;
        for run in line.chunk_by(|one, other| look(one) == look(other)) {
            let count: f64 = run.iter().map(|_| 1.0).sum();
            let text: String = run.iter().map(Cell::symbol).collect();
            run_of_text(&mut svg, (left, top), count * WIDTH, &text, &look(&run[0]));
            left += count * WIDTH;
        }
        top += HEIGHT;
    }
    svg + "</svg>\n"
}

/// Ink, paper if it is not that of all, and whether it is bold.
type Look = (&'static str, Option<&'static str>, bool);

fn look(cell: &Cell) -> Look {
    let ink = match cell.fg {
        Color::DarkGray => "#808080",
        Color::Green => "#6ac46a",
        Color::Cyan => "#56b4e9",
        Color::Yellow => "#e6c14a",
        Color::Red => "#f0705a",
        _ => INK,
    };
    let bold = cell.modifier.contains(Modifier::BOLD);
    if cell.modifier.contains(Modifier::REVERSED) {
        (PAPER, Some(ink), bold)
    } else {
        (ink, None, bold)
    }
}

/// Nothing of what cannot be seen.
fn run_of_text(svg: &mut String, (x, y): (f64, f64), width: f64, text: &str, look: &Look) {
    let (ink, paper, bold) = look;
    if let Some(paper) = paper {
        // A String takes all.
        let _ = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{HEIGHT}\" fill=\"{paper}\"/>"
        );
    }
    if text.trim().is_empty() {
        return;
    }
    let weight = if *bold { " font-weight=\"bold\"" } else { "" };
    // As wide as it has to be, whatever the font is: columns stay columns.
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{:.1}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" \
         fill=\"{ink}\"{weight}>{}</text>",
        y + 13.0,
        escape(text).replace(' ', "\u{a0}")
    );
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    #[test]
    fn colours_and_bars_are_there_and_blanks_are_not() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 10, 2));
        buffer.set_string(0, 0, "a<b", Style::new().fg(Color::Green));
        buffer.set_string(0, 1, "bar", Style::new().add_modifier(Modifier::REVERSED));
        let svg = svg(&buffer);
        assert!(svg.contains("fill=\"#6ac46a\">a&lt;b</text>"), "{svg}");
        assert_eq!(svg.matches("<text").count(), 2, "{svg}");
        // The whole, and the reversed bar.
        assert_eq!(svg.matches("<rect").count(), 2, "{svg}");
    }
}
