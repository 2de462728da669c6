//! The first line of a dump, which names its columns.

use super::delimiter;

/// What a line must say. The order is that of `NAMES`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    JobId,
    Submit,
    Start,
    End,
    Nodes,
    Cpus,
    RequestedMemory,
    TotalCpu,
    TimeLimit,
    State,
    /// From here on they are of use and not necessary.
    Eligible,
    MaxRss,
    Tasks,
    Suspended,
    AllocatedTres,
    RequestedTres,
    Gres,
    Cluster,
}

/// How many of the columns are necessary.
const NECESSARY: usize = 10;

/// The names of the columns, each with the other name that sacct has for the same.
const NAMES: [(&str, &str); 18] = [
    ("JobID", "JobIDRaw"),
    ("Submit", "Submit"),
    ("Start", "Start"),
    ("End", "End"),
    ("NNodes", "AllocNodes"),
    ("NCPUS", "AllocCPUS"),
    ("ReqMem", "ReqMem"),
    ("TotalCPU", "TotalCPU"),
    ("Timelimit", "Timelimit"),
    ("State", "State"),
    ("Eligible", "Eligible"),
    ("MaxRSS", "MaxRSS"),
    ("NTasks", "NTasks"),
    ("Suspended", "Suspended"),
    ("AllocTRES", "AllocTRES"),
    ("ReqTRES", "ReqTRES"),
    ("AllocGRES", "ReqGRES"),
    ("Cluster", "Cluster"),
];

/// Columns with what people write, in which `|` and ends of lines may be.
const FREE_TEXT: [&str; 11] = [
    "JobName",
    "Comment",
    "AdminComment",
    "SystemComment",
    "SubmitLine",
    "WorkDir",
    "Extra",
    "StdErr",
    "StdIn",
    "StdOut",
    "Container",
];

/// Where the columns are.
#[derive(Debug)]
pub(super) struct Columns {
    /// How many columns a line has.
    count: usize,
    places: [Option<usize>; NAMES.len()],
    /// The columns of free text: their names, the first and the last of their places.
    free_text: Option<(String, usize, usize)>,
    /// Whether there is a `|` behind the last name, as `--parsable` writes it.
    ends_with_bar: bool,
}

/// Whether this line, the first of a file, names columns of sacct with `|` between them.
pub fn is_dump(line: &[u8]) -> bool {
    let mut names = names(line);
    line.contains(&b'|') && names.any(|name| name.eq_ignore_ascii_case(b"JobID"))
}

impl Columns {
    pub fn of(line: &[u8]) -> Result<Self, String> {
        if line.contains(&b'\r') {
            return Err("is the whole file, whose lines end with carriage returns alone; let them end with line feeds (tr '\\r' '\\n')".into());
        }
        if let Some(other) = delimiter::other_than_bar(line) {
            return Err(format!(
                "has {other} between columns, where --parsable2 writes | unless --delimiter says otherwise"
            ));
        }
        if !line.contains(&b'|') {
            let what = if names(line).any(|name| name.starts_with(b"JobID")) {
                "has no | between columns, which --parsable2 writes"
            } else {
                "does not name columns of sacct"
            };
            return Err(what.into());
        }
        let mut found: Vec<&[u8]> = names(line).collect();
        let ends_with_bar = found.last().is_some_and(|last| last.is_empty());
        if ends_with_bar {
            found.pop();
        }
        let places = NAMES.map(|(name, other)| {
            let place = |name: &str| {
                found
                    .iter()
                    .position(|found| found.eq_ignore_ascii_case(name.as_bytes()))
            };
            place(name).or_else(|| place(other))
        });
        let missing: Vec<&str> = NAMES[..NECESSARY]
            .iter()
            .zip(&places)
            .filter(|(_, place)| place.is_none())
            .map(|((name, _), _)| *name)
            .collect();
        match missing.len() {
            0 => {
                let count = found.len();
                let free_text = free_text(&found);
                Ok(Self {
                    count,
                    places,
                    free_text,
                    ends_with_bar,
                })
            }
            NECESSARY => Err("does not name columns of sacct; was --noheader given?".into()),
            _ => Err(format!("columns are missing: {}", missing.join(", "))),
        }
    }

