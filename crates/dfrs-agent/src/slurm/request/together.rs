//! Which nodes a job may have together: `--contiguous` and `--switches`.

use dfrs_core::{Layout, Mapping, NodeGroups, Time, Together};

use crate::slurm::observation::Observation;
use crate::slurm::records::ObservedJob;

/// The job's rule now, if it may have several nodes by this layout. As Slurm does, a job that wants
/// consecutive nodes is asked for no number of switches, and none has one where Slurm knows no
/// switches. O(1) for a job that waits, O(its nodes × switches) else.
pub fn together_of(
    job: &ObservedJob,
    layout: &Layout,
    observation: &Observation,
    now: Time,
) -> Option<Together> {
    let request = &job.request;
    if request.tasks <= 1 || layout.nodes() <= 1 {
        return None;
    }
    if request.contiguous {
        return Some(Together::Consecutive(observation.runs().clone()));
    }
    if request.switches == 0 || observation.leaves().is_empty() {
        return None;
    }
    let rule = Together::AtMost(request.switches, observation.leaves().clone());
    let holds = if job.places.is_empty() {
        switch_rule_ends(job).is_none_or(|end| end > now)
    } else {
        // What it has waited for stays its own.
        let places = job.places.iter();
        let nodes = places.filter_map(|place| observation.core_index(place.node));
        rule.allows(&Mapping::from_tasks(nodes))
    };
    holds.then_some(rule)
}

/// The nodes of each leaf switch, for a job of this layout that is to have few switches without
/// having asked for it, as jobs have with Slurm alone. O(1).
pub fn few_of(job: &ObservedJob, layout: &Layout, observation: &Observation) -> Option<NodeGroups> {
    let may_have_several = job.request.tasks > 1 && layout.nodes() > 1;
    let may_have_several = may_have_several && layout.together.is_none();
    let leaves = observation.leaves();
    (may_have_several && !leaves.is_empty()).then(|| leaves.clone())
}

/// When a waiting job no longer insists on its number of switches; `None`: it has no such rule, or
/// is not eligible yet.
pub fn switch_rule_ends(job: &ObservedJob) -> Option<Time> {
    let request = &job.request;
    let waits = request.switches > 0 && !request.contiguous && job.places.is_empty();
    let seconds = job
        .eligible_seconds
        .saturating_add(request.switch_wait_seconds.into());
    (waits && job.eligible_seconds > 0).then(|| Time::from_seconds(seconds))
}

/// When a job that may have several nodes no longer insists on its number of switches; `None`: it
/// has not, or no longer has, such a rule.
pub fn insists_until(job: &ObservedJob, observation: &Observation, now: Time) -> Option<Time> {
    let may_have_several = job.request.tasks > 1 && job.request.max_nodes != 1;
    let counts = may_have_several && !observation.leaves().is_empty();
    switch_rule_ends(job).filter(|end| counts && *end > now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{job, nodes};
    use crate::slurm::records::{ObservedNode, ObservedPlace};

    fn with_switches() -> Observation {
        let mut all: Vec<ObservedNode> = nodes(4);
        for (node, leaf) in all.iter_mut().zip(["s1", "s1", "s2", "s2"]) {
            node.leaf_switch = Some(leaf.into());
        }
        Observation::new([], all)
    }

    fn on(nodes: &[u32], mut job: ObservedJob) -> ObservedJob {
        let place = |node: &u32| ObservedPlace {
            node: *node,
            tasks: 1,
            memory_mib: 100,
        };
        job.places = nodes.iter().map(place).collect();
        job
    }

    fn of(job: &ObservedJob, observation: &Observation, seconds: i64) -> Option<Together> {
        together_of(
            job,
            &Layout::default(),
            observation,
            Time::from_seconds(seconds),
        )
    }

    #[test]
    fn job_on_one_node_has_no_rule() {
        let one = job(1, 1).requesting(|request| request.contiguous = true);
        assert_eq!(of(&one, &with_switches(), 0), None);
        let several = job(1, 2).requesting(|request| request.contiguous = true);
        let on_one = Layout {
            max_nodes: Some(1),
            ..Layout::default()
        };
        let observation = with_switches();
        assert_eq!(together_of(&several, &on_one, &observation, Time(0)), None);
        assert!(matches!(
            of(&several, &observation, 0),
            Some(Together::Consecutive(_))
        ));
    }

    #[test]
    fn number_of_switches_holds_until_the_job_has_waited() {
        let mut waits = job(1, 2).requesting(|request| {
            (request.switches, request.switch_wait_seconds) = (1, 300);
        });
        let observation = with_switches();
        assert_eq!(switch_rule_ends(&waits), None, "it is not eligible");
        assert!(matches!(
            of(&waits, &observation, 5000),
            Some(Together::AtMost(1, _))
        ));
        waits.eligible_seconds = 1000;
        assert_eq!(switch_rule_ends(&waits), Some(Time::from_seconds(1300)));
        assert!(of(&waits, &observation, 1299).is_some());
        assert_eq!(of(&waits, &observation, 1300), None);
        assert_eq!(of(&waits, &Observation::new([], nodes(4)), 1000), None);
    }

    #[test]
    fn job_without_a_rule_is_to_have_few_switches() {
        let observation = with_switches();
        let found = |tasks, layout: &Layout| {
            let leaves = few_of(&job(1, tasks), layout, &observation);
            leaves.map(|leaves| leaves.len())
        };
        assert_eq!(found(2, &Layout::default()), Some(2));
        assert_eq!(found(1, &Layout::default()), None);
        let on_one = Layout {
            max_nodes: Some(1),
            ..Layout::default()
        };
        assert_eq!(found(2, &on_one), None);
        let ruled = Layout {
            together: Some(Together::AtMost(1, observation.leaves().clone())),
            ..Layout::default()
        };
        assert_eq!(found(2, &ruled), None);
        let without = Observation::new([], nodes(4));
        assert_eq!(few_of(&job(1, 2), &Layout::default(), &without), None);
    }

    #[test]
    fn running_job_keeps_the_rule_that_its_nodes_keep() {
        let wants = || {
            let mut job = job(1, 2).requesting(|request| request.switches = 1);
            job.eligible_seconds = 1000;
            job
        };
        let observation = with_switches();
        assert!(of(&on(&[0, 1], wants()), &observation, 9000).is_some());
        assert_eq!(of(&on(&[1, 2], wants()), &observation, 9000), None);
    }
}
