//! Jobs that are connected by common constraints.

use dfrs_core::Constraints;

/// Jobs, and all constraints on them.
pub(crate) struct Connected {
    pub(crate) jobs: Vec<usize>,
    pub(crate) rows: Vec<usize>,
}

/// All sets of these jobs that are connected by common constraints, and the position of each job in its set. Other
/// jobs are in none, and connect none.
pub(crate) fn connected(
    constraints: &Constraints,
    is_one: impl Fn(usize) -> bool,
) -> (Vec<Connected>, Vec<Option<usize>>) {
    let mut found = Vec::new();
    let mut position: Vec<Option<usize>> = vec![None; constraints.jobs()];
    let mut seen = vec![false; constraints.rows()];
    for first in 0..constraints.jobs() {
        if position[first].is_some() || !is_one(first) {
            continue;
        }
        position[first] = Some(0);
        let (mut jobs, mut rows) = (vec![first], Vec::new());
        let mut next = 0;
        while let Some(job) = jobs.get(next).copied() {
            next += 1;
            for (row, _) in constraints.places(job) {
                let row = *row as usize;
                if std::mem::replace(&mut seen[row], true) {
                    continue;
                }
                rows.push(row);
                for (other, _) in constraints.members(row) {
                    let other = *other as usize;
                    if position[other].is_none() && is_one(other) {
                        position[other] = Some(jobs.len());
                        jobs.push(other);
                    }
                }
            }
        }
        found.push(Connected { jobs, rows });
    }
    (found, position)
}
