//! How fast tasks are whose cores are shared.

use super::core_ranges::CoreRanges;

/// A task on a node.
pub(super) struct CoreUser<'a> {
    pub cores: &'a CoreRanges,
    /// What it can use of its cores, in microcores.
    pub need: u64,
}

/// The yield of each of a node's tasks. Each core is divided into equal parts, as Linux does for jobs of the same
/// weight in cgroups of their own; what a task does not need of its part goes to the others. A task needs all of its
/// cores alike. O(tasks²).
pub(super) fn core_yields(users: &[CoreUser<'_>]) -> Vec<f64> {
    let mut bounds: Vec<u64> = Vec::new();
    for range in users.iter().flat_map(|user| user.cores.ranges()) {
        bounds.extend([range.start, range.end]);
    }
    bounds.sort_unstable();
    bounds.dedup();
    let mut given = vec![0.0; users.len()];
    let mut is_limited = vec![false; users.len()];
    for (from, to) in bounds.iter().zip(bounds.iter().skip(1)) {
        let mut there: Vec<(f64, usize)> = users
            .iter()
            .enumerate()
            .filter(|(_, user)| has(user.cores, *from))
            .map(|(place, user)| (part_needed(user), place))
            .collect();
        there.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut free = 1.0;
        let mut left = there.len();
        for (part, place) in there {
            let equal = free / real(left as u64);
            is_limited[place] |= part > equal;
            let got = part.min(equal);
            given[place] += got * real(to - from);
            free -= got;
            left -= 1;
        }
    }
    let yields = users.iter().zip(given).zip(is_limited);
    yields
        .map(|((user, given), is_limited)| match is_limited {
            true => (given / real(user.need)).min(1.0),
            false => 1.0,
        })
        .collect()
}

fn has(cores: &CoreRanges, at: u64) -> bool {
    cores.ranges().iter().any(|range| range.contains(&at))
}

/// Which part of each of its cores a task can use.
fn part_needed(user: &CoreUser<'_>) -> f64 {
    (real(user.need) / real(user.cores.amount().max(1))).min(1.0)
}

// Precise enough: parts of a node are fewer than 2^53.
fn real(amount: u64) -> f64 {
    amount as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yields(tasks: &[(u64, u64, u64)]) -> Vec<f64> {
        let cores: Vec<CoreRanges> = tasks
            .iter()
            .map(|(from, to, _)| {
                let mut all = CoreRanges::all();
                all.take_first(*from);
                all.take_first(to - from)
            })
            .collect();
        let users: Vec<CoreUser<'_>> = cores
            .iter()
            .zip(tasks)
            .map(|(cores, (.., need))| CoreUser { cores, need: *need })
            .collect();
        core_yields(&users)
    }

    #[test]
    fn yield_is_one_when_cores_are_not_shared() {
        assert_eq!(yields(&[(0, 10, 10), (10, 20, 4)]), [1.0, 1.0]);
    }

    #[test]
    fn core_is_divided_equally_when_all_need_it() {
        let quarter = [(0, 10, 10); 4];
        assert_eq!(yields(&quarter), [0.25; 4]);
        // The second has a core of its own, too.
        assert_eq!(yields(&[(0, 10, 10), (0, 20, 20)]), [0.5, 0.75]);
    }

    #[test]
    fn unused_part_goes_to_others_when_a_task_needs_less() {
        assert_eq!(yields(&[(0, 10, 10), (0, 10, 2)]), [0.8, 1.0]);
        assert_eq!(
            yields(&[(0, 10, 10), (0, 10, 2), (0, 10, 10)]),
            [0.4, 1.0, 0.4]
        );
    }
}
