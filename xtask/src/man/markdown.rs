//! A manual page from a page of the documentation: what is in both is written once.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use roff::{Inline, Roff, bold, roman};

use super::SOURCE;

/// What a page of the manual is called, and what is in its first lines.
pub(super) struct Title<'a> {
    pub(super) name: &'a str,
    pub(super) section: u8,
    /// One line on what it is about.
    pub(super) about: &'a str,
    pub(super) see_also: &'a str,
}

/// The page in roff. Headings of the first level are left out, as the title says more; a table becomes a list of
/// its first column, with the other columns below each entry.
pub(super) fn page(title: &Title<'_>, markdown: &str) -> String {
    let mut page = ManPage::new(title);
    if begins_with_prose(markdown) {
        page.roff.control("SH", ["DESCRIPTION"]);
    }
    let parser = Parser::new_ext(markdown, Options::ENABLE_TABLES);
    for event in parser {
        page.take(&event);
    }
    page.roff.control("SH", ["SEE ALSO"]);
    page.roff.text([roman(title.see_also)]);
    page.roff.render()
}

/// Whether something stands between the title and the first heading below it.
fn begins_with_prose(markdown: &str) -> bool {
    let mut lines = markdown
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("# "));
    lines.next().is_some_and(|line| !line.starts_with('#'))
}

#[derive(Default)]
struct ManPage {
    roff: Roff,
    /// Of the paragraph, heading or cell that has begun.
    inlines: Vec<Inline>,
    /// What a table's columns are called.
    columns: Vec<String>,
    /// The cells of its row so far.
    cells: Vec<Vec<Inline>>,
    in_code: bool,
    in_strong: bool,
    in_item: bool,
}

impl ManPage {
    fn new(title: &Title<'_>) -> Self {
        let mut page = Self::default();
        let section = title.section.to_string();
        let head = [title.name, &section, "", SOURCE, "slurm-dfrs"];
        page.roff.control("TH", head);
        // What is long and has no blanks cannot be adjusted.
        page.roff.control("ad", ["l"]).control("nh", []);
        page.roff.control("SH", ["NAME"]);
        let line = format!("{} - {}", title.name, title.about);
        page.roff.text([roman(line)]);
        page
    }

    fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(tag) => self.begin(tag),
            Event::End(tag) => self.end(*tag),
            Event::Text(text) if self.in_code => {
                self.roff.text([roman(text.trim_end())]);
            }
            Event::Text(text) if self.in_strong => self.inlines.push(bold(text.as_ref())),
            Event::Text(text) => self.inlines.push(roman(text.as_ref())),
            Event::Code(text) => self.inlines.push(bold(text.as_ref())),
            Event::SoftBreak | Event::HardBreak => self.inlines.push(roman(" ")),
            _ => {}
        }
    }

    fn begin(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => {
                self.in_code = true;
                self.roff.control("PP", []).control("RS", ["4"]);
                self.roff.control("EX", []);
            }
            Tag::Strong => self.in_strong = true,
            Tag::Item => {
                self.in_item = true;
                self.roff.control("IP", ["\\(bu", "2"]);
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => self.end_heading(level),
            TagEnd::Paragraph => {
                if !self.in_item {
                    self.roff.control("PP", []);
                }
                self.flush();
            }
            TagEnd::Item => {
                self.flush();
                self.in_item = false;
            }
            TagEnd::CodeBlock => {
                self.in_code = false;
                self.roff.control("EE", []).control("RE", []);
            }
            TagEnd::Strong => self.in_strong = false,
            TagEnd::TableCell => self.cells.push(std::mem::take(&mut self.inlines)),
            TagEnd::TableHead => {
                let cells = std::mem::take(&mut self.cells);
                self.columns = cells.iter().map(|cell| plain(cell)).collect();
            }
            TagEnd::TableRow => self.end_row(),
            _ => {}
        }
    }

    fn end_heading(&mut self, level: HeadingLevel) {
        let text = plain(&std::mem::take(&mut self.inlines));
        match level {
            HeadingLevel::H1 => {}
            HeadingLevel::H2 => drop(self.roff.control("SH", [text.to_uppercase().as_str()])),
            _ => drop(self.roff.control("SS", [text.as_str()])),
        }
    }

    /// The first column is the entry, the last one its text, and those between are named.
    fn end_row(&mut self) {
        let mut cells = std::mem::take(&mut self.cells).into_iter();
        let Some(entry) = cells.next() else { return };
        self.roff.control("TP", []).text(entry);
        let last = cells.len().saturating_sub(1);
        for (number, cell) in cells.enumerate() {
            if cell.is_empty() {
                continue;
            }
            if number < last {
                let name = self.columns.get(number + 1).cloned().unwrap_or_default();
                let mut line = vec![roman(format!("{name}: "))];
                line.extend(cell);
                self.roff.text(line).control("br", []);
            } else {
                self.roff.text(cell);
            }
        }
    }

    fn flush(&mut self) {
        if !self.inlines.is_empty() {
            self.roff.text(std::mem::take(&mut self.inlines));
        }
    }
}

fn plain(inlines: &[Inline]) -> String {
    let text = |inline: &Inline| match inline {
        Inline::Roman(text) | Inline::Italic(text) | Inline::Bold(text) => text.clone(),
        Inline::LineBreak => " ".to_owned(),
    };
    inlines.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_a_list_of_its_first_column() {
        let markdown = "# Title\n\n## Keys\n\nAll of `them`:\n\n| key | default | meaning |\n| --- | --- | --- |\n\
                        | `Mode` | `off` | See [more](more.md). |\n| `None` | | It is not. |\n\n```\na.b\n```\n";
        let title = Title {
            name: "x.conf",
            section: 5,
            about: "a test",
            see_also: "y(1)",
        };
        let with_prose = super::page(&title, "# Title\n\nIt is this.\n\n## Keys\n");
        assert!(
            with_prose.contains(".SH DESCRIPTION\n.PP\nIt is this.\n"),
            "{with_prose}"
        );
        let page = page(&title, markdown);
        assert!(!page.contains("DESCRIPTION"), "{page}");
        let body = page.split_once(".SH KEYS\n").expect("a section").1;
        let expected = [
            ".PP\nAll of \\fBthem\\fR:\n",
            ".TP\n\\fBMode\\fR\ndefault: \\fBoff\\fR\n.br\nSee more.\n",
            ".TP\n\\fBNone\\fR\nIt is not.\n",
            ".PP\n.RS 4\n.EX\na.b\n.EE\n.RE\n",
            ".SH \"SEE ALSO\"\ny(1)\n",
        ];
        assert_eq!(body, expected.concat());
        assert!(page.contains("x.conf \\- a test"), "{page}");
    }
}
