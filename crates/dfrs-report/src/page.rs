//! Pages: one file of HTML that needs nothing else.

use std::fmt::Write;

use crate::table::Table;
use crate::text::{escape, inline};

/// Looks like a printed report, on screens and on paper.
const STYLE: &str = include_str!("page.css");

/// A page under construction. In all texts, what stands between backticks is set as code.
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    lead: String,
    contents: Vec<String>,
    body: String,
}

impl Page {
    /// A page with a title and a sentence below it.
    pub fn new(title: &str, lead: &str) -> Self {
        Self {
            title: title.into(),
            lead: lead.into(),
            contents: Vec::new(),
            body: String::new(),
        }
    }

    /// Begins a section, which the list of contents names.
    pub fn section(&mut self, title: &str) {
        self.contents.push(title.into());
        let number = self.contents.len();
        self.add(&format!("<h2 id=\"s{number}\">{}</h2>", inline(title)));
    }

    /// Begins a part of a section.
    pub fn heading(&mut self, title: &str) {
        self.add(&format!("<h3>{}</h3>", inline(title)));
    }

    /// Adds a paragraph.
    pub fn text(&mut self, paragraph: &str) {
        self.add(&format!("<p>{}</p>", inline(paragraph)));
    }

    /// Adds a paragraph that must not be overlooked.
    pub fn notice(&mut self, paragraph: &str) {
        self.add(&format!("<p class=\"notice\">{}</p>", inline(paragraph)));
    }

    /// Adds a list of paragraphs.
    pub fn list<T: AsRef<str>>(&mut self, items: impl IntoIterator<Item = T>) {
        self.add("<ul>");
        for item in items {
            self.add(&format!("<li>{}</li>", inline(item.as_ref())));
        }
        self.add("</ul>");
    }

    /// Adds a few numbers in large type, each with what it is.
    pub fn facts(&mut self, facts: &[(&str, &str)]) {
        self.add("<div class=\"facts\">");
        for (number, what) in facts {
            self.add(&format!(
                "<div><b>{}</b><span>{}</span></div>",
                escape(number),
                inline(what)
            ));
        }
        self.add("</div>");
    }

    /// Adds a table.
    pub fn table(&mut self, table: &Table) {
        self.add(&format!("<div class=\"wide\">\n{}</div>", table.to_html()));
    }

    /// Adds a drawing of [`crate::Chart`] or [`crate::Bars`] with a caption below it.
    pub fn figure(&mut self, svg: &str, caption: &str) {
        let caption = inline(caption);
        self.add(&format!(
            "<figure>\n{svg}<figcaption>{caption}</figcaption>\n</figure>"
        ));
    }

    /// The page as a file.
    pub fn to_html(&self) -> String {
        let mut html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n",
            escape(&self.title),
            inline(&self.title),
            inline(&self.lead)
        );
        if self.contents.len() > 2 {
            html.push_str("<nav><ol>\n");
            for (place, title) in self.contents.iter().enumerate() {
                let _ = writeln!(
                    html,
                    "<li><a href=\"#s{}\">{}</a></li>",
                    place + 1,
                    inline(title)
                ); // a String takes all
            }
            html.push_str("</ol></nav>\n");
        }
        html + &self.body + "</body>\n</html>\n"
    }

    fn add(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Cell, Chart, Series};

    #[test]
    fn page_is_self_contained() {
        let mut page = Page::new("<i>Title</i>", "lead & more");
        for name in ["One", "Two", "<b>Three</b>"] {
            page.section(name);
        }
        page.heading("<b>");
        page.text("</p><script>");
        page.notice("<img src=x>");
        page.list(["<li>"]);
        page.facts(&[("<1", "of `x`")]);
        let mut table = Table::new("<t>", &["h"]);
        table.row([Cell::text("<td>")]);
        page.table(&table);
        let chart = Chart::new("<c>", Axis::linear("<x>"), Axis::linear("y"))
            .with(Series::new("</svg>", vec![(1.0, 2.0)]));
        page.figure(&chart.to_svg(), "caption <b>");
        let html = page.to_html();
        for foreign in [
            "<script", "<img", "<link", "url(", "@import", "<i>", "<b>T", "<x>",
        ] {
            assert!(!html.contains(foreign), "{foreign} in {html}");
        }
        // The one address is the name of SVG, which nothing fetches.
        let address = "http://www.w3.org/2000/svg";
        assert_eq!(html.matches("http").count(), html.matches(address).count());
        assert_eq!(html.matches("</svg>").count(), 1);
        assert_eq!(html.matches("<li><a href=\"#s3\">").count(), 1);
        assert_eq!(html, page.to_html());
    }
}
