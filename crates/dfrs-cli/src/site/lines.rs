//! Lines of slurm.conf as Slurm joins them: without comments, with what they go on with, and with the lines of
//! the files that they include (`_get_next_line()` and `_parse_include_directive()` of Slurm 24.11).

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::pairs;
use super::warning::ReadWarnings;

/// The longest file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;
/// The most files that are read for one slurm.conf.
const MAX_FILES: usize = 256;
/// What only templates have: of Jinja, and of ERB.
const TEMPLATE_MARKS: [&str; 3] = ["{{", "{%", "<%"];

/// Where a line begins.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConfPlace {
    /// The file, as slurm.conf's `Include` names it; of slurm.conf itself the name without directories.
    pub file: Rc<str>,
    /// From 1.
    pub line: usize,
}

/// One line, with those that it goes on with.
#[derive(Debug)]
pub struct LogicalLine {
    pub place: ConfPlace,
    /// Without comments, and with `\\` and `\#` as `\` and `#`.
    pub text: String,
}

/// All lines of a file and of what it includes, in the order in which Slurm reads them.
///
/// # Errors
///
/// One line, if the file cannot be read or is a template.
pub fn read(path: &Path, warnings: &mut ReadWarnings) -> Result<Vec<LogicalLine>, String> {
    let text = file_text(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let name = path.file_name().unwrap_or(path.as_os_str());
    let mut reader = IncludingReader {
        directory: path.parent().unwrap_or(Path::new("")).to_owned(),
        open: vec![path.to_owned()],
        files: 1,
        lines: Vec::new(),
        warnings,
    };
    reader.add(&text, &Rc::from(&*name.to_string_lossy()))?;
    Ok(reader.lines)
}

/// The file as text; what is no UTF-8 is replaced.
pub fn file_text(path: &Path) -> Result<String, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    let read = file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(format!(
            "more than {} MiB: no slurm.conf",
            MAX_FILE_BYTES >> 20
        ));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A value that stands for one that is to be written, as `{nodes}` or `<nodes>`.
fn placeholder(text: &str) -> Option<&str> {
    let (pairs, _) = pairs::all(text, 0);
    let begins = |value: &str, mark| {
        let mut rest = value.strip_prefix(mark).into_iter().flat_map(str::chars);
        rest.next().is_some_and(|it| it.is_ascii_alphabetic())
    };
    let mut unquoted = pairs
        .into_iter()
        .filter(|it| !text[it.range.clone()].contains('"'));
    let found = unquoted.find(|it| {
        let is_in_braces = begins(it.value, '{') && it.value.contains('}');
        is_in_braces || begins(it.value, '<')
    });
    found.map(|it| it.value)
}

struct IncludingReader<'a> {
    directory: PathBuf,
    /// The files that are being read, each included by the one before it.
    open: Vec<PathBuf>,
    files: usize,
    lines: Vec<LogicalLine>,
    warnings: &'a mut ReadWarnings,
}

impl IncludingReader<'_> {
    fn add(&mut self, text: &str, file: &Rc<str>) -> Result<(), String> {
        for (line, text) in logical_lines(text) {
            let place = ConfPlace {
                file: Rc::clone(file),
                line,
            };
            let mut marks = TEMPLATE_MARKS.iter();
            let mark = marks.find(|mark| text.contains(**mark)).copied();
            if let Some(mark) = mark.or_else(|| placeholder(&text)) {
                return Err(format!(
                    "{place}: \"{mark}\": this is a template; give the slurm.conf that is made of it"
                ));
            }
            match included(&text) {
                Some(name) => self.include(name, &place)?,
                None => self.lines.push(LogicalLine { place, text }),
            }
        }
        Ok(())
    }

    /// Adds the lines of an included file. One that is missing is a warning: files are looked at without the
    /// machine that they are for.
    fn include(&mut self, name: &str, place: &ConfPlace) -> Result<(), String> {
        let Some(name) = self.with_cluster_name(name) else {
            let what = format!("{place}: Include {name}: there is no ClusterName= before it");
            self.warnings.add(what, "write ClusterName= above it");
            return Ok(());
        };
        if name.contains('*') {
            let what = format!("{place}: Include {name}: Slurm includes no patterns");
            self.warnings.add(what, "write a line for each file");
            return Ok(());
        }
        let path = self.find(&name);
        if self.open.contains(&path) || self.files >= MAX_FILES {
            let what = format!("{place}: Include {name}: it includes itself, or too many files");
            self.warnings.add(what, "take the line out");
            return Ok(());
        }
        match file_text(&path) {
            Ok(text) => {
                self.files += 1;
                self.open.push(path);
                self.add(&text, &Rc::from(name))?;
                self.open.pop();
            }
            Err(error) => {
                let what =
                    format!("{place}: Include {name}: {error}: what it says is not looked at");
                self.warnings.add(what, "copy it beside slurm.conf");
                self.warnings.missing.push(name);
            }
        }
        Ok(())
    }

    /// `%c` stands for the cluster's name in lower case.
    fn with_cluster_name(&self, name: &str) -> Option<String> {
        if !name.contains("%c") {
            return Some(name.to_owned());
        }
        let pairs = self
            .lines
            .iter()
            .filter_map(|line| pairs::first(&line.text));
        let mut names = pairs.filter(|pair| pair.key.eq_ignore_ascii_case("ClusterName"));
        let cluster = names.next()?.value.to_ascii_lowercase();
        Some(name.replace("%c", &cluster))
    }

    /// The file beside slurm.conf, also if it is named by where it is on the controller; else the one of that
    /// name.
    fn find(&self, name: &str) -> PathBuf {
        let parts: Vec<_> = Path::new(name.trim_start_matches('/')).iter().collect();
        let beside = (0..parts.len()).map(|skipped| {
            let rest: PathBuf = parts.iter().skip(skipped).collect();
            self.directory.join(rest)
        });
        let mut beside = beside.filter(|path| path.is_file());
        beside.next().unwrap_or_else(|| self.directory.join(name))
    }
}

