//! Lines of jobs: adjacent jobs that are alike in one.

use std::collections::BTreeMap;
use std::convert::identity;
use std::fmt;

use dfrs_core::{
    Bytes, Job, JobId, JobState, Mobility, NodeGroups, NodeIndex, NodeSet, Span, Time, Together,
    Weight,
};

use crate::mappings;
use crate::names::Labels;
use crate::units::{show_amounts, show_bytes, show_cores, show_span, show_time, show_weight};
use crate::words::WrittenLine;

pub(super) fn write(
    jobs: &[Job],
    labels: &Labels,
    formatter: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let mut lists = NodeLists::new(labels);
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

/// Lists of nodes. Behind each word the last one is kept, and so are the last groups: they are long,
/// and the same for many jobs.
struct NodeLists<'a> {
    labels: &'a Labels,
    last: BTreeMap<&'static str, (Vec<NodeIndex>, String)>,
    last_groups: BTreeMap<&'static str, (NodeGroups, String)>,
}

impl<'a> NodeLists<'a> {
    fn new(labels: &'a Labels) -> Self {
        Self {
            labels,
            last: BTreeMap::new(),
            last_groups: BTreeMap::new(),
        }
    }

    fn show(&mut self, word: &'static str, nodes: &NodeSet) -> &str {
        let last = self.last.entry(word).or_default();
        if last.0 != **nodes || last.1.is_empty() {
            *last = (nodes.to_vec(), self.labels.list(nodes.iter().copied()));
        }
        &last.1
    }

    /// Lists with `;` between them. O(1) for groups that are shared with the last ones.
    fn show_groups(&mut self, word: &'static str, groups: &NodeGroups) -> &str {
        let last = self.last_groups.entry(word).or_default();
        if last.0 != *groups {
            let lists = groups
                .iter()
                .map(|nodes| self.labels.list(nodes.iter().copied()));
            let text = lists.collect::<Vec<String>>().join(";");
            *last = (groups.clone(), text);
        }
        &last.1
    }

    fn write(&mut self, word: &'static str, nodes: Option<&NodeSet>, line: &mut WrittenLine) {
        line.value(word, nodes.map(|nodes| self.show(word, nodes)));
    }

    fn write_groups(
        &mut self,
        word: &'static str,
        groups: Option<&NodeGroups>,
        line: &mut WrittenLine,
    ) {
        line.value(word, groups.map(|groups| self.show_groups(word, groups)));
    }
}

/// All but the identity.
fn settings(job: &Job, lists: &mut NodeLists<'_>) -> String {
    let mut line = WrittenLine::default();
    line.value_unless(1, "tasks", job.tasks, identity);
    line.value("cpu", Some(show_cores(job.cpu)));
    line.value("memory", Some(show_bytes(job.memory)));
    line.value_unless(
        Bytes::ZERO,
        "memory-per-node",
        job.memory_per_node,
        show_bytes,
    );
    let layout = &job.layout;
    line.value("max-tasks-per-node", layout.max_tasks_per_node);
    line.value("max-nodes", layout.max_nodes);
    line.value("min-nodes", layout.min_nodes);
    lists.write("eligible", layout.eligible.as_ref(), &mut line);
    match &layout.together {
        None => {}
        Some(Together::Consecutive(groups)) => {
            lists.write_groups("consecutive", Some(groups), &mut line);
        }
        Some(Together::AtMost(most, groups)) => {
            line.value("max-groups", Some(most));
            lists.write_groups("groups", Some(groups), &mut line);
        }
    }
    lists.write("prefer", layout.preferred.as_ref(), &mut line);
    lists.write_groups("few-of", layout.few_of.as_ref(), &mut line);
    line.value_unless(&[][..], "rigid", &job.rigid, show_amounts);
    line.value_unless(&[][..], "rigid-per-node", &job.rigid_per_node, show_amounts);
    line.value_unless(Time::ZERO, "submit", job.submit, show_time);
    line.value_unless(Span::ZERO, "virtual-time", job.virtual_time, show_span);
    line.value_unless(Span::ZERO, "delay", job.delay, show_span);
    line.value("limit", job.limit.map(show_span));
    line.value_unless(Weight::ONE, "weight", job.weight, show_weight);
    line.flag("comes-first", job.starved);
    line.value_unless(0, "recent-moves", job.recent_moves, identity);
    line.value_unless(Mobility::Checkpoint, "mobility", job.mobility, identity);
    line.flag("locked", job.locked);
    line.flag("paused", job.state == JobState::Paused);
    let shown = |mapping| mappings::show(mapping, lists.labels);
    line.value("running", job.state.running_on().map(shown));
    line.value("parked", job.state.parked_on().map(shown));
    line.text()
}

#[cfg(test)]
mod tests {
    use dfrs_core::Cluster;

    use super::*;

    #[test]
    fn text_of_groups_is_made_once() {
        let groups = |lists: &[&[u32]]| -> NodeGroups {
            let lists = lists.iter().map(|nodes| nodes.iter().copied());
            lists.map(|nodes| nodes.map(NodeIndex).collect()).collect()
        };
        let labels = Labels::of(&Cluster {
            nodes: Vec::new(),
            jobs: Vec::new(),
        });
        let mut lists = NodeLists::new(&labels);
        let (one, other) = (groups(&[&[0, 1], &[2]]), groups(&[&[0], &[1, 2]]));
        let text = lists.show_groups("groups", &one).to_owned();
        let place = lists.show_groups("groups", &one).as_ptr();
        assert_eq!(lists.show_groups("groups", &one.clone()).as_ptr(), place);
        assert_ne!(lists.show_groups("groups", &other), text);
        assert_eq!(lists.show_groups("groups", &one), text);
        assert_eq!(lists.show_groups("groups", &NodeGroups::default()), "");
    }
}
