//! Which jobs may share nodes: a job may refuse other users' jobs on its nodes, and jobs of
//! different MCS labels are kept apart. A job starts nowhere where such jobs are, nor they where it
//! is (`filter_by_node_owner()` and `filter_by_node_mcs()`, 24.11.5).

use std::collections::{BTreeMap, BTreeSet};

use crate::ignored_in_eq::IgnoredInEq;
use crate::slurm::records::ObservedJob;

/// Whose jobs are on which nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exclusivity {
    /// By node (Slurm's index) and party.
    occupants: BTreeMap<u32, BTreeMap<JobOwner, Occupants>>,
    /// Jobs that refuse others or have a label, wherever they are.
    exclusive_jobs: BTreeSet<u32>,
    /// Places of such jobs.
    exclusive_places: usize,
    /// For each user that has jobs on nodes, all of these jobs.
    users: BTreeMap<u32, Occupants>,
    changes: IgnoredInEq<ExclusivityCounters>,
    /// As they were at the last call.
    taken: IgnoredInEq<ExclusivityCounters>,
}

/// Jobs that are alike to all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct JobOwner {
    user: u32,
    mcs_label: u32,
}

/// Everything about a job that decides where others keep it off, and when that was: all jobs with
/// one key are kept off the same nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ExclusivityKey {
    /// Only of users who are affected: all others are strangers everywhere.
    user: Option<u32>,
    label: u32,
    exclusive_user: bool,
    /// As many changes after the first.
    at: u64,
}

impl ExclusivityKey {
    fn has_exclusivity(self) -> bool {
        self.exclusive_user || self.label > 0
    }
}

/// A party's jobs on one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Occupants {
    jobs: usize,
    /// How many of them refuse other users.
    exclusive_user_jobs: usize,
}

impl Occupants {
    fn add(&mut self, refusing: usize) {
        self.jobs += 1;
        self.exclusive_user_jobs += refusing;
    }

    fn take(&mut self, refusing: usize) {
        self.jobs -= 1;
        self.exclusive_user_jobs -= refusing;
    }
}

/// How often something was different.
#[derive(Clone, Copy, Debug, Default)]
struct ExclusivityCounters {
    /// For all jobs: users that were not refused somewhere then were, or the other way round.
    refused: u64,
    /// For those that refuse others or have a label: also somewhere there were parties that were
    /// not, or the other way round.
    any: u64,
}

impl Exclusivity {
    /// Follows a job that changed, is new, or is gone. O(places × log nodes), and O(places) if
    /// nothing changed that matters here.
    pub(crate) fn follow(&mut self, before: Option<&ObservedJob>, after: Option<&ObservedJob>) {
        if let (Some(before), Some(after)) = (before, after)
            && (owner_of(before), before.request.exclusive_user)
                == (owner_of(after), after.request.exclusive_user)
            && nodes(before).eq(nodes(after))
        {
            return;
        }
        if let Some(job) = before {
            self.exclusive_jobs.remove(&job.id);
            nodes(job).for_each(|node| self.leave(node, job));
        }
        if let Some(job) = after {
            if has_exclusivity(job) {
                self.exclusive_jobs.insert(job.id);
            }
            nodes(job).for_each(|node| self.come(node, job));
        }
    }

    fn come(&mut self, node: u32, job: &ObservedJob) {
        let refuses = usize::from(job.request.exclusive_user);
        let owners = self.occupants.entry(node).or_default();
        let occupants = owners.entry(owner_of(job)).or_default();
        let is_first = occupants.jobs == 0;
        let refused =
            refuses > occupants.exclusive_user_jobs || (is_first && job.request.mcs_label > 0);
        occupants.add(refuses);
        self.users.entry(job.user).or_default().add(refuses);
        self.exclusive_places += usize::from(has_exclusivity(job));
        self.note(refused, is_first);
    }

    fn note(&mut self, refused: bool, parties: bool) {
        let changes = &mut self.changes.0;
        changes.refused += u64::from(refused);
        changes.any += u64::from(refused || parties);
    }

    fn leave(&mut self, node: u32, job: &ObservedJob) {
        let refuses = usize::from(job.request.exclusive_user);
        let Some(owners) = self.occupants.get_mut(&node) else {
            return;
        };
        let Some(occupants) = owners.get_mut(&owner_of(job)) else {
            return;
        };
        occupants.take(refuses);
        let was_last = occupants.jobs == 0;
        let refused = (occupants.exclusive_user_jobs == 0 && refuses > 0)
            || (was_last && job.request.mcs_label > 0);
        owners.retain(|_, occupants| occupants.jobs > 0);
        if owners.is_empty() {
            self.occupants.remove(&node);
        }
        self.leave_user(job.user, refuses);
        self.exclusive_places -= usize::from(has_exclusivity(job));
        self.note(refused, was_last);
    }