/// The file of an `Include` line. Slurm takes it at the beginning of a line only.
fn included(text: &str) -> Option<&str> {
    let (word, rest) = text.split_at_checked("include".len())?;
    let is_include = word.eq_ignore_ascii_case("include") && rest.starts_with([' ', '\t']);
    rest.split_whitespace().next().filter(|_| is_include)
}

/// Each line with its number, unless it is empty.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut joined = Vec::new();
    let mut physical = text.trim_start_matches('\u{feff}').lines().enumerate();
    while let Some((index, line)) = physical.next() {
        let mut all = String::new();
        let mut line = without_comment(line);
        while let Some(part) = continued(line) {
            all.push_str(part);
            line = physical
                .next()
                .map_or("", |(_, next)| without_comment(next));
        }
        all.push_str(line);
        let text = without_escapes(&all);
        if !text.trim().is_empty() {
            joined.push((index + 1, text.trim_end().to_owned()));
        }
    }
    joined
}

/// What is before a `#` that no `\` stands before.
fn without_comment(line: &str) -> &str {
    let mut is_escaped = false;
    let comment = line.find(|character: char| {
        let begins = character == '#' && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        begins
    });
    &line[..comment.unwrap_or(line.len())]
}

/// What is before the `\` at the end, if the next line belongs to this one.
fn continued(line: &str) -> Option<&str> {
    let line = line.trim_end();
    let kept = line.trim_end_matches('\\');
    let is_odd = (line.len() - kept.len()) % 2 == 1;
    line.strip_suffix('\\').filter(|_| is_odd)
}

fn without_escapes(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line.chars();
    while let Some(character) = rest.next() {
        match character {
            '\\' => text.extend(rest.next()),
            other => text.push(other),
        }
    }
    text
}

impl fmt::Display for ConfPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined_as_slurm_joins_them() {
        let text = "A=1 # x\n#B=2 \\\nC=3 \\\n  D=4 \\  # more\nE=5\nF=\\#6\\\\\n\n  \nG=7 \\\\\nH=8\r\nI=9\\";
        let expected = [
            (1, "A=1"),
            (3, "C=3   D=4 E=5"),
            (6, "F=#6\\"),
            (9, "G=7 \\"),
            (10, "H=8"),
            (11, "I=9"),
        ];
        let found = logical_lines(text);
        let found: Vec<(usize, &str)> = found.iter().map(|(at, text)| (*at, &**text)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn values_that_are_still_to_be_written_are_placeholders() {
        for (line, expected) in [
            ("ClusterName={name}", Some("{name}")),
            ("PartitionName=p Nodes={list}-[1-4]", Some("{list}-[1-4]")),
            ("NodeName=<first host>[1-2] CPUs=8", Some("<first")),
            ("NodeName=n1 Extra={\"rack\":1}", None),
            ("NodeName=n1 Reason=\"<none>\"", None),
            ("Prolog=/etc/{a,b}", None),
            ("NodeName=n[1-2] Weight=<5", None),
        ] {
            assert_eq!(placeholder(line), expected, "{line}");
        }
    }

    #[test]
    fn only_a_word_at_the_beginning_of_a_line_includes_a_file() {
        assert_eq!(included("include  nodes.conf  "), Some("nodes.conf"));
        assert_eq!(included("INCLUDE\tnodes.conf"), Some("nodes.conf"));
        for line in [
            " Include nodes.conf",
            "IncludeIt nodes.conf",
            "Include",
            "Inc",
        ] {
            assert_eq!(included(line), None, "{line}");
        }
    }
}
