//! The project's own format: `id,submit,tasks,cpu,mem,runtime`.

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

fn fields(line: &[u8]) -> Vec<&[u8]> {
    let fields = line.split(|byte| *byte == b',');
    fields.map(<[u8]>::trim_ascii).collect()
}

/// What the line says of the columns, in whatever order, or what is wrong with that; `None`: it is no header. A job
/// may be called `id`, but nothing else of its line is a name.
pub(super) fn header(line: &[u8]) -> Option<Result<Columns, String>> {
    let found = fields(line);
    let place = |name: &str| {
        let is_it = |found: &&[u8]| found.eq_ignore_ascii_case(name.as_bytes());
        found.iter().position(is_it)
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
    if missing.len() == names.len() || missing[..] == names[1..] {
        return None;
    }
    let wrong = if !missing.is_empty() {
        format!("the header does not name {}", missing.join(", "))
    } else if found.len() > names.len() {
        format!("the header names {} columns", found.len())
    } else {
        return Some(Ok(columns));
    };
    Some(Err(format!(
        "{wrong}; expected are the 6 of {HEADER}, in any order"
    )))
}

/// Reads a line of a job. CPU need and memory requirement are of one task, in fractions of a node.
pub(super) fn job(line: &[u8], columns: Columns) -> Result<TraceJob, String> {
    let fields = fields(line);
    if fields.len() != columns.0.len() {
        return Err(format!(
            "has {} columns, expected are the 6 of {HEADER}",
            fields.len()
        ));
    }
    let [id, submit, tasks, cpu, memory, runtime] = columns.0.map(|place| fields[place]);
    let id = std::str::from_utf8(id)
        .ok()
        .filter(|id| !id.is_empty() && id.len() <= LONGEST_ID)
        .filter(|id| !id.contains('"') && !id.chars().any(char::is_control))
        .ok_or_else(|| format!("the id is {}, expected is a text without quotes", shown(id)))?;
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
