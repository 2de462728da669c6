//! The pieces that all drawings share.

use std::fmt::Write;

use crate::text::escape;

/// Colours that are distinct for people with any colour vision (Okabe and Ito), darkest first.
pub(crate) const COLOURS: [&str; 8] = [
    "#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#777777",
];

/// Width of text of the size that drawings use, in pixels; an estimate that rather is too wide.
pub(crate) fn width_of(text: &str) -> f64 {
    // Wide enough for capitals and digits in the fonts that browsers take for sans-serif.
    // Precise enough: short.
    let characters = text.chars().count() as f64;
    characters * 7.2
}

/// A drawing under construction.
pub(crate) struct Drawing {
    body: String,
}

impl Drawing {
    pub fn new() -> Self {
        Self {
            body: String::new(),
        }
    }

    /// Adds an element whose text is written by this crate, not by others.
    pub fn raw(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }

    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: &str) {
        let _ = writeln!(
            self.body,
            r#"<line x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}" {stroke}/>"#,
            from.0, from.1, to.0, to.1
        ); // a String takes all
    }

    /// Text; `anchor` is `start`, `middle` or `end`.
    pub fn text(&mut self, at: (f64, f64), anchor: &str, more: &str, text: &str) {
        let _ = writeln!(
            self.body,
            r#"<text x="{:.1}" y="{:.1}" text-anchor="{anchor}"{more}>{}</text>"#,
            at.0,
            at.1,
            escape(text)
        ); // a String takes all
    }

    /// The whole drawing, for a file or for the inside of a page.
    pub fn finish(self, width: f64, height: f64, title: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             height=\"{height:.0}\" role=\"img\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" \
             font-size=\"12\" fill=\"#222\">\n<title>{}</title>\n\
             <rect width=\"{width:.0}\" height=\"{height:.0}\" fill=\"#fff\"/>\n{}</svg>\n",
            escape(title),
            self.body
        )
    }
}

/// The element for a marker: which of six shapes, where, in which colour.
pub(crate) fn marker(shape: usize, (x, y): (f64, f64), colour: &str) -> String {
    let polygon = |corners: &[(f64, f64)]| {
        let corners: Vec<String> = corners
            .iter()
            .map(|(dx, dy)| format!("{:.1},{:.1}", x + dx, y + dy))
            .collect();
        format!(
            r#"<polygon points="{}" fill="{colour}"/>"#,
            corners.join(" ")
        )
    };
    match shape % 6 {
        0 => format!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="3.2" fill="{colour}"/>"#),
        1 => polygon(&[(-3.0, -3.0), (3.0, -3.0), (3.0, 3.0), (-3.0, 3.0)]),
        2 => polygon(&[(0.0, -4.2), (3.9, 3.0), (-3.9, 3.0)]),
        3 => polygon(&[(0.0, -4.4), (4.4, 0.0), (0.0, 4.4), (-4.4, 0.0)]),
        4 => polygon(&[(0.0, 4.2), (3.9, -3.0), (-3.9, -3.0)]),
        _ => format!(
            r##"<circle cx="{x:.1}" cy="{y:.1}" r="3.2" fill="#fff" stroke="{colour}" stroke-width="1.6"/>"##
        ),
    }
}
