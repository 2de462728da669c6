//! Charts over two axes.

use std::fmt::Write;

use crate::axis::{Axis, FittedAxis};
use crate::number::significant;
use crate::svg::{COLOURS, Drawing, marker, width_of};
use crate::text::escape;

/// Width of a chart with its legend, in pixels.
const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 400.0;
/// What the title, the axes and their names need.
const TOP: f64 = 34.0;
const LEFT: f64 = 76.0;
const BOTTOM: f64 = 52.0;
/// Between two lines of the legend.
const LEGEND_STEP: f64 = 20.0;
/// Length of the sample of a line in the legend.
const SAMPLE: f64 = 28.0;

/// How a series is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Points joined by straight lines, each with a marker.
    #[default]
    Marked,
    /// Points joined by straight lines.
    Line,
    /// Each value holds until the next point.
    Steps,
    /// As steps, filled down to 0 (or the low end of a logarithmic axis).
    Area,
    /// Markers only.
    Points,
    /// A horizontal line over the whole chart at the value of the first point.
    Level,
}

/// Points with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Points (x, y) with ascending x. One that an axis cannot show breaks the line. A series
    /// without points is not in the legend; it only keeps its colour from others.
    pub points: Vec<(f64, f64)>,
    /// How they are drawn.
    pub style: Style,
    /// Whether the line is dashed.
    pub dashed: bool,
    /// Whether the line is thick.
    pub bold: bool,
}

impl Series {
    /// Points joined by lines, with markers.
    pub fn new(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.into(),
            points,
            style: Style::Marked,
            dashed: false,
            bold: false,
        }
    }

    /// A horizontal line.
    pub fn level(name: &str, value: f64) -> Self {
        Self {
            style: Style::Level,
            ..Self::new(name, vec![(f64::NAN, value)])
        }
    }

    /// Draws it in another way.
    #[must_use]
    pub fn styled(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// Dashes its line.
    #[must_use]
    pub fn dashed(mut self) -> Self {
        self.dashed = true;
        self
    }

    /// Thickens its line: this is the one to look at.
    #[must_use]
    pub fn bold(mut self) -> Self {
        self.bold = true;
        self
    }
}

/// A chart. Series differ in colour and marker, so that it can be read without colours too.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, the first at the bottom.
    pub series: Vec<Series>,
}

/// Where the plot itself is in the drawing.
struct PlotArea {
    x: FittedAxis,
    y: FittedAxis,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl PlotArea {
    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (
            self.left + self.x.at(x) * (self.right - self.left),
            self.bottom - self.y.at(y) * (self.bottom - self.top),
        )
    }
}

impl Chart {
    /// A chart without series.
    pub fn new(title: &str, x: Axis, y: Axis) -> Self {
        Self {
            title: title.into(),
            x,
            y,
            series: Vec::new(),
        }
    }

    /// Adds a series.
    #[must_use]
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// The chart as SVG: a file of its own, or a part of a page. O(points).
    pub fn to_svg(&self) -> String {
        let longest = self.series.iter().map(|series| width_of(&series.name));
        let legend = SAMPLE + 14.0 + longest.fold(0.0, f64::max);
        let has_legend = self.series.len() > 1;
        let frame = PlotArea {
            x: FittedAxis::new(&self.x, self.values(|(x, _)| x)),
            y: FittedAxis::new(&self.y, self.values(|(_, y)| y)),
            left: LEFT,
            right: WIDTH
                - 16.0
                - if has_legend {
                    legend.min(WIDTH / 2.0)
                } else {
                    0.0
                },
            top: TOP,
            bottom: HEIGHT - BOTTOM,
        };
        let mut drawing = Drawing::new();
        drawing.text(
            (LEFT, 20.0),
            "start",
            r#" font-size="14" font-weight="bold""#,
            &self.title,
        );
        self.draw_axes(&mut drawing, &frame);
        for (place, series) in self.series.iter().enumerate() {
            drawing.raw("<g>");
            draw(&mut drawing, &frame, series, place, self);
            drawing.raw("</g>");
        }
        if has_legend {
            self.draw_legend(&mut drawing, frame.right + 14.0);
        }
        let legend_height = TOP + LEGEND_STEP * (count(self.series.len()) + 0.5);
        drawing.finish(WIDTH, HEIGHT.max(legend_height), &self.title)
    }