    /// The fields of a line. A `|` more than there are columns is in free text, if that says to which column the
    /// others belong. With `--parsable` there is one behind the last.
    pub fn fields<'a>(&self, line: &'a [u8]) -> Result<Vec<&'a [u8]>, String> {
        let mut fields: Vec<&[u8]> = line.split(|byte| *byte == b'|').collect();
        if self.ends_with_bar && fields.len() > self.count && fields.last() == Some(&&b""[..]) {
            fields.pop();
        }
        let has = fields.len();
        if has == self.count {
            return Ok(fields);
        }
        let wrong = format!("has {has} fields, the header names {}", self.count);
        let Some((names, first, last)) = &self.free_text else {
            return Err(wrong);
        };
        let between = |place: &Option<usize>| place.is_some_and(|at| (first..last).contains(&&at));
        if has < self.count || self.places.iter().any(between) {
            let what = if has < self.count { "line break" } else { "|" };
            return Err(format!(
                "{wrong}; if there is a {what} in {names}, leave that out of --format"
            ));
        }
        fields.drain(*first + 1..*first + 1 + has - self.count);
        Ok(fields)
    }

    /// Whether the dump has the column.
    pub fn has(&self, column: Column) -> bool {
        self.places[column as usize].is_some()
    }

    /// The field of this column; empty if the dump has none.
    pub fn field<'a>(&self, fields: &[&'a [u8]], column: Column) -> &'a [u8] {
        let place = self.places[column as usize];
        place
            .and_then(|place| fields.get(place))
            .map_or(b"", |field| field.trim_ascii())
    }
}

/// The names of the columns of free text, and the places of the first and the last.
fn free_text(found: &[&[u8]]) -> Option<(String, usize, usize)> {
    let is_free = |name: &[u8]| {
        let mut known = FREE_TEXT.iter();
        known.find(|known| known.as_bytes().eq_ignore_ascii_case(name))
    };
    let free: Vec<(usize, &str)> = found
        .iter()
        .enumerate()
        .filter_map(|(place, name)| Some((place, *is_free(name)?)))
        .collect();
    let names: Vec<&str> = free.iter().map(|(_, name)| *name).collect();
    let (first, last) = (free.first()?.0, free.last()?.0);
    Some((names.join(" or "), first, last))
}

/// Whether this line names columns of sacct, with whatever between them.
pub fn names_columns(line: &[u8]) -> bool {
    is_dump(line) || delimiter::other_than_bar(line).is_some() || line.starts_with(b"JobID")
}

