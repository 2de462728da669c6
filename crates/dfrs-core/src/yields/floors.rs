//! The least yields of jobs that run on several nodes, and of jobs that require devices.

use std::cmp::Reverse;

use crate::constraints::{Constraints, Placed};
use crate::policy::LeastYield;

/// What a job has beside jobs that come first on its nodes: programs whose peers stand still may
/// give up.
const MIN_YIELD: f64 = 0.01;

/// What each job has at least, whatever its weight.
pub(super) struct Floors(Vec<f64>);

impl Floors {
    /// The least yield for each job on several nodes, or an equal share of its fullest node if that
    /// is less: all together they fit. Nothing for the others. O(runs).
    pub(super) fn of(constraints: &Constraints, placed: &[Placed<'_>], least: LeastYield) -> Self {
        let equal: Vec<f64> = (0..constraints.rows())
            .map(|row| constraints.equal_share(row))
            .collect();
        let floor = |(job, placed): (usize, &Placed<'_>)| {
            if !placed.mapping.spans_nodes() {
                return 0.0;
            }
            let places = constraints.places(job).iter();
            places
                .map(|(row, _)| equal[*row as usize])
                .fold(least.share(), f64::min)
        };
        Self(placed.iter().enumerate().map(floor).collect())
    }

    /// [`LeastYield::OF_DEVICES`] for each job that requires devices, or an equal share among them
    /// of its fullest node if that is less; for those beside them so little that they do not stand
    /// still, and nothing for the others. `None` if no job requires devices. O(runs).
    pub(super) fn of_devices(constraints: &Constraints, placed: &[Placed<'_>]) -> Option<Self> {
        let has_devices = |job: usize| placed[job].job.requires_devices();
        if !(0..placed.len()).any(has_devices) {
            return None;
        }
        let rows = 0..constraints.rows();
        let rows: Vec<DeviceRow> = rows
            .map(|row| DeviceRow::of(constraints, row, has_devices))
            .collect();
        let floor = |job: usize| {
            let own = || constraints.places(job).iter();
            let own = || own().map(|(row, _)| rows[*row as usize]);
            if has_devices(job) {
                let most = LeastYield::OF_DEVICES.share();
                own().map(|row| row.with_devices).fold(most, f64::min)
            } else if own().any(|row| row.has_devices) {
                own().map(|row| row.others).fold(MIN_YIELD, f64::min)
            } else {
                0.0
            }
        };
        Some(Self((0..placed.len()).map(floor).collect()))
    }

    /// All that it needs for each job on several nodes, and for each that is on one of their nodes:
    /// the youngest first, as far as the CPU goes. O(runs + jobs log jobs).
    pub(super) fn of_whole_cpus(constraints: &Constraints, placed: &[Placed<'_>]) -> Self {
        let mut is_theirs = vec![false; constraints.rows()];
        for (job, placed) in placed.iter().enumerate() {
            if placed.mapping.spans_nodes() {
                for (row, _) in constraints.places(job) {
                    is_theirs[*row as usize] = true;
                }
            }
        }
        let is_concerned = |job: usize| {
            let mut rows = constraints.places(job).iter();
            rows.any(|(row, _)| is_theirs[*row as usize])
        };
        let mut order: Vec<usize> = (0..placed.len()).filter(|job| is_concerned(*job)).collect();
        order.sort_unstable_by_key(|job| {
            let placed = &placed[*job];
            (placed.virtual_time, Reverse(placed.job.id))
        });
        // Where they do not all fit no job stands still: each has a little first, or an equal share
        // of a node of many.
        let mut left: Vec<f64> = constraints.capacities().collect();
        let mut floors = vec![0.0; placed.len()];
        let least = |job: usize| {
            let rows = constraints.places(job).iter();
            rows.map(|(row, _)| constraints.equal_share(*row as usize))
                .fold(MIN_YIELD, f64::min)
        };
        for job in &order {
            floors[*job] = least(*job);
            for (row, need) in constraints.places(*job) {
                left[*row as usize] -= floors[*job] * real(*need);
            }
        }
        for job in order {
            let places = constraints.places(job);
            let headroom = |(row, need): &(u32, u64)| left[*row as usize] / real(*need).max(1.0);
            let more = places
                .iter()
                .map(headroom)
                .fold(1.0 - floors[job], f64::min);
            let more = more.max(0.0);
            for (row, need) in places {
                left[*row as usize] -= more * real(*need);
            }
            floors[job] += more;
        }
        Self(floors)
    }

    /// Leaves what all of them leave.
    pub(super) fn take_from(&self, constraints: &mut Constraints) {
        constraints.take(&self.0);
    }

    /// The yields if jobs have these parts of what their floors leave of their needs.
    pub(super) fn add_to(self, parts: Vec<f64>) -> Vec<f64> {
        let both = self.0.into_iter().zip(parts);
        both.map(|(floor, part)| floor + (1.0 - floor) * part)
            .collect()
    }
}

/// What the jobs of a constraint may have at least, so that all fit.
#[derive(Clone, Copy)]
struct DeviceRow {
    /// Whether some of them require devices.
    has_devices: bool,
    /// Those that do, if all of them have the same.
    with_devices: f64,
    /// The others.
    others: f64,
}

impl DeviceRow {
    fn of(constraints: &Constraints, row: usize, has_devices: impl Fn(usize) -> bool) -> Self {
        let (mut theirs, mut rest) = (0.0, 0.0);
        for (job, need) in constraints.members(row) {
            match has_devices(*job as usize) {
                true => theirs += real(*need),
                false => rest += real(*need),
            }
        }
        let others = constraints.equal_share(row).min(MIN_YIELD);
        let left = real(constraints.capacity(row)) - others * rest;
        Self {
            has_devices: theirs > 0.0,
            with_devices: left.max(0.0) / theirs.max(1.0),
            others,
        }
    }
}

// Precise enough: shares are real numbers.
fn real(amount: u64) -> f64 {
    amount as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Job, JobId, Mapping, Node, NodeIndex};
    use crate::units::{Amount, Bytes, Cores, Span, Time};
    use crate::yields::{Goal, allocate};

    /// The yields of jobs that each need all CPU of these nodes, and have run for so many seconds.
    fn yields(jobs: &[(&[u32], i64)], goal: &Goal) -> Vec<f64> {
        let nodes = vec![Node::new("", Cores::from_cores(8), Bytes(1)); 4];
        let jobs: Vec<(Job, Mapping)> = jobs
            .iter()
            .map(|(nodes, seconds)| {
                let mut job = Job::new(JobId(1), Time(0), 1, Cores::from_cores(8), Bytes(0));
                job.virtual_time = Span::from_seconds(*seconds);
                let mapping = Mapping::from_tasks(nodes.iter().copied().map(NodeIndex));
                (job, mapping)
            })
            .collect();
        let placed: Vec<Placed<'_>> = jobs
            .iter()
            .map(|(job, mapping)| Placed::new(job, mapping))
            .collect();
        let found = allocate(&nodes, &placed, goal).into_iter();
        found.map(|share| (share.0 * 1e4).round() / 1e4).collect()
    }

    const OLD: i64 = 990;

    #[test]
    fn old_parallel_job_keeps_its_least_yield_with_a_young_job() {
        let jobs: &[(&[u32], i64)] = &[(&[0, 1], OLD), (&[1], 0), (&[2], OLD), (&[2], 0)];
        let by_age = yields(jobs, &Goal::ByVirtualTime);
        assert_eq!(by_age[..2], by_age[2..]);
        assert!(by_age[0] < 0.1 && by_age[1] > 0.9, "{by_age:?}");
        for percent in [25, 50, 80] {
            let found = yields(jobs, &Goal::AtLeast(LeastYield(percent)));
            // Beyond what both can have no job has a least yield; what is left is shared by age.
            let least = f64::from(percent.min(50)) / 100.0;
            assert!(found[0] >= least && found[0] < least + 0.1, "{found:?}");
            assert_eq!(found[2..], by_age[2..]);
            assert!((found[0] + found[1] - 1.0).abs() < 2e-4);
        }
    }

    #[test]
    fn least_yield_is_an_equal_share_when_overloaded() {
        let jobs: &[(&[u32], i64)] = &[(&[0, 1], OLD), (&[1, 2], OLD), (&[1], 0), (&[2], 0)];
        let all = yields(jobs, &Goal::AtLeast(LeastYield(100)));
        assert!(all[0] >= 0.3333 && all[1] >= 0.3333, "{all:?}");
        assert!(all[0] + all[1] + all[2] <= 1.0002 && all[1] + all[3] <= 1.0002);
    }

    /// The yields of jobs on one node of 8 cores: how many each needs, whether it has a device.
    fn with_devices(jobs: &[(u64, bool)], goal: &Goal) -> Vec<f64> {
        let nodes = [Node::new("", Cores::from_cores(8), Bytes(1))];
        let mapping = Mapping::from_tasks([NodeIndex(0)]);
        let jobs: Vec<Job> = (0..)
            .zip(jobs)
            .map(|(id, (cores, has_device))| {
                let cpu = Cores::from_cores(*cores);
                let mut job = Job::new(JobId(id), Time(0), 1, cpu, Bytes(0));
                job.rigid_per_node = vec![Amount(u64::from(*has_device)); 1];
                job
            })
            .collect();
        let placed: Vec<Placed<'_>> = jobs.iter().map(|job| Placed::new(job, &mapping)).collect();
        let found = allocate(&nodes, &placed, goal).into_iter();
        found.map(|share| (share.0 * 1e4).round() / 1e4).collect()
    }

    const GOALS: [Goal; 5] = [
        Goal::Equal,
        Goal::ByWeight,
        Goal::ByVirtualTime,
        Goal::AtLeast(LeastYield(50)),
        Goal::WholeCpus,
    ];

    #[test]
    fn job_with_devices_has_its_least_yield_beside_many_others() {
        let mut jobs = vec![(8, false); 9];
        jobs[4] = (4, true);
        for goal in &GOALS {
            let found = with_devices(&jobs, goal);
            assert!(found[4] >= 0.8 && found[4] < 1.0, "{goal:?}: {found:?}");
            assert!(found[0] > 0.05 && found[0] < 0.1, "{goal:?}: {found:?}");
        }
    }

    #[test]
    fn jobs_with_devices_share_a_node_evenly_where_it_is_too_small_for_them() {
        for goal in &GOALS {
            let found = with_devices(&[(8, true), (8, true), (8, false)], goal);
            assert_eq!(found, [0.495, 0.495, 0.01], "{goal:?}");
            let found = with_devices(&[(2, true), (6, true), (2, false)], goal);
            assert!(found[0] >= 0.8 && found[1] >= 0.8, "{goal:?}: {found:?}");
        }
    }

    #[test]
    fn amount_of_no_device_is_no_device() {
        for goal in &GOALS {
            assert_eq!(with_devices(&[(8, false), (8, false)], goal), [0.5, 0.5]);
        }
    }

    #[test]
    fn all_jobs_have_full_yield_when_cpu_suffices() {
        assert_eq!(
            yields(&[(&[0, 1], OLD)], &Goal::AtLeast(LeastYield(50))),
            [1.0]
        );
    }
}
