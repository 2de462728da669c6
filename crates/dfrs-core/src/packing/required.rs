//! MCB8 at requirements that are given.

use crate::model::{Job, Mapping, NodeIndex};
use crate::units::Cores;

use super::bins::Bins;
use super::fill::Filler;
use super::groups::{Groups, LARGEST_CPU};
use super::{Fraction, Packing};

/// A job whose place is given.
#[derive(Clone, Copy)]
pub(crate) struct Pinned<'a> {
    pub(crate) job: &'a Job,
    pub(crate) mapping: &'a Mapping,
    /// Only a grace period pins it.
    pub(crate) grace: bool,
}

impl Packing<'_> {
    /// The mapping of every job, in the order of `jobs`, that MCB8 finds when a task of each of
    /// them, and of each pinned job, requires so much CPU. Further fluid resources are required in
    /// full. `None` if it finds none, or the jobs that a grace period pins alone require more than
    /// a node has.
    ///
    /// O((nodes + groups log groups) × kinds of nodes + jobs log jobs + runs), groups being jobs of
    /// equal requirements.
    pub(crate) fn pack_required(
        &self,
        jobs: &[Cores],
        pins: &[Pinned<'_>],
        pinned: &[Cores],
    ) -> Option<Vec<Mapping>> {
        let mut load = vec![Cores::ZERO; self.cluster.nodes.len()];
        let mut grace = load.clone();
        for (pin, need) in pins.iter().zip(pinned) {
            let need = Cores(need.0.min(LARGEST_CPU));
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
        let needs: Vec<u64> = jobs.iter().map(|need| need.0.min(LARGEST_CPU)).collect();
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
