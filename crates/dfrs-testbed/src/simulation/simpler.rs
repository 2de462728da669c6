//! Plainer scenarios than a given one: fewer and smaller nodes and jobs, shorter times, no jitter.

use dfrs_core::Span;

use super::devices;
use super::scenario::{SECOND, TrialScenario};
use crate::model::acts::Act;
use crate::model::{ImageOutcome, JobSubmission, ModelSettings};
use dfrs_agent::fixtures::job;
use dfrs_agent::slurm::records::ObservedJob;

/// The simplification of this number, if there are so many: `None` inside if it changes nothing, or
/// makes a scenario in which jobs can never finish. Each of them makes the scenario smaller by some
/// measure, so that it can be repeated only so often.
pub(super) fn simpler(scenario: &TrialScenario, number: usize) -> Option<Option<TrialScenario>> {
    let whole = WHOLE.len();
    let groups = scenario.nodes.len();
    let acts = scenario.acts.len();
    let mut changed = scenario.clone();
    if number < whole {
        WHOLE[number](&mut changed);
    } else if number < whole + groups {
        let count = &mut changed.nodes[number - whole].count;
        *count = count.saturating_sub(1);
    } else {
        let number = number - whole - groups;
        let (act, how) = (number / (OF_JOBS.len() + 3), number % (OF_JOBS.len() + 3));
        if act >= acts {
            return None;
        }
        simplify_act(&mut changed, act, how);
    }
    Some((changed != *scenario && is_schedulable(&changed)).then_some(changed))
}

type Simplification<T> = fn(&mut T);

const WHOLE: [Simplification<TrialScenario>; 9] = [
    drop_last_partition,
    |scenario| {
        let nodes = scenario.nodes.iter_mut();
        nodes.for_each(|nodes| nodes.devices.clear());
    },
    |scenario| scenario.settings.jitter = None,
    |scenario| scenario.settings.call = Span(0),
    |scenario| scenario.settings.user_limit = None,
    |scenario| scenario.settings.swap_mib = ModelSettings::default().swap_mib,
    |scenario| scenario.settings.swap_mib_per_second = ModelSettings::default().swap_mib_per_second,
    |scenario| scenario.settings.keeps_swap = false,
    |scenario| {
        let last = scenario.acts.last().map_or(0, |(at, _)| at.0);
        scenario.heal = scenario.heal.min(Span(last + SECOND));
    },
];

const OF_JOBS: [Simplification<JobSubmission>; 23] = [
    |made| made.job.request.devices.clear(),
    |made| made.array = 1,
    |made| made.job.request.tasks = 1,
    |made| made.job.request.tasks = (made.job.request.tasks / 2).max(1),
    |made| made.job.request.memory = made.job.request.memory.min(100),
    |made| made.work = halved(made.work),
    |made| made.uses.clear(),
    |made| made.job.limit_minutes = 0,
    |made| made.begin_seconds = 0,
    |made| made.owner = false,
    |made| made.job.request.exclusive = false,
    |made| made.job.request.mcs_label = 0,
    |made| made.stubborn = false,
    |made| made.untrapped = false,
    |made| made.pinned = false,
    |made| made.image = ImageOutcome::Refused,
    |made| made.holds = false,
    |made| made.step_seconds = 0,
    |made| made.ends_when_warned = false,
    |made| made.user = 1000,
    |made| made.job.priority = job(0, 1).priority,
    |made| made.job.comment.clear(),
    |made| {
        let plain = job(0, 1);
        (made.job.batch, made.job.requeue) = (plain.batch, plain.requeue);
    },
];

fn halved(span: Span) -> Span {
    Span(span.0 / 2 / SECOND * SECOND)
        .max(Span(SECOND))
        .min(span)
}

/// The one that no job is in: its nodes, which are the last ones, and what dfrs.conf says of it.
fn drop_last_partition(scenario: &mut TrialScenario) {
    let submissions = scenario.acts.iter().filter_map(|(_, act)| submitted(act));
    let Some(last) = scenario.nodes.last().filter(|_| scenario.nodes.len() > 1) else {
        return;
    };
    let name = last.partition.clone();
    if submissions.clone().any(|job| job.partition == name) {
        return;
    }
    scenario.nodes.pop();
    let line = format!("Partition={name} ");
    scenario.conf.retain(|other| !other.starts_with(&line));
    for (_, act) in &mut scenario.acts {
        if let Act::Configure(conf) = act {
            let lines = conf.lines().filter(|other| !other.starts_with(&line));
            *conf = lines.collect::<Vec<_>>().join("\n");
        }
    }
}