    fn values<'a>(
        &'a self,
        part: impl Fn((f64, f64)) -> f64 + 'a,
    ) -> impl Iterator<Item = f64> + 'a {
        let all = self.series.iter().flat_map(|series| &series.points);
        all.map(move |point| part(*point))
    }

    fn draw_axes(&self, drawing: &mut Drawing, frame: &PlotArea) {
        let (left, right, top, bottom) = (frame.left, frame.right, frame.top, frame.bottom);
        for value in &frame.y.minor {
            let y = bottom - frame.y.at(*value) * (bottom - top);
            drawing.line((left, y), (right, y), r##"stroke="#f2f2f2""##);
        }
        for (value, name) in &frame.y.ticks {
            let y = bottom - frame.y.at(*value) * (bottom - top);
            drawing.line((left, y), (right, y), r##"stroke="#dcdcdc""##);
            drawing.text((left - 7.0, y + 4.0), "end", "", name);
        }
        for (value, name) in &frame.x.ticks {
            let x = left + frame.x.at(*value) * (right - left);
            drawing.line((x, top), (x, bottom), r##"stroke="#ececec""##);
            drawing.line((x, bottom), (x, bottom + 4.0), r##"stroke="#222""##);
            drawing.text((x, bottom + 18.0), "middle", "", name);
        }
        for value in &frame.x.minor {
            let x = left + frame.x.at(*value) * (right - left);
            drawing.line((x, bottom), (x, bottom + 3.0), r##"stroke="#222""##);
        }
        drawing.line((left, bottom), (right, bottom), r##"stroke="#222""##);
        drawing.line((left, top), (left, bottom), r##"stroke="#222""##);
        drawing.text(
            ((left + right) / 2.0, bottom + 40.0),
            "middle",
            "",
            &self.x.label,
        );
        let middle = (top + bottom) / 2.0;
        let turned = format!(r#" transform="rotate(-90 18 {middle:.1})""#);
        drawing.text((18.0, middle), "middle", &turned, &self.y.label);
    }

    fn draw_legend(&self, drawing: &mut Drawing, left: f64) {
        let named = self.series.iter().enumerate();
        let named = named.filter(|(_, series)| !series.points.is_empty());
        for (line, (place, series)) in named.enumerate() {
            let y = TOP + LEGEND_STEP * (count(line) + 0.5);
            let ends = ((left, y), (left + SAMPLE, y));
            match series.style {
                Style::Points => {}
                Style::Area => drawing.raw(&format!(
                    r#"<rect x="{left:.1}" y="{:.1}" width="{SAMPLE}" height="10" fill="{}" fill-opacity="0.35"/>"#,
                    y - 5.0,
                    colour(place)
                )),
                _ => drawing.line(ends.0, ends.1, &stroke(series, place)),
            }
            if matches!(series.style, Style::Points | Style::Marked) {
                drawing.raw(&marker(place, (left + SAMPLE / 2.0, y), colour(place)));
            }
            drawing.text((left + SAMPLE + 8.0, y + 4.0), "start", "", &series.name);
        }
    }
}

/// Draws one series.
fn draw(drawing: &mut Drawing, frame: &PlotArea, series: &Series, place: usize, chart: &Chart) {
    if let (Style::Level, Some((_, value))) = (series.style, series.points.first()) {
        if chart.y.shows(*value) {
            let y = frame.bottom - frame.y.at(*value) * (frame.bottom - frame.top);
            drawing.line((frame.left, y), (frame.right, y), &stroke(series, place));
        }
        return;
    }
    let shown = |point: &(f64, f64)| chart.x.shows(point.0) && chart.y.shows(point.1);
    for unbroken in series
        .points
        .split(|point| !shown(point))
        .filter(|part| !part.is_empty())
    {
        let line = path(
            frame,
            unbroken,
            matches!(series.style, Style::Steps | Style::Area),
        );
        if series.style == Style::Area {
            let floor = frame.place((0.0_f64.max(unbroken[0].0), frame.y.floor())).1;
            let first = frame.place(unbroken[0]).0;
            let last = frame.place(unbroken[unbroken.len() - 1]).0;
            drawing.raw(&format!(
                r#"<path d="M{first:.1},{floor:.1}L{}L{last:.1},{floor:.1}Z" fill="{}" fill-opacity="0.35"/>"#,
                &line[1..],
                colour(place)
            ));
        } else if series.style != Style::Points {
            drawing.raw(&format!(
                r#"<path d="{line}" fill="none" {}/>"#,
                stroke(series, place)
            ));
        }
    }
    if matches!(series.style, Style::Points | Style::Marked) {
        for point in series.points.iter().filter(|point| shown(point)) {
            let (x, y) = (significant(point.0, 3), significant(point.1, 4));
            let element = marker(place, frame.place(*point), colour(place));
            let name = escape(&series.name);
            drawing.raw(&format!("<g><title>{name}: {x}, {y}</title>{element}</g>"));
        }
    }
}

/// The path through the points; those of a curve that fall on the same place are taken as one.
fn path(frame: &PlotArea, points: &[(f64, f64)], steps: bool) -> String {
    let mut path = String::new();
    let mut last = String::new();
    let mut height = 0.0;
    for point in points {
        let (x, y) = frame.place(*point);
        let next = format!("{x:.1},{y:.1}");
        if path.is_empty() {
            path = format!("M{next}");
        } else if next != last {
            if steps {
                let _ = write!(path, "L{x:.1},{height:.1}"); // a String takes all
            }
            let _ = write!(path, "L{next}");
        }
        (last, height) = (next, y);
    }
    path
}

fn colour(place: usize) -> &'static str {
    COLOURS[place % COLOURS.len()]
}

fn stroke(series: &Series, place: usize) -> String {
    // Colours come back after the last one; then dots distinguish two lines.
    let dashes = if series.dashed || series.style == Style::Level {
        r#" stroke-dasharray="6 4""#
    } else if place >= COLOURS.len() && !series.bold {
        r#" stroke-dasharray="2 2""#
    } else {
        ""
    };
    format!(
        r#"stroke="{}" stroke-width="{}" stroke-linejoin="round"{dashes}"#,
        colour(place),
        if series.bold { 3.2 } else { 1.6 }
    )
}

// Precise enough: a few series.
fn count(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<(f64, f64)>, style: Style) -> Chart {
        Chart::new("a < b", Axis::linear("load"), Axis::log("stretch"))
            .with(Series::new("one", points).styled(style))
            .with(Series::level("two", 10.0))
    }

    #[test]
    fn points_are_drawn_at_their_axis_positions() {
        let svg = chart(vec![(0.0, 1.0), (1.0, 100.0)], Style::Marked).to_svg();
        let (left, top, bottom) = (LEFT, TOP, HEIGHT - BOTTOM);
        assert!(
            svg.contains(&format!(r#"<circle cx="{left:.1}" cy="{bottom:.1}""#)),
            "{svg}"
        );
        assert!(svg.contains(&format!("{top:.1}\" fill=\"none\"")), "{svg}");
        assert!(
            svg.contains(&format!(r#"y1="{:.1}" x2="#, (top + bottom) / 2.0)),
            "{svg}"
        );
        assert!(svg.contains("<title>one: 1.00, 100.0</title>"), "{svg}");
    }

    #[test]
    fn text_is_escaped_and_numbers_are_numbers() {
        for style in [
            Style::Marked,
            Style::Line,
            Style::Steps,
            Style::Area,
            Style::Points,
            Style::Level,
        ] {
            for points in [
                vec![],
                vec![(0.5, 2.0)],
                vec![
                    (0.0, 1.0),
                    (f64::NAN, 2.0),
                    (1.0, 0.0),
                    (2.0, f64::INFINITY),
                    (3.0, 7.0),
                ],
            ] {
                let svg = chart(points, style).to_svg();
                assert!(svg.contains("a &lt; b") && !svg.contains("a < b"));
                assert!(
                    !svg.contains("NaN") && !svg.contains("inf"),
                    "{style:?}: {svg}"
                );
                assert_eq!(svg.matches("<g>").count(), svg.matches("</g>").count());
            }
        }
    }

    #[test]
    fn a_point_that_cannot_be_shown_breaks_the_line() {
        let whole = chart(vec![(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)], Style::Line).to_svg();
        let broken = chart(vec![(0.0, 1.0), (1.0, 0.0), (2.0, 3.0)], Style::Line).to_svg();
        assert_eq!(whole.matches("<path").count(), 1);
        assert_eq!(broken.matches("<path").count(), 2);
    }

    #[test]
    fn steps_hold_their_value() {
        let svg = chart(vec![(0.0, 1.0), (1.0, 100.0)], Style::Steps).to_svg();
        let path = svg.split("d=\"").nth(1).unwrap().split('"').next().unwrap();
        assert_eq!(path.matches('L').count(), 2, "{path}");
        assert!(path.ends_with(&format!(",{TOP:.1}")), "{path}");
    }
}
