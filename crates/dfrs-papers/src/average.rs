//! The greatest average yield (TPDS, Section 4.6, "OPT=AVG").

use std::collections::BTreeMap;

use dfrs_core::Constraints;

use crate::connected::connected;
use crate::simplex::LpProgram;

/// The yields of the greatest sum, none below 1/max(1, Λ): the linear program, solved exactly (to
/// rounding) for each set of jobs that are connected by common constraints.
pub(crate) fn maximise(constraints: &Constraints) -> Vec<f64> {
    let least = constraints.uniform();
    let mut yields = vec![1.0; constraints.jobs()];
    let (sets, position) = connected(constraints, |job| !constraints.places(job).is_empty());
    for set in sets {
        // By jobs as positions in the set; of equal constraints only the tightest.
        let mut rows: BTreeMap<Vec<(usize, u64)>, u64> = BTreeMap::new();
        for row in set.rows {
            let terms = constraints.members(row).iter();
            let terms = terms.filter_map(|(job, need)| Some((position[*job as usize]?, *need)));
            let tightest = rows.entry(terms.collect()).or_insert(u64::MAX);
            *tightest = (*tightest).min(constraints.capacity(row));
        }
        let mut program = LpProgram::new(vec![1.0 - least; set.jobs.len()]);
        for (row, capacity) in &rows {
            add_row(&mut program, row, *capacity, least);
        }
        for (job, gain) in set.jobs.iter().zip(program.solve()) {
            yields[*job] = (least + gain).min(1.0);
        }
    }
    // Rounding is that of gains of up to 1: much, where needs are millions of times the capacity.
    constraints.keep(&mut yields);
    yields
}

/// One constraint on what yields gain beyond the least one.
// Precise enough: shares are real numbers.
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
