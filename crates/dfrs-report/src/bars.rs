//! Horizontal bars.

use crate::axis::{Axis, FittedAxis};
use crate::number::{decimals, significant};
use crate::svg::{COLOURS, Drawing, width_of};

/// Width of the drawing, in pixels, unless set otherwise.
const WIDTH: f64 = 900.0;
const TOP: f64 = 34.0;
/// Between two rows of the legend.
const LEGEND_STEP: f64 = 24.0;
const BAR: f64 = 15.0;
const GAP: f64 = 10.0;

/// Bars in groups, for example one group a policy and one bar in it a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// What it shows.
    pub title: String,
    /// What the lengths are. Bars begin at 0, or at the low end of a logarithmic axis.
    pub axis: Axis,
    /// Names of the groups, from top to bottom.
    pub groups: Vec<String>,
    /// Each with a name and a value for each group; a group without one has no bar.
    pub series: Vec<(String, Vec<Option<f64>>)>,
    /// Of the drawing, in pixels.
    pub width: f64,
}

impl Bars {
    /// Groups without bars.
    pub fn new(title: &str, axis: Axis, groups: Vec<String>) -> Self {
        Self {
            title: title.into(),
            axis,
            groups,
            series: Vec::new(),
            width: WIDTH,
        }
    }

    /// Makes the drawing so many pixels wide.
    #[must_use]
    pub fn wide(mut self, width: f64) -> Self {
        self.width = width;
        self
    }

    /// Adds a bar to every group.
    #[must_use]
    pub fn with(mut self, name: &str, values: Vec<Option<f64>>) -> Self {
        self.series.push((name.into(), values));
        self
    }

    /// The bars as SVG: a file of its own, or a part of a page.
    pub fn to_svg(&self) -> String {
        let names = self.groups.iter().map(|name| width_of(name));
        let left = (names.fold(40.0, f64::max) + 16.0).min(self.width / 2.0);
        let right = self.width - 90.0;
        let legend = self.legend(left);
        let group = BAR * count(self.series.len().max(1)) + GAP;
        let rows = legend.last().map_or(0, |(_, row)| row + 1);
        let top = TOP + LEGEND_STEP * count(rows);
        let bottom = top + group * count(self.groups.len()) + GAP / 2.0;
        let zero = (self.axis.scale == crate::Scale::Linear).then_some(0.0);
        let values = self
            .series
            .iter()
            .flat_map(|(_, values)| values.iter().flatten().copied());
        let placed = FittedAxis::new(&self.axis, values.clone().chain(zero));
        let at = |value: f64| left + placed.at(value) * (right - left);

        let has_parts = values.clone().any(|value| value.fract() != 0.0);
        let text_of = |value: f64| match has_parts {
            true => significant(value, 3),
            false => decimals(value, 0), // numbers of something
        };

        let mut drawing = Drawing::new();
        drawing.text(
            (16.0, 20.0),
            "start",
            r#" font-size="14" font-weight="bold""#,
            &self.title,
        );
        for (value, name) in &placed.ticks {
            drawing.line(
                (at(*value), top),
                (at(*value), bottom),
                r##"stroke="#dcdcdc""##,
            );
            drawing.text((at(*value), bottom + 18.0), "middle", "", name);
        }
        drawing.text(
            ((left + right) / 2.0, bottom + 38.0),
            "middle",
            "",
            &self.axis.label,
        );
        self.draw_legend(&mut drawing, &legend);
        for (row, name) in self.groups.iter().enumerate() {
            let head = top + GAP / 2.0 + group * count(row);
            drawing.text(
                (left - 8.0, head + (group - GAP) / 2.0 + 4.0),
                "end",
                "",
                name,
            );
            for (place, (_, values)) in self.series.iter().enumerate() {
                let shown = values.get(row).copied().flatten();
                let Some(value) = shown.filter(|value| self.axis.shows(*value)) else {
                    continue;
                };
                let y = head + BAR * count(place);
                let ends = (at(placed.floor()), at(value));
                drawing.raw(&format!(
                    r#"<rect x="{:.1}" y="{y:.1}" width="{:.1}" height="{:.1}" fill="{}"/>"#,
                    ends.0.min(ends.1),
                    (ends.1 - ends.0).abs().max(0.5),
                    BAR - 2.0,
                    colour(place)
                ));
                let at_end = (ends.0.max(ends.1) + 5.0, y + BAR - 4.0);
                drawing.text(at_end, "start", r#" font-size="11""#, &text_of(value));
            }
        }
        drawing.line(
            (at(placed.floor()), top),
            (at(placed.floor()), bottom),
            r##"stroke="#222""##,
        );
        drawing.finish(self.width, bottom + 50.0, &self.title)
    }

    /// Where the name of each series stands, and in which row: as many as the width requires.
    fn legend(&self, left: f64) -> Vec<(f64, usize)> {
        if self.series.len() < 2 {
            return Vec::new();
        }
        let widths = self.series.iter().map(|(name, _)| 40.0 + width_of(name));
        let needed: f64 = widths.clone().sum();
        let (mut x, mut row) = (left.min(self.width - needed).max(16.0), 0);
        let place = |width: f64| {
            if x + width > self.width && x > 16.0 {
                (x, row) = (16.0, row + 1);
            }
            let found = (x, row);
            x += width;
            found
        };
        widths.map(place).collect()
    }

    fn draw_legend(&self, drawing: &mut Drawing, legend: &[(f64, usize)]) {
        let series = self.series.iter().zip(legend).enumerate();
        for (place, ((name, _), (x, row))) in series {
            let (square, y) = (colour(place), TOP + LEGEND_STEP * count(*row));
            drawing.raw(&format!(
                r#"<rect x="{x:.1}" y="{y:.1}" width="12" height="12" fill="{square}"/>"#,
            ));
            drawing.text((x + 18.0, y + 10.0), "start", "", name);
        }
    }
}

/// Black bars hide the rest: begin with the second colour.
fn colour(place: usize) -> &'static str {
    COLOURS[(place + 1) % COLOURS.len()]
}

