//! Jobs of several kinds, packed kind by kind.

use std::borrow::Cow;

use crate::model::{Job, Mapping};

use super::Packing;

impl Packing<'_> {
    /// What `search` finds for the jobs' kinds as if each were a job of its own, put together
    /// again. Jobs of equal identity, which only kinds of one job have, are distinguished by their
    /// order.
    pub(super) fn kind_by_kind(
        &self,
        search: impl FnOnce(&Packing<'_>) -> Option<Vec<Mapping>>,
    ) -> Option<Vec<Mapping>> {
        if self.jobs.iter().all(|job| job.has_one_kind()) {
            return search(self);
        }
        let kinds: Vec<Cow<'_, Job>> = self.jobs.iter().flat_map(|job| job.by_kind()).collect();
        let jobs: Vec<&Job> = kinds.iter().map(AsRef::as_ref).collect();
        let mut found = search(&Packing {
            jobs: &jobs,
            ..*self
        })?;
        let mut rest = found.as_mut_slice();
        let together = self.jobs.iter().map(|job| {
            let (own, others) = std::mem::take(&mut rest).split_at_mut(job.kinds().len());
            rest = others;
            match own {
                [only] => std::mem::take(only),
                _ => Mapping::of_kinds(own),
            }
        });
        Some(together.collect())
    }
}
