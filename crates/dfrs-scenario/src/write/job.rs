//! Lines of jobs: adjacent jobs that are alike in one.

use std::fmt;

use dfrs_core::{Bytes, Job, JobId, JobState, Layout, Mobility, NodeIndex, Span, Time, Weight};

use crate::mappings;
use crate::names::Labels;
use crate::units::{show_amounts, show_bytes, show_cores, show_span, show_time, show_weight};

pub(super) fn write(
    jobs: &[Job],
    labels: &Labels,
    formatter: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let mut lists = NodeLists {
        labels,
        last: (Vec::new(), String::new()),
    };
    // First and last of the jobs that are alike, and what they are.
    let mut alike: Option<(JobId, JobId, String)> = None;
    for job in jobs {
        let next = settings(job, &mut lists);
        match &mut alike {
            Some((_, last, text)) if last.0.checked_add(1) == Some(job.id.0) && *text == next => {
                *last = job.id;
            }
            _ => {
                write_alike(alike.take(), formatter)?;
                alike = Some((job.id, job.id, next));
            }
        }
    }
    write_alike(alike, formatter)
}

fn write_alike(
    alike: Option<(JobId, JobId, String)>,
    formatter: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    match alike {
        None => Ok(()),
        Some((first, last, text)) if first == last => writeln!(formatter, "job {first} {text}"),
        Some((first, last, text)) => writeln!(formatter, "jobs {first}-{last} {text}"),
    }
}

/// Lists of nodes. The last one is kept: they are long, and the same for many jobs.
struct NodeLists<'a> {
    labels: &'a Labels,
    last: (Vec<NodeIndex>, String),
}

impl NodeLists<'_> {
    fn show(&mut self, nodes: &[NodeIndex]) -> &str {
        if self.last.0 != nodes || self.last.1.is_empty() {
            self.last = (nodes.to_vec(), self.labels.list(nodes.iter().copied()));
        }
        &self.last.1
    }
}

/// All but the identity.
fn settings(job: &Job, lists: &mut NodeLists<'_>) -> String {
    let mut text = tasks(job, lists);
    if job.submit != Time::ZERO {
        text += &format!(" submit={}", show_time(job.submit));
    }
    if job.virtual_time != Span::ZERO {
        text += &format!(" virtual-time={}", show_span(job.virtual_time));
    }
    if job.delay != Span::ZERO {
        text += &format!(" delay={}", show_span(job.delay));
    }
    if let Some(limit) = job.limit {
        text += &format!(" limit={}", show_span(limit));
    }
    if job.weight != Weight::ONE {
        text += &format!(" weight={}", show_weight(job.weight));
    }
    if job.starved {
        text += " comes-first";
    }
    if job.recent_moves != 0 {
        text += &format!(" recent-moves={}", job.recent_moves);
    }
    if job.mobility != Mobility::Checkpoint {
        text += &format!(" mobility={}", job.mobility);
    }
    if job.locked {
        text += " locked";
    }
    text += &match &job.state {
        JobState::Pending => String::new(),
        JobState::Paused => " paused".into(),
        JobState::Running(mapping) => {
            format!(" running={}", mappings::show(mapping, lists.labels))
        }
        JobState::Parked(mapping) => format!(" parked={}", mappings::show(mapping, lists.labels)),
    };
    text
}

fn tasks(job: &Job, lists: &mut NodeLists<'_>) -> String {
    let mut text = match job.tasks {
        1 => String::new(),
        tasks => format!("tasks={tasks} "),
    };
    text += &format!(
        "cpu={} memory={}",
        show_cores(job.cpu),
        show_bytes(job.memory)
    );
    if job.memory_per_node != Bytes::ZERO {
        text += &format!(" memory-per-node={}", show_bytes(job.memory_per_node));
    }
    text += &layout(&job.layout, lists);
    if !job.rigid.is_empty() {
        text += &format!(" rigid={}", show_amounts(&job.rigid));
    }
    text
}

fn layout(layout: &Layout, lists: &mut NodeLists<'_>) -> String {
    let mut text = String::new();
    if let Some(max) = layout.max_tasks_per_node {
        text += &format!(" max-tasks-per-node={max}");
    }
    if let Some(max) = layout.max_nodes {
        text += &format!(" max-nodes={max}");
    }
    if let Some(least) = layout.min_nodes {
        text += &format!(" min-nodes={least}");
    }
    if let Some(nodes) = &layout.eligible {
        text += &format!(" eligible={}", lists.show(nodes));
    }
    text
}
