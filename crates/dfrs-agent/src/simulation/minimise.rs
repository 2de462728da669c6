//! The smallest part of a scenario that still breaks the same rule.

use super::scenario::Scenario;
use super::trial::run;

/// Drops acts, more and more finely, as long as the same rule is broken; a scenario in which no act can
/// be dropped any more. O(n²) runs at worst, O(n log n) mostly.
#[must_use]
pub fn minimise(scenario: &Scenario) -> Scenario {
    let Err(failure) = run(scenario) else {
        return scenario.clone();
    };
    let mut smallest = scenario.clone();
    let mut size = smallest.acts.len().div_ceil(2).max(1);
    loop {
        let before = smallest.acts.len();
        let mut begin = 0;
        while begin < smallest.acts.len() {
            let mut fewer = smallest.clone();
            let end = (begin + size).min(fewer.acts.len());
            fewer.acts.drain(begin..end);
            if run(&fewer).is_err_and(|other| other.rule == failure.rule) {
                smallest = fewer;
            } else {
                begin += size;
            }
        }
        if size == 1 && smallest.acts.len() == before {
            return smallest;
        }
        size = size.div_ceil(2).max(1);
    }
}
