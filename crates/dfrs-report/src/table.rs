//! Tables, and a published value beside a reproduced one.

use std::fmt::Write;

use crate::number::decimals;
use crate::text::inline;

/// How near a reproduced value is to the published one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// Within a tenth.
    Near,
    /// Within a factor of 2.
    Off,
    /// Further away.
    Far,
}

impl Agreement {
    /// How near the two are.
    pub fn of(published: f64, reproduced: f64) -> Self {
        let ratio = reproduced / published;
        if published == reproduced || (0.9..=1.1).contains(&ratio) {
            Self::Near
        } else if (0.5..=2.0).contains(&ratio) {
            Self::Off
        } else {
            Self::Far
        }
    }
}

/// One cell of a table. What stands between backticks is set as code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    text: String,
    class: &'static str,
}

impl Cell {
    /// Words, set to the left.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            class: "words",
        }
    }

    /// A number, set to the right.
    pub fn number(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            class: "number",
        }
    }

    /// The cell with this text behind its own.
    #[must_use]
    pub fn followed_by(mut self, text: &str) -> Self {
        self.text += text;
        self
    }

    /// A difference, marked by how large it is.
    pub fn marked(text: impl Into<String>, close: Agreement) -> Self {
        Self {
            text: text.into(),
            class: match close {
                Agreement::Near => "number near",
                Agreement::Off => "number off",
                Agreement::Far => "number far",
            },
        }
    }
}

/// A published value, the reproduced one, and what lies between them: in percent within a factor of
/// 2, as a factor beyond. `show` formats both.
///
/// ```
/// use dfrs_report::{Table, compared, decimals};
/// let mut table = Table::new("Underutilization", &["policy", "published", "reproduced", "difference"]);
/// let cells = compared(Some(0.349), 0.351, |value| decimals(value, 3));
/// table.row([dfrs_report::Cell::text("EASY")].into_iter().chain(cells));
/// assert!(table.to_html().contains("+0.6%"));
/// ```
pub fn compared(
    published: Option<f64>,
    reproduced: f64,
    show: impl Fn(f64) -> String,
) -> [Cell; 3] {
    let ours = Cell::number(show(reproduced));
    let Some(published) = published else {
        return [Cell::number("–"), ours, Cell::number("")];
    };
    let close = Agreement::of(published, reproduced);
    let ratio = reproduced / published;
    let difference = if !ratio.is_finite() {
        String::new()
    } else if ratio > 2.0 {
        format!("×{}", decimals(ratio, 1))
    } else if ratio > 0.0 && ratio < 0.5 {
        format!("÷{}", decimals(1.0 / ratio, 1))
    } else {
        let percent = (ratio - 1.0) * 100.0;
        let sign = if percent > 0.0 { "+" } else { "" };
        format!("{sign}{}%", decimals(percent, 1))
    };
    [
        Cell::number(show(published)),
        ours,
        Cell::marked(difference, close),
    ]
}

/// How many characters of a table stand side by side on a page, and how many the gap between
/// columns is.
const PAGE: usize = 130;
const GAP: usize = 2;

