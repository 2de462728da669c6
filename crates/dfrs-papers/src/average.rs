//! The greatest average yield (TPDS, Section 4.6, "OPT=AVG").

use std::collections::BTreeMap;

use dfrs_core::Constraints;

use crate::simplex::LpProgram;

/// The yields of the greatest sum, none below 1/max(1, Λ): the linear program, solved exactly (to
/// rounding) for each set of jobs that are connected by common constraints.
pub(crate) fn maximise(constraints: &Constraints) -> Vec<f64> {
    let least = constraints.uniform();
    let mut yields = vec![1.0; constraints.jobs()];
    for component in components(constraints) {
        let mut program = LpProgram::new(vec![1.0 - least; component.jobs.len()]);
        for (row, capacity) in &component.rows {
            add_row(&mut program, row, *capacity, least);
        }
        for (job, gain) in component.jobs.iter().zip(program.solve()) {
            yields[*job] = (least + gain).min(1.0);
        }
    }
    // Rounding is that of gains of up to 1: much, where needs are millions of times the capacity.
    constraints.keep(&mut yields);
    yields
}

/// One constraint on what yields gain beyond the least one.
#[expect(clippy::cast_precision_loss, reason = "shares are real numbers")]
fn add_row(program: &mut LpProgram, row: &[(usize, u64)], capacity: u64, least: f64) {
    // In units of the greatest need, so that coefficients are near 1.
    let unit = row.iter().map(|(_, need)| *need).max().unwrap_or(1) as f64;
    let used: f64 = row.iter().map(|(_, need)| *need as f64 * least).sum();
    let terms: Vec<(usize, f64)> = row
        .iter()
        .map(|(job, need)| (*job, *need as f64 / unit))
        .collect();
    program.add(&terms, ((capacity as f64 - used) / unit).max(0.0));
}

/// Jobs that are connected by common constraints.
struct LpComponent {
    jobs: Vec<usize>,
    /// Constraints of these jobs, by jobs as positions in `jobs`; of equal ones only the tightest.
    rows: BTreeMap<Vec<(usize, u64)>, u64>,
}

/// All components. Jobs without constraints are in none.
fn components(constraints: &Constraints) -> Vec<LpComponent> {
    let mut found = Vec::new();
    let mut position: Vec<Option<usize>> = vec![None; constraints.jobs()];
    let mut seen = vec![false; constraints.rows()];
    for first in 0..constraints.jobs() {
        if position[first].is_some() || constraints.places(first).is_empty() {
            continue;
        }
        let mut component = LpComponent {
            jobs: vec![first],
            rows: BTreeMap::new(),
        };
        position[first] = Some(0);
        let mut rows = Vec::new();
        let mut next = 0;
        while let Some(job) = component.jobs.get(next).copied() {
            next += 1;
            for (row, _) in constraints.places(job) {
                if std::mem::replace(&mut seen[*row as usize], true) {
                    continue;
                }
                rows.push(*row as usize);
                for (other, _) in constraints.members(*row as usize) {
                    let place = &mut position[*other as usize];
                    if place.is_none() {
                        *place = Some(component.jobs.len());
                        component.jobs.push(*other as usize);
                    }
                }
            }
        }
        for row in rows {
            let terms = constraints.members(row).iter();
            let key = terms
                .filter_map(|(job, need)| Some((position[*job as usize]?, *need)))
                .collect();
            let tightest = component.rows.entry(key).or_insert(u64::MAX);
            *tightest = (*tightest).min(constraints.capacity(row));
        }
        found.push(component);
    }
    found
}
