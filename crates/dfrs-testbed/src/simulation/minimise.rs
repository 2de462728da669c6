//! The smallest part of a scenario that still breaks the same rule.

use super::scenario::TrialScenario;
use super::simpler::simpler;
use super::trial::run;

/// Leaves out acts, jobs and nodes, and makes what is left plainer, smaller and sooner, as long as
/// the same rule is broken; a scenario of which nothing can be left out any more. O(n²) runs at
/// worst, O(n log n) mostly.
pub fn minimise(scenario: &TrialScenario) -> TrialScenario {
    let Err(failure) = run(scenario) else {
        return scenario.clone();
    };
    let fails = |other: &TrialScenario| run(other).is_err_and(|other| other.rule == failure.rule);
    let mut smallest = scenario.clone();
    loop {
        let before = smallest.clone();
        drop_acts(&mut smallest, &fails);
        make_simpler(&mut smallest, &fails);
        if smallest == before {
            return smallest;
        }
    }
}

/// Drops acts, more and more finely.
fn drop_acts(smallest: &mut TrialScenario, fails: &dyn Fn(&TrialScenario) -> bool) {
    let mut size = smallest.acts.len().div_ceil(2).max(1);
    loop {
        let before = smallest.acts.len();
        let mut begin = 0;
        while begin < smallest.acts.len() {
            let mut fewer = smallest.clone();
            let end = (begin + size).min(fewer.acts.len());
            fewer.acts.drain(begin..end);
            if fails(&fewer) {
                *smallest = fewer;
            } else {
                begin += size;
            }
        }
        if size == 1 && smallest.acts.len() == before {
            return;
        }
        size = size.div_ceil(2).max(1);
    }
}

/// One simplification after the other, each as often as it goes.
fn make_simpler(smallest: &mut TrialScenario, fails: &dyn Fn(&TrialScenario) -> bool) {
    let mut next = 0;
    while let Some(candidate) = simpler(smallest, next) {
        match candidate {
            Some(candidate) if fails(&candidate) => *smallest = candidate,
            _ => next += 1,
        }
    }
}
