//! What is left to decide once all jobs have their least yields.

use dfrs_core::Constraints;

use super::super::StretchLine;
use crate::connected::{Connected, connected};

/// What is smaller than this, as a part of a node's capacity, is taken for nothing.
pub(super) const NOTHING: f64 = 1e-11;

/// A job that may get more than the least yield.
pub(super) struct YieldCandidate {
    pub(super) index: usize,
    /// Flow time at the end of the period, in periods.
    pub(super) flow: f64,
    /// Virtual time at the end of the period with the least yield, in periods.
    pub(super) base: f64,
    /// The most that it can gain.
    pub(super) max_gain: f64,
}

/// Jobs that are connected by common constraints: how much yield shall each gain?
pub(super) struct StretchComponent {
    pub(super) jobs: Vec<YieldCandidate>,
    pub(super) rows: Vec<ConstraintRow>,
}

/// A constraint, in parts of its capacity.
#[derive(Clone)]
pub(super) struct ConstraintRow {
    /// What the least yields leave.
    pub(super) left: f64,
    /// The constraint's jobs, as positions in their component, and what each needs.
    pub(super) terms: Vec<(usize, f64)>,
}

impl ConstraintRow {
    /// What these gains use.
    pub(super) fn used(&self, gains: &[f64]) -> f64 {
        self.terms
            .iter()
            .map(|(job, part)| part * gains[*job])
            .sum()
    }
}

/// All components. Jobs that have everything or can gain nothing are in none.
// Precise enough: shares are real numbers.
pub(super) fn components(
    constraints: &Constraints,
    lines: &[StretchLine],
    yields: &[f64],
) -> Vec<StretchComponent> {
    let part = |row: usize, need: u64| need as f64 / constraints.capacity(row).max(1) as f64;
    let left = |row| {
        let members = constraints.members(row).iter();
        let used = members.map(|(job, need)| part(row, *need) * yields[*job as usize]);
        // A node that has none of a resource leaves none of it.
        let whole = constraints.capacity(row).min(1) as f64;
        whole - used.sum::<f64>()
    };
    let left: Vec<f64> = (0..constraints.rows()).map(left).collect();
    let may_gain = |job: usize| {
        let mut rows = constraints.places(job).iter();
        yields[job] < 1.0 && rows.all(|(row, _)| left[*row as usize] > NOTHING)
    };
    let (sets, position) = connected(constraints, may_gain);
    let component = |set: Connected| {
        let jobs = set.jobs.into_iter().map(|index| YieldCandidate {
            index,
            flow: lines[index].flow,
            base: lines[index].virtual_time + yields[index],
            max_gain: 1.0 - yields[index],
        });
        let rows = set.rows.into_iter().flat_map(|row| {
            let members = constraints.members(row).iter();
            let terms = members
                .filter_map(|(job, need)| Some((position[*job as usize]?, part(row, *need))));
            let each = ConstraintRow {
                left: left[row],
                terms: terms.collect(),
            };
            // Each node has a price of its own.
            std::iter::repeat_n(each, constraints.nodes(row))
        });
        StretchComponent {
            jobs: jobs.collect(),
            rows: rows.collect(),
        }
    };
    sets.into_iter().map(component).collect()
}
