//! MCB8-stretch: the mapping of the lowest maximum expected stretch (TPDS, Section 4.7; IPDPS 2010,
//! Section III-B).

use crate::model::{Job, Mapping, NodeIndex};
use crate::units::{Cores, Span, Time};
use crate::yields::{MIN_YIELD, StretchLine};

use super::bins::Bins;
use super::fill::Filler;
use super::groups::{Groups, LARGEST_CPU};
use super::{Fraction, Packing};

/// The search ends when the stretch is known to this factor.
const ACCURACY: f64 = 1.01;

/// A job whose place is given.
#[derive(Clone, Copy)]
pub(crate) struct Pinned<'a> {
    pub(crate) job: &'a Job,
    pub(crate) mapping: &'a Mapping,
    /// Only a grace period pins it.
    pub(crate) grace: bool,
}

/// Until when stretch is expected.
#[derive(Clone, Copy)]
pub(crate) struct Horizon {
    pub(crate) now: Time,
    pub(crate) period: Span,
}

impl Packing<'_> {
    /// The mapping of every job, in the order of `jobs`, at the lowest maximum stretch, to 1%, for
    /// which MCB8 finds one when every job, pinned or not, requires the yield that it takes to
    /// reach that stretch at the end of the period: between 0.01 and 1. Further fluid resources are
    /// required in full. `None` if there is no mapping even if all jobs have a yield of 0.01.
    pub(crate) fn search_stretch(
        &self,
        pins: &[Pinned<'_>],
        horizon: Horizon,
    ) -> Option<Vec<Mapping>> {
        let least = self.least.as_yield().0.max(MIN_YIELD);
        let line =
            |job: &Job| StretchLine::new(job, job.virtual_time, horizon.now, horizon.period, least);
        let lines: Vec<StretchLine> = self.jobs.iter().map(|job| line(job)).collect();
        let pinned: Vec<(Pinned<'_>, StretchLine)> =
            pins.iter().map(|pin| (*pin, line(pin.job))).collect();
        let inverse = |share| {
            let all = lines.iter().chain(pinned.iter().map(|(_, line)| line));
            all.map(|line| line.inverse_at(share))
                .fold(f64::INFINITY, f64::min)
        };
        // All have a yield of 1 at `high`, or one of them does and is what limits the stretch.
        let (mut low, mut high) = (inverse(least), inverse(1.0));
        let mut best = self.pack_at(&lines, &pinned, high);
        if best.is_some() || high.is_infinite() {
            return best;
        }
        while high > low * ACCURACY && !self.stop.was_due() {
            let middle = (low * high).sqrt();
            match self.pack_at(&lines, &pinned, middle) {
                Some(found) => (low, best) = (middle, Some(found)),
                None => high = middle,
            }
        }
        best.or_else(|| self.pack_at(&lines, &pinned, low))
    }

    /// The mapping that MCB8 finds for this inverse stretch.
    fn pack_at(
        &self,
        lines: &[StretchLine],
        pinned: &[(Pinned<'_>, StretchLine)],
        inverse: f64,
    ) -> Option<Vec<Mapping>> {
        let mut load = vec![Cores::ZERO; self.cluster.nodes.len()];
        let mut grace = load.clone();
        for (pin, line) in pinned {
            let need = requirement(pin.job.cpu, line, inverse);
            for run in pin
                .mapping
                .iter()
                .filter(|run| run.node.index() < self.cluster.nodes.len())
            {
                let need = need.times(run.tasks);
                load[run.node.index()] += need;
                if pin.grace {
                    grace[run.node.index()] += need;
                }
            }
        }
        if !self.allows(&grace, Fraction::ONE) {
            return None;
        }
        let needs: Vec<u64> = self
            .jobs
            .iter()
            .zip(lines)
            .map(|(job, line)| requirement(job.cpu, line, inverse).0)
            .collect();
        let groups = Groups::new(self.jobs, &needs);
        let bins = Bins::new(
            self.cluster,
            self.pinned,
            |node: NodeIndex| load[node.index()],
            self.jobs,
        );
        let mut filler = Filler::new(self, &groups, &bins);
        filler
            .pack(Fraction::ONE)
            .then(|| filler.found().mappings(&groups, &bins, self.jobs))
    }
}

/// The CPU that a task requires to reach the inverse stretch, rounded up.
#[expect(clippy::cast_precision_loss, reason = "below 2^40")]
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
    use super::*;
    use crate::model::{Cluster, JobId, Node};
    use crate::units::Bytes;
    use crate::usage::Usage;

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

    /// The nodes of each job's tasks, the first job being pinned to node 0 if so.
    fn found(cluster: &Cluster, pinned: Option<bool>) -> Option<Vec<Vec<u32>>> {
        let here = Mapping::from_tasks([NodeIndex(0), NodeIndex(0)]);
        let jobs: Vec<&Job> = cluster.jobs.iter().collect();
        let (pins, jobs) = jobs.split_at(usize::from(pinned.is_some()));
        let mut usage = Usage::empty(cluster, None);
        let pins: Vec<Pinned<'_>> = pins
            .iter()
            .map(|job| Pinned {
                job,
                mapping: &here,
                grace: pinned == Some(true),
            })
            .collect();
        pins.iter().for_each(|pin| usage.add(pin.job, pin.mapping));
        let packing = Packing {
            cluster,
            pinned: &usage,
            grace: &[],
            jobs,
            least: Fraction::ZERO,
            bins: &super::super::BinsOnce::default(),
            stop: &crate::stop::Stop::never(),
        };
        let horizon = Horizon {
            now: Time(0),
            period: Span::from_seconds(600),
        };
        let mappings = packing.search_stretch(&pins, horizon)?;
        let nodes = |mapping: &Mapping| mapping.nodes().map(|node| node.0).collect();
        Some(mappings.iter().map(nodes).collect())
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
