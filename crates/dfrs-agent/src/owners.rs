//! Nodes that users have for themselves: a job may refuse other users' jobs on its nodes, and then starts
//! nowhere where these are, nor they where it is (`filter_by_node_owner()`, 24.11.5).

use std::collections::{BTreeMap, BTreeSet};

use crate::beside::Beside;
use crate::observation::ObservedJob;

/// Whose jobs are on which nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owners {
    /// By node (Slurm's index) and user.
    guests: BTreeMap<u32, BTreeMap<u32, Guests>>,
    /// Jobs that refuse others, wherever they are.
    refusing: BTreeSet<u32>,
    /// Places of such jobs.
    refused: usize,
    changed: Beside<Changed>,
}

/// A user's jobs on one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Guests {
    jobs: usize,
    /// How many of them refuse others.
    refusing: usize,
}

/// What is different since this was last asked.
#[derive(Clone, Copy, Debug, Default)]
struct Changed {
    /// Somewhere others are refused who were not, or the other way round.
    owners: bool,
    /// Somewhere there are users who were not, or the other way round.
    users: bool,
}

impl Owners {
    /// A job is seen otherwise than before, for the first time, or no more. O(places × log nodes), and O(places)
    /// if what matters here is the same.
    pub(crate) fn follow(&mut self, before: Option<&ObservedJob>, after: Option<&ObservedJob>) {
        if let (Some(before), Some(after)) = (before, after)
            && (before.user, before.refuses_others) == (after.user, after.refuses_others)
            && nodes(before).eq(nodes(after))
        {
            return;
        }
        if let Some(job) = before {
            self.refusing.remove(&job.id);
            nodes(job).for_each(|node| self.leave(node, job));
        }
        if let Some(job) = after {
            if job.refuses_others {
                self.refusing.insert(job.id);
            }
            nodes(job).for_each(|node| self.come(node, job));
        }
    }

    fn come(&mut self, node: u32, job: &ObservedJob) {
        let refuses = usize::from(job.refuses_others);
        let users = self.guests.entry(node).or_default();
        let guests = users.entry(job.user).or_default();
        self.changed.0.users |= guests.jobs == 0;
        self.changed.0.owners |= refuses > guests.refusing;
        guests.jobs += 1;
        guests.refusing += refuses;
        self.refused += refuses;
    }

    fn leave(&mut self, node: u32, job: &ObservedJob) {
        let refuses = usize::from(job.refuses_others);
        let Some(users) = self.guests.get_mut(&node) else {
            return;
        };
        if let Some(guests) = users.get_mut(&job.user) {
            guests.jobs -= 1;
            guests.refusing -= refuses;
            self.refused -= refuses;
            self.changed.0.users |= guests.jobs == 0;
            self.changed.0.owners |= guests.refusing == 0 && refuses > 0;
        }
        users.retain(|_, guests| guests.jobs > 0);
        if users.is_empty() {
            self.guests.remove(&node);
        }
    }

    /// Whether any node may be out of this job's reach. O(1).
    pub(crate) fn may_concern(&self, job: &ObservedJob) -> bool {
        self.refused > 0 || (job.refuses_others && !self.guests.is_empty())
    }

    /// Whether Slurm would not start the job on this node because of whose jobs are there. O(log nodes + users
    /// there).
    pub(crate) fn keep_off(&self, job: &ObservedJob, node: u32) -> bool {
        let users = self.guests.get(&node).into_iter().flatten();
        let mut others = users.filter(|(user, _)| **user != job.user);
        others.any(|(_, guests)| job.refuses_others || guests.refusing > 0)
    }

    /// Which jobs may start on other nodes than when this was last asked.
    pub(crate) fn take_changed(&mut self) -> Concerned {
        let changed = self.changed.take();
        if changed.owners {
            Concerned::All
        } else if changed.users {
            Concerned::These(self.refusing.clone())
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
        let mut owners = Owners::default();
        let (own, others) = (of(1, 7, false), of(2, 8, false));
        assert!(!owners.may_concern(&own));
        let alone = on(&[3], of(4, 7, true));
        owners.follow(None, Some(&alone));
        assert!(owners.may_concern(&others));
        assert!(owners.keep_off(&others, 3) && !owners.keep_off(&others, 2));
        assert!(!owners.keep_off(&own, 3));
        owners.follow(Some(&alone), None);
        assert!(!owners.may_concern(&others) && !owners.keep_off(&others, 3));
    }

    #[test]
    fn a_job_that_refuses_others_is_kept_off_where_they_are() {
        let mut owners = Owners::default();
        owners.follow(None, Some(&on(&[3, 5], of(1, 7, false))));
        owners.follow(None, Some(&on(&[5], of(2, 8, false))));
        let alone = of(3, 8, true);
        assert!(owners.may_concern(&alone) && owners.keep_off(&alone, 3));
        assert!(owners.keep_off(&alone, 5) && !owners.keep_off(&alone, 4));
        assert!(!owners.keep_off(&of(4, 8, false), 3));
    }

    #[test]
    fn it_is_known_for_whom_something_is_different() {
        let mut owners = Owners::default();
        let none = || Concerned::These(BTreeSet::new());
        owners.follow(None, Some(&of(9, 1, true)));
        assert_eq!(owners.take_changed(), none());
        let placed = on(&[3], of(1, 7, false));
        owners.follow(None, Some(&placed));
        let waiting = Concerned::These(BTreeSet::from([9]));
        assert_eq!(owners.take_changed(), waiting);
        // Something else of it is different.
        let tasks = ObservedJob {
            tasks: 2,
            ..placed.clone()
        };
        owners.follow(Some(&placed), Some(&tasks));
        assert_eq!(owners.take_changed(), none());
        let second = on(&[3], of(2, 7, false));
        owners.follow(None, Some(&second));
        assert_eq!(owners.take_changed(), none(), "the same user");
        owners.follow(Some(&second), Some(&on(&[3], of(2, 7, true))));
        assert_eq!(owners.take_changed(), Concerned::All);
        owners.follow(Some(&on(&[3], of(2, 7, true))), None);
        assert_eq!(owners.take_changed(), Concerned::All);
        owners.follow(Some(&placed), None);
        assert_eq!(owners.take_changed(), waiting);
        assert_eq!(owners.guests, BTreeMap::new());
    }
}
