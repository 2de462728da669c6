//! Takes in what nodes report of jobs' needs.

use std::sync::Arc;

use dfrs_core::Need;
use dfrs_proto::conf::NeedsSource;

use crate::daemons::{Daemons, NodeFacts};
use crate::job::ledger::Ledger;
use crate::pass::Agent;
use crate::plan::needs::is_measured;
use crate::slurm::port::Slurm;
use crate::slurm::records::ObservedState;

/// Resets all needs to the requests, until nodes report otherwise.
pub(in crate::pass) fn forget_needs(ledger: &mut Ledger) {
    for id in ledger.ids() {
        if ledger.get(id).is_some_and(|record| record.need.is_less())
            && let Some(record) = ledger.get_mut(id)
        {
            record.need = Need::WHOLE;
        }
    }
}

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Whether nodes report other needs than at the last call.
    pub(in crate::pass) fn needs_changed(&self) -> bool {
        if self.config.needs == NeedsSource::Requested {
            return false;
        }
        let facts = self.nodes.daemons.facts();
        let known = self.nodes.facts.as_ref();
        known.is_some_and(|known| !Arc::ptr_eq(known, &facts) && known.needs != facts.needs)
    }

    /// Follows what nodes say of needs, where that is different. O(jobs with lowered needs).
    pub(in crate::pass) fn learn_needs(&mut self, facts: &NodeFacts) {
        if self.config.needs == NeedsSource::Requested {
            return;
        }
        let before = self.nodes.facts.take();
        let known = before.iter().flat_map(|facts| facts.needs.keys());
        for id in known.chain(facts.needs.keys()) {
            let need = facts.needs.get(id).copied().unwrap_or(Need::WHOLE);
            self.learn_need(*id, need);
        }
        self.nodes.facts = before;
    }

    fn learn_need(&mut self, id: u32, need: Need) {
        let job = self.seen.job(id);
        let may_be_less = job.zip(self.ledger.get(id)).is_some_and(|(job, record)| {
            job.state == ObservedState::Running && is_measured(job, record, &self.config)
        });
        let need = if may_be_less { need } else { Need::WHOLE };
        let record = self.ledger.get(id);
        if record.is_some_and(|record| record.need != need)
            && let Some(record) = self.ledger.get_mut(id)
        {
            record.need = need;
        }
    }
}
