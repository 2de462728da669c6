//! The project's own format: `id,submit,tasks,cpu,mem,runtime`, and `limit`, `mobility` and `gpus` where a header has
//! them.

use dfrs_core::{Amount, Bytes, Cores, Mobility, Span, Time};

use super::decimal::{scaled, whole};
use super::limits::{JobLine, estimate_of};
use super::values::{seconds_of, shown, tasks_of};
use super::{NODE_CPU, NODE_GPUS, NODE_MEMORY, TraceJob};
use crate::mobility::kind_named;

/// The columns, in the order in which they are without a header.
pub(super) const HEADER: &str = "id,submit,tasks,cpu,mem,runtime";

/// The longest id, in bytes.
const MAX_ID_BYTES: usize = 256;

/// Columns that only a header can name.
const OPTIONAL: [&str; 3] = ["limit", "mobility", "gpus"];

/// Which column of a file is which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CsvColumns {
    count: usize,
    /// In the order of [`HEADER`].
    necessary: [usize; 6],
    /// In the order of [`OPTIONAL`].
    optional: [Option<usize>; OPTIONAL.len()],
}

impl Default for CsvColumns {
    fn default() -> Self {
        Self {
            count: 6,
            necessary: [0, 1, 2, 3, 4, 5],
            optional: [None; OPTIONAL.len()],
        }
    }
}

/// The header of a trace that has these of the optional columns, too.
pub(super) fn header_with(optional: [bool; OPTIONAL.len()]) -> String {
    let mut header = HEADER.to_owned();
    for (name, _) in OPTIONAL
        .iter()
        .zip(optional)
        .filter(|(_, is_there)| *is_there)
    {
        header.push(',');
        header.push_str(name);
    }
    header
}

/// What may be in a header, for people.
pub(super) fn expected() -> String {
    let optional = OPTIONAL.join(", ");
    format!("the columns {HEADER}, in any order, and where known {optional}")
}

/// The fields between commas, without quotes around them and white space at their ends. A field in quotes may
/// have commas; it ends on its line.
fn fields(line: &[u8]) -> Result<Vec<&[u8]>, String> {
    if memchr::memchr(b'"', line).is_none() {
        let fields = line.split(|byte| *byte == b',');
        return Ok(fields.map(|field| field.trim_ascii()).collect());
    }
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let (field, behind) = first_field(rest)?;
        fields.push(field);
        match behind {
            Some(behind) => rest = behind,
            None => return Ok(fields),
        }
    }
}

/// A field, and what is behind its comma; none if it is the last.
type FirstField<'a> = (&'a [u8], Option<&'a [u8]>);

/// The first field of a line.
fn first_field(line: &[u8]) -> Result<FirstField<'_>, String> {
    let Some(quoted) = line.trim_ascii_start().strip_prefix(b"\"") else {
        let (field, behind) = until_comma(line);
        return Ok((field.trim_ascii(), behind));
    };
    // Nothing that may be in a field has a quote in it.
    let end = quoted.iter().position(|byte| *byte == b'"');
    let end = end.ok_or("a quote is opened and not closed")?;
    let (field, rest) = (&quoted[..end], &quoted[end + 1..]);
    let (nothing, behind) = until_comma(rest);
    if !nothing.trim_ascii().is_empty() {
        return Err(format!(
            "{} follows a quote, expected is a comma",
            shown(nothing)
        ));
    }
    Ok((field.trim_ascii(), behind))
}

fn until_comma(line: &[u8]) -> (&[u8], Option<&[u8]>) {
    match line.iter().position(|byte| *byte == b',') {
        Some(comma) => (&line[..comma], Some(&line[comma + 1..])),
        None => (line, None),
    }
}

/// What the first line says of the columns, in whatever order, or what is wrong with that; `None`: it is a job. A
/// job may be called `id`, but what follows its id are numbers.
pub(super) fn header(line: &[u8]) -> Option<Result<CsvColumns, String>> {
    let found = match fields(line) {
        Ok(found) => found,
        Err(what) => return Some(Err(what)),
    };
    let behind_id = found.get(1..).unwrap_or_default();
    let has_number = behind_id.iter().any(|field| scaled(field, 0).is_some());
    let has_name = behind_id
        .iter()
        .any(|field| names().any(|name| is(field, name)));
    if has_number && !has_name {
        return None;
    }
    let columns = columns(&found);
    Some(columns.map_err(|wrong| format!("{wrong}; expected are {}", expected())))
}

/// The names of all columns.
fn names() -> impl Iterator<Item = &'static str> {
    HEADER.split(',').chain(OPTIONAL)
}