fn names(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    line.split(|byte| *byte == b'|').map(<[u8]>::trim_ascii)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &str = "JobID|Submit|Start|End|NNodes|NCPUS|ReqMem|MaxRSS|TotalCPU|Timelimit|State";

    #[test]
    fn columns_are_found_in_any_order_by_either_name() {
        let line = b"\xef\xbb\xbfState|User|TIMELIMIT|TotalCPU|MaxRSS|ReqMem|AllocCPUS|AllocNodes|End|Start|Submit|jobid";
        let columns = Columns::of(line).expect("columns");
        assert_eq!(columns.count, 12);
        assert!(columns.fields(b"s|u|t|c|r|m| 4 |2|e|b|a|17|").is_err());
        let fields: Vec<&[u8]> = b"s|u|t|c|r|m| 4 |2|e|b|a|17"
            .split(|byte| *byte == b'|')
            .collect();
        assert_eq!(columns.field(&fields, Column::Cpus), b"4");
        assert_eq!(columns.field(&fields, Column::Nodes), b"2");
        assert_eq!(columns.field(&fields, Column::JobId), b"17");
        assert_eq!(columns.field(&fields, Column::Eligible), b"");
        assert!(!columns.has(Column::Eligible) && columns.has(Column::State));
        assert!(is_dump(line) && is_dump(ALL.as_bytes()));
    }

    /// The fields of the line that count: id and state; or what is wrong with it.
    fn id_and_state(header: &str, line: &str) -> Result<(String, String), String> {
        let columns = Columns::of(header.as_bytes()).expect("columns");
        let fields = columns.fields(line.as_bytes())?;
        let of = |column| String::from_utf8_lossy(columns.field(&fields, column)).into_owned();
        Ok((of(Column::JobId), of(Column::State)))
    }

    #[test]
    fn columns_of_the_command_are_known_and_documented() {
        let names = super::super::COLUMNS.replace(',', "|");
        let columns = Columns::of(names.as_bytes()).expect("columns");
        let used = columns.places.iter().flatten().count();
        assert_eq!(used, columns.count, "each is of use");
        let page = include_str!("../../../../../docs/replay.md");
        assert!(page.contains(super::super::COLUMNS), "docs/replay.md");
    }

    #[test]
    fn bars_in_free_text_are_its_own() {
        let both = Ok(("7".to_owned(), "DONE".to_owned()));
        let line = "7|1|2|3|1|1|1G||4|5|DONE";
        let first = format!("JobName|{ALL}");
        let last = format!("{ALL}|Comment");
        for name in ["a", "a|b", "|", "||a|", ""] {
            assert_eq!(id_and_state(&first, &format!("{name}|{line}")), both);
            assert_eq!(id_and_state(&last, &format!("{line}|{name}")), both);
        }
        let side_by_side = format!("JobName|User|WorkDir|{ALL}");
        let of = |text: &str| id_and_state(&side_by_side, &format!("{text}|{line}"));
        assert_eq!(of("a|b|u|/c|d"), both);
        let around = format!("JobName|{ALL}|Comment");
        let of = |line: &str| id_and_state(&around, line).expect_err("an error");
        assert_eq!(
            of(&format!("a|b|{line}|")),
            "has 14 fields, the header names 13; if there is a | in JobName or Comment, leave that out of --format"
        );
        assert_eq!(
            of("a"),
            "has 1 fields, the header names 13; if there is a line break in JobName or Comment, leave that out of --format"
        );
        let none = id_and_state(ALL, &format!("{line}|"));
        assert_eq!(none, Err("has 12 fields, the header names 11".to_owned()));
    }

    #[test]
    fn a_header_may_end_with_a_bar_whether_lines_do_or_not() {
        let header = format!("{ALL}|");
        let both = Ok(("7".to_owned(), "DONE".to_owned()));
        let line = "7|1|2|3|1|1|1G||4|5|DONE";
        assert_eq!(id_and_state(&header, line), both);
        assert_eq!(id_and_state(&header, &format!("{line}|")), both);
        assert!(id_and_state(&header, &format!("{line}||")).is_err());
        let with_comment = format!("{ALL}|Comment|");
        assert_eq!(id_and_state(&with_comment, &format!("{line}|a|b|")), both);
    }

    #[test]
    fn missing_columns_are_named() {
        let error = |line: &str| Columns::of(line.as_bytes()).expect_err("an error");
        let line = ALL.replace("TotalCPU|", "").replace("|State", "");
        assert_eq!(error(&line), "columns are missing: TotalCPU, State");
        let line = ALL.replace("MaxRSS|", "");
        assert!(
            !Columns::of(line.as_bytes())
                .expect("columns")
                .has(Column::MaxRss)
        );
        assert!(error("1|2|3").contains("--noheader"));
        assert!(error("JobID    JobName  Partition").contains("--parsable2"));
        assert!(error("hello").contains("does not name"));
        assert!(error(&format!("{ALL}\r1|2")).contains("carriage returns"));
        for (delimiter, named) in [
            ("^|^", "has ^|^ between"),
            ("\t", "has tabs between"),
            (",", "has , between"),
            (";", "has ; between"),
            ("||", "has || between"),
        ] {
            let line = ALL.replace('|', delimiter);
            let message = error(&line);
            assert!(
                message.starts_with(named) && message.contains("--delimiter"),
                "{message}"
            );
            assert!(names_columns(line.as_bytes()), "{line}");
        }
        let quoted = format!("\"{}\"", ALL.replace('|', "\",\""));
        assert!(error(&quoted).starts_with("has \",\" between"), "{quoted}");
        for line in [
            "1 2 3",
            "id,submit,tasks,cpu,mem,runtime",
            "a|b|c",
            "JobID",
            "",
        ] {
            assert!(!is_dump(line.as_bytes()), "{line}");
        }
        assert!(!names_columns(b"id,submit,tasks,cpu,mem,runtime"));
    }
}