fn simplify_act(scenario: &mut TrialScenario, index: usize, how: usize) {
    let before = index
        .checked_sub(1)
        .map_or(0, |last| scenario.acts[last].0.0);
    match how {
        // Whole seconds, the same order.
        0 => {
            let at = &mut scenario.acts[index].0;
            *at = Span((at.0 / SECOND * SECOND).max(before)).min(*at);
        }
        // Everything from here on comes sooner, in half the time since what was before.
        1 => {
            let sooner = (scenario.acts[index].0.0 - before) / 2 / SECOND * SECOND;
            let later = scenario.acts.iter_mut().skip(index);
            later.for_each(|(at, _)| at.0 -= sooner);
            scenario.heal.0 -= sooner;
        }
        2 => make_smaller(&mut scenario.acts[index].1),
        how => {
            if let Act::Submit(submission) = &mut scenario.acts[index].1 {
                OF_JOBS[how - 3](submission);
            }
        }
    }
}

fn make_smaller(act: &mut Act) {
    match act {
        Act::Kill(count) | Act::Restart(count) | Act::LoseState(count) => *count = 1,
        Act::LoseMessages(count) | Act::Refuse(count, _) | Act::StartOther(_, count) => {
            *count = (*count / 2).max(1)
        }
        Act::Slow(_, times) if *times > 1 => *times = (*times / 2).max(2),
        Act::MoveClock(by) if by.abs() > 5 => *by = 5 * by.signum(),
        _ => {}
    }
}

fn submitted(act: &Act) -> Option<&ObservedJob> {
    match act {
        Act::Submit(submission) => Some(&submission.job),
        _ => None,
    }
}

/// Whether every job fits on all nodes of its partition but one, as in what is generated.
fn is_schedulable(scenario: &TrialScenario) -> bool {
    let fits = |job: &ObservedJob| {
        scenario.nodes.iter().any(|nodes| {
            let cpus = u64::from(job.request.cpus_per_task.max(1));
            let task = job.request.memory * if job.request.memory_per_cpu { cpus } else { 1 };
            let per_node = nodes.memory_mib / task.max(1);
            let others = u64::from(nodes.count.saturating_sub(1).max(1));
            nodes.partition == job.partition
                && nodes.count > 0
                && devices::has_enough(nodes, &job.request.devices)
                && per_node * others >= u64::from(job.request.tasks)
        })
    };
    let kept = scenario.keep_drained.iter().all(|node| {
        let count: u32 = scenario.nodes.iter().map(|nodes| nodes.count).sum();
        *node < count && count > 1
    });
    kept && scenario
        .acts
        .iter()
        .filter_map(|(_, act)| submitted(act))
        .all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::generate::{Kinds, generate};

    /// Follows every simplification as often as it goes, whatever comes of it.
    fn simplest(mut scenario: TrialScenario) -> (TrialScenario, usize) {
        let (mut next, mut steps) = (0, 0);
        while let Some(candidate) = simpler(&scenario, next) {
            match candidate {
                Some(candidate) => (scenario, steps) = (candidate, steps + 1),
                None => next += 1,
            }
        }
        (scenario, steps)
    }

    #[test]
    fn simplification_terminates_and_keeps_all_jobs() {
        for seed in 1..60 {
            let scenario = generate(seed, &Kinds::all());
            let (smallest, steps) = simplest(scenario.clone());
            assert!(steps > 0 && steps < 2000, "seed {seed}: {steps}");
            assert_eq!(smallest.acts.len(), scenario.acts.len(), "seed {seed}");
            assert!(is_schedulable(&smallest), "seed {seed}");
            let times = smallest.acts.iter().map(|(at, _)| *at);
            assert!(times.is_sorted(), "seed {seed}");
            let read = TrialScenario::parse(&smallest.to_string());
            assert_eq!(read, Ok(smallest), "seed {seed}");
        }
    }
}