    fn leave_user(&mut self, user: u32, refuses: usize) {
        if let Some(occupants) = self.users.get_mut(&user) {
            occupants.take(refuses);
            if occupants.jobs == 0 {
                self.users.remove(&user);
            }
        }
    }

    /// What decides where others keep this job off; `None`: nowhere do they. O(log users).
    pub(crate) fn exclusivity_key(&self, job: &ObservedJob) -> Option<ExclusivityKey> {
        if !self.may_concern(job) {
            return None;
        }
        let own = self.users.get(&job.user);
        // A job that refuses other users is affected by all of them, any other only by those that
        // refuse its user.
        let has_part =
            own.is_some_and(|own| job.request.exclusive_user || own.exclusive_user_jobs > 0);
        Some(ExclusivityKey {
            user: has_part.then_some(job.user),
            label: job.request.mcs_label,
            exclusive_user: job.request.exclusive_user,
            at: self.counter(has_exclusivity(job)),
        })
    }

    /// Whether nothing has changed for jobs of this standing since it was theirs.
    pub(crate) fn is_current(&self, standing: ExclusivityKey) -> bool {
        standing.at == self.counter(standing.has_exclusivity())
    }

    fn counter(&self, has_exclusivity: bool) -> u64 {
        let changes = &self.changes.0;
        if has_exclusivity {
            changes.any
        } else {
            changes.refused
        }
    }

    /// Whether any node may be out of this job's reach. O(1).
    pub(crate) fn may_concern(&self, job: &ObservedJob) -> bool {
        self.exclusive_places > 0 || (has_exclusivity(job) && !self.occupants.is_empty())
    }

    /// Whether Slurm would not start the job on this node because of whose jobs are there. O(log
    /// nodes + parties there).
    pub(crate) fn excludes(&self, job: &ObservedJob, node: u32) -> bool {
        let own = owner_of(job);
        let mut owners = self.occupants.get(&node).into_iter().flatten();
        owners.any(|(party, occupants)| {
            let refused = job.request.exclusive_user || occupants.exclusive_user_jobs > 0;
            party.mcs_label != own.mcs_label || (party.user != own.user && refused)
        })
    }

    /// Which jobs may start on other nodes than at the last call.
    pub(crate) fn take_changed(&mut self) -> AffectedJobs {
        let now = self.changes.0;
        let before = std::mem::replace(&mut self.taken.0, now);
        if now.refused > before.refused {
            AffectedJobs::All
        } else if now.any > before.any {
            AffectedJobs::These(self.exclusive_jobs.clone())
        } else {
            AffectedJobs::These(BTreeSet::new())
        }
    }
}

/// Jobs for which something is different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AffectedJobs {
    /// All of them.
    All,
    /// These at most.
    These(BTreeSet<u32>),
}

fn owner_of(job: &ObservedJob) -> JobOwner {
    JobOwner {
        user: job.user,
        mcs_label: job.request.mcs_label,
    }
}

fn has_exclusivity(job: &ObservedJob) -> bool {
    job.request.exclusive_user || job.request.mcs_label > 0
}

