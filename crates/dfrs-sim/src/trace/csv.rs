//! The project's own format: `id,submit,tasks,cpu,mem,runtime`.

use std::borrow::Cow;

use dfrs_core::{Bytes, Cores, Span, Time};

use super::decimal::scaled;
use super::swf::{seconds_of, shown, tasks_of};
use super::{NODE_CPU, NODE_MEMORY, TraceJob};

/// The columns, in the order in which they are without a header.
pub(super) const HEADER: &str = "id,submit,tasks,cpu,mem,runtime";

/// The longest id, in bytes.
const LONGEST_ID: usize = 256;

/// Which column of a file each of [`HEADER`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Columns([usize; 6]);

impl Default for Columns {
    fn default() -> Self {
        Self([0, 1, 2, 3, 4, 5])
    }
}

/// The fields between commas, without quotes around them and white space at their ends. A field in quotes may
/// have commas, and two quotes for one; it ends on its line.
fn fields(line: &[u8]) -> Result<Vec<Cow<'_, [u8]>>, String> {
    if !line.contains(&b'"') {
        let fields = line.split(|byte| *byte == b',');
        return Ok(fields.map(|field| field.trim_ascii().into()).collect());
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

/// The first field of a line, and what is behind its comma; none if it is the last.
fn first_field(line: &[u8]) -> Result<(Cow<'_, [u8]>, Option<&[u8]>), String> {
    let Some(quoted) = line.trim_ascii_start().strip_prefix(b"\"") else {
        let (field, behind) = until_comma(line);
        return Ok((field.trim_ascii().into(), behind));
    };
    let mut field = Vec::new();
    let mut rest = quoted;
    loop {
        let end = rest.iter().position(|byte| *byte == b'"');
        let end = end.ok_or("a quote is opened and not closed")?;
        field.extend_from_slice(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix(b"\"") {
            Some(behind) => {
                field.push(b'"');
                rest = behind;
            }
            None => break,
        }
    }
    let (nothing, behind) = until_comma(rest);
    if !nothing.trim_ascii().is_empty() {
        return Err(format!(
            "{} follows a quote, expected is a comma",
            shown(nothing)
        ));
    }
    Ok((field.trim_ascii().to_vec().into(), behind))
}

fn until_comma(line: &[u8]) -> (&[u8], Option<&[u8]>) {
    match line.iter().position(|byte| *byte == b',') {
        Some(comma) => (&line[..comma], Some(&line[comma + 1..])),
        None => (line, None),
    }
}

/// What the first line says of the columns, in whatever order, or what is wrong with that; `None`: it is a job. A
/// job may be called `id`, but what follows its id are numbers.
pub(super) fn header(line: &[u8]) -> Option<Result<Columns, String>> {
    let found = match fields(line) {
        Ok(found) => found,
        Err(what) => return Some(Err(what)),
    };
    let is_name = |name: &str| HEADER.split(',').any(|known| known == name);
    let named = |field: &[u8]| is_name(&String::from_utf8_lossy(field).to_ascii_lowercase());
    let behind_id = found.get(1..).unwrap_or_default();
    let has_number = behind_id.iter().any(|field| scaled(field, 0).is_some());
    if has_number && !behind_id.iter().any(|field| named(field)) {
        return None;
    }
    Some(columns(&found))
}

/// Where the columns are that a header names.
fn columns(found: &[Cow<[u8]>]) -> Result<Columns, String> {
    let place = |name: &str| {
        let mut found = found.iter();
        found.position(|found| found.eq_ignore_ascii_case(name.as_bytes()))
    };
    let names: Vec<&str> = HEADER.split(',').collect();
    let mut columns = Columns::default();
    let mut missing = Vec::new();
    for (column, name) in columns.0.iter_mut().zip(&names) {
        match place(name) {
            Some(place) => *column = place,
            None => missing.push(*name),
        }
    }
    let wrong = if missing.len() == names.len() {
        "the first line is no job and names no column".into()
    } else if !missing.is_empty() {
        format!("the header does not name {}", missing.join(", "))
    } else if found.len() > names.len() {
        format!("the header names {} columns", found.len())
    } else {
        return Ok(columns);
    };
    Err(format!(
        "{wrong}; expected are the 6 of {HEADER}, in any order"
    ))
}

/// Reads a line of a job. CPU need and memory requirement are of one task, in fractions of a node.
pub(super) fn job(line: &[u8], columns: Columns) -> Result<TraceJob, String> {
    let fields = fields(line)?;
    if fields.len() != columns.0.len() {
        return Err(format!(
            "has {} columns, expected are the 6 of {HEADER}",
            fields.len()
        ));
    }
    let [id, submit, tasks, cpu, memory, runtime] = columns.0.map(|place| &*fields[place]);
    let id = std::str::from_utf8(id)
        .ok()
        .filter(|id| !id.is_empty() && id.len() <= LONGEST_ID)
        .filter(|id| !id.contains(['"', ',']) && !id.chars().any(char::is_control))
        .ok_or_else(|| {
            format!(
                "the id is {}, expected is a text without quotes and commas",
                shown(id)
            )
        })?;
    let count = whole(tasks).ok_or_else(|| {
        format!(
            "the number of tasks is {}, which is no whole number",
            shown(tasks)
        )
    })?;
    Ok(TraceJob::new(
        id,
        Time(seconds_of(submit, "the submit time")?),
        tasks_of(count, "the number of tasks is")?,
        Cores(fraction(cpu, "cpu", 6, 1, NODE_CPU.0)?),
        Bytes(fraction(memory, "mem", 12, 0, NODE_MEMORY.0)?),
        Span(seconds_of(runtime, "the run time")?),
    ))
}

fn whole(text: &[u8]) -> Option<i64> {
    let thousandths = scaled(text, 3)?;
    (thousandths % 1000 == 0).then_some(thousandths / 1000)
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