// Precise enough: a few bars.
fn count(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_values() {
        let bars = Bars::new("t", Axis::linear("GB/s"), vec!["a".into(), "<b>".into()])
            .with("x", vec![Some(1.0), Some(2.0)]);
        let svg = bars.to_svg();
        let widths: Vec<f64> = svg
            .split("width=\"")
            .skip(3) // the drawing and its background
            .filter_map(|rest| rest.split('"').next()?.parse().ok())
            .collect();
        assert_eq!(widths.len(), 2, "{svg}");
        assert!((widths[1] / widths[0] - 2.0).abs() < 0.01, "{widths:?}");
        assert!(svg.contains("&lt;b&gt;") && !svg.contains("<b>"));
    }

    #[test]
    fn names_that_the_width_does_not_hold_are_in_a_row_below() {
        let long = "a name of forty characters, or a few more of them";
        let axis = Axis::linear("jobs");
        let mut bars = Bars::new("t", axis, vec!["a".into()]);
        for _ in 0..4 {
            bars = bars.with(long, vec![Some(1.0)]);
        }
        let places = bars.legend(100.0);
        let fits = |place: &(f64, usize)| place.0 + width_of(long) < bars.width;
        assert!(places.iter().all(fits), "{places:?}");
        assert!(places.last().is_some_and(|(_, row)| *row > 0));
    }

    #[test]
    fn numbers_of_something_have_no_decimals() {
        let bars = |values: Vec<Option<f64>>| {
            let groups = vec!["a".into(), "b".into()];
            Bars::new("t", Axis::linear("jobs").with_ticks(vec![]), groups).with("x", values)
        };
        let svg = bars(vec![Some(88.0), Some(1.0)]).to_svg();
        assert!(svg.contains(">88<") && svg.contains(">1<"), "{svg}");
        let svg = bars(vec![Some(88.0), Some(0.5)]).to_svg();
        assert!(svg.contains(">88.0<") && svg.contains(">0.500<"), "{svg}");
    }

    #[test]
    fn missing_values_have_no_bar() {
        let bars = Bars::new("t", Axis::log("s"), vec!["a".into(), "b".into()])
            .with("x", vec![Some(0.0), None])
            .with("y", vec![Some(10.0)]);
        let svg = bars.to_svg();
        assert!(!svg.contains("NaN"), "{svg}");
        // The background, two squares of the legend, one bar.
        assert_eq!(svg.matches("<rect").count(), 4, "{svg}");
    }
}
