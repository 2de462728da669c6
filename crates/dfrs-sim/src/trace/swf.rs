//! The Standard Workload Format of the Parallel Workloads Archive, version 2.2.

use dfrs_core::{Span, Time};

use super::decimal::{scaled, whole};
use super::limits::{JobLine, estimate_of};
use super::model::Model;
use super::values::{seconds_of, shown, tasks_of};
use super::{MAX_NODES, TraceJob};

/// Number of fields of a line.
const FIELDS: usize = 18;

/// Reads a line of a job. Its processors are those that were allocated (field 5; if unknown, the
/// requested ones, field 8), its run time is field 4, its user's estimate of that field 9, how long it
/// waited field 3 (unknown unless it is a time), and its memory per processor the larger of used and
/// requested memory (fields 7 and 10). What that means on nodes, the model says.
pub(super) fn job(line: &[u8], model: Model) -> Result<JobLine, String> {
    let fields = fields(line)?;
    let id = whole_number(&fields, 1, "job number")?;
    if id < 0 {
        return Err(format!(
            "the job number (field 1) is {id}, it must not be negative"
        ));
    }
    let submit = time(&fields, 2, "submit time")?;
    let runtime = time(&fields, 4, "run time")?;
    let processors = match whole_number(&fields, 5, "number of allocated processors")? {
        allocated if allocated > 0 => allocated,
        _ => whole_number(&fields, 8, "number of requested processors")?,
    };
    let processors = tasks_of(processors, "the numbers of processors (fields 5 and 8) are")?;
    let kibibytes = match model.has_memory() {
        true => memory(&fields)?,
        false => None,
    };
    let on_nodes = model.on_nodes(processors, kibibytes);
    let job = TraceJob::new(
        id.to_string(),
        Time(submit),
        on_nodes.tasks,
        on_nodes.cpu,
        on_nodes.memory,
        Span(runtime),
    );
    let job = TraceJob {
        waited: time(&fields, 3, "wait time").ok().map(Span),
        ..job
    };
    let limit = estimate_of(fields[8], "the requested time (field 9)");
    Ok(JobLine::with_limit(job, limit))
}

/// Memory per processor in KiB: the larger of what was used and what was requested, if either is known.
fn memory(fields: &[&[u8]]) -> Result<Option<u64>, String> {
    let used = number(fields, 7, "used memory")?;
    let requested = number(fields, 10, "requested memory")?;
    let larger = u64::try_from(used.max(requested)).ok();
    Ok(larger.filter(|kibibytes| *kibibytes > 0))
}

/// The fields, between white space.
fn fields(line: &[u8]) -> Result<[&[u8]; FIELDS], String> {
    let mut fields: [&[u8]; FIELDS] = [b""; FIELDS];
    let (mut count, mut at) = (0, 0);
    loop {
        while line.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        let start = at;
        while line.get(at).is_some_and(|byte| !byte.is_ascii_whitespace()) {
            at += 1;
        }
        if start == at {
            break;
        }
        if let Some(field) = fields.get_mut(count) {
            *field = &line[start..at];
        }
        count += 1;
    }
    if count != FIELDS {
        return Err(format!("has {count} fields, a line of SWF has {FIELDS}"));
    }
    Ok(fields)
}

/// The number of processors of the machine, if this comment of the header says it.
pub(super) fn processors(line: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(line).ok()?;
    let (key, value) = text.trim_start_matches(';').split_once(':')?;
    let value = value.split_whitespace().next()?;
    (key.trim() == "MaxProcs")
        .then(|| value.parse().ok())
        .flatten()
        .filter(|count| (1..=MAX_NODES).contains(count))
}

fn time(fields: &[&[u8]], place: usize, name: &str) -> Result<i64, String> {
    seconds_of(
        fields[place - 1],
        format_args!("the {name} (field {place})"),
    )
}

fn number(fields: &[&[u8]], place: usize, name: &str) -> Result<i64, String> {
    let found = scaled(fields[place - 1], 0);
    found.ok_or_else(|| refused(fields, place, name, "no number"))
}

fn whole_number(fields: &[&[u8]], place: usize, name: &str) -> Result<i64, String> {
    let found = whole(fields[place - 1]);
    found.ok_or_else(|| refused(fields, place, name, "no whole number"))
}

fn refused(fields: &[&[u8]], place: usize, name: &str, what: &str) -> String {
    let text = shown(fields[place - 1]);
    format!("the {name} (field {place}) is {text}, which is {what}")
}
