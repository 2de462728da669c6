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
    /// Of each user who has jobs on nodes, all of them.
    users: BTreeMap<u32, Guests>,
    changed: Beside<Changed>,
    changes: Beside<Changes>,
}

/// Jobs that are alike to all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Party {
    user: u32,
    label: u32,
}

/// All of a job that decides where others keep it off, and when that was: all jobs of one standing are kept off the
/// same nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Standing {
    /// Only of users who have a part in it: all others are strangers everywhere.
    user: Option<u32>,
    label: u32,
    refuses_others: bool,
    /// As many changes after the first.
    at: u64,
}

impl Standing {
    fn is_choosy(self) -> bool {
        self.refuses_others || self.label > 0
    }
}

/// A party's jobs on one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Guests {
    jobs: usize,
    /// How many of them refuse other users.
    refusing: usize,
}

impl Guests {
    fn add(&mut self, refusing: usize) {
        self.jobs += 1;
        self.refusing += refusing;
    }

    fn take(&mut self, refusing: usize) {
        self.jobs -= 1;
        self.refusing -= refusing;
    }
}

/// What is different since this was last asked.
#[derive(Clone, Copy, Debug, Default)]
struct Changed {
    /// Somewhere others are refused who were not, or the other way round.
    refused: bool,
    /// Somewhere there are parties that were not, or the other way round.
    parties: bool,
}

/// How often something was different.
#[derive(Clone, Copy, Debug, Default)]
struct Changes {
    /// For all jobs.
    refused: u64,
    /// For those that refuse others or have a label.
    any: u64,
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
        let changed = Changed {
            refused: refuses > guests.refusing || (is_first && job.label > 0),
            parties: is_first,
        };
        guests.add(refuses);
        self.users.entry(job.user).or_default().add(refuses);
        self.choosy_places += usize::from(is_choosy(job));
        self.note(changed);
    }

    fn note(&mut self, new: Changed) {
        let (changed, changes) = (&mut self.changed.0, &mut self.changes.0);
        changed.refused |= new.refused;
        changed.parties |= new.parties;
        changes.refused += u64::from(new.refused);
        changes.any += u64::from(new.refused || new.parties);
    }

    fn leave(&mut self, node: u32, job: &ObservedJob) {
        let refuses = usize::from(job.refuses_others);
        let Some(parties) = self.guests.get_mut(&node) else {
            return;
        };
        let Some(guests) = parties.get_mut(&party(job)) else {
            return;
        };
        guests.take(refuses);
        let was_last = guests.jobs == 0;
        let changed = Changed {
            refused: (guests.refusing == 0 && refuses > 0) || (was_last && job.label > 0),
            parties: was_last,
        };
        parties.retain(|_, guests| guests.jobs > 0);
        if parties.is_empty() {
            self.guests.remove(&node);
        }
        self.leave_user(job.user, refuses);
        self.choosy_places -= usize::from(is_choosy(job));
        self.note(changed);
    }

    fn leave_user(&mut self, user: u32, refuses: usize) {
        if let Some(guests) = self.users.get_mut(&user) {
            guests.take(refuses);
            if guests.jobs == 0 {
                self.users.remove(&user);
            }
        }
    }

    /// What decides where others keep this job off; `None`: nowhere do they. O(log users).
    pub(crate) fn standing(&self, job: &ObservedJob) -> Option<Standing> {
        if !self.may_concern(job) {
            return None;
        }
        let own = self.users.get(&job.user);
        // Who refuses others minds all of them, and who does not only those who refuse him.
        let has_part = own.is_some_and(|own| job.refuses_others || own.refusing > 0);
        Some(Standing {
            user: has_part.then_some(job.user),
            label: job.label,
            refuses_others: job.refuses_others,
            at: self.at(is_choosy(job)),
        })
    }

    /// Whether nothing has changed for jobs of this standing since it was theirs.
    pub(crate) fn is_current(&self, standing: Standing) -> bool {
        standing.at == self.at(standing.is_choosy())
    }

    fn at(&self, is_choosy: bool) -> u64 {
        let changes = &self.changes.0;
        if is_choosy {
            changes.any
        } else {
            changes.refused
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
        assert_eq!(neighbours.users, BTreeMap::new());
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