fn nodes(job: &ObservedJob) -> impl Iterator<Item = u32> {
    job.places.iter().map(|place| place.node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::job;
    use crate::slurm::records::ObservedPlace;

    fn on(nodes: &[u32], of: ObservedJob) -> ObservedJob {
        let place = |node: &u32| ObservedPlace {
            node: *node,
            tasks: 1,
            memory_mib: 100,
        };
        ObservedJob {
            places: nodes.iter().map(place).collect(),
            ..of
        }
    }

    fn of(id: u32, user: u32, refuses_others: bool) -> ObservedJob {
        ObservedJob { user, ..job(id, 1) }
            .requesting(|request| request.exclusive_user = refuses_others)
    }

    #[test]
    fn exclusive_user_job_keeps_other_users_off_its_nodes() {
        let mut exclusivity = Exclusivity::default();
        let (own, others) = (of(1, 7, false), of(2, 8, false));
        assert!(!exclusivity.may_concern(&own));
        let alone = on(&[3], of(4, 7, true));
        exclusivity.follow(None, Some(&alone));
        assert!(exclusivity.may_concern(&others));
        assert!(exclusivity.excludes(&others, 3) && !exclusivity.excludes(&others, 2));
        assert!(!exclusivity.excludes(&own, 3));
        exclusivity.follow(Some(&alone), None);
        assert!(!exclusivity.may_concern(&others) && !exclusivity.excludes(&others, 3));
    }

    #[test]
    fn exclusive_user_job_is_kept_off_nodes_of_other_users() {
        let mut exclusivity = Exclusivity::default();
        exclusivity.follow(None, Some(&on(&[3, 5], of(1, 7, false))));
        exclusivity.follow(None, Some(&on(&[5], of(2, 8, false))));
        let alone = of(3, 8, true);
        assert!(exclusivity.may_concern(&alone) && exclusivity.excludes(&alone, 3));
        assert!(exclusivity.excludes(&alone, 5) && !exclusivity.excludes(&alone, 4));
        assert!(!exclusivity.excludes(&of(4, 8, false), 3));
    }

    #[test]
    fn change_is_reported_only_for_affected_jobs() {
        let mut exclusivity = Exclusivity::default();
        let none = || AffectedJobs::These(BTreeSet::new());
        exclusivity.follow(None, Some(&of(9, 1, true)));
        assert_eq!(exclusivity.take_changed(), none());
        let placed = on(&[3], of(1, 7, false));
        exclusivity.follow(None, Some(&placed));
        let waiting = AffectedJobs::These(BTreeSet::from([9]));
        assert_eq!(exclusivity.take_changed(), waiting);
        // Something else of it is different.
        let tasks = placed.clone().requesting(|request| request.tasks = 2);
        exclusivity.follow(Some(&placed), Some(&tasks));
        assert_eq!(exclusivity.take_changed(), none());
        let second = on(&[3], of(2, 7, false));
        exclusivity.follow(None, Some(&second));
        assert_eq!(exclusivity.take_changed(), none(), "the same user");
        exclusivity.follow(Some(&second), Some(&on(&[3], of(2, 7, true))));
        assert_eq!(exclusivity.take_changed(), AffectedJobs::All);
        exclusivity.follow(Some(&on(&[3], of(2, 7, true))), None);
        assert_eq!(exclusivity.take_changed(), AffectedJobs::All);
        exclusivity.follow(Some(&placed), None);
        assert_eq!(exclusivity.take_changed(), waiting);
        assert_eq!(exclusivity.occupants, BTreeMap::new());
        assert_eq!(exclusivity.users, BTreeMap::new());
    }

    #[test]
    fn jobs_of_different_mcs_labels_share_no_node_even_of_one_user() {
        let labelled = |id, label| of(id, 1, false).requesting(|request| request.mcs_label = label);
        let mut exclusivity = Exclusivity::default();
        let (plain, one, other) = (labelled(1, 0), labelled(2, 7), labelled(3, 8));
        assert!(!exclusivity.may_concern(&one));
        exclusivity.follow(None, Some(&on(&[3], plain.clone())));
        assert!(exclusivity.may_concern(&one) && !exclusivity.may_concern(&plain));
        assert!(exclusivity.excludes(&one, 3) && !exclusivity.excludes(&plain, 3));
        exclusivity.take_changed();
        exclusivity.follow(None, Some(&on(&[4], one.clone())));
        assert!(exclusivity.may_concern(&plain) && exclusivity.excludes(&plain, 4));
        assert!(!exclusivity.excludes(&one, 4) && exclusivity.excludes(&other, 4));
        assert_eq!(exclusivity.take_changed(), AffectedJobs::All);
        exclusivity.follow(Some(&on(&[4], one)), None);
        assert_eq!(exclusivity.take_changed(), AffectedJobs::All);
        assert!(!exclusivity.may_concern(&plain));
    }

    #[test]
    fn waiting_labelled_job_is_affected_when_other_jobs_leave_a_node() {
        let waits = of(9, 1, false).requesting(|request| request.mcs_label = 7);
        let mut exclusivity = Exclusivity::default();
        exclusivity.follow(None, Some(&waits));
        let plain = on(&[3], of(1, 2, false));
        exclusivity.follow(None, Some(&plain));
        exclusivity.follow(Some(&plain), None);
        assert_eq!(
            exclusivity.take_changed(),
            AffectedJobs::These(BTreeSet::from([9]))
        );
    }
}
