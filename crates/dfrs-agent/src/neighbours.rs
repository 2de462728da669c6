//! Who may be beside whom: a job may refuse other users' jobs on its nodes, and jobs of different MCS labels
//! are kept apart. A job starts nowhere where such jobs are, nor they where it is (`filter_by_node_owner()`
//! and `filter_by_node_mcs()`, 24.11.5).

use std::collections::{BTreeMap, BTreeSet};

use crate::beside::Beside;
use crate::observation::ObservedJob;

/// Whose jobs are on which nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Neighbours {
    /// By node (Slurm's index) and party.
    guests: BTreeMap<u32, BTreeMap<Party, Guests>>,
    /// Jobs that refuse others or have a label, wherever they are.
    choosy: BTreeSet<u32>,
    /// Places of such jobs.
    choosy_places: usize,
    changed: Beside<Changed>,
}

/// Jobs that are alike to all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Party {
    user: u32,
    label: u32,
}

/// A party's jobs on one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Guests {
    jobs: usize,
    /// How many of them refuse other users.
    refusing: usize,
}

/// What is different since this was last asked.
#[derive(Clone, Copy, Debug, Default)]
struct Changed {
    /// Somewhere others are refused who were not, or the other way round.
    refused: bool,
    /// Somewhere there are parties that were not, or the other way round.
    parties: bool,
}

impl Neighbours {
    /// A job is seen otherwise than before, for the first time, or no more. O(places × log nodes), and O(places)
    /// if what matters here is the same.
    pub(crate) fn follow(&mut self, before: Option<&ObservedJob>, after: Option<&ObservedJob>) {
        if let (Some(before), Some(after)) = (before, after)
            && (party(before), before.refuses_others) == (party(after), after.refuses_others)
            && nodes(before).eq(nodes(after))
        {
            return;
        }
        if let Some(job) = before {
            self.choosy.remove(&job.id);
            nodes(job).for_each(|node| self.leave(node, job));
        }
        if let Some(job) = after {
            if is_choosy(job) {
                self.choosy.insert(job.id);
            }
            nodes(job).for_each(|node| self.come(node, job));
        }
    }

    fn come(&mut self, node: u32, job: &ObservedJob) {
        let refuses = usize::from(job.refuses_others);
        let parties = self.guests.entry(node).or_default();
        let guests = parties.entry(party(job)).or_default();
        let is_first = guests.jobs == 0;
        self.changed.0.parties |= is_first;
        self.changed.0.refused |= refuses > guests.refusing || (is_first && job.label > 0);
        guests.jobs += 1;
        guests.refusing += refuses;
        self.choosy_places += usize::from(is_choosy(job));
    }

    fn leave(&mut self, node: u32, job: &ObservedJob) {
        let refuses = usize::from(job.refuses_others);
        let Some(parties) = self.guests.get_mut(&node) else {
            return;
        };
        if let Some(guests) = parties.get_mut(&party(job)) {
            guests.jobs -= 1;
            guests.refusing -= refuses;
            self.choosy_places -= usize::from(is_choosy(job));
            let was_last = guests.jobs == 0;
            self.changed.0.parties |= was_last;
            self.changed.0.refused |=
                (guests.refusing == 0 && refuses > 0) || (was_last && job.label > 0);
        }
        parties.retain(|_, guests| guests.jobs > 0);
        if parties.is_empty() {
            self.guests.remove(&node);
        }
    }

    /// Whether any node may be out of this job's reach. O(1).
    pub(crate) fn may_concern(&self, job: &ObservedJob) -> bool {
        self.choosy_places > 0 || (is_choosy(job) && !self.guests.is_empty())
    }

    /// Whether Slurm would not start the job on this node because of whose jobs are there. O(log nodes +
    /// parties there).
    pub(crate) fn keep_off(&self, job: &ObservedJob, node: u32) -> bool {
        let own = party(job);
        let mut parties = self.guests.get(&node).into_iter().flatten();
        parties.any(|(party, guests)| {
            let refused = job.refuses_others || guests.refusing > 0;
            party.label != own.label || (party.user != own.user && refused)
        })
    }

    /// Which jobs may start on other nodes than when this was last asked.
    pub(crate) fn take_changed(&mut self) -> Concerned {
        let changed = self.changed.take();
        if changed.refused {
            Concerned::All
        } else if changed.parties {
            Concerned::These(self.choosy.clone())
        } else {
            Concerned::These(BTreeSet::new())
        }
    }
}

/// Jobs for which something is different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Concerned {
    /// All of them.
    All,
    /// These at most.
    These(BTreeSet<u32>),
}

fn party(job: &ObservedJob) -> Party {
    Party {
        user: job.user,
        label: job.label,
    }
}

fn is_choosy(job: &ObservedJob) -> bool {
    job.refuses_others || job.label > 0
}

