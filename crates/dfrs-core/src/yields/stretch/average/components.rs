//! What is left to decide once all jobs have their least yields.

use super::super::super::constraints::Constraints;
use super::super::Line;

/// What is smaller than this, as a part of a node's capacity, is taken for nothing.
pub(super) const NOTHING: f64 = 1e-11;

/// A job that may get more than the least yield.
pub(super) struct Candidate {
    pub(super) index: usize,
    /// Flow time at the end of the period, in periods.
    pub(super) flow: f64,
    /// Virtual time at the end of the period with the least yield, in periods.
    pub(super) base: f64,
    /// The most that it can gain.
    pub(super) most: f64,
}

/// Jobs that are connected by common constraints: how much yield shall each gain?
pub(super) struct Component {
    pub(super) jobs: Vec<Candidate>,
    pub(super) rows: Vec<Row>,
}

/// A constraint, in parts of its capacity.
#[derive(Clone)]
pub(super) struct Row {
    /// What the least yields leave.
    pub(super) left: f64,
    /// Its jobs, as positions in their component, and what each needs.
    pub(super) terms: Vec<(usize, f64)>,
}

impl Row {
    /// What these gains use.
    pub(super) fn used(&self, gains: &[f64]) -> f64 {
        self.terms
            .iter()
            .map(|(job, part)| part * gains[*job])
            .sum()
    }
}

/// Where a job is among components.
#[derive(Clone, Copy)]
enum Place {
    /// In none: its yield is settled.
    Settled,
    /// In one that is not found yet.
    Unknown,
    /// At this position of its component.
    At(usize),
}

/// All components. Jobs that have everything or can gain nothing are in none.
#[expect(clippy::cast_precision_loss, reason = "shares are real numbers")]
pub(super) fn components(
    constraints: &Constraints,
    lines: &[Line],
    yields: &[f64],
) -> Vec<Component> {
    let part = |row: usize, need: u64| need as f64 / constraints.capacity[row].max(1) as f64;
    let left = |row| {
        let members = constraints.members(row).iter();
        let used = members.map(|(job, need)| part(row, *need) * yields[*job as usize]);
        // A node that has none of a resource leaves none of it.
        let whole = constraints.capacity[row].min(1) as f64;
        whole - used.sum::<f64>()
    };
    let left: Vec<f64> = (0..constraints.len()).map(left).collect();
    let may_gain = |job: usize| {
        let mut rows = constraints.places(job).iter();
        yields[job] < 1.0 && rows.all(|(row, _)| left[*row as usize] > NOTHING)
    };
    let mut place: Vec<Place> = (0..lines.len())
        .map(|job| {
            if may_gain(job) {
                Place::Unknown
            } else {
                Place::Settled
            }
        })
        .collect();
    let mut seen = vec![false; constraints.len()];
    let mut found = Vec::new();
    for first in 0..lines.len() {
        if !matches!(place[first], Place::Unknown) {
            continue;
        }
        place[first] = Place::At(0);
        let mut members = vec![first];
        let mut rows = Vec::new();
        let mut next = 0;
        while let Some(job) = members.get(next).copied() {
            next += 1;
            for (row, _) in constraints.places(job) {
                let row = *row as usize;
                if std::mem::replace(&mut seen[row], true) {
                    continue;
                }
                let mut terms = Vec::new();
                for (other, need) in constraints.members(row) {
                    let other = *other as usize;
                    if matches!(place[other], Place::Unknown) {
                        place[other] = Place::At(members.len());
                        members.push(other);
                    }
                    if let Place::At(at) = place[other] {
                        terms.push((at, part(row, *need)));
                    }
                }
                // Each node has a price of its own.
                let each = Row {
                    left: left[row],
                    terms,
                };
                rows.extend(std::iter::repeat_n(each, constraints.nodes(row)));
            }
        }
        let jobs = members.into_iter().map(|index| Candidate {
            index,
            flow: lines[index].flow,
            base: lines[index].virtual_time + yields[index],
            most: 1.0 - yields[index],
        });
        found.push(Component {
            jobs: jobs.collect(),
            rows,
        });
    }
    found
}
