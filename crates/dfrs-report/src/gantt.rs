//! What runs when and where.

use std::ops::Range;

use crate::axis::{Axis, FittedAxis};
use crate::svg::{COLOURS, Drawing, width_of};
use crate::text::escape;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 420.0;
const TOP: f64 = 34.0;
const LEFT: f64 = 76.0;
const BOTTOM: f64 = 52.0;
/// The least height of a bar that has its name in it.
const NAMED: f64 = 13.0;

/// A task that has rows, or parts of them, for a time.
#[derive(Clone, Debug, PartialEq)]
pub struct GanttBar {
    /// The task's name, shown where there is room, and when pointed at.
    pub name: String,
    /// What has the same number has the same colour.
    pub colour: usize,
    /// From when until when.
    pub time: Range<f64>,
    /// Which rows; ranges that do not touch.
    pub rows: Vec<Range<f64>>,
}

/// Bars over time, with a row for each processor or node.
#[derive(Clone, Debug, PartialEq)]
pub struct Gantt {
    /// What it shows.
    pub title: String,
    /// What a row is: `processor`, `node`.
    pub row: &'static str,
    /// Number of rows.
    pub rows: u32,
    /// What is drawn.
    pub bars: Vec<GanttBar>,
}

impl Gantt {
    /// The chart as SVG: a file of its own, or a part of a page. O(ranges of rows).
    pub fn to_svg(&self) -> String {
        let ends = self
            .bars
            .iter()
            .flat_map(|bar| [bar.time.start, bar.time.end]);
        let time = FittedAxis::new(&Axis::linear("time"), ends.chain([0.0]));
        let (right, bottom) = (WIDTH - 16.0, HEIGHT - BOTTOM);
        let x = |value: f64| LEFT + time.at(value) * (right - LEFT);
        let row = (bottom - TOP) / f64::from(self.rows.max(1));
        let y = |place: f64| TOP + row * place;
        let mut drawing = Drawing::new();
        let bold = r#" font-size="14" font-weight="bold""#;
        drawing.text((LEFT, 20.0), "start", bold, &self.title);
        for (value, name) in &time.ticks {
            let ends = ((x(*value), TOP), (x(*value), bottom));
            drawing.line(ends.0, ends.1, r##"stroke="#ececec""##);
            drawing.text((x(*value), bottom + 18.0), "middle", "", name);
        }
        for bar in &self.bars {
            let (from, to) = (x(bar.time.start), x(bar.time.end));
            let name = escape(&bar.name);
            drawing.raw(&format!("<g><title>{name}</title>"));
            for rows in &bar.rows {
                let (top, end) = (y(rows.start), y(rows.end));
                drawing.raw(&format!(
                    r##"<rect x="{from:.2}" y="{top:.2}" width="{:.2}" height="{:.2}" fill="{}" fill-opacity="0.55" stroke="#222" stroke-width="0.4"/>"##,
                    to - from,
                    end - top,
                    // Black hides the names.
                    COLOURS[1 + bar.colour % (COLOURS.len() - 1)],
                ));
                if end - top >= NAMED && to - from >= width_of(&bar.name) {
                    let middle = ((from + to) / 2.0, (top + end) / 2.0 + 4.0);
                    drawing.text(middle, "middle", "", &bar.name);
                }
            }
            drawing.raw("</g>");
        }
        drawing.line((LEFT, bottom), (right, bottom), r##"stroke="#222""##);
        drawing.line((LEFT, TOP), (LEFT, bottom), r##"stroke="#222""##);
        drawing.text((LEFT - 7.0, TOP + 10.0), "end", "", "0");
        let last = self.rows.saturating_sub(1).to_string();
        drawing.text((LEFT - 7.0, bottom), "end", "", &last);
        drawing.text(((LEFT + right) / 2.0, bottom + 40.0), "middle", "", "time");
        let middle = (TOP + bottom) / 2.0;
        let turned = format!(r#" transform="rotate(-90 18 {middle:.1})""#);
        drawing.text((18.0, middle), "middle", &turned, self.row);
        drawing.finish(WIDTH, HEIGHT, &self.title)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_at_their_times_and_names_are_escaped() {
        let gantt = Gantt {
            title: "a < b".into(),
            row: "processor",
            rows: 4,
            bars: vec![GanttBar {
                name: "<x>".into(),
                colour: 0,
                time: 0.0..10.0,
                rows: vec![0.0..1.0, 2.0..4.0],
            }],
        };
        let svg = gantt.to_svg();
        assert_eq!(svg.matches("<rect x=").count(), 2, "{svg}");
        assert!(svg.contains("&lt;x&gt;") && !svg.contains("<x>") && !svg.contains("a < b"));
        let height = (HEIGHT - BOTTOM - TOP) / 4.0;
        assert!(svg.contains(&format!(r#"height="{height:.2}""#)));
        let nothing = Gantt {
            bars: vec![],
            rows: 0,
            ..gantt
        };
        assert!(!nothing.to_svg().contains("NaN"));
    }
}
