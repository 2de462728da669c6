//! MCB8-stretch: the mapping of the lowest maximum expected stretch (TPDS, Section 4.7; IPDPS 2010,
//! Section III-B).

use dfrs_core::{Cores, Job, Mapping, MappingProblem};

use super::{MIN_YIELD, StretchLine};

/// The search ends when the stretch is known to this factor.
const ACCURACY: f64 = 1.01;

/// MCB8 takes no need to be larger than this many millionths of a core.
const LARGEST_CPU: u64 = 1 << 40;

/// The mapping of every job, in their order, at the lowest maximum stretch, to 1%, for which MCB8
/// finds one when every job, pinned or not, requires the yield that it takes to reach that stretch
/// at the end of the period: between 0.01 and 1.
/// `None` if there is no mapping even if all jobs have a yield of 0.01.
pub(crate) fn search(problem: &MappingProblem<'_>) -> Option<Vec<Mapping>> {
    let least = problem.least.0.max(MIN_YIELD);
    let lines = |jobs: &[&Job]| -> Vec<StretchLine> {
        let line = |job: &&Job| {
            StretchLine::new(job, job.virtual_time, problem.now, problem.period, least)
        };
        jobs.iter().map(line).collect()
    };
    let (movable, pinned) = (lines(problem.jobs), lines(problem.pinned));
    let inverse = |share| {
        let all = movable.iter().chain(&pinned);
        all.map(|line| line.inverse_at(share))
            .fold(f64::INFINITY, f64::min)
    };
    let pack_at = |inverse| {
        problem.pack(
            &requirements(problem.jobs, &movable, inverse),
            &requirements(problem.pinned, &pinned, inverse),
        )
    };
    // All have a yield of 1 at `high`, or one of them does and is what limits the stretch.
    let (mut low, mut high) = (inverse(least), inverse(1.0));
    let mut best = pack_at(high);
    if best.is_some() || high.is_infinite() {
        return best;
    }
    while high > low * ACCURACY && !problem.was_stopped() {
        let middle = (low * high).sqrt();
        match pack_at(middle) {
            Some(found) => (low, best) = (middle, Some(found)),
            None => high = middle,
        }
    }
    best.or_else(|| pack_at(low))
}

/// What a task of each job requires to reach the inverse stretch.
fn requirements(jobs: &[&Job], lines: &[StretchLine], inverse: f64) -> Vec<Cores> {
    let both = jobs.iter().zip(lines);
    both.map(|(job, line)| requirement(job.cpu, line, inverse))
        .collect()
}

/// The CPU that a task requires to reach the inverse stretch, rounded up.
// Precise enough: below 2^40.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at most the need"
)]
fn requirement(need: Cores, line: &StretchLine, inverse: f64) -> Cores {
    let need = need.0.min(LARGEST_CPU);
    Cores((need as f64 * line.yield_at(inverse)).ceil() as u64)
}

#[cfg(test)]
mod tests {
    use dfrs_core::{
        Bytes, Cluster, Events, JobId, JobState, Mobility, Node, NodeIndex, Roster, Span, Time,
        decide,
    };

    use super::*;

    /// Nodes of 1000 CPU, and jobs that were just submitted, so that the inverse stretch is the
    /// yield.
    fn cluster(nodes: usize, jobs: &[(u32, u64)]) -> Cluster {
        let jobs = (0..)
            .zip(jobs)
            .map(|(id, (tasks, cpu))| Job::new(JobId(id), Time(0), *tasks, Cores(*cpu), Bytes(1)));
        Cluster {
            nodes: vec![Node::new("", Cores(1000), Bytes(100)); nodes],
            jobs: jobs.collect(),
        }
    }

    /// The nodes of each job's tasks after a remap, if all jobs run; the first job is pinned to
    /// node 0 if so, by a grace period or for ever.
    fn found(cluster: &Cluster, pinned: Option<bool>) -> Option<Vec<Vec<u32>>> {
        let mut cluster = cluster.clone();
        let mut policy = crate::policy("/stretch-per/MINVT=1").unwrap();
        policy.settings.period = Span::from_seconds(600);
        if let Some(by_grace) = pinned {
            let job = &mut cluster.jobs[0];
            job.state = JobState::Running(Mapping::from_tasks([NodeIndex(0), NodeIndex(0)]));
            job.mobility = match by_grace {
                true => Mobility::Checkpoint,
                false => Mobility::Never,
            };
        }
        let mut roster = Roster::new(cluster);
        decide(&policy, &mut roster, Time(0), &Events::period()).adopt();
        let jobs = roster.cluster().jobs.iter();
        let jobs = jobs.skip(usize::from(pinned.is_some()));
        let nodes = |job: &Job| Some(job.running_on()?.nodes().map(|node| node.0).collect());
        jobs.map(nodes).collect()
    }

    #[test]
    fn the_search_ends_near_the_lowest_stretch() {
        // At a yield of 0.5 two fit on a node, at any lower one more do.
        let two = |nodes: usize| {
            let cluster = cluster(nodes, &vec![(1, 1000); 2 * nodes]);
            let mut found: Vec<u32> = found(&cluster, None).unwrap().concat();
            found.sort_unstable();
            found
        };
        assert_eq!(two(2), [0, 0, 1, 1]);
        assert_eq!(two(3), [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn jobs_that_fit_at_full_yield_keep_it() {
        // To 1% these two would fit on one node.
        let cluster = cluster(2, &[(1, 502), (1, 502)]);
        assert_eq!(found(&cluster, None), Some(vec![vec![1], vec![0]]));
    }

    #[test]
    fn memory_alone_can_rule_a_mapping_out() {
        let mut cluster = cluster(1, &[(2, 1)]);
        cluster.jobs[0].memory = Bytes(51);
        assert_eq!(found(&cluster, None), None);
    }

    #[test]
    fn pinned_jobs_need_cpu_at_the_stretch_that_is_aimed_at() {
        let cluster = cluster(2, &[(2, 1000), (1, 1000)]);
        assert_eq!(found(&cluster, Some(false)), Some(vec![vec![1]]));
    }

    #[test]
    fn a_grace_period_limits_the_stretch_of_the_search() {
        // At the full yield they would be on nodes of their own, at 0.5 one node holds both.
        let cluster = cluster(3, &[(2, 1000), (1, 600), (1, 600)]);
        assert_eq!(found(&cluster, Some(false)), Some(vec![vec![2], vec![1]]));
        assert_eq!(found(&cluster, Some(true)), Some(vec![vec![1], vec![1]]));
    }
}