fn nodes(job: &ObservedJob) -> impl Iterator<Item = u32> {
    job.places.iter().map(|place| place.node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::job;
    use crate::observation::Place;

    fn on(nodes: &[u32], of: ObservedJob) -> ObservedJob {
        let place = |node: &u32| Place {
            node: *node,
            tasks: 1,
            memory: 100,
        };
        ObservedJob {
            places: nodes.iter().map(place).collect(),
            ..of
        }
    }

    fn of(id: u32, user: u32, refuses_others: bool) -> ObservedJob {
        ObservedJob {
            user,
            refuses_others,
            ..job(id, 1)
        }
    }

    #[test]
    fn a_user_with_nodes_for_himself_keeps_others_off_them() {
        let mut neighbours = Neighbours::default();
        let (own, others) = (of(1, 7, false), of(2, 8, false));
        assert!(!neighbours.may_concern(&own));
        let alone = on(&[3], of(4, 7, true));
        neighbours.follow(None, Some(&alone));
        assert!(neighbours.may_concern(&others));
        assert!(neighbours.keep_off(&others, 3) && !neighbours.keep_off(&others, 2));
        assert!(!neighbours.keep_off(&own, 3));
        neighbours.follow(Some(&alone), None);
        assert!(!neighbours.may_concern(&others) && !neighbours.keep_off(&others, 3));
    }

    #[test]
    fn a_job_that_refuses_others_is_kept_off_where_they_are() {
        let mut neighbours = Neighbours::default();
        neighbours.follow(None, Some(&on(&[3, 5], of(1, 7, false))));
        neighbours.follow(None, Some(&on(&[5], of(2, 8, false))));
        let alone = of(3, 8, true);
        assert!(neighbours.may_concern(&alone) && neighbours.keep_off(&alone, 3));
        assert!(neighbours.keep_off(&alone, 5) && !neighbours.keep_off(&alone, 4));
        assert!(!neighbours.keep_off(&of(4, 8, false), 3));
    }

    #[test]
    fn it_is_known_for_whom_something_is_different() {
        let mut neighbours = Neighbours::default();
        let none = || Concerned::These(BTreeSet::new());
        neighbours.follow(None, Some(&of(9, 1, true)));
        assert_eq!(neighbours.take_changed(), none());
        let placed = on(&[3], of(1, 7, false));
        neighbours.follow(None, Some(&placed));
        let waiting = Concerned::These(BTreeSet::from([9]));
        assert_eq!(neighbours.take_changed(), waiting);
        // Something else of it is different.
        let tasks = ObservedJob {
            tasks: 2,
            ..placed.clone()
        };
        neighbours.follow(Some(&placed), Some(&tasks));
        assert_eq!(neighbours.take_changed(), none());
        let second = on(&[3], of(2, 7, false));
        neighbours.follow(None, Some(&second));
        assert_eq!(neighbours.take_changed(), none(), "the same user");
        neighbours.follow(Some(&second), Some(&on(&[3], of(2, 7, true))));
        assert_eq!(neighbours.take_changed(), Concerned::All);
        neighbours.follow(Some(&on(&[3], of(2, 7, true))), None);
        assert_eq!(neighbours.take_changed(), Concerned::All);
        neighbours.follow(Some(&placed), None);
        assert_eq!(neighbours.take_changed(), waiting);
        assert_eq!(neighbours.guests, BTreeMap::new());
    }

    #[test]
    fn jobs_of_different_labels_are_kept_apart_also_of_one_user() {
        let labelled = |id, label| ObservedJob {
            label,
            ..of(id, 1, false)
        };
        let mut neighbours = Neighbours::default();
        let (plain, one, other) = (labelled(1, 0), labelled(2, 7), labelled(3, 8));
        assert!(!neighbours.may_concern(&one));
        neighbours.follow(None, Some(&on(&[3], plain.clone())));
        assert!(neighbours.may_concern(&one) && !neighbours.may_concern(&plain));
        assert!(neighbours.keep_off(&one, 3) && !neighbours.keep_off(&plain, 3));
        neighbours.take_changed();
        neighbours.follow(None, Some(&on(&[4], one.clone())));
        assert!(neighbours.may_concern(&plain) && neighbours.keep_off(&plain, 4));
        assert!(!neighbours.keep_off(&one, 4) && neighbours.keep_off(&other, 4));
        assert_eq!(neighbours.take_changed(), Concerned::All);
        neighbours.follow(Some(&on(&[4], one)), None);
        assert_eq!(neighbours.take_changed(), Concerned::All);
        assert!(!neighbours.may_concern(&plain));
    }

    #[test]
    fn a_label_that_waits_hears_of_nodes_that_others_leave() {
        let waits = ObservedJob {
            label: 7,
            ..of(9, 1, false)
        };
        let mut neighbours = Neighbours::default();
        neighbours.follow(None, Some(&waits));
        let plain = on(&[3], of(1, 2, false));
        neighbours.follow(None, Some(&plain));
        neighbours.follow(Some(&plain), None);
        assert_eq!(
            neighbours.take_changed(),
            Concerned::These(BTreeSet::from([9]))
        );
    }
}
