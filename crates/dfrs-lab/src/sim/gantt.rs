//! `--gantt`: what ran when and where, with how much of each node.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use dfrs_core::NodeIndex;
use dfrs_proto::journal::{EventKind, JournalEvent};
use dfrs_report::{Gantt, GanttBar};

use crate::outputs;

/// The most pieces. More cannot be distinguished, and are slow to draw.
const MAX_PIECES: usize = 20_000;

/// Follows a journal and keeps the pieces of the picture: a job's part of a node, for as long as it stays the same.
#[derive(Default)]
pub struct GanttBuilder {
    now: f64,
    nodes: Vec<GanttNode>,
    jobs: BTreeMap<String, GanttJob>,
    /// Nodes of which something is different since they were last looked at.
    changed: BTreeSet<usize>,
    pieces: Vec<GanttBar>,
    too_many: bool,
}

struct GanttNode {
    cpu: f64,
    /// From the top to the bottom of its row.
    parts: Vec<GanttPart>,
}

struct GanttPart {
    job: String,
    since: f64,
    /// From 0 to 1.
    range: Range<f64>,
}

#[derive(Default)]
struct GanttJob {
    colour: usize,
    cpu: f64,
    share: f64,
    /// The job's nodes, with the number of its tasks on each.
    on: BTreeMap<usize, u32>,
}

impl GanttBuilder {
    /// Takes the next event. O(jobs on the nodes that it is about).
    pub fn take(&mut self, event: &JournalEvent) {
        let now = event.t.seconds();
        if now > self.now {
            self.settle();
            self.now = now;
        }
        match &event.kind {
            EventKind::Platform { nodes, .. } => {
                let node = |cpu: f64| GanttNode {
                    cpu,
                    parts: Vec::new(),
                };
                self.nodes = nodes.iter().map(|one| node(one.cpu)).collect();
            }
            EventKind::Submit { job, cpu, .. } => {
                let state = GanttJob {
                    colour: self.jobs.len(),
                    cpu: *cpu,
                    ..GanttJob::default()
                };
                self.jobs.insert(job.clone(), state);
            }
            EventKind::Start { job, nodes }
            | EventKind::Resume { job, nodes, .. }
            | EventKind::Migrate { job, nodes, .. } => self.place(job, nodes),
            EventKind::Pause { job, .. } | EventKind::Finish { job, .. } => self.place(job, &[]),
            EventKind::Yield { job, value } => {
                if let Some(job) = self.jobs.get_mut(job) {
                    job.share = *value;
                    self.changed.extend(job.on.keys());
                }
            }
            EventKind::Eligible { .. } | EventKind::Refused { .. } | EventKind::Unknown => {}
        }
    }

    fn place(&mut self, name: &str, nodes: &[NodeIndex]) {
        let Some(job) = self.jobs.get_mut(name) else {
            return;
        };
        self.changed.extend(job.on.keys());
        job.on.clear();
        for node in nodes {
            *job.on.entry(node.0 as usize).or_default() += 1;
        }
        self.changed.extend(job.on.keys());
        // A new job is drawn below those that are there.
        for node in job.on.keys() {
            let Some(node) = self.nodes.get_mut(*node) else {
                continue;
            };
            if node.parts.iter().all(|part| part.job != name) {
                node.parts.push(GanttPart {
                    job: name.to_owned(),
                    since: self.now,
                    range: 0.0..0.0,
                });
            }
        }
    }

    /// All of an instant has happened.
    fn settle(&mut self) {
        for index in std::mem::take(&mut self.changed) {
            let Some(node) = self.nodes.get_mut(index) else {
                continue;
            };
            let mut top = 0.0;
            for mut part in std::mem::take(&mut node.parts) {
                let Some(job) = self.jobs.get(&part.job) else {
                    continue;
                };
                let tasks = job.on.get(&index).copied();
                let height = job.share * job.cpu * f64::from(tasks.unwrap_or(0)) / node.cpu;
                let range = top..top + height;
                if range != part.range {
                    let piece = piece(&part, job.colour, index, self.now);
                    self.too_many |= self.pieces.len() >= MAX_PIECES;
                    self.pieces.extend(piece.filter(|_| !self.too_many));
                    part.since = self.now;
                    part.range = range;
                }
                if tasks.is_some() {
                    top = part.range.end;
                    node.parts.push(part);
                }
            }
        }
    }

    /// Draws it.
    ///
    /// # Errors
    ///
    /// One line, if there is too much to draw or the file cannot be written.
    pub fn write(mut self, path: &Path, policy: &str) -> Result<(), String> {
        self.settle();
        if self.too_many {
            return Err(format!(
                "{}: not drawn, as it would have more than {MAX_PIECES} pieces; take a part of the trace",
                path.display()
            ));
        }
        let nodes = self.nodes.len();
        let gantt = Gantt {
            title: format!("{policy}: {} jobs on {nodes} nodes", self.jobs.len()),
            row: "node",
            rows: u32::try_from(nodes).unwrap_or(u32::MAX),
            bars: self.pieces,
        };
        outputs::write(path, &gantt.to_svg())
    }
}

/// What the part was until now, if there was anything of it.
fn piece(part: &GanttPart, colour: usize, node: usize, now: f64) -> Option<GanttBar> {
    // Precise enough: far below 2^53 nodes.
    let row = node as f64;
    let is_there = now > part.since && part.range.end > part.range.start;
    is_there.then(|| GanttBar {
        name: part.job.clone(),
        colour,
        time: part.since..now,
        rows: vec![row + part.range.start..row + part.range.end],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(journal: &str) -> Vec<(String, Range<f64>, Range<f64>)> {
        let mut places = GanttBuilder::default();
        for line in journal.lines() {
            places.take(&serde_json::from_str(line).expect("an event"));
        }
        places.settle();
        let piece = |bar: GanttBar| (bar.name, bar.time, bar.rows[0].clone());
        places.pieces.into_iter().map(piece).collect()
    }

    #[test]
    fn node_row_is_split_by_the_shares_of_its_jobs() {
        let journal = r#"{"t":0,"event":"platform","version":1,"policy":"x","nodes":[{"name":"a","cpu":1,"mem":1},{"name":"b","cpu":1,"mem":1}]}
{"t":0,"event":"submit","job":"x","tasks":2,"cpu":1,"mem":0}
{"t":0,"event":"start","job":"x","nodes":[0,1]}
{"t":0,"event":"yield","job":"x","value":1}
{"t":5,"event":"submit","job":"y","tasks":1,"cpu":1,"mem":0}
{"t":5,"event":"start","job":"y","nodes":[1]}
{"t":5,"event":"yield","job":"y","value":0.5}
{"t":5,"event":"yield","job":"x","value":0.5}
{"t":9,"event":"finish","job":"x"}
{"t":9,"event":"yield","job":"y","value":1}
{"t":10,"event":"finish","job":"y"}"#;
        let expected = [
            ("x", 0.0..5.0, 0.0..1.0),
            ("x", 0.0..5.0, 1.0..2.0),
            ("x", 5.0..9.0, 0.0..0.5),
            ("x", 5.0..9.0, 1.0..1.5),
            ("y", 5.0..9.0, 1.5..2.0),
            ("y", 9.0..10.0, 1.0..2.0),
        ];
        let expected = expected.map(|(name, time, rows)| (name.to_owned(), time, rows));
        assert_eq!(drawn(journal), expected);
    }
}
