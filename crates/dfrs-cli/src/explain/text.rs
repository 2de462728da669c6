//! A job's answer as text.

use std::fmt::Write;

use dfrs_proto::devices;
use dfrs_proto::explain::{Explanation, OnNode};

use crate::status::length;

/// How many nodes and jobs are named.
const MAX_NAMED: usize = 8;

/// A line for each thing that is known.
pub(super) fn of(job: &Explanation) -> String {
    let mut out = format!(
        "JobId={} uid={} in partition {}: {}\n",
        job.job, job.user, job.partition, job.phase
    );
    for (name, value) in facts(job) {
        // What others wrote, as Slurm's words, must not break the line.
        let value = value.replace(|letter: char| letter.is_control(), " ");
        let _ = writeln!(out, "{name:<12} {value}"); // a String takes all
    }
    out
}

fn facts(job: &Explanation) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(why) = &job.why {
        let why = why.strip_prefix("DFRS: ").unwrap_or(why);
        facts.push(("why", why.to_owned()));
    } else if job.phase == "waiting" {
        facts.push(("why", "Slurm says: squeue --format=%r".to_owned()));
    }
    if let Some(change) = &job.last_change {
        let ago = length(job.now - change.at);
        let line = format!("{} {ago} ago: {}", change.what, change.why);
        facts.push(("decided", line));
    }
    facts.push(("nodes", nodes(job)));
    facts.push(("asks for", request(job)));
    facts.push(("yield", share(job)));
    facts.push((
        "weight",
        format!("{} (priority {})", job.weight, job.priority),
    ));
    facts.push(("mobility", mobility(job)));
    if let Some(at) = job.not_before {
        facts.push(("not before", format!("{} from now", length(at - job.now))));
    }
    let next_remap = length(job.next_remap - job.now);
    facts.push((
        "next look",
        format!("when a job is submitted or ends; all jobs are remapped in {next_remap}"),
    ));
    if job.mode != "full" {
        let note = format!("DFRS only watches (Mode={}): Slurm decides", job.mode);
        facts.push(("note", note));
    }
    facts.extend(job.notes.iter().map(|note| ("note", note.clone())));
    facts
}

fn request(job: &Explanation) -> String {
    let mut text = format!("{} x {} CPU", job.tasks, job.cpus_per_task);
    if !job.devices.is_empty() {
        let _ = write!(text, ", {} on each node", devices::text(&job.devices));
    }
    text
}

fn nodes(job: &Explanation) -> String {
    if job.node_count == 0 {
        return "none yet".to_owned();
    }
    let one = |node: &OnNode| match node.tasks {
        1 => node.name.clone(),
        tasks => format!("{} ({tasks} tasks)", node.name),
    };
    let names: Vec<String> = job.nodes.iter().take(MAX_NAMED).map(one).collect();
    let more = usize::try_from(job.node_count).unwrap_or(usize::MAX) - names.len();
    let mut text = names.join(", ");
    if more > 0 {
        let _ = write!(text, " and {more} more");
    }
    let _ = write!(text, "; {} other jobs have places there", job.co_located);
    if !job.co_located_jobs.is_empty() {
        let named = job.co_located_jobs.iter().take(MAX_NAMED);
        let named: Vec<String> = named.map(u32::to_string).collect();
        let dots = if job.co_located_jobs.len() > named.len() {
            ", ..."
        } else {
            ""
        };
        let _ = write!(text, " ({}{dots})", named.join(", "));
    }
    text
}

fn share(job: &Explanation) -> String {
    let mut text = format!(
        "{:.2} now; has done {} of work in {}",
        job.r#yield,
        length(job.virtual_time),
        length(job.flow_time)
    );
    if let Some(stretch) = job.stretch {
        let _ = write!(text, ": stretch {stretch:.2}");
    }
    text
}

fn mobility(job: &Explanation) -> String {
    let limit = job.most_moves.map(|max| format!(" of at most {max}"));
    format!(
        "{}; paused or moved {} times within an hour{}",
        job.mobility,
        job.recent_moves,
        limit.unwrap_or_default()
    )
}