/// A table with a caption. Rows that are too short are filled up, cells that are too many are left
/// out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    caption: String,
    groups: Vec<(String, usize)>,
    heads: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table with these columns and no rows.
    pub fn new(caption: &str, heads: &[&str]) -> Self {
        Self {
            caption: caption.into(),
            groups: Vec::new(),
            heads: heads.iter().map(|head| (*head).into()).collect(),
            rows: Vec::new(),
        }
    }

    /// Puts a head over so many further columns, from left to right.
    #[must_use]
    pub fn group(mut self, head: &str, columns: usize) -> Self {
        self.groups.push((head.into(), columns));
        self
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let mut cells: Vec<Cell> = cells.into_iter().collect();
        cells.resize(self.heads.len(), Cell::text(""));
        self.rows.push(cells);
    }

    /// Whether it has to be set small to fit on a page.
    fn is_wide(&self) -> bool {
        let length = |text: &str| text.chars().count();
        let column = |column: usize| {
            let below = self.rows.iter().map(|row| length(&row[column].text));
            GAP + below.fold(length(&self.heads[column]), usize::max)
        };
        (0..self.heads.len()).map(column).sum::<usize>() > PAGE
    }

    /// The table as HTML.
    pub fn to_html(&self) -> String {
        let mut html = format!(
            "<table{}>\n<caption>{}</caption>\n<thead>\n",
            if self.is_wide() {
                " class=\"dense\""
            } else {
                ""
            },
            inline(&self.caption)
        );
        if !self.groups.is_empty() {
            html.push_str("<tr>");
            for (head, columns) in &self.groups {
                let _ = write!(
                    html,
                    "<th colspan=\"{columns}\" class=\"group\">{}</th>",
                    inline(head)
                ); // a String takes all
            }
            html.push_str("</tr>\n");
        }
        html.push_str("<tr>");
        for (column, head) in self.heads.iter().enumerate() {
            // A head is set as the cells below it that are not empty.
            let mut below = self.rows.iter().map(|row| &row[column]);
            let shown = below.clone().find(|cell| !cell.text.is_empty());
            let class = shown
                .or_else(|| below.next())
                .map_or("words", |cell| cell.class);
            let side = class.split(' ').next().unwrap_or_default();
            let _ = write!(html, "<th class=\"{side}\">{}</th>", inline(head)); // a String takes all
        }
        html.push_str("</tr>\n</thead>\n<tbody>\n");
        for row in &self.rows {
            html.push_str("<tr>");
            for cell in row {
                let _ = write!(
                    html,
                    "<td class=\"{}\">{}</td>",
                    cell.class,
                    inline(&cell.text)
                ); // a String takes all
            }
            html.push_str("</tr>\n");
        }
        html + "</tbody>\n</table>\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(published: f64, reproduced: f64) -> Cell {
        let [_, _, cell] = compared(Some(published), reproduced, |value| decimals(value, 1));
        cell
    }

    #[test]
    fn differences_are_percents_then_factors() {
        assert_eq!(
            difference(100.0, 104.0),
            Cell::marked("+4.0%", Agreement::Near)
        );
        assert_eq!(
            difference(100.0, 85.0),
            Cell::marked("−15.0%", Agreement::Off)
        );
        assert_eq!(
            difference(100.0, 1634.0),
            Cell::marked("×16.3", Agreement::Far)
        );
        assert_eq!(
            difference(100.0, 10.0),
            Cell::marked("÷10.0", Agreement::Far)
        );
        assert_eq!(difference(0.0, 0.0), Cell::marked("", Agreement::Near));
        assert_eq!(difference(0.0, 1.0), Cell::marked("", Agreement::Far));
    }

    #[test]
    fn without_a_published_value_there_is_no_difference() {
        let [published, ours, none] = compared(None, 2.0, |value| decimals(value, 1));
        assert_eq!(published, Cell::number("–"));
        assert_eq!(ours, Cell::number("2.0"));
        assert_eq!(none, Cell::number(""));
    }

    #[test]
    fn head_is_aligned_like_the_first_cells_below() {
        let mut table = Table::new("", &["policy", "600 s", "900 s", "none"]);
        table.row([Cell::text("EASY"), Cell::number("1")]);
        table.row([Cell::text("MCB8"), Cell::number("1"), Cell::number("2")]);
        let html = table.to_html();
        assert!(html.contains("<th class=\"number\">900 s</th>"), "{html}");
        assert!(html.contains("<th class=\"words\">none</th>"), "{html}");
    }

    #[test]
    fn tables_that_are_wider_than_the_page_are_set_small() {
        let of = |columns: usize| {
            let mut table = Table::new("", &vec!["head"; columns]);
            table.row(vec![Cell::number("1,234.56"); columns]);
            table.to_html()
        };
        assert!(of(13).starts_with("<table>"));
        assert!(of(14).starts_with("<table class=\"dense\">"));
    }

    #[test]
    fn every_row_has_every_column() {
        let mut table = Table::new("<c>", &["a", "`b`"]).group("both", 2);
        table.row([Cell::text("x & y")]);
        table.row([Cell::text("1"), Cell::number("2"), Cell::number("3")]);
        let html = table.to_html();
        assert_eq!(html.matches("<td").count(), 4, "{html}");
        assert!(html.contains("&lt;c&gt;") && html.contains("x &amp; y"));
        assert!(html.contains("<code>b</code>") && html.contains("colspan=\"2\""));
    }
}