fn is(field: &[u8], name: &str) -> bool {
    field.eq_ignore_ascii_case(name.as_bytes())
}

/// Where the columns are that a header names.
fn columns(found: &[&[u8]]) -> Result<CsvColumns, String> {
    let unknown = |field: &&&[u8]| !names().any(|name| is(field, name));
    if found.iter().all(|field| unknown(&field)) {
        return Err("the first line is no job and names no column".into());
    }
    let mut necessary = [0; 6];
    let mut missing = Vec::new();
    for (column, name) in necessary.iter_mut().zip(HEADER.split(',')) {
        match place(found, name)? {
            Some(place) => *column = place,
            None => missing.push(name),
        }
    }
    if !missing.is_empty() {
        return Err(format!("the header does not name {}", missing.join(", ")));
    }
    if let Some(field) = found.iter().find(unknown) {
        return Err(format!("the header names the column {}", shown(field)));
    }
    let mut optional = [None; OPTIONAL.len()];
    for (column, name) in optional.iter_mut().zip(OPTIONAL) {
        *column = place(found, name)?;
    }
    Ok(CsvColumns {
        count: found.len(),
        necessary,
        optional,
    })
}

/// Where a header names this column, once.
fn place(found: &[&[u8]], name: &str) -> Result<Option<usize>, String> {
    let mut places = (0..found.len()).filter(|place| is(found[*place], name));
    match (places.next(), places.next()) {
        (_, Some(_)) => Err(format!("the header names {name} twice")),
        (place, None) => Ok(place),
    }
}

/// Reads a line of a job. CPU need and memory requirement are of one task, in fractions of a node.
pub(super) fn job(line: &[u8], columns: &CsvColumns) -> Result<JobLine, String> {
    let fields = fields(line)?;
    if fields.len() != columns.count {
        return Err(format!(
            "has {} columns, expected are the {} of {}",
            fields.len(),
            columns.count,
            header_with(columns.optional.map(|place| place.is_some()))
        ));
    }
    let field = |place: usize| &*fields[place];
    let [id, submit, tasks, cpu, memory, runtime] = columns.necessary.map(field);
    let [limit, mobility, gpus] = columns.optional.map(|place| place.map_or(&b""[..], field));
    let job = TraceJob::new(
        id_of(id)?,
        Time(seconds_of(submit, "the submit time")?),
        tasks_of(count(tasks)?, "the number of tasks is")?,
        Cores(fraction(cpu, "cpu", 6, 1, NODE_CPU.0)?),
        Bytes(fraction(memory, "mem", 12, 0, NODE_MEMORY.0)?),
        Span(seconds_of(runtime, "the run time")?),
    );
    let declared = declared_mobility(mobility)?;
    let job = TraceJob {
        declared_mobility: declared,
        mobility: declared.unwrap_or(job.mobility),
        gpus: match gpus {
            b"" => Amount(0),
            gpus => Amount(fraction(gpus, "gpus", 6, 0, NODE_GPUS.0)?),
        },
        ..job
    };
    Ok(match limit {
        b"" => job.into(),
        limit => JobLine::with_limit(job, estimate_of(limit, "the limit")),
    })
}

fn id_of(text: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(text)
        .ok()
        .filter(|id| !id.is_empty() && id.len() <= MAX_ID_BYTES)
        .filter(|id| !id.contains(['"', ',']) && !id.chars().any(char::is_control))
        .ok_or_else(|| {
            format!(
                "the id is {}, expected is a text without quotes and commas",
                shown(text)
            )
        })
}

fn count(tasks: &[u8]) -> Result<i64, String> {
    whole(tasks).ok_or_else(|| {
        format!(
            "the number of tasks is {}, which is no whole number",
            shown(tasks)
        )
    })
}

/// How the job can give up its place, if its line says so.
fn declared_mobility(text: &[u8]) -> Result<Option<Mobility>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let kind = std::str::from_utf8(text).ok().and_then(kind_named);
    kind.map(Some).ok_or_else(|| {
        format!(
            "mobility is {}, allowed are checkpoint, carry, park, restart, never, or nothing",
            shown(text)
        )
    })
}

/// A share of a node in parts, of which the node has `all`.
fn fraction(text: &[u8], name: &str, digits: u32, least: u64, all: u64) -> Result<u64, String> {
    scaled(text, digits)
        .and_then(|parts| u64::try_from(parts).ok())
        .filter(|parts| (least..=all).contains(parts))
        .ok_or_else(|| {
            let lowest = if least == 0 { "0" } else { "0.000001" };
            format!(
                "{name} is {}, allowed is a share of a node, {lowest} to 1",
                shown(text)
            )
        })
}
