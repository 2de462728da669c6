//! The project's own format: `id,submit,tasks,cpu,mem,runtime`.

use dfrs_core::{Bytes, Cores, Span, Time};

use super::decimal::scaled;
use super::swf::{seconds_of, shown, tasks_of};
use super::{NODE_CPU, NODE_MEMORY, TraceJob};

/// The columns.
pub(super) const HEADER: &str = "id,submit,tasks,cpu,mem,runtime";

/// The longest id, in bytes.
const LONGEST_ID: usize = 256;

/// Whether this line names the columns.
pub(super) fn is_header(line: &[u8]) -> bool {
    let names = line.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    names.eq(HEADER.split(',').map(str::as_bytes))
}

/// Reads a line of a job. CPU need and memory requirement are of one task, in fractions of a node.
pub(super) fn job(line: &[u8]) -> Result<TraceJob, String> {
    let fields: Vec<&[u8]> = line
        .split(|byte| *byte == b',')
        .map(<[u8]>::trim_ascii)
        .collect();
    let [id, submit, tasks, cpu, memory, runtime] = fields[..] else {
        return Err(format!(
            "has {} columns, expected are the 6 of {HEADER}",
            fields.len()
        ));
    };
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
