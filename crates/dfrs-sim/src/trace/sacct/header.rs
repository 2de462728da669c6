//! The first line of a dump, which names its columns.

/// What a line must tell. The order is that of `NAMES`.
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
}

/// How many of the columns are necessary.
const NECESSARY: usize = 10;

/// The names of the columns, each with the other name that sacct has for the same.
const NAMES: [(&str, &str); 15] = [
    ("JobID", "JobID"),
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
];

/// Where the columns are.
#[derive(Debug)]
pub(super) struct Columns {
    /// How many columns a line has.
    pub count: usize,
    places: [Option<usize>; NAMES.len()],
}

/// Whether this line, the first of a file, names columns of sacct with `|` between them.
#[must_use]
pub fn is_dump(line: &[u8]) -> bool {
    let mut names = names(line);
    line.contains(&b'|') && names.any(|name| name.eq_ignore_ascii_case(b"JobID"))
}

impl Columns {
    pub fn of(line: &[u8]) -> Result<Self, String> {
        if !line.contains(&b'|') {
            let what = if names(line).any(|name| name.starts_with(b"JobID")) {
                "has no | between columns, which --parsable2 writes"
            } else {
                "does not name columns of sacct"
            };
            return Err(what.into());
        }
        let found: Vec<&[u8]> = names(line).collect();
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
                Ok(Self { count, places })
            }
            NECESSARY => Err("does not name columns of sacct; was --noheader given?".into()),
            _ => Err(format!("columns are missing: {}", missing.join(", "))),
        }
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

    #[test]
    fn what_is_missing_is_named() {
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
        for line in [
            "1 2 3",
            "id,submit,tasks,cpu,mem,runtime",
            "a|b|c",
            "JobID",
            "",
        ] {
            assert!(!is_dump(line.as_bytes()), "{line}");
        }
    }
}
